"""Set-up solved from what is asked: heights of the body, toe and camber as the car stands, wheel loads.

In: a car whose parts fit together, and its `Setup`. Out: the same car with other springs and wheel axes. A car has one
degree of freedom in its wheel loads, between the diagonals; the mass centre says the rest, and what contradicts it is
reported.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

import numpy as np

from bellcrank.errors import ModelError
from bellcrank.library.vehicles.axles import FittedAxle
from bellcrank.library.vehicles.data import CORNERS, Array, CarData
from bellcrank.library.vehicles.keys import key_of, shown
from bellcrank.library.vehicles.records import Setup
from bellcrank.library.vehicles.rest import (
    Statics,
    bar_stiffness,
    between_wheels,
    corner,
    free_lengths,
    road,
    solved,
    spin_axis,
    stand,
)
from bellcrank.library.vehicles.trailer_rest import Added, Towed

STEEPEST = math.radians(20)  # toe and camber on the carrier past which nothing is built
NEAR = 1.0  # N by which wheel loads asked for may miss what the mass centre says
PASSES = 3
STOOD = ("height_", "load_", "cross_")  # how keys begin that springs are solved from


def set_up(car: CarData) -> CarData:
    """The car with its set-up; itself if none is asked for."""
    asked = car.sections.setup
    if asked is None:
        return car
    turned = any(getattr(asked, f"{k}_{a}") is not None for k in ("toe", "camber") for a in ("front", "rear"))
    for _ in range(PASSES if turned else 1):  # wheel axes move contacts a little, and these the body
        car = _stood(car, asked)
        car = _aligned(car, asked) if turned else car
    return car


def _changed(car: CarData, axle: FittedAxle, **keys: Any) -> CarData:
    record = replace(axle.record, **keys)
    fitted = replace(axle, record=record)
    if axle.name == "front":
        return replace(car, sections=replace(car.sections, front=record), front=fitted)
    return replace(car, sections=replace(car.sections, rear=record), rear=fitted)


def _aligned(car: CarData, asked: Setup) -> CarData:
    """Wheel axes on the carriers that give toe and camber where the car stands."""
    wanted = {a: {k: getattr(asked, f"{k}_{a}") for k in ("toe", "camber")} for a in ("front", "rear")}
    at_rest = stand(car)
    for axle, i in ((car.front, 0), (car.rear, 2)):
        R = axle.pose(sum(at_rest.travel[i : i + 2]) / 2).rotation
        level = road(at_rest.pitch)
        now = level @ R @ spin_axis(axle.record.toe, axle.record.camber)
        toe, camber = _angles(now)
        given = wanted[axle.name]
        axis = spin_axis(*(x if y is None else y for x, y in ((toe, given["toe"]), (camber, given["camber"]))))
        toe, camber = _angles(R.T @ (axis @ level))
        for word, value in (("toe", toe), ("camber", camber)):
            if abs(value) > STEEPEST:
                raise ModelError(
                    f"setup.{word}_{axle.name} = {math.degrees(given[word] or 0.0):.4g} deg cannot be reached: the "
                    f"axis of the wheel would stand at a {word} of {math.degrees(value):.4g} deg on its carrier",
                    car.sections.name,
                )
        car = _changed(car, axle, toe=toe, camber=camber)
    return car


def _angles(axis: Array) -> tuple[float, float]:
    """Toe and camber of the axis of a left wheel."""
    return float(np.arctan2(axis[0], axis[1])), float(-np.arcsin(axis[2]))


def _stood(car: CarData, asked: Setup) -> CarData:
    """Springs that hold the body at its heights, and the wheels at their loads."""
    loads = {c: x for c in CORNERS if (x := getattr(asked, f"load_{c}")) is not None}
    heights = [asked.height_front, asked.height_rear]
    if heights == [None, None] and not asked.across:
        return car
    at_rest = stand(car)
    axles = (car.front, car.rear)
    places = [a.linkage.points[a.linkage.chain.hub][0] + a.record.at[0] for a in axles]
    now = [at_rest.height - x * math.sin(at_rest.pitch) for x in places]
    wanted = [x if y is None else y for x, y in zip(now, heights, strict=True)]
    pitch = -math.asin((wanted[0] - wanted[1]) / (places[0] - places[1]))
    height = wanted[0] + places[0] * math.sin(pitch)
    bars = {a.name: bar_stiffness(a) for a in axles}
    across, own = asked.across, 4 if asked.across else 2
    twists = across and car.frame is not None  # the front part of the body is level then
    statics, added = Statics(car, bars, {}, symmetric=not across), Added(car.added)
    levelled = Towed(car.trailers).levelled()

    def at(z: Array) -> tuple[Any, list[float]]:
        others, pull = added.level(height, pitch, z[own : -1 if twists else None])
        travels, twist = z[:4] if across else [z[0], z[0], z[1], z[1]], z[-1] if twists else 0.0
        n = statics.at(height, pitch, 0.0, travels, pull, *levelled, twist=twist)
        return n, added.missing(others, sum(n.load[2:]))

    def rest(z: Array) -> Array:
        n, missing = at(z)
        if not across:
            return np.array([n.lift, n.moment[1], *missing])
        corner, load = next(iter(loads.items()), ("", 0.0))
        cross = n.load[1] + n.load[2] - (asked.cross_weight or 0.0) * sum(n.load)
        fourth = n.load[list(CORNERS).index(corner)] - load if corner else cross
        return np.array([n.lift, *n.moment[:2], fourth, *missing, *(n.torsion if twists else ())])

    start = list(at_rest.travel) if across else [at_rest.travel[0], at_rest.travel[2]]
    first = [*start, *added.start(height, pitch), *([at_rest.twist] if twists else [])]
    z = solved(car, rest, first, _not_reached(car, asked))
    found, _ = at(z)
    _checked(car, asked, loads, found.load)
    for axle, i in zip(axles, (0, 2), strict=True):
        spring = replace(axle.record.spring, free_length=None, travel=float(z[i // 2]), perch=0.0)
        if across:
            free = free_lengths(axle, z[i : i + 2].tolist(), _bare(found, bars, axle, z[i : i + 2].tolist(), i))
            spring = replace(axle.record.spring, free_length=sum(free) / 2, travel=0.0, perch=(free[0] - free[1]) / 2)
        car = _changed(car, axle, spring=spring)
    return car


def _not_reached(car: CarData, asked: Setup) -> str:
    """What is said of heights and loads that cannot be, with how far the wheels can go."""
    given = [(f.name, getattr(asked, f.name), key_of(f)) for f in fields(asked)]
    listed = ", ".join(
        f"{name} = {shown(key, value)}" for name, value, key in given if value is not None and name.startswith(STOOD)
    )
    reach = []
    for axle in (car.front, car.rear):
        low, high = axle.linkage.range()
        reach.append(f"the {axle.name} suspension goes from {1000 * low:.0f} to {1000 * high:.0f} mm of travel")
    return f"setup cannot be reached: no travels of the wheels were found for {listed}; {' and '.join(reach)}"


def _bare(found: Any, bars: dict[str, float], axle: FittedAxle, z: list[float], i: int) -> list[float]:
    """What is left of the virtual work of both corners without their springs, with that of the anti-roll bar and the
    cross beam of a twist beam."""
    up = np.array([0.0, 0.0, 1.0])
    left, right = (corner(axle, side, z[k], 0.0, up, z[1 - k]) for k, side in enumerate((1, -1)))
    pairs = enumerate(((left, right), (right, left)))
    return [float(found.push[i + k]) + between_wheels(axle, bars[axle.name], a, b) for k, (a, b) in pairs]


def _checked(car: CarData, asked: Setup, loads: dict[str, float], found: tuple[float, ...]) -> None:
    """What cannot be reached, by names and numbers."""
    by_name = dict(zip(CORNERS, found, strict=True))
    wrong = [f"load_{c} = {x:.0f} N" for c, x in loads.items() if abs(x - by_name[c]) > NEAR]
    listed = ", ".join(f"{c} {x:.0f} N" for c, x in by_name.items())
    if wrong:
        raise ModelError(
            f"setup: {', '.join(wrong)} cannot be reached together with load_{next(iter(loads))}: the mass centre then "
            f"asks for {listed}. One wheel load, or cross_weight, says all",
            car.sections.name,
        )
    if min(found) <= 0:
        raise ModelError(f"setup cannot be reached: a wheel would not touch the ground ({listed})", car.sections.name)
    if loads and asked.cross_weight is not None and abs(
        (by_name["fr"] + by_name["rl"]) / sum(found) - asked.cross_weight
    ) > 1e-4:  # fmt: skip
        raise ModelError("setup: give a wheel load or cross_weight, not both", car.sections.name)
