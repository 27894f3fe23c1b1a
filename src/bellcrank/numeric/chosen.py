"""Runs with methods that choose their steps, driven by Python.

Each stretch between two breaks of the inputs (jumps, kinks) is integrated on its own, so that no step goes across
one. Outputs and events lie on the method's own interpolation within its steps. Closed loops are corrected after every
step and in every row.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from . import adapt
from .adapt import Count, Stretch
from .branch import Keeper
from .collocation import STIFF
from .driven import FINISHED, NO_VALUE, NOT_FINITE, STEP_TOO_SMALL, TOO_MANY_STEPS, Head
from .embedded import EMBEDDED
from .events import Watch
from .integrate import unit_sized
from .methods import AUTO, OWN
from .radau import StiffStretch, Trial
from .rodas import RosenbrockStretch
from .rosenbrock import Rosenbrock
from .steps_told import why_it_ended
from .tuning import CONTROL, EVENTS, LOOPS

STATUS = {adapt.TOO_SMALL: STEP_TOO_SMALL, adapt.TOO_MANY: TOO_MANY_STEPS, adapt.NOT_FINITE: NOT_FINITE}


class Chosen(Head):
    """A run with a method that chooses its own steps; step `i` here is the i-th output time.

    The evaluation has `rates(t, y)`, `settled(t, y)` where routines may remember, `row(t, y, live)`, `hold(t, y,
    first)`, what keeps loops closed (`keeper`), how many states there are (`n_s`), where Euler parameters are
    among them (`unit`), values of routines that are `kept`,
    and whether they remember. `options`: tolerances, for the solvers. `ends`: of stretches.
    """

    def __init__(
        self, evaluation: Any, state: np.ndarray, method: str, times: np.ndarray, ends: Sequence[float],
        options: dict[str, Any], watch: Watch, count: Count,
    ) -> None:  # fmt: skip
        super().__init__(evaluation, state)
        self.method, self.times, self.watch, self.count = method, times, watch, count
        self.time = float(times[0])
        self._options, self._ends = options, list(ends)
        self._own = method in OWN
        self._shrinks = self._own  # steps to rates without a value?
        self._methods = self._solvers(method)
        self.went_over: float | None = None  # when a stiff method took its place first ...
        self._stiffly = False  # ... and does it hold it?
        self._solver: Any = None
        self._stretch = (self.time, self.time)  # times between which its inputs are read
        self._begun = False
        self._dense: Any = None
        self._y = self.state
        self._goes_on = False  # does it go on from another run?
        self._seen: np.ndarray | None = None  # the row at the end of the last step
        self._settled: np.ndarray | None = None  # rates at the state, where routines remember

    def _solvers(self, method: str) -> list[Any]:
        """What takes the steps, and what does near singular positions."""
        explicit = next(iter(EMBEDDED.values()))
        if method == AUTO or method in EMBEDDED:
            return [partial(Stretch, EMBEDDED.get(method, explicit), count=self.count, look=True)] * 2
        usual, m = partial(Stretch, explicit, count=self.count), STIFF[method]
        stretch = RosenbrockStretch if isinstance(m, Rosenbrock) else StiffStretch
        given: dict[str, Any] = {"count": self.count, "slopes": self._slopes, "afresh": self.evaluation.remembers}
        stiff = partial(stretch, m, **given)  # type: ignore[arg-type]
        return [partial(stiff, trial=self._trial) if self.method == AUTO else stiff, usual]

    def _known_slopes(self, t: float, y: np.ndarray) -> np.ndarray | None:
        """Slopes of the rates as the equations have them; None: by differences."""
        return None

    @abstractmethod
    def _costs(self) -> tuple[float, float, float]:
        """Of slopes, of a system factored and of one solved, in evaluations of rates."""

    @abstractmethod
    def _names(self) -> list[str]:
        """Of the states."""

    @property
    def _held(self) -> list[Any]:
        """What routines keep and remember."""
        return []

    def _one_step(self, solver: Any) -> bool:
        """Does a solver begin each step from a state alone?"""
        return True

    def advance(self, last: int) -> np.ndarray:
        rows = super().advance(last)
        if self.status != FINISHED:
            self.state = self._y
            self._explain()
        return rows

    @property
    def figures(self) -> dict[str, Any]:
        """What the steps took, for the settings of the result."""
        found = dict(self.count.told)
        if self.count.fastest:
            found |= {"fastest_mode": self.count.fastest, "held_steps": self.count.slowed}
        if self.went_over is not None:
            found["went_over"] = self.went_over
        if self.count.backs:
            found |= {"went_back": self.count.went_back, "times_back": self.count.backs}
        return found

    @cached_property
    def _trial(self) -> Trial:
        """What compares stiff steps with explicit ones."""
        return Trial(self._costs())

    def _goes_over(self) -> None:
        """Goes on with a stiff method, if a fast mode holds the steps; or back, if that does not come on sooner."""
        if self.method != AUTO or self.count.held == self._stiffly:
            return
        self._stiffly = self.count.held
        if self.went_over is None:
            self.went_over = self.time
        self._change_method(next(iter(STIFF)) if self._stiffly else AUTO)

    def _change_method(self, method: str) -> None:
        self._methods, self._solver = self._solvers(method), None

    def _explain(self) -> None:
        """Says what held the steps back, and what is not finite."""
        told = why_it_ended(
            self.status, self.count, self._names(), float(self.times[-1]), self.method, self._options["rtol"]
        )
        self.problem = told or self.problem
        if self.status == NOT_FINITE and len(self.count.bad):
            self.bad = self.count.bad

    def _first(self) -> np.ndarray:
        """Takes the start of the run; its row."""
        e = self.evaluation
        if self._goes_on:
            if e.keeper is not None:
                self.state = self._y = e.keeper.begin(self.time, self.state)
            return e.row(self.time, self.state, live=0)
        e.hold(self.time, self.state, first=True)
        if e.keeper is not None:
            self.state = self._y = e.keeper.begin(self.time, self.state)
        if e.remembers:
            self._settle()
        return e.row(self.time, self.state, live=2)

    def _go_on(self, last: int, rows: list[np.ndarray]) -> None:
        if not self._begun:
            self._begun = True
            self._seen = self._first()
            if self.status != FINISHED:
                return
            if not self._goes_on:
                rows.append(self._seen)
                self.watch.look(self._seen[None, :], None)
        while self.reached < last or self.watch.stopped is not None:  # whose row belongs to what is given back
            t = float(self.times[self.reached + 1])
            stop = self.watch.stopped
            if stop is not None and t >= stop.time:
                rows.append(self._row(stop.time))
                return
            if self.time < t and stop is None:
                self._goes_over()
                before = [held.copy() for held in self._held]
                if not self._step():
                    self.status = self.status or NOT_FINITE
                    return
                self._look(before)
                continue
            self.reached += 1
            rows.append(self._row(t, live=2))
            self.state = rows[-1][1 : 1 + self.evaluation.n_s]

    def _look(self, before: Sequence[np.ndarray]) -> None:
        """Looks for events in the last step, with what routines kept and remembered `before`; so it stays if one ends
        the run there."""
        if not self.watch.conditions:
            return
        assert self._seen is not None
        after = [held.copy() for held in self._held]
        self._set_held(before)
        between = self.times[(self.times > self._seen[0]) & (self.times < self.time)]
        looks = np.union1d(np.linspace(self._seen[0], self.time, EVENTS.looks + 1)[1:], between)
        rows = np.array([self._row(float(t)) for t in looks])
        self._seen = rows[-1]
        self.watch.look(rows, lambda *_: self._row)
        if self.watch.stopped is None:
            self._set_held(after)

    def _set_held(self, values: Sequence[np.ndarray]) -> None:
        for held, value in zip(self._held, values, strict=True):
            held[:] = value

    def _row(self, t: float, live: int = 0) -> np.ndarray:
        """The row at a time within the last step."""
        y = np.array(self._y if t == self.time else self._dense(t))
        unit_sized(y, self.evaluation.unit)
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
                self.status = STATUS.get(self.problem, NOT_FINITE)
                self.problem = "" if self.problem in STATUS else self.problem
                return False
            self.time, self._y = float(self._solver.t), self._solver.y
            self._dense = self._solver.dense_output()
            if self.evaluation.unit:
                self._unit_size()
            if keeper is None or not self._again(keeper, before, start):
                break
        if keeper is not None:
            self._keep_closed(keeper, self.time - before)
        if not self._own:
            self.count.add(self.time - before)
        if len(self.evaluation.kept) and self.time == self.times[self.reached + 1]:
            self.evaluation.hold(self.time, self._y)
        if self.evaluation.remembers:
            self._settle()
        return True

    def _unit_size(self) -> None:
        """Euler parameters at the end of a step brought to unit size, and the rates there."""
        solver = self._solver
        self._y = unit_sized(np.array(self._y), self.evaluation.unit)
        if self._own:
            solver.y, solver.f = self._y, solver._rates(solver.t, self._y)

    def _settle(self) -> None:
        """Lets routines remember. The rates of that very call are those of the next step: others would be of what
        they remember next."""
        self._settled = self.evaluation.settled(self.time, self._y)
        self.count.rates += 1
        if self._own and self._solver is not None:
            self._solver.f = self._settled

    def _again(self, keeper: Keeper, before: float, start: np.ndarray) -> bool:
        """Is a step to be taken again: with care, as it comes near a singular position, or shorter?"""
        longest = math.inf
        if not keeper.near:
            again = keeper.watch([self._dense(0.5 * (before + self.time)), self._y], self.time)
        else:
            admitted, state, _ = keeper.admit(self.time, self._y, self.time - before)
            again = keeper.too_far(self.time, start, admitted, self.time - before)
            again = again or (self._own and self._leaps(keeper, before, start, state.ratio))
            longest = 0.5 * (self.time - before)
        if again:
            self.time, self._y = before, start
            self._begin(longest)
        return again

    def _leaps(self, keeper: Keeper, before: float, start: np.ndarray, ratio: float) -> bool:
        """Near a singular position: does a step come far nearer to it, at its end or in its middle?"""
        middle = 0.5 * (before + self.time)
        first, inner = keeper.ratio(before, start), keeper.ratio(middle, self._dense(middle))
        return first > CONTROL.near_zone and min(ratio, inner) < CONTROL.near_share * first

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
        elif self._one_step(self._methods[near]):
            self._solver.y, self._solver.f = self._y, rates

    def _slopes(self, t: float, y: np.ndarray) -> np.ndarray | None:
        """Slopes of the rates, where equations hold as they stand."""
        keeper = self.evaluation.keeper
        if keeper is not None and (keeper.wary or keeper.staged):
            return None
        first, last = self._stretch
        return self._known_slopes(min(max(t, first), last), y)

    def _begin(self, longest: float = math.inf) -> None:
        """A solver for the next stretch; it sees inputs as they are within."""
        first, end = self.time, next(x for x in self._ends if x > self.time)
        self._stretch = first, last = first, math.nextafter(end, -math.inf)

        def rates(t: float, y: np.ndarray) -> np.ndarray:
            self.count.rates += 1
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
        step: dict[str, Any] = {} if longest == math.inf else {"first_step": longest}
        if self._own and self._settled is not None:
            step["f"] = self._settled
        self._solver = self._methods[near](rates, first, self._y, end, **self._options, **step)
