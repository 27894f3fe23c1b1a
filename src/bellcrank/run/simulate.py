"""A run from its start to its result: `Loaded` and what a user asks for -> `Run`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bellcrank.backend.start import FINISHED, NOT_FINITE
from bellcrank.errors import warn
from bellcrank.numeric.methods import ADAPTIVE, TOLERANCES
from bellcrank.run.closure import closure_of, keeper_of, on_branch
from bellcrank.run.dae_methods import Dae, as_dae
from bellcrank.run.dae_runs import check_dae, dae_evaluation, prepare_dae, residuals_of
from bellcrank.run.gimbal import INSTEAD, locks_passed
from bellcrank.run.goes_on import first_state, origin_of, reached_by, take_over
from bellcrank.run.loaded import Loaded
from bellcrank.run.outcome import as_run, how_ended, left_tables, not_finite, watch_for
from bellcrank.run.prepare import Progress, check_room, prepare, take_steps
from bellcrank.run.result import Run
from bellcrank.run.rigid import check_rigid, prepare_rigid
from bellcrank.run.step_limit import step_too_large
from bellcrank.run.stepping import Evaluation
from bellcrank.run.values import tolerances_of


def simulate(
    loaded: Loaded,
    t_end: float | None = None,
    step: float | None = None,
    method: str | None = None,
    output_every: int | None = None,
    parameters: Mapping[str, float] | None = None,
    initial: Mapping[Any, float] | tuple[Sequence[float], Sequence[float]] | None = None,
    inputs: Mapping[str, Any] | None = None,
    rtol: float = TOLERANCES[0],
    atol: float = TOLERANCES[1],
    events: Mapping[str, Any] | None = None,
    stop: Iterable[str] | str = (),
    progress: Progress | None = None,
    dae: str | Dae | None = None,
    assemble: bool = True,
    t_start: float | None = None,
    start: Run | None = None,
) -> Run:
    """Integrates over a span of time; arguments as of `Simulation.simulate`. All that changes is in its own context."""
    origin = origin_of(loaded, start, t_start, initial, parameters, inputs)
    dae = origin.dae if dae is None else as_dae(dae)
    plan = origin.plan(loaded, t_end, step, method, output_every)
    check_room(plan, 1 + len(loaded.interface.channels))
    tolerances = tolerances_of(plan, rtol, atol)
    p = loaded.parameter_values(origin.parameters)
    signals = loaded.inputs(origin.inputs, (plan.begins, plan.t_end))
    watch = watch_for(loaded, events, stop, origin.parameters)
    mechanism = loaded.analysis.mechanism
    contacts = mechanism.description.contacts
    if contacts:
        check_rigid(loaded, plan, dae.usual)
    check_dae(dae, plan, loaded)
    context, kept, carried = loaded.context(), np.zeros(len(loaded.interface.kept)), origin.carried(loaded, p, dae)
    closure = None if loaded.program.loops is None else closure_of(context.python, p, signals)
    y = first_state(origin, loaded, closure if assemble else None, p, signals, plan.begins)
    keeper = None
    if closure is not None:
        weights = None if carried is None else carried.weights
        keeper = keeper_of(closure, context.python, y, p, signals, kept, dae.staged, plan.begins, weights)
        if dae.usual and (carried is None or carried.inside is None):
            y = on_branch(keeper, plan.begins, y, loaded.interface)
    evaluation = Evaluation(context, p, loaded.constants(p), signals, kept, keeper)
    row = take_over(origin.reached, evaluation, y, carried)
    watch.begin(plan.first, row)
    if contacts:
        prepared = prepare_rigid(contacts, plan, evaluation, y, watch, carried)
    elif dae.usual:
        prepared = prepare(plan, evaluation, y, watch, tolerances, carried)
    else:
        evaluation = inside = dae_evaluation(plan, evaluation, dae)
        prepared = prepare_dae(plan, inside, y, watch, carried)
    began = time.perf_counter()
    rows = take_steps(prepared, watch, progress)
    if row is not None:
        rows = np.vstack([row[None, :], rows]) if len(rows) else row[None, :]
    seconds = time.perf_counter() - began
    context.set_live(0)
    reached = reached_by(prepared, evaluation, plan, dae, rows, watch.stopped is not None, origin)
    watch.passed(prepared.run.passages)
    n_q = len(loaded.program.coordinates)
    locks = locks_passed(mechanism, rows[:, 0], rows[:, 1 : 1 + n_q]) if rows.shape[1] > n_q else []
    watch.locked(locks)
    ended = how_ended(prepared, evaluation, watch, plan.method in ADAPTIVE)
    too_large = "" if contacts else step_too_large(plan, evaluation, rows)
    if too_large and prepared.run.status == NOT_FINITE:
        ended = ended.replace("try a smaller step", too_large)
    settings = {
        "t_start": plan.begins,
        "t_end": plan.t_end,
        "step": plan.step,
        "method": plan.method,
        "backend": loaded.model.name,
    }
    settings |= {"seconds": seconds} | ({} if closure is None else {"dae": dae.method})
    settings |= prepared.told()
    run = as_run(loaded.interface, rows, ended, watch, settings)
    run.reached = reached
    run.find_residuals = residuals_of(loaded, rows, p, evaluation.c)
    doubts = loaded.table_watch.asked_beyond(rows, p, evaluation.c)
    doubts += [f"the run is doubtful after {x.text} at t = {x.time:.6g} s; {INSTEAD}" for x in locks]
    doubts += [too_large] if too_large and prepared.run.status == FINISHED else []
    left = left_tables(run, mechanism.bodies, loaded.interface)
    for doubt in (*not_finite(run, loaded.interface), *doubts, *left):
        warn(doubt)
    return run
