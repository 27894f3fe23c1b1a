"""Where a search begins or a locus continues: a place with states that are fixed, other speeds in
proportion to them.

What rolls continues rolling: a car that starts at 20 m/s and is asked for 10 m/s starts with wheels
half as fast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.analysis.cyclic_coordinates import continuing_coordinates
from bellcrank.analysis.operating_point import operating_point, position_keyword
from bellcrank.analysis.plant import AnalysisModel
from bellcrank.analysis.point import EvaluationPoint
from bellcrank.analysis.steady_motion import (
    MIN_CONTINUING_RATE,
    continuing_rates,
    scale_speeds,
    state_derivatives_at,
)
from bellcrank.analysis.targets import SearchTarget
from bellcrank.mechanics.interface.interface import Quantity
from bellcrank.simulation.run.initial_assembly import state_key
from bellcrank.simulation.run.point_evaluation import Inputs, Parameters

EQUAL_TOLERANCE = 1e-6  # difference that counts as none


@dataclass(frozen=True)
class InitialGuess:
    """The place as it was given, the point made of it, and the ratio of its speeds (None: no speed
    was asked for)."""

    there: EvaluationPoint
    point: EvaluationPoint
    ratio: float | None


def initial_guess(
    plant: AnalysisModel,
    location: Any,
    states: Mapping[Quantity, float],
    aims: Sequence[SearchTarget],
    parameters: Parameters,
    inputs: Inputs,
    t: float = 0.0,
) -> InitialGuess:
    """A place with some states fixed (user units), its speeds brought to those that are fixed or
    aimed at."""
    base_point = _base_point(plant, location, parameters, inputs, t)
    ratio = _speed_ratio(plant, base_point, continuing_coordinates(plant, base_point), states, aims)
    point = _apply_fixed_values(
        plant, location, base_point, 1.0 if ratio is None else ratio, states, parameters, inputs, t
    )
    return InitialGuess(
        base_point, point.with_values({q: v * q.unit.factor for q, v in states.items()}), ratio
    )


def _base_point(
    plant: AnalysisModel, location: Any, parameters: Parameters, inputs: Inputs, t: float
) -> EvaluationPoint:
    """Where the search starts, as it is given."""
    point = getattr(location, "point", None)
    if not isinstance(point, EvaluationPoint) or not (parameters or inputs):
        return operating_point(
            plant, _initial_values_of_run(plant, location), parameters, inputs, t
        ).point
    p, signals = plant.loaded.parameter_values(parameters), plant.loaded.inputs(inputs)
    return replace(point, p=tuple(p), w=tuple(float(i.function(point.t)) for i in signals))


def _initial_values_of_run(plant: AnalysisModel, location: Any) -> Any:
    """`location`, with the start of the run in place of words: an equilibrium is searched from
    there too."""
    return (
        plant.interface.run.initial
        if location is None or position_keyword(location, plant.name)
        else location
    )


def _apply_fixed_values(
    plant: AnalysisModel,
    location: Any,
    base_point: EvaluationPoint,
    ratio: float,
    states: Mapping[Quantity, float],
    parameters: Parameters,
    inputs: Inputs,
    t: float,
) -> EvaluationPoint:
    """The start with states that are fixed put in, and speeds in proportion to those that are."""
    initial_values = _initial_values_of_run(plant, location)
    if not isinstance(initial_values, Mapping):
        return scale_speeds(plant, base_point, ratio)
    speeds = {q.key for q in (*plant.interface.speeds, *plant.interface.dependent_speeds)}
    scaled_values = {
        k: ratio * v if state_key(plant.interface, k) in speeds else v
        for k, v in initial_values.items()
    }
    fixed = {q.key: v for q, v in states.items()}
    free_values = {
        k: v for k, v in scaled_values.items() if state_key(plant.interface, k) not in fixed
    }
    return operating_point(
        plant, {**free_values, **{q.name: v for q, v in states.items()}}, parameters, inputs, t
    ).point


def _speed_ratio(
    plant: AnalysisModel,
    point: EvaluationPoint,
    cyclic: set[str],
    states: Mapping[Quantity, float],
    aims: Sequence[SearchTarget],
) -> float | None:
    """By how much the start must be faster or slower for a speed that is fixed or aimed at; None:
    no speed is."""
    for q, value in states.items():
        if (
            q.kind == "speed"
            and abs(point.value_of(q)) > MIN_CONTINUING_RATE
            and drives_cyclic_coordinate(plant, point, cyclic, q)
        ):
            return value * q.unit.factor / point.value_of(q)
    for aim in aims:
        current, doubled = (
            target_value(plant, x, aim) for x in (point, scale_speeds(plant, point, 2.0))
        )
        if abs(current) > MIN_CONTINUING_RATE and abs(
            doubled - 2 * current
        ) <= EQUAL_TOLERANCE * abs(current):
            return aim.value / current
    if continuing_rates(plant, point, cyclic):
        return None
    feeding = [
        s for s in plant.interface.speeds if drives_cyclic_coordinate(plant, point, cyclic, s)
    ]
    has_speed_target = any(_is_speed(plant, point, aim, s) for aim in aims for s in feeding)
    return 1.0 if has_speed_target else None  # at rest there is nothing to be in proportion


def _is_speed(
    plant: AnalysisModel, point: EvaluationPoint, aim: SearchTarget, speed: Quantity
) -> bool:
    """Does an aim grow in proportion to a speed?"""
    one, two = (
        target_value(plant, point.with_values({speed: point.value_of(speed) + k}), aim)
        for k in (1.0, 2.0)
    )
    return abs(one) > MIN_CONTINUING_RATE and abs(two - 2 * one) <= EQUAL_TOLERANCE * abs(one)


def target_value(plant: AnalysisModel, point: EvaluationPoint, aim: SearchTarget) -> float:
    """What an aim has at a point, in user units."""
    loaded, p = plant.loaded, list(point.p)
    outputs = loaded.model.new_calls().outputs(
        point.t, point.q.tolist(), point.u.tolist(), p, loaded.constants(p), list(point.w)
    )
    return aim.value_at(point.x, {"outputs": np.array(outputs)})


def drives_cyclic_coordinate(
    plant: AnalysisModel, point: EvaluationPoint, cyclic: set[str], speed: Quantity
) -> bool:
    """Does a speed move cyclic coordinates?"""
    rows = [q.index for q in plant.interface.coordinates if q.name in cyclic]
    rate_change = (
        state_derivatives_at(plant, point.with_values({speed: point.value_of(speed) + 1.0}))[rows]
        - state_derivatives_at(plant, point)[rows]
    )
    return bool(np.any(np.abs(rate_change) > 0.5))
