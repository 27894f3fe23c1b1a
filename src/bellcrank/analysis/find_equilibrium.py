"""Equilibria of a model: which equations, which unknowns, and the words around the solution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.analysis.equilibrium import Equilibrium, NoEquilibrium, indifferent_names
from bellcrank.analysis.evaluate import evaluator
from bellcrank.analysis.plant import PARAMETERS, SETTABLE, STATES, Plant
from bellcrank.analysis.point import Point, point_at
from bellcrank.analysis.slope_runner import Find
from bellcrank.analysis.solve import Root, solve
from bellcrank.errors import ModelError, RunError
from bellcrank.interface.interface import Quantity


def ignorable(plant: Plant) -> set[str]:
    """Coordinates on which no acceleration, no constraint and no rate of a coordinate that is not ignorable depends."""
    coordinates = list(plant.loaded.program.coordinates)
    rates, others = plant.derived.results.acting(len(coordinates))
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

    plant: Plant
    find: Find
    start: Point
    unknowns: list[Quantity]
    wanted: list[int]  # rates that are to be zero
    targets: dict[Quantity, float]  # states and outputs with their values in equation units

    def at(self, x: np.ndarray) -> Point:
        return self.start.moved(dict(zip(self.unknowns, x.tolist(), strict=True)))

    def equations(self) -> list[str]:
        rates = [f"{s.name}'" for s in self.plant.interface.states]
        rows = [rates[i] for i in self.wanted]
        for g in ("positions", "speeds"):
            rows += [name for name, _ in self.plant.derived.results.rows(g)]
        return [*rows, *(q.name for q in self.targets)]

    def function(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        here = self.at(x)
        values, slopes = self.find(here)
        place = {s: j for j, s in enumerate(self.find.columns)}
        columns = [place[q.symbol] for q in self.unknowns if q.symbol is not None]
        r = [values["rates"][self.wanted], values["positions"], values["speeds"]]
        J = [slopes["rates"][self.wanted], slopes["positions"], slopes["speeds"]]
        for q, value in self.targets.items():
            if q.kind == "output":
                r.append(values["outputs"][q.place][None] - value)
                J.append(slopes["outputs"][q.place][None, :])
            else:
                unit = np.zeros((1, len(place)))
                unit[0, q.column - 1] = 1.0
                r.append(np.array([here.of(q) - value]))
                J.append(unit)
        return np.concatenate(r), np.vstack(J)[:, columns]


def find_equilibrium(
    plant: Plant,
    free: Iterable[Any] | str | None,
    fixed: Mapping[Any, float] | Iterable[Any] | str | None,
    targets: Mapping[Any, float] | None,
    start: Mapping[Any, float] | None,
    parameters: Mapping[str, float] | None,
    inputs: Mapping[str, Any] | None,
    t: float,
) -> Equilibrium:
    """Solves for the state (and what is free) at which nothing accelerates."""
    problem, gone = _problem(plant, free, fixed, targets, start, parameters, inputs, t)
    x0 = np.array([problem.start.of(q) for q in problem.unknowns])

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
    plant: Plant, free: Any, fixed: Any, targets: Any, start: Any, parameters: Any, inputs: Any, t: float
) -> tuple[Problem, set[str]]:
    plant.refuse_kept()
    given = dict(fixed) if isinstance(fixed, Mapping) else dict.fromkeys(_listed(fixed))
    held = {plant.find(k, SETTABLE, "fixed"): v for k, v in given.items()}
    wanted_free = [plant.find(k, SETTABLE, "free") for k in _listed(free)]
    aims = {plant.find(k, (*STATES, "output"), "target"): v for k, v in (targets or {}).items()}
    both = [q.name for q in wanted_free if q in held]
    if both:
        raise ModelError(f"{', '.join(both)} cannot be both free and fixed", plant.name)
    numbers = {q: _number(v, q.name) for q, v in held.items() if v is not None}
    states = {q.name: v for q, v in numbers.items() if q.kind in STATES}
    own = {q.name: v for q, v in numbers.items() if q.kind in PARAMETERS}
    driven = {q.name: v for q, v in numbers.items() if q.kind == "input" and not q.rate}
    base = dict(plant.interface.run.initial if start is None else start)
    at = point_at(plant.loaded, {**base, **states}, {**(parameters or {}), **own}, {**(inputs or {}), **driven}, t)
    at = at.moved({q: v * q.unit.factor for q, v in numbers.items() if q.kind not in PARAMETERS})
    listed = plant.interface.states
    extra = [q for q in wanted_free if q.kind not in STATES]
    columns = [s.symbol for s in (*listed, *extra) if s.symbol is not None]
    groups = ("rates", "positions", "speeds", *(("outputs",) if any(q.kind == "output" for q in aims) else ()))
    find = evaluator(plant, groups, columns)
    gone = ignorable(plant)
    unknowns = [s for s in listed if s not in held and (s.name not in gone or s in wanted_free or s in aims)] + extra
    rates = [i for i, s in enumerate(listed) if s.name not in gone]
    goals = {q: _number(v, q.name) * q.unit.factor for q, v in aims.items()}
    return Problem(plant, find, at, unknowns, rates, goals), gone


def _number(value: Any, name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ModelError(f"the value of {name} is {value!r}, not a number") from None
    if not np.isfinite(number):
        raise ModelError(f"the value of {name} is {number}, not a finite number")
    return number


def _result(problem: Problem, root: Root, gone: set[str]) -> Equilibrium:
    states, at = problem.plant.interface.states, problem.at(root.x)
    shown = [*states, *(q for q in problem.unknowns if q.kind not in STATES)]
    values = {q.name: float(q.unit.from_equation(at.of(q))) for q in shown}
    found, _ = problem.find(at)
    steady = {
        q.name: float(q.unit.from_equation(rate))
        for q, rate in zip(states, found["rates"], strict=True)
        if q.name in gone and abs(rate) > 1e-7
    }
    loose = indifferent_names(root.null_space, [q.name for q in problem.unknowns])
    fixed = {q.name for q in problem.unknowns}
    loose += [q for q in sorted(gone, key=[s.name for s in states].index) if q not in fixed]
    return Equilibrium(
        problem.plant.name,
        values,
        {q.name: q.unit.text for q in shown},
        {q.name: q.label for q in shown},
        tuple(q.name for q in problem.unknowns),
        float(np.abs(root.residuals).max(initial=0.0)),
        tuple(dict.fromkeys(loose)),
        steady,
        tuple(q.name for q in states),
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
    speeds = {f"{s.name}'": s.name for s in problem.plant.interface.states}
    loose = [speeds[n] for n in worst if n in speeds and abs(left[n]) > 1e-3 * largest]
    runaway = list(dict.fromkeys([*far, *loose]))
    given = len(rows), len(problem.unknowns)
    words = f"{given[0]} equations, {given[1]} unknowns" if given[0] > given[1] else ""
    parts = [
        f"the model '{problem.plant.name}' has no equilibrium that could be found"
        + (f" ({words}: free more, or fix less)" if words and not far else ""),
        f"nearest point, in equation units: {', '.join(told)}",
        f"freedoms that run away: {', '.join(runaway)}" if runaway else "",
    ]
    return NoEquilibrium("; ".join(p for p in parts if p), left, runaway)
