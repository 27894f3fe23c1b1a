"""Exact values and slopes of a model at any point, from programs that are derived once."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.analysis.loop_evaluator import LoopEvaluator
from bellcrank.analysis.plant import Plant
from bellcrank.analysis.point import Point
from bellcrank.analysis.slope_runner import Find, Groups, Runner, grouped, rows_of
from bellcrank.derive.jacobian import derive_slopes
from bellcrank.expr import Symbol


class Evaluator:
    """Values and slopes from the equations of motion as they are printed."""

    def __init__(self, plant: Plant, groups: Sequence[str], columns: Sequence[Symbol], often: bool = False) -> None:
        program, results = plant.loaded.program, plant.derived.results
        mode = "cheapest" if often else "forward"
        self.runner = Runner(plant.loaded, derive_slopes(program, results, groups, columns, mode, often), often)
        self.sizes = {g: len(results.rows(g)) for g in groups}
        self.columns, self.notes = tuple(columns), self.runner.slopes.notes

    def __call__(self, at: Point) -> tuple[Groups, Groups]:
        values, matrix = self.runner(at, loose=rows_of("outputs", self.sizes))
        return grouped(values, self.sizes), grouped(matrix, self.sizes)

    def values(self, at: Point) -> Groups:
        return grouped(self.runner(at, loose=rows_of("outputs", self.sizes), sloped=False)[0], self.sizes)


def evaluator(plant: Plant, groups: Sequence[str], columns: Sequence[Symbol]) -> Find:
    """What finds values and slopes, made once per model. Loops are taken without a choice of independent speeds."""
    # with small variables the program itself counts: what is dropped depends on the way of derivation
    whole = plant.loaded.program.loops is not None and not plant.derived.analysis.mechanism.orders
    made: type[LoopEvaluator] | type[Evaluator] = LoopEvaluator if whole else Evaluator
    found: Find = plant.once((made, tuple(groups), tuple(columns)), lambda: made(plant, groups, columns))
    return found
