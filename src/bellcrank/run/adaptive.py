"""Runs with SciPy's adaptive methods.

Each stretch between two breaks of the inputs (jumps, kinks) is integrated on its own, so that no step goes across
one. Outputs and events lie on the method's own interpolation within its steps. Closed loops are corrected after every
step and in every row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from bellcrank.backend.start import NOT_FINITE, Carried
from bellcrank.numeric.branch import Keeper
from bellcrank.numeric.tuning import LOOPS
from bellcrank.run.events import Watch
from bellcrank.run.stepping import NO_VALUE, Driven, Evaluation
from bellcrank.run.values import Plan

LOOKS = 4  # per step of the method, which may be long
ONE_STEP = {"BDF": "Radau", "LSODA": "Radau"}  # what stands in near singular positions for methods of several steps


class AdaptiveRun(Driven):
    """A run with a method of SciPy that chooses its own steps; step `i` here is the i-th output time."""

    def __init__(
        self, evaluation: Evaluation, plan: Plan, state: np.ndarray, tolerances: tuple[float, float], watch: Watch
    ) -> None:
        from scipy import integrate

        super().__init__(evaluation, state)
        times, method = plan.output_times, plan.method
        self.times, self.watch = times, watch
        self.time = float(times[0])
        self._methods = [getattr(integrate, name) for name in (method, ONE_STEP.get(method, method))]
        self._shrinks = method in ("RK45", "RK23", "DOP853")  # steps to rates without a value; others would not end
        self._options = dict(zip(("rtol", "atol"), tolerances, strict=True))
        updates = times.tolist() if len(evaluation.kept) else []  # what external routines keep jumps there
        self._ends = _stretches(sorted({*plan.breaks(evaluation.inputs), *updates}), times)
        self._solver: Any = None
        self._dense: Any = None
        self._y = self.state
        self._goes_on = False  # does it go on from another run?
        self._seen: np.ndarray | None = None  # the row at the end of the last step

    def take(self, carried: Carried) -> None:
        super().take(carried)
        self._goes_on = True

    def advance(self, last: int) -> np.ndarray:
        rows = super().advance(last)
        if self.status == NOT_FINITE:
            self.state = self._y
        return rows

    def _go_on(self, last: int, rows: list[np.ndarray]) -> None:
        e = self.evaluation
        if self._solver is None:
            if not self._goes_on:
                e.hold(self.time, self.state, first=True)
            if e.keeper is not None:
                self.state = self._y = e.keeper.begin(self.time, self.state)
            if not self._goes_on:
                e.settled(self.time, self.state)
            self._seen = e.row(self.time, self.state, live=0 if self._goes_on else 2)
            if not self._goes_on:
                rows.append(self._seen)
                self.watch.look(self._seen[None, :], None)
        while self.reached < last:
            t = float(self.times[self.reached + 1])
            stop = self.watch.stopped
            if stop is not None and t >= stop.time:
                rows.append(self._row(stop.time))
                return
            if self.time < t and stop is None:
                if not self._step():
                    self.status = NOT_FINITE
                    return
                continue
            self.reached += 1
            rows.append(self._row(t, live=2))
            self.state = rows[-1][1 : 1 + e.n_s]

    def _row(self, t: float, live: int = 0) -> np.ndarray:
        """The row at a time within the last step."""
        y = np.array(self._y if t == self.time else self._dense(t))
        if self.evaluation.keeper is not None and t != self.time:
            y = self.evaluation.keeper.admit(t, y, math.inf)[0]
        return self.evaluation.row(t, y, live)

    def _step(self) -> bool:
        """One step of the method; False if it failed."""
        keeper = self.evaluation.keeper
        if self._solver is None or self._solver.status == "finished":
            self._begin()
        before, start = self.time, self._y
        while True:
            self.problem = self._solver.step() or ""
            if self._solver.status == "failed" or not np.all(np.isfinite(self._solver.y)):
                return False
            self.time, self._y = float(self._solver.t), self._solver.y
            self._dense = self._solver.dense_output()
            if keeper is None or not self._again(keeper, before, start):
                break
        if keeper is not None:
            self._keep_closed(keeper, self.time - before)
        self.evaluation.settled(self.time, self._y)
        if self.watch.conditions:
            assert self._seen is not None
            looks = np.linspace(before, self.time, LOOKS + 1)[1:]
            rows = np.array([self._row(float(t)) for t in looks])
            self._seen = rows[-1]
            self.watch.look(rows, lambda *_: self._row)
        if len(self.evaluation.kept) and self.time == self.times[self.reached + 1]:
            self.evaluation.hold(self.time, self._y)
        return True

    def _again(self, keeper: Keeper, before: float, start: np.ndarray) -> bool:
        """Is a step to be taken again: with care, as it comes near a singular position, or shorter?"""
        longest = math.inf
        if not keeper.near:
            again = keeper.watch([self._dense(0.5 * (before + self.time)), self._y], self.time)
        else:
            admitted, _, _ = keeper.admit(self.time, self._y, self.time - before)
            again = keeper.too_far(self.time, start, admitted, self.time - before)
            longest = 0.5 * (self.time - before)
        if again:
            self.time, self._y = before, start
            self._begin(longest)
        return again

    def _keep_closed(self, keeper: Keeper, h: float) -> None:
        """Brings the end of a step onto the constraints. With methods of several steps only rows are corrected."""
        near = keeper.near
        self._y, state, _ = keeper.admit(self.time, self._y, h)
        if not state.residual < LOOPS.open:
            raise ValueError(f"the loop {state.row} came open in a step of {h:g} s")
        rates = self.evaluation.rates(self.time, self._y)
        keeper.accept(self.time, self._y, rates, state)
        if self._methods[near] is not self._methods[keeper.near]:
            self._solver = None  # the method changes
        elif self._methods[near].__name__ not in ONE_STEP:
            self._solver.y, self._solver.f = self._y, rates

    def _begin(self, longest: float = math.inf) -> None:
        """A solver for the next stretch; it sees inputs as they are within."""
        first, end = self.time, next(x for x in self._ends if x > self.time)
        last = math.nextafter(end, -math.inf)

        def rates(t: float, y: np.ndarray) -> np.ndarray:
            try:
                found = self.evaluation.rates(min(max(t, first), last), y)
            except NO_VALUE:
                if not self._shrinks:
                    raise
                return np.full_like(y, math.nan)
            if not self._shrinks and not np.all(np.isfinite(found)):
                raise ValueError(f"the rates are not finite at t = {t:g} s")
            return found

        near = self.evaluation.keeper is not None and self.evaluation.keeper.near
        step = {} if longest == math.inf else {"first_step": longest}
        self._solver = self._methods[near](rates, first, self._y, end, **self._options, **step)


def _stretches(breaks: Sequence[float], times: np.ndarray) -> list[float]:
    """Ends of the stretches to be integrated; breaks that nearly coincide are one, the later."""
    t_start, t_end = float(times[0]), float(times[-1])
    near = 1e-12 * max(t_end - t_start, abs(t_start), abs(t_end))
    ends = [*(b for b in breaks if t_start + near < b < t_end - near), t_end]
    return [*(b for b, following in pairwise(ends) if following - b > near), t_end]
