"""Runs with a fixed step that continue step by step, driven by Python.

A run has `advance(last)`, which continues to step number `last` and returns the rows recorded on the way (time, states,
outputs, inputs), `reached`, `status`, `state` (the last good one) and `bad` (the one that is not finite). `CRun` of
`backend` and `AdaptiveRun` are others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np

from bellcrank.backend.protocol import Bound, Calls
from bellcrank.numeric.branch import Keeper, NotClosed, Passage
from bellcrank.numeric.driven import NO_VALUE as NO_VALUE
from bellcrank.numeric.driven import Head
from bellcrank.numeric.integrate import Rates, advance_by
from bellcrank.numeric.methods import METHODS
from bellcrank.numeric.projection import Admitted
from bellcrank.numeric.run_spec import (
    NOT_CLOSED,
    NOT_FINITE,
    At,
    Checkpoint,
    Input,
    Part,
    RunSpec,
    Weights,
    changed,
    not_closed,
)
from bellcrank.numeric.tuning import STEPS
from bellcrank.run.closure import Closing
from bellcrank.run.loaded import Context
from bellcrank.run.plain import not_in_python


class Advancing(Protocol):
    """A run that continues."""

    reached: int
    status: int
    problem: str
    state: np.ndarray
    bad: np.ndarray
    rates: np.ndarray  # at the state; of runs with a fixed step

    @property
    def kept(self) -> np.ndarray: ...  # values of user functions that hold at present

    @property
    def memory(self) -> np.ndarray: ...  # what user functions in C remember

    @property
    def calls_back(self) -> bool: ...  # does it call functions of the user? What lies past an event is not for them

    @property
    def time(self) -> float: ...  # of the state, or of the step that failed

    @property
    def passages(self) -> list[Passage]: ...

    def advance(self, last: int) -> np.ndarray: ...

    def save(self) -> Checkpoint: ...  # what a run that continues from here takes over

    def restore(self, saved: Checkpoint) -> None: ...  # ... and takes it over


@dataclass(frozen=True)
class Evaluation:
    """A model in the context of a run or an evaluation, with all it needs to be evaluated at a time and state."""

    context: Context
    p: Sequence[float]
    c: Sequence[float]
    inputs: Sequence[Input]
    kept: np.ndarray  # values of user functions that hold over a step or a run
    closing: Closing | None = None  # of closed loops

    def spec(self, request: RunSpec, y: np.ndarray, **extra: Any) -> RunSpec:
        """What a run from the state y is asked to do with these values and inputs."""
        x, breaks = self, request.breaks_of(self.inputs)
        fields = {"state": y, "p": x.p, "c": x.c, "inputs": x.inputs, "weights": x.weights, "staged": x.staged, **extra}
        return changed(request, breaks=breaks, **fields)

    @property
    def model(self) -> Calls:
        return self.context.model

    @property
    def n_q(self) -> int:
        return self.context.loaded.n_q

    @property
    def unit(self) -> tuple[int, ...]:
        """Places of the first of four Euler parameters that steps bring to unit size."""
        return self.context.loaded.program.unit

    @property
    def n_s(self) -> int:
        """Coordinates and speeds."""
        return self.context.loaded.n_states

    @cached_property
    def keeper(self) -> Keeper | None:
        """What keeps loops closed in a run that Python drives."""
        return None if self.closing is None else self.closing.keeper

    @property
    def weights(self) -> Weights | None:
        """The metric in which loops are closed."""
        return None if self.closing is None else self.closing.weights

    @property
    def staged(self) -> bool:
        """Are loops closed at every stage of a step?"""
        return self.closing is not None and self.closing.staged

    @cached_property
    def bound(self) -> Bound | None:
        """Rates by one call; None where Python evaluates them."""
        bound_rhs = self.context.loaded.bound_in(self.context, self.p, self.c, self.inputs)
        if bound_rhs is not None and len(self.kept):
            bound_rhs.kept[: len(self.kept)] = self.kept
        return bound_rhs

    @property
    def remembers(self) -> bool:
        """Do user functions remember?"""
        return bool(self.context.loaded.remembers)

    def rates_of_all(self, t: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Rates of states, one row each, as the equations have them: loops are not closed."""
        if self.bound is not None:
            return self.bound.rates_of_all(t, y, afresh=False)
        plain = replace(self, closing=None)
        return np.array([plain.rates(time, row) for time, row in zip(t.tolist(), y, strict=True)])

    def afresh(self, t: float, y: np.ndarray) -> Self:
        """One that begins at a state of the run."""
        return self if self.closing is None else replace(self, closing=self.closing.afresh(t, y))

    def hold(self, t: float, y: np.ndarray, first: bool = False, live: int = 2) -> None:
        """Calls the user functions whose values are kept: those of a whole run at its first step, others always."""
        if not len(self.kept):
            return
        self.context.set_live(live)
        try:
            if first and (values := self.model.values("start", *self.at(t, y))):
                self.kept[: len(values)] = values
            if values := self.model.values("update", *self.at(t, y)):
                self.kept[-len(values) :] = values
        finally:
            self.context.set_live(0)

    def at(self, t: float, y: np.ndarray) -> At:
        w = [*(i.function(t) for i in self.inputs), *self.kept.tolist()]
        return t, y[: self.n_q].tolist(), y[self.n_q :].tolist(), self.p, self.c, w

    def rates(self, t: float, y: np.ndarray) -> np.ndarray:
        if self.keeper is not None and self.keeper.wary:
            return self.keeper.rates(t, y)
        if self.keeper is not None and self.keeper.staged:
            y = self.keeper.closed_stage(t, y)
        qdot, udot = self.model.derivatives(*self.at(t, y))
        return np.array(qdot + udot)

    def settled(self, t: float, y: np.ndarray) -> np.ndarray:
        """Rates at an accepted state: what user functions remember may change here."""
        self.context.set_live(1)
        try:
            return self.rates(t, y)
        finally:
            self.context.set_live(0)

    def row(self, t: float, y: np.ndarray, live: int = 0) -> np.ndarray:
        """Time, state, outputs and inputs."""
        program_arguments = self.at(t, y)
        self.context.set_live(live)
        try:
            return np.array([t, *y, *self.model.outputs(*program_arguments), *program_arguments[-1]])
        finally:
            self.context.set_live(0)


