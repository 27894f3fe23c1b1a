"""Characteristics of springs, bump stops and dampers, as their suppliers draw them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bellcrank.linkage.pose_table import default_range
from bellcrank.vehicles.cars.design.axles import AxleData
from bellcrank.vehicles.cars.keys.car_keys import DamperKeys
from bellcrank.vehicles.cars.statics.static_equilibrium import (
    CarStatics,
    drawn_length,
    spring_force,
)
from bellcrank.vehicles.force_laws import bump_stop_force, two_way_damper_force
from bellcrank.vehicles.manoeuvres.car_comparison import CarResults
from bellcrank.vehicles.manoeuvres.manoeuvre_result import Curve
from bellcrank.vehicles.tyres.steady_tyre import ARRAYS

Array = np.ndarray[Any, Any]
SPEED = 1.0  # m/s, of a damper curve each way
TRAVEL = 0.1  # m of wheel travel each way
POINTS = 81


def element_curves(cars: Sequence[CarResults], axle: str) -> list[tuple[str, Curve]]:
    """Curves of an axle by the labels of cars: spring, bump stops, both together, damper."""
    curves = []
    for c in cars:
        fitted, statics = c.car.data.axle(axle), c.car.stand
        curves += [
            (c.label, curve) for curve in (*spring_curves(fitted, statics), damper_curve(fitted))
        ]
    return curves


def spring_curves(axle: AxleData, statics: CarStatics) -> list[Curve]:
    """Force of the spring and of the bump stops over the wheel travel from the position at rest."""
    rest_travel = statics.travel[0 if axle.name == "front" else 2]
    low, high = default_range(axle.linkage)
    z = np.linspace(max(low, rest_travel - TRAVEL), min(high, rest_travel + TRAVEL), POINTS)
    pose = axle.linkage.solve(z)
    spring_ends = [pose.point(p).position for p in axle.spring]
    length = np.linalg.norm(spring_ends[0] - spring_ends[1], axis=1)
    free, drawn = statics.free_length[axle.name], drawn_length(axle, axle.spring)
    spring = np.array([spring_force(axle.record.spring, free, x, drawn) for x in length])
    curves = [
        Curve(
            "wheel travel from rest, m",
            f"spring force, {axle.name}, N",
            ((axle.name, z - rest_travel, spring),),
        )
    ]
    stop_force = np.zeros_like(z)
    for bump_stop, sense in ((axle.record.bump_stop, 1), (axle.record.rebound_stop, -1)):
        if bump_stop is not None:
            stop_force = stop_force + sense * bump_stop_force(
                ARRAYS,
                bump_stop.gap,
                bump_stop.stiffness,
                bump_stop.cubic,
                sense * (drawn - length),
            )
    if stop_force.any():
        words = f"bump and rebound stop force, {axle.name}, N"
        curves.append(
            Curve("wheel travel from rest, m", words, ((axle.name, z - rest_travel, stop_force),))
        )
    return curves


def damper_curve(axle: AxleData) -> Curve:
    """Force over speed, both positive in compression."""
    v = np.linspace(-SPEED, SPEED, POINTS)
    force = damper_force(axle.record.damper, v)
    return Curve(
        "damper speed, compression positive, m/s",
        f"damper force, {axle.name}, N",
        ((axle.name, v, force),),
    )


def damper_force(damper: DamperKeys, v: Array) -> Array:
    if damper.table is not None:
        speeds, forces = (np.array(column) for column in zip(*damper.table, strict=True))
        inside = np.interp(v, speeds, forces)
        for i, j, is_outside in ((0, 1, v < speeds[0]), (-1, -2, v > speeds[-1])):
            rate = (forces[i] - forces[j]) / (speeds[i] - speeds[j])
            inside = np.where(is_outside, forces[i] + rate * (v - speeds[i]), inside)
        return inside
    if damper.coefficient is not None:
        return damper.coefficient * v
    return np.asarray(two_way_damper_force(ARRAYS, damper.compression, damper.rebound, -v))
