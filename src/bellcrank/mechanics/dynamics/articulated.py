"""Articulated bodies: the order-n form. Each joint is eliminated at its own link, the rest handed
to the parent.

At a link, about its origin: n = I alpha + B a + n0, f = B^T alpha + A a + f0, with (alpha, a) the
acceleration past the bias motion. Bias forces come from the same inertia-force recursion as in
`composite`, so no products with velocities enter the articulated inertias. Featherstone, Rigid Body
Dynamics Algorithms (2008), ch. 7.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bellcrank.mechanics.dynamics.bias import (
    BiasMotion,
    inertia_force,
    to_link_frame,
    to_parent_frame,
)
from bellcrank.mechanics.dynamics.composite import tensor_to_parent
from bellcrank.mechanics.dynamics.forces import AppliedLoads
from bellcrank.mechanics.dynamics.ldl_factorization import best_order, check_pivot
from bellcrank.mechanics.dynamics.tree import DegreeOfFreedom, Link, Tree
from bellcrank.symbolic.expr import ZERO, Expr, add, div, mul, neg, sub
from bellcrank.symbolic.vector.basis import IDENTITY, NULL, ZEROS, Mat3, Vec3, transpose
from bellcrank.symbolic.vector.derivation_workspace import DerivationWorkspace


@dataclass
class ArticulatedInertia:
    """The 6 x 6 form of one link as rows over (alpha, a), with its bias (n0, f0)."""

    K: list[list[Expr]] = field(default_factory=lambda: [[ZERO] * 6 for _ in range(6)])
    bias: list[Expr] = field(default_factory=lambda: [ZERO] * 6)


@dataclass
class EliminatedDof:
    """One degree of freedom: unknown = rest - sum(ratio_j x_j) over the other components j."""

    freedom: DegreeOfFreedom
    component: int
    ratio: list[Expr]
    rest: Expr


def solve_articulated(
    tree: Tree,
    motion: BiasMotion,
    loads: AppliedLoads,
    work: DerivationWorkspace,
    names: dict[int, str],
) -> dict[int, Expr]:
    """The unknowns y by speed index."""
    state = [ArticulatedInertia() for _ in tree.links]
    eliminated: list[list[EliminatedDof]] = [[] for _ in tree.links]
    for link in reversed(tree.links):
        inertia = state[link.index]
        _add_link_inertia(link, inertia, motion, loads, work)
        for freedom in _elimination_order(link, inertia):
            resisted = tree.armature.get(freedom.index, ZERO), motion.delta.get(freedom.index, ZERO)
            eliminated[link.index].append(
                _eliminate_dof(link, inertia, freedom, resisted, loads, work, names)
            )
        if link.parent >= 0:
            _add_to_parent(link, inertia, state[link.parent], motion, work)
    return _back_substitute(tree, motion, eliminated, work)


def _elimination_order(link: Link, inertia: ArticulatedInertia) -> list[DegreeOfFreedom]:
    """The degrees of freedom of a link in the order of elimination that needs the fewest
    operations."""
    axis_indices = [_axis_index(f) for f in link.freedoms]
    rows = [
        k if f.rotational else 3 + k
        for f, k in zip(link.freedoms, axis_indices, strict=True)
        if k is not None
    ]
    if len(rows) < max(2, len(axis_indices)):
        return list(link.freedoms)
    entries = {(i, j): inertia.K[rows[i]][rows[j]] for i in range(len(rows)) for j in range(i + 1)}
    return [link.freedoms[i] for i in best_order(entries, range(len(rows)))]


def _add_link_inertia(
    link: Link,
    inertia: ArticulatedInertia,
    motion: BiasMotion,
    loads: AppliedLoads,
    work: DerivationWorkspace,
) -> None:
    J, h = link.J, link.h
    trace = [add(J[(c + 1) % 3][(c + 1) % 3], J[(c + 2) % 3][(c + 2) % 3]) for c in range(3)]
    skew = ((ZERO, neg(h[2]), h[1]), (h[2], ZERO, neg(h[0])), (neg(h[1]), h[0], ZERO))
    for r in range(3):
        for c in range(3):
            inertia.K[r][c] = work.bind(add(inertia.K[r][c], trace[r] if r == c else neg(J[r][c])))
            B = work.bind(add(inertia.K[r][3 + c], skew[r][c]))
            inertia.K[r][3 + c] = inertia.K[3 + c][r] = B
        inertia.K[3 + r][3 + r] = work.bind(add(inertia.K[3 + r][3 + r], link.m))
    f, n = inertia_force(link, motion, work)
    F, N = loads.wrench.get(link.index, (NULL, NULL))
    for r in range(3):
        inertia.bias[r] = work.bind(sub(add(inertia.bias[r], n[r]), N[r]))
        inertia.bias[3 + r] = work.bind(sub(add(inertia.bias[3 + r], f[r]), F[r]))


def _axis_index(freedom: DegreeOfFreedom) -> int | None:
    return next((k for k in range(3) if freedom.axis == IDENTITY[k]), None)


def _eliminate_dof(
    link: Link,
    inertia: ArticulatedInertia,
    freedom: DegreeOfFreedom,
    resisted: tuple[Expr, Expr],
    loads: AppliedLoads,
    work: DerivationWorkspace,
    names: dict[int, str],
) -> EliminatedDof:
    """Takes one degree of freedom out of a link's equations: along an axis, its component; else the
    relative acceleration.

    `resisted`: armature, which resists the relative acceleration, and the shift of that.
    """
    armature, shift = resisted
    k, e, K = _axis_index(freedom) if armature is ZERO else None, freedom.axis, inertia.K
    tau = loads.tau.get(freedom.index, ZERO)
    base = 0 if freedom.rotational else 3
    if link.spin:
        assert k is not None
        joint_acceleration = work.bind(div(sub(tau, inertia.bias[k]), link.spin_inertia))
        inertia.bias[k] = tau
        return EliminatedDof(freedom, k, [ZERO] * 6, joint_acceleration)
    row = [work.bind(add(*(mul(e[i], K[base + i][c]) for i in range(3)))) for c in range(6)]
    pivot = work.bind(add(armature, *(mul(e[i], row[base + i]) for i in range(3))))
    check_pivot(pivot, names[freedom.index])
    force = work.bind(
        sub(tau, add(mul(armature, shift), *(mul(e[i], inertia.bias[base + i]) for i in range(3))))
    )
    j = -1 if k is None else base + k
    ratio = [ZERO if c == j else work.bind(div(row[c], pivot)) for c in range(6)]
    for r in range(6):
        for c in range(r + 1):
            if c != j:
                K[r][c] = K[c][r] = work.bind(sub(K[r][c], mul(ratio[r], row[c])))
        inertia.bias[r] = work.bind(add(inertia.bias[r], mul(ratio[r], force)))
    if j >= 0:
        inertia.bias[j] = tau
        for c in range(6):
            K[j][c] = K[c][j] = ZERO
    return EliminatedDof(freedom, j, ratio, work.bind(div(force, pivot)))


def _add_to_parent(
    link: Link,
    inertia: ArticulatedInertia,
    parent: ArticulatedInertia,
    motion: BiasMotion,
    work: DerivationWorkspace,
) -> None:
    """Rotates what is left to the parent's frame, shifts it to the parent's origin, adds it."""
    I, B, A = (_block_3x3(inertia.K, r, c) for r, c in ((0, 0), (0, 3), (3, 3)))
    n0, f0 = (
        (inertia.bias[0], inertia.bias[1], inertia.bias[2]),
        (inertia.bias[3], inertia.bias[4], inertia.bias[5]),
    )
    if not link.takes_rotation:
        I, B, n0 = ZEROS, ZEROS, NULL
    if not link.takes_translation:
        B, A, f0 = ZEROS, ZEROS, NULL
    I, A, B = (tensor_to_parent(work, link, x) for x in (I, A, B))
    n0, f0 = to_parent_frame(work, link, n0), to_parent_frame(work, link, f0)
    p = motion.p[link.index] if link.takes_translation else NULL
    columns = zip(transpose(B), transpose(A), strict=True)
    B_p = transpose(tuple(work.add_cross(b, p, a) for b, a in columns))  # type: ignore[arg-type]
    for r in range(3):
        x, y = (r + 1) % 3, (r + 2) % 3
        for c in range(r + 1):
            i, j = (c + 1) % 3, (c + 2) % 3
            # I + [p]x B_p^T - B [p]x
            extra = add(
                mul(p[x], B_p[c][y]),
                neg(mul(p[y], B_p[c][x])),
                neg(mul(B[r][i], p[j])),
                mul(B[r][j], p[i]),
            )
            value = work.bind(add(parent.K[r][c], I[r][c], extra))
            parent.K[r][c] = parent.K[c][r] = value
        for c in range(3):
            value = work.bind(add(parent.K[r][3 + c], B_p[r][c]))
            parent.K[r][3 + c] = parent.K[3 + c][r] = value
            if c <= r:
                value = work.bind(add(parent.K[3 + r][3 + c], A[r][c]))
                parent.K[3 + r][3 + c] = parent.K[3 + c][3 + r] = value
        parent.bias[r] = work.bind(
            add(parent.bias[r], n0[r], mul(p[x], f0[y]), neg(mul(p[y], f0[x])))
        )
        parent.bias[3 + r] = work.bind(add(parent.bias[3 + r], f0[r]))


def _block_3x3(K: list[list[Expr]], r: int, c: int) -> Mat3:
    return tuple(tuple(K[r + i][c + j] for j in range(3)) for i in range(3))  # type: ignore[return-value]


def _back_substitute(
    tree: Tree, motion: BiasMotion, eliminated: list[list[EliminatedDof]], work: DerivationWorkspace
) -> dict[int, Expr]:
    """Outward pass: accelerations in addition to the bias, and the unknowns."""
    y: dict[int, Expr] = {}
    alpha: list[Vec3] = []
    acceleration: list[Vec3] = []
    for link in tree.links:
        x = [ZERO] * 6
        if link.parent >= 0:
            up_alpha, up_a = alpha[link.parent], acceleration[link.parent]
            if link.takes_rotation:
                x[:3] = to_link_frame(work, link, up_alpha)
            if link.takes_translation:
                x[3:] = to_link_frame(
                    work, link, work.add_cross(up_a, up_alpha, motion.p[link.index])
                )
        inherited = list(x)
        for step in reversed(eliminated[link.index]):
            f, j = step.freedom, step.component
            total = work.bind(
                add(step.rest, *(neg(mul(r, c)) for r, c in zip(step.ratio, x, strict=True)))
            )
            if j >= 0:
                y[f.index] = work.bind(sub(total, inherited[j]))
                x[j] = total
            else:
                y[f.index] = total
                base = 0 if f.rotational else 3
                for i in range(3):
                    x[base + i] = work.bind(add(x[base + i], mul(total, f.axis[i])))
        alpha.append((x[0], x[1], x[2]))
        acceleration.append((x[3], x[4], x[5]))
    return y
