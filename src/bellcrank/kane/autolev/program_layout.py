"""What a program of the dialect reads and writes: the order of its input, its output files and
their columns."""

from __future__ import annotations

from dataclasses import dataclass, field

from bellcrank.core.errors import ModelError
from bellcrank.kane.autolev.commands import unit_of
from bellcrank.kane.autolev.workspace import AutolevWorkspace
from bellcrank.kane.derived import derive_hand_led
from bellcrank.kane.equations import KaneEquations
from bellcrank.kane.missing_quantities import MissingError
from bellcrank.symbolic.expr import ZERO, Expr, Symbol, add, mul, sqrt
from bellcrank.symbolic.vector.basis import dot

PER_FILE = 5  # columns of an output file next to time


@dataclass(frozen=True)
class OutputColumn:
    """A channel, with the unit that stands below its name."""

    channel: str
    unit: str


@dataclass(frozen=True)
class OutputFile:
    suffix: str
    columns: list[OutputColumn]


@dataclass
class ProgramLayout:
    """A model with what its program reads and writes."""

    name: str
    equations: KaneEquations
    groups: list[list[Symbol]] = field(
        default_factory=list
    )  # READ: constants, masses, inertias, U's, coordinates
    files: list[OutputFile] = field(default_factory=list)
    units: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def listed_groups(self) -> list[tuple[bool, list[tuple[str, Symbol, str]]]]:
        """The groups as output files list them: is it the first of initial conditions? titles,
        symbols, units."""
        states = {*self.equations.coordinates, *self.equations.speeds}
        first = next((group for group in self.groups if group[0] in states), None)
        rows = [
            [(f"{s}(0)" if s in states else s.name, s, self.units.get(s.name, "")) for s in g]
            for g in self.groups
        ]
        return [(group is first, row) for group, row in zip(self.groups, rows, strict=True)]

    def column_heads(self, f: OutputFile) -> tuple[list[str], list[str]]:
        """Titles and units above the columns of a file."""
        units = [self.units.get("T", ""), *(c.unit for c in f.columns)]
        return ["T", *(c.channel for c in f.columns)], [
            f"({unit})" if unit else "" for unit in units
        ]


def make_program_layout(w: AutolevWorkspace, name: str, solve: str = "auto") -> ProgramLayout:
    """The plan of a workspace in which KANE has been given."""
    if "KANE" not in w.done:
        raise ModelError("a program needs KANE first")
    undefined = [c.name for c in (*w.controls, *w.specified) if c not in w.d.scalars.definitions]
    if undefined:
        raise ModelError([f"{c} has no definition yet: give {c}=formula" for c in undefined])
    d, s = w.d, w.d.scalars
    d.name = name
    plan = ProgramLayout(name, None)  # type: ignore[arg-type]
    d.notes.channels, d.notes.channel_words = _channel_expressions(w, plan), {}
    quantities = (*s.constants, *s.speeds, *s.coordinates, *w.controls, *w.specified, *s.unknown)
    plan.units = {x.name: unit_of(w, x.name) for x in quantities} | {"T": w.units.get("T", "")}
    d.notes.units = {x.name: plan.units[x.name] for x in quantities}
    plan.equations = KaneEquations(derive_hand_led(d, solve))
    listed = [
        list(w.constants),
        list(w.masses),
        *w.inertias.values(),
        list(s.independent_speeds),
        list(s.coordinates),
    ]
    plan.groups = [g for g in listed if g]
    states = [*s.independent_speeds, *s.coordinates]
    for kind, members in (
        ("OU", states),
        ("SP", w.specified),
        ("CO", w.controls),
        ("AU", s.unknown),
    ):
        for i in range(0, len(members), PER_FILE):
            columns = [
                OutputColumn(x.name, plan.units.get(x.name, "")) for x in members[i : i + PER_FILE]
            ]
            plan.files.append(OutputFile(f"{kind}{i // PER_FILE + 1}", columns))
    totals = (
        ("NRG", "ENERGY", ("KE", "PE", "KE + PE")),
        ("H", "MOMENTUM", ("HN1", "HN2", "HN3", "HN")),
    )
    for suffix, unit, names in totals:
        columns = [OutputColumn(n, w.units.get(unit, "")) for n in names if n in d.notes.channels]
        plan.files += [OutputFile(suffix, columns)] if columns else []
    return plan


def _channel_expressions(w: AutolevWorkspace, plan: ProgramLayout) -> dict[str, Expr]:
    channels: dict[str, Expr] = {x.name: x for x in (*w.specified, *w.controls)}
    if "KE" in w.done:
        kinetic = w.results["KE"]
        assert isinstance(kinetic, Expr)
        channels["KE"] = kinetic
        if w.d.potential_energy is not None:
            channels["PE"] = w.d.potential_energy
            channels["KE + PE"] = add(kinetic, w.d.potential_energy)
    try:
        h = w.d.angular_momentum()
    except MissingError as error:
        lacking = ", ".join(n.description for n in error.needs)
        plan.notes.append(f"no file {plan.name}.H: angular momentum needs {lacking}")
        return channels
    components = [dot(e, h) for e in w.d.newtonian.axes]
    channels |= {f"HN{i}": x for i, x in enumerate(components, 1)}
    squares = [mul(x, x) for x in components if x is not ZERO]
    channels["HN"] = sqrt(add(*squares)) if squares else ZERO
    return channels
