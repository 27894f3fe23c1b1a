"""Runs whose step is too large: told in `run.ended` where they break down, as a warning where they do not."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.model.records import External
from bellcrank.numeric.methods import ADAPTIVE
from bellcrank.run.diagnose import changes_of_loads
from bellcrank.run.stability import sentence, too_large
from bellcrank.run.stepping import NO_VALUE, Evaluation
from bellcrank.run.values import Plan

MOST_STATES = {"c": 150, "python": 30}  # of a model that is looked at


def step_too_large(plan: Plan, evaluation: Evaluation, rows: np.ndarray) -> str:
    """A sentence if the step of a run with a fixed step is too large, looked at where it starts, in between, and
    where speeds change most; else ""."""
    loaded = evaluation.context.loaded
    n_q, n_s = evaluation.n_q, evaluation.n_s
    # routines that remember, or are given in Python alone, may count their calls: they are not called for this
    own = any(isinstance(r, External) and (r.memory or not r.known_in("c")) for r in loaded.program.routines)
    if (
        plan.method in ADAPTIVE
        or own
        or not 0 < n_s <= MOST_STATES[evaluation.model.name]
        or rows.ndim != 2
        or not len(rows)
    ):
        return ""
    states = rows[:, 1 : 1 + n_s]
    good = states[np.isfinite(states).all(axis=1)]
    jolts = np.abs(np.diff(good[:, n_q:], axis=0)).max(axis=1, initial=0.0)
    hardest = np.argsort(jolts)[-3:].tolist()
    last = len(good) - 1
    chosen = sorted({0, last // 3, 2 * last // 3, *hardest, *(i + 1 for i in hardest)})
    try:
        found = too_large(
            _rates_of(evaluation), [float(rows[i, 0]) for i in chosen], [good[i].copy() for i in chosen], plan.step,
            plan.steps, plan.method, n_q,
        )  # fmt: skip
    except (*NO_VALUE, np.linalg.LinAlgError):
        return ""
    if found is None:
        return ""
    alarm, y = found

    def culprit(mode: np.ndarray, t: float) -> str:
        program, user = loaded.program, evaluation.context.named_functions
        parameters = dict(zip((s.name for s in program.parameters), evaluation.p, strict=True))
        at = t, y[:n_q], y[n_q:]
        inputs = evaluation.at(t, y)[-1]
        return changes_of_loads(program, loaded.analysis.loads, at, parameters, inputs, user, mode)

    return sentence(alarm, plan.step, plan.method, culprit)


def _rates_of(evaluation: Evaluation) -> Any:
    def rates(t: float, y: np.ndarray) -> np.ndarray:
        qdot, udot = evaluation.model.derivatives(*evaluation.at(t, y))
        return np.array(qdot + udot)

    return rates
