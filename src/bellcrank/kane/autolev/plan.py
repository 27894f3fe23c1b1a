"""What a program of the dialect reads and writes: the order of its input, its output files and their columns."""

from __future__ import annotations

from dataclasses import dataclass, field

from bellcrank.errors import ModelError
from bellcrank.expr import ZERO, Expr, Symbol, add, mul, sqrt
from bellcrank.kane.autolev.commands import unit_of
from bellcrank.kane.autolev.workspace import Workspace
from bellcrank.kane.derived import derive_by_hand
from bellcrank.kane.equations import KaneEquations
from bellcrank.kane.missing import MissingError
from bellcrank.vector.basis import dot

PER_FILE = 5  # columns of an output file beside time


@dataclass(frozen=True)
class Column:
    """A channel under a heading."""

    title: str
    unit: str
    channel: str


@dataclass(frozen=True)
class OutputFile:
    suffix: str
    columns: tuple[Column, ...]


@dataclass
class Plan:
    """A model with what its program reads and writes."""

    name: str
    equations: KaneEquations
    groups: list[list[Symbol]] = field(
        default_factory=list
    )  # READ statements: constants, masses, inertias, U's, coordinates
    files: list[OutputFile] = field(default_factory=list)
    units: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def states(self) -> set[str]:
        return {s.name for s in (*self.equations.coordinates, *self.equations.speeds)}


def make_plan(w: Workspace, name: str, solve: str = "auto") -> Plan:
    """The plan of a workspace in which KANE has been given."""
    if "KANE" not in w.done:
        raise ModelError("a program needs KANE first")
    undefined = [c.name for c in (*w.controls, *w.specified) if c not in w.d.scalars.definitions]
    if undefined:
        raise ModelError([f"{c} has no definition yet: give {c}=formula" for c in undefined])
    d, s = w.d, w.d.scalars
    d.name = name
    plan = Plan(name, None)  # type: ignore[arg-type]
    d.notes.channels = _channels(w, plan)
    d.notes.units = {n.lower(): unit_of(w, n) for n in _all_names(w)}
    d.notes.channel_words = {}
    plan.equations = KaneEquations(derive_by_hand(d, solve))
    plan.units = {n: unit_of(w, n) for n in _all_names(w)} | {"T": w.units.get("T", "")}
    listed = [list(w.constants), list(w.masses), *w.inertias.values(), list(s.independent), list(s.coordinates)]
    plan.groups = [g for g in listed if g]
    energy = w.units.get("ENERGY", "")
    plan.files += _split(plan, "OU", [x.name for x in (*s.independent, *s.coordinates)])
    plan.files += _split(plan, "SP", [x.name for x in w.specified])
    plan.files += _split(plan, "CO", [x.name for x in w.controls])
    plan.files += _split(plan, "AU", [x.name for x in s.unknown])
    if "KE" in d.notes.channels:
        names = [n for n in ("KE", "PE", "KE + PE") if n in d.notes.channels]
        plan.files.append(OutputFile("NRG", tuple(Column(n, energy, n) for n in names)))
    if "HN" in d.notes.channels:
        unit = w.units.get("MOMENTUM", "")
        plan.files.append(OutputFile("H", tuple(Column(n, unit, n) for n in ("HN1", "HN2", "HN3", "HN"))))
    return plan


def _all_names(w: Workspace) -> list[str]:
    s = w.d.scalars
    return [x.name for x in (*s.constants, *s.speeds, *s.coordinates, *w.controls, *w.specified, *s.unknown)]


def _split(plan: Plan, kind: str, names: list[str]) -> list[OutputFile]:
    """Files of up to five columns: OU1, OU2, ..."""
    files = []
    for i in range(0, len(names), PER_FILE):
        columns = tuple(Column(n, plan.units.get(n, ""), n) for n in names[i : i + PER_FILE])
        files.append(OutputFile(f"{kind}{i // PER_FILE + 1}", columns))
    return files


def _channels(w: Workspace, plan: Plan) -> dict[str, Expr]:
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
        lacking = ", ".join(n.what for n in error.needs)
        plan.notes.append(f"no file {plan.name}.H: angular momentum needs {lacking}")
        return channels
    parts = [dot(e, h) for e in w.d.newtonian.axes]
    channels |= {f"HN{i}": x for i, x in enumerate(parts, 1)}
    squares = [mul(x, x) for x in parts if x is not ZERO]
    channels["HN"] = sqrt(add(*squares)) if squares else ZERO
    return channels
