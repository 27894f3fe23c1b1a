"""The quantities of a model as a person knows them: parameters, inputs, states, outputs with words,
units, values.

In:  an `Interface`. Out: rows of parameters, and all of it as text. Settings of the run stand among
the parameters under the names that AUTOSIM's programs give them (Sayers 1990, Table 9.1.1).
"""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.mechanics.interface.interface import Interface

RUN = {
    "iprint": ("output_every", "counts", "number of time steps between output printing"),
    "step": ("step", "s", "simulation time step"),
    "stopt": ("t_end", "s", "simulation stop time"),
}
"""Settings of a run by their names in parameter files: the option of set_run, unit, label."""


@dataclass(frozen=True)
class ParameterRow:
    """A parameter: its default value in its user unit, and in equation units."""

    name: str
    value: float | None
    unit: str
    equation_value: float | None
    label: str


def parameter_rows(interface: Interface) -> list[ParameterRow]:
    """All parameters of equations and run in alphabetical order."""
    run = interface.run
    t_end = run.t_end or 1.0
    usual = {"t_end": t_end, "step": t_end / 1000, "output_every": 1}
    rows: dict[str, ParameterRow] = {}
    for key, (option, unit, label) in RUN.items():
        value = getattr(run, option) or usual[option]
        rows[key] = ParameterRow(key, value, unit, value, label)
    for x in interface.parameters:
        equation_value = None if x.default is None else float(x.unit.to_equation_units(x.default))
        rows[x.name] = ParameterRow(
            x.name, x.default, x.unit.text, equation_value, x.distinct_label
        )
    return [rows[key] for key in sorted(rows, key=lambda name: (name.lower(), name))]


def describe(interface: Interface) -> str:
    """Tables: parameters (value, unit, value in equation units, label); inputs, states and outputs
    (unit, label)."""

    def number_text(x: float | None) -> str:
        return "-" if x is None else f"{x:g}"

    lines = [
        f"{interface.model} ({interface.units})",
        "parameters (user value, unit, equation value, label)",
        *(
            f"  {r.name:12} {number_text(r.value):>12} {r.unit:12} "
            f"{number_text(r.equation_value):>14}  {r.label}".rstrip()
            for r in parameter_rows(interface)
        ),
    ]
    inputs = [x for x in interface.inputs if not x.rate]
    for title, quantities in (
        ("inputs", inputs),
        ("states", interface.states),
        ("outputs", interface.outputs),
    ):
        lines += [title] if quantities else []
        lines += [f"  {x.name:12} {x.unit.text:8} {x.distinct_label}".rstrip() for x in quantities]
    return "\n".join(lines)
