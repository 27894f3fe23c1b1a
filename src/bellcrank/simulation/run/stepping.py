"""Runs with a fixed step that continue step by step, driven by Python.

A run has `advance(last)`, which continues to step number `last` and returns the rows recorded on
the way (time, states, outputs, inputs), `reached`, `status`, `state` (the last good one) and `bad`
(the one that is not finite). `CRun` of
`backend` and `AdaptiveRun` are others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np

from bellcrank.core.numeric.fixed_step_methods import METHODS
from bellcrank.core.numeric.integrate import Rates, step_function
from bellcrank.core.numeric.loop_constraints import ProjectedState
from bellcrank.core.numeric.loop_projector import (
    LoopNotClosedError,
    LoopProjector,
    SingularityPassage,
)
from bellcrank.core.numeric.run_base import NO_VALUE as NO_VALUE
from bellcrank.core.numeric.run_base import RunBase
from bellcrank.core.numeric.run_spec import (
    NOT_CLOSED,
    NOT_FINITE,
    At,
    Checkpoint,
    ProgramInput,
    RunSpec,
    StepSegment,
    Weights,
    fast_replace,
    loop_open_message,
)
from bellcrank.core.numeric.tuning import STEPS
from bellcrank.simulation.backend.protocol import BoundRhsProtocol, ProgramCalls
from bellcrank.simulation.run.loaded import EvaluationContext
from bellcrank.simulation.run.loop_closure import RunLoopProjection
from bellcrank.simulation.run.python_limits import not_in_python_message


class SteppableRun(Protocol):
    """A run that continues."""

    @property
    def steps_done(self) -> int: ...

    @property
    def status(self) -> int: ...

    @property
    def problem(self) -> str: ...

    @property
    def state(self) -> np.ndarray: ...

    @property
    def nonfinite_state(self) -> np.ndarray: ...

    @property
    def rates(self) -> np.ndarray: ...  # at the state; of runs with a fixed step

    @property
    def sampled_values(self) -> np.ndarray: ...  # values of user functions that hold at present

    @property
    def memory(self) -> np.ndarray: ...  # what user functions in C remember

    @property
    def calls_python(
        self,
    ) -> bool: ...  # does it call functions of the user? What lies past an event is not for them

    @property
    def time(self) -> float: ...  # of the state, or of the step that failed

    @property
    def singular_passages(self) -> list[SingularityPassage]: ...

    def advance(self, last: int) -> np.ndarray: ...

    def save(self) -> Checkpoint: ...  # what a run that continues from here takes over

    def restore(self, saved: Checkpoint) -> None: ...  # ... and takes it over


@dataclass(frozen=True)
class RunEvaluation:
    """A model in the context of a run or an evaluation, with all it needs to be evaluated at a time
    and state."""

    context: EvaluationContext
    p: Sequence[float]
    c: Sequence[float]
    inputs: Sequence[ProgramInput]
    sampled_values: np.ndarray  # values of user functions that hold over a step or a run
    loop_projection: RunLoopProjection | None = None  # of closed loops

    def fill_spec(self, request: RunSpec, y: np.ndarray, **extra: Any) -> RunSpec:
        """What a run from the state y is asked to do with these values and inputs."""
        x, breaks = self, request.step_breaks(self.inputs)
        fields = {
            "state": y,
            "p": x.p,
            "c": x.c,
            "inputs": x.inputs,
            "weights": x.weights,
            "closes_every_stage": x.closes_every_stage,
            **extra,
        }
        return fast_replace(request, breaks=breaks, **fields)

    @property
    def model(self) -> ProgramCalls:
        return self.context.model

    @property
    def n_q(self) -> int:
        return self.context.loaded.n_q

    @property
    def euler_parameter_indices(self) -> tuple[int, ...]:
        """Places of the first of four Euler parameters that steps bring to unit size."""
        return self.context.loaded.program.unit

    @property
    def n_states(self) -> int:
        """Coordinates and speeds."""
        return self.context.loaded.n_states

    @cached_property
    def projector(self) -> LoopProjector | None:
        """What keeps loops closed in a run that Python drives."""
        return None if self.loop_projection is None else self.loop_projection.projector

    @property
    def weights(self) -> Weights | None:
        """The metric in which loops are closed."""
        return None if self.loop_projection is None else self.loop_projection.weights

    @property
    def closes_every_stage(self) -> bool:
        """Are loops closed at every stage of a step?"""
        return self.loop_projection is not None and self.loop_projection.closes_every_stage

    @cached_property
    def bound_rhs(self) -> BoundRhsProtocol | None:
        """Rates by one call; None where Python evaluates them."""
        bound_rhs = self.context.loaded.bound_rhs_in(self.context, self.p, self.c, self.inputs)
        if bound_rhs is not None and len(self.sampled_values):
            bound_rhs.sampled_values[: len(self.sampled_values)] = self.sampled_values
        return bound_rhs

    @property
    def has_stateful_routines(self) -> bool:
        """Do user functions remember?"""
        return bool(self.context.loaded.stateful_routine_names)

    def batch_rates(self, t: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Rates of states, one row each, as the equations have them: loops are not closed."""
        if self.bound_rhs is not None:
            return self.bound_rhs.batch_rates(t, y, afresh=False)
        plain = replace(self, loop_projection=None)
        return np.array([plain.rates(time, row) for time, row in zip(t.tolist(), y, strict=True)])

    def restarted_at(self, t: float, y: np.ndarray) -> Self:
        """One that begins at a state of the run."""
        return (
            self
            if self.loop_projection is None
            else replace(self, loop_projection=self.loop_projection.restarted_at(t, y))
        )

    def update_sampled_values(
        self, t: float, y: np.ndarray, first: bool = False, live: int = 2
    ) -> None:
        """Calls the user functions whose values are kept: those of a whole run at its first step,
        others always."""
        if not len(self.sampled_values):
            return
        self.context.enable_memory_updates(live)
        try:
            if first and (values := self.model.values("start", *self.program_arguments(t, y))):
                self.sampled_values[: len(values)] = values
            if values := self.model.values("update", *self.program_arguments(t, y)):
                self.sampled_values[-len(values) :] = values
        finally:
            self.context.enable_memory_updates(0)

    def program_arguments(self, t: float, y: np.ndarray) -> At:
        w = [*(i.function(t) for i in self.inputs), *self.sampled_values.tolist()]
        return t, y[: self.n_q].tolist(), y[self.n_q :].tolist(), self.p, self.c, w

    def rates(self, t: float, y: np.ndarray) -> np.ndarray:
        if self.projector is not None and self.projector.use_redundant_rates:
            return self.projector.rates_near_singular(t, y)
        if self.projector is not None and self.projector.closes_every_stage:
            y = self.projector.project_stage(t, y)
        qdot, udot = self.model.derivatives(*self.program_arguments(t, y))
        return np.array(qdot + udot)

    def rates_at_accepted_state(self, t: float, y: np.ndarray) -> np.ndarray:
        """Rates at an accepted state: what user functions remember may change here."""
        self.context.enable_memory_updates(1)
        try:
            return self.rates(t, y)
        finally:
            self.context.enable_memory_updates(0)

    def row(self, t: float, y: np.ndarray, live: int = 0) -> np.ndarray:
        """Time, state, outputs and inputs."""
        program_arguments = self.program_arguments(t, y)
        self.context.enable_memory_updates(live)
        try:
            return np.array(
                [t, *y, *self.model.outputs(*program_arguments), *program_arguments[-1]]
            )
        finally:
            self.context.enable_memory_updates(0)


