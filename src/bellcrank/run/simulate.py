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
from bellcrank.numeric.steps_told import held_by, stood_in
from bellcrank.run.actions import GivenEvent, read_events
from bellcrank.run.dae_methods import Dae, as_dae
from bellcrank.run.dae_runs import Piece, check_dae, residuals_of
from bellcrank.run.doubts import doubts_of
from bellcrank.run.gimbal import locks_passed
from bellcrank.run.goes_on import first_state, left_behind, origin_of, take_over
from bellcrank.run.loaded import Loaded
from bellcrank.run.outcome import as_run, how_ended, not_finite
from bellcrank.run.prepare import Progress, check_room
from bellcrank.run.ranges import outside
from bellcrank.run.result import Run
from bellcrank.run.rigid import check_rigid
from bellcrank.run.status import OF_CODE, RunStatus
from bellcrank.run.step_limit import step_too_large
from bellcrank.run.stretches import Stretch, Stretches, known_to
from bellcrank.run.tolerances import Absolute, for_start, near_tolerance, through_zero, tolerances_of

if TYPE_CHECKING:
    from bellcrank.run.posed import Motion


def simulate(
    loaded: Loaded,
    t_end: float | None = None,
    step: float | None = None,
    method: str | None = None,
    output_every: int | None = None,
    parameters: Mapping[str, float] | None = None,
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
    origin = origin_of(loaded, start, t_start, initial, parameters, inputs)
    dae = origin.dae if dae is None else as_dae(dae)
    spec = origin.spec(loaded, t_end, step, method, output_every)
    check_room(spec, 1 + len(loaded.interface.channels))
    tolerances = tolerances_of(loaded.interface, spec.method, rtol, atol, origin.tolerances)
    given = read_events(loaded.interface, events, stop, origin.parameters)
    p = loaded.parameter_values(known_to(loaded, origin.parameters, given.used))
    signals = loaded.inputs(origin.inputs, (spec.begins, spec.t_end))
    watch, mechanism = Watch(given.watched), loaded.analysis.mechanism
    contacts = mechanism.description.contacts
    if contacts:
        check_rigid(loaded, spec, dae.usual)
    check_dae(dae, spec, loaded)
    context, kept, carried = loaded.context(), np.zeros(len(loaded.interface.kept)), origin.carried(loaded, p, dae)
    stretches = Stretches(loaded, context, signals, dae, tolerances, watch, given, origin.parameters)
    y = first_state(origin, loaded, stretches.closure(p) if assemble else None, p, signals, spec.begins)
    stretches.tolerances = for_start(tolerances, loaded.interface, p, y, spec.method)
    stretch = Stretch(spec, p, y, carried)
    evaluation, prepared = stretches.ready(stretch, kept)
    stretch.row = take_over(origin.reached, evaluation, stretch.y, carried)
    began = time.perf_counter()
    stretch, evaluation, prepared, rows = stretches.run(stretch, evaluation, prepared, progress)
    seconds = time.perf_counter() - began
    settings = {
        "t_start": spec.begins,
        "t_end": spec.t_end,
        "step": spec.step,
        "method": spec.method,
        "backend": loaded.model.name,
    }
    if library := context.library:
        settings["library"] = library
    settings["seconds"] = seconds
    if loaded.program.loops is not None:
        settings["dae"] = dae.method
    if stretches.interrupted:
        raise _interrupted(loaded, rows, watch, settings)
    if stretches.parameters is not origin.parameters or stretches.tolerances is not origin.tolerances:
        origin = origin._replace(parameters=stretches.parameters, tolerances=stretches.tolerances)
    left = left_behind(prepared, evaluation, stretch.spec, dae, rows, stretches.within, origin)
    n_q = len(loaded.program.coordinates)
    locks = locks_passed(mechanism, rows[:, 0], rows[:, 1 : 1 + n_q]) if rows.shape[1] > n_q else []
    watch.note(Event(x.text, x.time) for x in locks)
    ended = stretches.problem or how_ended(prepared, evaluation, watch, spec.method in ADAPTIVE)
    too_large = (
        "" if contacts else step_too_large(spec, evaluation, stretches.pieces[-1].rows, prepared.run.status == FINISHED)
    )
    if too_large and prepared.run.status == NOT_FINITE:
        ended = ended.replace("try a smaller step", too_large)
    elif too_large and prepared.run.status == NOT_CLOSED:  # the loop is what gives way first, not what is wrong
        ended = f"stopped at t = {prepared.run.time:g} s: {too_large}. So {prepared.run.problem}"
    settings |= stretches.told
    status = OF_CODE[prepared.run.status]
    if watch.stopped is not None:
        status = RunStatus.STOPPED_BY_EVENT
    if stretches.problem:
        status = RunStatus.ACTION_FAILED
    run = as_run(loaded.interface, rows, ended, status, watch, settings)
    run.reached = None if stretches.problem else left
    run.notes = outside(mechanism.description.ranges, loaded.interface, rows)
    run.notes += stood_in(spec.method, settings, stretches.passages)
    run.notes += near_tolerance(stretches.tolerances, loaded.interface, rows) if spec.method in ADAPTIVE else []
    run.find_residuals = residuals_of(loaded, stretches.pieces)
    run.moved = partial(motion, loaded, stretches.pieces, stretches.parameters)
    told = [too_large] if too_large and prepared.run.status == FINISHED else []
    told += held_by(spec.method, settings) + watch.never_counted()
    told += through_zero(stretches.tolerances, loaded.interface, rows) if spec.method in ADAPTIVE else []
    doubts = doubts_of(loaded, stretches.pieces, rows, locks, told)
    for doubt in (*not_finite(run, rows, loaded.interface), *doubts):
        warn(doubt)
    return run


def motion(loaded: Loaded, pieces: Sequence[Piece], parameters: Mapping[str, float] | None) -> Motion:
    """Where bodies were; imported when it is asked for."""
    from bellcrank.run.posed import motion_of

    return motion_of(loaded, pieces, parameters)


def _interrupted(loaded: Loaded, rows: np.ndarray, watch: Watch, settings: dict[str, Any]) -> KeyboardInterrupt:
    """What ends a run after Ctrl-C, with the rows that there are."""
    if not len(rows):
        return KeyboardInterrupt()
    message = f"interrupted at t = {rows[-1, 0]:.6g} s"
    return Interrupted(as_run(loaded.interface, rows, message, RunStatus.INTERRUPTED, watch, settings))
