"""How a run ended in a message, and its rows as channels in user units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bellcrank.core.errors import RunError
from bellcrank.core.numeric.event_log import EventLog
from bellcrank.core.numeric.fixed_step_methods import ADAPTIVE
from bellcrank.core.numeric.run_spec import (
    AT_REST,
    FINISHED,
    NOT_CLOSED,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
    ProgramInput,
    RunSpec,
)
from bellcrank.mechanics.interface.interface import Interface
from bellcrank.simulation.run.failure_diagnosis import (
    FailurePoint,
    largest_term,
    nonfinite_term,
    zero_length_strut,
)
from bellcrank.simulation.run.gimbal import INSTEAD, gimbal_lock_messages
from bellcrank.simulation.run.result import Run
from bellcrank.simulation.run.status import RunStatus
from bellcrank.simulation.run.stepping import RunEvaluation, SteppableRun

NAMED = 3  # outputs that a message names


def end_message(run: SteppableRun, e: RunEvaluation, event_log: EventLog, spec: RunSpec) -> str:
    """The message that says how a run ended."""
    if event_log.stop_event is not None:
        return (
            f"stopped by event '{event_log.stop_event.name}' at t = "
            f"{event_log.stop_event.time:.6g} s"
        )
    adaptive = spec.method in ADAPTIVE
    h = spec.step * spec.output_every if adaptive else spec.step
    if run.status == FINISHED:
        return "finished"
    t = run.time
    if run.status == NOT_CLOSED:
        return (
            f"stopped at t = {t:g} s: {run.problem}. A position where the constraints lock? "
            f"Else try a smaller step"
        )
    if run.status == AT_REST:
        return f"stopped at t = {t:g} s: {run.problem}"
    loaded = e.context.loaded
    states = [x.name for x in loaded.interface.states]
    nonfinite = [
        name for name, v in zip(states, run.nonfinite_state, strict=True) if not np.isfinite(v)
    ]
    numbers = dict(zip(states, map(float, run.state), strict=True))
    named_values = _values_by_name(loaded.interface, t, e.p, e.inputs)
    joint_messages = (
        b.joint.left(b.name, numbers, h, named_values) for b in loaded.analysis.mechanism.bodies
    )
    if joint_message := next(filter(None, joint_messages), ""):
        return f"stopped at t = {t:g} s: {joint_message}"
    if locked := gimbal_lock_messages(
        loaded.analysis.mechanism, run.state[: len(loaded.program.coordinates)]
    ):
        return (
            f"stopped at t = {t:g} s: {locked[0]}, where the rates of its angles are not "
            f"determined; {INSTEAD}"
        )
    is_step_limited = run.status in (STEP_TOO_SMALL, TOO_MANY_STEPS)
    if is_step_limited:
        reason = run.problem
    elif run.problem:
        reason = f"the rates of the states cannot be evaluated any more ({run.problem})"
    else:
        listed = ", ".join(nonfinite[:4]) + (
            f" and {len(nonfinite) - 4} more" if len(nonfinite) > 4 else ""
        )
        one, several = "is no longer a finite number", "are no longer finite numbers"
        reason = f"{listed} {one if len(nonfinite) == 1 else several}"
    time_after = t + 1e-9 * max(abs(t), h) if adaptive else t  # where its steps became too small
    broken = run.status != TOO_MANY_STEPS
    likely = (
        _diagnose_step(
            replace(e, sampled_values=run.sampled_values),
            run.state,
            (max(t - h, spec.begin_time), t, time_after),
        )
        if broken
        else ""
    )
    return "; ".join(
        x
        for x in (
            f"stopped at t = {t:g} s: {reason}",
            likely,
            "" if is_step_limited or adaptive else "try a smaller step",
        )
        if x
    )


def _values_by_name(
    interface: Interface, t: float, p: Sequence[float], signals: Sequence[ProgramInput]
) -> dict[str, float]:
    """Parameters, inputs and time by name, in equation units."""
    parameters = (*interface.parameters, *interface.function_parameters)
    values = dict(zip((x.name for x in parameters), p, strict=True)) | {"t": t}
    for x, signal in zip(interface.inputs, signals, strict=True):
        try:
            values[x.name] = signal.function(t)
        except RunError:
            continue
    return values


def failure_point(e: RunEvaluation, t: float, y: np.ndarray) -> FailurePoint:
    """A time and state as it is diagnosed."""
    t, q, u, p, _, w = e.program_arguments(t, y)
    names = (s.name for s in e.model.program.parameters)
    return FailurePoint(
        e.model.program, t, q, u, dict(zip(names, p, strict=True)), w, e.context.functions_by_name
    )


def _diagnose_step(e: RunEvaluation, y: np.ndarray, times: tuple[float, float, float]) -> str:
    """What broke in a step from the state y; `times`: before it, at its end, and where its steps
    became too small."""
    t_before, t, t_after = times
    cause, analysis = "", e.context.loaded.analysis
    for time in (t_before, (t_before + t) / 2, t, t_after):  # what breaks may do so within the step
        try:
            point = failure_point(e, time, y)
        except RunError:
            break
        if broken := zero_length_strut(point, analysis) or nonfinite_term(point, analysis.loads):
            return broken
        cause = cause or largest_term(point, analysis.loads)
    return cause


def nonfinite_output_messages(run: Run, rows: np.ndarray, interface: Interface) -> list[str]:
    """Messages about outputs that have no value somewhere: one for each, or for many that lose
    theirs together."""
    if np.isfinite(rows).all():
        return []
    names_by_rows: dict[tuple[int, ...], list[str]] = {}
    for name in (x.name for x in interface.outputs):
        nonfinite = np.flatnonzero(~np.isfinite(run[name]))
        if len(nonfinite):
            names_by_rows.setdefault(tuple(nonfinite.tolist()), []).append(name)
    messages = []
    if not run.status.ok:  # where it stopped, for a reason that `run.ended` names
        names_by_rows.pop((len(rows) - 1,), None)
    for row_indices, names in names_by_rows.items():
        first = row_indices[0]
        times = f"t = {run.time[first]:.6g} s" + (
            f" and {len(row_indices) - 1} more times" if len(row_indices) > 1 else ""
        )
        if len(names) > NAMED:
            listed = ", ".join(f"'{name}'" for name in names[:NAMED])
            messages.append(
                f"outputs {listed} and {len(names) - NAMED} more are not finite at {times}"
            )
        else:
            messages += [
                f"output '{name}' is not finite at {times}: {run[name][first]}" for name in names
            ]
    return messages


def make_run(
    interface: Interface,
    rows: np.ndarray,
    message: str,
    status: RunStatus,
    event_log: EventLog,
    settings: dict[str, Any],
) -> Run:
    """Rows of time, states and outputs as a result in user units."""
    if rows.shape[1] < 2:  # not even the first row could be evaluated
        rows = np.empty((0, interface.row_width))
    names, columns, factors = interface.channel_columns
    selected = rows.T[columns]  # below, each channel in one piece
    values = (
        np.array(selected, order="C")
        if factors is None
        else np.divide(selected, factors, order="C")
    )
    channels = dict(zip(names, values, strict=True))
    texts = {k: dict(by_channel) for k, by_channel in interface.channel_texts.items()}
    return Run(
        interface.model,
        rows[:, 0].copy(),
        channels,
        units=texts["units"],
        labels=texts["labels"],
        ended=message,
        status=status,
        events=list(event_log.events),
        settings=settings,
        generic=texts["generic"],
        bodies=texts["bodies"],
    )
