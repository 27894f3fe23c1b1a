"""Articulated bodies: the order-n form. Each joint is eliminated at its own link, the rest handed to the parent.

At a link, about its origin: n = I alpha + B a + n0, f = B^T alpha + A a + f0, with (alpha, a) the acceleration beyond
the bias motion. Bias forces come from the same inertia-force recursion as in `composite`, so no products with
velocities enter the articulated inertias. Featherstone, Rigid Body Dynamics Algorithms (2008), ch. 7.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bellcrank.dynamics.bias import BiasMotion, down, inertia_force, up
from bellcrank.dynamics.composite import up_tensor
from bellcrank.dynamics.factor import best_orders, pattern
from bellcrank.dynamics.forces import Loads
from bellcrank.dynamics.tree import Freedom, Link, Tree
from bellcrank.errors import ModelError
from bellcrank.expr import ONE, ZERO, Expr, add, div, mul, neg, sub
from bellcrank.vector.basis import IDENTITY, NULL, Mat3, Vec3
from bellcrank.vector.work import Work, is_zero

ZEROS: Mat3 = (NULL, NULL, NULL)


@dataclass
class Articulated:
    """The 6 x 6 form of one link as rows over (alpha, a), with its bias (n0, f0)."""

    K: list[list[Expr]] = field(default_factory=lambda: [[ZERO] * 6 for _ in range(6)])
    bias: list[Expr] = field(default_factory=lambda: [ZERO] * 6)


@dataclass
class Eliminated:
    """One freedom: unknown = rest - sum(ratio_j x_j) over the other components j."""

    freedom: Freedom
    component: int
    ratio: list[Expr]
    rest: Expr


def articulated(tree: Tree, motion: BiasMotion, loads: Loads, work: Work, names: dict[int, str]) -> dict[int, Expr]:
    """The unknowns y by speed index."""
    state = [Articulated() for _ in tree.links]
    done: list[list[Eliminated]] = [[] for _ in tree.links]
    for link in reversed(tree.links):
        own = state[link.index]
        _include_own(link, own, motion, loads, work)
        for freedom in _sequence(link, own):
            done[link.index].append(_eliminate(link, own, freedom, loads, work, names))
        if link.parent >= 0:
            _hand_on(link, own, state[link.parent], motion, work)
    return _unknowns(tree, motion, done, work)


def _sequence(link: Link, own: Articulated) -> list[Freedom]:
    """The freedoms of a link in the order of elimination that needs the fewest operations."""
    rows = []
    for f in link.freedoms:
        k = _axis_index(f)
        if k is None:
            return list(link.freedoms)
        rows.append(k if f.rotational else 3 + k)
    if len(rows) < 2:
        return list(link.freedoms)
    entries = {(i, j): own.K[rows[i]][rows[j]] for i in range(len(rows)) for j in range(i + 1)}
    grid = pattern({key: value for key, value in entries.items() if value is not ZERO}, len(rows))
    return [link.freedoms[i] for i in best_orders(grid, keep=1)[0]]


def _include_own(link: Link, own: Articulated, motion: BiasMotion, loads: Loads, work: Work) -> None:
    J, h = link.J, link.h
    trace = [add(J[(c + 1) % 3][(c + 1) % 3], J[(c + 2) % 3][(c + 2) % 3]) for c in range(3)]
    skew = ((ZERO, neg(h[2]), h[1]), (h[2], ZERO, neg(h[0])), (neg(h[1]), h[0], ZERO))
    for r in range(3):
        for c in range(3):
            own.K[r][c] = work.hold(add(own.K[r][c], trace[r] if r == c else neg(J[r][c])))
            B = work.hold(add(own.K[r][3 + c], skew[r][c]))
            own.K[r][3 + c] = own.K[3 + c][r] = B
        own.K[3 + r][3 + r] = work.hold(add(own.K[3 + r][3 + r], link.m))
    f, n = inertia_force(link, motion, work)
    F, N = loads.wrench.get(link.index, (NULL, NULL))
    for r in range(3):
        own.bias[r] = work.hold(sub(add(own.bias[r], n[r]), N[r]))
        own.bias[3 + r] = work.hold(sub(add(own.bias[3 + r], f[r]), F[r]))


def _axis_index(freedom: Freedom) -> int | None:
    for k in range(3):
        if freedom.axis[k] is ONE and all(freedom.axis[j] is ZERO for j in range(3) if j != k):
            return k
    return None


def _eliminate(
    link: Link, own: Articulated, freedom: Freedom, loads: Loads, work: Work, names: dict[int, str]
) -> Eliminated:
    """Takes one freedom out of a link's equations."""
    k = _axis_index(freedom)
    tau = loads.tau.get(freedom.index, ZERO)
    base = 0 if freedom.rotational else 3
    if link.spin:
        assert k is not None
        rest = work.hold(div(sub(tau, own.bias[k]), link.spin_inertia))
        own.bias[k] = tau
        return Eliminated(freedom, k, [ZERO] * 6, rest)
    if k is None:
        return _eliminate_along(own, freedom, tau, base, work, names)
    j = base + k
    row = list(own.K[j])
    pivot = row[j]
    _check(pivot, freedom, names)
    force = work.hold(sub(tau, own.bias[j]))
    ratio = [ZERO if c == j else work.hold(div(row[c], pivot)) for c in range(6)]
    for r in range(6):
        if ratio[r] is ZERO:
            continue
        for c in range(r + 1):
            if row[c] is not ZERO and c != j:
                value = work.hold(sub(own.K[r][c], mul(ratio[r], row[c])))
                own.K[r][c] = own.K[c][r] = value
        own.bias[r] = work.hold(add(own.bias[r], mul(ratio[r], force)))
    for c in range(6):
        own.K[j][c] = own.K[c][j] = ZERO
    own.bias[j] = tau
    return Eliminated(freedom, j, ratio, work.hold(div(force, pivot)))


