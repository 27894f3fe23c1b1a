"""Composite bodies: mass matrix and bias of the whole tree (composite-rigid-body algorithm, second-moment form).

Unknowns y: relative accelerations of joints (shifted by delta), absolute ones of free links and spin leaves.
Walker & Orin (1982), J. Dyn. Sys. Meas. Control 104, 205-211; Featherstone, Rigid Body Dynamics Algorithms (2008),
ch. 6.
"""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.dynamics.bias import BiasMotion, down, inertia_force, up
from bellcrank.dynamics.forces import Loads
from bellcrank.dynamics.tree import Freedom, Link, Tree
from bellcrank.expr import ZERO, Expr, add, mul, neg, sub
from bellcrank.vector.basis import IDENTITY, NULL, Mat3, Vec3
from bellcrank.vector.work import Sym6, Work, full, is_zero, symmetric

Matrix = dict[tuple[int, int], Expr]


@dataclass
class Composite:
    """M y = rhs, by speed index; M holds (i, j) for i >= j where an entry is not zero."""

    M: Matrix
    rhs: dict[int, Expr]


def composite(tree: Tree, motion: BiasMotion, loads: Loads, work: Work, with_matrix: bool = True) -> Composite:
    """Mass matrix and right-hand side."""
    return Composite(mass_matrix(tree, motion, work) if with_matrix else {}, bias(tree, motion, loads, work))


def bias(tree: Tree, motion: BiasMotion, loads: Loads, work: Work) -> dict[int, Expr]:
    """tau - b: applied minus inertia forces of the bias motion, along every freedom."""
    f: list[Vec3] = [NULL] * len(tree.links)
    n: list[Vec3] = [NULL] * len(tree.links)
    rhs: dict[int, Expr] = {}
    for link in reversed(tree.links):
        i = link.index
        f_own, n_own = inertia_force(link, motion, work)
        F, N = loads.wrench.get(i, (NULL, NULL))
        f[i] = work.hold3(sub(add(f[i][c], f_own[c]), F[c]) for c in range(3))
        n[i] = work.hold3(sub(add(n[i][c], n_own[c]), N[c]) for c in range(3))
        for freedom in link.freedoms:
            along = work.dot(n[i] if freedom.rotational else f[i], axis_here(link, freedom, work))
            applied = rhs.get(freedom.index, loads.tau.get(freedom.index, ZERO))  # a guided speed moves several links
            rhs[freedom.index] = work.hold(sub(applied, along))
        moment = n[i]
        if link.spin:
            (freedom,) = link.freedoms
            axis = freedom.axis
            tau = loads.tau.get(freedom.index, ZERO)
            moment = tuple(tau if axis[c] is not ZERO else moment[c] for c in range(3))  # type: ignore[assignment]
        _pass_on(tree, link, motion, f, n, f[i], moment, work)
    return rhs


def _pass_on(
    tree: Tree, link: Link, motion: BiasMotion, f: list[Vec3], n: list[Vec3], force: Vec3, moment: Vec3, work: Work
) -> None:
    if link.parent < 0:
        return
    force, moment = transmitted(link, motion, force, moment, work)
    f[link.parent] = work.add(f[link.parent], force)
    n[link.parent] = work.add(n[link.parent], moment)


def transmitted(link: Link, motion: BiasMotion, force: Vec3, moment: Vec3, work: Work) -> tuple[Vec3, Vec3]:
    """A force and moment at the link's origin as its parent's motion sees them, in the parent's frame and origin."""
    moment = up(work, link, moment) if link.takes_rotation else NULL
    if not link.takes_translation:
        return NULL, moment
    force = up(work, link, force)
    p = motion.p[link.index]
    moment = work.hold3(
        add(moment[x], mul(p[y], force[z]), neg(mul(p[z], force[y]))) for x, y, z in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    )
    return force, moment


def mass_matrix(tree: Tree, motion: BiasMotion, work: Work) -> Matrix:
    """The lower triangle of M, from composite inertias."""
    count = len(tree.links)
    m: list[Expr] = [link.m for link in tree.links]
    h: list[Vec3] = [link.h for link in tree.links]
    J: list[Mat3] = [link.J for link in tree.links]
    M: Matrix = {}
    for i in reversed(range(count)):
        link = tree.links[i]
        for freedom in link.freedoms:
            if link.spin:
                M[freedom.index, freedom.index] = link.spin_inertia
            else:
                _column(tree, link, freedom, motion, m[i], h[i], J[i], M, work)
        if link.parent >= 0:
            _merge(link, motion, m, h, J, work)
    return {key: value for key, value in M.items() if value is not ZERO}


