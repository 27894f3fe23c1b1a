"""Joints in numbers: how bodies move in their parents. Written apart from `model.joints`, from the
records alone.

A joint gives the pose and velocities of its body from those of the parent, and the rates of its
coordinates that belong to these velocities. Values are numbers or jets. Its own coordinates and
speeds move a body, or those it follows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from bellcrank.model.records import JointRecord
from bellcrank.verify import jets
from bellcrank.verify.formulas import CannotEvaluate
from bellcrank.verify.guided_joints import (
    guided_pose,
    linkage_numbers,
    presolve_linkage,
    stack_states,
)
from bellcrank.verify.jets import JetBatch, Value, constant_term, multiply_columns

E = np.eye(3)
ZERO = np.zeros(3)


@dataclass(frozen=True)
class MovingPose:
    """Orientation (columns: body axes) and origin of a body, its angular velocity and the velocity
    of its origin."""

    R: Value
    p: Value
    w: Value
    v: Value


GROUND = MovingPose(E, ZERO, ZERO, ZERO)


class ReferenceJoint:
    """What most joints have in common: rates are speeds, nothing is bound or locked, no mass centre
    stays fixed."""

    n_q: int  # coordinates and speeds of its own; `make_reference_joint` sets those of a record
    n_u: int
    at: Value  # origin in the parent, and R_AB, at zero coordinates
    C: Value
    lengths = 0  # how many coordinates, and speeds, are lengths: the first ones
    follows: Sequence[tuple[str, int]] | None = (
        None  # bodies and places of what moves it, if not its own
    )
    given: Any = None  # a formula that moves it from outside, after these
    # body axes of absolute translational speeds (none: along the slides), and the point they belong
    # to
    absolute: tuple[int, ...] | None = None
    speed_point: Value = ZERO

    def motion(self, q: Any, u: Any, A: MovingPose) -> MovingPose:
        """The motion of the body for what moves it, its parent being A. Speeds may be rows of
        several motions at once, whose velocities are columns then."""
        raise NotImplementedError

    @property
    def has_trivial_rates(self) -> bool:
        """Are its speeds the rates of its coordinates?"""
        return True

    def rates(self, q: Any, u: Any, A: MovingPose, B: MovingPose) -> list[Value]:
        return [u[i] for i in range(self.n_u)]

    def presolve(self, several: Sequence[tuple[float, ...]]) -> None:
        """Prepares motions at several values of what moves it."""

    def is_admissible(self, values: Sequence[Value]) -> bool:
        """Is there a motion at these values of what moves it?"""
        return True

    def set_reference_values(self, q: np.ndarray) -> None:
        """Sets what is not zero where the body stands as it was drawn."""

    def normalize_coordinates(self, q: np.ndarray) -> None:
        """Brings coordinates onto what binds them to each other."""

    def gimbal_lock_distance(self, q: Any) -> float:
        """How far it is from locking: 1 far, 0 locked."""
        return 1.0

    def fixes_mass_center(self, massless: bool, cm: np.ndarray) -> bool:
        return False

    def speed_axes(self, on_ground: bool) -> tuple[int, ...] | None:
        """Body axes of absolute translational speeds; None: relative speeds."""
        return None

    def coordinate_reach(self) -> list[float]:
        """How far what moves it may be from zero, half of what functions allow."""
        return []


@dataclass
class ReferencePlainJoint(ReferenceJoint):
    """Slides, then rotations. `C` is R_AB at zero coordinates, `at` the origin in the parent. The
    form of the speeds is set when the composite bodies are known."""

    slides: tuple[Value, ...]
    axes: tuple[Value, ...]
    euler: bool
    C: Value
    at: Value

    def __post_init__(self) -> None:
        k = self.lengths = len(self.slides)
        self.n_q, self.n_u = (
            k + (4 if self.euler else len(self.axes)),
            k + (3 if self.euler else len(self.axes)),
        )
        self.turns = slice(k, self.n_q)

    def fixes_mass_center(self, massless: bool, cm: np.ndarray) -> bool:
        no_rotation = not self.axes and not self.euler
        on_axis = (
            len(self.axes) == 1
            and np.linalg.norm(np.cross(constant_term(self.axes[0]), cm)) < 1e-12
        )
        return not self.slides and (
            massless or no_rotation or not np.any(np.abs(cm) > 1e-12) or bool(on_axis)
        )

    def speed_axes(self, on_ground: bool) -> tuple[int, ...] | None:
        if len(self.slides) == 3:
            return () if self.euler and on_ground else (0, 1, 2)
        # in a plane fixed in the ground: two slides, at most one rotation
        if len(self.slides) != 2 or not on_ground or self.euler or len(self.axes) > 1:
            return None
        C = constant_term(self.C)
        normal = np.cross(*(constant_term(s) for s in self.slides))
        if self.axes and np.linalg.norm(np.cross(normal, C @ constant_term(self.axes[0]))) > 1e-9:
            return None
        across = np.abs(C.T @ normal)
        k = int(np.argmax(across))
        return None if abs(across[k] - 1.0) > 1e-9 else tuple(a for a in range(3) if a != k)

    def _offset(self, q: Any) -> Value:
        """From the parent's origin to the body's, in the parent."""
        r = self.at
        for i, slide in enumerate(self.slides):
            r = r + slide * q[i]
        return r

    def motion(self, q: Any, u: Any, A: MovingPose) -> MovingPose:
        k = self.lengths
        R_AB = self.C
        if self.euler:
            R_AB = R_AB @ euler_rotation([q[k + i] for i in range(4)])
        else:
            for i, axis in enumerate(self.axes):
                R_AB = R_AB @ reference_rotation_about(axis, q[k + i])
        R, arm = A.R @ R_AB, A.R @ self._offset(q)
        if self.n_u - k == 3:
            w = R @ u[k : k + 3]
        else:
            w = A.w + multiply_columns(R @ self.axes[0], u[k]) if self.axes else A.w
        if self.absolute is not None:
            v = -jets.cross(w, R @ self.speed_point)
            for i, axis in enumerate(self.absolute):
                v = v + multiply_columns(R[:, axis], u[i])
            for i, slide in enumerate(self.slides if not self.absolute else ()):
                v = v + multiply_columns(A.R @ slide, u[i])
        else:
            v = A.v + jets.cross(A.w, arm)
            for i, slide in enumerate(self.slides):
                v = v + multiply_columns(A.R @ slide, u[i])
        return MovingPose(R, A.p + arm, w, v)

    @property
    def has_trivial_rates(self) -> bool:
        return self.absolute is None and not self.euler and len(self.axes) <= 1

    def rates(self, q: Any, u: Any, A: MovingPose, B: MovingPose) -> list[Value]:
        return self._slide_rates(q, A, B) + self._rotation_rates(q, A, B)

    def _slide_rates(self, q: Any, A: MovingPose, B: MovingPose) -> list[Value]:
        if not self.slides:
            return []
        carried_velocity = A.v + jets.cross(A.w, A.R @ self._offset(q))
        relative = A.R.T @ (B.v - carried_velocity)
        S = jets.stack_jets(self.slides)
        rates = jets.solve(S @ S.T, S @ relative)
        return [rates[i] for i in range(len(self.slides))]

    def _rotation_rates(self, q: Any, A: MovingPose, B: MovingPose) -> list[Value]:
        if not self.euler and not self.axes:
            return []
        w = B.R.T @ (B.w - A.w)
        if self.euler:
            return euler_rates([q[self.lengths + i] for i in range(4)], w)
        if len(self.axes) == 1:
            return [self.axes[0] @ w]
        rates = jets.solve(self._rotation_axes(q).T, w)
        return [rates[i] for i in range(3)]

    def _rotation_axes(self, q: Any) -> Value:
        """Rows: the three rotation axes on the axes of the turned body."""
        rotations = [
            reference_rotation_about(axis, q[self.lengths + i]) for i, axis in enumerate(self.axes)
        ]
        return jets.stack_jets(
            [
                rotations[2].T @ (rotations[1].T @ self.axes[0]),
                rotations[2].T @ self.axes[1],
                self.axes[2],
            ]
        )

    def set_reference_values(self, q: np.ndarray) -> None:
        if self.euler:
            q[self.lengths] = 1.0

    def normalize_coordinates(self, q: np.ndarray) -> None:
        if self.euler:
            q[self.turns] /= np.linalg.norm(q[self.turns])

    def gimbal_lock_distance(self, q: Any) -> float:
        return (
            abs(float(np.linalg.det(constant_term(self._rotation_axes(q)))))
            if len(self.axes) == 3
            else 1.0
        )


@dataclass
class ReferenceGuidedJoint(ReferenceJoint):
    """A body that the functions of a linkage move; the last of their arguments may be given from
    outside."""

    record: Any
    metre: float
    at: Value

    def __post_init__(self) -> None:
        r = self.record
        self.C = E
        self.follows, self.given = r.follows, r.given
        self._datum = np.array(r.at) * self.metre
        self._numbers = lru_cache(maxsize=512)(
            lambda values: linkage_numbers(self.record, values, self.metre)
        )
        self._offset = self.at - (np.array(r.at) + np.array(r.drawn)) * self.metre

    def presolve(self, several: Sequence[tuple[float, ...]]) -> None:
        presolve_linkage(self.record, several, self.metre)

    def is_admissible(self, values: Sequence[Value]) -> bool:
        try:
            self._numbers(_as_floats(values))
        except CannotEvaluate:
            return False
        return True

    def motion(self, q: Any, u: Any, A: MovingPose) -> MovingPose:
        if jets.jet_class(*q) is JetBatch:
            columns = np.stack(np.broadcast_arrays(*map(constant_term, q)), axis=-1).tolist()
            numbers = stack_states([self._numbers(tuple(x)) for x in columns])
        else:
            numbers = self._numbers(_as_floats(q))
        R_AB, p, slides, rotations = guided_pose(numbers, q)
        R = A.R @ R_AB
        arm, offset = A.R @ (p + self._datum), R @ self._offset
        w, v = A.w, A.v + jets.cross(A.w, arm)
        for d, delta, rate in zip(slides, rotations, u, strict=True):
            w = w + multiply_columns(A.R @ delta, rate)
            v = v + multiply_columns(A.R @ d, rate)
        return MovingPose(R, A.p + arm + offset, w, v + jets.cross(w, offset))

    def coordinate_reach(self) -> list[float]:
        ranges = zip(
            self.record.guide.coordinate_kinds(),
            self.record.guide.coordinate_ranges(),
            strict=False,
        )
        return [
            0.5 * min(-low, high) * (self.metre if kind == "length" else 1.0)
            for kind, (low, high) in ranges
        ]


def _as_floats(values: Sequence[Value]) -> tuple[float, ...]:
    return tuple(float(constant_term(x)) for x in values)


@dataclass
class ReferenceScrewJoint(ReferenceJoint):
    """Turns about an axis and moves along it, by `pitch` in a turn."""

    axis: Value
    pitch: Value
    at: Value

    def __post_init__(self) -> None:
        self.C = E

    def motion(self, q: Any, u: Any, A: MovingPose) -> MovingPose:
        along, advance = A.R @ self.axis, self.pitch / (2 * np.pi)
        arm = A.R @ self.at + along * (advance * q[0])
        v = A.v + jets.cross(A.w, arm) + multiply_columns(along, advance * u[0])
        return MovingPose(
            A.R @ reference_rotation_about(self.axis, q[0]),
            A.p + arm,
            A.w + multiply_columns(along, u[0]),
            v,
        )


@dataclass(frozen=True)
class JointReading:
    """Where a joint is made: its origin in the parent, one metre in the length unit of the
    equations, and what reads axes and formulas of a record."""

    origin: Value
    metre: float
    axis: Callable[[Any], Value]
    scalar: Callable[[Any], Value]


REFERENCE_JOINTS: dict[str, Callable[[Any, JointReading], ReferenceJoint]] = {
    "linkage": lambda record, at: ReferenceGuidedJoint(record, at.metre, at.origin),
    "screw": lambda record, at: ReferenceScrewJoint(
        at.axis(record.axis), at.scalar(record.pitch), at.origin
    ),
}  # by `JointRecord.carrier_kind`


def make_reference_joint(record: JointRecord, reading: JointReading) -> ReferenceJoint:
    """The joint of a record; `counterparts` raises an error for kinds that are not in the table."""
    joint = REFERENCE_JOINTS[record.carrier_kind](record, reading)
    joint.n_q = joint.n_u = record.coordinate_count
    return joint


def reference_rotation_about(axis: Value, angle: Value) -> Value:
    """Rodrigues' formula; columns are the turned axes."""
    s, c = jets.sincos(angle)
    if isinstance(axis, jets.Jet):
        x, y, z = axis[0], axis[1], axis[2]
        skew = jets.stack_jets(
            [
                jets.stack_jets([0.0, -z, y]),
                jets.stack_jets([z, 0.0, -x]),
                jets.stack_jets([-y, x, 0.0]),
            ]
        )
        along = jets.stack_jets([axis * x, axis * y, axis * z])
    else:
        x, y, z = np.asarray(axis, dtype=float).tolist()
        skew, along = (
            np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]),
            np.multiply.outer(axis, axis),
        )
    return skew * s + (E - along) * c + along


def euler_rotation(e: list[Value]) -> Value:
    """R_AB of Euler parameters, e[0] the cosine of half the angle."""
    a, b, c, d = e
    rows = [
        [a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)],
        [2 * (b * c + a * d), a * a - b * b + c * c - d * d, 2 * (c * d - a * b)],
        [2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d],
    ]
    return jets.stack_jets([jets.stack_jets(row) for row in rows])


def euler_rates(e: list[Value], w: Value) -> list[Value]:
    """e' for the relative angular velocity w on the axes of the turned body."""
    a, b, c, d = e
    x, y, z = w[0], w[1], w[2]
    return [
        (b * x + c * y + d * z) * -0.5,
        (a * x - d * y + c * z) * 0.5,
        (d * x + a * y - b * z) * 0.5,
        (-c * x + b * y + a * z) * 0.5,
    ]
