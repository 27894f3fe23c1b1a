"""Exact values and slopes of a simulation at any point, from programs that are derived once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bellcrank.analysis.point import Point, parameters_of
from bellcrank.backend.c import CModel
from bellcrank.backend.python import PythonModel
from bellcrank.derive.external_slopes import SlopeOf, difference
from bellcrank.derive.jacobian import Slopes, derive_slopes, seed
from bellcrank.errors import ModelError, RunError
from bellcrank.expr import Symbol
from bellcrank.expr.table import Table

if TYPE_CHECKING:
    from bellcrank.api.simulation import Simulation

NO_VALUE = (ZeroDivisionError, ValueError, OverflowError)
Groups = dict[str, np.ndarray]
NOWHERE = slice(0, 0)


class Find(Protocol):
    """Values by group (rates, outputs, positions, speeds) and their slopes (rows by columns) at a point, in equation units."""

    columns: tuple[Symbol, ...]
    notes: tuple[str, ...]

    def __call__(self, at: Point) -> tuple[Groups, Groups]: ...


class Runner:
    """A program of slopes, loaded, with the parameters and inputs it needs put in their places."""

    def __init__(self, sim: Simulation, slopes: Slopes, often: bool = False) -> None:
        self.sim, self.slopes = sim, slopes
        program = slopes.program
        routines = [self._routine(r) for r in program.routines]
        self.model: Any = (
            CModel(program, routines, [r.name for r in program.routines])
            if often and isinstance(sim.model, CModel)
            else PythonModel(program, routines)
        )
        place = {s: i for i, s in enumerate(sim.program.parameters)}
        self._p = [place.get(s) for s in program.parameters]
        others = [s for s in program.parameters if s not in place]
        self._other = dict(zip(others, parameters_of(sim, others), strict=True))
        self._known: tuple[tuple[float, ...], list[float]] | None = None

    def _routine(self, routine: Any) -> Any:
        if isinstance(routine, Table):
            return routine.value
        if isinstance(routine, SlopeOf):
            return difference(self._routine(routine.base), routine.argument)
        by_name = {r.name: f for r, f in zip(self.sim.program.routines, self.sim.externals, strict=True)}
        function = by_name.get(routine.name, routine.python)
        if function is None:
            raise ModelError(
                f"external '{routine.name}' is given in C alone: its slopes need python= or external= as well",
                self.sim.equations.name,
            )
        return function

    def __call__(
        self, at: Point, given: Mapping[Symbol, float] | None = None, loose: slice = NOWHERE
    ) -> tuple[np.ndarray, np.ndarray]:
        """Values of all rows and their slopes by all columns; `given` are inputs of the program besides those of the model.

        Rows in `loose` may have no finite values: an angle between directions has no slope where they coincide.
        """
        symbols = self.slopes.program.parameters
        p = [at.p[i] if i is not None else self._other[s] for i, s in zip(self._p, symbols, strict=True)]
        known = {**dict(zip(self.sim.program.inputs, at.w, strict=True)), **(given or {})}
        try:
            if self._known is None or self._known[0] != tuple(p):
                self._known = (tuple(p), self.model.constants(p))
            values, matrix = self._evaluated(at, p, self._known[1], known)
        except NO_VALUE as error:
            raise RunError(self.singular(at, str(error))) from None
        bad = ~np.isfinite(values) | ~np.all(np.isfinite(matrix), axis=1)
        bad[loose] = False
        if np.any(bad):
            names = [r for r, b in zip(self.slopes.rows, bad, strict=True) if b]
            more = " and others" if len(names) > 4 else ""
            raise RunError(self.singular(at, f"{', '.join(names[:4])}{more} not finite"))
        return values, matrix

    def _evaluated(
        self, at: Point, p: list[float], c: list[float], known: Mapping[Symbol, float]
    ) -> tuple[np.ndarray, np.ndarray]:
        q, u, inputs = at.q.tolist(), at.u.tolist(), self.slopes.program.inputs

        def run(given: Mapping[Symbol, float]) -> tuple[np.ndarray, np.ndarray]:
            w = [given.get(s, 0.0) for s in inputs]
            return self.slopes.dense(self.model.outputs(at.t, q, u, p, c, w))

        if not self.slopes.rates:
            return run(known)
        values = np.zeros(len(self.slopes.rows))
        matrix = np.zeros((len(self.slopes.rows), len(self.slopes.columns)))
        for j, column in enumerate(self.slopes.columns):
            values, found = run({**known, seed(column): 1.0})
            matrix[:, j] = found[:, 0]
        return values, matrix

    def singular(self, at: Point, why: str) -> str:
        """What is said of a point without slopes."""
        states = self.sim.equations.coordinates
        shown = ", ".join(f"{s.name} = {v:.4g}" for s, v in zip(states[:6], at.q, strict=False))
        return (
            f"the model '{self.sim.equations.name}' cannot be differentiated here ({why}): a singular configuration? "
            f"At {shown}{' ...' if len(states) > 6 else ''} (rad and consistent units); move away from it"
        )


def grouped(array: np.ndarray, sizes: Mapping[str, int]) -> Groups:
    """Rows of an array by group."""
    ends = np.cumsum(list(sizes.values()))
    return {g: array[end - n : end] for (g, n), end in zip(sizes.items(), ends, strict=True)}


def rows_of(group: str, sizes: Mapping[str, int], skip: int = 0) -> slice:
    """The rows of a group, without its first ones."""
    start = 0
    for name, n in sizes.items():
        if name == group:
            return slice(start + skip, start + n)
        start += n
    return NOWHERE


class Evaluator:
    """Values and slopes from the equations of motion as they are printed."""

    def __init__(self, sim: Simulation, groups: Sequence[str], columns: Sequence[Symbol], often: bool = False) -> None:
        results = sim.equations.derived.results
        mode = "cheapest" if often else "forward"
        self.runner = Runner(sim, derive_slopes(sim.program, results, groups, columns, mode, often), often)
        self.sizes = {g: len(results.group(g)) for g in groups}
        self.columns, self.notes = tuple(columns), self.runner.slopes.notes

    def __call__(self, at: Point) -> tuple[Groups, Groups]:
        values, matrix = self.runner(at, loose=rows_of("outputs", self.sizes))
        return grouped(values, self.sizes), grouped(matrix, self.sizes)


def evaluator(sim: Simulation, groups: Sequence[str], columns: Sequence[Symbol], often: bool = False) -> Find:
    """What finds values and slopes, made once per simulation. Without `often`, loops are taken without a choice of independent speeds."""
    from bellcrank.analysis.loop_evaluator import LoopEvaluator

    key = (tuple(groups), tuple(columns), often)
    if key not in sim._evaluators:
        # with small variables the program itself counts: what is dropped depends on the way of derivation
        whole = sim.program.loops is not None and not often and not sim.equations.analysis.mechanism.orders
        sim._evaluators[key] = LoopEvaluator(sim, groups, columns) if whole else Evaluator(sim, groups, columns, often)
    found: Find = sim._evaluators[key]
    return found
