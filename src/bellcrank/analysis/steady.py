"""Motions in words and numbers: what carries a motion, speeds in proportion, and the line that says where an analysis
was made.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bellcrank.analysis.cyclic import is_driven
from bellcrank.analysis.plant import STATES, Plant
from bellcrank.analysis.point import Point
from bellcrank.interface.interface import Quantity
from bellcrank.run.closure import rates_near_singular
from bellcrank.units import ANGLE

GOING = 1e-5  # rate of a coordinate (equation units) above which it continues


def rates_at(plant: Plant, point: Point) -> np.ndarray:
    """Rates of all states by the program of the model."""
    loaded, p = plant.loaded, list(point.p)
    arguments = point.t, point.q.tolist(), point.u.tolist(), p, loaded.constants(p), list(point.w)
    functions = loaded.model.calls()
    singular_rates = rates_near_singular(functions, arguments)
    if singular_rates is not None:
        return np.array(singular_rates)
    qdot, udot = functions.derivatives(*arguments)
    return np.array([*qdot, *udot])


def going(plant: Plant, point: Point, cyclic: set[str]) -> list[tuple[Quantity, float]]:
    """Cyclic coordinates that continue, with their rates in equation units."""
    coordinates = plant.interface.coordinates
    rates = rates_at(plant, point)[: len(coordinates)]
    return [(q, float(r)) for q, r in zip(coordinates, rates, strict=True) if q.name in cyclic and abs(r) > GOING]


def carrier(plant: Plant, point: Point, cyclic: set[str]) -> Quantity | None:
    """The speed that carries a motion: the first without which a cyclic coordinate that continues would go otherwise.

    None where something continues without any speed, or by a constraint: then a parameter or an input says how fast.
    """
    moving = [q.place for q, _ in going(plant, point, cyclic)]
    if not moving or is_driven(plant, point) or going(plant, in_proportion(plant, point, 0.0), cyclic):
        return None
    base_rates = rates_at(plant, point)[moving]
    for speed in plant.interface.speeds:
        if abs(point.of(speed)) <= GOING:
            continue
        without = rates_at(plant, point.moved({speed: 0.0}))[moving]
        if np.any(np.abs(without - base_rates) > 0.5 * np.abs(base_rates)):
            return speed
    return None


def in_proportion(plant: Plant, point: Point, ratio: float, fixed: Iterable[Quantity] = ()) -> Point:
    """The point with all its speeds but the held ones in proportion: what rolls continues rolling."""
    fixed_speeds = set(fixed)
    return point.moved({s: ratio * point.of(s) for s in plant.interface.speeds if s not in fixed_speeds})


def value_words(q: Quantity, value: float) -> str:
    """u(chassis, 1) = 22.2 m/s, from a value in equation units."""
    return f"{q.name} = {_shown(float(q.unit.from_equation(value)))} {q.unit.text}".rstrip()


def _shown(value: float) -> str:
    return f"{value:.6g}" if abs(value) > 1e-9 else "0"


def motion_words(
    plant: Plant, point: Point, cyclic: set[str], reported: Iterable[Quantity] = (), aims: Iterable[str] = ()
) -> str:
    """A steady motion or rest in words, with the values that report it from others."""
    moving = going(plant, point, cyclic)
    speed = carrier(plant, point, cyclic)
    inputs = [q for q in plant.interface.inputs if not q.rate and abs(point.of(q)) > 1e-12]
    quantities = [q for q in dict.fromkeys([*([speed] if speed else []), *reported]) if moving or q.kind not in STATES]
    phrases = [*aims, *(value_words(q, point.of(q)) for q in quantities if q.kind in STATES)]
    if moving and speed is None:
        phrases += [_rate_words(q, r) for q, r in moving[:1]]
    body = speed.body if speed else moving[0][0].body if moving else ""
    body_rates = [(q, r) for q, r in moving if q.body == body and q.unit.dimension == ANGLE]
    phrases += [_rate_words(q, r) for q, r in body_rates[:1]]
    phrases += [value_words(q, point.of(q)) for q in dict.fromkeys([*inputs, *quantities]) if q.kind not in STATES]
    head = "steady motion" if moving else "at rest"
    if not phrases:
        return head
    return f"{head} {'at' if moving else 'with'} {', '.join(dict.fromkeys(phrases))}"


def left_behind(plant: Plant, start: Point, cyclic: set[str]) -> str:
    """What moves at a start and cannot continue steadily, because rates or constraints depend on it."""
    coordinates = plant.interface.coordinates
    rates = rates_at(plant, start)[: len(coordinates)]
    largest = float(np.abs(rates).max(initial=0.0))
    threshold = max(GOING, 1e-2 * largest)
    moving = [
        (q, r)
        for q, r in zip(coordinates, rates, strict=True)
        if q.body and q.name not in cyclic and abs(r) > threshold
    ]
    if not moving:
        return ""
    return f" (the start moves, {_rate_words(*moving[0])}, and state derivatives depend on it: not steady)"


def _rate_words(q: Quantity, rate: float) -> str:
    return f"{q.name}' = {_shown(float(q.unit.from_equation(rate)))} {q.unit.text}/s"
