"""Where a model is analysed: the point that a user means by `at=`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.analysis.plant import AnalysisModel
from bellcrank.analysis.point import EvaluationPoint
from bellcrank.choices import OperatingPoint, choice_values
from bellcrank.core.errors import ModelError, did_you_mean, require_mapping
from bellcrank.core.name_lookup import normalized_name
from bellcrank.model.guess import with_guess
from bellcrank.simulation.run.argument_checks import require_finite, state_lists
from bellcrank.simulation.run.initial_assembly import assemble_state
from bellcrank.simulation.run.point_evaluation import Inputs, Parameters, loop_constraints
from bellcrank.simulation.run.result import Run
from bellcrank.simulation.run.status import RunStatus

POSITION_KEYWORDS = choice_values(OperatingPoint)
ALLOWED = (
    "'start', 'equilibrium', values of states by name, (q, u) in equation units, a time of "
    "the run in s, (run, time), "
    "or the result of another analysis"
)


@dataclass(frozen=True)
class OperatingState:
    """A point, where it comes from in words, and the motion there if an analysis has found it."""

    point: EvaluationPoint
    words: str
    motion: str = ""


def position_keyword(location: Any, model: str) -> str:
    """The word that `location` is, or "" if it is none."""
    if not isinstance(location, str):
        return ""
    word = location.strip().lower()
    if word not in POSITION_KEYWORDS:
        raise ModelError(
            f"at={location!r} is not known.{did_you_mean(location, POSITION_KEYWORDS)} It "
            f"is {ALLOWED}.",
            model,
        )
    return word


def merge_guesses(plant: AnalysisModel, at: Any, guess: Mapping[Any, float | str] | None) -> Any:
    """The values of states that `at` means, with guesses of what closed loops determine; `at`
    itself without any."""
    if not require_mapping(guess, "guess"):
        return at
    if at is None or position_keyword(at, plant.name):
        return plant.interface.initial_values(with_guess(None, guess))
    if not isinstance(at, Mapping):
        raise ModelError(
            "guess= belongs to at='start', at='equilibrium' or values by name: others are "
            "whole states"
        )
    return with_guess(at, guess)


def operating_point(
    plant: AnalysisModel,
    location: Any = None,
    parameters: Parameters = None,
    inputs: Inputs = None,
    t: float = 0.0,
) -> OperatingState:
    """The point a user means; None and "start" are the start of the run."""
    loaded, interface = plant.loaded, plant.interface
    point = getattr(location, "point", None)
    if isinstance(point, EvaluationPoint):
        if parameters or inputs:
            reason = (
                "parameters= and inputs= are those of the equilibrium given as at=; find it "
                "with the others first"
            )
            raise ModelError(reason, loaded.name)
        return OperatingState(point, "state of another analysis", location.motion)
    if isinstance(location, int | float | np.number) and not isinstance(location, bool):
        return _point_of_run(
            plant,
            _run_until(plant, location, parameters, inputs),
            location,
            parameters,
            inputs,
            "the run",
        )
    run, time = location if isinstance(location, tuple) and len(location) == 2 else (location, None)
    if isinstance(run, Run):
        return _point_of_run(
            plant, run, run.time[-1] if time is None else time, parameters, inputs, "the run given"
        )
    p = loaded.parameter_values(parameters)
    signals = loaded.inputs(inputs)
    w = tuple(float(i.function(t)) for i in signals)
    if (
        isinstance(location, tuple | list)
        and len(location) == 2
        and not isinstance(location[0], str)
    ):
        q, u = state_lists(interface, *location)
        return OperatingState(
            EvaluationPoint(t, np.array(q), np.array(u), tuple(p), w), "state given"
        )
    is_start = location is None or position_keyword(location, loaded.name) == "start"
    if not is_start and not isinstance(location, Mapping):
        raise ModelError(f"at={location!r} is not known. It is {ALLOWED}.", loaded.name)
    initial = interface.run.initial if is_start else location
    q0, u0 = assemble_state(loaded, initial, loop_constraints(loaded, p, signals), p, signals)
    label = "start of the run" if is_start else "state given"
    return OperatingState(EvaluationPoint(t, np.asarray(q0), np.asarray(u0), tuple(p), w), label)


def _run_until(plant: AnalysisModel, time: Any, parameters: Parameters, inputs: Inputs) -> Run:
    """The run of the model up to a time."""
    t_end = require_finite(time, "the time at=")
    if t_end <= 0:
        raise ModelError(
            f"at={time!r}: a time of the run must be positive; 'start' is its start", plant.name
        )
    run = plant.simulate(t_end=t_end, parameters=parameters, inputs=inputs)
    if run.status is not RunStatus.FINISHED:
        raise ModelError(f"at={time!r}: the run ends before ({run.ended})", plant.name)
    return run


def _point_of_run(
    plant: AnalysisModel,
    run: Run,
    time: Any,
    parameters: Parameters,
    inputs: Inputs,
    run_label: str,
) -> OperatingState:
    """The recorded state nearest to a time of a run, with the inputs recorded there."""
    t = require_finite(time, "the time of at=")
    first, last = float(run.time[0]), float(run.time[-1])
    slack = 1e-9 * max(1.0, abs(last))
    if not first - slack <= t <= last + slack:
        raise ModelError(
            f"at: t = {t:g} s is not in the run, which goes from {first:g} to {last:g} s",
            plant.name,
        )
    row = int(np.argmin(np.abs(run.time - t)))
    by_key = {normalized_name(name): x for name, x in run.channels.items()}
    missing = [s.name for s in plant.interface.states if s.key not in by_key]
    if missing:
        raise ModelError(
            f"at: the run lacks the states {', '.join(missing)} of this model", plant.name
        )

    def state_values(quantities: Sequence[Any]) -> np.ndarray:
        return np.array([float(x.unit.to_equation_units(by_key[x.key][row])) for x in quantities])

    t = float(run.time[row])
    input_values = plant.interface.values_by_key(inputs, ("input",), "inputs")
    signals = zip(plant.interface.inputs, plant.loaded.inputs(inputs), strict=True)
    w = tuple(
        float(state_values([x])[0])
        if x.key in by_key and x.base_input not in input_values and not x.rate
        else float(i.function(t))
        for x, i in signals
    )
    p = tuple(plant.loaded.parameter_values(parameters))
    q, u = state_values(plant.interface.coordinates), state_values(plant.interface.speeds)
    return OperatingState(EvaluationPoint(t, q, u, p, w), f"t = {t:g} s of {run_label}")
