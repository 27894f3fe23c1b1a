"""Runs of a study: driven at once by compiled code, each with the bits and the warnings that
`simulate` has of it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.core.errors import BellcrankError, ModelWarning
from bellcrank.core.metrics.metric_kinds import mean
from bellcrank.core.numeric.fixed_step_methods import ADAPTIVE
from bellcrank.core.numeric.run_spec import FINISHED, RunSpec
from bellcrank.mechanics.interface.interface import Quantity
from bellcrank.simulation.backend.c_batch import BatchBuffers
from bellcrank.simulation.many.batch_metrics import BatchMetric
from bellcrank.simulation.many.batch_values import GROUPS, BatchValues
from bellcrank.simulation.many.initial_states import make_initial_states, new_run_session
from bellcrank.simulation.many.simulate_many import (
    BatchRequest,
    compiled_obstacle,
    driver_obstacle,
    run_compiled,
)
from bellcrank.simulation.run.dae_methods import Dae
from bellcrank.simulation.run.dae_runs import RunSegment, check_dae
from bellcrank.simulation.run.gimbal import find_gimbal_locks
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.simulation.run.post_run_checks import post_run_checks
from bellcrank.simulation.run.rigid import check_rigid_run
from bellcrank.simulation.run.step_size_check import step_size_message

if TYPE_CHECKING:
    from numpy.typing import NDArray

BYTES = 2**26  # of histories that are held at a time


@dataclass(frozen=True)
class CompletedRun:
    """A run that finished: times, histories by channel in user units, and warnings of its
    checks."""

    time: NDArray[np.float64]
    channels: Mapping[str, NDArray[np.float64]]
    notes: Sequence[str]


def max_batch_size(loaded: LoadedModel, spec: RunSpec, channels: int) -> int:
    """Runs whose histories there is room for."""
    width = channels + loaded.n_states + len(loaded.interface.inputs)
    return max(1, int(BYTES // (8 * width * (spec.n_steps // spec.output_every + 2))))


def to_batch_values(options: Sequence[Mapping[str, Mapping[Any, Any]]]) -> BatchValues:
    """What runs are given, each by a mapping with the groups that `simulate` takes; all give the
    same names."""
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
    return BatchValues(len(options), shared, varied)


def run_study_batch(
    loaded: LoadedModel,
    spec: RunSpec,
    batch_values: BatchValues,
    channels: Sequence[Quantity],
    threads: int,
) -> list[CompletedRun | None]:
    """Every run that finishes; None for one that must be done by itself, as it ends otherwise or
    Python drives it."""
    outputs = [x for x in loaded.interface.outputs if x not in channels]
    columns = (
        range(1, 1 + loaded.n_states)
        if not loaded.program.tables
        else range(1, loaded.interface.row_width)
    )
    request = BatchRequest(
        loaded,
        spec,
        batch_values,
        [*channels],
        [BatchMetric(x, mean, None, mean.name) for x in outputs],
        tuple(columns),
    )
    nothing: list[CompletedRun | None] = [None] * batch_values.n_runs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # they come again as each run is looked at
        try:
            if loaded.analysis.mechanism.description.rigid_contacts:
                check_rigid_run(loaded, spec, True)
            check_dae(Dae(), spec, loaded)
            if compiled_obstacle(request) or spec.method in ADAPTIVE:
                return nothing
            initial_states = make_initial_states(loaded, spec, batch_values)
            if driver_obstacle(request, initial_states):
                return nothing
        except BellcrankError:  # of one of the runs: it will be reported by itself
            return nothing
        results = BatchBuffers(
            batch_values.n_runs, len(request.times), loaded.n_states, request.output_selection
        )
        run_compiled(request, initial_states, results, None, threads)
    is_complete = (results.status == FINISHED) & np.isfinite(results.metrics).all(axis=0)
    return [
        _completed_run(request, results, run) if ok else None
        for run, ok in enumerate(is_complete.tolist())
    ]


def _completed_run(request: BatchRequest, results: BatchBuffers, run: int) -> CompletedRun | None:
    """A run with its warnings; None if it has no value somewhere."""
    loaded, spec, times, histories = (
        request.loaded,
        request.spec,
        request.times,
        results.histories[:, run],
    )
    count = len(request.channels)
    if not np.isfinite(histories[:count]).all():
        return None
    by_column = np.full((loaded.interface.row_width, len(times)), np.nan)
    by_column[0], by_column[list(request.columns)] = times, histories[count:]
    rows, mechanism = by_column.T, loaded.analysis.mechanism
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        evaluation = new_run_session(loaded, spec, request.values, run).evaluation
    locks = find_gimbal_locks(mechanism, times, rows[:, 1 : 1 + loaded.n_q])
    too_large = (
        "" if mechanism.description.rigid_contacts else step_size_message(spec, evaluation, rows)
    )
    segments = [RunSegment(rows, evaluation.p, evaluation.c)]
    check_messages = post_run_checks(
        loaded, segments, rows, locks, [too_large] if too_large else []
    )
    start_messages = [str(w.message) for w in caught if issubclass(w.category, ModelWarning)]
    channels = {x.name: histories[i] for i, x in enumerate(request.channels)}
    return CompletedRun(times, channels, list(dict.fromkeys([*start_messages, *check_messages])))
