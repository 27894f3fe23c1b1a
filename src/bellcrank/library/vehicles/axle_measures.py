"""Kinematics and compliance of an axle of a car: what its linkage does, and what springs, bars and steering add.

Rates are by virtual work over the travel, with the share of the preload, stops and the anti-roll bar. A wheel gives way
by the coefficients of the file and, if it is steered, by the elasticity of column and assistance while the steering
wheel is held; forces act on both wheels alike, to the same side.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bellcrank.library.vehicles.axles import FittedAxle
from bellcrank.library.vehicles.data import Array, CarData
from bellcrank.library.vehicles.records import Compliance, Steering
from bellcrank.library.vehicles.rest import Stand, drawn_length, push_of
from bellcrank.linkage.measures import Measures, measure
from bellcrank.linkage.wheel import see_wheel

H = 1e-6  # m of spring length, for the slope of its force


def axle_measures(car: CarData, at_rest: Stand, linkage: Any, axle: str, travel: Any, rack: Any, mode: str) -> Measures:
    """Measures of the left wheel of an axle, the other wheel moving by `mode`."""
    m = measure(linkage, travel, rack, mode)
    z, fitted = m["travel"], car.axle(axle)
    other = {"parallel": z, "opposite": -z, "single": np.zeros_like(z)}[mode]
    load, rate = _springs(fitted, at_rest, z, other, {"parallel": 1.0, "opposite": -1.0, "single": 0.0}[mode])
    m.add("wheel_load", load, "N", "vertical load at the wheel that spring, stops and anti-roll bar carry")
    m.add("vertical_wheel_rate", rate, "N/m", "its slope over the travel")
    if mode == "opposite":
        far = _springs(fitted, at_rest, other, z, -1.0)[1]
        track = 2 * (fitted.linkage.points["wheel_centre"][1] + fitted.record.at[1])
        stiffness = math.radians(1.0) * track**2 / 4 * (rate + far)
        m.add("roll_stiffness", stiffness, "N-m/deg", "moment over roll of the body against the axle")
    _compliance(m, car.sections.steering if fitted.steered and axle == "front" else None, fitted, linkage)
    return m


def _springs(axle: FittedAxle, at_rest: Stand, z: Array, other: Array, follows: float) -> tuple[Array, Array]:
    """Load and rate at the wheel; `follows`: movement of the other wheel per travel of this one."""
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
    load = -push(length) * ratio
    rate = -(slope * ratio**2 + push(length) * bend)
    if axle.record.anti_roll_bar is not None:
        k = at_rest.bar[axle.name]
        end, far = (axle.linkage.solve(x).point(axle.record.anti_roll_bar.at) for x in (z, other))
        apart = end.position[:, 2] - far.position[:, 2]
        load = load + k * apart * end.d[:, 2]
        rate = rate + k * (apart * end.dd[:, 2] + end.d[:, 2] * (end.d[:, 2] - follows * far.d[:, 2]))
    return load, rate


def _compliance(m: Measures, steering: Steering | None, axle: FittedAxle, linkage: Any) -> None:
    given = axle.record.compliance or Compliance()
    side = np.full_like(m["travel"], given.steer_by_side_force)
    turn = np.full_like(m["travel"], given.steer_by_aligning_moment)
    lean = np.full_like(m["travel"], given.lean_by_side_force)
    if steering is not None:
        w = see_wheel(linkage, m["travel"], m["rack"])
        assert w.pose.delta_rack is not None and w.pose.d_rack is not None
        pinion = steering.rack_per_turn / (2 * math.pi)
        moves = 2 / ((1 + steering.assist) * steering.stiffness / pinion**2)  # of the rack, by both wheels
        swing = w.pose.d_rack + np.cross(w.pose.delta_rack, w.side(w.contact - w.centre))
        side = side + moves * swing[:, 1] * w.pose.delta_rack[:, 2]
        turn = turn + moves * w.pose.delta_rack[:, 2] ** 2
        lean = lean + moves * swing[:, 1] * w.pose.delta_rack[:, 0]
    deg = math.degrees(1.0)
    m.add("side_force_steer", 1000 * deg * side, "deg/kN", "steer to the left per side force on each wheel")
    m.add("aligning_steer", 100 * deg * turn, "deg/100 N-m", "steer to the left per aligning moment of each wheel")
    along = np.full_like(m["travel"], 1000 * deg * given.toe_by_force_along)
    m.add("driving_toe", along, "deg/kN", "toe-in per driving force on each wheel")
    m.add("side_force_lean", 1000 * deg * lean, "deg/kN", "lean, top to the right, per side force to the left")
