"""Bias motion of every link: what moves when all unknown accelerations are zero, and the inertia
forces of that motion.

Angular velocity w, bias angular acceleration alpha, W = [alpha]x + w w^T - (w.w) 1, bias
acceleration a of the origin, all in link axes; gravity enters as an upward acceleration of the
ground. Unknowns are shifted by `delta` so that the bias acceleration along each joint's own degree
of freedom is zero (u' = y + delta).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bellcrank.mechanics.dynamics.tree import Link, Tree
from bellcrank.symbolic.expr import TWO, ZERO, Expr, add, mul, neg, sub
from bellcrank.symbolic.vector.basis import NULL, ZEROS, Mat3, Vec3, add_scaled3, cross3
from bellcrank.symbolic.vector.derivation_workspace import DerivationWorkspace, is_zero


@dataclass
class BiasMotion:
    """Per link: w, alpha, a, W, position p of the origin in the parent's frame; per speed:
    delta."""

    w: list[Vec3] = field(default_factory=list)
    alpha: list[Vec3] = field(default_factory=list)
    a: list[Vec3] = field(default_factory=list)
    W: list[Mat3] = field(default_factory=list)
    p: list[Vec3] = field(default_factory=list)
    delta: dict[int, Expr] = field(default_factory=dict)


def to_link_frame(work: DerivationWorkspace, link: Link, v: Vec3) -> Vec3:
    """A vector of the parent's frame in the link's."""
    if is_zero(v):
        return v
    v = work.apply_transposed(link.C, v)
    if link.matrix is not None:
        return work.apply_transposed(link.matrix, v)
    for k, c, s in link.turns:
        v = work.rotate_about_axis(k, c, neg(s), v)
    return v


def to_parent_frame(work: DerivationWorkspace, link: Link, v: Vec3) -> Vec3:
    """A vector of the link's frame in the parent's."""
    if is_zero(v):
        return v
    if link.matrix is not None:
        v = work.apply_matrix(link.matrix, v)
    for k, c, s in reversed(link.turns):
        v = work.rotate_about_axis(k, c, s, v)
    return work.apply_matrix(link.C, v)


def origin_in_parent(work: DerivationWorkspace, link: Link) -> Vec3:
    """Origin of the link in the parent's frame."""
    if link.slide is None:
        return link.p
    assert link.q is not None
    return work.bind3(add(link.p[i], mul(link.q, link.slide[i])) for i in range(3))


def bias_motion(
    tree: Tree, work: DerivationWorkspace, free_gravity: dict[int, Vec3], shift: bool = True
) -> BiasMotion:
    """The motion of all links for zero unknowns. `free_gravity` is gravity in the axes of free
    links."""
    motion = BiasMotion()
    ground_acceleration = tuple(neg(g) for g in tree.gravity)
    # a speed that moves guided links besides its own cannot be shifted on its own account
    shared = {f.index for link in tree.links if link.guided for f in link.freedoms}
    plain = shift
    for link in tree.links:
        shift = plain and not any(f.index in shared for f in link.freedoms)
        motion.p.append(origin_in_parent(work, link))
        at_ground = link.parent < 0
        w_up: Vec3 = NULL if at_ground else motion.w[link.parent]
        alpha_up: Vec3 = NULL if at_ground else motion.alpha[link.parent]
        _add_rotation_bias(link, motion, work, w_up, alpha_up, shift)
        if not link.takes_translation:
            motion.a.append(_normal_gravity(link, free_gravity.get(link.index, NULL), work))
        else:
            a_up: Vec3 = ground_acceleration if at_ground else motion.a[link.parent]  # type: ignore[assignment]
            W_up: Mat3 = ZEROS if at_ground else motion.W[link.parent]
            _add_translation_bias(link, motion, work, a_up, W_up, w_up, shift)
        motion.W.append(angular_motion_matrix(work, motion.w[-1], motion.alpha[-1]))
    return motion


def _normal_gravity(link: Link, gravity: Vec3, work: DerivationWorkspace) -> Vec3:
    """Of a link that moves in a plane: gravity normal to it is carried, as if the link accelerated
    against it."""
    free = [f.axis for f in link.translations]
    if len(free) == 3 or is_zero(gravity):
        return NULL
    along = [work.dot(gravity, e) for e in free]
    return work.bind3(
        sub(add(*(mul(x, e[c]) for x, e in zip(along, free, strict=True))), gravity[c])
        for c in range(3)
    )