def _eliminate_along(
    own: Articulated, freedom: Freedom, tau: Expr, base: int, work: Work, names: dict[int, str]
) -> Eliminated:
    """A freedom along no coordinate axis: the relative acceleration itself is the unknown."""
    e = freedom.axis
    row = [work.hold(add(*(mul(e[i], own.K[base + i][c]) for i in range(3)))) for c in range(6)]
    pivot = work.hold(add(*(mul(e[i], row[base + i]) for i in range(3))))
    _check(pivot, freedom, names)
    force = work.hold(sub(tau, add(*(mul(e[i], own.bias[base + i]) for i in range(3)))))
    ratio = [work.hold(div(x, pivot)) for x in row]
    for r in range(6):
        for c in range(r + 1):
            own.K[r][c] = own.K[c][r] = work.hold(sub(own.K[r][c], mul(ratio[r], row[c])))
        own.bias[r] = work.hold(add(own.bias[r], mul(ratio[r], force)))
    return Eliminated(freedom, -1, ratio, work.hold(div(force, pivot)))


def _check(pivot: Expr, freedom: Freedom, names: dict[int, str]) -> None:
    if pivot is ZERO or pivot.fingerprint == 0:
        raise ModelError(
            f"the mass matrix is singular: {names[freedom.index]} moves nothing that has mass or inertia. "
            "Give the body (or one it carries) mass or inertia that this freedom moves, or remove the freedom."
        )


def _hand_on(link: Link, own: Articulated, parent: Articulated, motion: BiasMotion, work: Work) -> None:
    """Rotates what is left to the parent's frame, shifts it to the parent's origin, adds it."""
    K = own.K
    I = _block(K, 0, 0)
    B = _block(K, 0, 3)
    A = _block(K, 3, 3)
    n0, f0 = _triple(own.bias, 0), _triple(own.bias, 3)
    if not link.takes_rotation:
        I, B, n0 = ZEROS, ZEROS, NULL
    if not link.takes_translation:
        B, A, f0 = ZEROS, ZEROS, NULL
    I, A = up_tensor(work, link, I), up_tensor(work, link, A)
    B = _up_general(work, link, B)
    n0, f0 = up(work, link, n0), up(work, link, f0)
    p = motion.p[link.index] if link.takes_translation else NULL
    B_p = tuple(
        tuple(
            work.hold(add(B[r][c], mul(p[(r + 1) % 3], A[(r + 2) % 3][c]), neg(mul(p[(r + 2) % 3], A[(r + 1) % 3][c]))))
            for c in range(3)
        )
        for r in range(3)
    )
    for r in range(3):
        x, y = (r + 1) % 3, (r + 2) % 3
        for c in range(r + 1):
            i, j = (c + 1) % 3, (c + 2) % 3
            # I + [p]x B_p^T - B [p]x
            extra = add(mul(p[x], B_p[c][y]), neg(mul(p[y], B_p[c][x])), neg(mul(B[r][i], p[j])), mul(B[r][j], p[i]))
            value = work.hold(add(parent.K[r][c], I[r][c], extra))
            parent.K[r][c] = parent.K[c][r] = value
        for c in range(3):
            value = work.hold(add(parent.K[r][3 + c], B_p[r][c]))
            parent.K[r][3 + c] = parent.K[3 + c][r] = value
            if c <= r:
                value = work.hold(add(parent.K[3 + r][3 + c], A[r][c]))
                parent.K[3 + r][3 + c] = parent.K[3 + c][3 + r] = value
        parent.bias[r] = work.hold(add(parent.bias[r], n0[r], mul(p[x], f0[y]), neg(mul(p[y], f0[x]))))
        parent.bias[3 + r] = work.hold(add(parent.bias[3 + r], f0[r]))


