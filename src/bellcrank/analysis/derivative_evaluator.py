"""Exact values and derivatives of a model at any point, from programs that are derived once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bellcrank.analysis.jacobian import MAX_MATRIX_OPERATIONS, derive_jacobian
from bellcrank.analysis.jacobian_runner import (
    Groups,
    JacobianEvaluation,
    JacobianRunner,
    group_rows,
    split_groups,
)
from bellcrank.analysis.loop_evaluator import LoopEvaluator
from bellcrank.analysis.plant import AnalysisModel
from bellcrank.analysis.point import EvaluationPoint
from bellcrank.core.errors import RunError
from bellcrank.mechanics.derive.results import GROUPS
from bellcrank.simulation.run.stepping import NO_VALUE
from bellcrank.symbolic.expr import Symbol

Columns = tuple[Symbol, ...]


class DerivativeEvaluator:
    """Values and derivatives from the equations of motion as they are printed."""

    def __init__(
        self,
        plant: AnalysisModel,
        groups: Sequence[str],
        columns: Sequence[Symbol],
        often: bool = False,
    ) -> None:
        program, results = plant.loaded.program, plant.derived.results
        mode = "cheapest" if often else "forward"
        self.runner = JacobianRunner(
            plant.loaded, derive_jacobian(program, results, groups, columns, mode, often), often
        )
        self.sizes = {g: len(results.select_groups(g)) for g in groups}
        self.columns, self.notes = tuple(columns), self.runner.jacobian.notes

    def __call__(self, point: EvaluationPoint) -> tuple[Groups, Groups]:
        values, matrix = self.runner(point, loose=group_rows("outputs", self.sizes))
        return split_groups(values, self.sizes), split_groups(matrix, self.sizes)

    def evaluate_values(self, point: EvaluationPoint) -> Groups:
        if self.sizes.get("positions") or self.sizes.get("speeds"):
            return split_groups(
                self.runner(point, loose=group_rows("outputs", self.sizes), with_derivatives=False)[
                    0
                ],
                self.sizes,
            )
        loaded, p, empty = self.runner.loaded, list(point.p), np.zeros(0)
        arguments = (
            point.t,
            point.q.tolist(),
            point.u.tolist(),
            p,
            loaded.constants(p),
            list(point.w),
        )
        functions = loaded.model.new_calls()
        try:
            rates = [x for part in functions.derivatives(*arguments) for x in part]
            outputs = functions.outputs(*arguments) if "outputs" in self.sizes else ()
        except NO_VALUE as error:
            raise RunError(self.runner.singular_message(point, str(error))) from None
        return {
            "rates": np.array(rates),
            "outputs": np.array(outputs),
            "positions": empty,
            "speeds": empty,
        }


class EvaluatorColumns:
    """Some columns of what finds more."""

    def __init__(self, evaluation: JacobianEvaluation, columns: Sequence[Symbol]) -> None:
        self.whole, self.columns, self.notes = evaluation, tuple(columns), evaluation.notes
        column_index = {s: j for j, s in enumerate(evaluation.columns)}
        self._chosen = [column_index[s] for s in columns]

    def __call__(self, point: EvaluationPoint) -> tuple[Groups, Groups]:
        values, derivatives = self.whole(point)
        return values, {g: m[:, self._chosen] for g, m in derivatives.items()}

    def evaluate_values(self, point: EvaluationPoint) -> Groups:
        return self.whole.evaluate_values(point)


def make_evaluator(
    plant: AnalysisModel, groups: Sequence[str], columns: Sequence[Symbol]
) -> JacobianEvaluation:
    """The evaluator of values and derivatives, made once per model. Loops need no choice of
    independent speeds."""
    # with small variables the program itself counts: what is dropped depends on the way of
    # derivation
    has_loops = (
        plant.loaded.program.loops is not None and not plant.derived.analysis.mechanism.orders
    )
    evaluator_class: type[LoopEvaluator] | type[DerivativeEvaluator] = (
        LoopEvaluator if has_loops else DerivativeEvaluator
    )
    evaluators: dict[Any, JacobianEvaluation] = plant.cached("evaluators", dict)
    for (g, c), larger in evaluators.copy().items():
        if set(groups) <= set(g) and set(columns) <= set(c):
            return larger if c == tuple(columns) else EvaluatorColumns(larger, columns)
    key = _joint_request(plant, groups, columns)
    evaluation: JacobianEvaluation = plant.cached(
        (evaluator_class, *key), lambda: evaluator_class(plant, *key)
    )
    evaluators.setdefault(key, evaluation)
    return (
        evaluation
        if evaluation.columns == tuple(columns)
        else EvaluatorColumns(evaluation, columns)
    )


def _joint_request(
    plant: AnalysisModel, groups: Sequence[str], columns: Sequence[Symbol]
) -> tuple[tuple[str, ...], Columns]:
    """What is found together: of a large model that is compiled for it, all that any analysis
    usually asks for."""
    interface, loaded = plant.interface, plant.loaded
    if (
        loaded.model.compiler is None
        or loaded.program.count.total * len(columns) <= MAX_MATRIX_OPERATIONS
    ):
        return tuple(groups), tuple(columns)
    usual = [q.symbol for q in (*interface.states, *interface.inputs) if q.symbol is not None]
    return GROUPS, tuple(dict.fromkeys([*usual, *columns]))
