"""How trailers stand on level ground behind a car: attitude, travels, wheel loads and what they
leave on their hitches.

Statics by virtual work. Unknown are pitch and roll of each trailer and the travels of its axles;
the height of its hitch is that of the unit that tows it. A ball transmits a force, which is
vertical here; a fifth wheel also a roll moment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.linkage.pose import cross_last_axis
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.cars.design.mass_properties import Array
from bellcrank.vehicles.cars.design.trailer_data import (
    CHASSIS,
    SIDES,
    SimpleAxle,
    TrailerData,
    spring_forces,
)
from bellcrank.vehicles.force_laws import WheelStaticLoad, wheel_static_load
from bellcrank.vehicles.tyres.steady_tyre import ARRAYS

INITIAL_DEFLECTION = 0.02  # m, by which tyres are compressed where a search begins


@dataclass(frozen=True, eq=False)
class HitchLoad:
    """What a trailer does to the unit that tows it: a load (N) down on its hitch and a moment (N
    m), in its axes."""

    load: float
    at: Array
    moment: Array


@dataclass(frozen=True, eq=False)
class TrailerStatics:
    """A trailer at rest. `articulation`: yaw, pitch and roll against the unit that tows it;
    `travel` and `load`: of each wheel, by name; `axle_coordinates`: coordinates of its axles, by
    the name of body and coordinate;
    `spring_force`: force of each spring at no travel (N)."""

    name: str
    pitch: float
    roll: float
    articulation: tuple[float, float, float]
    travel: dict[str, float]
    load: dict[str, float]
    axle_coordinates: dict[str, float]
    spring_force: float
    hitch_load: float
    hitch_height: float
    mass: float


@dataclass(frozen=True, eq=False)
class AddedAxleStatics:
    """More axles of a car at rest: travel and load of each wheel, coordinates of the axles, and the
    force of each of their springs at no travel (N), by axle."""

    travel: dict[str, float]
    load: dict[str, float]
    axle_coordinates: dict[str, float]
    spring_force: dict[str, float]

    def merged_with(self, other_axles: AddedAxleStatics) -> AddedAxleStatics:
        """With axles that lie on another part of the car."""
        return replace(
            self,
            travel=self.travel | other_axles.travel,
            load=self.load | other_axles.load,
            axle_coordinates=self.axle_coordinates | other_axles.axle_coordinates,
        )

    def axle_load(self, axle: SimpleAxle) -> float:
        return sum(self.load[axle.wheel_name(side)] for side in SIDES)


class AddedAxleEquilibrium:
    """More axles of a car, for a search of the position at rest. Springs are set so that each axle
    of the level car carries its part of the load of the rear axle."""

    def __init__(self, axles: tuple[SimpleAxle, ...]) -> None:
        self.axles = axles
        self.springs = dict.fromkeys((a.name for a in axles), 0.0)

    def initial_travels(self, height: float, pitch: float) -> list[float]:
        """Travels at which a search begins: the tyres touch the ground."""
        vertical = pitch_roll_rotation(pitch, 0.0)[2]
        return [
            float(a.tyre.free_radius(ARRAYS, 0.0))
            - INITIAL_DEFLECTION
            - height
            - float(vertical @ [a.record.at[0], 0.0, a.record.at[2]])
            for a in self.axles
        ]

    def level_axle_loads(
        self, height: float, pitch: float, y: Any
    ) -> tuple[list[float], HitchLoad]:
        """Of a level car whose axles stand at travels: their loads, and what they do to the car.
        Keeps the springs that hold them there."""
        wheels = _AxleForceSum(pitch_roll_rotation(pitch, 0.0)[2], height)
        moments, lifts, loads = np.zeros(3), 0.0, []
        for axle, q in zip(self.axles, y, strict=True):
            (spring_work, _), axle_moment, lift = wheels.forces(
                axle, (q, 0.0 if axle.is_rigid else q), np.zeros(2), 0.0
            )
            self.springs[axle.name] = spring_work / (
                2 if axle.is_rigid else 1
            ) - axle.record.stiffness * float(q)
            moments, lifts = moments + axle_moment, lifts + lift
            loads.append(sum(wheels.load[axle.wheel_name(side)] for side in SIDES))
        return loads, HitchLoad(-lifts, np.zeros(3), moments)

    def load_errors(self, loads: list[float], rear: float) -> list[float]:
        """By how much loads miss their part of that of the rear axle, N."""
        return [
            load - axle.car_axle_keys.load_ratio * rear
            for load, axle in zip(loads, self.axles, strict=True)
        ]

    def level_coordinates(self, y: Any) -> list[float]:
        """Coordinates of axles at level travels."""
        return [
            x
            for axle, q in zip(self.axles, y, strict=True)
            for x in (q, 0.0 if axle.is_rigid else q)
        ]

    def axle_balance(
        self,
        attitude: tuple[float, float, float],
        y: Any,
        selected: Callable[[SimpleAxle], bool] | None = None,
    ) -> tuple[list[float], HitchLoad, AddedAxleStatics]:
        """Of axles on a body with a height, pitch and roll, all or those that it has `selected`:
        what is left open (N, N m), what they do to the body, and how they stand."""
        height, pitch, roll = attitude
        wheels = _AxleForceSum(pitch_roll_rotation(pitch, roll)[2], height)
        moments, lifts, residuals = np.zeros(3), 0.0, []
        for i, axle in enumerate(self.axles):
            if selected is not None and not selected(axle):
                continue
            pair = y[2 * i : 2 * i + 2]
            axle_residuals, axle_moment, lift = wheels.forces(
                axle, pair, np.array(pair), self.springs[axle.name]
            )
            residuals += axle_residuals
            moments, lifts = moments + axle_moment, lifts + lift
        added_statics = AddedAxleStatics(
            wheels.travel, wheels.load, wheels.axle, dict(self.springs)
        )
        return residuals, HitchLoad(-lifts, np.zeros(3), moments), added_statics

    def total_mass_and_centre(self, mass: float, centre: Array) -> tuple[float, Array]:
        """Mass and mass centre of a car with its axles, as drawn."""
        if not self.axles:
            return mass, centre
        masses = [
            (a.unsprung_mass, np.array([a.record.at[0], 0.0, a.record.at[2]])) for a in self.axles
        ]
        total = mass + sum(m for m, _ in masses)
        return total, sum((m * position for m, position in masses), mass * centre) / total


class TrailerEquilibrium:
    """The trailers of a car, for a search of the position at rest."""

    def __init__(self, trailers: tuple[TrailerData, ...]) -> None:
        self.trailers = trailers
        self.level = spring_forces(trailers, GRAVITY)

    def level_hitch_loads(self) -> list[HitchLoad]:
        """Loads of the level trailers on the car, where the springs of the car are set for them."""
        units = zip(self.trailers, self.level, strict=True)
        return [
            HitchLoad(load, t.hitch_point, np.zeros(3))
            for t, (_, load) in units
            if t.record.hitch.levelled
        ]

    def initial_unknowns(self, height: float, pitch: float) -> list[float]:
        """Where a search begins: level trailers whose tyres touch the ground."""
        unknowns: list[float] = []
        heights, level = {CHASSIS: height}, np.array([0.0, 0.0, 1.0])
        for trailer in self.trailers:
            vertical = pitch_roll_rotation(pitch, 0.0)[2] if trailer.towed_by == CHASSIS else level
            heights[trailer.name] = height = float(
                heights[trailer.towed_by] + vertical @ trailer.hitch_point
            )
            unknowns += [0.0, 0.0]
            for axle in trailer.axles:
                q = (
                    float(axle.tyre.free_radius(ARRAYS, 0.0))
                    - INITIAL_DEFLECTION
                    - height
                    - axle.record.at[2]
                )
                unknowns += [q, 0.0 if axle.is_rigid else q]
        return unknowns

    def trailer_balance(
        self, height: float, pitch: float, roll: float, y: Any
    ) -> tuple[list[float], list[HitchLoad], tuple[TrailerStatics, ...]]:
        """Of a car at a height and attitude: what is left open (N, N m), what pulls at it, and how
        all stand."""
        attitudes, heights, coordinates, i = (
            {CHASSIS: pitch_roll_rotation(pitch, roll)},
            {CHASSIS: height},
            {},
            0,
        )
        for trailer in self.trailers:
            name, towing, n = trailer.name, trailer.towed_by, 2 + 2 * len(trailer.axles)
            attitudes[name] = pitch_roll_rotation(y[i], y[i + 1])
            heights[name] = float(heights[towing] + attitudes[towing][2] @ trailer.hitch_point)
            coordinates[name] = y[i : i + n]
            i += n
        residuals: list[list[float]] = []
        trailer_statics: list[TrailerStatics] = []
        hitch_loads: dict[str, list[HitchLoad]] = {name: [] for name in attitudes}
        for trailer, (spring, _) in zip(reversed(self.trailers), reversed(self.level), strict=True):
            name, axes, height = trailer.name, attitudes[trailer.name], heights[trailer.name]
            angles, travels = coordinates[name][:2], coordinates[name][2:]
            relative = attitudes[trailer.towed_by].T @ axes
            yaw, pitch, roll = yaw_pitch_roll(relative)
            unit = _TrailerForceSum(trailer, axes[2], height, spring)
            unit_residuals, load = unit.residual(travels, hitch_loads[name])
            twist = -(trailer.record.hitch.roll_stiffness or 0.0) * roll
            unit_residuals[0] += twist
            hitch_loads[trailer.towed_by].append(
                HitchLoad(load, trailer.hitch_point, -twist * relative[:, 0])
            )
            residuals.append(unit_residuals)
            trailer_statics.append(
                TrailerStatics(
                    name,
                    float(angles[0]),
                    float(angles[1]),
                    (yaw, pitch, roll),
                    unit.travel,
                    unit.load,
                    unit.axle,
                    spring,
                    load,
                    height,
                    trailer.mass,
                )
            )
        return (
            [x for one in reversed(residuals) for x in one],
            hitch_loads[CHASSIS],
            tuple(reversed(trailer_statics)),
        )


def pitch_roll_rotation(pitch: float, roll: float) -> Array:
    """Axes of a unit in the road, which is ahead, left, up: one column each."""
    s, c, sr, cr = np.sin(pitch), np.cos(pitch), np.sin(roll), np.cos(roll)
    return np.array([[c, s * sr, s * cr], [0.0, cr, -sr], [-s, c * sr, c * cr]])


def yaw_pitch_roll(R: Array) -> tuple[float, float, float]:
    """Yaw, pitch and roll of a rotation, about axes 3, 2 and 1 in this order."""
    return (
        float(np.arctan2(R[1, 0], R[0, 0])),
        float(-np.arcsin(R[2, 0])),
        float(np.arctan2(R[2, 1], R[2, 2])),
    )


class _AxleForceSum:
    """Forces of axles on their unit, in its axes; `up`: the vertical there; `height`: of its origin
    above the ground."""

    def __init__(self, vertical: Array, height: float) -> None:
        self.up, self.height = vertical, height
        self.travel: dict[str, float] = {}
        self.load: dict[str, float] = {}
        self.axle: dict[str, float] = {}

    def forces(
        self, axle: SimpleAxle, y: Any, shared: Array, spring: float
    ) -> tuple[list[float], Array, float]:
        """Of an axle with coordinates y, whose springs are moved by `shared` and push with the
        force `spring` at no travel: work per coordinate that is left, moment about the origin and
        lift of tyres less weights."""
        return (self._rigid if axle.is_rigid else self._independent)(axle, y, shared, spring)

    def _independent(
        self, axle: SimpleAxle, y: Any, shared: Array, spring: float
    ) -> tuple[list[float], Array, float]:
        record, residuals, moment, lifts = axle.record, [], np.zeros(3), 0.0
        m = record.mass + record.wheel.mass
        for (side, sign), q, shared_travel in zip(SIDES.items(), y, shared, strict=True):
            centre = np.array(record.at) * [1.0, sign, 1.0] + [0.0, 0.0, q]
            load, contact, lean = self._tyre(axle, side, centre, np.array([0.0, 1.0, 0.0]))
            self.travel[axle.wheel_name(side)] = self.axle[f"q({axle.wheel_name(side)})"] = float(q)
            other_travel = y[1] if sign > 0 else y[0]
            force = spring + record.stiffness * shared_travel + axle.bar_rate * (q - other_travel)
            residuals.append(float(self.up[2] * (load - m * GRAVITY) - force))
            moment = (
                moment
                + cross_last_axis(contact, load * self.up)
                + lean
                - cross_last_axis(centre, m * GRAVITY * self.up)
            )
            lifts += load - m * GRAVITY
        return residuals, moment, lifts

    def _rigid(
        self, axle: SimpleAxle, y: Any, shared: Array, spring: float
    ) -> tuple[list[float], Array, float]:
        record, (q, roll) = axle.record, y
        x, half_track, z = record.at
        pivot = np.array([x, 0.0, axle.roll_centre_z + q])
        forward, lateral, upward = pitch_roll_rotation(0.0, roll).T
        axle_centre = pivot + (z - axle.roll_centre_z) * upward
        moment, pivot_moment, lifts = (
            -cross_last_axis(axle_centre, record.mass * GRAVITY * self.up),
            np.zeros(3),
            -record.mass * GRAVITY,
        )
        pivot_moment = pivot_moment - cross_last_axis(
            axle_centre - pivot, record.mass * GRAVITY * self.up
        )
        for side, sign in SIDES.items():
            centre = axle_centre + sign * half_track * lateral
            load, contact, lean = self._tyre(axle, side, centre, lateral)
            m = record.wheel.mass
            net = load - m * GRAVITY
            moment = (
                moment
                + cross_last_axis(contact, load * self.up)
                + lean
                - cross_last_axis(centre, m * GRAVITY * self.up)
            )
            pivot_moment = (
                pivot_moment
                + cross_last_axis(contact - pivot, load * self.up)
                + lean
                - cross_last_axis(centre - pivot, m * GRAVITY * self.up)
            )
            lifts += net
            self.travel[axle.wheel_name(side)] = float(centre[2] - z)
        name = axle.full_name
        self.axle |= {f"q({name}, 1)": float(q), f"q({name}, 2)": float(roll)}
        springs = 2 * (spring + record.stiffness * shared[0])
        spring_stiffness = axle.roll_stiffness - record.roll_stiffness
        roll_moment = spring_stiffness * shared[1] + record.roll_stiffness * roll
        return (
            [float(self.up[2] * lifts - springs), float(pivot_moment @ forward - roll_moment)],
            moment,
            lifts,
        )

    def _tyre(self, axle: SimpleAxle, side: str, centre: Array, axis: Array) -> WheelStaticLoad:
        wheel_load = wheel_static_load(axle, SIDES[side], centre, axis, self.up, self.height)
        self.load[axle.wheel_name(side)] = wheel_load.load
        return wheel_load


class _TrailerForceSum(_AxleForceSum):
    """Forces on one trailer."""

    def __init__(self, trailer: TrailerData, vertical: Array, height: float, spring: float) -> None:
        super().__init__(vertical, height)
        self.trailer, self.spring = trailer, spring

    def residual(self, y: Any, hitch_loads: list[HitchLoad]) -> tuple[list[float], float]:
        """Moments about the hitch (roll, pitch) and work per coordinate of the axles that are left;
        the load that remains for the hitch."""
        trailer, vertical = self.trailer, self.up
        weight = trailer.sprung.mass * GRAVITY
        moment, load = -cross_last_axis(trailer.sprung.cg, weight * vertical), weight
        for hitch_load in hitch_loads:
            moment = (
                moment
                - cross_last_axis(hitch_load.at, hitch_load.load * vertical)
                + hitch_load.moment
            )
            load += hitch_load.load
        equal, pairs = trailer.record.equalisation, [y[i : i + 2] for i in range(0, len(y), 2)]
        mean = np.mean(pairs, axis=0)
        axle_residuals: list[float] = []
        for axle, pair in zip(trailer.axles, pairs, strict=True):
            shared = (1 - equal) * np.array(pair) + equal * mean
            work, axle_moment, lifts = self.forces(axle, pair, shared, self.spring)
            axle_residuals += work
            moment, load = moment + axle_moment, load - lifts
        return [float(moment[0]), float(moment[1]), *axle_residuals], load
