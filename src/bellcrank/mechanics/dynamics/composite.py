"""Composite bodies: mass matrix and bias of the whole tree (composite-rigid-body algorithm,
second-moment form).

Unknowns y: relative accelerations of joints (shifted by delta), absolute ones of free links and
spin leaves. Walker & Orin (1982), J. Dyn. Sys. Meas. Control 104, 205-211; Featherstone, Rigid Body
Dynamics Algorithms (2008), ch. 6.
"""

from __future__ import annotations

from bellcrank.mechanics.dynamics.bias import (
    BiasMotion,
    inertia_force,
    to_link_frame,
    to_parent_frame,
)
from bellcrank.mechanics.dynamics.forces import AppliedLoads
from bellcrank.mechanics.dynamics.ldl_factorization import Matrix
from bellcrank.mechanics.dynamics.tree import DegreeOfFreedom, Link, Tree
from bellcrank.symbolic.expr import ZERO, Expr, add, mul, neg, sub
from bellcrank.symbolic.vector.basis import IDENTITY, NULL, ZEROS, Mat3, Vec3
from bellcrank.symbolic.vector.derivation_workspace import (
    TRIANGLE,
    DerivationWorkspace,
    is_zero,
    symmetric_matrix,
)


def assemble_composite(
    tree: Tree, motion: BiasMotion, loads: AppliedLoads, work: DerivationWorkspace
) -> tuple[Matrix, dict[int, Expr]]:
    """Mass matrix and right-hand side of M y = rhs, by speed index."""
    return mass_matrix(tree, motion, work), bias_forces(tree, motion, loads, work)


def bias_forces(
    tree: Tree, motion: BiasMotion, loads: AppliedLoads, work: DerivationWorkspace
) -> dict[int, Expr]:
    """tau - b: applied minus inertia forces of the bias motion, along every degree of freedom."""
    f: list[Vec3] = [NULL] * len(tree.links)
    n: list[Vec3] = [NULL] * len(tree.links)
    rhs: dict[int, Expr] = {}
    for link in reversed(tree.links):
        i = link.index
        f_own, n_own = inertia_force(link, motion, work)
        F, N = loads.wrench.get(i, (NULL, NULL))
        f[i] = work.bind3(sub(add(f[i][c], f_own[c]), F[c]) for c in range(3))
        n[i] = work.bind3(sub(add(n[i][c], n_own[c]), N[c]) for c in range(3))
        for freedom in link.freedoms:
            along = work.dot(
                n[i] if freedom.rotational else f[i], axis_in_link(link, freedom, work)
            )
            applied = rhs.get(
                freedom.index, loads.tau.get(freedom.index, ZERO)
            )  # a guided speed moves several links
            rhs[freedom.index] = work.bind(sub(applied, along))
        moment = n[i]
        if link.spin:
            (freedom,) = link.freedoms
            axis = freedom.axis
            tau = loads.tau.get(freedom.index, ZERO)
            moment = tuple(tau if axis[c] is not ZERO else moment[c] for c in range(3))  # type: ignore[assignment]
        if link.parent >= 0:
            force, moment = _transmit_wrench(link, motion, f[i], moment, work)
            f[link.parent] = work.add(f[link.parent], force)
            n[link.parent] = work.add(n[link.parent], moment)
    for s, a in tree.armature.items():  # it resists u' = y + delta
        rhs[s] = work.bind(sub(rhs[s], mul(a, motion.delta[s])))
    return rhs


def _transmit_wrench(
    link: Link, motion: BiasMotion, force: Vec3, moment: Vec3, work: DerivationWorkspace
) -> tuple[Vec3, Vec3]:
    """A force and moment at the link's origin as its parent's motion sees them, in the parent's
    frame and origin."""
    moment = to_parent_frame(work, link, moment) if link.takes_rotation else NULL
    if not link.takes_translation:
        return NULL, moment
    force = to_parent_frame(work, link, force)
    return force, work.add_cross(moment, motion.p[link.index], force)


