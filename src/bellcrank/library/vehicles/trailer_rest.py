"""How trailers stand on level ground behind a car: attitude, travels, wheel loads and what they leave on their hitches.

Statics by virtual work. Unknown are pitch and roll of each trailer and the travels of its axles; the height of its
hitch is that of the unit that tows it. A ball transmits a force, which is vertical here; a fifth wheel also a roll
moment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.library.tyres.steady import ARRAYS
from bellcrank.library.vehicles.data import GRAVITY
from bellcrank.library.vehicles.laws import Stood, stands
from bellcrank.library.vehicles.sprung import Array
from bellcrank.library.vehicles.trailers import CHASSIS, SIDES, TowedAxle, TrailerData, spring_forces
from bellcrank.linkage.pose import cross

PRESSED = 0.02  # m, by which tyres are compressed where a search begins


@dataclass(frozen=True, eq=False)
class Pull:
    """What a trailer does to the unit that tows it: a load (N) down on its hitch and a moment (N m), in its axes."""

    load: float
    at: Array
    moment: Array


@dataclass(frozen=True, eq=False)
class TowedStand:
    """A trailer at rest. `turned`: yaw, pitch and roll against the unit that tows it; `travel` and `load`: of each
    wheel, by name; `axle`: coordinates of its axles, by the name of body and coordinate; `spring`: force of each spring
    at no travel (N)."""

    name: str
    pitch: float
    roll: float
    turned: tuple[float, float, float]
    travel: dict[str, float]
    load: dict[str, float]
    axle: dict[str, float]
    spring: float
    hitch_load: float
    hitch_height: float
    mass: float


@dataclass(frozen=True, eq=False)
class AddedStand:
    """More axles of a car at rest: travel and load of each wheel, coordinates of the axles, and the force of each of
    their springs at no travel (N), by axle."""

    travel: dict[str, float]
    load: dict[str, float]
    axle: dict[str, float]
    spring: dict[str, float]

    def with_others(self, more: AddedStand) -> AddedStand:
        """With axles that lie on another part of the car."""
        return replace(self, travel=self.travel | more.travel, load=self.load | more.load, axle=self.axle | more.axle)

    def axle_load(self, axle: TowedAxle) -> float:
        return sum(self.load[axle.wheel(side)] for side in SIDES)


class Added:
    """More axles of a car, for a search of the position at rest. Springs are set so that each axle of the level car
    carries its part of the load of the rear axle."""

    def __init__(self, axles: tuple[TowedAxle, ...]) -> None:
        self.axles = axles
        self.springs = dict.fromkeys((a.name for a in axles), 0.0)

    def start(self, height: float, pitch: float) -> list[float]:
        """Travels at which a search begins: the tyres touch the ground."""
        up = rotation(pitch, 0.0)[2]
        return [
            float(a.tyre.free_radius(ARRAYS, 0.0))
            - PRESSED
            - height
            - float(up @ [a.record.at[0], 0.0, a.record.at[2]])
            for a in self.axles
        ]

    def level(self, height: float, pitch: float, y: Any) -> tuple[list[float], Pull]:
        """Of a level car whose axles stand at travels: their loads, and what they do to the car. Keeps the springs that
        hold them there."""
        wheels = _Wheels(rotation(pitch, 0.0)[2], height)
        turns, lifts, loads = np.zeros(3), 0.0, []
        for axle, q in zip(self.axles, y, strict=True):
            (asked, _), own, lift = wheels.forces(axle, (q, 0.0 if axle.rigid else q), np.zeros(2), 0.0)
            self.springs[axle.name] = asked / (2 if axle.rigid else 1) - axle.record.stiffness * float(q)
            turns, lifts = turns + own, lifts + lift
            loads.append(sum(wheels.load[axle.wheel(side)] for side in SIDES))
        return loads, Pull(-lifts, np.zeros(3), turns)

    def missing(self, loads: list[float], rear: float) -> list[float]:
        """By how much loads miss their part of that of the rear axle, N."""
        return [load - axle.own.load_ratio * rear for load, axle in zip(loads, self.axles, strict=True)]

    def rolled(self, y: Any) -> list[float]:
        """Coordinates of axles at level travels."""
        return [x for axle, q in zip(self.axles, y, strict=True) for x in (q, 0.0 if axle.rigid else q)]

    def at(
        self, part: tuple[float, float, float], y: Any, carried: Callable[[TowedAxle], bool] | None = None
    ) -> tuple[list[float], Pull, AddedStand]:
        """Of axles on a body with a height, pitch and roll, all or those that it has `carried`: what is left open
        (N, N m), what they do to the body, and how they stand."""
        height, pitch, roll = part
        wheels = _Wheels(rotation(pitch, roll)[2], height)
        turns, lifts, left = np.zeros(3), 0.0, []
        for i, axle in enumerate(self.axles):
            if carried is not None and not carried(axle):
                continue
            pair = y[2 * i : 2 * i + 2]
            open_, own, lift = wheels.forces(axle, pair, np.array(pair), self.springs[axle.name])
            left += open_
            turns, lifts = turns + own, lifts + lift
        stands = AddedStand(wheels.travel, wheels.load, wheels.axle, dict(self.springs))
        return left, Pull(-lifts, np.zeros(3), turns), stands

    def whole(self, mass: float, centre: Array) -> tuple[float, Array]:
        """Mass and mass centre of a car with its axles, as drawn."""
        if not self.axles:
            return mass, centre
        parts = [(a.mass, np.array([a.record.at[0], 0.0, a.record.at[2]])) for a in self.axles]
        total = mass + sum(m for m, _ in parts)
        return total, sum((m * at for m, at in parts), mass * centre) / total


class Towed:
    """The trailers of a car, for a search of the position at rest."""

    def __init__(self, trailers: tuple[TrailerData, ...]) -> None:
        self.trailers = trailers
        self.level = spring_forces(trailers, GRAVITY)

    def levelled(self) -> list[Pull]:
        """Loads of the level trailers on the car, where the springs of the car are set for them."""
        units = zip(self.trailers, self.level, strict=True)
        return [Pull(load, t.hitch, np.zeros(3)) for t, (_, load) in units if t.record.hitch.levelled]

    def start(self, height: float, pitch: float) -> list[float]:
        """Where a search begins: level trailers whose tyres touch the ground."""
        found: list[float] = []
        heights, level = {CHASSIS: height}, np.array([0.0, 0.0, 1.0])
        for trailer in self.trailers:
            up = rotation(pitch, 0.0)[2] if trailer.towed_by == CHASSIS else level
            heights[trailer.name] = height = float(heights[trailer.towed_by] + up @ trailer.hitch)
            found += [0.0, 0.0]
            for axle in trailer.axles:
                q = float(axle.tyre.free_radius(ARRAYS, 0.0)) - PRESSED - height - axle.record.at[2]
                found += [q, 0.0 if axle.rigid else q]
        return found

    def at(
        self, height: float, pitch: float, roll: float, y: Any
    ) -> tuple[list[float], list[Pull], tuple[TowedStand, ...]]:
        """Of a car at a height and attitude: what is left open (N, N m), what pulls at it, and how all stand."""
        attitudes, heights, coordinates, i = {CHASSIS: rotation(pitch, roll)}, {CHASSIS: height}, {}, 0
        for trailer in self.trailers:
            name, towing, n = trailer.name, trailer.towed_by, 2 + 2 * len(trailer.axles)
            attitudes[name] = rotation(y[i], y[i + 1])
            heights[name] = float(heights[towing] + attitudes[towing][2] @ trailer.hitch)
            coordinates[name] = y[i : i + n]
            i += n
        left: list[list[float]] = []
        stands: list[TowedStand] = []
        pulls: dict[str, list[Pull]] = {name: [] for name in attitudes}
        for trailer, (spring, _) in zip(reversed(self.trailers), reversed(self.level), strict=True):
            name, own, height = trailer.name, attitudes[trailer.name], heights[trailer.name]
            angles, travels = coordinates[name][:2], coordinates[name][2:]
            relative = attitudes[trailer.towed_by].T @ own
            yaw, pitch, roll = angles_of(relative)
            unit = _Unit(trailer, own[2], height, spring)
            open_, load = unit.residual(travels, pulls[name])
            twist = -(trailer.record.hitch.roll_stiffness or 0.0) * roll
            open_[0] += twist
            pulls[trailer.towed_by].append(Pull(load, trailer.hitch, -twist * relative[:, 0]))
            left.append(open_)
            stands.append(
                TowedStand(name, float(angles[0]), float(angles[1]), (yaw, pitch, roll), unit.travel, unit.load,
                           unit.axle, spring, load, height, trailer.mass)
            )  # fmt: skip
        return [x for one in reversed(left) for x in one], pulls[CHASSIS], tuple(reversed(stands))


def rotation(pitch: float, roll: float) -> Array:
    """Axes of a unit in the road, which is ahead, left, up: one column each."""
    s, c, sr, cr = np.sin(pitch), np.cos(pitch), np.sin(roll), np.cos(roll)
    return np.array([[c, s * sr, s * cr], [0.0, cr, -sr], [-s, c * sr, c * cr]])


def angles_of(R: Array) -> tuple[float, float, float]:
    """Yaw, pitch and roll of a rotation, about axes 3, 2 and 1 in this order."""
    return float(np.arctan2(R[1, 0], R[0, 0])), float(-np.arcsin(R[2, 0])), float(np.arctan2(R[2, 1], R[2, 2]))


class _Wheels:
    """Forces of axles on their unit, in its axes; `up`: the vertical there; `height`: of its origin above the
    ground."""

    def __init__(self, up: Array, height: float) -> None:
        self.up, self.height = up, height
        self.travel: dict[str, float] = {}
        self.load: dict[str, float] = {}
        self.axle: dict[str, float] = {}

    def forces(self, axle: TowedAxle, y: Any, shared: Array, spring: float) -> tuple[list[float], Array, float]:
        """Of an axle with coordinates y, whose springs are moved by `shared` and push with the force `spring` at no
        travel: work per coordinate that is left, moment about the origin and lift of tyres less weights."""
        return (self._rigid if axle.rigid else self._independent)(axle, y, shared, spring)

    def _independent(self, axle: TowedAxle, y: Any, shared: Array, spring: float) -> tuple[list[float], Array, float]:
        record, open_, turns, lifts = axle.record, [], np.zeros(3), 0.0
        m = record.mass + record.wheel.mass
        for (side, sign), q, mixed in zip(SIDES.items(), y, shared, strict=True):
            centre = np.array(record.at) * [1.0, sign, 1.0] + [0.0, 0.0, q]
            load, contact, lean = self._tyre(axle, side, centre, np.array([0.0, 1.0, 0.0]))
            self.travel[axle.wheel(side)] = self.axle[f"q({axle.wheel(side)})"] = float(q)
            other = y[1] if sign > 0 else y[0]
            force = spring + record.stiffness * mixed + axle.bar * (q - other)
            open_.append(float(self.up[2] * (load - m * GRAVITY) - force))
            turns = turns + cross(contact, load * self.up) + lean - cross(centre, m * GRAVITY * self.up)
            lifts += load - m * GRAVITY
        return open_, turns, lifts

    def _rigid(self, axle: TowedAxle, y: Any, shared: Array, spring: float) -> tuple[list[float], Array, float]:
        record, (q, roll) = axle.record, y
        x, half, z = record.at
        pivot = np.array([x, 0.0, axle.pivot + q])
        ahead, left, upward = rotation(0.0, roll).T
        own = pivot + (z - axle.pivot) * upward
        turns, about, lifts = -cross(own, record.mass * GRAVITY * self.up), np.zeros(3), -record.mass * GRAVITY
        about = about - cross(own - pivot, record.mass * GRAVITY * self.up)
        for side, sign in SIDES.items():
            centre = own + sign * half * left
            load, contact, lean = self._tyre(axle, side, centre, left)
            m = record.wheel.mass
            net = load - m * GRAVITY
            turns = turns + cross(contact, load * self.up) + lean - cross(centre, m * GRAVITY * self.up)
            about = about + cross(contact - pivot, load * self.up) + lean - cross(centre - pivot, m * GRAVITY * self.up)
            lifts += net
            self.travel[axle.wheel(side)] = float(centre[2] - z)
        name = axle.full_name
        self.axle |= {f"q({name}, 1)": float(q), f"q({name}, 2)": float(roll)}
        springs = 2 * (spring + record.stiffness * shared[0])
        stiff = axle.roll_stiffness - record.roll_stiffness
        resists = stiff * shared[1] + record.roll_stiffness * roll
        return [float(self.up[2] * lifts - springs), float(about @ ahead - resists)], turns, lifts

    def _tyre(self, axle: TowedAxle, side: str, centre: Array, axis: Array) -> Stood:
        found = stands(axle, SIDES[side], centre, axis, self.up, self.height)
        self.load[axle.wheel(side)] = found.load
        return found


class _Unit(_Wheels):
    """Forces on one trailer."""

    def __init__(self, trailer: TrailerData, up: Array, height: float, spring: float) -> None:
        super().__init__(up, height)
        self.trailer, self.spring = trailer, spring

    def residual(self, y: Any, pulls: list[Pull]) -> tuple[list[float], float]:
        """Moments about the hitch (roll, pitch) and work per coordinate of the axles that are left; the load that
        remains for the hitch."""
        trailer, up = self.trailer, self.up
        weight = trailer.sprung.mass * GRAVITY
        moment, carried = -cross(trailer.sprung.cg, weight * up), weight
        for pull in pulls:
            moment = moment - cross(pull.at, pull.load * up) + pull.moment
            carried += pull.load
        equal, pairs = trailer.record.equalisation, [y[i : i + 2] for i in range(0, len(y), 2)]
        mean = np.mean(pairs, axis=0)
        rest: list[float] = []
        for axle, pair in zip(trailer.axles, pairs, strict=True):
            shared = (1 - equal) * np.array(pair) + equal * mean
            open_, turns, lifts = self.forces(axle, pair, shared, self.spring)
            rest += open_
            moment, carried = moment + turns, carried - lifts
        return [float(moment[0]), float(moment[1]), *rest], carried
