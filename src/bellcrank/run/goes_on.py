"""Runs that go on where another one ended: all that a run leaves behind, and what a run that goes on begins with."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bellcrank.errors import ModelError, mapping
from bellcrank.numeric.methods import METHODS
from bellcrank.numeric.projection import Closure
from bellcrank.numeric.run_spec import FINISHED, Carried, Input, RunSpec
from bellcrank.numeric.tuning import STEPS
from bellcrank.run.assembly import start_state
from bellcrank.run.dae_methods import USUAL as USUAL_DAE
from bellcrank.run.dae_methods import Dae
from bellcrank.run.loaded import Loaded
from bellcrank.run.prepare import Prepared
from bellcrank.run.result import Run
from bellcrank.run.status import RunStatus
from bellcrank.run.stepping import Driven, Evaluation
from bellcrank.run.tolerances import USUAL, Tolerances
from bellcrank.run.values import run_spec
from bellcrank.signals import own_copy


@dataclass(frozen=True, eq=False)
class Reached:
    """Where a run ended. `spec`: of one that goes on from there; `row`: the last one; values in equation units, but for
    `parameters` and `inputs`, which are as a user gave them."""

    source: str  # of the program
    spec: RunSpec
    dae: Dae
    tolerances: Tolerances
    row: np.ndarray
    state: np.ndarray
    p: tuple[float, ...]
    parameters: Mapping[str, float]
    inputs: Mapping[str, Any]
    carried: Carried
    memories: tuple[np.ndarray, ...]  # of external routines in Python
    behind: Any = None  # what events have done, of a run taken step by step


class Origin(NamedTuple):
    """What a run begins with: times and values as given or as another run left them."""

    t_start: float | None
    initial: Any
    parameters: Mapping[str, float] | None
    inputs: Mapping[str, Any] | None
    reached: Reached | None = None
    same_inputs: bool = False
    tolerances: Tolerances = USUAL  # unless given

    @property
    def dae(self) -> Dae:
        """How constraints are kept, unless given."""
        return USUAL_DAE if self.reached is None else self.reached.dae

    def spec(self, loaded: Loaded, t_end: Any, step: Any, method: Any, every: Any) -> RunSpec:
        """How long, how fine and by which method: of a run that goes on as the one before, unless given."""
        if self.reached is None:
            return run_spec(loaded.interface, t_end, step, method, every, self.t_start)
        r, given = self.reached, (step, method, every)
        usual = r.spec.step, r.spec.method, r.spec.every
        step, method, every = (x if x is not None else y for x, y in zip(given, usual, strict=True))
        spec = run_spec(loaded.interface, t_end, step, method, every, float(r.row[0]))
        if spec.step != r.spec.step or spec.method not in METHODS or r.spec.method not in METHODS:
            return spec
        return replace(spec, t_start=r.spec.t_start, first=r.spec.first, within=r.spec.within)

    def carried(self, loaded: Loaded, p: list[float], dae: Dae) -> Carried | None:
        """What the run before hands over; all of it if nothing else changes."""
        r = self.reached
        if r is None:
            return None
        same = r.source == loaded.model.source and r.dae == dae and self.same_inputs and r.p == tuple(p)
        if r.source != loaded.model.source and (loaded.remembers or loaded.interface.kept):
            why = f"and {_held(loaded)} cannot be handed over"
            raise ModelError(f"start=: the run is one of another model or backend, {why}", loaded.name)
        return r.carried if same else replace(r.carried, inside=None)


def origin_of(
    loaded: Loaded,
    start: Any,
    t_start: float | None,
    initial: Any,
    parameters: Mapping[str, float] | None,
    inputs: Mapping[str, Any] | None,
) -> Origin:
    """What a run begins with: `start` is a run that it continues, or None."""
    inputs = {name: own_copy(x) for name, x in mapping(inputs, "inputs").items()}
    if start is None:
        return Origin(t_start, initial, parameters, inputs)
    if not isinstance(start, Run):
        raise ModelError(f"start={start!r} must be a run that this one goes on from", loaded.name)
    if t_start is not None or initial is not None:
        both = "t_start=" if initial is None else "initial="
        raise ModelError(f"{both} and start=: a run that goes on begins with time and state of the other", loaded.name)
    if not len(start) or not (start.reached is not None or start.ok or start.status is RunStatus.UNKNOWN):
        raise ModelError(f"start=: there is nothing to go on from, as that run {start.ended}", loaded.name)
    states = [x.name for x in loaded.interface.states]
    missing = [name for name in states if name not in start.channels]
    if missing:
        told = f"it has no {', '.join(missing[:4])}{' ...' if len(missing) > 4 else ''}"
        raise ModelError(f"start=: the run of '{start.name}' is none of this model: {told}", loaded.name)
    if start.reached is not None:
        r: Reached = start.reached()
        given = {**r.parameters, **mapping(parameters, "parameters")}
        tolerances = r.tolerances if r.source == loaded.model.source else replace(r.tolerances, caps=None)
        return Origin(None, None, given, {**r.inputs, **mapping(inputs, "inputs")}, r, not inputs, tolerances)
    if loaded.remembers or loaded.interface.kept:
        raise ModelError(f"start=: {_held(loaded)} is not in a file: go on from the run itself", loaded.name)
    last = [float(x.unit.to_equation(start[x.name][-1])) for x in loaded.interface.states]
    return Origin(float(start.time[-1]), (last[: loaded.n_q], last[loaded.n_q :]), parameters, inputs)


def _held(loaded: Loaded) -> str:
    """What external routines hold, in words."""
    parts = [f"what {', '.join(loaded.remembers)} remembers"] if loaded.remembers else []
    kept = ", ".join(x.name for x in loaded.interface.kept)
    return " and ".join([*parts, f"the value of {kept}"] if kept else parts)


def place_on(spec: RunSpec, t: float) -> RunSpec:
    """The spec of a run that goes on at a time within."""
    h = spec.step
    n = math.floor((t - spec.t_start) / h + STEPS.gap)
    return replace(spec, first=n, within=None if t == spec.t_start + n * h else t)


def first_state(
    origin: Origin, loaded: Loaded, closure: Closure | None, p: list[float], signals: list[Input], t: float
) -> np.ndarray:
    """The state that a run begins with."""
    r = origin.reached
    if r is not None and (closure is None or r.p == tuple(p)):
        return r.state.copy()
    given = origin.initial if r is None else (r.state[: loaded.n_q], r.state[loaded.n_q :])
    return np.concatenate(start_state(loaded, given, closure, p, signals, t))


def take_over(r: Reached | None, e: Evaluation, y: np.ndarray, carried: Carried | None) -> np.ndarray | None:
    """Sets what routines remember and keep in a run that goes on; its first row. None for one that begins."""
    if r is None or carried is None:
        return None
    for routine, array in zip(e.context.memories, r.memories, strict=True):
        routine.array[:] = array
    e.kept[:], e.model.memory[:] = carried.kept, carried.memory
    return r.row if carried.inside is not None else e.row(float(r.row[0]), y)


def left_behind(
    prepared: Prepared, e: Evaluation, spec: RunSpec, dae: Dae, rows: np.ndarray, stopped: bool, origin: Origin
) -> Callable[[], Reached] | None:
    """What tells where a run ended, to be asked when another one goes on from it; None if it broke down."""
    if prepared.run.status != FINISHED or not len(rows):
        return None
    found = partial(_reached, prepared, e, spec, dae, rows[-1].copy(), stopped, origin)
    if not isinstance(prepared.run, Driven):
        return found
    now = found()  # what Python drives shares its state with what is evaluated later
    return lambda: now


def _reached(
    prepared: Prepared, e: Evaluation, spec: RunSpec, dae: Dae, row: np.ndarray, stopped: bool, origin: Origin
) -> Reached:
    """Where a run ended. One that was `stopped` within a step goes on from there."""
    carried = prepared.run.carried()
    carried = replace(carried, inside=None) if stopped else carried
    if spec.method in METHODS and not stopped:
        whole = spec.t_start + spec.steps * spec.step
        on_raster = abs(spec.t_end - whole) <= STEPS.gap * spec.step
        onward = replace(spec, first=spec.steps, within=None if on_raster else spec.t_end)
    else:
        onward = place_on(spec, float(row[0]))
    loaded = e.context.loaded
    state = row[1 : 1 + loaded.n_states].copy()
    return Reached(
        loaded.model.source, onward, dae, origin.tolerances, row, state, tuple(e.p), dict(origin.parameters or {}),
        dict(origin.inputs or {}), replace(carried, weights=e.weights),
        tuple(m.array.copy() for m in e.context.memories),
    )  # fmt: skip
