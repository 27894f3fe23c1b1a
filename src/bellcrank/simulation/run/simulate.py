"""A run from its start to its result: `LoadedModel` and what a user asks for -> `Run`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.core.errors import Interrupted, issue_warning, require_callback
from bellcrank.core.numeric.event_log import Event, EventLog
from bellcrank.core.numeric.fixed_step_methods import ADAPTIVE
from bellcrank.core.numeric.run_spec import FINISHED, NOT_CLOSED, NOT_FINITE
from bellcrank.core.numeric.step_report import stiff_fallback_message, stiffness_message
from bellcrank.simulation.run.checkpoint import initial_conditions
from bellcrank.simulation.run.dae_methods import Dae, to_dae
from bellcrank.simulation.run.dae_runs import RunSegment, residual_function
from bellcrank.simulation.run.event_specs import EventRecord, make_event_specs
from bellcrank.simulation.run.gimbal import find_gimbal_locks
from bellcrank.simulation.run.initial_assembly import large_angle_notes
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.simulation.run.memory_limits import check_result_memory
from bellcrank.simulation.run.outcome import make_run, nonfinite_output_messages
from bellcrank.simulation.run.post_run_checks import (
    lost_parameter_messages,
    post_run_checks,
    range_messages,
    sampling_messages,
)
from bellcrank.simulation.run.result import Run
from bellcrank.simulation.run.session import Progress, RunSession
from bellcrank.simulation.run.status import OF_CODE, RunStatus
from bellcrank.simulation.run.step_size_check import step_size_message
from bellcrank.simulation.run.tolerances import (
    Absolute,
    loose_atol_messages,
    resolve_tolerances,
    zero_crossing_messages,
)

if TYPE_CHECKING:
    from bellcrank.simulation.run.body_poses import RecordedMotion


def simulate(
    loaded: LoadedModel,
    t_end: float | None = None,
    step: float | None = None,
    method: str | None = None,
    output_every: int | None = None,
    parameters: Mapping[str, float | str] | None = None,
    initial: Mapping[Any, float] | tuple[Sequence[float], Sequence[float]] | None = None,
    inputs: Mapping[str, Any] | None = None,
    rtol: float | None = None,
    atol: Absolute | None = None,
    events: Mapping[str, Any] | Sequence[EventRecord] | None = None,
    stop: Iterable[str] | str | None = (),
    progress: Progress | None = None,
    dae: str | Dae | None = None,
    assemble: bool = True,
    t_start: float | None = None,
    start: Run | None = None,
) -> Run:
    """Integrates over a span of time; arguments as of `Simulation.simulate`. All that changes is in
    its own context."""
    require_callback(progress, "progress", "the share done")
    conditions = initial_conditions(loaded, start, t_start, initial, parameters, inputs)
    dae = conditions.dae if dae is None else to_dae(dae)
    spec = conditions.make_spec(loaded, t_end, step, method, output_every)
    check_result_memory(spec, 1 + len(loaded.interface.channels))
    tolerances = resolve_tolerances(
        loaded.interface, spec.method, rtol, atol, conditions.tolerances
    )
    event_specs = make_event_specs(loaded.interface, events, stop, conditions.parameters)
    session = RunSession(loaded, conditions, spec, event_specs, dae, tolerances, assemble)
    began = time.perf_counter()
    rows = session.run_to_end(progress)
    seconds = time.perf_counter() - began
    settings = {
        "t_start": spec.begin_time,
        "t_end": spec.t_end,
        "step": spec.step,
        "method": spec.method,
        "backend": loaded.model.name,
    }
    if library := session.context.library_history:
        settings["library"] = library
    settings["seconds"] = seconds
    if loaded.program.loops is not None:
        settings["dae"] = dae.method
    if session.interrupted:
        raise _interrupt_error(loaded, rows, session.event_log, settings)
    make_checkpoint, kernel_run, watch = (
        session.checkpoint_function(rows),
        session.run,
        session.event_log,
    )
    mechanism, status = loaded.analysis.mechanism, OF_CODE[session.run.status]
    n_q = len(loaded.program.coordinates)
    locks = (
        find_gimbal_locks(mechanism, rows[:, 0], rows[:, 1 : 1 + n_q])
        if rows.shape[1] > n_q
        else []
    )
    watch.add_events(Event(x.text, x.time) for x in locks)
    end_message = session.end_message()
    too_large = (
        ""
        if mechanism.description.rigid_contacts
        else step_size_message(
            spec, session.evaluation, session.segments[-1].rows, kernel_run.status == FINISHED
        )
    )
    if too_large and kernel_run.status == NOT_FINITE:
        end_message = end_message.replace("try a smaller step", too_large)
    elif (
        too_large and kernel_run.status == NOT_CLOSED
    ):  # the loop is what gives way first, not what is wrong
        end_message = f"stopped at t = {kernel_run.time:g} s: {too_large}. So {kernel_run.problem}"
    settings |= session.statistics
    if watch.stop_event is not None:
        status = RunStatus.STOPPED_BY_EVENT
    if session.problem:
        status = RunStatus.ACTION_FAILED
    run = make_run(loaded.interface, rows, end_message, status, watch, settings)
    run._find_checkpoint = make_checkpoint
    run.notes = range_messages(mechanism.description.ranges, loaded.interface, rows)
    if start is None:
        run.notes += large_angle_notes(loaded.interface, mechanism.description.run.initial, initial)
    run.notes += stiff_fallback_message(spec.method, settings, session.singular_passages)
    run.notes += (
        loose_atol_messages(session.tolerances, loaded.interface, rows)
        if spec.method in ADAPTIVE
        else []
    )
    run.find_residuals = residual_function(loaded, session.segments)
    run._find_motion = partial(deferred_motion, loaded, session.segments, session.parameters)
    messages = [too_large] if too_large and kernel_run.status == FINISHED else []
    messages += stiffness_message(spec.method, settings) + watch.never_triggered_messages()
    messages += sampling_messages(loaded, spec) + lost_parameter_messages(
        start, event_specs, parameters
    )
    messages += (
        zero_crossing_messages(session.tolerances, loaded.interface, rows)
        if spec.method in ADAPTIVE
        else []
    )
    check_messages = post_run_checks(loaded, session.segments, rows, locks, messages)
    for message in (*nonfinite_output_messages(run, rows, loaded.interface), *check_messages):
        issue_warning(message)
    return run


def deferred_motion(
    loaded: LoadedModel,
    segments: Sequence[RunSegment],
    parameters: Mapping[str, float | str] | None,
) -> RecordedMotion:
    """Where bodies were; imported when it is asked for."""
    from bellcrank.simulation.run.body_poses import recorded_motion

    return recorded_motion(loaded, segments, parameters)


def _interrupt_error(
    loaded: LoadedModel, rows: np.ndarray, watch: EventLog, settings: dict[str, Any]
) -> KeyboardInterrupt:
    """What ends a run after Ctrl-C, with the rows that there are."""
    if not len(rows):
        return KeyboardInterrupt()
    message = f"interrupted at t = {rows[-1, 0]:.6g} s"
    return Interrupted(
        make_run(loaded.interface, rows, message, RunStatus.INTERRUPTED, watch, settings)
    )
