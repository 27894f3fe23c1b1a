"""Energy and momentum of a mechanism, summed over its bodies."""

from __future__ import annotations

from bellcrank.mechanics.kinematics.body_motion import Kinematics
from bellcrank.model.loads.load import BodyPoint
from bellcrank.symbolic.expr import ONE, ZERO, Expr, add, expression, mul
from bellcrank.symbolic.vector.basis import Vector, cross, dot


def angular_momentum(k: Kinematics, index: int) -> Vector:
    """I . w: angular momentum of a body about its own mass centre."""
    return k.frames[index].times(k.mechanism.bodies[index].inertia, k.w[index])


def kinetic_energy(k: Kinematics) -> Expr:
    """Sum of 1/2 m v.v + 1/2 w.I.w over all bodies, and 1/2 u^2 times the armature of their
    joints."""
    terms = []
    for b in k.mechanism.bodies:
        v = k.velocity(BodyPoint("", b.index, b.cm))
        double_energy = add(mul(b.mass, dot(v, v)), dot(k.w[b.index], angular_momentum(k, b.index)))
        terms.append(k.work.bind(mul(ONE / 2, double_energy)))
        if b.armature is not ZERO:
            u = k.speed.get(b.speeds[0], b.speeds[0])
            terms.append(k.work.bind(mul(ONE / 2, b.armature, u, u)))
    return add(*terms) if terms else ZERO


def gravity_potential(k: Kinematics, gravity: Vector) -> Expr:
    """Minus the sum of m g . r."""
    terms = [
        mul(b.mass, dot(gravity, k.position(BodyPoint("", b.index, b.cm))))
        for b in k.mechanism.bodies
    ]
    return mul(expression(-1), add(*terms)) if terms else ZERO


def linear_and_angular_momentum(k: Kinematics) -> tuple[Vector, Vector]:
    """Linear momentum, and angular momentum about the fixed origin."""
    linear, angular = Vector({}), Vector({})
    for b in k.mechanism.bodies:
        cm = BodyPoint("", b.index, b.cm)
        p = k.velocity(cm) * b.mass
        linear = linear + p
        angular = angular + cross(k.position(cm), p) + angular_momentum(k, b.index)
    return linear, angular
