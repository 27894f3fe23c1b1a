"""Equilibria of a simulation: which equations, which unknowns, and the words around the solution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.analysis.equilibrium import Equilibrium, NoEquilibrium, indifferent_names
from bellcrank.analysis.evaluate import Find, evaluator
from bellcrank.analysis.point import Names, Point, Quantity, moved, point_at
from bellcrank.analysis.solve import Root, solve
from bellcrank.errors import ModelError, RunError

if TYPE_CHECKING:
    from bellcrank.api.simulation import Simulation

SETTABLE = ("coordinate", "speed", "input", "parameter")


def ignorable(sim: Simulation) -> set[str]:
    """Coordinates on which no acceleration, no constraint and no rate of a coordinate that is not ignorable itself depends."""
    coordinates = list(sim.program.coordinates)
    rates, others = sim.equations.derived.results.acting(len(coordinates))
    found = {q for q in coordinates if q not in others}
    while True:
        kept = {
            q
            for q in found
            if not any(q in acting for c, acting in zip(coordinates, rates, strict=True) if c not in found)
        }
        if kept == found:
            return {q.name for q in kept}
        found = kept


@dataclass
class Problem:
    """Unknowns and equations of one search."""

    sim: Simulation
    names: Names
    find: Find
    start: Point
    unknowns: list[Quantity]
    wanted: list[int]  # rates that are to be zero
    targets: dict[str, float]  # states and outputs with their values in equation units

    def at(self, x: np.ndarray) -> Point:
        return moved(self.start, self.names, {q.name: v for q, v in zip(self.unknowns, x.tolist(), strict=True)})

    def equations(self) -> list[str]:
        rates = [f"{s.name}'" for s in self.names.states]
        rows = [rates[i] for i in self.wanted]
        for g in ("positions", "speeds"):
            rows += [name for name, _ in self.sim.equations.derived.results.group(g)]
        return [*rows, *self.targets]

    def function(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        here = self.at(x)
        values, slopes = self.find(here)
        place = {s: j for j, s in enumerate(self.find.columns)}
        columns = [place[q.symbol] for q in self.unknowns if q.symbol is not None]
        r = [values["rates"][self.wanted], values["positions"], values["speeds"]]
        J = [slopes["rates"][self.wanted], slopes["positions"], slopes["speeds"]]
        states = {s.name: i for i, s in enumerate(self.names.states)}
        outputs = {o.name: i for i, o in enumerate(self.names.outputs)}
        for name, value in self.targets.items():
            if name in states:
                unit = np.zeros((1, len(place)))
                unit[0, states[name]] = 1.0
                r.append(np.array([here.x[states[name]] - value]))
                J.append(unit)
            else:
                r.append(values["outputs"][outputs[name]][None] - value)
                J.append(slopes["outputs"][outputs[name]][None, :])
        return np.concatenate(r), np.vstack(J)[:, columns]


def find_equilibrium(
    sim: Simulation,
    free: Iterable[Any] | str | None,
    fixed: Mapping[Any, float] | Iterable[Any] | str | None,
    targets: Mapping[Any, float] | None,
    start: Mapping[Any, float] | None,
    parameters: Mapping[str, float] | None,
    inputs: Mapping[str, Any] | None,
    t: float,
) -> Equilibrium:
    """Solves for the state (and what is free) at which nothing accelerates."""
    problem, gone = _problem(sim, free, fixed, targets, start, parameters, inputs, t)
    x0 = np.array([_value(problem.start, problem.names, q) for q in problem.unknowns])

    def function(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        try:
            return problem.function(x)
        except RunError as error:
            if np.array_equal(x, x0):
                raise
            raise ArithmeticError(str(error)) from None

    root = solve(function, x0)
    if not root.found:
        raise _none(problem, root)
    return _result(problem, root, gone)


def _listed(given: Iterable[Any] | str | None) -> list[Any]:
    return [] if given is None else [given] if isinstance(given, str) else list(given)


def _problem(
    sim: Simulation, free: Any, fixed: Any, targets: Any, start: Any, parameters: Any, inputs: Any, t: float
) -> tuple[Problem, set[str]]:
    names = Names(sim)
    given = dict(fixed) if isinstance(fixed, Mapping) else dict.fromkeys(_listed(fixed))
    held = {names.find(k, SETTABLE, "fixed"): v for k, v in given.items()}
    wanted_free = [names.find(k, SETTABLE, "free") for k in _listed(free)]
    aims = {names.find(k, ("coordinate", "speed", "output"), "target"): v for k, v in (targets or {}).items()}
    both = [q.name for q in wanted_free if q in held]
    if both:
        raise ModelError(f"{', '.join(both)} cannot be both free and fixed", sim.equations.name)
    numbers = {q: _number(v, q.name) for q, v in held.items() if v is not None}
    run = sim.description.run
    states = {q.name: v for q, v in numbers.items() if q.kind in ("coordinate", "speed")}
    own = {q.name: v for q, v in numbers.items() if q.kind == "parameter"}
    driven = {q.name: v for q, v in numbers.items() if q.kind == "input" and not q.name.startswith("dxdt(")}
    base = dict(run.initial if start is None else start)
    at = point_at(sim, {**base, **states}, {**(parameters or {}), **own}, {**(inputs or {}), **driven}, t)
    at = moved(at, names, {q.name: v * q.unit.factor for q, v in numbers.items() if q.kind != "parameter"})
    extra = [q for q in wanted_free if q.kind in ("parameter", "input")]
    columns = [s.symbol for s in (*names.states, *extra) if s.symbol is not None]
    groups = (
        ("rates", "positions", "speeds", "outputs")
        if any(q.kind == "output" for q in aims)
        else ("rates", "positions", "speeds")
    )
    find = evaluator(sim, groups, columns)
    gone = ignorable(sim)
    unknowns = [
        s for s in names.states if s not in held and (s.name not in gone or s in wanted_free or s in aims)
    ] + extra
    rates = [i for i, s in enumerate(names.states) if s.name not in gone]
    goals = {q.name: _number(v, q.name) * q.unit.factor for q, v in aims.items()}
    return Problem(sim, names, find, at, unknowns, rates, goals), gone


def _number(value: Any, name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ModelError(f"the value of {name} is {value!r}, not a number") from None
    if not np.isfinite(number):
        raise ModelError(f"the value of {name} is {number}, not a finite number")
    return number


def _value(at: Point, names: Names, q: Quantity) -> float:
    if q.kind == "parameter":
        return at.p[names.parameters.index(q)]
    if q.kind == "input":
        return at.w[names.inputs.index(q)]
    return float(at.x[names.states.index(q)])


def _result(problem: Problem, root: Root, gone: set[str]) -> Equilibrium:
    names, at = problem.names, problem.at(root.x)
    extra = [q for q in problem.unknowns if q.kind in ("parameter", "input")]
    shown = [*names.states, *extra]
    values = {q.name: float(q.unit.from_equation(_value(at, names, q))) for q in shown}
    found, _ = problem.find(at)
    steady = {
        q.name: float(q.unit.from_equation(rate))
        for q, rate in zip(names.states, found["rates"], strict=True)
        if q.name in gone and abs(rate) > 1e-7
    }
    loose = indifferent_names(root.null_space, [q.name for q in problem.unknowns])
    fixed = {q.name for q in problem.unknowns}
    loose += [q for q in sorted(gone, key=[s.name for s in names.states].index) if q not in fixed]
    return Equilibrium(
        problem.sim.equations.name,
        values,
        {q.name: q.unit.text for q in shown},
        {q.name: q.label for q in shown},
        tuple(q.name for q in problem.unknowns),
        float(np.abs(root.residuals).max(initial=0.0)),
        tuple(dict.fromkeys(loose)),
        steady,
        tuple(q.name for q in names.states),
        at,
        root.steps,
    )


def _none(problem: Problem, root: Root) -> NoEquilibrium:
    """What is left, and which freedoms run away."""
    rows = problem.equations()
    left = {n: float(r) for n, r in zip(rows, root.residuals, strict=True)}
    worst = sorted(left, key=lambda n: -abs(left[n]))[:4]
    largest = abs(left[worst[0]]) if worst else 0.0
    told = [f"{n} = {left[n]:.4g}" for n in worst if abs(left[n]) > 1e-3 * largest]
    scale = np.maximum(np.abs(root.x - root.moved), 1.0)
    far = [q.name for q, m, s in zip(problem.unknowns, root.moved, scale, strict=True) if m > 1e3 * s]
    speeds = {f"{s.name}'": s.name for s in problem.names.states}
    loose = [speeds[n] for n in worst if n in speeds and abs(left[n]) > 1e-3 * largest]
    runaway = list(dict.fromkeys([*far, *loose]))
    given = len(rows), len(problem.unknowns)
    words = f"{given[0]} equations, {given[1]} unknowns" if given[0] > given[1] else ""
    parts = [
        f"the model '{problem.sim.equations.name}' has no equilibrium that could be found"
        + (f" ({words}: free more, or fix less)" if words and not far else ""),
        f"nearest point, in equation units: {', '.join(told)}",
        f"freedoms that run away: {', '.join(runaway)}" if runaway else "",
    ]
    return NoEquilibrium("; ".join(p for p in parts if p), left, runaway)
