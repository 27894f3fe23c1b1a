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

from bellcrank.backend.start import NOT_FINITE
from bellcrank.numeric.branch import Keeper
from bellcrank.numeric.tuning import LOOPS
from bellcrank.run.events import Watch
from bellcrank.run.stepping import NO_VALUE, Driven, Evaluation

LOOKS = 4  # per step of the method, which may be long


class AdaptiveRun(Driven):
    """A run with a method of SciPy that chooses its own steps; step `i` here is the i-th output time."""

    def __init__(
        self,
        evaluation: Evaluation,
        method: str,
        times: np.ndarray,
        state: np.ndarray,
        rtol: float,
        atol: float,
        breaks: Sequence[float],
        watch: Watch,
    ) -> None:
        from scipy import integrate

        super().__init__(evaluation, state)
        self.times, self.watch = times, watch
        self.time = 0.0
        self._method = getattr(integrate, method)
        self._one_step = method in ("RK45", "RK23", "DOP853", "Radau")
        self._shrinks = self._one_step and method != "Radau"  # steps to rates without a value; others would not end
        self._options = {"rtol": rtol, "atol": atol}
        updates = times.tolist() if len(evaluation.kept) else []  # what external routines keep jumps there
        self._ends = _stretches(sorted({*breaks, *updates}), times)
        self._solver: Any = None
        self._dense: Any = None
        self._y = self.state
        self._seen: np.ndarray | None = None  # the row at the end of the last step

    def advance(self, last: int) -> np.ndarray:
        rows = super().advance(last)
        if self.status == NOT_FINITE:
            self.state = self._y
        return rows

    def _go_on(self, last: int, rows: list[np.ndarray]) -> None:
        e = self.evaluation
        if self._solver is None:
            e.hold(0.0, self.state, first=True)
            if e.keeper is not None:
                e.keeper.begin(0.0, self.state)
            e.settled(0.0, self.state)
            self._seen = e.row(0.0, self.state, live=2)
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
        if self._solver is None or self._solver.status == "finished":
            self._begin()
        before = self.time
        self.problem = self._solver.step() or ""
        if self._solver.status == "failed" or not np.all(np.isfinite(self._solver.y)):
            return False
        self.time, self._y = float(self._solver.t), self._solver.y
        self._dense = self._solver.dense_output()
        if self.evaluation.keeper is not None:
            self._keep_closed(self.evaluation.keeper, self.time - before)
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

    def _keep_closed(self, keeper: Keeper, h: float) -> None:
        """Brings the end of a step onto the constraints. With methods of several steps only rows are corrected."""
        self._y, state, _ = keeper.admit(self.time, self._y, h)
        if not state.residual < LOOPS.open:
            raise ValueError(f"the loop {state.row} came open in a step of {h:g} s")
        rates = self.evaluation.rates(self.time, self._y)
        if self._one_step:
            self._solver.y, self._solver.f = self._y, rates
        keeper.accept(self.time, rates, state)

    def _begin(self) -> None:
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

        self._solver = self._method(rates, first, self._y, end, **self._options)


def _stretches(breaks: Sequence[float], times: np.ndarray) -> list[float]:
    """Ends of the stretches to be integrated; breaks that nearly coincide are one, the later."""
    t_end = float(times[-1])
    near = 1e-12 * t_end
    ends = [*(b for b in breaks if near < b < t_end - near), t_end]
    return [*(b for b, following in pairwise(ends) if following - b > near), t_end]