def _add_rotation_bias(
    link: Link,
    motion: BiasMotion,
    work: DerivationWorkspace,
    w_up: Vec3,
    alpha_up: Vec3,
    shift: bool,
) -> None:
    if not link.takes_rotation:
        joint_velocity: Vec3 = NULL
        for f in link.rotations:
            motion.delta[f.index] = ZERO
            joint_velocity = add_scaled3(joint_velocity, f.speed, f.axis)
        motion.w.append(joint_velocity)
        motion.alpha.append(NULL)
        return
    w_here, alpha_here = to_link_frame(work, link, w_up), to_link_frame(work, link, alpha_up)
    if link.guided:
        joint_velocity = work.bind3(
            add(link.w[c], *(mul(f.speed, f.axis[c]) for f in link.rotations)) for c in range(3)
        )
        alpha_here = work.add(work.add(alpha_here, work.cross(w_here, joint_velocity)), link.alpha)
        w_here = work.add(w_here, joint_velocity)
        motion.delta.update({f.index: ZERO for f in link.rotations if f.index not in motion.delta})
    if link.axis is not None:
        k = link.axis
        i, j = (k + 1) % 3, (k + 2) % 3
        (f,) = link.rotations
        u = f.speed
        alpha = list(alpha_here)
        alpha[i] = work.bind(add(alpha_here[i], mul(w_here[j], u)))
        alpha[j] = work.bind(sub(alpha_here[j], mul(w_here[i], u)))
        motion.delta[f.index] = ZERO
        if shift or link.spin:  # the unknown of a spin leaf is absolute in any case
            motion.delta[f.index] = neg(alpha_here[k])
            alpha[k] = ZERO
        w = list(w_here)
        w[k] = work.bind(add(w_here[k], u))
        w_here, alpha_here = (w[0], w[1], w[2]), (alpha[0], alpha[1], alpha[2])
    motion.w.append(w_here)
    motion.alpha.append(alpha_here)


def _add_translation_bias(
    link: Link,
    motion: BiasMotion,
    work: DerivationWorkspace,
    a_up: Vec3,
    W_up: Mat3,
    w_up: Vec3,
    shift: bool,
) -> None:
    p = motion.p[-1]
    a = work.bind3(add(a_up[i], *(mul(W_up[i][j], p[j]) for j in range(3))) for i in range(3))
    if link.slide is not None:
        (f,) = link.freedoms
        d, u = link.slide, f.speed
        coriolis = cross3(w_up, d)
        a = work.bind3(add(a[i], mul(TWO, u, coriolis[i])) for i in range(3))
        motion.delta[f.index] = ZERO
        if shift:
            along = work.dot(a, d)
            motion.delta[f.index] = neg(along)
            a = work.bind3(sub(a[i], mul(along, d[i])) for i in range(3))
    if link.guided:
        joint_velocity = work.bind3(
            add(link.v[c], *(mul(f.speed, f.axis[c]) for f in link.translations)) for c in range(3)
        )
        coriolis_guided = work.cross(w_up, joint_velocity)
        a = work.bind3(add(a[i], mul(TWO, coriolis_guided[i]), link.a[i]) for i in range(3))
    motion.a.append(to_link_frame(work, link, a))


def angular_motion_matrix(work: DerivationWorkspace, w: Vec3, alpha: Vec3) -> Mat3:
    """W = [alpha]x + w w^T - (w.w) 1; its diagonal as minus the two squares."""
    xx, yy, zz = (work.bind(mul(c, c)) for c in w)
    xy, yz, zx = work.bind(mul(w[0], w[1])), work.bind(mul(w[1], w[2])), work.bind(mul(w[2], w[0]))
    return (
        (neg(work.bind(add(yy, zz))), work.bind(sub(xy, alpha[2])), work.bind(add(zx, alpha[1]))),
        (work.bind(add(xy, alpha[2])), neg(work.bind(add(xx, zz))), work.bind(sub(yz, alpha[0]))),
        (work.bind(sub(zx, alpha[1])), work.bind(add(yz, alpha[0])), neg(work.bind(add(xx, yy)))),
    )


def inertia_force(link: Link, motion: BiasMotion, work: DerivationWorkspace) -> tuple[Vec3, Vec3]:
    """Force and moment about the origin that the bias motion asks for: f = m a + W h, n = h x a +
    n(J, W)."""
    i = link.index
    a, W, h, J, w = motion.a[i], motion.W[i], link.h, link.J, motion.w[i]
    f = work.bind3(
        add(mul(link.m, a[r]), *(mul(W[r][c], h[c]) for c in range(3))) for r in range(3)
    )
    n = []
    for x in range(3):
        y, z = (x + 1) % 3, (x + 2) % 3
        terms = [
            mul(h[y], a[z]),
            neg(mul(h[z], a[y])),
            mul(W[z][y], J[y][y]),
            neg(mul(W[y][z], J[z][z])),
            mul(W[z][x], J[x][y]),
            neg(mul(W[y][x], J[x][z])),
            mul(sub(mul(w[z], w[z]), mul(w[y], w[y])), J[y][z]),
        ]
        n.append(add(*terms))
    if link.spin:
        k = link.axis
        assert k is not None
        x, y = (k + 1) % 3, (k + 2) % 3
        momentum = work.bind(mul(link.spin_inertia, w[k]))
        n[x] = add(n[x], mul(w[y], momentum))
        n[y] = sub(n[y], mul(w[x], momentum))
    return f, work.bind3(n)
