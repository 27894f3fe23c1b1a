"""Joints whose motion is given by functions of coordinates: attitude, position, and what their
rates make of them.

The attitude R and the position p of the body's reference point are functions of coordinates z, with
partial velocities d and delta (all in the parent's axes): v = d z', w = delta z', and accelerations
d z'' + a(z, z'), delta z'' + alpha(z, z'). Each speed turns and moves the body at once. A kind of
such joints says how it moves (`motion`), in words too; the rest is here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bellcrank.model.joints.joint import FrameMotion, Joint, LazyVelocity, Speeds
from bellcrank.symbolic.expr import Expr, Symbol, add
from bellcrank.symbolic.vector.basis import NULL, Frame, Mat3, Vec3, cross
from bellcrank.symbolic.vector.derivation_workspace import DerivationWorkspace


@dataclass(frozen=True)
class JointMotion:
    """R, p, and per coordinate d and delta, over the coordinates; a and alpha over coordinates and
    speeds; v and w, what moves with all speeds zero; parent's axes."""

    R: Mat3
    p: Vec3
    d: tuple[Vec3, ...]
    delta: tuple[Vec3, ...]
    a: Vec3 = NULL
    alpha: Vec3 = NULL
    v: Vec3 = NULL
    w: Vec3 = NULL


@dataclass(frozen=True)
class FunctionJoint(Joint):
    """p is from `datum`, a point of the parent; `offset` leads from the reference point to the
    origin, body axes."""

    datum: Vec3 = NULL
    offset: Vec3 = NULL

    @property
    def driving_speeds(self) -> tuple[Symbol, ...]:
        """The speeds that move the body: its own, or those of others that it follows."""
        return self.u

    def motion(self, speeds: Sequence[Expr]) -> JointMotion:
        """The motion over the coordinates, for values of the speeds in `driving_speeds`."""
        raise NotImplementedError

    def place(
        self, name: str, parent: FrameMotion, speed: Speeds, work: DerivationWorkspace
    ) -> FrameMotion:
        base, speeds = parent.frame, [speed.get(s, s) for s in self.driving_speeds]
        motion = self.motion(speeds)
        frame = Frame(name, base, work.bind_matrix(motion.R))
        w = parent.w + base.vector(work.bind3(motion.w))
        velocity = base.vector(work.bind3(motion.v))
        for d, delta, u in zip(motion.d, motion.delta, speeds, strict=True):
            w = w + base.vector(work.bind3(delta)) * u
            velocity = velocity + base.vector(work.bind3(d)) * u
        frame.omega = w
        offset = base.vector(
            work.bind3(add(a, p) for a, p in zip(self.datum, motion.p, strict=True))
        )
        reference_offset = frame.vector(self.offset)
        v = LazyVelocity(
            lambda v: v + cross(parent.w, offset) + velocity + cross(w, reference_offset),
            parent.velocity,
        )
        return FrameMotion(frame, w, parent.origin + offset + reference_offset, v)
