"""Events of many runs as compiled code watches them: those that stop or act, and the parameters in their formulas.

In:  events as a user gives them, and what runs are given. Out: `Watching`. Events that do neither leave no trace in
many runs, and are omitted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.emit.c.events import EventsText, EventText, SettingText
from bellcrank.emit.event_formula import CEventPrinter
from bellcrank.interface.interface import Interface, Quantity
from bellcrank.many.given import Given
from bellcrank.run.actions import EventFormula, event_formulas, listed_events, read_events
from bellcrank.run.jumps import following


@dataclass(frozen=True)
class Watching:
    """`text` for C and the `names` of its events; `values` of parameters in them, in user units, a row for each run or
    one for all."""

    text: EventsText
    names: tuple[str, ...]
    values: np.ndarray


def watching_of(
    interface: Interface, events: Any, stop_events: Any, batch_values: Given, independent: Iterable[Any]
) -> Watching | None:
    """What runs are watched for; None if nothing would stop them or act in them. `independent`: speeds of the model."""
    first = read_events(interface, events, stop_events, batch_values.of(0)["parameters"])
    formulas = event_formulas(interface, listed_events(events, stop_events, interface), first.values)
    listed = [e for e in formulas if e.stop or e.settings]
    if not listed:
        return None
    names = _values_of(listed)
    printer = CEventPrinter({name: f"v[{i}]" for i, name in enumerate(names)})
    value_indices = {name: i for i, name in enumerate(names)}
    text = EventsText(
        tuple(event_text(e, printer, value_indices) for e in listed),
        len(names),
        frozenset(printer.used),
        frozenset(s.column for e in listed for s in e.condition if s.op == "column"),
        following(interface, independent),
    )
    return Watching(text, tuple(e.name for e in listed), _values(names, first.values, batch_values))


def _values_of(events: list[EventFormula]) -> list[str]:
    """Parameters that are read or set."""
    read = [s.name for e in events for steps in (e.condition, *(x for _, x in e.settings)) for s in steps]
    set_names = [x.name for e in events for x, _ in e.settings if x.column < 0]
    return list(dict.fromkeys(name for name in (*read, *set_names) if name))


def event_text(e: EventFormula, printer: CEventPrinter, value_indices: Mapping[str, int]) -> EventText:
    """Return an event in C; `value_indices`: of values that are no parameters of the model or are stored apart."""
    settings = (_setting(x, printer.text(steps), value_indices) for x, steps in e.settings)
    strict, condition = e.strict[0] if e.strict else 0, printer.text(e.condition)
    return EventText(e.sides, strict, e.stop, condition, tuple(settings), e.of_time)


def _setting(x: Quantity, text: str, value_indices: Mapping[str, int]) -> SettingText:
    if x.column >= 0:
        return SettingText(x.column - 1, -1, -1, x.unit.factor, False, text)
    of_model, value = x.kind == "parameter", value_indices.get(x.name, -1)
    return SettingText(-1, value, x.place if of_model else -1, x.unit.factor, of_model and x.positive, text)


def _values(names: list[str], first: Mapping[str, float], batch_values: Given) -> np.ndarray:
    varied = {k: v for k, v in batch_values.varied["parameters"].items() if isinstance(v, np.ndarray)}
    base = [[first.get(name, np.nan) for name in names] or [0.0]]
    values = np.array(base if varied.keys().isdisjoint(names) else base * batch_values.n, dtype=float)
    for i, name in enumerate(names):
        if name in varied:
            values[:, i] = varied[name]
    return values
