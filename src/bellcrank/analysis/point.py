"""The point at which a model is analysed, and the names of everything there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.errors import ModelError, did_you_mean
from bellcrank.expr import Symbol, symbols
from bellcrank.program.statements import statement_expressions
from bellcrank.run.assembly import complete_state
from bellcrank.run.values import state_lists
from bellcrank.units import Unit

if TYPE_CHECKING:
    from bellcrank.api.simulation import Simulation


@dataclass(frozen=True)
class Point:
    """Time, state, parameters and inputs, all in equation units."""

    t: float
    q: np.ndarray
    u: np.ndarray
    p: tuple[float, ...]
    w: tuple[float, ...]

    @property
    def x(self) -> np.ndarray:
        return np.concatenate([self.q, self.u])


def point_at(
    sim: Simulation,
    at: Any = None,
    parameters: Mapping[str, float] | None = None,
    inputs: Mapping[str, Any] | None = None,
    t: float = 0.0,
) -> Point:
    """The point a user means: None (the start of set_run), values of states (user units), (q, u), or an equilibrium."""
    found = getattr(at, "point", None)
    if isinstance(found, Point):
        if parameters or inputs:
            raise ModelError(
                "parameters= and inputs= are those of the equilibrium given as at=; find it with the others first",
                sim.equations.name,
            )
        return found
    p = sim.parameter_values(parameters)
    signals = sim._inputs(inputs)
    w = tuple(float(i.function(t)) for i in signals)
    if isinstance(at, tuple) and len(at) == 2 and not isinstance(at[0], str):
        q, u = state_lists(sim.equations, *at)
        return Point(t, np.array(q), np.array(u), tuple(p), w)
    if at is not None and not isinstance(at, Mapping):
        raise ModelError(
            f"at={at!r} is not known; give values of states by name, (q, u), an equilibrium, or nothing for the start of the run",
            sim.equations.name,
        )
    initial = sim.description.run.initial if at is None else at
    q0, u0 = complete_state(sim.equations, initial, sim._closure(p, signals), p, signals)
    return Point(t, np.asarray(q0), np.asarray(u0), tuple(p), w)


def parameters_of(sim: Simulation, symbols: Sequence[Symbol], given: Mapping[str, float] | None = None) -> list[float]:
    """Values in equation units of parameters that need not occur in the equations of motion."""
    known = dict(zip(sim.program.parameters, sim.parameter_values(given), strict=True))
    override = {str(k).lower(): v for k, v in (given or {}).items()}
    values = []
    for s in symbols:
        record = sim.description.parameters.get(s.name.lower())
        value = override.get(s.name.lower(), record.value if record else None)
        if s in known:
            values.append(known[s])
        elif value is None:
            raise ModelError(f"no value is given for the parameter '{s.name}'", sim.equations.name)
        else:
            values.append(float(sim.quantities.unit[s.name.lower()].to_equation(float(value))))
    return values


@dataclass(frozen=True)
class Quantity:
    """A state, input, parameter or output: its symbol, and the unit a person reads."""

    name: str
    kind: str  # coordinate, speed, input, parameter, output
    symbol: Symbol | None
    unit: Unit
    label: str


def refuse_kept(sim: Simulation) -> None:
    """An error for models with values that change in jumps, at the end of steps: they have no equations in continuous time."""
    kept = [s.name for s in sim.program.inputs if s.kind == "kept"]
    if kept:
        raise ModelError(
            f"this is not available for models with external routines that are called once per step or run: {', '.join(kept)}",
            sim.equations.name,
        )


class Names:
    """Everything of a model that can be named, looked up without regard to case or spaces."""

    def __init__(self, sim: Simulation) -> None:
        self.model = sim.equations.name
        q, program = sim.quantities, sim.program
        self.states = [
            Quantity(s.name, kind, s, q.states[s.name], q.state_label.get(s.name, s.name))
            for kind, listed in (("coordinate", program.coordinates), ("speed", program.speeds))
            for s in listed
        ]
        refuse_kept(sim)
        self.inputs = [_input(sim, s) for s in program.inputs]
        self.parameters = [
            Quantity(s.name, "parameter", s, q.unit[s.name.lower()], q.label.get(s.name.lower(), s.name))
            for s in program.parameters
        ]
        self._before_entry = {s for k in program.entry.statements for e in statement_expressions(k) for s in symbols(e)}
        labels = {o.name: o.label for o in sim.equations.analysis.outputs}
        self.outputs = [Quantity(n, "output", None, q.output_unit[n], labels.get(n, n)) for n in program.output_names]
        self._alias = {
            f"{s.name[0]}({i})": s.name
            for listed in (program.coordinates, program.speeds)
            for i, s in enumerate(listed, 1)
        }

    def find(self, given: Any, kinds: Sequence[str], what: str) -> Quantity:
        """The quantity of that name; an error names the near ones."""
        name = given.name if hasattr(given, "name") else str(given)
        listed = [x for x in (*self.states, *self.inputs, *self.parameters, *self.outputs) if x.kind in kinds]
        for wanted in (name, self._alias.get(_key(name), name)):
            for x in listed:
                if _key(x.name) == _key(wanted):
                    if x.symbol in self._before_entry:
                        what = f"{what} '{name}' acts through external routines that are called when parameters have been read"
                        raise ModelError(f"{what} (when='input'): this is not available for it", self.model)
                    return x
        known = [x.name for x in listed]
        words = {"coordinate": "coordinates", "speed": "speeds", "input": "inputs", "parameter": "parameters"}
        groups = [
            f"{words.get(kind, kind + 's')}: {', '.join(found)}"
            for kind in kinds
            if (found := [x.name for x in listed if x.kind == kind])
        ]
        raise ModelError(
            f"{what} '{name}' is not known.{did_you_mean(name, known)} {'; '.join(groups) or 'There are none'}.",
            self.model,
        )


def _input(sim: Simulation, s: Symbol) -> Quantity:
    """An input, or the rate of one."""
    times, base = 0, s.name
    while base.startswith("dxdt(") and base.endswith(")"):
        times, base = times + 1, base[5:-1]
    unit = sim.quantities.unit[base.lower()]
    label = sim.quantities.label.get(base.lower(), base)
    if times:
        unit = Unit(unit.dimension, unit.factor, f"{unit.text}/s" if times == 1 else f"{unit.text}/s{times}")
        label = f"rate of {label}"
    return Quantity(s.name, "input", s, unit, label)


def _key(name: str) -> str:
    return name.lower().replace(" ", "")


def moved(at: Point, names: Names, changes: Mapping[str, float]) -> Point:
    """The point with some quantities (by name, equation units) replaced."""
    q, u, p, w = at.q.copy(), at.u.copy(), list(at.p), list(at.w)
    groups: dict[str, tuple[list[Quantity], Any]] = {
        "coordinate": ([s for s in names.states if s.kind == "coordinate"], q),
        "speed": ([s for s in names.states if s.kind == "speed"], u),
        "parameter": (names.parameters, p),
        "input": (names.inputs, w),
    }
    for listed, numbers in groups.values():
        for i, x in enumerate(listed):
            if x.name in changes:
                numbers[i] = float(changes[x.name])
    return replace(at, q=q, u=u, p=tuple(p), w=tuple(w))
