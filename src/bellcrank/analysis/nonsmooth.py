"""Derivatives at a kink of a model: damping that is another in rebound, a table of straight lines,
friction.

There the derivatives of both sides differ. A linear model takes their mean, by which a small
oscillation about the kink continues as one with the fundamental of its force; which of both sides
rounding would choose means nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bellcrank.analysis.jacobian_runner import Groups, JacobianEvaluation
from bellcrank.analysis.plant import AnalysisModel
from bellcrank.analysis.point import EvaluationPoint
from bellcrank.core.errors import RunError
from bellcrank.program.statements import CallStatement, section_expressions
from bellcrank.symbolic.expr import Func, postorder
from bellcrank.symbolic.expr.function_table import FUNCTIONS

SIDE_DISTANCE = 1e-9  # distance of the points on both sides, relative to the size of a state or 1
DISTANCES = (1.0, 0.125, 0.5)  # times that
JUMP_TOLERANCE = (
    1e-4  # difference between both sides, relative to the largest of a row, that may be a kink
)
# change of that difference with the distance: the difference of a smooth model shrinks with it
SMOOTH_CHANGE_FRACTION = 0.1


def may_have_kinks(plant: AnalysisModel) -> bool:
    """Does the model use a function that is not smooth, a table or a user function?"""
    is_nonsmooth: bool = plant.cached("may have kinks", lambda: _not_smooth(plant))
    return is_nonsmooth


def _not_smooth(plant: AnalysisModel) -> bool:
    sections = [f.section for f in plant.loaded.program.functions_of("minimal")]
    if any(isinstance(s, CallStatement) for section in sections for s in section.statements):
        return True
    nodes = postorder([e for section in sections for e in section_expressions(section)])
    return any(
        isinstance(n, Func) and (n.function is not None or not FUNCTIONS[n.name].is_smooth)
        for n in nodes
    )


def mean_one_sided_derivatives(
    evaluation: JacobianEvaluation, point: EvaluationPoint, derivatives: Groups
) -> tuple[Groups, list[str]]:
    """The derivatives at a point, means where they jump, and the names of the columns in which they
    do."""
    averages, jumping = dict(derivatives), np.zeros(len(evaluation.columns), dtype=bool)
    try:
        first = _one_sided_derivatives(evaluation, point, 0)
        jump_masks = {
            g: _differing_entries(*first[g]) & np.isfinite(matrix)
            for g, matrix in derivatives.items()
        }
        if not any(x.any() for x in jump_masks.values()):
            return averages, []
        other_sides = [
            _one_sided_derivatives(evaluation, point, i) for i in range(1, len(DISTANCES))
        ]
    except RunError:
        return derivatives, []
    for group, matrix in derivatives.items():
        a, b = first[group]
        jumps = jump_masks[group]
        for plus, minus in (x[group] for x in other_sides):
            with np.errstate(invalid="ignore"):
                jumps = jumps & (
                    np.abs((plus - minus) - (a - b)) <= SMOOTH_CHANGE_FRACTION * np.abs(a - b)
                )
        averages[group] = np.where(jumps, (a + b) / 2, matrix)
        jumping |= jumps.any(axis=0)
    return averages, [s.name for s, j in zip(evaluation.columns, jumping, strict=True) if j]


def _one_sided_derivatives(
    evaluation: JacobianEvaluation, point: EvaluationPoint, number: int
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Derivatives at two opposite points near a point, on the same sides whatever the `number` of
    the distance."""
    rng = np.random.default_rng(3)
    offsets = [
        SIDE_DISTANCE
        * np.maximum(np.abs(x), 1.0)
        * rng.uniform(0.5, 1.0, len(x))
        * rng.choice((-1.0, 1.0), len(x))
        for x in (point.q, point.u)
    ]
    h = DISTANCES[number]
    plus, minus = (
        evaluation(replace(point, q=point.q + k * offsets[0], u=point.u + k * offsets[1]))[1]
        for k in (h, -h)
    )
    return {g: (plus[g], minus[g]) for g in plus}


def _differing_entries(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        size = np.maximum(np.abs(a), np.abs(b)).max(axis=1, keepdims=True, initial=0.0)
        return np.asarray(np.abs(a - b) > JUMP_TOLERANCE * size)
