"""What a run begins with, as given or as another run left it, and what a run leaves to one that
continues it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bellcrank.core.errors import ModelError, require_mapping
from bellcrank.core.numeric.fixed_step_methods import METHODS
from bellcrank.core.numeric.loop_constraints import LoopConstraints
from bellcrank.core.numeric.run_spec import Checkpoint, ProgramInput, RunSpec, fast_replace
from bellcrank.core.numeric.tuning import STEPS
from bellcrank.core.signals import copy_input
from bellcrank.simulation.run.argument_checks import resolve_run_spec
from bellcrank.simulation.run.dae_methods import USUAL as USUAL_DAE
from bellcrank.simulation.run.dae_methods import Dae
from bellcrank.simulation.run.initial_assembly import resolve_initial_state
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.simulation.run.result import Run
from bellcrank.simulation.run.status import RunStatus
from bellcrank.simulation.run.stepping import RunEvaluation
from bellcrank.simulation.run.tolerances import USUAL, Tolerances


class InitialConditions(NamedTuple):
    """What a run begins with: times and values as given or as another run left them."""

    t_start: float | None
    initial: object
    parameters: Mapping[str, float | str] | None
    inputs: Mapping[str, Any] | None
    previous: Checkpoint | None = None
    inputs_unchanged: bool = False
    tolerances: Tolerances = USUAL  # unless given
    requested_dae: Dae | None = None
    continues: bool = False  # another run, or one from a file

    @property
    def dae(self) -> Dae:
        """How constraints are kept: as given, or as the run before does."""
        if self.requested_dae is not None:
            return self.requested_dae
        return USUAL_DAE if self.previous is None else self.previous.dae

    def make_spec(
        self,
        loaded: LoadedModel,
        t_end: float | None,
        step: float | None,
        method: str | None,
        every: int | None,
    ) -> RunSpec:
        """How long, how fine and by which method: of a run that continues as the one before, unless
        given."""
        if self.previous is None:
            return resolve_run_spec(loaded.interface, t_end, step, method, every, self.t_start)
        previous_spec: RunSpec = self.previous.spec
        spec = resolve_run_spec(
            loaded.interface,
            t_end,
            previous_spec.step if step is None else step,
            previous_spec.method if method is None else method,
            previous_spec.output_every if every is None else every,
            float(self.previous.row[0]),
            may_be_within_a_step=step is None,
        )
        if (
            spec.step != previous_spec.step
            or spec.method not in METHODS
            or previous_spec.method not in METHODS
        ):
            return spec
        return replace(
            spec,
            t_start=previous_spec.t_start,
            first_step=previous_spec.first_step,
            mid_step_time=previous_spec.mid_step_time,
        )

    def usable_checkpoint(self, loaded: LoadedModel, p: list[float], dae: Dae) -> Checkpoint | None:
        """What the run before hands over; all of it if nothing else changes."""
        r = self.previous
        if r is None:
            return None
        is_unchanged = (
            r.source == loaded.model.source
            and r.dae == dae
            and self.inputs_unchanged
            and r.p == tuple(p)
        )
        if r.source != loaded.model.source and (
            loaded.stateful_routine_names or loaded.interface.sampled_inputs
        ):
            reason = f"and {_user_memory_label(loaded)} cannot be handed over"
            raise ModelError(
                f"start=: the run is one of another model or backend, {reason}", loaded.name
            )
        return r if is_unchanged else replace(r, integrator_state=None)


def initial_conditions(
    loaded: LoadedModel,
    start: object,
    t_start: float | None,
    initial: object,
    parameters: Mapping[str, float | str] | None,
    inputs: Mapping[str, Any] | None,
) -> InitialConditions:
    """What a run begins with: `start` is a run that it continues, or None."""
    inputs = {name: copy_input(x) for name, x in require_mapping(inputs, "inputs").items()}
    if start is None:
        return InitialConditions(t_start, initial, parameters, inputs)
    if not isinstance(start, Run):
        raise ModelError(f"start={start!r} must be a run that this one continues from", loaded.name)
    if t_start is not None or initial is not None:
        argument = "t_start=" if initial is None else "initial="
        raise ModelError(
            f"{argument} and start=: a continued run begins with time and state of the other",
            loaded.name,
        )
    if not len(start) or not (
        start._find_checkpoint is not None or start.ok or start.status is RunStatus.UNKNOWN
    ):
        raise ModelError(
            f"start=: there is nothing to continue from, as that run {start.ended}", loaded.name
        )
    states = [x.name for x in loaded.interface.states]
    missing = [name for name in states if name not in start.channels]
    if missing:
        reason = f"it has no {', '.join(missing[:4])}{' ...' if len(missing) > 4 else ''}"
        raise ModelError(
            f"start=: the run of '{start.name}' is none of this model: {reason}", loaded.name
        )
    if start._find_checkpoint is not None:
        r: Checkpoint = start._find_checkpoint()
        merged_parameters = {**r.parameters, **require_mapping(parameters, "parameters")}
        tolerances: Tolerances = r.tolerances
        if r.source != loaded.model.source:
            tolerances = replace(tolerances, size_caps=None)
        return InitialConditions(
            None,
            None,
            merged_parameters,
            {**r.inputs, **require_mapping(inputs, "inputs")},
            r,
            not inputs,
            tolerances,
            continues=True,
        )
    if loaded.stateful_routine_names or loaded.interface.sampled_inputs:
        raise ModelError(
            f"start=: {_user_memory_label(loaded)} is not in a file: continue from the run itself",
            loaded.name,
        )
    last = [float(x.unit.to_equation_units(start[x.name][-1])) for x in loaded.interface.states]
    return InitialConditions(
        float(start.time[-1]),
        (last[: loaded.n_q], last[loaded.n_q :]),
        parameters,
        inputs,
        continues=True,
    )


def _user_memory_label(loaded: LoadedModel) -> str:
    """What user functions hold, in words."""
    descriptions = (
        [f"what {', '.join(loaded.stateful_routine_names)} remembers"]
        if loaded.stateful_routine_names
        else []
    )
    sampled_names = ", ".join(x.name for x in loaded.interface.sampled_inputs)
    return " and ".join(
        [*descriptions, f"the value of {sampled_names}"] if sampled_names else descriptions
    )


def continue_spec_at(spec: RunSpec, t: float) -> RunSpec:
    """The spec of a run that continues at a time within."""
    h = spec.step
    n = math.floor((t - spec.t_start) / h + STEPS.gap)
    return replace(spec, first_step=n, mid_step_time=None if t == spec.t_start + n * h else t)


def first_or_saved_state(
    initial: InitialConditions,
    loaded: LoadedModel,
    closure: LoopConstraints | None,
    p: list[float],
    signals: list[ProgramInput],
    t: float,
) -> np.ndarray:
    """The state that a run begins with."""
    r = initial.previous
    if r is not None and (closure is None or r.p == tuple(p)):
        return r.state.copy()
    start_values = initial.initial if r is None else (r.state[: loaded.n_q], r.state[loaded.n_q :])
    return np.concatenate(resolve_initial_state(loaded, start_values, closure, p, signals, t))


def resume_from(r: Checkpoint | None, e: RunEvaluation, y: np.ndarray) -> np.ndarray | None:
    """Sets the internal states and values of routines in a run that continues; its first row. None
    for one that begins."""
    if r is None:
        return None
    for routine, array in zip(e.context.memories, r.user_memories, strict=True):
        routine.array[:] = array
    e.sampled_values[:], e.model.memory[:] = r.sampled_values, r.memory
    return np.asarray(r.row) if r.integrator_state is not None else e.row(float(r.row[0]), y)


def complete_checkpoint(
    saved: Checkpoint,
    e: RunEvaluation,
    spec: RunSpec,
    dae: Dae,
    row: np.ndarray,
    initial: InitialConditions,
) -> Checkpoint:
    """What a run `saved`, with all that another one needs to continue it as `spec` says."""
    loaded = e.context.loaded
    return fast_replace(
        saved,
        weights=e.weights,
        source=loaded.model.source,
        spec=spec,
        dae=dae,
        tolerances=initial.tolerances,
        row=row,
        state=row[1 : 1 + loaded.n_states].copy(),
        p=tuple(e.p),
        parameters=dict(initial.parameters or {}),
        inputs=dict(initial.inputs or {}),
        user_memories=tuple(m.array.copy() for m in e.context.memories),
    )
