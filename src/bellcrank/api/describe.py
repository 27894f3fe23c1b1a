"""A model in a few tables: parameters, inputs, states and outputs with values, units and labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bellcrank.api.equations import Equations


def describe(equations: Equations) -> str:
    """The tables as text; values are the defaults."""
    program, quantities, description = equations.program, equations.quantities, equations.analysis.mechanism.description
    parameters = []
    for name in equations.parameters:
        key = name.lower()
        record, unit = description.parameters.get(key), quantities.unit[key]
        value = record.value if record else None
        shown = "-" if value is None else f"{value:g}"
        internal = "-" if value is None else f"{unit.to_equation(float(value)):g}"
        parameters.append((name, shown, unit.text, internal, quantities.label.get(key, "")))
    inputs = [
        (s.name, quantities.unit[s.name.lower()].text, quantities.label.get(s.name.lower(), ""))
        for s in program.given_inputs
        if s.kind == "variable"
    ]
    states = [
        (s.name, quantities.states[s.name].text, quantities.state_label.get(s.name, ""))
        for s in (*program.coordinates, *program.speeds)
    ]
    outputs = [(o.name, quantities.output_unit[o.name].text, o.label) for o in equations.analysis.outputs]
    lines = [f"{equations.name} ({description.units})"]
    lines += _table("parameters (value, unit, value in the equations, label)", parameters, "<><><")
    lines += _table("inputs (unit, label)", inputs, "<<<")
    lines += _table("states (unit, label)", states, "<<<")
    lines += _table("outputs (unit, label)", outputs, "<<<")
    return "\n".join(lines)


def _table(title: str, rows: Sequence[Sequence[str]], align: str) -> Iterable[str]:
    if not rows:
        return []
    widths = [max(len(row[i]) for row in rows) for i in range(len(align))]
    shown = ("  ".join(f"{x:{a}{w}}" for x, a, w in zip(row, align, widths, strict=True)) for row in rows)
    return [title, *(f"  {line}".rstrip() for line in shown)]
