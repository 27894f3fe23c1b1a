"""A run made ready: the stepper for a method, and what is needed to look into its steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from bellcrank.numeric.methods import ADAPTIVE
from bellcrank.run.adaptive import AdaptiveRun
from bellcrank.run.events import Watch, Within
from bellcrank.run.inputs import breaks_of
from bellcrank.run.stepping import Evaluation, FixedStepper, PythonRun, Rows, Stepper, within_step
from bellcrank.run.values import Plan


@dataclass(frozen=True)
class Prepared:
    """A run of `total` steps of length h (s), every n-th recorded; of adaptive methods those between outputs."""

    run: Stepper
    total: int
    every: int
    h: float
    within: Within | None = None  # rows within a step, if the run does not look there itself
    remembered: Remembered | None = None


class Remembered:
    """Memories of a run, each with the array of single evaluations: marked before a step, put back for a look.

    `rates` are those at the mark.
    """

    def __init__(self, run: Stepper, arrays: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        self.run, self.arrays = run, arrays
        self.rates = run.rates
        self.marked: list[np.ndarray] = []

    def mark(self) -> None:
        self.rates = self.run.rates.copy()
        self.marked = [running.copy() for running, _ in self.arrays]

    @contextmanager
    def back(self) -> Iterator[None]:
        later = [seen.copy() for _, seen in self.arrays]
        try:
            for (_, seen), marked in zip(self.arrays, self.marked, strict=True):
                seen[:] = marked
            yield
        finally:
            for (_, seen), values in zip(self.arrays, later, strict=True):
                seen[:] = values


def prepare(plan: Plan, e: Evaluation, y: np.ndarray, watch: Watch, tolerances: tuple[float, float]) -> Prepared:
    """A run that has not begun, from the state y."""
    if plan.method in ADAPTIVE:
        times, breaks = plan.output_times, breaks_of(e.inputs, plan.t_end, plan.steps)
        adaptive = AdaptiveRun(e, plan.method, times, y, *tolerances, breaks, watch)
        return Prepared(adaptive, len(times) - 1, 1, plan.step * plan.every)
    course = plan.course(e.inputs, 1 if watch.conditions else plan.every)
    weights, staged = (e.keeper.closure.weights, e.keeper.staged) if e.keeper else (None, False)
    compiled = e.model.start(course, y, e.p, e.c, e.inputs, weights, staged)
    run: FixedStepper = PythonRun(e, course, y) if compiled is None else compiled
    remembered = _remembered(run, e)

    def within(i: int, row: np.ndarray) -> Rows:
        return within_step(e, course, i, row, remembered.rates if remembered else None)

    return Prepared(run, plan.steps, plan.every, plan.step, within, remembered)


def _remembered(run: FixedStepper, e: Evaluation) -> Remembered | None:
    """What external routines remember and keep during a run, if any do."""
    arrays = [(m.array, m.array) for m in e.context.memories if len(m.array)]
    if len(run.memory) > 1:
        arrays.append((run.memory, e.model.memory))
    if len(e.kept):
        arrays.append((run.kept, e.kept))
    return Remembered(run, arrays) if arrays else None
