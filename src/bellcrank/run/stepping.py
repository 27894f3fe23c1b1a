"""Runs that go on step by step: in Python with a fixed step, or with SciPy's adaptive methods.

A run has `advance(last)`, which goes on to step number `last` and returns the rows recorded on the way (time, states, outputs),
`reached`, `status`, `state` (the last good one) and `bad` (the one that is not finite). `CRun` of `build` is another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bellcrank.build.arguments import At, Course
from bellcrank.build.c import FINISHED, NOT_CLOSED, NOT_FINITE, Input, not_closed
from bellcrank.run.admit import Admitted
from bellcrank.run.integrate import FIXED, Rates, Times, semi_implicit
from bellcrank.run.keep import HALVINGS, NEAR, WATCHED, Keeper, Passage

NO_VALUE = (OverflowError, ValueError, ZeroDivisionError)  # of Python's arithmetic, where C has inf or nan


class Stepper(Protocol):
    """A run that goes on."""

    reached: int
    status: int
    state: np.ndarray
    bad: np.ndarray

    @property
    def passages(self) -> list[Passage]: ...

    def advance(self, last: int) -> np.ndarray: ...


@dataclass(frozen=True)
class Evaluation:
    """A model with all it needs to be evaluated at a time and state. `set_live`: may external memories change?"""

    model: Any
    n_q: int
    p: Sequence[float]
    c: Sequence[float]
    inputs: Sequence[Input]
    set_live: Callable[[bool], None]
    keeper: Keeper | None = None

    def at(self, t: float, y: np.ndarray) -> At:
        w = [i.function(t) for i in self.inputs]
        return t, y[: self.n_q].tolist(), y[self.n_q :].tolist(), self.p, self.c, w

    def rates(self, t: float, y: np.ndarray) -> np.ndarray:
        if self.keeper is not None and self.keeper.wary:
            return self.keeper.rates(t, y)
        qdot, udot = self.model.derivatives(*self.at(t, y))
        return np.array(qdot + udot)

    def settled(self, t: float, y: np.ndarray) -> np.ndarray:
        """Rates at an accepted state: what external routines remember may change here."""
        self.set_live(True)
        try:
            return self.rates(t, y)
        finally:
            self.set_live(False)

    def row(self, t: float, y: np.ndarray) -> np.ndarray:
        return np.array([t, *y, *self.model.outputs(*self.at(t, y))])


class PythonRun:
    """A run with a fixed step, driven by Python."""

    def __init__(self, evaluation: Evaluation, course: Course, state: np.ndarray) -> None:
        self.evaluation, self.course = evaluation, course
        self.state = np.array(state, dtype=float)
        self.bad = np.full_like(self.state, math.nan)
        self.reached = 0
        self.status = FINISHED
        self.problem = ""
        self._advance = semi_implicit(evaluation.n_q) if course.method == "euler" else FIXED[course.method]
        self._rates: np.ndarray | None = None

    def advance(self, last: int) -> np.ndarray:
        rows: list[np.ndarray] = []
        try:
            self._go_on(last, rows)
        except NO_VALUE as error:
            self.status, self.problem = NOT_FINITE, str(error)
        return np.array(rows)

    @property
    def passages(self) -> list[Passage]:
        return self.evaluation.keeper.passages if self.evaluation.keeper else []

    def _go_on(self, last: int, rows: list[np.ndarray]) -> None:
        e, h = self.evaluation, self.course.step
        if self._rates is None:
            if e.keeper is not None:
                e.keeper.begin(0.0, self.state)
            self._rates = e.settled(0.0, self.state)
            rows.append(e.row(0.0, self.state))
            if e.keeper is not None:
                e.keeper.remember(0.0, self._rates)
        # AUTOSIM's rk2 calls external routines at the middle of a step as it does at its end
        inner = e.settled if self.course.method == "rk2" else e.rates
        while self.reached < last:
            self.reached += 1
            i = self.reached
            times = ((i - 1) * h, (i - 0.5) * h, i * h)
            with np.errstate(all="ignore"):
                new, state = self._moved(inner, times, self.state, h, self._rates)
            if self.problem or not np.all(np.isfinite(new)):
                self.status, self.bad = self.status or NOT_FINITE, new
                return
            self._rates = e.settled(i * h, new)
            self.state = new
            if e.keeper is not None and state is not None:
                e.keeper.accept(i * h, self._rates, state)
            if i % self.course.every == 0 or i == self.course.total:
                rows.append(e.row(i * h, new))

    def _moved(
        self, inner: Rates, times: Times, y: np.ndarray, h: float, k: np.ndarray, depth: int = 0
    ) -> tuple[np.ndarray, Admitted | None]:
        """The state after a step, brought onto the constraints; the step is halved if it has to be."""
        keeper = self.evaluation.keeper
        new = self._advance(inner, times, y, h, k)
        if keeper is None or not np.all(np.isfinite(new)):
            return new, None
        admitted, state, good = keeper.admit(times[2], new, h)
        if min(state.ratio, state.steady) < NEAR and not keeper.wary:  # once more, with care
            keeper.wary = True
            return self._moved(inner, times, y, h, k, depth)
        if good:
            return admitted, state
        if depth == HALVINGS:
            self.problem = not_closed(state.row, state.moved, state.residual)
            self.status = NOT_CLOSED
            return admitted, state
        start, middle, end = times
        half, between = self._moved(inner, (start, (start + middle) / 2, middle), y, h / 2, k, depth + 1)
        if self.problem or between is None:
            return half, between
        keeper.wary = keeper.wary or min(between.ratio, between.steady) < WATCHED
        rates = self.evaluation.rates(middle, half)
        return self._moved(inner, (middle, (middle + end) / 2, end), half, h / 2, rates, depth + 1)


class AdaptiveRun:
    """A run with a method of SciPy that chooses its own steps; step `i` here is the i-th output time."""

    def __init__(
        self, evaluation: Evaluation, method: str, times: np.ndarray, state: np.ndarray, rtol: float, atol: float
    ) -> None:
        from scipy import integrate

        self.evaluation, self.times = evaluation, times
        self.state = np.array(state, dtype=float)
        self.bad = np.full_like(self.state, math.nan)
        self.reached = 0
        self.status = FINISHED
        self.problem = ""
        solver = getattr(integrate, method)
        self._make = lambda: solver(self._finite_rates, 0.0, self.state, float(times[-1]), rtol=rtol, atol=atol)
        self._solver: Any = None
        self._dense: Any = None

    def _finite_rates(self, t: float, y: np.ndarray) -> np.ndarray:
        """Rates, or an error: SciPy's step control does not end on numbers that are not finite."""
        rates = self.evaluation.rates(t, y)
        if not np.all(np.isfinite(rates)):
            raise ValueError(f"the rates are not finite at t = {t:g} s")
        return rates

    def advance(self, last: int) -> np.ndarray:
        rows: list[np.ndarray] = []
        try:
            with np.errstate(all="ignore"):
                self._go_on(last, rows)
        except NO_VALUE as error:
            self.status, self.problem = NOT_FINITE, str(error)
        return np.array(rows)

    @property
    def passages(self) -> list[Passage]:
        return self.evaluation.keeper.passages if self.evaluation.keeper else []

    def _go_on(self, last: int, rows: list[np.ndarray]) -> None:
        if self._solver is None:
            if self.evaluation.keeper is not None:
                self.evaluation.keeper.begin(0.0, self.state)
            self.evaluation.settled(0.0, self.state)
            rows.append(self.evaluation.row(0.0, self.state))
            self._solver = self._make()
        while self.reached < last:
            t = float(self.times[self.reached + 1])
            while self._solver.t < t:
                message = self._solver.step()
                if self._solver.status == "failed" or not np.all(np.isfinite(self._solver.y)):
                    self.status, self.problem = NOT_FINITE, message or ""
                    return
                self.evaluation.settled(self._solver.t, self._solver.y)
                self._dense = self._solver.dense_output()
            self.reached += 1
            self.state = np.array(self._solver.y if t == self._solver.t else self._dense(t))
            rows.append(self.evaluation.row(t, self.state))
