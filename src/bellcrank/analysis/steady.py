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


def rates_at(plant: Plant, at: Point) -> np.ndarray:
    """Rates of all states by the program of the model."""
    loaded, p = plant.loaded, list(at.p)
    here = at.t, at.q.tolist(), at.u.tolist(), p, loaded.constants(p), list(at.w)
    calls = loaded.model.calls()
    near = rates_near_singular(calls, here)
    if near is not None:
        return np.array(near)
    qdot, udot = calls.derivatives(*here)
    return np.array([*qdot, *udot])


def going(plant: Plant, at: Point, cyclic: set[str]) -> list[tuple[Quantity, float]]:
    """Cyclic coordinates that continue, with their rates in equation units."""
    listed = plant.interface.coordinates
    rates = rates_at(plant, at)[: len(listed)]
    return [(q, float(r)) for q, r in zip(listed, rates, strict=True) if q.name in cyclic and abs(r) > GOING]


def carrier(plant: Plant, at: Point, cyclic: set[str]) -> Quantity | None:
    """The speed that carries a motion: the first without which a cyclic coordinate that continues would go otherwise.

    None where something continues without any speed, or by a constraint: then a parameter or an input says how fast.
    """
    moving = [q.place for q, _ in going(plant, at, cyclic)]
    if not moving or is_driven(plant, at) or going(plant, in_proportion(plant, at, 0.0), cyclic):
        return None
    before = rates_at(plant, at)[moving]
    for speed in plant.interface.speeds:
        if abs(at.of(speed)) <= GOING:
            continue
        without = rates_at(plant, at.moved({speed: 0.0}))[moving]
        if np.any(np.abs(without - before) > 0.5 * np.abs(before)):
            return speed
    return None


def in_proportion(plant: Plant, at: Point, ratio: float, held: Iterable[Quantity] = ()) -> Point:
    """The point with all its speeds but the held ones in proportion: what rolls continues rolling."""
    kept = set(held)
    return at.moved({s: ratio * at.of(s) for s in plant.interface.speeds if s not in kept})


def value_words(q: Quantity, value: float) -> str:
    """u(chassis, 1) = 22.2 m/s, from a value in equation units."""
    return f"{q.name} = {_shown(float(q.unit.from_equation(value)))} {q.unit.text}".rstrip()


def _shown(value: float) -> str:
    return f"{value:.6g}" if abs(value) > 1e-9 else "0"


def motion_words(
    plant: Plant, at: Point, cyclic: set[str], shown: Iterable[Quantity] = (), aims: Iterable[str] = ()
) -> str:
    """A steady motion or rest in words, with the values that report it from others."""
    moving = going(plant, at, cyclic)
    speed = carrier(plant, at, cyclic)
    inputs = [q for q in plant.interface.inputs if not q.rate and abs(at.of(q)) > 1e-12]
    found = [q for q in dict.fromkeys([*([speed] if speed else []), *shown]) if moving or q.kind not in STATES]
    listed = [*aims, *(value_words(q, at.of(q)) for q in found if q.kind in STATES)]
    if moving and speed is None:
        listed += [_rate_words(q, r) for q, r in moving[:1]]
    body = speed.body if speed else moving[0][0].body if moving else ""
    own = [(q, r) for q, r in moving if q.body == body and q.unit.dimension == ANGLE]
    listed += [_rate_words(q, r) for q, r in own[:1]]
    listed += [value_words(q, at.of(q)) for q in dict.fromkeys([*inputs, *found]) if q.kind not in STATES]
    head = "steady motion" if moving else "at rest"
    if not listed:
        return head
    return f"{head} {'at' if moving else 'with'} {', '.join(dict.fromkeys(listed))}"


def left_behind(plant: Plant, start: Point, cyclic: set[str]) -> str:
    """What moves at a start and cannot continue steadily, because rates or constraints depend on it."""
    listed = plant.interface.coordinates
    rates = rates_at(plant, start)[: len(listed)]
    largest = float(np.abs(rates).max(initial=0.0))
    least = max(GOING, 1e-2 * largest)
    moving = [(q, r) for q, r in zip(listed, rates, strict=True) if q.body and q.name not in cyclic and abs(r) > least]
    if not moving:
        return ""
    return f" (the start moves, {_rate_words(*moving[0])}, and state derivatives depend on it: not steady)"


def _rate_words(q: Quantity, rate: float) -> str:
    return f"{q.name}' = {_shown(float(q.unit.from_equation(rate)))} {q.unit.text}/s"
