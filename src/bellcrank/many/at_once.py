"""Runs of a study: driven at once by compiled code, each with the bits and the warnings that `simulate` has of it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.backend.c_many import Results
from bellcrank.errors import BellcrankError, ModelWarning
from bellcrank.interface.interface import Quantity
from bellcrank.many.figures import Figure
from bellcrank.many.given import GROUPS, Given
from bellcrank.many.initial_states import ready_run, starts_of
from bellcrank.many.many import Asked, not_driven, not_in_c, run_on_cores
from bellcrank.metrics.kinds import mean
from bellcrank.numeric.methods import ADAPTIVE
from bellcrank.numeric.run_spec import FINISHED, RunSpec
from bellcrank.run.dae_methods import Dae
from bellcrank.run.dae_runs import Piece, check_dae
from bellcrank.run.gimbal import locks_passed
from bellcrank.run.loaded import Loaded
from bellcrank.run.post_run_checks import post_run_checks
from bellcrank.run.rigid import check_rigid
from bellcrank.run.step_limit import step_too_large

BYTES = 2**26  # of histories that are held at a time


@dataclass(frozen=True)
class Finished:
    """A run that finished: times, histories by channel in user units, and warnings of its checks."""

    time: np.ndarray
    channels: Mapping[str, np.ndarray]
    notes: Sequence[str]


def most_at_once(loaded: Loaded, spec: RunSpec, channels: int) -> int:
    """Runs whose histories there is room for."""
    width = channels + loaded.n_states + len(loaded.interface.inputs)
    return max(1, int(BYTES // (8 * width * (spec.steps // spec.every + 2))))


def given_runs(options: Sequence[Mapping[str, Mapping[Any, Any]]]) -> Given:
    """What runs are given, each by a mapping with the groups that `simulate` takes; all give the same names."""
    shared: dict[str, dict[Any, Any]] = {g: {} for g in GROUPS}
    varied: dict[str, dict[Any, Any]] = {g: {} for g in GROUPS}
    for group in GROUPS:
        for name, first in options[0][group].items():
            values = [x[group][name] for x in options]
            numbers = all(isinstance(v, int | float) for v in values)
            if all(v is first for v in values) or (numbers and all(v == first for v in values)):
                shared[group][name] = first
            else:
                varied[group][name] = np.array(values, dtype=float) if numbers else values
    return Given(len(options), shared, varied)


def at_once(
    loaded: Loaded, spec: RunSpec, batch_values: Given, channels: Sequence[Quantity], threads: int
) -> list[Finished | None]:
    """Every run that finishes; None for one that must be done by itself, as it ends otherwise or Python drives it."""
    outputs = [x for x in loaded.interface.outputs if x not in channels]
    columns = range(1, 1 + loaded.n_states) if not loaded.program.tables else range(1, loaded.interface.width)
    request = Asked(
        loaded, spec, batch_values, [*channels], [Figure(x, mean, None, mean.name) for x in outputs], tuple(columns)
    )
    nothing: list[Finished | None] = [None] * batch_values.n
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # they come again as each run is looked at
        try:
            if loaded.analysis.mechanism.description.contacts:
                check_rigid(loaded, spec, True)
            check_dae(Dae(), spec, loaded)
            if not_in_c(request) or spec.method in ADAPTIVE:
                return nothing
            initial_states = starts_of(loaded, spec, batch_values)
            if not_driven(request, initial_states):
                return nothing
        except BellcrankError:  # of one of the runs: it will be reported by itself
            return nothing
        results = Results(batch_values.n, len(request.times), loaded.n_states, request.wanted)
        run_on_cores(request, initial_states, results, None, threads)
    is_complete = (results.status == FINISHED) & np.isfinite(results.figures).all(axis=0)
    return [_finished(request, results, run) if ok else None for run, ok in enumerate(is_complete.tolist())]


def _finished(request: Asked, results: Results, run: int) -> Finished | None:
    """A run with its warnings; None if it has no value somewhere."""
    loaded, spec, times, histories = request.loaded, request.spec, request.times, results.kept[:, run]
    count = len(request.kept)
    if not np.isfinite(histories[:count]).all():
        return None
    by_column = np.full((loaded.interface.width, len(times)), np.nan)
    by_column[0], by_column[list(request.columns)] = times, histories[count:]
    rows, mechanism = by_column.T, loaded.analysis.mechanism
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        evaluation = ready_run(loaded, spec, request.given, run).evaluation
    locks = locks_passed(mechanism, times, rows[:, 1 : 1 + loaded.n_q])
    too_large = "" if mechanism.description.contacts else step_too_large(spec, evaluation, rows)
    segments = [Piece(rows, evaluation.p, evaluation.c)]
    check_messages = post_run_checks(loaded, segments, rows, locks, [too_large] if too_large else [])
    start_messages = [str(w.message) for w in caught if issubclass(w.category, ModelWarning)]
    channels = {x.name: histories[i] for i, x in enumerate(request.kept)}
    return Finished(times, channels, list(dict.fromkeys([*start_messages, *check_messages])))
