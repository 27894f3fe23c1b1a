"""Inertial parameters that act only in combination are moved to the parent link (minimal inertial
parameters).

What lies on a revolute axis does not notice the rotation: m, h_k and J_kk go to the parent; second
moments of a sliding link are those of its parent. What stays has m = 0, h_k = 0, J_kk = 0. Kinetic
energy is unchanged. A balanced leaf (wheel, rotor, last wrist link) is marked `spin`: its own
rotation is taken as absolute, which decouples its row. Khalil & Dombre, Modeling, Identification
and Control of Robots (2002), ch. 9.
"""

from __future__ import annotations

from bellcrank.mechanics.dynamics.tree import Link, Tree, add_inertia, outer3, shift_moments
from bellcrank.symbolic.expr import ZERO, Expr, Number, add, mul, neg, sub
from bellcrank.symbolic.vector.basis import (
    IDENTITY,
    NULL,
    ZEROS,
    Mat3,
    Vec3,
    matmul,
    scale3,
    transpose,
)
from bellcrank.symbolic.vector.derivation_workspace import DerivationWorkspace, is_zero


def regroup_inertia(tree: Tree, work: DerivationWorkspace, spin: bool = True) -> None:
    """Moves inertia from the leaves towards the root."""
    for link in reversed(tree.links):
        if link.guided:
            continue
        if link.slide is not None:
            if link.parent >= 0:
                add_inertia(tree.links[link.parent], ZERO, NULL, link.J, work)
            link.J = ZEROS
        elif link.axis is not None:
            _move_revolute(tree, link, work, spin)
        elif link.takes_translation:  # ball joint: the mass sits at the joint
            _transfer_to_parent(tree, link, link.m, NULL, ZEROS, work)
            link.m = ZERO


def _move_revolute(tree: Tree, link: Link, work: DerivationWorkspace, spin: bool) -> None:
    k = link.axis
    assert k is not None
    e = IDENTITY[k]
    J_kk = link.J[k][k]
    i, j = (k + 1) % 3, (k + 2) % 3
    if spin and link.takes_translation and _is_balanced(tree, link):
        # the transverse inertia is split into a part along the axis, which goes to the parent, and
        # a traceless block
        half_sum = mul(add(link.J[i][i], link.J[j][j]), Number(1) / 2)
        half_difference = mul(sub(link.J[i][i], link.J[j][j]), Number(1) / 2)
        J_kk = add(J_kk, half_sum)
        rows = [[ZERO] * 3 for _ in range(3)]
        rows[i][i], rows[j][j] = work.bind(half_difference), work.bind(neg(half_difference))
        rows[i][j] = rows[j][i] = link.J[i][j]
        link.spin = True
        if half_difference.fingerprint == 0 and link.J[i][j] is ZERO:
            link.turns = ()  # axially symmetric: its frame need not turn with it
        link.spin_inertia = work.bind(add(link.J[i][i], link.J[j][j]))
        link.J = (tuple(rows[0]), tuple(rows[1]), tuple(rows[2]))  # type: ignore[assignment]
    else:
        link.J = _without_axis_inertia(link.J, k)
    if link.takes_translation:
        _transfer_to_parent(tree, link, link.m, scale3(link.h[k], e), outer3(J_kk, e, e), work)
        link.m = ZERO
        link.h = tuple(ZERO if a == k else link.h[a] for a in range(3))  # type: ignore[assignment]
    elif link.parent >= 0:
        parent_inertia = matmul(link.C, matmul(outer3(J_kk, e, e), transpose(link.C)))
        add_inertia(tree.links[link.parent], ZERO, NULL, parent_inertia, work)


def _is_balanced(tree: Tree, link: Link) -> bool:
    k = link.axis
    assert k is not None
    i, j = (k + 1) % 3, (k + 2) % 3
    leaf = not tree.children(link.index) and link.freedoms[0].index not in tree.armature
    return leaf and link.parent >= 0 and is_zero((link.h[i], link.h[j], link.J[k][i], link.J[k][j]))


def _without_axis_inertia(J: Mat3, k: int) -> Mat3:
    x, y, z = (tuple(ZERO if a == b == k else J[a][b] for b in range(3)) for a in range(3))
    return x, y, z  # type: ignore[return-value]


def _transfer_to_parent(
    tree: Tree, link: Link, m: Expr, h: Vec3, J: Mat3, work: DerivationWorkspace
) -> None:
    """Adds inertia, given in the link's frame and unaffected by its degree of freedom, to the
    parent."""
    if link.parent < 0:
        return
    C = link.C
    h_p = work.apply_matrix(C, h)
    J_p = matmul(C, matmul(J, transpose(C)))
    h_s, J_s = shift_moments(m, h_p, J_p, link.p)
    add_inertia(tree.links[link.parent], m, work.bind3(h_s), J_s, work)
