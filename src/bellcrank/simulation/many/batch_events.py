"""Events of many runs as compiled code watches them: those that stop or act, and the parameters in
their formulas.

In:  events as a user gives them, and what runs are given. Out: `BatchEvents`. Events that do
neither leave no trace in many runs, and are omitted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.codegen.c.events import EmittedEvents, EventText, SettingText
from bellcrank.codegen.event_formula import CEventPrinter
from bellcrank.mechanics.interface.interface import Interface, Quantity
from bellcrank.simulation.many.batch_values import BatchValues
from bellcrank.simulation.run.event_actions import moves_first_mask
from bellcrank.simulation.run.event_specs import (
    EventFormula,
    compile_events,
    make_event_specs,
    resolve_events,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bellcrank.symbolic.expr import Symbol


@dataclass(frozen=True)
class BatchEvents:
    """`source` for C and the `names` of its events; `values` of parameters in them, in user units,
    a row for each run or one for all."""

    source: EmittedEvents
    names: tuple[str, ...]
    values: NDArray[np.float64]


def make_batch_events(
    interface: Interface,
    events: Any,
    stop_events: Iterable[str] | str | None,
    batch_values: BatchValues,
    independent: Iterable[Symbol],
) -> BatchEvents | None:
    """What runs are watched for; None if nothing would stop them or act in them. `independent`:
    speeds of the model."""
    first = make_event_specs(
        interface, events, stop_events, batch_values.values_of_run(0)["parameters"]
    )
    formulas = compile_events(
        interface, resolve_events(events, stop_events, interface), first.values
    )
    listed = [e for e in formulas if e.stop or e.settings]
    if not listed:
        return None
    names = _event_parameters(listed)
    printer = CEventPrinter({name: f"v[{i}]" for i, name in enumerate(names)})
    value_indices = {name: i for i, name in enumerate(names)}
    text = EmittedEvents(
        tuple(event_source(e, printer, value_indices) for e in listed),
        len(names),
        frozenset(printer.used),
        frozenset(s.column for e in listed for s in e.condition if s.op == "column"),
        moves_first_mask(interface, independent),
    )
    return BatchEvents(
        text,
        tuple(e.name for e in listed),
        _event_parameter_rows(names, first.values, batch_values),
    )


def _event_parameters(events: list[EventFormula]) -> list[str]:
    """Parameters that are read or set."""
    read = [
        s.name
        for e in events
        for steps in (e.condition, *(x for _, x in e.settings))
        for s in steps
    ]
    set_names = [x.name for e in events for x, _ in e.settings if x.column < 0]
    return list(dict.fromkeys(name for name in (*read, *set_names) if name))


def event_source(
    e: EventFormula, printer: CEventPrinter, value_indices: Mapping[str, int]
) -> EventText:
    """Return an event in C; `value_indices`: of values that are no parameters of the model or are
    stored apart."""
    settings = (
        _setting_source(x, printer.formula_source(steps), value_indices) for x, steps in e.settings
    )
    strict, condition = (
        e.strict_sides[0] if e.strict_sides else 0,
        printer.formula_source(e.condition),
    )
    return EventText(e.directions, strict, e.stop, condition, tuple(settings), e.time_only)


def _setting_source(x: Quantity, text: str, value_indices: Mapping[str, int]) -> SettingText:
    if x.column >= 0:
        return SettingText(x.column - 1, -1, -1, x.unit.factor, False, text)
    of_model, value = x.kind == "parameter", value_indices.get(x.name, -1)
    return SettingText(
        -1, value, x.index if of_model else -1, x.unit.factor, of_model and x.positive, text
    )


def _event_parameter_rows(
    names: list[str], first: Mapping[str, float], batch_values: BatchValues
) -> NDArray[np.float64]:
    varied = {
        k: v for k, v in batch_values.varied["parameters"].items() if isinstance(v, np.ndarray)
    }
    base = [[first.get(name, np.nan) for name in names] or [0.0]]
    values = np.array(
        base if varied.keys().isdisjoint(names) else base * batch_values.n_runs, dtype=float
    )
    for i, name in enumerate(names):
        if name in varied:
            values[:, i] = varied[name]
    return values
