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

    def __call__(self, point: Point) -> tuple[Groups, Groups]:
        values, matrix = self.runner(point, loose=rows_of("outputs", self.sizes))
        return grouped(values, self.sizes), grouped(matrix, self.sizes)

    def values(self, point: Point) -> Groups:
        if self.sizes.get("positions") or self.sizes.get("speeds"):
            return grouped(
                self.runner(point, loose=rows_of("outputs", self.sizes), with_derivatives=False)[0], self.sizes
            )
        loaded, p, empty = self.runner.loaded, list(point.p), np.zeros(0)
        arguments = point.t, point.q.tolist(), point.u.tolist(), p, loaded.constants(p), list(point.w)
        functions = loaded.model.calls()
        try:
            rates = [x for part in functions.derivatives(*arguments) for x in part]
            outputs = functions.outputs(*arguments) if "outputs" in self.sizes else ()
        except NO_VALUE as error:
            raise RunError(self.runner.singular(point, str(error))) from None
        return {"rates": np.array(rates), "outputs": np.array(outputs), "positions": empty, "speeds": empty}


class Part:
    """Some columns of what finds more."""

    def __init__(self, evaluation: Find, columns: Sequence[Symbol]) -> None:
        self.whole, self.columns, self.notes = evaluation, tuple(columns), evaluation.notes
        column_index = {s: j for j, s in enumerate(evaluation.columns)}
        self._chosen = [column_index[s] for s in columns]

    def __call__(self, point: Point) -> tuple[Groups, Groups]:
        values, derivatives = self.whole(point)
        return values, {g: m[:, self._chosen] for g, m in derivatives.items()}

    def values(self, point: Point) -> Groups:
        return self.whole.values(point)


def evaluator(plant: Plant, groups: Sequence[str], columns: Sequence[Symbol]) -> Find:
    """The evaluator of values and derivatives, made once per model. Loops need no choice of independent speeds."""
    # with small variables the program itself counts: what is dropped depends on the way of derivation
    has_loops = plant.loaded.program.loops is not None and not plant.derived.analysis.mechanism.orders
    evaluator_class: type[LoopEvaluator] | type[Evaluator] = LoopEvaluator if has_loops else Evaluator
    evaluators: dict[Any, Find] = plant.once("evaluators", dict)
    for (g, c), larger in evaluators.copy().items():
        if set(groups) <= set(g) and set(columns) <= set(c):
            return larger if c == tuple(columns) else Part(larger, columns)
    key = _at_once(plant, groups, columns)
    evaluation: Find = plant.once((evaluator_class, *key), lambda: evaluator_class(plant, *key))
    evaluators.setdefault(key, evaluation)
    return evaluation if evaluation.columns == tuple(columns) else Part(evaluation, columns)


def _at_once(plant: Plant, groups: Sequence[str], columns: Sequence[Symbol]) -> tuple[tuple[str, ...], Columns]:
    """What is found together: of a large model that is compiled for it, all that any analysis usually asks for."""
    interface, loaded = plant.interface, plant.loaded
    if loaded.model.compiler is None or loaded.program.count.total * len(columns) <= WRITTEN_OUT:
        return tuple(groups), tuple(columns)
    usual = [q.symbol for q in (*interface.states, *interface.inputs) if q.symbol is not None]
    return GROUPS, tuple(dict.fromkeys([*usual, *columns]))