def mass_matrix(tree: Tree, motion: BiasMotion, work: DerivationWorkspace) -> Matrix:
    """The lower triangle of M, from composite inertias."""
    m: list[Expr] = [link.m for link in tree.links]
    h: list[Vec3] = [link.h for link in tree.links]
    J: list[Mat3] = [link.J for link in tree.links]
    M: Matrix = {}
    for link in reversed(tree.links):
        i = link.index
        for freedom in link.freedoms:
            if link.spin:
                M[freedom.index, freedom.index] = link.spin_inertia
            else:
                _mass_matrix_column(tree, link, freedom, motion, m[i], h[i], J[i], M, work)
        if link.parent >= 0:
            _add_composite_to_parent(link, motion, m, h, J, work)
    for s, a in tree.armature.items():
        M[s, s] = work.bind(add(M.get((s, s), ZERO), a))
    return {key: value for key, value in M.items() if value is not ZERO}


def _mass_matrix_column(
    tree: Tree,
    link: Link,
    freedom: DegreeOfFreedom,
    motion: BiasMotion,
    m: Expr,
    h: Vec3,
    J: Mat3,
    M: Matrix,
    work: DerivationWorkspace,
) -> None:
    """Entries of M for one degree of freedom, its own link's and all below."""
    e = axis_in_link(link, freedom, work)
    if freedom.rotational:
        moment = work.bind3(add(*turning_terms(J, e, r)) for r in range(3))
        force = work.cross(e, h)
    else:
        force = work.bind3(mul(m, x) for x in e)
        moment = work.cross(h, e)
    ancestor: Link | None = link
    while ancestor is not None:
        for partner in ancestor.freedoms:
            if partner.link == freedom.link and partner.index > freedom.index:
                continue
            value = work.dot(
                moment if partner.rotational else force, axis_in_link(ancestor, partner, work)
            )
            if value is not ZERO:
                key = max(freedom.index, partner.index), min(freedom.index, partner.index)
                M[key] = work.bind(add(M[key], value)) if key in M else value
        if ancestor.parent < 0:
            return
        force, moment = _transmit_wrench(ancestor, motion, force, moment, work)
        if is_zero(force) and is_zero(moment):
            return
        ancestor = tree.links[ancestor.parent]


def axis_in_link(link: Link, freedom: DegreeOfFreedom, work: DerivationWorkspace) -> Vec3:
    """The axis of a degree of freedom in its link's axes; that of a guided translation stands in
    the parent's."""
    return (
        to_link_frame(work, link, freedom.axis)
        if link.guided and not freedom.rotational
        else freedom.axis
    )


def _add_composite_to_parent(
    link: Link,
    motion: BiasMotion,
    m: list[Expr],
    h: list[Vec3],
    J: list[Mat3],
    work: DerivationWorkspace,
) -> None:
    """Adds a link's composite inertia to its parent's, as far as the parent's motion moves it."""
    i, parent, p = link.index, link.parent, motion.p[link.index]
    mass, first, second = m[i], h[i], J[i]
    if not link.takes_rotation:
        first, second = NULL, ZEROS
    else:
        first, second = to_parent_frame(work, link, first), tensor_to_parent(work, link, second)
    if not link.takes_translation:
        mass, first, p = ZERO, NULL, NULL
    m[parent] = work.bind(add(m[parent], mass))
    h[parent] = work.bind3(add(h[parent][r], first[r], mul(mass, p[r])) for r in range(3))
    J[parent] = symmetric_matrix(
        work.bind(
            add(
                J[parent][r][c],
                second[r][c],
                mul(first[r], p[c]),
                mul(p[r], first[c]),
                mul(mass, p[r], p[c]),
            )
        )
        for r, c in TRIANGLE
    )


def turning_terms(J: Mat3, e: Vec3, r: int) -> list[Expr]:
    """Component r of the moment that a unit angular acceleration about e asks for, as terms of a
    sum."""
    trace = add(J[(r + 1) % 3][(r + 1) % 3], J[(r + 2) % 3][(r + 2) % 3])
    return [mul(trace, e[r]), *(neg(mul(J[r][c], e[c])) for c in range(3) if c != r)]


def tensor_to_parent(work: DerivationWorkspace, link: Link, m: Mat3) -> Mat3:
    """A tensor of the link's frame in the parent's: R m R^T."""
    if all(is_zero(row) for row in m):
        return m
    if link.matrix is not None:
        m = work.rotate_tensor(link.matrix, m)
    for k, c, s in reversed(link.turns):
        m = work.rotate_tensor_about_axis(k, c, s, m)
    return m if link.C is IDENTITY else work.rotate_tensor(link.C, m)