def _column(
    tree: Tree, link: Link, freedom: Freedom, motion: BiasMotion, m: Expr, h: Vec3, J: Mat3, M: Matrix, work: Work
) -> None:
    """Entries of M for one freedom, its own link's and all below."""
    e = axis_here(link, freedom, work)
    if freedom.rotational:
        trace = [add(J[(c + 1) % 3][(c + 1) % 3], J[(c + 2) % 3][(c + 2) % 3]) for c in range(3)]
        moment = work.hold3(
            add(mul(trace[r], e[r]), *(neg(mul(J[r][c], e[c])) for c in range(3) if c != r)) for r in range(3)
        )
        force = work.cross(e, h)
    else:
        force = work.hold3(mul(m, x) for x in e)
        moment = work.cross(h, e)
    here: Link | None = link
    while here is not None:
        for other in here.freedoms:
            if other.link == freedom.link and other.index > freedom.index:
                continue
            value = work.dot(moment if other.rotational else force, axis_here(here, other, work))
            if value is not ZERO:
                key = max(freedom.index, other.index), min(freedom.index, other.index)
                M[key] = work.hold(add(M[key], value)) if key in M else value
        if here.parent < 0:
            return
        force, moment = transmitted(here, motion, force, moment, work)
        if is_zero(force) and is_zero(moment):
            return
        here = tree.links[here.parent]


def axis_here(link: Link, freedom: Freedom, work: Work) -> Vec3:
    """The axis of a freedom in its link's axes; that of a guided translation stands in the parent's."""
    return down(work, link, freedom.axis) if link.guided and not freedom.rotational else freedom.axis


def _merge(link: Link, motion: BiasMotion, m: list[Expr], h: list[Vec3], J: list[Mat3], work: Work) -> None:
    """Adds a link's composite inertia to its parent's, as far as the parent's motion moves it."""
    i, parent = link.index, link.parent
    p = motion.p[i]
    mass, first, second = m[i], h[i], J[i]
    if not link.takes_rotation:
        first, second = NULL, (NULL, NULL, NULL)
    else:
        first, second = up(work, link, first), up_tensor(work, link, second)
    if not link.takes_translation:
        mass, first, p = ZERO, NULL, NULL
    m[parent] = work.hold(add(m[parent], mass))
    h[parent] = work.hold3(add(h[parent][r], first[r], mul(mass, p[r])) for r in range(3))
    entries = []
    for r, c in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)):
        entries.append(
            work.hold(
                add(J[parent][r][c], second[r][c], mul(first[r], p[c]), mul(p[r], first[c]), mul(mass, p[r], p[c]))
            )
        )
    J[parent] = full(tuple(entries))  # type: ignore[arg-type]


def up_tensor(work: Work, link: Link, J: Mat3) -> Mat3:
    """A symmetric tensor of the link's frame in the parent's; one-axis rotation in four products."""
    if all(is_zero(row) for row in J):
        return J
    if link.matrix is not None:
        J = full(symmetric(work.sandwich(link.matrix, J)))
    for k, c, s in reversed(link.turns):
        J = full(turn_symmetric(work, k, c, s, symmetric(J)))
    return J if link.C is IDENTITY else full(symmetric(work.sandwich(link.C, J)))


def turn_symmetric(work: Work, k: int, c: Expr, s: Expr, J: Sym6) -> Sym6:
    m = full(J)
    i, j = (k + 1) % 3, (k + 2) % 3
    a, d, b = m[i][i], m[j][j], m[i][j]
    t = work.hold(add(mul(s, sub(a, d)), mul(c, add(b, b))))
    side = work.turn(k, c, s, tuple(ZERO if x == k else m[k][x] for x in range(3)))  # type: ignore[arg-type]
    out = [[ZERO] * 3 for _ in range(3)]
    out[k][k] = m[k][k]
    out[i][i], out[j][j] = work.hold(sub(a, mul(s, t))), work.hold(add(d, mul(s, t)))
    out[i][j] = out[j][i] = work.hold(sub(mul(c, t), b))
    for x in (i, j):
        out[k][x] = out[x][k] = side[x]
    return symmetric(tuple(tuple(row) for row in out))  # type: ignore[arg-type]
