"""Frames, positions, velocities and kinematical equations of a mechanism, basis-free.

In:  a `Mechanism`, and values for speeds that constraints have replaced. Out: `Kinematics`: a
frame, angular velocity, origin and its velocity for every body, and the rates of all coordinates
(q' in terms of u). Velocities are written with speeds, so accelerations follow by differentiation.
Sayers (1990), sections 8.1.6 and 8.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from bellcrank.core.errors import ModelError
from bellcrank.mechanics.kinematics.mounts import shared_frames
from bellcrank.model.joints.guided import prescribed_rate
from bellcrank.model.joints.joint import FrameMotion, LazyVelocity
from bellcrank.model.loads.load import BodyPoint
from bellcrank.model.mechanism import Mechanism
from bellcrank.symbolic.expr import ZERO, Expr, Symbol, derivative, expression, nominal, substitute
from bellcrank.symbolic.vector.basis import Frame, Vector, cross, time_derivative
from bellcrank.symbolic.vector.derivation_workspace import DerivationWorkspace


@dataclass
class Kinematics:
    """Motion of all bodies. Index -1 is the ground."""

    mechanism: Mechanism
    work: DerivationWorkspace
    speed: dict[Symbol, Expr]
    frames: dict[int, Frame] = field(default_factory=dict)
    w: dict[int, Vector] = field(default_factory=dict)
    origin: dict[int, Vector] = field(default_factory=dict)
    v_origin: dict[int, LazyVelocity] = field(default_factory=dict)
    rates: dict[Symbol, Expr] = field(default_factory=dict)  # of coordinates

    def frame_motion(self, body: int) -> FrameMotion:
        return FrameMotion(self.frames[body], self.w[body], self.origin[body], self.v_origin[body])

    def set_frame_motion(self, body: int, m: FrameMotion) -> None:
        self.frames[body], self.w[body], self.origin[body], self.v_origin[body] = (
            m.frame,
            m.w,
            m.origin,
            m.velocity,
        )

    def position(self, p: BodyPoint) -> Vector:
        """Vector from the fixed origin."""
        return self.origin[p.body] + self.frames[p.body].vector(p.coordinates)

    def velocity(self, p: BodyPoint) -> Vector:
        """Absolute velocity: that of the body's origin plus w x r."""
        r = self.frames[p.body].vector(p.coordinates)
        v = self.v_origin[p.body].evaluate()
        return v + cross(self.w[p.body], r) if r else v

    def symbol_derivative(self, s: Symbol) -> Expr:
        """Time derivative of a symbol."""
        match s.kind:
            case "coordinate" if s in self.rates:
                return self.rates[s]
            case "coordinate":
                raise ModelError(
                    f"the rate of {s.name} is not known here: it depends on itself, or on a "
                    f"later state"
                )
            case "speed":
                return Symbol(s.name.replace("u(", "up(", 1), "acceleration", s.order)
            case kind if kind == "acceleration" or (
                kind == "rate" and s.name.startswith("dxdt(dxdt(")
            ):
                raise ModelError(f"the time derivative of {s.name} is not available")
        return prescribed_rate(s)

    def derivative_without_udot(self, e: Expr) -> Expr:
        """Time derivative of e with all accelerations zero."""
        return derivative(e, lambda s: ZERO if s.kind == "speed" else self.symbol_derivative(s))

    def with_drawn_values(self, e: Expr) -> Expr:
        """e with all states at zero; the scalar part of Euler parameters is then 1."""
        upright: dict[Expr, Expr] = {
            q: expression(x) for q, x in self.mechanism.nonzero_reference_values.items()
        }
        joints = [b.joint for b in self.mechanism.bodies]
        for functions in dict.fromkeys(j.functions for j in joints if j.functions is not None):
            e = functions.with_drawn_values(e)
        return nominal(substitute(e, upright)) if upright else nominal(e)

    def derivative(self, v: Vector) -> Vector:
        """Time derivative of a vector in the inertial frame."""
        return time_derivative(v, self.symbol_derivative)


def build_kinematics(
    mechanism: Mechanism,
    speed: dict[Symbol, Expr] | None = None,
    work: DerivationWorkspace | None = None,
) -> Kinematics:
    """The kinematics of a mechanism."""
    k = Kinematics(
        mechanism,
        work or DerivationWorkspace([*mechanism.coordinates, *mechanism.speeds]),
        speed or {},
    )
    k.set_frame_motion(
        -1, FrameMotion(Frame("n"), Vector({}), Vector({}), LazyVelocity(lambda v: v))
    )
    shared = shared_frames(mechanism)
    mount_frames: dict[int, Frame] = {}
    for body in mechanism.bodies:
        parent, joint = k.frame_motion(body.parent), body.joint
        if mount := shared.get(body.index):
            joint = mount.joint
            if mount.first not in mount_frames:
                mount_frames[mount.first] = Frame(f"{body.name}_mount", parent.frame, mount.R)
                mount_frames[mount.first].omega = parent.w
            parent = replace(parent, frame=mount_frames[mount.first])
        motion = joint.place(body.name, parent, k.speed, k.work)
        k.set_frame_motion(body.index, motion)
        k.rates.update(joint.rates(parent, motion, k.speed, k.work))
    if mechanism.orders:  # velocities too, while the threshold of small terms holds
        for velocity in k.v_origin.values():
            velocity.evaluate()
    return k
