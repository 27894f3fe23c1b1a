"""Sensitivities of runs with closed loops by differences of sixth order: six runs for each parameter.

In closed loops a step of the forward derivatives costs as much as hundreds of steps of a compiled run. Differences of
runs have the same accuracy wherever a run depends smoothly on a parameter. Differences of fourth order, from the same
runs, show whether it does: where both disagree, the caller takes the forward derivatives.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bellcrank.analysis.plant import Plant
from bellcrank.analysis.sensitivity import Sensitivity
from bellcrank.errors import BellcrankError, RunError
from bellcrank.interface.interface import Quantity
from bellcrank.run.result import Run
from bellcrank.run.status import RunStatus

APART = 1e-3  # between runs, relative to the parameter
SIXTH, FOURTH = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}, {1: 8 / 12, 2: -1 / 12}
NEAR = 1e-8  # difference of both orders, relative to the largest derivative of a channel
NOISE = 1e-12  # of a run, relative to the largest value of a channel


def differences(
    plant: Plant,
    chosen: Sequence[Quantity],
    channels: Sequence[Quantity],
    values: Mapping[str, float | str] | None,
    settings: Mapping[str, Any],
) -> Sensitivity | None:
    """The derivatives of channels of a run by parameters; None where they cannot be found in this way."""
    p = plant.loaded.parameter_values(values)
    at = [float(q.unit.from_equation(p[q.place])) for q in chosen]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each run would warn of the same
        try:
            whole = _finished(plant.simulate(parameters=values, **settings))
            found = [
                _derivatives(plant, q, x, channels, values, settings, whole) for q, x in zip(chosen, at, strict=True)
            ]
        except BellcrankError:  # of a parameter that may not have the other value, or a run that ended early
            return None
    derivatives = [x for x in found if x is not None]
    if len(derivatives) < len(chosen):
        return None
    (names, units), (outputs, output_units) = (
        (tuple(q.name for q in group), tuple(q.unit.text for q in group)) for group in (chosen, channels)
    )
    histories = {q.name: np.asarray(whole[q.name]) for q in channels}
    parts = names, units, tuple(at), outputs, output_units
    return Sensitivity(plant.name, whole.time, *parts, np.stack(derivatives, axis=-1), histories)


def _finished(run: Run) -> Run:
    if run.status is not RunStatus.FINISHED:
        raise RunError(run.ended)
    return run


def _derivatives(
    plant: Plant,
    q: Quantity,
    value: float,
    channels: Sequence[Quantity],
    values: Mapping[str, float | str] | None,
    settings: Mapping[str, Any],
    whole: Run,
) -> np.ndarray | None:
    """Times by channels; None where the two orders disagree."""
    d = APART * (abs(value) or 1.0)
    pairs = {}
    for k in SIXTH:
        up, down = (
            _finished(plant.simulate(parameters={**(values or {}), q.name: value + s * k * d}, **settings))
            for s in (1, -1)
        )
        if not len(up.time) == len(down.time) == len(whole.time):
            return None
        pairs[k] = np.array([up[c.name] - down[c.name] for c in channels]).T / d
    sixth, fourth = (sum(w * pairs[k] for k, w in weights.items()) for weights in (SIXTH, FOURTH))
    size = np.abs(sixth).max(axis=0, initial=0.0)
    noise = NOISE * np.array([np.abs(whole[c.name]).max() for c in channels]) / d
    if not np.all(np.abs(sixth - fourth).max(axis=0, initial=0.0) <= NEAR * size + noise):
        return None
    return np.asarray(sixth)
