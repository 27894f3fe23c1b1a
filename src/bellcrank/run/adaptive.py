"""Runs with methods that choose their steps: those of `numeric`, compiled or driven from here, and SciPy's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bellcrank.backend.start import FINISHED, Carried, Pace, Start
from bellcrank.numeric.adapt import Count
from bellcrank.numeric.branch import Passage
from bellcrank.numeric.chosen import Chosen
from bellcrank.numeric.collocation import STIFF
from bellcrank.numeric.course import Course
from bellcrank.numeric.embedded import EMBEDDED
from bellcrank.numeric.events import Watch
from bellcrank.numeric.methods import AUTO, OWN
from bellcrank.numeric.pace import ends_of_stretches
from bellcrank.numeric.tuning import CONTROL
from bellcrank.program.structure import costs
from bellcrank.run.slopes import known_slopes
from bellcrank.run.stepping import Driven, Evaluation
from bellcrank.run.tolerances import Tolerances
from bellcrank.run.values import Plan

ONE_STEP = {"BDF": "Radau", "LSODA": "Radau"}  # what stands in near singular positions for methods of several steps


def adaptive_run(
    e: Evaluation, plan: Plan, state: np.ndarray, tolerances: Tolerances, watch: Watch, watching: Any = None
) -> AdaptiveRun:
    """A run that has not begun: compiled where model and method are. `watching`: events that the kernel looks for."""
    if plan.method in OWN and e.context.loaded.model.name != "python":
        return CompiledRun(e, plan, state, tolerances, watch, watching)
    return AdaptiveRun(e, plan, state, tolerances, watch)


class AdaptiveRun(Chosen, Driven):
    """A run with a method that chooses its own steps, driven from here; step `i` here is the i-th output time."""

    evaluation: Evaluation

    def __init__(
        self, evaluation: Evaluation, plan: Plan, state: np.ndarray, tolerances: Tolerances, watch: Watch
    ) -> None:
        times, method = plan.output_times, plan.method
        self.plan, self._tolerances = plan, tolerances
        options: dict[str, Any] = {"rtol": tolerances.rtol, "atol": tolerances.atol}
        if method in OWN:
            options |= {"caps": tolerances.caps, "groups": tolerances.groups}
        updates = times.tolist() if len(evaluation.kept) else []  # what external routines keep jumps there
        ends = ends_of_stretches({*plan.breaks(evaluation.inputs), *updates}, times)
        count = Count(CONTROL.most_steps + CONTROL.steps_of_row * len(times))
        super().__init__(evaluation, state, method, times, ends, options, watch, count)
        self._shrinks = method in OWN or method in ("RK45", "RK23", "DOP853")  # others would not end

    def take(self, carried: Carried) -> None:
        super().take(carried)
        self._goes_on = True

    def _solvers(self, method: str) -> list[Any]:
        if method in OWN:
            return super()._solvers(method)
        from scipy import integrate

        return [getattr(integrate, name) for name in (method, ONE_STEP.get(method, method))]

    @property
    def told(self) -> dict[str, Any]:
        """Tolerances and figures, for the settings of the result."""
        found = self._tolerances.told | self.figures
        if not self._own:  # SciPy does not tell
            del found["rejected"]
        return found

    def _costs(self) -> tuple[float, float, float]:
        found = costs(self.evaluation.context.stiff.program)
        return found.slopes, found.factor, found.solve

    def _names(self) -> list[str]:
        return [x.name for x in self.evaluation.context.loaded.interface.states]

    @property
    def _held(self) -> list[np.ndarray]:
        return [x for x in (self.kept, self.memory, *(m.array for m in self.evaluation.context.memories)) if len(x)]

    def _one_step(self, solver: Any) -> bool:
        return getattr(solver, "__name__", "") not in ONE_STEP

    def _known_slopes(self, t: float, y: np.ndarray) -> np.ndarray:
        return known_slopes(self.evaluation.context.stiff, self.evaluation.at(t, y))


class CompiledRun(AdaptiveRun):
    """A run with a method that chooses its own steps, compiled: whole, or step by step where events are looked for."""

    def __init__(
        self,
        evaluation: Evaluation,
        plan: Plan,
        state: np.ndarray,
        tolerances: Tolerances,
        watch: Watch,
        watching: Any = None,
    ) -> None:
        super().__init__(evaluation, plan, state, tolerances, watch)
        self._watching = watching
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
        assert x.atol is not None and x.caps is not None and x.groups is not None
        pace = Pace(self.times, x.rtol, x.atol, x.caps, x.groups, self.count.most, look)
        calls: Any = e.context.stiff if course.method in STIFF else e.model
        start = Start(course, state, e.p, e.c, e.inputs, e.weights, e.staged, pace=pace, events=self._watching)
        return calls.start(start)

    def _goes_over(self) -> None:
        """Goes on in the program with stiff methods; that goes back and forth by itself."""
        if not self._stiffly:
            super()._goes_over()

    def _change_method(self, method: str) -> None:
        before = self._run
        self._passed += before.passages
        course = self._course._replace(method=method, first=self.reached, begins=before.time)
        self._run = self._started(course, before.state)
        self._run.take_over(before)
        self._run.advance(self.reached)
        self._follow()

    def advance(self, last: int) -> np.ndarray:
        if self.watch.conditions and self._watching is None:
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
