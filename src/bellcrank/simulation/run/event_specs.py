"""Events as a user gives them: what is watched, and what is set when it happens.

Formulas are parsed, never executed. Conditions and actions are over channels, parameters and t, in
user units.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any, cast

from bellcrank.core.errors import ModelError, did_you_mean, require_mapping
from bellcrank.core.numeric.event_log import EventCondition
from bellcrank.mechanics.interface.formula_units import formula_units
from bellcrank.mechanics.interface.interface import DECLARED, PLURAL, Interface, Quantity
from bellcrank.model.records import EventRecord
from bellcrank.simulation.run.argument_checks import require_number
from bellcrank.simulation.run.event_conditions import (
    comparison_operator,
    compile_condition,
    compile_formula,
)
from bellcrank.symbolic.expr.formula_parser import parse_formula, postorder_syntax
from bellcrank.symbolic.expr.formula_steps import COMPARISONS, FormulaStep

SETTABLE = ("coordinate", "speed", "parameter", "idle", "unused")
OTHERS = ("removed", "entered", "output", "input", "kept")


@dataclass(frozen=True)
class EventSpecs:
    """The events of a run: what is watched, and the parameters, in user units, read and set
    there."""

    conditions: list[EventCondition]
    values: dict[str, float]
    parameter_keys: set[str]  # keys of parameters that events read or set
    formulas: list[EventFormula]


def resolve_events(events: Any, stop_events: Any, interface: Interface) -> list[EventRecord]:
    """The events of a model, then those given: by name, each a value that crosses zero either way
    or a condition that becomes true; or a list of `event`."""
    model, model_events = interface.model, list(interface.run.events)
    stop_names = stop_event_names(stop_events, model)
    if isinstance(events, Sized) and not isinstance(events, str) and not len(events):
        events = None
    if events is None and not stop_names:
        return model_events
    requested_events: list[object]
    if events is None or isinstance(events, Mapping):
        requested_events = [
            EventRecord(x.expression, x.direction, x.action, x.stop, str(name))
            if isinstance(x, EventRecord)
            else EventRecord(str(x), name=str(name))
            for name, x in require_mapping(events, "events").items()
        ]
    else:
        requested_events = (
            list(events)
            if isinstance(events, Iterable) and not isinstance(events, str | bytes)
            else [None]
        )
    if not all(isinstance(x, EventRecord) for x in requested_events):
        expected = "must be a dictionary {name: condition}, or a list of bc.event(...)"
        raise ModelError(f"events={events!r} {expected}", model)
    records = [*model_events, *cast(list[EventRecord], requested_events)]
    names = [x.name for x in records]
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f"events: two have the name {name!r}; give another by name=", model)
    for name in sorted(stop_names):
        if name not in names:
            suggestion = did_you_mean(name, names)
            raise ModelError(
                f"stop={name!r}: no event has that name.{suggestion} Events: "
                f"{', '.join(names) or 'none'}.",
                model,
            )
    return [
        EventRecord(x.expression, x.direction, x.action, x.stop or x.name in stop_names, x.name)
        for x in records
    ]


def stop_event_names(names: Any, model: str) -> tuple[str, ...]:
    """Names of the events that end a run: one, or several; None and what is empty mean none."""
    if names is not None and not isinstance(names, str | Iterable):
        raise ModelError(f"stop={names!r} must be the name of an event, or a list of names", model)
    return (
        (names,)
        if isinstance(names, str)
        else ()
        if names is None
        else tuple(str(s) for s in names)
    )


def columns_by_name(interface: Interface) -> dict[str, tuple[int, float]]:
    """What conditions may name: where time and channels stand in rows, and the factors of their
    units."""
    return {"t": (0, 1.0)} | {x.name: (x.column, x.unit.factor) for x in interface.channels}


@dataclass(frozen=True)
class EventFormula:
    """An event as plain data: what is watched, to which `directions` of zero it comes
    (`strict_sides`: to which of them zero itself does not belong), and what is set, step by
    step."""

    name: str
    condition: tuple[FormulaStep, ...]
    directions: tuple[int, ...]
    strict_sides: tuple[int, ...]
    stop: bool
    settings: tuple[tuple[Quantity, tuple[FormulaStep, ...]], ...]

    @property
    def time_only(self) -> bool:
        """Does its condition depend on nothing but time and parameters?"""
        return all(step.column <= 0 for step in self.condition)  # the first column, if any


def compile_events(
    interface: Interface, records: Sequence[EventRecord], values: Mapping[str, float]
) -> list[EventFormula]:
    """Events as data; `values`: parameters that they may name, in user units."""
    columns, formulas = columns_by_name(interface), []
    units = formula_units(interface)
    for x in records:
        comparison = comparison_operator(x.expression)
        sides = (x.direction,) if x.direction else (1,) if comparison else (1, -1)
        strict = () if not comparison else (1,) if comparison in ("<", ">") else (-1,)
        condition = compile_condition(x.expression, columns, values, f"event '{x.name}'", units)
        settings = _compile_action(interface, x, columns, values)
        formulas.append(EventFormula(x.name, condition, sides, strict, x.stop, settings))
    return formulas


def event_parameters(interface: Interface) -> tuple[Quantity, ...]:
    """Parameters that events may name."""
    return tuple(interface.of_kinds(DECLARED))


def empty_event_specs() -> EventSpecs:
    """Of a run that nobody watches."""
    return EventSpecs([], {}, set(), [])


def make_event_specs(
    interface: Interface,
    events: Any,
    stop_events: Any,
    parameters: Mapping[str, float | str] | None,
) -> EventSpecs:
    """What a run is watched for; parameters as a user gave them, in place of the defaults."""
    records = resolve_events(events, stop_events, interface)
    if not records:
        return empty_event_specs()
    quantities = event_parameters(interface)
    values = {x.name: float(x.default) for x in quantities if x.default is not None}
    given_values = interface.values_by_key(
        require_mapping(parameters, "parameters"), DECLARED, "parameters"
    )
    values.update({k: require_number(v, f"parameter '{k}'") for k, v in given_values.items()})
    result = EventSpecs([], values, set(), compile_events(interface, records, values))
    for x, formula in zip(records, result.formulas, strict=True):
        result.conditions.append(
            EventCondition(x.name, formula.directions, x.stop, bool(formula.settings))
        )
        result.parameter_keys.update(event_parameter_keys(interface, x))
    return result


def event_parameter_keys(interface: Interface, x: EventRecord) -> set[str]:
    """Keys of the parameters in all formulas of an event, and of those that it sets."""
    names = [name for text in (x.expression, *x.action.values()) for name in _formula_names(text)]
    quantities = (interface.find_or_none(name, DECLARED) for name in (*names, *x.action))
    return {x.key for x in quantities if x is not None}


def _formula_names(text: str) -> list[str]:
    try:
        return [
            str(node.args[0]) for node in postorder_syntax(parse_formula(text)) if node.op == "name"
        ]
    except ModelError:  # a channel whose name is none of formulas
        return []


def _compile_action(
    interface: Interface,
    x: EventRecord,
    columns: Mapping[str, tuple[int, float]],
    values: Mapping[str, float],
) -> tuple[tuple[Quantity, tuple[FormulaStep, ...]], ...]:
    settings: dict[str, tuple[Quantity, tuple[FormulaStep, ...]]] = {}
    for name, text in x.action.items():
        location = f"event '{x.name}', action '{name}'"
        target = _find_action_target(interface, name, location)
        if target.key in settings:
            raise ModelError(f"{location}: it is set twice", interface.model)
        syntax = parse_formula(text)
        if syntax.op in COMPARISONS:
            raise ModelError(
                f"{location}: '{text}' is a comparison, not a value; use where({text}, 1, 0)",
                interface.model,
            )
        units = formula_units(interface, location, strict=True)
        value = units.term_in(syntax, target.unit, "what it sets")
        settings[target.key] = target, compile_formula(value.syntax, columns, values, location)
    return tuple(settings.values())


def _find_action_target(interface: Interface, name: str, location: str) -> Quantity:
    """A state or parameter by its name."""
    target = interface.find_or_none(name, SETTABLE)
    if target is not None:
        return target
    quantity = interface.find_or_none(name, OTHERS)
    if quantity is None:
        settable_names = [x.name for x in interface.of_kinds(SETTABLE)]
        raise ModelError(
            f"{location}: the model has no such state or "
            f"parameter.{did_you_mean(name, settable_names)}",
            interface.model,
        )
    if quantity.kind == "removed":
        reason = (
            f"it follows from other speeds by a constraint: set "
            f"{', '.join(u.name for u in interface.speeds)}"
        )
    else:
        reason = f"it is one of the {PLURAL[quantity.kind]}; states and parameters can be set"
    raise ModelError(f"{location}: {reason}", interface.model)
