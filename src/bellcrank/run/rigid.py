"""Runs with rigid wheels: flight, impact and rolling happen in the run,
in C (`emit/c/runtime/rigid.c`) or driven by Python (`run/rigid_wheels.py`).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.backend.c import CModel, RigidCRun
from bellcrank.emit.c.rigid import RigidWheel
from bellcrank.errors import ModelError, ModelWarning, RunError
from bellcrank.model.contact import INPUTS, OUTPUTS, RigidContact
from bellcrank.numeric.course import Course
from bellcrank.numeric.methods import EXPLICIT
from bellcrank.run.events import Event
from bellcrank.run.inputs import breaks_of
from bellcrank.run.prepare import Trip
from bellcrank.run.rigid_wheels import RigidRun, Wheel, within_rigid_step
from bellcrank.run.stepping import Rows

if TYPE_CHECKING:
    from bellcrank.api.simulation import Simulation
    from bellcrank.program.program import Program
    from bellcrank.run.events import Watch
    from bellcrank.run.stepping import Evaluation
    from bellcrank.run.values import Plan


NEAR = ("distance", "normal_x", "normal_z", "foot_x", "foot_z")


def rigid_wheels(contacts: Sequence[RigidContact], program: Program) -> list[RigidWheel]:
    """The rigid wheels of a model as generated code knows them; none in a model with closed loops."""
    if program.loops is not None:
        return []
    inputs = [s.name for s in program.given_inputs]
    outputs = list(program.output_names)
    found = []
    for c in contacts:
        places = tuple(inputs.index(name) if (name := f"{c.name}.{i}") in inputs else -1 for i in INPUTS)
        facts = tuple(outputs.index(f"{c.name}.{o}") for o in OUTPUTS)
        source, ground = c.terrain.c_rigid
        found.append(RigidWheel(c.name, c.radius, c.restitution, c.turns, c.resistance, places, facts, source, ground))  # type: ignore[arg-type]
    return found


def check_rigid(sim: Simulation, plan: Plan, usual: bool) -> None:
    """Tells what cannot be done with rigid wheels."""
    problems = []
    if sim.program.loops is not None:
        problems.append("rigid wheels in a model with closed loops or multipliers are not available; use a tyre")
    elif not usual:
        problems.append("dae= is for models with closed loops, in which rigid wheels are not available; use a tyre")
    if plan.method not in EXPLICIT:
        problems.append(f"method={plan.method!r}: rigid wheels run with {' or '.join(map(repr, EXPLICIT))}")
    if sim.program.remembers:
        problems.append("external routines that remember cannot be used with rigid wheels")
    if problems:
        raise ModelError(problems, sim.description.name)


def rigid_trip(sim: Simulation, plan: Plan, evaluation: Evaluation, y: Any, watch: Watch) -> Trip:
    """A run with rigid wheels."""
    contacts = sim.description.contacts
    facts = rigid_wheels(contacts, sim.program)
    wheels = [
        Wheel(
            c.name,
            c.terrain,
            c.radius,
            c.restitution,
            c.turns,
            c.resistance,
            tuple(i for i in f.inputs if i >= 0),
            f.facts,
        )
        for c, f in zip(contacts, facts, strict=True)
    ]
    every = 1 if watch.conditions else plan.every
    breaks = breaks_of(evaluation.inputs, plan.t_end, plan.steps)
    course = Course(plan.method, plan.step, plan.steps, every, plan.t_end, breaks)
    python = RigidRun(evaluation, course, y, wheels, watch)
    _raise_wheels(python, {c.name for c in contacts if c.below == "error"})
    run: RigidRun | _Told = python
    if isinstance(evaluation.model, CModel):
        run = _Told(evaluation.model, course, python.state, evaluation.p, evaluation.c, evaluation.inputs)
        run.watch = watch
        run.use(bool(watch.conditions))

    def within(i: int, row: np.ndarray) -> Rows:
        return within_rigid_step(evaluation, course, _as_wheels(wheels, run.modes[i - 1]), i, row)

    return Trip(run, plan.steps, plan.every, plan.step, within)


class _Told(RigidCRun):
    """A compiled run that tells its events to a watch."""

    watch: Watch

    def advance(self, last: int) -> np.ndarray:
        rows = super().advance(last)
        self.watch.events += [Event(what, t) for t, what in self.told]
        self.told.clear()
        return rows


def _as_wheels(wheels: Sequence[Wheel], modes: Any) -> list[Wheel]:
    """Wheels as they were at a step, of a compiled run or one driven by Python."""
    if isinstance(modes, list):
        return modes
    found = []
    for w, (rolls, part, *near, ox, oz, turned, turned_at) in zip(wheels, modes.tolist(), strict=True):
        place = w.terrain.nearest(0.0, 0.0)._replace(**dict(zip(NEAR, near, strict=True)))
        now = replace(w, rolls=rolls > 0, held=rolls > 1, part=int(part), near=place, other=(ox, oz))
        found.append(replace(now, turned=int(turned), turned_at=turned_at))
    return found


def _raise_wheels(run: RigidRun, strict: set[str]) -> None:
    for wheel, depth in run.raise_wheels():
        if wheel in strict:
            raise RunError(f"{wheel} starts {depth:g} below ground")
        warnings.warn(f"{wheel} starts {depth:g} below ground and is moved up", ModelWarning, stacklevel=4)
