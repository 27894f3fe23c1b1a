"""Where a search begins or a locus continues: a place with states that are fixed, other speeds in proportion to them.

What rolls continues rolling: a car that starts at 20 m/s and is asked for 10 m/s starts with wheels half as fast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.analysis.aims import Aim
from bellcrank.analysis.cyclic import onward
from bellcrank.analysis.plant import Plant
from bellcrank.analysis.point import Point
from bellcrank.analysis.steady import GOING, going, in_proportion, rates_at
from bellcrank.analysis.where import place_at, word_of
from bellcrank.interface.interface import Quantity
from bellcrank.run.assembly import state_key
from bellcrank.run.evaluate import Inputs, Parameters

ALIKE = 1e-6  # difference that counts as none


@dataclass(frozen=True)
class Begin:
    """The place as it was given, the point made of it, and the ratio of its speeds (None: no speed was asked for)."""

    there: Point
    point: Point
    ratio: float | None


def begin_at(
    plant: Plant,
    at: Any,
    states: Mapping[Quantity, float],
    aims: Sequence[Aim],
    parameters: Parameters,
    inputs: Inputs,
    t: float = 0.0,
) -> Begin:
    """A place with some states fixed (user units), its speeds brought to those that are fixed or aimed at."""
    there = _base(plant, at, parameters, inputs, t)
    ratio = _ratio(plant, there, onward(plant, there), states, aims)
    point = _begin(plant, at, there, 1.0 if ratio is None else ratio, states, parameters, inputs, t)
    return Begin(there, point.moved({q: v * q.unit.factor for q, v in states.items()}), ratio)


def _base(plant: Plant, at: Any, parameters: Parameters, inputs: Inputs, t: float) -> Point:
    """Where the search starts, as it is given."""
    found = getattr(at, "point", None)
    if not isinstance(found, Point) or not (parameters or inputs):
        return place_at(plant, _named(plant, at), parameters, inputs, t).point
    p, signals = plant.loaded.parameter_values(parameters), plant.loaded.inputs(inputs)
    return replace(found, p=tuple(p), w=tuple(float(i.function(found.t)) for i in signals))


def _named(plant: Plant, at: Any) -> Any:
    """`at`, with the start of the run in place of words: an equilibrium is searched from there too."""
    return plant.interface.run.initial if at is None or word_of(at, plant.name) else at


def _begin(
    plant: Plant,
    at: Any,
    there: Point,
    ratio: float,
    states: Mapping[Quantity, float],
    parameters: Parameters,
    inputs: Inputs,
    t: float,
) -> Point:
    """The start with states that are fixed put in, and speeds in proportion to those that are."""
    named = _named(plant, at)
    if not isinstance(named, Mapping):
        return in_proportion(plant, there, ratio)
    speeds = {q.key for q in (*plant.interface.speeds, *plant.interface.removed)}
    given = {k: ratio * v if state_key(plant.interface, k) in speeds else v for k, v in named.items()}
    fixed = {q.key: v for q, v in states.items()}
    kept = {k: v for k, v in given.items() if state_key(plant.interface, k) not in fixed}
    return place_at(plant, {**kept, **{q.name: v for q, v in states.items()}}, parameters, inputs, t).point


def _ratio(
    plant: Plant, at: Point, cyclic: set[str], states: Mapping[Quantity, float], aims: Sequence[Aim]
) -> float | None:
    """By how much the start must be faster or slower for a speed that is fixed or aimed at; None: no speed is."""
    for q, value in states.items():
        if q.kind == "speed" and abs(at.of(q)) > GOING and feeds(plant, at, cyclic, q):
            return value * q.unit.factor / at.of(q)
    for aim in aims:
        now, doubled = (aimed(plant, x, aim) for x in (at, in_proportion(plant, at, 2.0)))
        if abs(now) > GOING and abs(doubled - 2 * now) <= ALIKE * abs(now):
            return aim.value / now
    if going(plant, at, cyclic):
        return None
    feeding = [s for s in plant.interface.speeds if feeds(plant, at, cyclic, s)]
    asked = any(_is_speed(plant, at, aim, s) for aim in aims for s in feeding)
    return 1.0 if asked else None  # at rest there is nothing to be in proportion


def _is_speed(plant: Plant, at: Point, aim: Aim, speed: Quantity) -> bool:
    """Does an aim grow in proportion to a speed?"""
    one, two = (aimed(plant, at.moved({speed: at.of(speed) + k}), aim) for k in (1.0, 2.0))
    return abs(one) > GOING and abs(two - 2 * one) <= ALIKE * abs(one)


def aimed(plant: Plant, at: Point, aim: Aim) -> float:
    """What an aim has at a point, in user units."""
    loaded, p = plant.loaded, list(at.p)
    out = loaded.model.calls().outputs(at.t, at.q.tolist(), at.u.tolist(), p, loaded.constants(p), list(at.w))
    return aim.value_at(at.x, {"outputs": np.array(out)})


def feeds(plant: Plant, at: Point, cyclic: set[str], speed: Quantity) -> bool:
    """Does a speed move cyclic coordinates?"""
    rows = [q.place for q in plant.interface.coordinates if q.name in cyclic]
    change = rates_at(plant, at.moved({speed: at.of(speed) + 1.0}))[rows] - rates_at(plant, at)[rows]
    return bool(np.any(np.abs(change) > 0.5))
