"""Closed loops and constraints as numbers: residuals of positions, speeds, accelerations, and the
motions they leave.

In:  loop and constraint records, and formulas at one instant. Out: `rows`, and
`ReferenceConstraints`: velocity rows J u + c = 0 found with unit speeds, the null space of J, and
how far a state is from the constraints. A loop locks directions in which two points, or two
bodies, may not move; the reference configuration says what coincides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bellcrank.model.records import LoopRecord
from bellcrank.verify import jets
from bellcrank.verify.bodies import ReferenceMechanism, ReferenceMotion
from bellcrank.verify.formulas import CannotEvaluate
from bellcrank.verify.jets import Jet, Value
from bellcrank.verify.mechanics import MechanicsEvaluator

RANK_TOLERANCE = 1e-8  # of the largest singular value: smaller ones are zero
MIN_SINGULAR_RATIO = 1e-3  # those between are too near to zero for a fair check
LEAST_RATE = 1e-3  # 1/s: the speed of a machine whose joints and constraints let nothing move

# what a joint locks: sliding along its axis, sliding across it, leaning of the axis, turning about
# it
LOCKED = {
    "revolute": ("along", "across", "lean"),
    "prismatic": ("across", "lean", "turn"),
    "cylindrical": ("across", "lean"),
    "planar": ("along", "lean"),
    "universal": ("along", "across", "square"),
}


def reference_loop_rows(record: LoopRecord, formulas: MechanicsEvaluator) -> list[Value]:
    """What is zero while a loop is closed."""
    p, r = formulas.point(record.first), formulas.point(record.second)
    separation = formulas.motion.relative_position(p, r)
    if record.joint is None:
        return [separation @ formulas.evaluate(d) for d in record.directions]
    joint = record.joint.lower()
    base = formulas.motion.R[r[0]]
    if joint == "spherical":
        return [separation @ base[:, i] for i in range(3)]
    if joint == "distance":
        record_length, start = record.length, formulas.nominal.motion
        length = (
            jets.norm(start.relative_position(p, r))
            if record_length is None
            else formulas.evaluate(record_length)
        )
        return [separation @ separation - length * length]
    if joint not in LOCKED:
        raise CannotEvaluate(f"a loop closed by kind={joint!r} is not known")
    rows = _axis_rows(record, separation, p[0], r[0], formulas)
    return [row for kind in LOCKED[joint] for row in rows[kind]]


def _axis_rows(
    record: LoopRecord, separation: Value, moving: int, base: int, formulas: MechanicsEvaluator
) -> dict[str, list[Value]]:
    """What a joint with an axis may lock; the axis, given in the moving body, is met when drawn by
    one of the base."""
    R, R_0 = formulas.motion.R, formulas.nominal.motion.R
    axis = formulas.evaluate(record.axis)
    base_axis = _joint_axis_at_reference(record, base, formulas)
    smallest_axis = np.eye(3)[_least_aligned_axis(record, base, base_axis, formulas)]
    first = jets.cross(base_axis, smallest_axis)
    first = first / jets.norm(first)
    second = jets.cross(base_axis, first)
    moving_normal = R_0[moving].T @ (
        R_0[base] @ first
    )  # the first normal, on axes of the moving body
    rotated_axis, normals = R[base] @ base_axis, (R[base] @ first, R[base] @ second)
    return {
        "along": [separation @ rotated_axis],
        "across": [separation @ e for e in normals],
        "lean": [axis @ e for e in normals],
        "turn": [(R[moving] @ moving_normal) @ normals[1]],
        "square": [axis @ normals[0]],
        "side of tilt": [axis @ rotated_axis],
        "side of turn": [(R[moving] @ moving_normal) @ normals[0]],
    }


def _joint_axis_at_reference(record: LoopRecord, base: int, formulas: MechanicsEvaluator) -> Value:
    """The axis of a joint in the reference configuration, on axes of the base."""
    return formulas.nominal.motion.R[base].T @ formulas.nominal.evaluate(record.axis)


def _least_aligned_axis(
    record: LoopRecord, base: int, base_axis: Value, formulas: MechanicsEvaluator
) -> int:
    """The axis of the base that has the smallest part in the joint's axis; parts that depend on
    parameters count half, and one of them that turns out to be nearly all of it gives way to the
    next axis.

    It fixes the other axis of a universal joint; in the other joints it makes no difference.
    """
    arbitrary_motion = formulas.machine.with_random_parameters.nominal_motion
    arbitrary_axis = jets.constant_term(
        _joint_axis_at_reference(
            record, base, MechanicsEvaluator(arbitrary_motion, **formulas.given)
        )
    )
    a = jets.constant_term(base_axis)
    is_constant = np.abs(a - arbitrary_axis) < 1e-12
    components = np.where(is_constant, np.abs(a), 0.5)
    k = int(np.argmax(components <= components.min() + 1e-9 * components.max()))
    return k if is_constant[k] or a[k] ** 2 < 0.81 * (a @ a) else (k + 1) % 3


@dataclass(frozen=True)
class ConstraintJacobian:
    """J u + c = 0 of all rows at one position. `sizes` are those of the rows, `positions` says
    which hold positions."""

    J: np.ndarray
    c: np.ndarray
    sizes: np.ndarray
    positions: np.ndarray


class ReferenceConstraints:
    """The loops and constraints of a machine at one instant. `length` is the system's size."""

    def __init__(
        self,
        machine: ReferenceMechanism,
        formulas: Callable[[ReferenceMotion], MechanicsEvaluator],
        length: float,
    ) -> None:
        self.machine, self.formulas = machine, formulas
        self.unit = machine.state_scales(
            "u", length
        )  # speeds of unit size: slides move by the size of the machine
        self._known: tuple[bytes, ConstraintJacobian] | None = None

    def residuals(self, motion: ReferenceMotion) -> list[Value]:
        formulas = self.formulas(motion)
        d = self.machine.description
        residuals = [row for record in d.loops for row in reference_loop_rows(record, formulas)]
        return [*residuals, *(formulas.evaluate(c.expression) for c in d.constraints)]

    def has_reference_orientation(self, motion: ReferenceMotion) -> bool:
        """Do the axes of all joints, and bodies on slides, point as in the reference configuration?
        Rows hold the other way round too."""
        formulas = self.formulas(motion)
        for record in self.machine.description.loops:
            locked = LOCKED.get((record.joint or "").lower(), ())
            if "lean" in locked:
                p, r = formulas.point(record.first), formulas.point(record.second)
                rows = _axis_rows(record, motion.relative_position(p, r), p[0], r[0], formulas)
                sides = [*rows["side of tilt"], *(rows["side of turn"] if "turn" in locked else ())]
                if not all(jets.constant_term(x) > 0 for x in sides):
                    return False
        return True

    def jacobian(self, q: np.ndarray) -> ConstraintJacobian:
        """Found with unit speeds; a row that no speed changes is one of positions, and its rate
        counts."""
        key = q.tobytes()
        if self._known is not None and self._known[0] == key:
            return self._known[1]
        n = len(self.unit)
        rest_rows, *unit_rows = [
            self.residuals(self.machine.motion_with_rates(q, Jet([u])))
            for u in (np.zeros(n), *np.eye(n))
        ]
        J, c, positions = (
            np.zeros((len(rest_rows), n)),
            np.zeros(len(rest_rows)),
            np.ones(len(rest_rows), dtype=bool),
        )
        for i, x in enumerate(rest_rows):
            positions[i] = all(jets.constant_term(m[i]) == jets.constant_term(x) for m in unit_rows)
            c[i] = _time_derivative_value(x, int(positions[i]))
            J[i] = [_time_derivative_value(m[i], int(positions[i])) - c[i] for m in unit_rows]
        sizes = np.abs(J * self.unit).max(axis=1, initial=0.0)
        sizes = np.maximum(
            sizes, 1e-3 * sizes.max(initial=0.0)
        )  # rows that other joints satisfy are all rounding
        self._known = key, ConstraintJacobian(J, c, np.where(sizes > 0, sizes, 1.0), positions)
        return self._known[1]

    def _singular_value_split(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Singular values that are not zero, relative to the first, and a basis of the null space,
        in unit speeds."""
        s = self.jacobian(q)
        _, sigma, V = np.linalg.svd(s.J * self.unit / s.sizes[:, None])
        sigma = sigma / (sigma.max(initial=0.0) or 1.0)
        nonzero = sigma[sigma > RANK_TOLERANCE]
        return nonzero, V[len(nonzero) :].T

    def is_regular(self, q: np.ndarray, free: list[int]) -> bool:
        """Are the constraints, and the choice of free speeds, well away from singular states? A
        choice that is singular altogether does not count: that is for the check to find."""
        sigma, N = self._singular_value_split(q)
        smallest = np.linalg.svd(N[free], compute_uv=False).min(initial=1.0)
        return bool(
            sigma.min(initial=1.0) > MIN_SINGULAR_RATIO
            and not RANK_TOLERANCE < smallest < MIN_SINGULAR_RATIO
        )

    def dof_count(self, q: np.ndarray) -> int:
        """How many degrees of freedom the constraints leave here."""
        return int(self._singular_value_split(q)[1].shape[1])

    def null_space(self, q: np.ndarray, free: list[int]) -> np.ndarray:
        """Columns: speeds that the constraints allow, one for every free speed, which is one
        there."""
        _, N = self._singular_value_split(q)
        if N.shape[1] != len(free):
            raise CannotEvaluate(
                f"constraints leave {N.shape[1]} degrees of freedom, equations have {len(free)}"
            )
        if np.linalg.svd(N[free], compute_uv=False).min(initial=1.0) < RANK_TOLERANCE:
            raise CannotEvaluate("the independent speeds of the equations depend on each other")
        T: np.ndarray = self.unit[:, None] * N @ np.linalg.inv(N[free]) / self.unit[free]
        return T

    def drift_speeds(self, q: np.ndarray) -> np.ndarray:
        """The smallest speeds of a machine whose constraints ask for motion although all speeds are
        zero; else zero."""
        zero_speeds = np.zeros(len(self.unit))
        rows = self.residuals(
            self.machine.motion_with_rates(q, Jet([zero_speeds]))
        )  # first order holds for speeds alone
        if not any(
            _time_derivative_value(x, int(len(x) > 1)) != 0.0 for x in rows if isinstance(x, Jet)
        ):
            return zero_speeds
        s = self.jacobian(q)
        J = s.J * self.unit / s.sizes[:, None]
        speeds: np.ndarray = self.unit * np.linalg.lstsq(J, -s.c / s.sizes, rcond=RANK_TOLERANCE)[0]
        return speeds

    def accelerations(
        self, q: np.ndarray, u: np.ndarray, M: np.ndarray, f: np.ndarray
    ) -> np.ndarray:
        """u' of M u' = f along all motions that the rows allow, with rows that stay satisfied."""
        s = self.jacobian(q)
        rows = zip(self._residual_series(q, u, 0 * u), s.positions, strict=True)
        gamma = np.array(
            [_time_derivative_value(x, 1 + int(is_position)) for x, is_position in rows]
        )
        particular = np.linalg.lstsq(
            s.J * self.unit / s.sizes[:, None], -gamma / s.sizes, rcond=RANK_TOLERANCE
        )[0]
        _, N = self._singular_value_split(q)
        M, f = M * np.outer(self.unit, self.unit), f * self.unit
        z = np.linalg.lstsq(N.T @ M @ N, N.T @ (f - M @ particular), rcond=None)[0]
        udot: np.ndarray = self.unit * (particular + N @ z)
        return udot

    def _residual_series(self, q: np.ndarray, u: np.ndarray, udot: np.ndarray) -> list[Value]:
        return self.residuals(self.machine.motion_with_rates(q, Jet([u, udot])))

    def errors(self, q: np.ndarray, u: np.ndarray) -> tuple[float, float]:
        """The largest residuals of positions and speeds: as a fraction of a radian or of the
        system's size, and of the largest speed."""
        s = self.jacobian(q)
        positions, speeds = [0.0], [0.0]
        for x, size, is_position in zip(
            self._residual_series(q, u, 0 * u), s.sizes, s.positions, strict=True
        ):
            if is_position:
                positions.append(abs(_time_derivative_value(x, 0)) / size)
            speeds.append(abs(_time_derivative_value(x, int(is_position))) / size)
        return float(np.max(positions)), float(np.max(speeds)) / self._speed_scale(u)

    def acceleration_error(
        self, q: np.ndarray, u: np.ndarray, udot: np.ndarray, ref: np.ndarray
    ) -> float:
        """The largest residual of accelerations, as a fraction of the largest of `ref` ones, not of
        what is claimed."""
        s = self.jacobian(q)
        rows = zip(self._residual_series(q, u, udot), s.sizes, s.positions, strict=True)
        residuals = [
            abs(_time_derivative_value(x, 1 + int(is_position))) / size
            for x, size, is_position in rows
        ]
        acceleration = max(
            float(np.abs(ref / self.unit).max(initial=0.0)), self._speed_scale(u) ** 2
        )
        return float(np.max(residuals, initial=0.0)) / acceleration

    def _speed_scale(self, u: np.ndarray) -> float:
        return float(np.abs(u / self.unit).max(initial=LEAST_RATE))


def _time_derivative_value(x: Value, order: int) -> float:
    """A time derivative of a row."""
    for _ in range(order):
        x = jets.jet_time_derivative(x)
    return float(jets.constant_term(x))
