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
    location: Any,
    states: Mapping[Quantity, float],
    aims: Sequence[Aim],
    parameters: Parameters,
    inputs: Inputs,
    t: float = 0.0,
) -> Begin:
    """A place with some states fixed (user units), its speeds brought to those that are fixed or aimed at."""
    base_point = _base(plant, location, parameters, inputs, t)
    ratio = _ratio(plant, base_point, onward(plant, base_point), states, aims)
    point = _begin(plant, location, base_point, 1.0 if ratio is None else ratio, states, parameters, inputs, t)
    return Begin(base_point, point.moved({q: v * q.unit.factor for q, v in states.items()}), ratio)


def _base(plant: Plant, location: Any, parameters: Parameters, inputs: Inputs, t: float) -> Point:
    """Where the search starts, as it is given."""
    point = getattr(location, "point", None)
    if not isinstance(point, Point) or not (parameters or inputs):
        return place_at(plant, _named(plant, location), parameters, inputs, t).point
    p, signals = plant.loaded.parameter_values(parameters), plant.loaded.inputs(inputs)
    return replace(point, p=tuple(p), w=tuple(float(i.function(point.t)) for i in signals))


def _named(plant: Plant, location: Any) -> Any:
    """`location`, with the start of the run in place of words: an equilibrium is searched from there too."""
    return plant.interface.run.initial if location is None or word_of(location, plant.name) else location


def _begin(
    plant: Plant,
    location: Any,
    base_point: Point,
    ratio: float,
    states: Mapping[Quantity, float],
    parameters: Parameters,
    inputs: Inputs,
    t: float,
) -> Point:
    """The start with states that are fixed put in, and speeds in proportion to those that are."""
    initial_values = _named(plant, location)
    if not isinstance(initial_values, Mapping):
        return in_proportion(plant, base_point, ratio)
    speeds = {q.key for q in (*plant.interface.speeds, *plant.interface.removed)}
    scaled_values = {k: ratio * v if state_key(plant.interface, k) in speeds else v for k, v in initial_values.items()}
    fixed = {q.key: v for q, v in states.items()}
    free_values = {k: v for k, v in scaled_values.items() if state_key(plant.interface, k) not in fixed}
    return place_at(plant, {**free_values, **{q.name: v for q, v in states.items()}}, parameters, inputs, t).point


def _ratio(
    plant: Plant, point: Point, cyclic: set[str], states: Mapping[Quantity, float], aims: Sequence[Aim]
) -> float | None:
    """By how much the start must be faster or slower for a speed that is fixed or aimed at; None: no speed is."""
    for q, value in states.items():
        if q.kind == "speed" and abs(point.of(q)) > GOING and feeds(plant, point, cyclic, q):
            return value * q.unit.factor / point.of(q)
    for aim in aims:
        current, doubled = (aimed(plant, x, aim) for x in (point, in_proportion(plant, point, 2.0)))
        if abs(current) > GOING and abs(doubled - 2 * current) <= ALIKE * abs(current):
            return aim.value / current
    if going(plant, point, cyclic):
        return None
    feeding = [s for s in plant.interface.speeds if feeds(plant, point, cyclic, s)]
    has_speed_target = any(_is_speed(plant, point, aim, s) for aim in aims for s in feeding)
    return 1.0 if has_speed_target else None  # at rest there is nothing to be in proportion


def _is_speed(plant: Plant, point: Point, aim: Aim, speed: Quantity) -> bool:
    """Does an aim grow in proportion to a speed?"""
    one, two = (aimed(plant, point.moved({speed: point.of(speed) + k}), aim) for k in (1.0, 2.0))
    return abs(one) > GOING and abs(two - 2 * one) <= ALIKE * abs(one)


def aimed(plant: Plant, point: Point, aim: Aim) -> float:
    """What an aim has at a point, in user units."""
    loaded, p = plant.loaded, list(point.p)
    outputs = loaded.model.calls().outputs(
        point.t, point.q.tolist(), point.u.tolist(), p, loaded.constants(p), list(point.w)
    )
    return aim.value_at(point.x, {"outputs": np.array(outputs)})


def feeds(plant: Plant, point: Point, cyclic: set[str], speed: Quantity) -> bool:
    """Does a speed move cyclic coordinates?"""
    rows = [q.place for q in plant.interface.coordinates if q.name in cyclic]
    rate_change = rates_at(plant, point.moved({speed: point.of(speed) + 1.0}))[rows] - rates_at(plant, point)[rows]
    return bool(np.any(np.abs(rate_change) > 0.5))