class Driven(Head):
    """The head of all runs of loaded models that Python drives."""

    evaluation: Evaluation

    @property
    def calls_back(self) -> bool:
        e = self.evaluation
        return bool(e.context.loaded.program.externals) or any(i.kind == "function" for i in e.inputs)

    @property
    def kept(self) -> np.ndarray:
        return self.evaluation.kept

    @property
    def memory(self) -> np.ndarray:
        return self.evaluation.model.memory

    def save(self) -> Checkpoint:
        return Checkpoint(self.kept.copy(), self.memory.copy())

    def restore(self, saved: Checkpoint) -> None:
        self.kept[:], self.memory[:] = saved.kept, saved.memory


class PythonRun(Driven):
    """A run with a fixed step."""

    no_way = not_in_python("a way through singular configurations of closed loops")

    def __init__(self, evaluation: Evaluation, spec: RunSpec) -> None:
        super().__init__(evaluation, spec.state)
        self.spec, self._begun, self._again = spec, False, False
        self._two_step = METHODS[spec.method].two_step is not None
        self._behind: tuple[np.ndarray, float] | None = None  # rates at the start of the step before, and its length
        self.reached = spec.first
        self._advance = advance_by(spec.method, evaluation.n_q, evaluation.unit)

    @property
    def time(self) -> float:
        return self.spec.time(self.reached)

    def _go_on(self, last: int, rows: list[np.ndarray]) -> None:
        if not self._begun:
            self._begun = True
            t = self.spec.start(self.spec.first + 1)
            if self._again:
                self._begin(self.spec.begin(self.spec.first + 1), live=0)
            else:
                self._first(t, rows)
        while self.reached < last:
            self.reached += 1
            if not self._step(self.reached):
                self.status = self.status or NOT_FINITE
                return
            if self.reached % self.spec.every == 0 or self.reached == self.spec.steps:
                rows.append(self._row(self.spec.time(self.reached)))

    def _first(self, t: float, rows: list[np.ndarray]) -> None:
        """Takes the start and records it, even if its rates have no value: the run then ends in its first step."""
        self.evaluation.hold(t, self.state, first=True)
        try:
            self._begin(t)
        except NO_VALUE:
            rows.append(self._row(t))
            raise
        rows.append(self._row(t))

    def _begin(self, t: float, live: int = 1) -> None:
        """Takes the start of the run."""
        self._behind = None
        if self.evaluation.keeper is not None:
            self.evaluation.keeper.begin(t, self.state)
        self.rates = (self.evaluation.settled if live else self.evaluation.rates)(t, self.state)

    def save(self) -> Checkpoint:
        keeper = self.evaluation.keeper
        inside = {"stepper": type(self).__name__, "y": self.state.copy(), "k": self.rates.copy(), "old": self._behind}
        return replace(super().save(), inside=inside | {"keeper": None if keeper is None else keeper.carried()})

    def restore(self, saved: Checkpoint) -> None:
        super().restore(saved)
        self._again, inside = True, saved.inside
        if inside is None or inside["stepper"] != type(self).__name__:
            return
        self._begun, self.state, self.rates, self._behind = True, inside["y"].copy(), inside["k"].copy(), inside["old"]
        if self.evaluation.keeper is not None:
            self.evaluation.keeper.take(inside["keeper"])

    def _row(self, t: float) -> np.ndarray:
        return self.evaluation.row(t, self.state, live=2)

    def row_again(self) -> np.ndarray:
        """The row of the state reached, found by routines that remember nothing of it."""
        return self.evaluation.row(self.time, self.state)

    def _step(self, i: int) -> bool:
        """Takes step i; False if it cannot be taken."""
        e = self.evaluation
        # AUTOSIM's rk2 calls user functions at the middle of a step as it does at its end
        inner = e.settled if METHODS[self.spec.method].remembers else e.rates
        for part in self.spec.parts(i):
            new, admitted = self.moved(part, inner)
            if self.problem or not np.all(np.isfinite(new)):
                self.bad = new
                return False
            sampled_bytes, old = e.kept.tobytes(), self.rates
            if part.last:
                e.hold(part.after, new)
            self.rates = (e.settled if part.last else e.rates)(part.after, new)
            self.state = new
            if e.keeper is not None and admitted is not None:
                e.keeper.accept(part.end, admitted)
            near_singular = e.keeper is not None and e.keeper.near
            steady = sampled_bytes == e.kept.tobytes()  # a value that changes is a jump
            self._behind = (old, part.h) if self._two_step and part.whole and steady and not near_singular else None
        return True

    def old(self, part: Part) -> np.ndarray | None:
        """Rates at the start of the step before, if a part is a whole step that follows one of its length."""
        if not part.whole or self._behind is None or not abs(self._behind[1] - part.h) < STEPS.gap * part.h:
            return None
        return self._behind[0]

    def moved(self, part: Part, inner: Rates) -> tuple[np.ndarray, Admitted | None]:
        """The state after a part of a step, brought onto the constraints."""
        e, times, y, k = self.evaluation, (part.t, part.middle, part.before), self.state, self.rates
        if e.keeper is None:
            return self._advance(inner, times, y, part.h, k, self.old(part)), None
        try:
            return e.keeper.step(self._advance, inner, e.rates, times, y, part.h, k, self.old(part))
        except NotClosed as error:
            state = error.state
            self.status, self.problem = NOT_CLOSED, not_closed(state.row, state.moved, state.residual)
            return np.concatenate([state.q, state.u]), state
