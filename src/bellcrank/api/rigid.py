"""Rigid wheels: what `add_contact` without a tyre adds to a description, and runs with them.

The model gets inputs for what the ground exerts and outputs for what a run has to know; flight, impact and rolling happen in the run,
in C (`emit/templates/rigid.c`) or driven by Python (`run/contact.py`).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.api.contacts import Ground, _point, _upwards
from bellcrank.api.trip import Trip
from bellcrank.build.arguments import Course
from bellcrank.build.c import CModel, RigidCRun
from bellcrank.emit.c_rigid import RigidWheel
from bellcrank.errors import ModelError, ModelWarning, RunError
from bellcrank.model.formula import cross, dot, dxdt, pos, rot, vel
from bellcrank.run.contact import RigidRun, Wheel, within_rigid_step
from bellcrank.run.inputs import breaks_of
from bellcrank.run.integrate import FIXED
from bellcrank.run.stepping import Rows
from bellcrank.run.watch import Event

if TYPE_CHECKING:
    from bellcrank.api.simulation import Simulation
    from bellcrank.api.system import System
    from bellcrank.api.values import Plan
    from bellcrank.program.program import Program
    from bellcrank.run.stepping import Evaluation
    from bellcrank.run.watch import Watch


INPUTS = ("fx", "fz", "m")
NEAR = ("distance", "normal_x", "normal_z", "foot_x", "foot_z")
OUTPUTS = ("x", "z", "vx", "vz", "spin", "ax", "az", "turn")


@dataclass(frozen=True)
class RigidContact:
    """A rigid wheel on the ground, as the description keeps it."""

    name: str
    radius: float
    terrain: Any
    restitution: tuple[float, float]
    turns: bool
    below: str  # what to do with a wheel that starts below ground
    resistance: float


def add_rigid_contact(
    s: System,
    name: str,
    at: Any,
    rim: Any,
    terrain: Ground,
    restitution: Any,
    rolling_resistance: Any,
    wheel: Any,
    below: str,
) -> RigidContact:
    """A rigid wheel: inputs for what the ground exerts, outputs for what the run has to know."""
    point = _point(s, name, at)
    problems = []
    if not hasattr(terrain, "nearest") or not hasattr(terrain, "shape"):
        problems.append(f"terrain={terrain!r} is not one of bc.terrain")
    if not isinstance(rim, int | float) or not rim > 0:
        problems.append(f"rim={rim!r}: the radius of a rigid wheel must be a positive number")
    pair = restitution if isinstance(restitution, tuple | list) else ()
    if len(pair) != 2 or not (0 <= pair[0] <= 1 and -1 <= pair[1] <= 1):
        problems.append(f"restitution={restitution!r} must be (normal from 0 to 1, tangential from -1 to 1)")
    if not isinstance(rolling_resistance, int | float) or not 0 <= rolling_resistance < math.inf:
        problems.append(
            f"rolling_resistance={rolling_resistance!r}: that of a rigid wheel must be a number of at least 0"
        )
    if below not in ("raise", "error"):
        problems.append(f"below={below!r} must be 'raise' or 'error'")
    if problems:
        raise ModelError(f"contact '{name}': " + "; ".join(problems), s.name)
    along, up = s.inertial[1], s.inertial[3] if _upwards(s) else -s.inertial[3]
    axis = cross(up, along)
    used = INPUTS if wheel is not None else INPUTS[:2]
    for part, units in zip(used, ("F", "F", "F*L"), strict=False):
        s.add_variable(f"{name}.{part}", units=units, label=f"of the ground on {name}: {part}")
    s.add_force(f"{name}.x", magnitude=f"{name}.fx", direction=along, at=point, label=f"horizontal force on {name}")
    s.add_force(f"{name}.z", magnitude=f"{name}.fz", direction=up, at=point, label=f"vertical force on {name}")
    spin: Any = 0
    if wheel is not None:
        s.add_moment(f"{name}.moment", magnitude=f"{name}.m", direction=axis, on=wheel, label=f"moment on {name}")
        spin = rim * dot(rot(wheel), axis)
    v = vel(point)
    values = (
        dot(pos(point), along), dot(pos(point), up), dot(v, along), dot(v, up), spin, dot(dxdt(v), along), dot(dxdt(v), up),
        dxdt(spin) if wheel is not None else 0,
    )  # fmt: skip
    for part, value in zip(OUTPUTS, values, strict=True):
        s.add_output(value, f"{name}.{part}", label=f"{part} of {name}")
    s.set_run(inputs={f"{name}.{part}": 0.0 for part in used})
    e = (float(pair[0]), float(pair[1]))
    contact = RigidContact(name, float(rim), terrain, e, wheel is not None, below, float(rolling_resistance))
    s.description.contacts.append(contact)
    return contact


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
    if plan.method not in FIXED:
        problems.append(f"method={plan.method!r}: rigid wheels run with {' or '.join(map(repr, FIXED))}")
    if any(getattr(r, "memory", None) for r in sim.program.routines):
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