def _block(K: list[list[Expr]], r: int, c: int) -> Mat3:
    return tuple(tuple(K[r + i][c + j] for j in range(3)) for i in range(3))  # type: ignore[return-value]


def _triple(v: list[Expr], at: int) -> Vec3:
    return v[at], v[at + 1], v[at + 2]


def _up_general(work: Work, link: Link, m: Mat3) -> Mat3:
    """R m R^T for a matrix without symmetry."""
    if all(is_zero(row) for row in m):
        return m
    if link.matrix is not None:
        m = work.sandwich(link.matrix, m)
    for k, c, s in reversed(link.turns):
        m = _turn_general(work, k, c, s, m)
    return m if link.C is IDENTITY else work.sandwich(link.C, m)


def _turn_general(work: Work, k: int, c: Expr, s: Expr, m: Mat3) -> Mat3:
    """R m R^T for a rotation about axis k: the block in four products, the entries with k as two vectors."""
    i, j = (k + 1) % 3, (k + 2) % 3
    a, b, g, d = m[i][i], m[i][j], m[j][i], m[j][j]
    # with x' = c x - s y: a' = a - s t, d' = d + s t, b' = c t - g, g' = c t - b, where t = s (a - d) + c (b + g)
    t = work.hold(add(mul(s, sub(a, d)), mul(c, add(b, g))))
    out = [[ZERO] * 3 for _ in range(3)]
    out[k][k] = m[k][k]
    out[i][i], out[j][j] = work.hold(sub(a, mul(s, t))), work.hold(add(d, mul(s, t)))
    out[i][j], out[j][i] = work.hold(sub(mul(c, t), g)), work.hold(sub(mul(c, t), b))
    row = work.turn(k, c, s, tuple(ZERO if x == k else m[k][x] for x in range(3)))  # type: ignore[arg-type]
    column = work.turn(k, c, s, tuple(ZERO if x == k else m[x][k] for x in range(3)))  # type: ignore[arg-type]
    for x in (i, j):
        out[k][x], out[x][k] = row[x], column[x]
    return tuple(tuple(r) for r in out)  # type: ignore[return-value]


def _unknowns(tree: Tree, motion: BiasMotion, done: list[list[Eliminated]], work: Work) -> dict[int, Expr]:
    """Outward pass: accelerations beyond the bias, and the unknowns."""
    y: dict[int, Expr] = {}
    alpha: list[Vec3] = []
    acceleration: list[Vec3] = []
    for link in tree.links:
        x = [ZERO] * 6
        if link.parent >= 0:
            up_alpha, up_a = alpha[link.parent], acceleration[link.parent]
            if link.takes_rotation:
                x[:3] = down(work, link, up_alpha)
            if link.takes_translation:
                p = motion.p[link.index]
                a = work.hold3(
                    add(
                        up_a[r],
                        mul(up_alpha[(r + 1) % 3], p[(r + 2) % 3]),
                        neg(mul(up_alpha[(r + 2) % 3], p[(r + 1) % 3])),
                    )
                    for r in range(3)
                )
                x[3:] = down(work, link, a)
        inherited = list(x)
        for step in reversed(done[link.index]):
            f, j = step.freedom, step.component
            if j >= 0:
                total = work.hold(
                    add(step.rest, *(neg(mul(r, c)) for r, c in zip(step.ratio, x, strict=True) if r is not ZERO))
                )
                y[f.index] = work.hold(sub(total, inherited[j]))
                x[j] = total
            else:
                relative = work.hold(add(step.rest, *(neg(mul(r, c)) for r, c in zip(step.ratio, x, strict=True))))
                y[f.index] = relative
                base = 0 if f.rotational else 3
                for i in range(3):
                    x[base + i] = work.hold(add(x[base + i], mul(relative, f.axis[i])))
        alpha.append((x[0], x[1], x[2]))
        acceleration.append((x[3], x[4], x[5]))
    return y
