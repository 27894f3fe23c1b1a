"""The quantities of a model as a person knows them: parameters, inputs, states and outputs with words, user units and equation values.

Settings of the run stand among the parameters under the names that AUTOSIM's programs give them (Sayers 1990, Table 9.1.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bellcrank.api.equations import Equations

RUN = {
    "iprint": ("output_every", "counts", "number of time steps between output printing"),
    "step": ("step", "s", "simulation time step"),
    "stopt": ("t_end", "s", "simulation stop time"),
}
"""Settings of a run by their names in parameter files: the option of set_run, unit, label."""


@dataclass(frozen=True)
class Row:
    """A parameter: its default value in its user unit, and in equation units."""

    name: str
    value: float | None
    unit: str
    equation_value: float | None
    label: str


def parameter_rows(equations: Equations) -> list[Row]:
    """All parameters of equations and run in alphabetical order."""
    description, quantities = equations.analysis.mechanism.description, equations.quantities
    rows: dict[str, Row] = {}
    t_end = description.run.t_end or 1.0
    usual = {"t_end": t_end, "step": t_end / 1000, "output_every": 1}
    for key, (option, unit, label) in RUN.items():
        value = getattr(description.run, option) or usual[option]
        rows[key] = Row(key, value, unit, value, label)
    for name in equations.parameters:
        key = name.lower()
        record = description.parameters.get(key)
        value = None if record is None or record.value is None else float(record.value)
        user = quantities.unit[key]
        inside = None if value is None else float(user.to_equation(value))
        rows[key] = Row(name, value, user.text, inside, quantities.label.get(key, ""))
    return [rows[key] for key in sorted(rows)]


def describe(equations: Equations) -> str:
    """Tables: parameters (value, unit, value in equation units, label); inputs, states and outputs (unit, label)."""

    def number(x: float | None) -> str:
        return "-" if x is None else f"{x:g}"

    program, quantities = equations.program, equations.quantities
    lines = [
        f"{equations.name} ({equations.analysis.mechanism.description.units})",
        "parameters (user value, unit, equation value, label)",
        *(
            f"  {r.name:12} {number(r.value):>12} {r.unit:12} {number(r.equation_value):>14}  {r.label}".rstrip()
            for r in parameter_rows(equations)
        ),
    ]
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
    for title, rows in (("inputs", inputs), ("states", states), ("outputs", outputs)):
        lines += [title] if rows else []
        lines += [f"  {name:12} {unit:8} {label}".rstrip() for name, unit, label in rows]
    return "\n".join(lines)
