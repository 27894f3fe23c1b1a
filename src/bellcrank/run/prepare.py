"""A run made ready: the stepper for a method, and what is needed to look into its steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bellcrank.backend.c import CModel, CRun
from bellcrank.numeric.course import Course
from bellcrank.numeric.methods import ADAPTIVE
from bellcrank.run.adaptive import AdaptiveRun
from bellcrank.run.events import Watch, Within
from bellcrank.run.inputs import breaks_of
from bellcrank.run.memory import Memory, Remembered
from bellcrank.run.stepping import Evaluation, PythonRun, Rows, Stepper, within_step
from bellcrank.run.values import Plan


@dataclass(frozen=True)
class Trip:
    """A run of `total` steps of length h (s), every n-th recorded; of adaptive methods the steps are those between outputs."""

    run: Stepper
    total: int
    every: int
    h: float
    within: Within | None = None  # rows within a step, if the run does not look there itself
    remembered: Remembered | None = None


def prepare(
    plan: Plan,
    evaluation: Evaluation,
    y: np.ndarray,
    watch: Watch,
    tolerances: tuple[float, float],
    memories: Sequence[Memory],
) -> Trip:
    """A run that has not begun, from the state y."""
    breaks = breaks_of(evaluation.inputs, plan.t_end, plan.steps)
    if plan.method in ADAPTIVE:
        times = plan.output_times
        adaptive = AdaptiveRun(evaluation, plan.method, times, y, *tolerances, breaks, watch)
        return Trip(adaptive, len(times) - 1, 1, plan.step * plan.every)
    every = 1 if watch.conditions else plan.every
    course = Course(plan.method, plan.step, plan.steps, every, plan.t_end, breaks)
    run: Stepper
    if isinstance(evaluation.model, CModel):
        weights = evaluation.keeper.closure.weights if evaluation.keeper else None
        run = evaluation.model.start(course, y, evaluation.p, evaluation.c, evaluation.inputs, weights)
        if evaluation.keeper is not None and evaluation.keeper.staged:
            run.close_stages()
    else:
        run = PythonRun(evaluation, course, y)
    remembered = _remembered(run, evaluation, memories)

    def within(i: int, row: np.ndarray) -> Rows:
        return within_step(evaluation, course, i, row, remembered.rates if remembered else None)

    return Trip(run, plan.steps, plan.every, plan.step, within, remembered)


def _remembered(run: Stepper, evaluation: Evaluation, memories: Sequence[Memory]) -> Remembered | None:
    """What external routines remember and keep during a run, if any do."""
    arrays = [(m.array, m.array) for m in memories if len(m.array)]
    if isinstance(run, CRun) and len(run.memory) > 1:
        arrays.append((run.memory, run.model.memory))
    if len(evaluation.kept):
        arrays.append((run.kept[:-1] if isinstance(run, CRun) else evaluation.kept, evaluation.kept))
    return Remembered(run, arrays) if arrays else None
