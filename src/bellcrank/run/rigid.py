"""Runs with rigid wheels: they fly, hit, roll, in C (`kernel/rigid.c`) or driven by Python (`rigid_wheels`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bellcrank.backend.start import Carried, Start
from bellcrank.errors import ModelError, RunError, warn
from bellcrank.model.contact import RigidContact
from bellcrank.numeric.events import Event, Rows, Watch
from bellcrank.numeric.methods import EXPLICIT
from bellcrank.run.loaded import Loaded
from bellcrank.run.prepare import Prepared
from bellcrank.run.rigid_layout import rigid_wheels
from bellcrank.run.rigid_wheels import RigidRun, Wheel, as_wheels
from bellcrank.run.stepping import Evaluation
from bellcrank.run.values import Plan


def check_rigid(loaded: Loaded, plan: Plan, usual: bool) -> None:
    """Tells what cannot be done with rigid wheels."""
    problems = []
    if loaded.program.loops is not None:
        problems.append("rigid wheels in a model with closed loops or multipliers are not available; use a tyre")
    elif not usual:
        problems.append("dae= is for models with closed loops, in which rigid wheels are not available; use a tyre")
    if plan.method not in EXPLICIT:
        problems.append(f"method={plan.method!r}: rigid wheels run with {' or '.join(map(repr, EXPLICIT))}")
    if loaded.remembers:
        problems.append("external routines that remember cannot be used with rigid wheels")
    if problems:
        raise ModelError(problems, loaded.name)


def prepare_rigid(
    contacts: Sequence[RigidContact],
    plan: Plan,
    e: Evaluation,
    y: np.ndarray,
    watch: Watch,
    carried: Carried | None = None,
) -> Prepared:
    """A run with rigid wheels that has not begun, from the state y; `carried`: what it takes over from another."""
    layout = zip(contacts, rigid_wheels(contacts, e.model.program), strict=True)
    wheels = [Wheel(c, tuple(i for i in f.inputs if i >= 0), f.facts) for c, f in layout]
    watched = bool(watch.conditions)
    course = plan.course(e.inputs, watched)
    python = RigidRun(e, course, y, wheels, watch)
    if carried is None:
        _raise_wheels(python, {c.name for c in contacts if c.below == "error"})

    def tell(what: str, t: float) -> None:
        watch.events.append(Event(what, t))

    names = [c.name for c in contacts]
    start = Start(course, python.state, e.p, e.c, e.inputs, wheels=names, tell=tell, remember=watched)
    run = e.model.start(start) or python
    if carried is not None:
        run.take(carried)

    def within(i: int, row: np.ndarray) -> Rows:
        modes = run.modes[i - 1 - plan.first]
        stood = modes if isinstance(modes, list) else as_wheels(wheels, modes.tolist())
        return python.within_as(stood, i, row)

    start_row = carried is None
    return Prepared(
        run, plan.steps, plan.every, plan.step, plan.begins, start_row, within, ground=lambda: python.looked
    )


def stands_after(run: RigidRun, e: Evaluation, y: np.ndarray) -> np.ndarray:
    """The state after an event changed it, with wheels on the ground or above it."""
    y, raised = run.changed_to(e, y)
    for wheel, depth in raised:
        warn(f"an event puts {wheel} {depth:g} below ground; it is moved up")
    return y


def _raise_wheels(run: RigidRun, strict: set[str]) -> None:
    for wheel, depth in run.raise_wheels():
        if wheel in strict:
            raise RunError(f"{wheel} starts {depth:g} below ground")
        warn(f"{wheel} starts {depth:g} below ground and is moved up")
