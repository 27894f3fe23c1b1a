"""Runs with methods that choose their steps: those of `numeric`, compiled or driven from here, and SciPy's.

Each stretch between two breaks of the inputs (jumps, kinks) is integrated on its own, so that no step goes across
one. Outputs and events lie on the method's own interpolation within its steps. Closed loops are corrected after every
step and in every row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np

from bellcrank.backend.start import (
    FINISHED,
    NOT_FINITE,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
    Carried,
    Pace,
    Start,
)
from bellcrank.numeric import adapt
from bellcrank.numeric.adapt import Count, Stretch
from bellcrank.numeric.branch import Keeper, Passage
from bellcrank.numeric.collocation import STIFF
from bellcrank.numeric.course import Course
from bellcrank.numeric.embedded import EMBEDDED
from bellcrank.numeric.events import Watch
from bellcrank.numeric.methods import AUTO, OWN
from bellcrank.numeric.radau import StiffStretch, Trial
from bellcrank.numeric.rodas import RosenbrockStretch
from bellcrank.numeric.rosenbrock import Rosenbrock
from bellcrank.numeric.tuning import CONTROL, EVENTS, LOOPS
from bellcrank.program.structure import costs
from bellcrank.run.slopes import known_slopes
from bellcrank.run.stepping import NO_VALUE, Driven, Evaluation
from bellcrank.run.steps_told import why_it_ended
from bellcrank.run.tolerances import Tolerances
from bellcrank.run.values import Plan

ONE_STEP = {"BDF": "Radau", "LSODA": "Radau"}  # what stands in near singular positions for methods of several steps
STATUS = {adapt.TOO_SMALL: STEP_TOO_SMALL, adapt.TOO_MANY: TOO_MANY_STEPS, adapt.NOT_FINITE: NOT_FINITE}


def adaptive_run(e: Evaluation, plan: Plan, state: np.ndarray, tolerances: Tolerances, watch: Watch) -> AdaptiveRun:
    """A run that has not begun: compiled where model and method are."""
    if plan.method in OWN and e.context.loaded.model.compiler is not None:
        return CompiledRun(e, plan, state, tolerances, watch)
    return AdaptiveRun(e, plan, state, tolerances, watch)


class AdaptiveRun(Driven):
    """A run with a method that chooses its own steps, driven from here; step `i` here is the i-th output time."""

    def __init__(
        self, evaluation: Evaluation, plan: Plan, state: np.ndarray, tolerances: Tolerances, watch: Watch
    ) -> None:
        super().__init__(evaluation, state)
        times, method = plan.output_times, plan.method
        self.times, self.watch, self.plan = times, watch, plan
        self.time = float(times[0])
        self.count = Count(CONTROL.most_steps + CONTROL.steps_of_row * len(times))
        self._tolerances = tolerances
        self._options: dict[str, Any] = {"rtol": tolerances.rtol, "atol": tolerances.atol}
        if method in OWN:
            self._options["caps"] = tolerances.caps
        # steps to rates without a value; others would not end
        self._shrinks = method in OWN or method in ("RK45", "RK23", "DOP853")
        self._methods = self._solvers(method)
        updates = times.tolist() if len(evaluation.kept) else []  # what external routines keep jumps there
        self._ends = _stretches(sorted({*plan.breaks(evaluation.inputs), *updates}), times)
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

    def take(self, carried: Carried) -> None:
        super().take(carried)
        self._goes_on = True

    def _solvers(self, method: str) -> list[Any]:
        """What takes the steps, and what does near singular positions."""
        explicit = next(iter(EMBEDDED.values()))
        if method == AUTO or method in EMBEDDED:
            return [partial(Stretch, EMBEDDED.get(method, explicit), count=self.count, look=True)] * 2
        if method in STIFF:
            usual = partial(Stretch, explicit, count=self.count)
            m = STIFF[method]
            stretch = RosenbrockStretch if isinstance(m, Rosenbrock) else StiffStretch
            afresh = bool(self.evaluation.context.loaded.remembers)
            given: dict[str, Any] = {"count": self.count, "slopes": self._slopes, "afresh": afresh}
            stiff = partial(stretch, m, **given)  # type: ignore[arg-type]
            return [partial(stiff, trial=self._trial) if self.plan.method == AUTO else stiff, usual]
        from scipy import integrate

        return [getattr(integrate, name) for name in (method, ONE_STEP.get(method, method))]

    def advance(self, last: int) -> np.ndarray:
        rows = super().advance(last)
        if self.status != FINISHED:
            self.state = self._y
            self._explain()
        return rows

    @property
    def told(self) -> dict[str, Any]:
        """Tolerances and figures, for the settings of the result."""
        found = self._tolerances.told | self.count.told
        if self.count.fastest:
            found |= {"fastest_mode": self.count.fastest, "held_steps": self.count.slowed}
        if self.went_over is not None:
            found["went_over"] = self.went_over
        if self.count.backs:
            found |= {"went_back": self.count.went_back, "times_back": self.count.backs}
        if self.plan.method not in OWN:  # SciPy does not tell
            del found["rejected"]
        return found

    @cached_property
    def _trial(self) -> Trial:
        """What compares stiff steps with explicit ones."""
        found = costs(self.evaluation.context.stiff.program)
        return Trial((found.slopes, found.factor, found.solve))

    def _goes_over(self) -> None:
        """Goes on with a stiff method, if a fast mode holds the steps; or back, if that does not come on sooner."""
        if self.plan.method != AUTO or self.count.held == self._stiffly:
            return
        self._stiffly = self.count.held
        if self.went_over is None:
            self.went_over = self.time
        self._change_method(next(iter(STIFF)) if self._stiffly else AUTO)

    def _change_method(self, method: str) -> None:
        self._methods, self._solver = self._solvers(method), None

    def _explain(self) -> None:
        """Says what held the steps back, and what is not finite."""
        names = [x.name for x in self.evaluation.context.loaded.interface.states]
        plan, rtol = self.plan, self._tolerances.rtol
        told = why_it_ended(self.status, self.count, names, plan.t_end, plan.method, rtol)
        self.problem = told or self.problem
        if self.status == NOT_FINITE and len(self.count.bad):
            self.bad = self.count.bad

    def _first(self) -> np.ndarray:
        """Takes the start of the run; its row."""
        e = self.evaluation
        if self._goes_on:
            if e.keeper is not None:
                self.state = self._y = e.keeper.begin(self.time, self.state)
            return e.row(self.time, self.state)
        e.hold(self.time, self.state, first=True)
        if e.keeper is not None:
            self.state = self._y = e.keeper.begin(self.time, self.state)
        if e.context.loaded.remembers:
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

    @property
    def _held(self) -> list[np.ndarray]:
        """What routines keep and remember."""
        return [x for x in (self.kept, self.memory, *(m.array for m in self.evaluation.context.memories)) if len(x)]

    def _set_held(self, values: Sequence[np.ndarray]) -> None:
        for held, value in zip(self._held, values, strict=True):
            held[:] = value

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
                self.status = STATUS.get(self.problem, NOT_FINITE)
                self.problem = "" if self.problem in STATUS else self.problem
                return False
            self.time, self._y = float(self._solver.t), self._solver.y
            self._dense = self._solver.dense_output()
            if keeper is None or not self._again(keeper, before, start):
                break
        if keeper is not None:
            self._keep_closed(keeper, self.time - before)
        if self.plan.method not in OWN:
            self.count.add(self.time - before)
        if len(self.evaluation.kept) and self.time == self.times[self.reached + 1]:
            self.evaluation.hold(self.time, self._y)
        if self.evaluation.context.loaded.remembers:
            self._settle()
        return True

    def _settle(self) -> None:
        """Lets routines remember. The rates of that very call are those of the next step: others would be of what
        they remember next."""
        self._settled = self.evaluation.settled(self.time, self._y)
        self.count.rates += 1
        if self.plan.method in OWN and self._solver is not None:
            self._solver.f = self._settled

    def _again(self, keeper: Keeper, before: float, start: np.ndarray) -> bool:
        """Is a step to be taken again: with care, as it comes near a singular position, or shorter?"""
        longest = math.inf
        if not keeper.near:
            again = keeper.watch([self._dense(0.5 * (before + self.time)), self._y], self.time)
        else:
            admitted, state, _ = keeper.admit(self.time, self._y, self.time - before)
            again = keeper.too_far(self.time, start, admitted, self.time - before)
            again = again or (self.plan.method in OWN and self._leaps(keeper, before, start, state.ratio))
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
        elif getattr(self._methods[near], "__name__", "") not in ONE_STEP:
            self._solver.y, self._solver.f = self._y, rates

    def _slopes(self, t: float, y: np.ndarray) -> np.ndarray | None:
        """Slopes of the rates as the equations have them."""
        e = self.evaluation
        if e.keeper is not None and (e.keeper.wary or e.keeper.staged):
            return None
        first, last = self._stretch
        return known_slopes(e.context.stiff, e.at(min(max(t, first), last), y))

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
        if self.plan.method in OWN and self._settled is not None:
            step["f"] = self._settled
        self._solver = self._methods[near](rates, first, self._y, end, **self._options, **step)


class CompiledRun(AdaptiveRun):
    """A run with a method that chooses its own steps, compiled: whole, or step by step where events are looked for."""

    def __init__(
        self, evaluation: Evaluation, plan: Plan, state: np.ndarray, tolerances: Tolerances, watch: Watch
    ) -> None:
        super().__init__(evaluation, plan, state, tolerances, watch)
        method, last = next(iter(EMBEDDED)) if plan.method == AUTO else plan.method, len(self.times) - 1
        self._course = Course(method, plan.step * plan.every, last, 1, plan.t_end, tuple(self._ends), self.time)
        self._passed: list[Passage] = []  # before the method changed
        self._run = self._started(self._course, state)

    @property
    def compiled(self) -> Any:
        """The run in C."""
        return self._run

    def _started(self, course: Course, state: np.ndarray) -> Any:
        e, x = self.evaluation, self._tolerances
        look = 2 if self.plan.method == AUTO else 1
        assert x.atol is not None and x.caps is not None
        pace = Pace(self.times, x.rtol, x.atol, x.caps, self.count.most, look)
        weights, staged = (e.keeper.closure.weights, e.keeper.staged) if e.keeper else (None, False)
        calls: Any = e.context.stiff if course.method in STIFF else e.model
        return calls.start(Start(course, state, e.p, e.c, e.inputs, weights, staged, pace=pace))

    def _goes_over(self) -> None:
        """Goes on in the program with stiff methods; that goes back and forth by itself."""
        if not self._stiffly:
            super()._goes_over()

    def _change_method(self, method: str) -> None:
        before = self._run
        self._passed += before.passages
        course = replace(self._course, method=method, first=self.reached, begins=before.time)
        self._run = self._started(course, before.state)
        self._run.take_over(before)
        self._run.advance(self.reached)
        self._follow()

    def advance(self, last: int) -> np.ndarray:
        if self.watch.conditions:
            return super().advance(last)
        self._goes_over()
        rows = self._run.advance(last)
        self._follow()
        self.reached, self.state = self._run.reached, self._run.state
        if self.status != FINISHED:
            self._explain()
        return np.asarray(rows)

    def _follow(self) -> None:
        """Takes over what the compiled run tells."""
        run = self._run
        self.status, self.problem, self.time, self._y = run.status, run.problem, run.time, run.state
        self.count, self.bad = run.count, run.bad

    def take(self, carried: Carried) -> None:
        self._goes_on = True
        self._run.take(replace(carried, inside=None))

    def _first(self) -> np.ndarray:
        rows = self._run.advance(0)
        self._follow()
        if self._goes_on:
            return self._row(self.time)
        return np.asarray(rows[0] if len(rows) else np.empty(0))

    def _step(self) -> bool:
        self._run.step(self.reached)
        self._follow()
        return self.status == FINISHED

    def _row(self, t: float, live: int = 0) -> np.ndarray:
        row = self._run.row(t, live)
        if self._run.status:
            self._follow()
            raise ValueError(f"the row at t = {t:g} s cannot be had")
        return np.asarray(row)

    @property
    def kept(self) -> np.ndarray:
        return np.asarray(self._run.kept)

    @property
    def memory(self) -> np.ndarray:
        return np.asarray(self._run.memory)

    @property
    def passages(self) -> list[Passage]:
        return [*self._passed, *self._run.passages]


def _stretches(breaks: Sequence[float], times: np.ndarray) -> list[float]:
    """Ends of the stretches to be integrated; breaks that nearly coincide are one, the later."""
    t_start, t_end = float(times[0]), float(times[-1])
    near = CONTROL.near_breaks * max(t_end - t_start, abs(t_start), abs(t_end))
    ends = [*(b for b in breaks if t_start + near < b < t_end - near), t_end]
    return [*(b for b, following in pairwise(ends) if following - b > near), t_end]
