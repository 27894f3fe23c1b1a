"""Equilibria of a model: which equations, which unknowns, and the words around the solution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.analysis.equilibrium import Equilibrium, NoEquilibrium, indifferent_names
from bellcrank.analysis.evaluate import evaluator
from bellcrank.analysis.plant import PARAMETERS, SETTABLE, STATES, Plant
from bellcrank.analysis.point import Point, point_at
from bellcrank.analysis.slope_runner import Find, channel_at, groups_for
from bellcrank.analysis.solve import Root, solve
from bellcrank.errors import ModelError, RunError
from bellcrank.interface.interface import Quantity
from bellcrank.run.evaluate import Inputs, Parameters
from bellcrank.run.values import finite

Values = Mapping[Any, float] | None


def ignorable(plant: Plant) -> set[str]:
    """Coordinates on which no acceleration, no constraint and no rate of a coordinate that is not ignorable depends."""
    coordinates = list(plant.loaded.program.coordinates)
    rates, others = plant.derived.results.acting(len(coordinates))
    found = {q for q in coordinates if q not in others}
    while True:
        acting = [a for c, a in zip(coordinates, rates, strict=True) if c not in found]
        kept = {q for q in found if not any(q in a for a in acting)}
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
        r, J = ([x["rates"][self.wanted], x["positions"], x["speeds"]] for x in (values, slopes))
        for q, value in self.targets.items():
            now, row = channel_at(q, here.x, values, slopes)
            r.append(np.array([now - value]))
            J.append(row[None, :])
        return np.concatenate(r), np.vstack(J)[:, columns]


def find_equilibrium(
    plant: Plant,
    free: Any = None,
    fixed: Any = None,
    targets: Values = None,
    start: Values = None,
    parameters: Parameters = None,
    inputs: Inputs = None,
    t: float = 0.0,
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


def _problem(
    plant: Plant, free: Any, fixed: Any, targets: Any, start: Any, parameters: Any, inputs: Any, t: float
) -> tuple[Problem, set[str]]:
    plant.refuse_kept()
    if isinstance(fixed, Mapping):
        held = {plant.find(k, SETTABLE, "fixed"): v for k, v in fixed.items()}
    else:
        held = dict.fromkeys(plant.find_all(fixed, SETTABLE, "fixed"))
    wanted_free = plant.find_all(free, SETTABLE, "free")
    aims = {plant.find(k, (*STATES, "output"), "target"): v for k, v in (targets or {}).items()}
    both = [q.name for q in wanted_free if q in held]
    if both:
        raise ModelError(f"{', '.join(both)} cannot be both free and fixed", plant.name)
    numbers = {q: finite(v, f"the value of {q.name}") for q, v in held.items() if v is not None}
    states = {q.name: v for q, v in numbers.items() if q.kind in STATES}
    own = {q.name: v for q, v in numbers.items() if q.kind in PARAMETERS}
    driven = {q.name: v for q, v in numbers.items() if q.kind == "input" and not q.rate}
    base = dict(plant.interface.run.initial if start is None else start)
    at = point_at(plant.loaded, {**base, **states}, {**(parameters or {}), **own}, {**(inputs or {}), **driven}, t)
    at = at.moved({q: v * q.unit.factor for q, v in numbers.items() if q.kind not in PARAMETERS})
    listed = plant.interface.states
    extra = [q for q in wanted_free if q.kind not in STATES]
    columns = [s.symbol for s in (*listed, *extra) if s.symbol is not None]
    find = evaluator(plant, groups_for(aims), columns)
    gone = ignorable(plant)
    unknowns = [s for s in listed if s not in held and (s.name not in gone or s in wanted_free or s in aims)] + extra
    rates = [i for i, s in enumerate(listed) if s.name not in gone]
    goals = {q: finite(v, f"the value of {q.name}") * q.unit.factor for q, v in aims.items()}
    return Problem(plant, find, at, unknowns, rates, goals), gone


def _result(problem: Problem, root: Root, gone: set[str]) -> Equilibrium:
    states, at = problem.plant.interface.states, problem.at(root.x)
    shown = [*states, *(q for q in problem.unknowns if q.kind not in STATES)]
    values = {q.name: float(q.unit.from_equation(at.of(q))) for q in shown}
    found, _ = problem.find(at)
    going = [(q, rate) for q, rate in zip(states, found["rates"], strict=True) if q.name in gone and abs(rate) > 1e-7]
    steady = {q.name: float(q.unit.from_equation(rate)) for q, rate in going}
    loose = indifferent_names(root.null_space, [q.name for q in problem.unknowns])
    fixed = {q.name for q in problem.unknowns}
    loose += [q for q in sorted(gone, key=[s.name for s in states].index) if q not in fixed]
    units, labels = {q.name: q.unit.text for q in shown}, {q.name: q.label for q in shown}
    unknowns, residual = tuple(q.name for q in problem.unknowns), float(np.abs(root.residuals).max(initial=0.0))
    found_in = unknowns, residual, tuple(dict.fromkeys(loose)), steady, tuple(q.name for q in states)
    return Equilibrium(problem.plant.name, values, units, labels, *found_in, at, root.steps)


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
    counts = f"{len(rows)} equations, {len(problem.unknowns)} unknowns"
    more = len(rows) > len(problem.unknowns) and not far
    parts = [
        f"the model '{problem.plant.name}' has no equilibrium that could be found"
        + (f" ({counts}: free more, or fix less)" if more else ""),
        f"nearest point, in equation units: {', '.join(told)}",
        f"freedoms that run away: {', '.join(runaway)}" if runaway else "",
    ]
    return NoEquilibrium("; ".join(p for p in parts if p), left, runaway)
