"""Characteristics of springs, bump stops and dampers, as their suppliers draw them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bellcrank.library.manoeuvres.result import Curve
from bellcrank.library.manoeuvres.side_by_side import Driven
from bellcrank.library.tyres.steady import ARRAYS
from bellcrank.library.vehicles.axles import FittedAxle
from bellcrank.library.vehicles.laws import stop, two_way
from bellcrank.library.vehicles.records import Damper
from bellcrank.library.vehicles.rest import Stand, drawn_length, spring_push
from bellcrank.linkage.table import default_range

Array = np.ndarray[Any, Any]
SPEED = 1.0  # m/s, of a damper curve each way
TRAVEL = 0.1  # m of wheel travel each way
POINTS = 81


def element_curves(cars: Sequence[Driven], axle: str) -> list[tuple[str, Curve]]:
    """Curves of an axle by the labels of cars: spring, bump stops, both together, damper."""
    found = []
    for c in cars:
        fitted, at_rest = c.car.data.axle(axle), c.car.stand
        found += [(c.label, curve) for curve in (*spring_curves(fitted, at_rest), damper_curve(fitted))]
    return found


def spring_curves(axle: FittedAxle, at_rest: Stand) -> list[Curve]:
    """Force of the spring and of the bump stops over the wheel travel from the position at rest."""
    stands = at_rest.travel[0 if axle.name == "front" else 2]
    low, high = default_range(axle.linkage)
    z = np.linspace(max(low, stands - TRAVEL), min(high, stands + TRAVEL), POINTS)
    pose = axle.linkage.solve(z)
    ends = [pose.point(p).position for p in axle.spring]
    length = np.linalg.norm(ends[0] - ends[1], axis=1)
    free, drawn = at_rest.free_length[axle.name], drawn_length(axle, axle.spring)
    spring = np.array([spring_push(axle.record.spring, free, x, drawn) for x in length])
    found = [Curve("wheel travel from rest, m", f"spring force, {axle.name}, N", ((axle.name, z - stands, spring),))]
    stops = np.zeros_like(z)
    for given, sense in ((axle.record.bump_stop, 1), (axle.record.rebound_stop, -1)):
        if given is not None:
            stops = stops + sense * stop(ARRAYS, given.gap, given.stiffness, given.cubic, sense * (drawn - length))
    if stops.any():
        words = f"bump and rebound stop force, {axle.name}, N"
        found.append(Curve("wheel travel from rest, m", words, ((axle.name, z - stands, stops),)))
    return found


def damper_curve(axle: FittedAxle) -> Curve:
    """Force over speed, both positive in compression."""
    v = np.linspace(-SPEED, SPEED, POINTS)
    force = damper_force(axle.record.damper, v)
    return Curve("damper speed, compression positive, m/s", f"damper force, {axle.name}, N", ((axle.name, v, force),))


def damper_force(given: Damper, v: Array) -> Array:
    if given.table is not None:
        speeds, forces = (np.array(column) for column in zip(*given.table, strict=True))
        inside = np.interp(v, speeds, forces)
        for i, j, out in ((0, 1, v < speeds[0]), (-1, -2, v > speeds[-1])):
            rate = (forces[i] - forces[j]) / (speeds[i] - speeds[j])
            inside = np.where(out, forces[i] + rate * (v - speeds[i]), inside)
        return inside
    if given.coefficient is not None:
        return given.coefficient * v
    return np.asarray(two_way(ARRAYS, given.compression, given.rebound, -v))
