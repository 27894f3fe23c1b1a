"""Motions in words and numbers: what carries a motion, speeds in proportion, and the line that says
where an analysis was made.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bellcrank.analysis.cyclic_coordinates import is_driven
from bellcrank.analysis.plant import STATES, AnalysisModel
from bellcrank.analysis.point import EvaluationPoint
from bellcrank.core.units import ANGLE
from bellcrank.mechanics.interface.interface import Quantity
from bellcrank.simulation.run.loop_closure import rates_near_singular

MIN_CONTINUING_RATE = 1e-5  # rate of a coordinate (equation units) above which it continues


def state_derivatives_at(plant: AnalysisModel, point: EvaluationPoint) -> np.ndarray:
    """Rates of all states by the program of the model."""
    loaded, p = plant.loaded, list(point.p)
    arguments = point.t, point.q.tolist(), point.u.tolist(), p, loaded.constants(p), list(point.w)
    functions = loaded.model.new_calls()
    singular_rates = rates_near_singular(functions, arguments)
    if singular_rates is not None:
        return np.array(singular_rates)
    qdot, udot = functions.derivatives(*arguments)
    return np.array([*qdot, *udot])


def continuing_rates(
    plant: AnalysisModel, point: EvaluationPoint, cyclic: set[str]
) -> list[tuple[Quantity, float]]:
    """Cyclic coordinates that continue, with their rates in equation units."""
    coordinates = plant.interface.coordinates
    rates = state_derivatives_at(plant, point)[: len(coordinates)]
    return [
        (q, float(r))
        for q, r in zip(coordinates, rates, strict=True)
        if q.name in cyclic and abs(r) > MIN_CONTINUING_RATE
    ]


def driving_speed(
    plant: AnalysisModel, point: EvaluationPoint, cyclic: set[str]
) -> Quantity | None:
    """The speed that carries a motion: the first without which a cyclic coordinate that continues
    would go otherwise.

    None where something continues without any speed, or by a constraint: then a parameter or an
    input says how fast.
    """
    moving = [q.index for q, _ in continuing_rates(plant, point, cyclic)]
    if (
        not moving
        or is_driven(plant, point)
        or continuing_rates(plant, scale_speeds(plant, point, 0.0), cyclic)
    ):
        return None
    base_rates = state_derivatives_at(plant, point)[moving]
    for speed in plant.interface.speeds:
        if abs(point.value_of(speed)) <= MIN_CONTINUING_RATE:
            continue
        without = state_derivatives_at(plant, point.with_values({speed: 0.0}))[moving]
        if np.any(np.abs(without - base_rates) > 0.5 * np.abs(base_rates)):
            return speed
    return None


def scale_speeds(
    plant: AnalysisModel, point: EvaluationPoint, ratio: float, fixed: Iterable[Quantity] = ()
) -> EvaluationPoint:
    """The point with all its speeds but the held ones in proportion: what rolls continues
    rolling."""
    fixed_speeds = set(fixed)
    return point.with_values(
        {s: ratio * point.value_of(s) for s in plant.interface.speeds if s not in fixed_speeds}
    )


def value_words(q: Quantity, value: float) -> str:
    """u(chassis, 1) = 22.2 m/s, from a value in equation units."""
    user_value = float(q.unit.from_equation_units(value))
    return f"{q.name} = {_round_to_text(user_value)} {q.unit.text}".rstrip()


def _round_to_text(value: float) -> str:
    return f"{value:.6g}" if abs(value) > 1e-9 else "0"


def motion_words(
    plant: AnalysisModel,
    point: EvaluationPoint,
    cyclic: set[str],
    reported: Iterable[Quantity] = (),
    aims: Iterable[str] = (),
) -> str:
    """A steady motion or rest in words, with the values that report it from others."""
    moving = continuing_rates(plant, point, cyclic)
    speed = driving_speed(plant, point, cyclic)
    inputs = [q for q in plant.interface.inputs if not q.rate and abs(point.value_of(q)) > 1e-12]
    quantities = [
        q
        for q in dict.fromkeys([*([speed] if speed else []), *reported])
        if moving or q.kind not in STATES
    ]
    phrases = [*aims, *(value_words(q, point.value_of(q)) for q in quantities if q.kind in STATES)]
    if moving and speed is None:
        phrases += [_rate_words(q, r) for q, r in moving[:1]]
    body = speed.body if speed else moving[0][0].body if moving else ""
    body_rates = [(q, r) for q, r in moving if q.body == body and q.unit.dimension == ANGLE]
    phrases += [_rate_words(q, r) for q, r in body_rates[:1]]
    phrases += [
        value_words(q, point.value_of(q))
        for q in dict.fromkeys([*inputs, *quantities])
        if q.kind not in STATES
    ]
    head = "steady motion" if moving else "at rest"
    if not phrases:
        return head
    return f"{head} {'at' if moving else 'with'} {', '.join(dict.fromkeys(phrases))}"


def unsteady_part_message(plant: AnalysisModel, start: EvaluationPoint, cyclic: set[str]) -> str:
    """What moves at a start and cannot continue steadily, because rates or constraints depend on
    it."""
    coordinates = plant.interface.coordinates
    rates = state_derivatives_at(plant, start)[: len(coordinates)]
    largest = float(np.abs(rates).max(initial=0.0))
    threshold = max(MIN_CONTINUING_RATE, 1e-2 * largest)
    moving = [
        (q, r)
        for q, r in zip(coordinates, rates, strict=True)
        if q.body and q.name not in cyclic and abs(r) > threshold
    ]
    if not moving:
        return ""
    return (
        f" (the start moves, {_rate_words(*moving[0])}, and state derivatives depend on it: not "
        f"steady)"
    )


def _rate_words(q: Quantity, rate: float) -> str:
    return f"{q.name}' = {_round_to_text(float(q.unit.from_equation_units(rate)))} {q.unit.text}/s"
