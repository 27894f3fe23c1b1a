"""A run from its start to its result: `Loaded` and what a user asks for -> `Run`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.errors import Interrupted, check_called, warn
from bellcrank.numeric.events import Event, Watch
from bellcrank.numeric.methods import ADAPTIVE
from bellcrank.numeric.run_spec import FINISHED, NOT_CLOSED, NOT_FINITE
from bellcrank.numeric.step_report import held_by, stood_in
from bellcrank.run.actions import GivenEvent, read_events
from bellcrank.run.checkpoint import initial_conditions
from bellcrank.run.dae_methods import Dae, as_dae
from bellcrank.run.dae_runs import Piece, residuals_of
from bellcrank.run.gimbal import locks_passed
from bellcrank.run.loaded import Loaded
from bellcrank.run.memory import check_room
from bellcrank.run.outcome import as_run, not_finite
from bellcrank.run.post_run_checks import lost_settings, outside, post_run_checks, sampled_at_outputs
from bellcrank.run.result import Run
from bellcrank.run.session import Progress, Session
from bellcrank.run.status import OF_CODE, RunStatus
from bellcrank.run.step_limit import step_too_large
from bellcrank.run.tolerances import Absolute, near_tolerance, through_zero, tolerances_of

if TYPE_CHECKING:
    from bellcrank.run.body_motion import Motion


def simulate(
    loaded: Loaded,
    t_end: float | None = None,
    step: float | None = None,
    method: str | None = None,
    output_every: int | None = None,
    parameters: Mapping[str, float | str] | None = None,
    initial: Mapping[Any, float] | tuple[Sequence[float], Sequence[float]] | None = None,
    inputs: Mapping[str, Any] | None = None,
    rtol: float | None = None,
    atol: Absolute | None = None,
    events: Mapping[str, Any] | Sequence[GivenEvent] | None = None,
    stop: Iterable[str] | str | None = (),
    progress: Progress | None = None,
    dae: str | Dae | None = None,
    assemble: bool = True,
    t_start: float | None = None,
    start: Run | None = None,
) -> Run:
    """Integrates over a span of time; arguments as of `Simulation.simulate`. All that changes is in its own context."""
    check_called(progress, "progress", "the share done")
    conditions = initial_conditions(loaded, start, t_start, initial, parameters, inputs)
    dae = conditions.dae if dae is None else as_dae(dae)
    spec = conditions.spec(loaded, t_end, step, method, output_every)
    check_room(spec, 1 + len(loaded.interface.channels))
    tolerances = tolerances_of(loaded.interface, spec.method, rtol, atol, conditions.tolerances)
    event_specs = read_events(loaded.interface, events, stop, conditions.parameters)
    session = Session(loaded, conditions, spec, event_specs, dae, tolerances, assemble)
    began = time.perf_counter()
    rows = session.finish(progress)
    seconds = time.perf_counter() - began
    settings = {
        "t_start": spec.begins,
        "t_end": spec.t_end,
        "step": spec.step,
        "method": spec.method,
        "backend": loaded.model.name,
    }
    if library := session.context.library:
        settings["library"] = library
    settings["seconds"] = seconds
    if loaded.program.loops is not None:
        settings["dae"] = dae.method
    if session.interrupted:
        raise _interrupted(loaded, rows, session.watch, settings)
    make_checkpoint, kernel_run, watch = session.left(rows), session.run, session.watch
    mechanism, status = loaded.analysis.mechanism, OF_CODE[session.run.status]
    n_q = len(loaded.program.coordinates)
    locks = locks_passed(mechanism, rows[:, 0], rows[:, 1 : 1 + n_q]) if rows.shape[1] > n_q else []
    watch.note(Event(x.text, x.time) for x in locks)
    end_message = session.how_ended()
    too_large = (
        ""
        if mechanism.description.contacts
        else step_too_large(spec, session.evaluation, session.pieces[-1].rows, kernel_run.status == FINISHED)
    )
    if too_large and kernel_run.status == NOT_FINITE:
        end_message = end_message.replace("try a smaller step", too_large)
    elif too_large and kernel_run.status == NOT_CLOSED:  # the loop is what gives way first, not what is wrong
        end_message = f"stopped at t = {kernel_run.time:g} s: {too_large}. So {kernel_run.problem}"
    settings |= session.figures
    if watch.stopped is not None:
        status = RunStatus.STOPPED_BY_EVENT
    if session.problem:
        status = RunStatus.ACTION_FAILED
    run = as_run(loaded.interface, rows, end_message, status, watch, settings)
    run.reached = make_checkpoint
    run.notes = outside(mechanism.description.ranges, loaded.interface, rows)
    run.notes += stood_in(spec.method, settings, session.passages)
    run.notes += near_tolerance(session.tolerances, loaded.interface, rows) if spec.method in ADAPTIVE else []
    run.find_residuals = residuals_of(loaded, session.pieces)
    run.moved = partial(motion, loaded, session.pieces, session.parameters)
    messages = [too_large] if too_large and kernel_run.status == FINISHED else []
    messages += held_by(spec.method, settings) + watch.never_counted()
    messages += sampled_at_outputs(loaded, spec) + lost_settings(start, event_specs, parameters)
    messages += through_zero(session.tolerances, loaded.interface, rows) if spec.method in ADAPTIVE else []
    check_messages = post_run_checks(loaded, session.pieces, rows, locks, messages)
    for message in (*not_finite(run, rows, loaded.interface), *check_messages):
        warn(message)
    return run


def motion(loaded: Loaded, segments: Sequence[Piece], parameters: Mapping[str, float | str] | None) -> Motion:
    """Where bodies were; imported when it is asked for."""
    from bellcrank.run.body_motion import motion_of

    return motion_of(loaded, segments, parameters)


def _interrupted(loaded: Loaded, rows: np.ndarray, watch: Watch, settings: dict[str, Any]) -> KeyboardInterrupt:
    """What ends a run after Ctrl-C, with the rows that there are."""
    if not len(rows):
        return KeyboardInterrupt()
    message = f"interrupted at t = {rows[-1, 0]:.6g} s"
    return Interrupted(as_run(loaded.interface, rows, message, RunStatus.INTERRUPTED, watch, settings))
