"""Checks of a finished run: tables and ranges left, gimbal locks, a step too large, sample times,
lost parameters. Found from its rows and settings afterwards, so that runs cost no more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from bellcrank.core.errors import BellcrankError
from bellcrank.core.numeric.fixed_step_methods import ADAPTIVE
from bellcrank.core.numeric.run_spec import RunSpec
from bellcrank.mechanics.interface.interface import Interface
from bellcrank.mechanics.kinematics.speed_constraints import DependentSpeed
from bellcrank.model.records import RangeRecord
from bellcrank.simulation.run.argument_checks import program_arguments_of_row, symbol_values
from bellcrank.simulation.run.dae_runs import RunSegment
from bellcrank.simulation.run.event_specs import EventSpecs
from bellcrank.simulation.run.gimbal import INSTEAD, GimbalLock
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.simulation.run.result import Run
from bellcrank.symbolic.expr import evaluate

ROUNDING = 1e-6  # of a range: a locked wheel has a slip of -1 but for rounding


def post_run_checks(
    loaded: LoadedModel,
    segments: Sequence[RunSegment],
    rows: np.ndarray,
    locks: Sequence[GimbalLock],
    messages: Sequence[str],
) -> Iterator[str]:
    """Yield a message for each problem that states and inputs show, and the other `messages`.

    `segments`: rows with their parameters.
    """
    table_messages = (
        text
        for x in segments
        for text in loaded.table_range_check.lookups_outside_range(x.rows, x.p, x.c)
    )
    yield from dict.fromkeys(table_messages)
    yield from (
        f"results are unreliable after {x.text} at t = {x.time:.6g} s; {INSTEAD}" for x in locks
    )
    yield from singular_pivot_messages(loaded, segments)
    yield from messages
    if rows.shape[1] < 2:  # not even the first row could be evaluated
        return

    def state_column(state: str) -> np.ndarray:  # few joints ask for one
        return rows[:, next(x.column for x in loaded.interface.states if x.name == state)]

    for b in (
        loaded.analysis.mechanism.bodies
    ):  # linkages whose tables were extended because the run left them
        yield from b.joint.passed(b.name, state_column)


# ---- speeds that constraints were solved for although a coefficient may vanish: where a run came
# near such a zero


NEAR = 1e-2  # of the largest value of a divisor in a run
ROWS = 1000  # that are looked at


def singular_pivot_messages(loaded: LoadedModel, segments: Sequence[RunSegment]) -> Iterator[str]:
    """A message for each dependent speed whose divisor changed its sign in a run or came near
    zero."""
    for r in loaded.analysis.removed:
        if not r.is_always_solvable:
            values = [x for segment in segments for x in _pivot_values(loaded, r, segment)]
            index = _first_near_zero(np.array([x for _, x in values]))
            if index is not None:
                problem = (
                    f"{r.speed} follows from the constraint {r.quoted_name} by division by "
                    f"{r.pivot}, which is near zero"
                )
                advice = (
                    "results are unreliable from there on. Keep all speeds as states "
                    "(constraints='auto')"
                )
                yield f"{problem} at t = {values[index][0]:.6g} s: {advice}"


def _pivot_values(
    loaded: LoadedModel, r: DependentSpeed, segment: RunSegment
) -> list[tuple[float, float]]:
    """Times with the values of the divisor."""
    program, samples = loaded.program, []
    if segment.rows.shape[1] < 2:
        return []
    for row in segment.rows[:: max(1, len(segment.rows) // ROWS)]:
        t, q, u, p, _, w = program_arguments_of_row(program, row, segment.p, segment.c)
        try:
            samples.append((t, evaluate([r.pivot], symbol_values(program, t, q, u, p, w))[0]))
        except (BellcrankError, ArithmeticError, KeyError, ValueError):  # a user function
            return []
    return samples


def _first_near_zero(values: np.ndarray) -> int | None:
    """The first place at which values pass zero or are small compared with the largest."""
    if not len(values):
        return None
    size = np.abs(values)
    doubtful = size <= NEAR * size.max()
    doubtful[1:] |= values[1:] * values[:-1] < 0
    return int(np.argmax(doubtful)) if doubtful.any() else None


def sampling_messages(loaded: LoadedModel, spec: RunSpec) -> list[str]:
    """Samples of user functions that are further apart than a step."""
    if spec.method not in ADAPTIVE or spec.output_every == 1 or not loaded.interface.sampled_inputs:
        return []
    names = ", ".join(x.name for x in loaded.interface.sampled_inputs)
    intervals = f"every {spec.output_every * spec.step:g} s instead of every {spec.step:g} s"
    return [
        f"with method='{spec.method}', {names} are sampled at output times, {intervals}: "
        f"omit output_every"
    ]


def lost_parameter_messages(
    start: Run | None, event_specs: EventSpecs, parameters: Mapping[str, float | str] | None
) -> list[str]:
    """Parameters that events of a run from a file may have set: the file has none."""
    if start is None or start._find_checkpoint is not None:
        return []
    set_by_events = dict.fromkeys(
        x.name for e in event_specs.formulas for x, _ in e.settings if x.column < 0
    )
    names = [name for name in set_by_events if name not in (parameters or {})]
    if not names:
        return []
    listed = ", ".join(names)
    return [
        f"start=: events set {listed}, but a file has no parameters: the run continues with "
        f"those of the model. "
        f"Give parameters={{'{names[0]}': ...}}"
    ]


def range_messages(
    ranges: Sequence[RangeRecord], interface: Interface, rows: np.ndarray
) -> list[str]:
    """Messages about recorded outputs outside their ranges; rows are in units of the equations."""
    if not ranges:
        return []
    outputs, messages = {x.name: x for x in interface.outputs}, []
    for r in ranges:
        output = outputs.get(r.output)
        if output is None or rows.shape[1] <= output.column:
            continue
        values = rows[:, output.column]
        tolerance = ROUNDING * (
            r.high - r.low if np.isfinite(r.high - r.low) else max(abs(r.high), 1.0)
        )
        is_outside = (values < r.low - tolerance) | (values > r.high + tolerance)
        if np.any(is_outside):
            worst = int(
                np.argmax(
                    np.where(is_outside, np.maximum(values - r.high, r.low - values), -np.inf)
                )
            )
            unit = f" {output.unit.text}" if output.unit.text not in ("", "1", "-") else ""
            value, low, high = (x / output.unit.factor for x in (values[worst], r.low, r.high))
            messages.append(
                f"{r.output}: {r.words} {value:.4g}{unit} at t = {rows[worst, 0]:.6g} s "
                f"lies outside {low:.4g} to "
                f"{high:.4g}{unit} ({int(np.sum(is_outside))} of {len(rows)} rows): the "
                f"nearest end was used"
            )
    return messages
