"""Runs with a fixed step that go on step by step, driven by Python; and states within a step.

A run has `advance(last)`, which goes on to step number `last` and returns the rows recorded on the way (time, states, outputs,
inputs), `reached`, `status`, `state` (the last good one) and `bad` (the one that is not finite). `CRun` of `build` and
`AdaptiveRun` are others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from bellcrank.build.arguments import At, Course
from bellcrank.build.c import FINISHED, NOT_CLOSED, NOT_FINITE, Input, not_closed
from bellcrank.run.admit import Closure
from bellcrank.run.integrate import FIXED, Advance, semi_implicit

NO_VALUE = (OverflowError, ValueError, ZeroDivisionError)  # of Python's arithmetic, where C has inf or nan
Rows = Callable[[float], np.ndarray]  # the row at a time


class Stepper(Protocol):
    """A run that goes on."""

    reached: int
    status: int
    problem: str
    state: np.ndarray
    bad: np.ndarray
    rates: np.ndarray  # at the state; of runs with a fixed step

    @property
    def time(self) -> float: ...  # of the state, or of the step that failed

    def advance(self, last: int) -> np.ndarray: ...


@dataclass(frozen=True)
class Evaluation:
    """A model with all it needs to be evaluated at a time and state.

    `set_live` says whose memories may change: 1 of external routines called for rates, 2 of the others, 0 none.
    """

    model: Any
    n_q: int
    n_s: int  # coordinates and speeds
    n_kept: int  # values that external routines keep over a step or run
    p: Sequence[float]
    c: Sequence[float]
    inputs: Sequence[Input]
    set_live: Callable[[int], None]
    closure: Closure | None = None

    @cached_property
    def kept(self) -> np.ndarray:
        """The values that external routines keep."""
        return np.zeros(self.n_kept)

    def keep(self, t: float, y: np.ndarray, begin: bool = False, live: int = 2) -> None:
        """Calls the external routines whose values are kept: those for a whole run at its begin, the others always."""
        if not self.n_kept:
            return
        self.set_live(live)
        try:
            if begin and (found := self.model.start_values(*self.at(t, y))):
                self.kept[: len(found)] = found
            if found := self.model.update_values(*self.at(t, y)):
                self.kept[-len(found) :] = found
        finally:
            self.set_live(0)

    def at(self, t: float, y: np.ndarray) -> At:
        w = [*(i.function(t) for i in self.inputs), *self.kept.tolist()]
        return t, y[: self.n_q].tolist(), y[self.n_q :].tolist(), self.p, self.c, w

    def admitted(self, t: float, y: np.ndarray, h: float) -> tuple[np.ndarray, str]:
        """A new state brought onto the constraints, and what is wrong if it had to be moved too far."""
        if self.closure is None:
            return y, ""
        q, u, moved = self.closure.admit(t, y[: self.n_q], y[self.n_q :])
        allowed = 0.1 * h * float(np.linalg.norm(u)) + 1e-6
        return np.concatenate([q, u]), not_closed(moved) if moved > allowed else ""

    def rates(self, t: float, y: np.ndarray) -> np.ndarray:
        qdot, udot = self.model.derivatives(*self.at(t, y))
        return np.array(qdot + udot)

    def settled(self, t: float, y: np.ndarray) -> np.ndarray:
        """Rates at an accepted state: what external routines remember may change here."""
        self.set_live(1)
        try:
            return self.rates(t, y)
        finally:
            self.set_live(0)

    def row(self, t: float, y: np.ndarray, live: int = 0) -> np.ndarray:
        """Time, state, outputs and inputs."""
        at = self.at(t, y)
        self.set_live(live)
        try:
            return np.array([t, *y, *self.model.outputs(*at), *at[-1]])
        finally:
            self.set_live(0)


def method_of(course: Course, n_q: int) -> Advance:
    return semi_implicit(n_q) if course.method == "euler" else FIXED[course.method]


class PythonRun:
    """A run with a fixed step, driven by Python."""

    def __init__(self, evaluation: Evaluation, course: Course, state: np.ndarray) -> None:
        self.evaluation, self.course = evaluation, course
        self.state = np.array(state, dtype=float)
        self.bad = np.full_like(self.state, math.nan)
        self.reached = 0
        self.status = FINISHED
        self.problem = ""
        self._advance = method_of(course, evaluation.n_q)
        self.rates = np.empty(0)

    def advance(self, last: int) -> np.ndarray:
        rows: list[np.ndarray] = []
        try:
            self._go_on(last, rows)
        except NO_VALUE as error:
            self.status, self.problem = NOT_FINITE, str(error)
        return np.array(rows)

    @property
    def time(self) -> float:
        return self.course.time(self.reached)

    def _go_on(self, last: int, rows: list[np.ndarray]) -> None:
        e, course = self.evaluation, self.course
        if not len(self.rates):
            e.keep(0.0, self.state, begin=True)
            self.rates = e.settled(0.0, self.state)
            rows.append(e.row(0.0, self.state, live=2))
        while self.reached < last:
            self.reached += 1
            if not self._step(self.reached):
                self.status = NOT_CLOSED if self.problem else NOT_FINITE
                return
            if self.reached % course.every == 0 or self.reached == course.total:
                rows.append(e.row(course.time(self.reached), self.state, live=2))

    def _step(self, i: int) -> bool:
        """Takes step i; False if it cannot be taken."""
        e = self.evaluation
        # AUTOSIM's rk2 calls external routines at the middle of a step as it does at its end
        inner = e.settled if self.course.method == "rk2" else e.rates
        for part in self.course.parts(i):
            times = (part.t, part.middle, part.before)
            with np.errstate(all="ignore"):
                new = self._advance(inner, times, self.state, part.h, self.rates)
            if np.all(np.isfinite(new)):
                new, self.problem = e.admitted(part.end, new, self.course.step)
            if self.problem or not np.all(np.isfinite(new)):
                self.bad = new
                return False
            if part.last:
                e.keep(part.after, new)
            self.rates = (e.settled if part.last else e.rates)(part.after, new)
            self.state = new
        return True


def within_step(
    evaluation: Evaluation, course: Course, i: int, row: np.ndarray, rates: np.ndarray | None = None
) -> Rows:
    """Rows at times within step i, which starts from the row given: the state is that of a step which ends there.

    `rates` are those at its start, if they cannot be had again because external routines remember.
    """
    e, advance = evaluation, method_of(course, evaluation.n_q)
    start = row[1 : 1 + e.n_s]
    first = e.rates(course.begin(i), start) if rates is None else rates

    def row_at(t: float) -> np.ndarray:
        y, k = start, first
        for part in course.parts(i, until=t):
            y = advance(e.rates, (part.t, part.middle, part.before), y, part.h, k)
            y, _ = e.admitted(part.end, y, course.step)
            if part.end < t:
                k = e.rates(part.after, y)
        return e.row(t, y)

    return row_at
