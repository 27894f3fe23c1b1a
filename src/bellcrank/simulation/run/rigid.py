"""Runs with rigid wheels: they fly, hit and roll (`kernel/rigid.c`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bellcrank.core.errors import ModelError, RunError, issue_warning
from bellcrank.core.numeric.event_log import Event, EventLog
from bellcrank.core.numeric.fixed_step_methods import EXPLICIT
from bellcrank.core.numeric.run_spec import Checkpoint, RunSpec
from bellcrank.model.loads.contact import RigidContact
from bellcrank.program.program import SimulationProgram
from bellcrank.simulation.backend.c_runs import RigidCRun
from bellcrank.simulation.backend.event_monitor import EventMonitor
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.simulation.run.stepping import RunEvaluation

NOT_IN_PYTHON = (
    "rigid wheels do not run in plain Python; use backend='auto' and a C compiler, or wasmtime "
    "(pip install wasmtime)"
)


def rigid_problems(program: SimulationProgram, default_dae: bool) -> list[str]:
    """Why a model cannot run with rigid wheels. `default_dae`: are constraints kept by the usual
    method?"""
    problems = []
    if program.loops is not None:
        problems.append(
            "rigid wheels in a model with closed loops or multipliers are not available; use a tyre"
        )
    elif not default_dae:
        problems.append(
            "dae= is for models with closed loops, in which rigid wheels are not available; "
            "use a tyre"
        )
    if program.stateful_routine_names:
        problems.append("user functions that remember cannot be used with rigid wheels")
    return problems


def check_rigid_run(loaded: LoadedModel, spec: RunSpec, default_dae: bool) -> None:
    """Raises an error if a run with rigid wheels is not possible."""
    problems = rigid_problems(loaded.program, default_dae)
    if spec.method not in EXPLICIT:
        problems.append(
            f"method={spec.method!r}: rigid wheels run with {' or '.join(map(repr, EXPLICIT))}"
        )
    if problems:
        raise ModelError(problems, loaded.name)


def make_rigid_run(
    contacts: Sequence[RigidContact],
    spec: RunSpec,
    e: RunEvaluation,
    y: np.ndarray,
    event_log: EventLog,
    saved: Checkpoint | None = None,
    monitor: EventMonitor | None = None,
) -> RigidCRun:
    """A run with rigid wheels that has not begun, from the state y; `saved`: what it takes over
    from another.
    `monitor`: the event monitor of the kernel."""

    def add_wheel_event(label: str, t: float) -> None:
        event_log.events.append(Event(label, t))

    run = e.model.new_run(
        e.fill_spec(
            spec,
            y,
            wheels=[c.name for c in contacts],
            wheel_callback=add_wheel_event,
            events=monitor,
        )
    )
    if run is None:
        raise RunError(f"{e.context.loaded.name}: {NOT_IN_PYTHON}")
    assert isinstance(run, RigidCRun)
    if saved is not None:
        run.restore(saved)
    else:
        _raise_start_wheels(run, {c.name for c in contacts if c.below == "error"})
    return run


def warn_raised_wheels(run: RigidCRun) -> None:
    """Reports wheels that an event has put below the ground."""
    for wheel, depth in run.take_raised_wheels().items():
        issue_warning(f"an event puts {wheel} {depth:g} below ground; it is moved up")


def _raise_start_wheels(run: RigidCRun, strict: set[str]) -> None:
    for wheel, depth in run.raise_wheels().items():
        if wheel in strict:
            raise RunError(f"{wheel} starts {depth:g} below ground")
        issue_warning(f"{wheel} starts {depth:g} below ground and is moved up")