class PythonRunBase(RunBase):
    """The head of all runs of loaded models that Python drives."""

    evaluation: RunEvaluation

    @property
    def calls_python(self) -> bool:
        e = self.evaluation
        return bool(e.context.loaded.program.externals) or any(
            i.kind == "function" for i in e.inputs
        )

    @property
    def sampled_values(self) -> np.ndarray:
        return self.evaluation.sampled_values

    @property
    def memory(self) -> np.ndarray:
        return self.evaluation.model.memory

    def save(self) -> Checkpoint:
        return Checkpoint(self.sampled_values.copy(), self.memory.copy())

    def restore(self, saved: Checkpoint) -> None:
        self.sampled_values[:], self.memory[:] = saved.sampled_values, saved.memory


class PythonRun(PythonRunBase):
    """A run with a fixed step."""

    not_available_message = not_in_python_message(
        "a way through singular configurations of closed loops"
    )

    def __init__(self, evaluation: RunEvaluation, spec: RunSpec) -> None:
        super().__init__(evaluation, spec.state)
        self.spec, self._is_initialized, self._is_restarted = spec, False, False
        self._two_step = METHODS[spec.method].two_step is not None
        self._previous_step: tuple[np.ndarray, float] | None = (
            None  # rates at the start of the step before, and its length
        )
        self.steps_done = spec.first_step
        self._advance = step_function(
            spec.method, evaluation.n_q, evaluation.euler_parameter_indices
        )

    @property
    def time(self) -> float:
        return self.spec.step_end(self.steps_done)

    def _advance_to(self, last: int, rows: list[np.ndarray]) -> None:
        if not self._is_initialized:
            self._is_initialized = True
            t = self.spec.step_start(self.spec.first_step + 1)
            if self._is_restarted:
                self._init_rates(self.spec.input_time(self.spec.first_step + 1), live=0)
            else:
                self._record_start(t, rows)
        while self.steps_done < last:
            self.steps_done += 1
            if not self._take_step(self.steps_done):
                self.status = self.status or NOT_FINITE
                return
            if (
                self.steps_done % self.spec.output_every == 0
                or self.steps_done == self.spec.n_steps
            ):
                rows.append(self._row(self.spec.step_end(self.steps_done)))

    def _record_start(self, t: float, rows: list[np.ndarray]) -> None:
        """Takes the start and records it, even if its rates have no value: the run then ends in its
        first step."""
        self.evaluation.update_sampled_values(t, self.state, first=True)
        try:
            self._init_rates(t)
        except NO_VALUE:
            rows.append(self._row(t))
            raise
        rows.append(self._row(t))

    def _init_rates(self, t: float, live: int = 1) -> None:
        """Takes the start of the run."""
        self._previous_step = None
        if self.evaluation.projector is not None:
            self.evaluation.projector.start(t, self.state)
        self.rates = (self.evaluation.rates_at_accepted_state if live else self.evaluation.rates)(
            t, self.state
        )

    def save(self) -> Checkpoint:
        keeper = self.evaluation.projector
        inside = {
            "stepper": type(self).__name__,
            "y": self.state.copy(),
            "k": self.rates.copy(),
            "old": self._previous_step,
        }
        return replace(
            super().save(),
            integrator_state=inside | {"keeper": None if keeper is None else keeper.snapshot()},
        )

    def restore(self, saved: Checkpoint) -> None:
        super().restore(saved)
        self._is_restarted, inside = True, saved.integrator_state
        if inside is None or inside["stepper"] != type(self).__name__:
            return
        self._is_initialized, self.state, self.rates, self._previous_step = (
            True,
            inside["y"].copy(),
            inside["k"].copy(),
            inside["old"],
        )
        if self.evaluation.projector is not None:
            self.evaluation.projector.restore(inside["keeper"])

    def _row(self, t: float) -> np.ndarray:
        return self.evaluation.row(t, self.state, live=2)

    def recompute_row(self) -> np.ndarray:
        """The row of the state reached, found by routines that remember nothing of it."""
        return self.evaluation.row(self.time, self.state)

    def _take_step(self, i: int) -> bool:
        """Takes step i; False if it cannot be taken."""
        e = self.evaluation
        # AUTOSIM's rk2 calls user functions at the middle of a step as it does at its end
        inner = (
            e.rates_at_accepted_state
            if METHODS[self.spec.method].updates_memory_in_stages
            else e.rates
        )
        for part in self.spec.step_segments(i):
            new, admitted = self.projected_state(part, inner)
            if self.problem or not np.all(np.isfinite(new)):
                self.nonfinite_state = new
                return False
            sampled_bytes, old = e.sampled_values.tobytes(), self.rates
            if part.last:
                e.update_sampled_values(part.after, new)
            self.rates = (e.rates_at_accepted_state if part.last else e.rates)(part.after, new)
            self.state = new
            if e.projector is not None and admitted is not None:
                e.projector.accept_step(part.end, admitted)
            near_singular = e.projector is not None and e.projector.near_singular
            steady = sampled_bytes == e.sampled_values.tobytes()  # a value that changes is a jump
            self._previous_step = (
                (old, part.h)
                if self._two_step and part.whole and steady and not near_singular
                else None
            )
        return True

    def previous_rates(self, part: StepSegment) -> np.ndarray | None:
        """Rates at the start of the step before, if a part is a whole step that follows one of its
        length."""
        if (
            not part.whole
            or self._previous_step is None
            or not abs(self._previous_step[1] - part.h) < STEPS.gap * part.h
        ):
            return None
        return self._previous_step[0]

    def projected_state(
        self, part: StepSegment, inner: Rates
    ) -> tuple[np.ndarray, ProjectedState | None]:
        """The state after a part of a step, brought onto the constraints."""
        e, times, y, k = self.evaluation, (part.t, part.middle, part.before), self.state, self.rates
        if e.projector is None:
            return self._advance(inner, times, y, part.h, k, self.previous_rates(part)), None
        try:
            return e.projector.step(
                self._advance, inner, e.rates, times, y, part.h, k, self.previous_rates(part)
            )
        except LoopNotClosedError as error:
            state = error.state
            self.status, self.problem = (
                NOT_CLOSED,
                loop_open_message(state.row, state.correction, state.residual),
            )
            return np.concatenate([state.q, state.u]), state
