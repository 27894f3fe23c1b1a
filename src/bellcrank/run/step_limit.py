"""Runs whose step is too large: told in `run.ended` where they break down, as a warning where they do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bellcrank.model.records import External
from bellcrank.numeric.methods import ADAPTIVE
from bellcrank.run.closure import rates_near_singular
from bellcrank.run.dae_methods import DaeEvaluation
from bellcrank.run.diagnose import changes_of_loads
from bellcrank.run.outcome import moment
from bellcrank.run.stability import sentence, too_large
from bellcrank.run.stepping import NO_VALUE, Evaluation
from bellcrank.run.values import Plan

MOST_STATES = {"c": 150, "python": 30}  # of a model that is looked at


def step_too_large(plan: Plan, evaluation: Evaluation, rows: np.ndarray) -> str:
    """A sentence if a fixed step is too large at the start, in between, or where speeds change most; else ""."""
    loaded = evaluation.context.loaded
    n_q, n_s = evaluation.n_q, evaluation.n_s
    # routines that remember, or are given in Python alone, may count their calls: they are not called for this
    own = any(isinstance(r, External) and (r.memory or not r.known_in("c")) for r in loaded.program.routines)
    constrained = isinstance(evaluation, DaeEvaluation)  # those equations are evaluated in Python
    few = 0 < n_s <= MOST_STATES["python" if constrained else evaluation.model.name]
    if plan.method in ADAPTIVE or own or not few or rows.ndim != 2 or not len(rows):
        return ""
    states = rows[:, 1 : 1 + n_s]
    good = states[np.isfinite(states).all(axis=1)]
    jolts = np.abs(np.diff(good[:, n_q:], axis=0)).max(axis=1, initial=0.0)
    hardest = np.argsort(jolts)[-3:].tolist()
    last = len(good) - 1
    chosen = sorted({0, last // 3, 2 * last // 3, *hardest, *(i + 1 for i in hardest)})
    try:
        looked_at = [(float(rows[i, 0]), good[i].copy()) for i in chosen]
        if not constrained:  # near singular positions a run takes other equations
            looked_at = [x for x in looked_at if rates_near_singular(evaluation.model, evaluation.at(*x)) is None]
        rates = replace(evaluation, keeper=None).rates
        found = too_large(rates, looked_at, plan.step, plan.steps, plan.method, n_q)
    except (*NO_VALUE, np.linalg.LinAlgError):
        return ""
    if found is None:
        return ""
    alarm, y = found

    def culprit(mode: np.ndarray, t: float) -> str:
        return changes_of_loads(moment(evaluation, t, y), loaded.analysis.loads, mode)

    return sentence(alarm, plan.step, plan.method, culprit)
