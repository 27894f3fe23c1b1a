"""Set-up solved from what is asked: heights of the body, toe and camber as the car stands, wheel
loads.

In: a car whose parts fit together, and its `SetupKeys`. Out: the same car with other springs and
wheel axes. A car has one degree of freedom in its wheel loads, between the diagonals; the mass
centre says the rest, and what contradicts it is reported.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.vehicles.cars.design.axles import AxleData
from bellcrank.vehicles.cars.design.car_data import CORNERS, Array, CarData
from bellcrank.vehicles.cars.keys.car_keys import SetupKeys
from bellcrank.vehicles.cars.statics.static_equilibrium import (
    StaticsResidual,
    bar_and_beam_work,
    bar_stiffness,
    corner_state,
    free_lengths,
    pitched_road_axes,
    solve_equilibrium,
    solve_static_equilibrium,
    spin_axis,
)
from bellcrank.vehicles.cars.statics.trailer_statics import AddedAxleEquilibrium, TrailerEquilibrium
from bellcrank.vehicles.file_keys import format_value, key_of

MAX_CARRIER_ANGLE = math.radians(20)  # toe and camber on the carrier past which nothing is built
LOAD_TOLERANCE = 1.0  # N by which wheel loads asked for may miss what the mass centre says
PASSES = 3
SPRING_SETUP_PREFIXES = (
    "height_",
    "load_",
    "cross_",
)  # how keys begin that springs are solved from


def solve_setup(car: CarData) -> CarData:
    """The car with its set-up; itself if none is asked for."""
    setup = car.sections.setup
    if setup is None:
        return car
    has_alignment = any(
        getattr(setup, f"{k}_{a}") is not None for k in ("toe", "camber") for a in ("front", "rear")
    )
    for _ in range(
        PASSES if has_alignment else 1
    ):  # wheel axes move contacts a little, and these the body
        car = _solve_heights_and_loads(car, setup)
        car = _solve_toe_and_camber(car, setup) if has_alignment else car
    return car


def _with_axle_keys(car: CarData, axle: AxleData, **keys: Any) -> CarData:
    record = replace(axle.record, **keys)
    fitted = replace(axle, record=record)
    if axle.name == "front":
        return replace(car, sections=replace(car.sections, front=record), front=fitted)
    return replace(car, sections=replace(car.sections, rear=record), rear=fitted)


def _solve_toe_and_camber(car: CarData, setup: SetupKeys) -> CarData:
    """Wheel axes on the carriers that give toe and camber where the car stands."""
    alignment = {
        a: {k: getattr(setup, f"{k}_{a}") for k in ("toe", "camber")} for a in ("front", "rear")
    }
    statics = solve_static_equilibrium(car)
    for axle, i in ((car.front, 0), (car.rear, 2)):
        R = axle.pose(sum(statics.travel[i : i + 2]) / 2).rotation
        road_axes = pitched_road_axes(statics.pitch)
        spin = road_axes @ R @ spin_axis(axle.record.toe, axle.record.camber)
        toe, camber = _toe_and_camber(spin)
        targets = alignment[axle.name]
        axis = spin_axis(
            *(
                x if y is None else y
                for x, y in ((toe, targets["toe"]), (camber, targets["camber"]))
            )
        )
        toe, camber = _toe_and_camber(R.T @ (axis @ road_axes))
        for word, value in (("toe", toe), ("camber", camber)):
            if abs(value) > MAX_CARRIER_ANGLE:
                raise ModelError(
                    f"setup.{word}_{axle.name} = {math.degrees(targets[word] or 0.0):.4g} "
                    f"deg cannot be reached: the "
                    f"axis of the wheel would stand at a {word} of "
                    f"{math.degrees(value):.4g} deg on its carrier",
                    car.sections.name,
                )
        car = _with_axle_keys(car, axle, toe=toe, camber=camber)
    return car


def _toe_and_camber(axis: Array) -> tuple[float, float]:
    """Toe and camber of the axis of a left wheel."""
    return float(np.arctan2(axis[0], axis[1])), float(-np.arcsin(axis[2]))


def _solve_heights_and_loads(car: CarData, setup: SetupKeys) -> CarData:
    """Springs that hold the body at its heights, and the wheels at their loads."""
    loads = {c: x for c in CORNERS if (x := getattr(setup, f"load_{c}")) is not None}
    heights = [setup.height_front, setup.height_rear]
    if heights == [None, None] and not setup.has_diagonal_load:
        return car
    current = solve_static_equilibrium(car)
    axles = (car.front, car.rear)
    axle_x = [a.linkage.points[a.linkage.chain.hub][0] + a.record.at[0] for a in axles]
    current_heights = [current.height - x * math.sin(current.pitch) for x in axle_x]
    target_heights = [x if y is None else y for x, y in zip(current_heights, heights, strict=True)]
    pitch = -math.asin((target_heights[0] - target_heights[1]) / (axle_x[0] - axle_x[1]))
    height = target_heights[0] + axle_x[0] * math.sin(pitch)
    bars = {a.name: bar_stiffness(a) for a in axles}
    has_diagonal, travel_count = setup.has_diagonal_load, 4 if setup.has_diagonal_load else 2
    has_twist = has_diagonal and car.frame is not None  # the front part of the body is level then
    statics, added_axles = (
        StaticsResidual(car, bars, {}, symmetric=not has_diagonal),
        AddedAxleEquilibrium(car.added_axles),
    )
    levelled = TrailerEquilibrium(car.trailers).level_hitch_loads()

    def balance_at(z: Array) -> tuple[Any, list[float]]:
        axle_loads, added_load = added_axles.level_axle_loads(
            height, pitch, z[travel_count : -1 if has_twist else None]
        )
        travels, twist = (
            z[:4] if has_diagonal else [z[0], z[0], z[1], z[1]],
            z[-1] if has_twist else 0.0,
        )
        n = statics.load_balance(height, pitch, 0.0, travels, added_load, *levelled, twist=twist)
        return n, added_axles.load_errors(axle_loads, sum(n.load[2:]))

    def setup_residual(z: Array) -> Array:
        n, missing = balance_at(z)
        if not has_diagonal:
            return np.array([n.vertical_residual, n.moment[1], *missing])
        corner, load = next(iter(loads.items()), ("", 0.0))
        cross = n.load[1] + n.load[2] - (setup.cross_weight or 0.0) * sum(n.load)
        fourth = n.load[list(CORNERS).index(corner)] - load if corner else cross
        return np.array(
            [
                n.vertical_residual,
                *n.moment[:2],
                fourth,
                *missing,
                *(n.torsion if has_twist else ()),
            ]
        )

    start = list(current.travel) if has_diagonal else [current.travel[0], current.travel[2]]
    first = [
        *start,
        *added_axles.initial_travels(height, pitch),
        *([current.twist] if has_twist else []),
    ]
    z = solve_equilibrium(car, setup_residual, first, _unreachable_setup_message(car, setup))
    balance, _ = balance_at(z)
    _check_wheel_loads(car, setup, loads, balance.load)
    for axle, i in zip(axles, (0, 2), strict=True):
        spring = replace(axle.record.spring, free_length=None, travel=float(z[i // 2]), perch=0.0)
        if has_diagonal:
            free = free_lengths(
                axle,
                z[i : i + 2].tolist(),
                _springless_work(balance, bars, axle, z[i : i + 2].tolist(), i),
            )
            spring = replace(
                axle.record.spring,
                free_length=sum(free) / 2,
                travel=0.0,
                perch=(free[0] - free[1]) / 2,
            )
        car = _with_axle_keys(car, axle, spring=spring)
    return car


def _unreachable_setup_message(car: CarData, setup: SetupKeys) -> str:
    """What is said of heights and loads that cannot be, with how far the wheels can go."""
    entries = [(f.name, getattr(setup, f.name), key_of(f)) for f in fields(setup)]
    requests = ", ".join(
        f"{name} = {format_value(key, value)}"
        for name, value, key in entries
        if value is not None and name.startswith(SPRING_SETUP_PREFIXES)
    )
    ranges = []
    for axle in (car.front, car.rear):
        low, high = axle.linkage.range()
        ranges.append(
            f"the {axle.name} suspension goes from {1000 * low:.0f} to {1000 * high:.0f} mm "
            f"of travel"
        )
    return (
        f"setup cannot be reached: no travels of the wheels were found for {requests}; "
        f"{' and '.join(ranges)}"
    )


def _springless_work(
    balance: Any, bars: dict[str, float], axle: AxleData, z: list[float], i: int
) -> list[float]:
    """What is left of the virtual work of both corners without their springs, with that of the
    anti-roll bar and the cross beam of a twist beam."""
    vertical = np.array([0.0, 0.0, 1.0])
    left_state, right_state = (
        corner_state(axle, side, z[k], 0.0, vertical, z[1 - k]) for k, side in enumerate((1, -1))
    )
    pairs = enumerate(((left_state, right_state), (right_state, left_state)))
    return [
        float(balance.virtual_work[i + k]) + bar_and_beam_work(axle, bars[axle.name], a, b)
        for k, (a, b) in pairs
    ]


def _check_wheel_loads(
    car: CarData, setup: SetupKeys, loads: dict[str, float], solved_loads: tuple[float, ...]
) -> None:
    """What cannot be reached, by names and numbers."""
    by_name = dict(zip(CORNERS, solved_loads, strict=True))
    unmet = [
        f"load_{c} = {x:.0f} N" for c, x in loads.items() if abs(x - by_name[c]) > LOAD_TOLERANCE
    ]
    loads_text = ", ".join(f"{c} {x:.0f} N" for c, x in by_name.items())
    if unmet:
        raise ModelError(
            f"setup: {', '.join(unmet)} cannot be reached together with "
            f"load_{next(iter(loads))}: the mass centre then "
            f"asks for {loads_text}. One wheel load, or cross_weight, says all",
            car.sections.name,
        )
    if min(solved_loads) <= 0:
        raise ModelError(
            f"setup cannot be reached: a wheel would not touch the ground ({loads_text})",
            car.sections.name,
        )
    if (
        loads
        and setup.cross_weight is not None
        and abs((by_name["fr"] + by_name["rl"]) / sum(solved_loads) - setup.cross_weight) > 1e-4
    ):
        raise ModelError("setup: give a wheel load or cross_weight, not both", car.sections.name)
