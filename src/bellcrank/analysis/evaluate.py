"""Exact values and derivatives of a model at any point, from programs that are derived once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bellcrank.analysis.jacobian import WRITTEN_OUT, derive_jacobian
from bellcrank.analysis.jacobian_runner import Find, Groups, Runner, grouped, rows_of
from bellcrank.analysis.loop_evaluator import LoopEvaluator
from bellcrank.analysis.plant import Plant
from bellcrank.analysis.point import Point
from bellcrank.derive.results import GROUPS
from bellcrank.errors import RunError
from bellcrank.expr import Symbol
from bellcrank.run.stepping import NO_VALUE

Columns = tuple[Symbol, ...]


class Evaluator:
    """Values and derivatives from the equations of motion as they are printed."""

    def __init__(self, plant: Plant, groups: Sequence[str], columns: Sequence[Symbol], often: bool = False) -> None:
        program, results = plant.loaded.program, plant.derived.results
        mode = "cheapest" if often else "forward"
        self.runner = Runner(plant.loaded, derive_jacobian(program, results, groups, columns, mode, often), often)
        self.sizes = {g: len(results.rows(g)) for g in groups}
        self.columns, self.notes = tuple(columns), self.runner.jacobian.notes

    def __call__(self, at: Point) -> tuple[Groups, Groups]:
        values, matrix = self.runner(at, loose=rows_of("outputs", self.sizes))
        return grouped(values, self.sizes), grouped(matrix, self.sizes)

    def values(self, at: Point) -> Groups:
        if self.sizes.get("positions") or self.sizes.get("speeds"):
            return grouped(self.runner(at, loose=rows_of("outputs", self.sizes), with_derivatives=False)[0], self.sizes)
        loaded, p, empty = self.runner.loaded, list(at.p), np.zeros(0)
        here = at.t, at.q.tolist(), at.u.tolist(), p, loaded.constants(p), list(at.w)
        calls = loaded.model.calls()
        try:
            rates = [x for part in calls.derivatives(*here) for x in part]
            outputs = calls.outputs(*here) if "outputs" in self.sizes else ()
        except NO_VALUE as error:
            raise RunError(self.runner.singular(at, str(error))) from None
        return {"rates": np.array(rates), "outputs": np.array(outputs), "positions": empty, "speeds": empty}


class Part:
    """Some columns of what finds more."""

    def __init__(self, whole: Find, columns: Sequence[Symbol]) -> None:
        self.whole, self.columns, self.notes = whole, tuple(columns), whole.notes
        place = {s: j for j, s in enumerate(whole.columns)}
        self._chosen = [place[s] for s in columns]

    def __call__(self, at: Point) -> tuple[Groups, Groups]:
        values, derivatives = self.whole(at)
        return values, {g: m[:, self._chosen] for g, m in derivatives.items()}

    def values(self, at: Point) -> Groups:
        return self.whole.values(at)


def evaluator(plant: Plant, groups: Sequence[str], columns: Sequence[Symbol]) -> Find:
    """The evaluator of values and derivatives, made once per model. Loops need no choice of independent speeds."""
    # with small variables the program itself counts: what is dropped depends on the way of derivation
    whole = plant.loaded.program.loops is not None and not plant.derived.analysis.mechanism.orders
    made: type[LoopEvaluator] | type[Evaluator] = LoopEvaluator if whole else Evaluator
    kept: dict[Any, Find] = plant.once("evaluators", dict)
    for (g, c), larger in kept.copy().items():
        if set(groups) <= set(g) and set(columns) <= set(c):
            return larger if c == tuple(columns) else Part(larger, columns)
    key = _at_once(plant, groups, columns)
    found: Find = plant.once((made, *key), lambda: made(plant, *key))
    kept.setdefault(key, found)
    return found if found.columns == tuple(columns) else Part(found, columns)


def _at_once(plant: Plant, groups: Sequence[str], columns: Sequence[Symbol]) -> tuple[tuple[str, ...], Columns]:
    """What is found together: of a large model that is compiled for it, all that any analysis usually asks for."""
    interface, loaded = plant.interface, plant.loaded
    if loaded.model.compiler is None or loaded.program.count.total * len(columns) <= WRITTEN_OUT:
        return tuple(groups), tuple(columns)
    usual = [q.symbol for q in (*interface.states, *interface.inputs) if q.symbol is not None]
    return GROUPS, tuple(dict.fromkeys([*usual, *columns]))
