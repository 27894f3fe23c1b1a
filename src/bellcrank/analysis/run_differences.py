"""Sensitivities of runs with closed loops by differences of sixth order: six runs for each
parameter.

In closed loops a step of the forward derivatives costs as much as hundreds of steps of a compiled
run. Differences of runs have the same accuracy wherever a run depends smoothly on a parameter.
Differences of fourth order, from the same runs, show whether it does: where both disagree, the
caller takes the forward derivatives.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bellcrank.analysis.plant import AnalysisModel
from bellcrank.analysis.sensitivity import Sensitivity
from bellcrank.core.errors import BellcrankError, RunError
from bellcrank.mechanics.interface.interface import Quantity
from bellcrank.simulation.run.result import Run
from bellcrank.simulation.run.status import RunStatus

PARAMETER_INCREMENT = 1e-3  # between runs, relative to the parameter
SIXTH, FOURTH = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}, {1: 8 / 12, 2: -1 / 12}
AGREEMENT_TOLERANCE = (
    1e-8  # difference of both orders, relative to the largest derivative of a channel
)
RUN_NOISE = 1e-12  # of a run, relative to the largest value of a channel


def difference_sensitivity(
    plant: AnalysisModel,
    parameters: Sequence[Quantity],
    channels: Sequence[Quantity],
    values: Mapping[str, float | str] | None,
    settings: Mapping[str, Any],
) -> Sensitivity | None:
    """The derivatives of channels of a run by parameters; None where they cannot be found in this
    way."""
    p = plant.loaded.parameter_values(values)
    base_values = [float(q.unit.from_equation_units(p[q.index])) for q in parameters]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each run would warn of the same
        try:
            base_run = _require_finished(plant.simulate(parameters=values, **settings))
            results = [
                _channel_derivatives(plant, q, x, channels, values, settings, base_run)
                for q, x in zip(parameters, base_values, strict=True)
            ]
        except (
            BellcrankError
        ):  # of a parameter that may not have the other value, or a run that ended early
            return None
    derivatives = [x for x in results if x is not None]
    if len(derivatives) < len(parameters):
        return None
    (names, units), (outputs, output_units) = (
        (tuple(q.name for q in group), tuple(q.unit.text for q in group))
        for group in (parameters, channels)
    )
    histories = {q.name: np.asarray(base_run[q.name]) for q in channels}
    fields = names, units, tuple(base_values), outputs, output_units
    return Sensitivity(
        plant.name, base_run.time, *fields, np.stack(derivatives, axis=-1), histories
    )


def _require_finished(run: Run) -> Run:
    if run.status is not RunStatus.FINISHED:
        raise RunError(run.ended)
    return run


def _channel_derivatives(
    plant: AnalysisModel,
    q: Quantity,
    value: float,
    channels: Sequence[Quantity],
    values: Mapping[str, float | str] | None,
    settings: Mapping[str, Any],
    base_run: Run,
) -> np.ndarray | None:
    """Times by channels; None where the two orders disagree."""
    d = PARAMETER_INCREMENT * (abs(value) or 1.0)
    pairs = {}
    for k in SIXTH:
        plus_run, minus_run = (
            _require_finished(
                plant.simulate(parameters={**(values or {}), q.name: value + s * k * d}, **settings)
            )
            for s in (1, -1)
        )
        if not len(plus_run.time) == len(minus_run.time) == len(base_run.time):
            return None
        pairs[k] = np.array([plus_run[c.name] - minus_run[c.name] for c in channels]).T / d
    sixth, fourth = (sum(w * pairs[k] for k, w in weights.items()) for weights in (SIXTH, FOURTH))
    size = np.abs(sixth).max(axis=0, initial=0.0)
    noise = RUN_NOISE * np.array([np.abs(base_run[c.name]).max() for c in channels]) / d
    if not np.all(
        np.abs(sixth - fourth).max(axis=0, initial=0.0) <= AGREEMENT_TOLERANCE * size + noise
    ):
        return None
    return np.asarray(sixth)
