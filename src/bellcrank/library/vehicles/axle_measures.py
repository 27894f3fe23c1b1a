"""Kinematics and compliance of an axle of a car: what its linkage does, and what springs, bars and steering add.

Rates are by virtual work over the travel, with the fraction of the preload, stops and the anti-roll bar. A wheel gives
way by its bushes or the coefficients of the file and, if it is steered, by the elasticity of column and assistance
while the steering wheel is held; forces act on both wheels alike, to the same side.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bellcrank.library.vehicles.axles import FittedAxle
from bellcrank.library.vehicles.bushes import H, coefficients, give_at, gives
from bellcrank.library.vehicles.data import GRAVITY, Array, CarData
from bellcrank.library.vehicles.records import Compliance, Steering
from bellcrank.library.vehicles.rest import Stand, between_wheels, corner, drawn_length, push_of
from bellcrank.linkage.measures import Measures, measure
from bellcrank.linkage.wheel import Wheel, see_wheel


def axle_measures(car: CarData, at_rest: Stand, linkage: Any, axle: str, travel: Any, rack: Any, mode: str) -> Measures:
    """Measures of the left wheel of an axle, the other wheel moving by `mode`."""
    m = measure(linkage, travel, rack, mode)
    z, fitted = m["travel"], car.axle(axle)
    other = {"parallel": z, "opposite": -z, "single": np.zeros_like(z)}[mode]
    bushes = gives(car, at_rest, fitted).rate
    follows = {"parallel": 1.0, "opposite": -1.0, "single": 0.0}[mode]
    if fitted.both:
        found = _Together(fitted, at_rest, z, other, follows)
        wheel = see_wheel(linkage, z, mode=mode)
        load, rate, far, ground = found.load, found.rate, found.far_rate, found.ground
    else:
        load, rate = _springs(fitted, at_rest, z, other, follows, bushes)
        wheel = see_wheel(linkage, z, m.columns.get("rack", 0.0))
        far = _springs(fitted, at_rest, other, z, -1.0, bushes)[1] if mode == "opposite" else rate
        ground = (load + _unsprung(fitted, z)) / wheel.v_contact[:, 2]
    m.add("wheel_load", ground, "N", "wheel load, vertical at the ground, with the unsprung weight")
    m.add(
        "suspension_load",
        load,
        "N",
        "suspension load, vertical at the wheel centre, of spring, stops, anti-roll bar and cross beam",
    )
    m.add(
        "vertical_wheel_rate",
        rate,
        "N/m",
        "vertical wheel rate, derivative of the suspension load with respect to travel",
    )
    if mode == "opposite":
        stiffness = math.radians(1.0) * fitted.half_track**2 * (rate + far)
        m.add("roll_stiffness", stiffness, "N-m/deg", "roll stiffness, of springs and anti-roll bar")
    steering = car.sections.steering if fitted.steered and axle == "front" else None
    _compliance(m, steering, _coefficients(m, car, at_rest, fitted, wheel), wheel)
    return m


def _springs(
    axle: FittedAxle, at_rest: Stand, z: Array, other: Array, follows: float, bushes: float
) -> tuple[Array, Array]:
    """Load and rate at the wheel; `follows`: movement of the other wheel per travel of this one; `bushes`: their rate
    at the wheel."""
    pose = axle.linkage.solve(z)
    a, b = (pose.point(p) for p in axle.spring)
    line, v = a.position - b.position, a.d - b.d
    length = np.linalg.norm(line, axis=1)
    u = line / length[:, None]
    ratio = (u * v).sum(1)
    bend = ((v * v).sum(1) - ratio**2) / length + (u * (a.dd - b.dd)).sum(1)
    free, drawn = at_rest.free_length[axle.name], drawn_length(axle, axle.spring)

    def push(at: Array) -> Array:
        return np.array([push_of(axle, free, float(x), drawn) for x in at])

    slope = (push(length + H) - push(length - H)) / (2 * H)
    stands = at_rest.travel[0 if axle.name == "front" else 2]
    load = -push(length) * ratio + bushes * (z - stands)
    rate = -(slope * ratio**2 + push(length) * bend) + bushes
    if axle.record.anti_roll_bar is not None:
        k = at_rest.bar[axle.name]
        end, far = (axle.linkage.solve(x).point(axle.record.anti_roll_bar.at) for x in (z, other))
        apart = end.position[:, 2] - far.position[:, 2]
        load = load + k * apart * end.d[:, 2]
        rate = rate + k * (apart * end.dd[:, 2] + end.d[:, 2] * (end.d[:, 2] - follows * far.d[:, 2]))
    return load, rate


class _Together:
    """Loads and rates at the wheels of an axle whose linkage carries both, over travels of the left wheel and the other
    one, by virtual work over each travel. `load` and `rate`: of the left wheel; `far_rate`: change of the load of the
    right wheel per its travel; `ground`: load of the left wheel at the ground."""

    def __init__(self, axle: FittedAxle, at_rest: Stand, z: Array, other: Array, follows: float) -> None:
        self.axle, self.at_rest = axle, at_rest
        h, rows = 1e-5, []
        for a, b in zip(map(float, z), map(float, other), strict=True):
            low, high = (self._loads(a + d, b + d * follows)[0] for d in (-h, h))
            rate = (high - low) / (2 * h)
            loads, ground = self._loads(a, b)
            rows.append((loads[0], rate[0], rate[1] / follows if follows else 0.0, ground[0]))
        self.load, self.rate, self.far_rate, self.ground = np.array(rows).reshape(-1, 4).T

    def _loads(self, left: float, right: float) -> tuple[Array, Array]:
        """Loads of both wheels that springs, bar and beam carry, and those at the ground with the unsprung weight."""
        axle, up = self.axle, np.array([0.0, 0.0, 1.0])
        height = self.at_rest.attitude(axle.name).height
        pair = [corner(axle, side, z, height, up, far) for side, z, far in ((1, left, right), (-1, right, left))]
        free, bar = self.at_rest.free_length[axle.name], self.at_rest.bar[axle.name]
        push = [push_of(axle, free, c.length, c.drawn) for c in pair]
        loads, weights, lift = np.zeros(2), np.zeros(2), np.zeros((2, 2))
        for i, (own, far) in enumerate((pair, pair[::-1])):
            work = push[i] * own.ratios[0] + push[1 - i] * far.ratios[1] + between_wheels(axle, bar, own, far)
            loads[i] = -work
            weights[i] = GRAVITY * (
                sum(p.mass * p.by[0][2] for p in own.masses) + sum(p.mass * p.by[1][2] for p in far.masses)
            )
            lift[i, i], lift[i, 1 - i] = own.slope[2], far.slope_other[2]
        return loads, np.linalg.solve(lift, loads + weights)


def _unsprung(axle: FittedAxle, z: Array) -> Array:
    """Weight of wheel, carrier and links, each by the rise of its mass centre over the travel."""
    up = np.array([0.0, 0.0, 1.0])
    found = [corner(axle, 1, float(x), 0.0, up).masses for x in z]
    return np.array([GRAVITY * sum(part.mass * float(part.by[0][2]) for part in masses) for masses in found])


def _coefficients(m: Measures, car: CarData, at_rest: Stand, axle: FittedAxle, w: Wheel) -> dict[str, Array]:
    """What the wheel gives over its travel, in rad, N and N m; of bushes its ways and their rate are added."""
    if not axle.bushes:
        return {k: np.full_like(m["travel"], x) for k, x in vars(axle.record.compliance or Compliance()).items()}
    arms = w.side(w.contact - w.centre)
    found = [give_at(axle, at_rest, w.pose[i]) for i in range(len(arms))]
    rows = [vars(coefficients(car, axle, f, arm)) for f, arm in zip(found, arms, strict=True)]
    left = np.array([0.0, 1.0, 0.0])
    sides = [f.under(left, arm) for f, arm in zip(found, arms, strict=True)]
    across = [1e6 * (d[1] + np.cross(d[3:], arm)[1]) for d, arm in zip(sides, arms, strict=True)]
    m.add(
        "lateral_compliance",
        np.array(across),
        "mm/kN",
        "lateral compliance, displacement of the contact centre per lateral force, on bushes",
    )
    along = [1e6 * f.compliance[0, 0] for f in found]
    m.add(
        "longitudinal_compliance",
        np.array(along),
        "mm/kN",
        "longitudinal compliance, displacement of the wheel centre per longitudinal force, on bushes",
    )
    m.add(
        "bush_rate",
        np.array([f.rate for f in found]),
        "N/m",
        "bush rate, vertical at the wheel, added to that of springs",
    )
    return {k: np.array([row[k] for row in rows]) for k in rows[0]}


def _compliance(m: Measures, steering: Steering | None, given: dict[str, Array], w: Wheel) -> None:
    side, turn = given["steer_by_lateral_force"], given["steer_by_aligning_moment"]
    tilt = given["camber_by_lateral_force"]
    if steering is not None:
        assert w.pose.delta_rack is not None and w.pose.d_rack is not None
        pinion = steering.rack_per_turn / (2 * math.pi)
        moves = 2 / ((1 + steering.assist) * steering.stiffness / pinion**2)  # of the rack, by both wheels
        swing = w.pose.d_rack + np.cross(w.pose.delta_rack, w.side(w.contact - w.centre))
        side = side + moves * swing[:, 1] * w.pose.delta_rack[:, 2]
        turn = turn + moves * w.pose.delta_rack[:, 2] ** 2
        tilt = tilt + moves * swing[:, 1] * w.pose.delta_rack[:, 0]
    deg = math.degrees(1.0)
    m.add(
        "lateral_force_steer",
        1000 * deg * side,
        "deg/kN",
        "lateral force steer, to the left, per lateral force on each wheel",
    )
    m.add(
        "aligning_steer",
        100 * deg * turn,
        "deg/100 N-m",
        "aligning steer, to the left, per aligning moment of each wheel",
    )
    along = given["toe_by_longitudinal_force"]
    m.add("driving_toe", 1000 * deg * along, "deg/kN", "driving toe, toe-in per driving force on each wheel")
    lever = w.centre[:, 2] - w.contact[:, 2]
    braking = lever * given["toe_by_brake_torque"] - along
    m.add(
        "braking_toe",
        1000 * deg * braking,
        "deg/kN",
        "braking toe, toe-in per braking force on each wheel, by its brake",
    )
    m.add(
        "camber_compliance",
        1000 * deg * tilt,
        "deg/kN",
        "camber compliance, top to the right, per lateral force to the left",
    )
