"""What a run begins with, as given or as another run left it, and what a run leaves to one that continues it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bellcrank.errors import ModelError, mapping
from bellcrank.numeric.methods import METHODS
from bellcrank.numeric.projection import Closure
from bellcrank.numeric.run_spec import Checkpoint, Input, RunSpec, changed
from bellcrank.numeric.tuning import STEPS
from bellcrank.run.assembly import start_state
from bellcrank.run.dae_methods import USUAL as USUAL_DAE
from bellcrank.run.dae_methods import Dae
from bellcrank.run.loaded import Loaded
from bellcrank.run.result import Run
from bellcrank.run.status import RunStatus
from bellcrank.run.stepping import Evaluation
from bellcrank.run.tolerances import USUAL, Tolerances
from bellcrank.run.values import run_spec
from bellcrank.signals import own_copy


class InitialConditions(NamedTuple):
    """What a run begins with: times and values as given or as another run left them."""

    t_start: float | None
    initial: Any
    parameters: Mapping[str, float | str] | None
    inputs: Mapping[str, Any] | None
    saved: Checkpoint | None = None
    same_inputs: bool = False
    tolerances: Tolerances = USUAL  # unless given
    given_dae: Dae | None = None

    @property
    def dae(self) -> Dae:
        """How constraints are kept: as given, or as the run before does."""
        if self.given_dae is not None:
            return self.given_dae
        return USUAL_DAE if self.saved is None else self.saved.dae

    def spec(self, loaded: Loaded, t_end: Any, step: Any, method: Any, every: Any) -> RunSpec:
        """How long, how fine and by which method: of a run that continues as the one before, unless given."""
        if self.saved is None:
            return run_spec(loaded.interface, t_end, step, method, every, self.t_start)
        r, requested = self.saved, (step, method, every)
        defaults = r.spec.step, r.spec.method, r.spec.every
        step, method, every = (x if x is not None else y for x, y in zip(requested, defaults, strict=True))
        spec = run_spec(loaded.interface, t_end, step, method, every, float(r.row[0]))
        if spec.step != r.spec.step or spec.method not in METHODS or r.spec.method not in METHODS:
            return spec
        return replace(spec, t_start=r.spec.t_start, first=r.spec.first, within=r.spec.within)

    def checkpoint(self, loaded: Loaded, p: list[float], dae: Dae) -> Checkpoint | None:
        """What the run before hands over; all of it if nothing else changes."""
        r = self.saved
        if r is None:
            return None
        is_unchanged = r.source == loaded.model.source and r.dae == dae and self.same_inputs and r.p == tuple(p)
        if r.source != loaded.model.source and (loaded.remembers or loaded.interface.kept):
            reason = f"and {_held(loaded)} cannot be handed over"
            raise ModelError(f"start=: the run is one of another model or backend, {reason}", loaded.name)
        return r if is_unchanged else replace(r, inside=None)


def initial_conditions(
    loaded: Loaded,
    start: Any,
    t_start: float | None,
    initial: Any,
    parameters: Mapping[str, float | str] | None,
    inputs: Mapping[str, Any] | None,
) -> InitialConditions:
    """What a run begins with: `start` is a run that it continues, or None."""
    inputs = {name: own_copy(x) for name, x in mapping(inputs, "inputs").items()}
    if start is None:
        return InitialConditions(t_start, initial, parameters, inputs)
    if not isinstance(start, Run):
        raise ModelError(f"start={start!r} must be a run that this one continues from", loaded.name)
    if t_start is not None or initial is not None:
        argument = "t_start=" if initial is None else "initial="
        raise ModelError(f"{argument} and start=: a continued run begins with time and state of the other", loaded.name)
    if not len(start) or not (start.reached is not None or start.ok or start.status is RunStatus.UNKNOWN):
        raise ModelError(f"start=: there is nothing to continue from, as that run {start.ended}", loaded.name)
    states = [x.name for x in loaded.interface.states]
    missing = [name for name in states if name not in start.channels]
    if missing:
        reason = f"it has no {', '.join(missing[:4])}{' ...' if len(missing) > 4 else ''}"
        raise ModelError(f"start=: the run of '{start.name}' is none of this model: {reason}", loaded.name)
    if start.reached is not None:
        r: Checkpoint = start.reached()
        merged_parameters = {**r.parameters, **mapping(parameters, "parameters")}
        tolerances = r.tolerances if r.source == loaded.model.source else replace(r.tolerances, caps=None)
        return InitialConditions(
            None, None, merged_parameters, {**r.inputs, **mapping(inputs, "inputs")}, r, not inputs, tolerances
        )
    if loaded.remembers or loaded.interface.kept:
        raise ModelError(f"start=: {_held(loaded)} is not in a file: continue from the run itself", loaded.name)
    last = [float(x.unit.to_equation(start[x.name][-1])) for x in loaded.interface.states]
    return InitialConditions(float(start.time[-1]), (last[: loaded.n_q], last[loaded.n_q :]), parameters, inputs)


def _held(loaded: Loaded) -> str:
    """What user functions hold, in words."""
    descriptions = [f"what {', '.join(loaded.remembers)} remembers"] if loaded.remembers else []
    sampled_names = ", ".join(x.name for x in loaded.interface.kept)
    return " and ".join([*descriptions, f"the value of {sampled_names}"] if sampled_names else descriptions)


def place_on(spec: RunSpec, t: float) -> RunSpec:
    """The spec of a run that continues at a time within."""
    h = spec.step
    n = math.floor((t - spec.t_start) / h + STEPS.gap)
    return replace(spec, first=n, within=None if t == spec.t_start + n * h else t)


def first_state(
    initial: InitialConditions, loaded: Loaded, closure: Closure | None, p: list[float], signals: list[Input], t: float
) -> np.ndarray:
    """The state that a run begins with."""
    r = initial.saved
    if r is not None and (closure is None or r.p == tuple(p)):
        return r.state.copy()
    start_values = initial.initial if r is None else (r.state[: loaded.n_q], r.state[loaded.n_q :])
    return np.concatenate(start_state(loaded, start_values, closure, p, signals, t))


def take_over(r: Checkpoint | None, e: Evaluation, y: np.ndarray) -> np.ndarray | None:
    """Sets the internal states and values of routines in a run that continues; its first row. None for one that
    begins."""
    if r is None:
        return None
    for routine, array in zip(e.context.memories, r.memories, strict=True):
        routine.array[:] = array
    e.kept[:], e.model.memory[:] = r.kept, r.memory
    return np.asarray(r.row) if r.inside is not None else e.row(float(r.row[0]), y)


def checkpoint_at(
    saved: Checkpoint, e: Evaluation, spec: RunSpec, dae: Dae, row: np.ndarray, initial: InitialConditions
) -> Checkpoint:
    """What a run `saved`, with all that another one needs to continue it as `spec` says."""
    loaded = e.context.loaded
    return changed(
        saved, weights=e.weights, source=loaded.model.source, spec=spec, dae=dae, tolerances=initial.tolerances,
        row=row, state=row[1 : 1 + loaded.n_states].copy(), p=tuple(e.p), parameters=dict(initial.parameters or {}),
        inputs=dict(initial.inputs or {}), memories=tuple(m.array.copy() for m in e.context.memories),
    )  # fmt: skip
