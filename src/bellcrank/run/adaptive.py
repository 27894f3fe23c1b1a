"""Runs with adaptive methods: those of the kernel, and SciPy's, which Python drives.

Each piece between two breaks of the inputs (jumps, kinks) is integrated on its own, so that no step goes across one.
Outputs and events lie on the method's own interpolation within its steps. Closed loops are corrected after every step
and in every row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bellcrank.numeric.branch import Keeper, Passage
from bellcrank.numeric.collocation import STIFF
from bellcrank.numeric.count import Count
from bellcrank.numeric.embedded import EMBEDDED
from bellcrank.numeric.integrate import unit_sized
from bellcrank.numeric.methods import AUTO, DEFAULT, METHODS, OWN, one_of
from bellcrank.numeric.run_spec import FINISHED, NOT_FINITE, Checkpoint, RunSpec, ends_of_pieces
from bellcrank.numeric.step_report import why_it_ended
from bellcrank.numeric.tuning import CONTROL, LOOPS
from bellcrank.run.stepping import NO_VALUE, Driven, Evaluation
from bellcrank.run.tolerances import Tolerances

ONE_STEP = {"BDF": "Radau", "LSODA": "Radau"}  # replaces multistep methods near singular configurations
SHRINKING = ("RK45", "RK23", "DOP853")  # methods of SciPy that shorten steps to rates without a value


def adaptive_run(
    e: Evaluation, spec: RunSpec, state: np.ndarray, tolerances: Tolerances, monitor: Any = None
) -> CompiledRun | SciPyRun:
    """Return a run that has not begun. `monitor`: the event monitor of the kernel."""
    if spec.method in OWN:
        return CompiledRun(e, spec, state, tolerances, monitor)
    return SciPyRun(e, spec, state, tolerances, monitor)


class AdaptiveRun:
    """A run with a method that chooses its own steps; step `i` here is the i-th output time."""

    evaluation: Evaluation
    status: int
    problem: str
    bad: np.ndarray

    def _set_times(self, evaluation: Evaluation, spec: RunSpec, tolerances: Tolerances) -> None:
        """Output times, ends of the pieces between breaks, and how many steps it may take."""
        self.spec, self._tolerances, self.times = spec, tolerances, spec.output_times()
        updates = self.times.tolist() if len(evaluation.kept) else []  # what user functions keep jumps there
        self._ends = ends_of_pieces({*spec.breaks_of(evaluation.inputs), *updates}, self.times)
        self.count = Count(CONTROL.most_steps + CONTROL.steps_of_row * len(self.times))
        self.time = float(self.times[0])

    @property
    def told(self) -> dict[str, Any]:
        """Tolerances and figures, for the settings of the result."""
        return self._tolerances.told | dict(self.count.told)

    def _explain(self) -> None:
        """Says what held the steps back, and what is not finite."""
        names = [x.name for x in self.evaluation.context.loaded.interface.states]
        message = why_it_ended(
            self.status, self.count, names, float(self.times[-1]), self.spec.method, self._tolerances.rtol
        )
        self.problem = message or self.problem
        if self.status == NOT_FINITE and len(self.count.bad):
            self.bad = self.count.bad


class SciPyRun(AdaptiveRun, Driven):
    """A run with a method of SciPy."""

    no_way = f"SciPy's methods do not pass through singular configurations of loops: use {one_of((*METHODS, *OWN))}"

    def __init__(
        self, evaluation: Evaluation, spec: RunSpec, state: np.ndarray, tolerances: Tolerances, monitor: Any = None
    ) -> None:
        from scipy import integrate

        super().__init__(evaluation, state)
        self._set_times(evaluation, spec, tolerances)
        method = spec.method
        self._y = self.state
        self._begun = self._goes_on = False  # has it begun, and does it continue from another run?
        self._options: dict[str, Any] = {"rtol": tolerances.rtol, "atol": tolerances.atol}
        self._shrinks = method in SHRINKING  # others would not end
        # what takes the steps, and what does near singular configurations
        self._methods = [getattr(integrate, name) for name in (method, ONE_STEP.get(method, method))]
        self._solver: Any = None
        self._dense: Any = None
        self.acted: np.ndarray | None = None  # rows about an event that has ended the last step
        self._looks: Any = None  # the run of the kernel that looks for events
        if monitor is not None:
            event_spec = RunSpec(self.time, spec.step, DEFAULT, t_start=self.time)
            self._looks = evaluation.model.start(evaluation.spec(event_spec, state, events=monitor))
            self._looks.look_between(self.times)
            monitor.look_elsewhere(self._row)

    @property
    def told(self) -> dict[str, Any]:
        settings = super().told
        del settings["rejected"]  # SciPy does not report it
        return settings

    def restore(self, saved: Checkpoint) -> None:
        super().restore(saved)
        self._goes_on = True

    def advance(self, last: int) -> np.ndarray:
        rows = super().advance(last)
        if self.status != FINISHED:
            self.state = self._y
            self._explain()
        return rows

    def _go_on(self, last: int, rows: list[np.ndarray]) -> None:
        if not self._begun:
            self._begun = True
            first = self._first()
            if self.status != FINISHED:
                return
            if not self._goes_on:
                rows.append(first)
            if self._looks is not None:
                self._looks.state[:] = self.state
                self._looks.look(self.time, self.kept, self.memory, self.reached)
        while self.reached < last or self.acted is not None:  # whose rows belong to what is given back
            t = float(self.times[self.reached + 1]) if self.reached + 1 < len(self.times) else math.inf
            if self.acted is not None and t >= self.acted[0, 0]:
                rows.extend(self.acted)
                self.state = self._y = self._looks.state.copy()
                return
            if self.time < t and self.acted is None:
                memory_before = [array.copy() for array in self._held]
                if not self._step():
                    self.status = self.status or NOT_FINITE
                    return
                if self._looks is not None:
                    self._look(memory_before)
                continue
            self.reached += 1
            rows.append(self._row(t, live=2))
            self.state = rows[-1][1 : 1 + self.evaluation.n_s]

    def _look(self, memory_before: Sequence[np.ndarray]) -> None:
        """Look for events in the last step with `memory_before`, which user functions keep if an event ends it."""
        memory_after = [array.copy() for array in self._held]
        self._set_held(memory_before)
        self.acted = self._looks.look(self.time, self.kept, self.memory, self.reached)
        if self.acted is None:
            self._set_held(memory_after)

    @property
    def _held(self) -> list[np.ndarray]:
        """What routines keep and remember."""
        return [x for x in (self.kept, self.memory, *(m.array for m in self.evaluation.context.memories)) if len(x)]

    def _set_held(self, values: Sequence[np.ndarray]) -> None:
        for array, value in zip(self._held, values, strict=True):
            array[:] = value

    def _first(self) -> np.ndarray:
        """Takes the start of the run; its row."""
        e = self.evaluation
        if not self._goes_on:
            e.hold(self.time, self.state, first=True)
        if e.keeper is not None:
            e.keeper.begin(self.time, self.state)
        if self._goes_on:
            return e.row(self.time, self.state, live=0)
        if e.remembers:
            self._settle()
        return e.row(self.time, self.state, live=2)

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
        start_time, start_state = self.time, self._y
        while True:
            self.problem = self._solver.step() or ""
            if self._solver.status == "failed" or not np.all(np.isfinite(self._solver.y)):
                return False
            self.time, self._y = float(self._solver.t), self._solver.y
            self._dense = self._solver.dense_output()
            if self.evaluation.unit:
                self._y = unit_sized(np.array(self._y), self.evaluation.unit)
            if keeper is None or not self._again(keeper, start_time, start_state):
                break
        if keeper is not None:
            self._keep_closed(keeper, self.time - start_time)
        self.count.add(self.time - start_time)
        if len(self.evaluation.kept) and self.time == self.times[self.reached + 1]:
            self.evaluation.hold(self.time, self._y)
        if self.evaluation.remembers:
            self._settle()
        return True

    def _settle(self) -> None:
        """Lets routines remember."""
        self.evaluation.settled(self.time, self._y)
        self.count.rates += 1

    def _again(self, keeper: Keeper, start_time: float, start_state: np.ndarray) -> bool:
        """Is a step to be taken again with care, as it comes near a singular configuration?"""
        needs_retry = not keeper.near and keeper.watch(
            [self._dense(0.5 * (start_time + self.time)), self._y], self.time
        )
        if needs_retry:
            self.time, self._y = start_time, start_state
            self._begin()
        return needs_retry

    def _keep_closed(self, keeper: Keeper, h: float) -> None:
        """Brings the end of a step onto the constraints. With methods of several steps only rows are corrected."""
        near_singular = keeper.near
        self._y, state, _ = keeper.admit(self.time, self._y, h)
        if not state.residual < LOOPS.open:
            raise ValueError(f"the loop '{state.row}' came open in a step of {h:g} s")
        rates = self.evaluation.rates(self.time, self._y)
        keeper.accept(self.time, state)
        if self._methods[near_singular] is not self._methods[keeper.near]:
            self._solver = None  # the method changes
        elif self._methods[near_singular].__name__ not in ONE_STEP:
            self._solver.y, self._solver.f = self._y, rates

    def _begin(self) -> None:
        """A solver up to the next break; it sees inputs as they are before it."""
        first, end = self.time, next(x for x in self._ends if x > self.time)
        last = math.nextafter(end, -math.inf)

        def rates(t: float, y: np.ndarray) -> np.ndarray:
            self.count.rates += 1
            try:
                derivatives = self.evaluation.rates(min(max(t, first), last), y)
            except NO_VALUE:
                if not self._shrinks:
                    raise
                return np.full_like(y, math.nan)
            if not self._shrinks and not np.all(np.isfinite(derivatives)):
                raise ValueError(f"the rates are not finite at t = {t:g} s")
            return derivatives

        near_singular = self.evaluation.keeper is not None and self.evaluation.keeper.near
        self._solver = self._methods[near_singular](rates, first, self._y, end, **self._options)


class CompiledRun(AdaptiveRun):
    """A run with a method of the kernel, which looks for events."""

    def __init__(
        self, evaluation: Evaluation, spec: RunSpec, state: np.ndarray, tolerances: Tolerances, monitor: Any = None
    ) -> None:
        self.evaluation = evaluation
        self._set_times(evaluation, spec, tolerances)
        method = next(iter(EMBEDDED)) if spec.method == AUTO else spec.method
        assert tolerances.atol is not None and tolerances.caps is not None and tolerances.groups is not None
        segment_spec = RunSpec(spec.t_end, spec.step * spec.every, method, t_start=self.time)
        self._between = replace(
            evaluation.spec(segment_spec, state, events=monitor), breaks=self._ends, times=self.times,
            tolerances=tolerances, most=self.count.most, look=2 if spec.method == AUTO else 1,
        )  # fmt: skip
        self._passed: list[Passage] = []  # before the method changed
        self.went_over: float | None = None  # when the program with stiff methods took over
        self._run = self._started(self._between)
        self.reached, self.rates = 0, np.empty(0)
        self._follow()

    @property
    def calls_back(self) -> bool:
        return bool(self._run.calls_back)

    @property
    def compiled(self) -> Any:
        """The run in C."""
        return self._run

    @property
    def told(self) -> dict[str, Any]:
        settings = super().told
        if self.count.fastest:
            settings |= {"fastest_mode": self.count.fastest, "held_steps": self.count.slowed}
        if self.went_over is not None:
            settings["went_over"] = self.went_over
        if self.count.backs:
            settings |= {"went_back": self.count.went_back, "times_back": self.count.backs}
        return settings

    def _started(self, spec: RunSpec) -> Any:
        model: Any = self.evaluation.context.stiff if spec.method in STIFF else self.evaluation.model
        return model.start(spec)

    def _goes_over(self) -> None:
        """Continues in the program with stiff methods if a fast mode holds the steps; that goes back and forth by
        itself."""
        if self.spec.method != AUTO or self.went_over is not None or not self.count.held:
            return
        self.went_over, explicit_run = self.time, self._run
        self._passed += explicit_run.passages
        continuation = {"first": self.reached, "within": explicit_run.time, "state": explicit_run.state}
        self._run = self._started(replace(self._between, method=next(iter(STIFF)), **continuation))
        self._run.take_over(explicit_run)
        self._run.advance(self.reached)
        self._follow()

    def advance(self, last: int) -> np.ndarray:
        self._goes_over()
        rows = self._run.advance(last)
        self._follow()
        if self.status != FINISHED:
            self._explain()
        return np.asarray(rows)

    def _follow(self) -> None:
        """Takes over what the compiled run reports."""
        run = self._run
        self.status, self.problem, self.time, self.state = run.status, run.problem, run.time, run.state
        self.count, self.bad, self.reached = run.count, run.bad, run.reached

    def save(self) -> Checkpoint:
        return Checkpoint(self.kept.copy(), self.memory.copy())

    def restore(self, saved: Checkpoint) -> None:
        self._run.restore(replace(saved, inside=None))

    @property
    def kept(self) -> np.ndarray:
        return np.asarray(self._run.kept)

    @property
    def memory(self) -> np.ndarray:
        return np.asarray(self._run.memory)

    @property
    def passages(self) -> list[Passage]:
        return [*self._passed, *self._run.passages]
