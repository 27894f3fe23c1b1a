"""Events of a run as data that the kernel reads, and what it reports them, in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bellcrank.codegen.c.event_bytecode import Encoded, encode_formula
from bellcrank.core.errors import BellcrankError
from bellcrank.core.numeric.event_log import ConditionAtStart, Event, EventChange, EventLog
from bellcrank.core.numeric.run_base import NO_VALUE
from bellcrank.core.numeric.run_spec import EventData, RunSpec
from bellcrank.core.numeric.tuning import EVENTS
from bellcrank.simulation.backend.event_monitor import (
    ACTED,
    CHANGED_NOTHING,
    EventMonitor,
    EventProblem,
)
from bellcrank.simulation.run.event_actions import event_changes, moves_first_mask
from bellcrank.simulation.run.event_specs import EventFormula, EventSpecs
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.symbolic.expr.formula_steps import FormulaStep

if TYPE_CHECKING:
    from bellcrank.simulation.backend.c_runs import CRun


def event_parameter_names(formulas: Sequence[EventFormula]) -> list[str]:
    """The parameters that events read or set."""
    steps = [s for e in formulas for f in (e.condition, *(f for _, f in e.settings)) for s in f]
    read = [s.name for s in steps if s.op == "value"]
    return list(
        dict.fromkeys(read + [x.name for e in formulas for x, _ in e.settings if x.column < 0])
    )


def encode_events(
    formulas: Sequence[EventFormula], names: Sequence[str]
) -> tuple[list[tuple[int, ...]], list[tuple[int | float, ...]], list[Encoded]]:
    """What is watched, what is set, and the steps of all formulas, as in `kernel/events.h`; `names`
    of the parameters that have values."""
    numbers = {name: i for i, name in enumerate(names)}
    conditions: list[tuple[int, ...]] = []
    settings: list[tuple[int | float, ...]] = []
    steps: list[Encoded] = []

    def append_formula(formula: Sequence[FormulaStep]) -> tuple[int, int]:
        first = len(steps)
        steps.extend(encode_formula(formula, numbers))
        return first, len(steps)

    for i, e in enumerate(formulas):
        strict = e.strict_sides[0] if e.strict_sides else 0
        conditions.append(
            (
                *append_formula(e.condition),
                1 in e.directions,
                -1 in e.directions,
                strict,
                e.stop,
                bool(e.settings),
                e.time_only,
            )
        )
        for x, formula in e.settings:
            state, value, factor = (
                (x.column - 1, -1, x.unit.factor) if x.column >= 0 else (-1, numbers[x.name], 1.0)
            )
            settings.append((i, state, value, *append_formula(formula), factor))
    return conditions, settings, steps


def event_data(
    loaded: LoadedModel,
    event_specs: EventSpecs,
    spec: RunSpec,
    use_values: Callable[[CRun, list[float]], None],
    swap_user_memory: Callable[[int], None] | None,
    close: Callable[[int, np.ndarray], np.ndarray] | None,
    continued: bool,
    end_time: float,
) -> EventData:
    """Events of a run as the kernel reads them."""
    moves_first = moves_first_mask(loaded.interface, loaded.analysis.independent_speeds)
    names = event_parameter_names(event_specs.formulas)
    values = [event_specs.values[name] for name in names]
    return EventData(
        *encode_events(event_specs.formulas, names),
        moves_first,
        values,
        use_values,
        swap_user_memory,
        close,
        spec.step,
        end_time - spec.t_start,
        end_time,
        continued,
    )


def collect_occurrences(
    loaded: LoadedModel,
    event_specs: EventSpecs,
    monitor: EventMonitor,
    event_log: EventLog,
    t: float,
) -> tuple[bool, str]:
    """Takes what happened in a run up to a time to what is known of it; is it over, and what could
    an event not do?"""
    if monitor.nothing_happened:  # steps one by one ask every time
        return False, ""
    names = event_parameter_names(event_specs.formulas)
    for x in monitor.take_occurrences():
        formula = event_specs.formulas[x.event]
        if x.kind == CHANGED_NOTHING:
            continue
        effects: tuple[EventChange, ...] = ()
        if x.kind == ACTED:
            state_before, state_after = (
                (y, dict(zip(names, v.tolist(), strict=True)))
                for y, v in zip(x.states, x.values, strict=True)
            )
            effects = event_changes(loaded, formula, state_before, state_after)
        event_log.events.append(Event(formula.name, x.time, effects))
    condition_histories = monitor.arrays["counted"]
    for formula, idle in zip(
        event_specs.formulas, condition_histories["idle"].tolist(), strict=True
    ):
        if not np.isnan(idle):
            event_log.ineffective_events.setdefault(formula.name, idle)
    problem = monitor.problem
    if problem is not None:
        return True, _event_problem_message(loaded, event_specs, monitor, problem, t)
    if monitor.stop_event >= 0:
        event_log.stop_event = Event(
            event_specs.formulas[monitor.stop_event].name, float(monitor.fields.when)
        )
    return monitor.stop_event >= 0, ""


def _event_problem_message(
    loaded: LoadedModel,
    event_specs: EventSpecs,
    monitor: EventMonitor,
    problem: EventProblem,
    t: float,
) -> str:
    """What an event could not do, in words."""
    e = event_specs.formulas[problem.event]
    when = f"stopped at t = {problem.time:.6g} s"
    if problem.kind in ("again at once", "again and again", "too often"):
        often = f"{EVENTS.most} times within {problem.amount:.2g} s"
        repetition = often if problem.kind == "too often" else problem.kind
        explanation = "Set the speed to zero in the action, or stop the run with stop=True"
        return (
            f"{when}: event '{e.name}' fires repeatedly (chattering, {repetition}). {explanation}"
        )
    if problem.kind == "sets no number":
        targets = [x.name for f in event_specs.formulas for x, _ in f.settings]
        message = (
            f"the action of event '{e.name}' sets {targets[problem.item]} to {problem.amount}, "
            f"not a finite number"
        )
        return f"{when}, as an event acts: {message}"
    if problem.kind == "not on constraints":
        loops = loaded.program.loops
        assert loops is not None
        rows = [*loops.positions, *(f"speeds of {name}" for name in loops.names)]
        detail = f"a residual of {problem.amount:.3g} remains in '{rows[problem.item]}'"
        listed = ", ".join(x.name for x, _ in e.settings)
        return (
            f"{when}, as an event acts: event '{e.name}' sets {listed} against the constraints: "
            f"{detail}"
        )
    if problem.kind == "no values":
        error = monitor.error
        if not isinstance(error, (BellcrankError, *NO_VALUE)):
            assert error is not None
            raise error
        explanation = "; ".join(getattr(error, "problems", [])) or str(error)
        return f"{when}, as an event acts: {explanation}"
    if monitor.error is not None:
        raise monitor.error
    return f"stopped at t = {t:.6g} s: the rates of the states cannot be evaluated any more"


def collect_condition_history(
    monitor: EventMonitor, event_log: EventLog, begin_time: float, last: np.ndarray | None
) -> None:
    """Takes what is known of conditions over a whole run."""
    for w, c in zip(event_log.conditions, monitor.arrays["counted"], strict=True):
        if w.stop or w.has_action:
            side = int(c["side"])
            event_log.set_condition_start(
                ConditionAtStart(
                    begin_time, bool(c["zero"]), float(c["noise"]), side, bool(c["waits"])
                ),
                w.name,
            )
        if not np.isnan(c["undefined"]):
            event_log.note_undefined(w.name, float(c["undefined"]), bool(c["always"]))
    event_log.last = last
