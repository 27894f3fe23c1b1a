"""Runs with adaptive methods: those of the kernel, and SciPy's, which Python drives.

Each piece between two breaks of the inputs (jumps, kinks) is integrated on its own, so that no step
goes across one. Outputs and events lie on the method's own interpolation within its steps. Closed
loops are corrected after every step and in every row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bellcrank.core.numeric.collocation import STIFF
from bellcrank.core.numeric.embedded import EMBEDDED
from bellcrank.core.numeric.fixed_step_methods import AUTO, DEFAULT, METHODS, OWN, join_alternatives
from bellcrank.core.numeric.integrate import normalize_euler_parameters
from bellcrank.core.numeric.loop_projector import LoopProjector, SingularityPassage
from bellcrank.core.numeric.run_spec import FINISHED, NOT_FINITE, Checkpoint, RunSpec, segment_ends
from bellcrank.core.numeric.step_report import step_failure_message
from bellcrank.core.numeric.step_statistics import StepStatistics
from bellcrank.core.numeric.tuning import CONTROL, LOOPS
from bellcrank.simulation.backend.c_runs import CRun
from bellcrank.simulation.backend.event_monitor import EventMonitor
from bellcrank.simulation.run.stepping import NO_VALUE, PythonRunBase, RunEvaluation
from bellcrank.simulation.run.tolerances import Tolerances

ONE_STEP = {
    "BDF": "Radau",
    "LSODA": "Radau",
}  # replaces multistep methods near singular configurations
SHRINKING = (
    "RK45",
    "RK23",
    "DOP853",
)  # methods of SciPy that shorten steps to rates without a value


def make_adaptive_run(
    e: RunEvaluation,
    spec: RunSpec,
    state: np.ndarray,
    tolerances: Tolerances,
    monitor: EventMonitor | None = None,
) -> CompiledRun | SciPyRun:
    """Return a run that has not begun. `monitor`: the event monitor of the kernel."""
    if spec.method in OWN:
        return CompiledRun(e, spec, state, tolerances, monitor)
    return SciPyRun(e, spec, state, tolerances, monitor)


class AdaptiveRun:
    """A run with a method that chooses its own steps; step `i` here is the i-th output time."""

    evaluation: RunEvaluation
    status: int
    problem: str
    nonfinite_state: np.ndarray

    def _set_times(self, evaluation: RunEvaluation, spec: RunSpec, tolerances: Tolerances) -> None:
        """Output times, ends of the pieces between breaks, and how many steps it may take."""
        self.spec, self._tolerances, self.times = spec, tolerances, spec.output_times()
        updates = (
            self.times.tolist() if len(evaluation.sampled_values) else []
        )  # what user functions keep jumps there
        self._segment_ends = segment_ends(
            {*spec.step_breaks(evaluation.inputs), *updates}, self.times
        )
        self.count = StepStatistics(CONTROL.most_steps + CONTROL.steps_of_row * len(self.times))
        self.time = float(self.times[0])

    @property
    def reported_settings(self) -> dict[str, object]:
        """Tolerances and figures, for the settings of the result."""
        return {**self._tolerances.reported_settings, **self.count.reported_settings}

    def _set_failure_message(self) -> None:
        """Says what held the steps back, and what is not finite."""
        names = [x.name for x in self.evaluation.context.loaded.interface.states]
        message = step_failure_message(
            self.status,
            self.count,
            names,
            float(self.times[-1]),
            self.spec.method,
            self._tolerances.rtol,
        )
        self.problem = message or self.problem
        if self.status == NOT_FINITE and len(self.count.nonfinite_state):
            self.nonfinite_state = self.count.nonfinite_state


class SciPyRun(AdaptiveRun, PythonRunBase):
    """A run with a method of SciPy."""

    not_available_message = (
        f"SciPy's methods do not pass through singular configurations of loops: use "
        f"{join_alternatives((*METHODS, *OWN))}"
    )

    def __init__(
        self,
        evaluation: RunEvaluation,
        spec: RunSpec,
        state: np.ndarray,
        tolerances: Tolerances,
        monitor: EventMonitor | None = None,
    ) -> None:
        from scipy import integrate

        super().__init__(evaluation, state)
        self._set_times(evaluation, spec, tolerances)
        method = spec.method
        self._y = self.state
        self._is_initialized = self._is_continued = (
            False  # has it begun, and does it continue from another run?
        )
        self._options: dict[str, object] = {"rtol": tolerances.rtol, "atol": tolerances.atol}
        self._shrinks = method in SHRINKING  # others would not end
        # what takes the steps, and what does near singular configurations
        self._methods = [
            getattr(integrate, name) for name in (method, ONE_STEP.get(method, method))
        ]
        self._solver: Any = None
        self._dense: Any = None
        self.acted: np.ndarray | None = None  # rows about an event that has ended the last step
        self._event_run: CRun | None = None  # the run of the kernel that looks for events
        if monitor is not None:
            event_spec = RunSpec(self.time, spec.step, DEFAULT, t_start=self.time)
            event_run: CRun | None = evaluation.model.new_run(
                evaluation.fill_spec(event_spec, state, events=monitor)
            )
            assert event_run is not None
            self._event_run = event_run
            event_run.set_check_times(self.times)
            monitor.use_external_rows(self._interpolated_row)

    @property
    def reported_settings(self) -> dict[str, object]:
        settings = super().reported_settings
        del settings["rejected"]  # SciPy does not report it
        return settings

    def restore(self, saved: Checkpoint) -> None:
        super().restore(saved)
        self._is_continued = True

    def advance(self, last: int) -> np.ndarray:
        rows = super().advance(last)
        if self.status != FINISHED:
            self.state = self._y
            self._set_failure_message()
        return rows

    def _advance_to(self, last: int, rows: list[np.ndarray]) -> None:
        if not self._is_initialized:
            self._is_initialized = True
            first = self._initial_row()
            if self.status != FINISHED:
                return
            if not self._is_continued:
                rows.append(first)
            if self._event_run is not None:
                self._event_run.state[:] = self.state
                self._event_run.check_events(
                    self.time, self.sampled_values, self.memory, self.steps_done
                )
        while (
            self.steps_done < last or self.acted is not None
        ):  # whose rows belong to what is given back
            t = (
                float(self.times[self.steps_done + 1])
                if self.steps_done + 1 < len(self.times)
                else math.inf
            )
            if self.acted is not None and t >= self.acted[0, 0]:
                rows.extend(self.acted)
                assert self._event_run is not None
                self.state = self._y = self._event_run.state.copy()
                return
            if self.time < t and self.acted is None:
                memory_before = [array.copy() for array in self._user_memory]
                if not self._step():
                    self.status = self.status or NOT_FINITE
                    return
                if self._event_run is not None:
                    self._check_events(self._event_run, memory_before)
                continue
            self.steps_done += 1
            rows.append(self._interpolated_row(t, live=2))
            self.state = rows[-1][1 : 1 + self.evaluation.n_states]

    def _check_events(self, run: CRun, memory_before: Sequence[np.ndarray]) -> None:
        """Look for events in the last step with `memory_before`, which user functions keep if an
        event ends it."""
        memory_after = [array.copy() for array in self._user_memory]
        self._restore_user_memory(memory_before)
        self.acted = run.check_events(self.time, self.sampled_values, self.memory, self.steps_done)
        if self.acted is None:
            self._restore_user_memory(memory_after)

    @property
    def _user_memory(self) -> list[np.ndarray]:
        """What routines keep and remember."""
        return [
            x
            for x in (
                self.sampled_values,
                self.memory,
                *(m.array for m in self.evaluation.context.memories),
            )
            if len(x)
        ]

    def _restore_user_memory(self, values: Sequence[np.ndarray]) -> None:
        for array, value in zip(self._user_memory, values, strict=True):
            array[:] = value

    def _initial_row(self) -> np.ndarray:
        """Takes the start of the run; its row."""
        e = self.evaluation
        if not self._is_continued:
            e.update_sampled_values(self.time, self.state, first=True)
        if e.projector is not None:
            e.projector.start(self.time, self.state)
        if self._is_continued:
            return e.row(self.time, self.state, live=0)
        if e.has_stateful_routines:
            self._commit_user_memory()
        return e.row(self.time, self.state, live=2)

    def _interpolated_row(self, t: float, live: int = 0) -> np.ndarray:
        """The row at a time within the last step."""
        y = np.array(self._y if t == self.time else self._dense(t))
        normalize_euler_parameters(y, self.evaluation.euler_parameter_indices)
        if self.evaluation.projector is not None and t != self.time:
            y = self.evaluation.projector.project(t, y, math.inf)[0]
        return self.evaluation.row(t, y, live)

    def _step(self) -> bool:
        """One step of the method; False if it failed."""
        keeper = self.evaluation.projector
        if self._solver is None or self._solver.status == "finished":
            self._create_solver()
        start_time, start_state = self.time, self._y
        while True:
            self.problem = self._solver.step() or ""
            if self._solver.status == "failed" or not np.all(np.isfinite(self._solver.y)):
                return False
            self.time, self._y = float(self._solver.t), self._solver.y
            self._dense = self._solver.dense_output()
            if self.evaluation.euler_parameter_indices:
                self._y = normalize_euler_parameters(
                    np.array(self._y), self.evaluation.euler_parameter_indices
                )
            if keeper is None or not self._retry_near_singular(keeper, start_time, start_state):
                break
        if keeper is not None:
            self._project_step_end(keeper, self.time - start_time)
        self.count.add_step(self.time - start_time)
        if len(self.evaluation.sampled_values) and self.time == self.times[self.steps_done + 1]:
            self.evaluation.update_sampled_values(self.time, self._y)
        if self.evaluation.has_stateful_routines:
            self._commit_user_memory()
        return True

    def _commit_user_memory(self) -> None:
        """Lets routines remember."""
        self.evaluation.rates_at_accepted_state(self.time, self._y)
        self.count.n_rhs += 1

    def _retry_near_singular(
        self, keeper: LoopProjector, start_time: float, start_state: np.ndarray
    ) -> bool:
        """Is a step to be taken again with care, as it comes near a singular configuration?"""
        needs_retry = not keeper.near_singular and keeper.check_singularity(
            [self._dense(0.5 * (start_time + self.time)), self._y], self.time
        )
        if needs_retry:
            self.time, self._y = start_time, start_state
            self._create_solver()
        return needs_retry

    def _project_step_end(self, keeper: LoopProjector, h: float) -> None:
        """Brings the end of a step onto the constraints. With methods of several steps only rows
        are corrected."""
        near_singular = keeper.near_singular
        self._y, state, _ = keeper.project(self.time, self._y, h)
        if not state.residual < LOOPS.open:
            raise ValueError(f"the loop '{state.row}' came open in a step of {h:g} s")
        rates = self.evaluation.rates(self.time, self._y)
        keeper.accept_step(self.time, state)
        if self._methods[near_singular] is not self._methods[keeper.near_singular]:
            self._solver = None  # the method changes
        elif self._methods[near_singular].__name__ not in ONE_STEP:
            self._solver.y, self._solver.f = self._y, rates

    def _create_solver(self) -> None:
        """A solver up to the next break; it sees inputs as they are before it."""
        first, end = self.time, next(x for x in self._segment_ends if x > self.time)
        last = math.nextafter(end, -math.inf)

        def rates(t: float, y: np.ndarray) -> np.ndarray:
            self.count.n_rhs += 1
            try:
                derivatives = self.evaluation.rates(min(max(t, first), last), y)
            except NO_VALUE:
                if not self._shrinks:
                    raise
                return np.full_like(y, math.nan)
            if not self._shrinks and not np.all(np.isfinite(derivatives)):
                raise ValueError(f"the rates are not finite at t = {t:g} s")
            return derivatives

        near_singular = (
            self.evaluation.projector is not None and self.evaluation.projector.near_singular
        )
        self._solver = self._methods[near_singular](rates, first, self._y, end, **self._options)


class CompiledRun(AdaptiveRun):
    """A run with a method of the kernel, which looks for events."""

    def __init__(
        self,
        evaluation: RunEvaluation,
        spec: RunSpec,
        state: np.ndarray,
        tolerances: Tolerances,
        monitor: EventMonitor | None = None,
    ) -> None:
        self.evaluation = evaluation
        self._set_times(evaluation, spec, tolerances)
        method = next(iter(EMBEDDED)) if spec.method == AUTO else spec.method
        assert (
            tolerances.atol is not None
            and tolerances.size_caps is not None
            and tolerances.unit_groups is not None
        )
        segment_spec = RunSpec(spec.t_end, spec.step * spec.output_every, method, t_start=self.time)
        self._segment_spec = replace(
            evaluation.fill_spec(segment_spec, state, events=monitor),
            breaks=self._segment_ends,
            output_time_grid=self.times,
            tolerances=tolerances,
            max_steps=self.count.max_steps,
            stiffness_check=2 if spec.method == AUTO else 1,
        )
        self._passed: list[SingularityPassage] = []  # before the method changed
        self.switched_to_stiff_at: float | None = (
            None  # when the program with stiff methods took over
        )
        self._run = self._start_kernel_run(self._segment_spec)
        self.steps_done, self.rates = 0, np.empty(0)
        self._sync_from_kernel()

    @property
    def calls_python(self) -> bool:
        return bool(self._run.calls_python)

    @property
    def kernel_run(self) -> CRun:
        """The run in C."""
        return self._run

    @property
    def reported_settings(self) -> dict[str, object]:
        settings = super().reported_settings
        if self.count.fastest_rate:
            settings |= {
                "fastest_mode": self.count.fastest_rate,
                "held_steps": self.count.n_limited_steps,
            }
        if self.switched_to_stiff_at is not None:
            settings["went_over"] = self.switched_to_stiff_at
        if self.count.n_returns_to_explicit:
            settings |= {
                "went_back": self.count.returned_to_explicit_at,
                "times_back": self.count.n_returns_to_explicit,
            }
        return settings

    def _start_kernel_run(self, spec: RunSpec) -> CRun:
        model = (
            self.evaluation.context.stiff_calls if spec.method in STIFF else self.evaluation.model
        )
        run: CRun | None = model.new_run(spec)
        assert run is not None
        return run

    def _switch_to_stiff(self) -> None:
        """Continues in the program with stiff methods if a fast mode holds the steps; that goes
        back and forth by itself."""
        if (
            self.spec.method != AUTO
            or self.switched_to_stiff_at is not None
            or not self.count.is_limited
        ):
            return
        self.switched_to_stiff_at, explicit_run = self.time, self._run
        self._passed += explicit_run.singular_passages
        self._run = self._start_kernel_run(
            replace(
                self._segment_spec,
                method=next(iter(STIFF)),
                first_step=self.steps_done,
                mid_step_time=explicit_run.time,
                state=explicit_run.state,
            )
        )
        self._run.continue_from(explicit_run)
        self._run.advance(self.steps_done)
        self._sync_from_kernel()

    def advance(self, last: int) -> np.ndarray:
        self._switch_to_stiff()
        rows = self._run.advance(last)
        self._sync_from_kernel()
        if self.status != FINISHED:
            self._set_failure_message()
        return np.asarray(rows)

    def _sync_from_kernel(self) -> None:
        """Takes over what the compiled run reports."""
        run = self._run
        self.status, self.problem, self.time, self.state = (
            run.status,
            run.problem,
            run.time,
            run.state,
        )
        self.count, self.nonfinite_state, self.steps_done = (
            run.statistics,
            run.nonfinite_state,
            run.steps_done,
        )

    def save(self) -> Checkpoint:
        return Checkpoint(self.sampled_values.copy(), self.memory.copy())

    def restore(self, saved: Checkpoint) -> None:
        self._run.restore(replace(saved, integrator_state=None))

    @property
    def sampled_values(self) -> np.ndarray:
        return np.asarray(self._run.sampled_values)

    @property
    def memory(self) -> np.ndarray:
        return np.asarray(self._run.memory)

    @property
    def singular_passages(self) -> list[SingularityPassage]:
        return [*self._passed, *self._run.singular_passages]
