"""Runs made ready: the stepper for a method, and what is needed to look into its steps."""

from __future__ import annotations

import numpy as np

from bellcrank.backend.start import Start
from bellcrank.numeric.methods import ADAPTIVE
from bellcrank.run.adaptive import AdaptiveRun
from bellcrank.run.events import Watch
from bellcrank.run.inputs import breaks_of
from bellcrank.run.prepared import Prepared, Remembered
from bellcrank.run.stepping import Evaluation, PythonRun, Rows, Stepper
from bellcrank.run.values import Plan


def prepare(plan: Plan, e: Evaluation, y: np.ndarray, watch: Watch, tolerances: tuple[float, float]) -> Prepared:
    """A run that has not begun, from the state y."""
    if plan.method in ADAPTIVE:
        times, breaks = plan.output_times, breaks_of(e.inputs, plan.t_end, plan.steps)
        adaptive = AdaptiveRun(e, plan.method, times, y, *tolerances, breaks, watch)
        return Prepared(adaptive, len(times) - 1, 1, plan.step * plan.every)
    python = PythonRun(e, plan.course(e.inputs, bool(watch.conditions)), y)
    weights, staged = (e.keeper.closure.weights, e.keeper.staged) if e.keeper else (None, False)
    run = e.model.start(Start(python.course, y, e.p, e.c, e.inputs, weights, staged)) or python
    remembered = _remembered(run, e)

    def within(i: int, row: np.ndarray) -> Rows:
        return python.within(i, row, remembered.rates if remembered else None)

    return Prepared(run, plan.steps, plan.every, plan.step, within, remembered)


def _remembered(run: Stepper, e: Evaluation) -> Remembered | None:
    """What external routines remember and keep during a run, if any do."""
    arrays = [(m.array, m.array) for m in e.context.memories if len(m.array)]
    if len(run.memory) > 1:
        arrays.append((run.memory, e.model.memory))
    if len(e.kept):
        arrays.append((run.kept, e.kept))
    return Remembered(run, arrays) if arrays else None
