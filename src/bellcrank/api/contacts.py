"""Contact of wheels with the ground: what `add_contact` adds to a description.

A wheel is a disc of radius `rim` about a point; the ground acts on it at its nearest point, so along the normal of the ground and
through the wheel's centre. With a tyre it may enter the ground, and springs back: forces in the generated program.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from bellcrank.api.handles import BodyHandle, PointHandle
from bellcrank.api.slip import Slip, add_slip, needs_of_slip
from bellcrank.api.trip import Trip
from bellcrank.build.arguments import Course
from bellcrank.emit.names import identifier
from bellcrank.errors import ModelError, ModelWarning, RunError
from bellcrank.model.formula import Formula, cross, dot, dxdt, pos, rot, to_syntax, vel
from bellcrank.run.contact import RigidRun, Wheel

if TYPE_CHECKING:
    from bellcrank.api.simulation import Simulation
    from bellcrank.api.system import System
    from bellcrank.api.values import Plan
    from bellcrank.run.stepping import Evaluation
    from bellcrank.run.watch import Watch


class Ground(Protocol):
    """What a terrain has to be able to do."""

    @property
    def c(self) -> tuple[str, str]: ...

    def nearest(self, x: float, z: float, reach: float = math.inf) -> Any: ...


@dataclass(frozen=True)
class Tyre:
    """A tyre that gives way: spring (force per length) and damper (force times time per length), each a number or an expression.

    The spring acts along the normal of the ground and has a potential; the damper never makes the ground pull. `slip`: forces along
    the ground (`bc.Slip`); without it a tyre glides.
    """

    stiffness: Any
    damping: Any = 0
    slip: Slip | None = None


@dataclass(frozen=True)
class Contact:
    """A contact by name. `load`, `depth`, `stored` and `speed` are names for text: normal force, how far the tyre is pressed in,
    energy of its springs, speed of the wheel's centre along the road."""

    name: str

    @property
    def load(self) -> str:
        return f"{self.name}_load"

    @property
    def depth(self) -> str:
        return f"{self.name}_depth"

    @property
    def stored(self) -> str:
        return f"{self.name}_stored"

    @property
    def speed(self) -> str:
        return f"{self.name}_speed"


def add_contact(
    s: System,
    name: str,
    at: Any,
    rim: Any,
    terrain: Ground,
    rolling_resistance: Any,
    tyre: Tyre | None,
    drive: Any,
    wheel: Any = None,
) -> Contact:
    """A wheel with a tyre on the ground."""
    point = _point(s, name, at)
    if not hasattr(terrain, "nearest") or not hasattr(terrain, "c"):
        raise ModelError(f"contact '{name}': terrain={terrain!r} is not one of bc.terrain", s.name)
    if not isinstance(tyre, Tyre):
        raise ModelError(f"contact '{name}': tyre={tyre!r} must be a bc.Tyre, or None for a rigid wheel", s.name)
    _require_tyre(s, name, tyre, wheel, drive)
    contact = Contact(name)
    along, up = s.inertial[1], s.inertial[3] if _upwards(s) else -s.inertial[3]
    _add_ground(s, name, terrain, (dot(pos(point), along), dot(pos(point), up), rim))
    nx, nz = (Formula(to_syntax(f"{name}_n{axis}")) for axis in "xz")
    normal, tangent = nx * along + nz * up, nz * along - nx * up
    s.define(contact.depth, f"max(0, {_text(rim)} - {name}_distance)")
    s.define(contact.speed, dot(vel(point), tangent))
    s.define(f"{name}_rise", dot(vel(point), normal))
    k, c = _text(tyre.stiffness), _text(tyre.damping)
    press = f"max(0, {k}*{contact.depth} - {c}*{name}_rise)"
    s.define(contact.load, f"where({contact.depth} > 0, {press}, 0)")
    resistance = _text(rolling_resistance) if _given(rolling_resistance) else None
    if tyre.slip is not None:
        add_slip(s, name, point, wheel, tyre.slip, _upwards(s), resistance)
        s.define(contact.stored, f"{k}*{contact.depth}**2/2 + {name}_kept")
    else:
        s.define(contact.stored, f"{k}*{contact.depth}**2/2")
        _add_pushes(s, contact, point, resistance, drive)
    s.add_output(contact.load, contact.load, label=f"normal force of {name}", units="F")
    s.add_output(contact.depth, contact.depth, label=f"tyre deflection of {name}", units="L")
    s.add_output(contact.stored, contact.stored, label=f"energy of the tyre springs of {name}", units="F*L")
    return contact


def _require_tyre(s: System, name: str, tyre: Tyre, wheel: Any, drive: Any) -> None:
    problems = [
        f"tyre: {key}={value!r} must be zero or positive"
        for key, value in (("stiffness", tyre.stiffness), ("damping", tyre.damping))
        if isinstance(value, int | float) and not value >= 0
    ]
    slip: Any = tyre.slip
    if isinstance(slip, Slip):
        problems += [f"slip: {p}" for p in slip.problems()] + needs_of_slip(wheel, _given(drive))
    elif slip is not None:
        problems.append(f"slip={slip!r} must be a bc.Slip, or None for a tyre that glides")
    if problems:
        raise ModelError([f"contact '{name}': {p}" for p in problems], s.name)


def _add_pushes(s: System, contact: Contact, point: Any, resistance: str | None, drive: Any) -> None:
    """Forces of a tyre without slip."""
    name, along, up = contact.name, s.inertial[1], s.inertial[3] if _upwards(s) else -s.inertial[3]
    pushes = [f"-{resistance}*{contact.speed}"] if resistance else []
    pushes += [_text(drive)] if _given(drive) else []
    s.define(f"{name}_push", f"where({contact.load} > 0, {' + '.join(pushes)}, 0)" if pushes else 0)
    for axis, vector, formula in (
        ("x", along, f"{contact.load}*{name}_nx + {name}_push*{name}_nz"),
        ("z", up, f"{contact.load}*{name}_nz - {name}_push*{name}_nx"),
    ):
        s.add_force(
            f"{name}.{axis}", magnitude=formula, direction=vector, at=point, label=f"force of the ground, {axis}"
        )


# ---- rigid wheels

INPUTS = ("fx", "fz", "m")
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
    if _given(rolling_resistance):
        raise ModelError(f"contact '{name}': rolling_resistance needs a tyre", s.name)
    v = vel(point)
    values = (
        dot(pos(point), along), dot(pos(point), up), dot(v, along), dot(v, up), spin, dot(dxdt(v), along), dot(dxdt(v), up),
        dxdt(spin) if wheel is not None else 0,
    )  # fmt: skip
    for part, value in zip(OUTPUTS, values, strict=True):
        s.add_output(value, f"{name}.{part}", label=f"{part} of {name}")
    s.set_run(inputs={f"{name}.{part}": 0.0 for part in used})
    contact = RigidContact(name, float(rim), terrain, (float(pair[0]), float(pair[1])), wheel is not None, below)
    s.description.contacts.append(contact)
    return contact


def rigid_trip(sim: Simulation, plan: Plan, evaluation: Evaluation, y: Any, watch: Watch) -> Trip | None:
    """A run with rigid wheels, if the model has any."""
    contacts = sim.description.contacts
    if not contacts:
        return None
    name = sim.description.name
    if plan.method != "rk4":
        raise ModelError(f"method={plan.method!r}: rigid wheels run with 'rk4'", name)
    if watch.conditions:
        raise ModelError(
            "events= cannot be watched in a model with rigid wheels; its run.events are those of the wheels", name
        )
    if evaluation.keeper is not None:
        raise ModelError("rigid wheels in a model with closed loops are not available; use a tyre", name)
    inputs = [s.name for s in sim.program.given_inputs]
    outputs = list(sim.program.output_names)
    wheels = [
        Wheel(
            c.name, c.terrain, c.radius, c.restitution, c.turns, 
            tuple(inputs.index(f"{c.name}.{i}") for i in INPUTS if f"{c.name}.{i}" in inputs),
            tuple(outputs.index(f"{c.name}.{o}") for o in OUTPUTS),
        )
        for c in contacts
    ]  # fmt: skip
    course = Course(plan.method, plan.step, plan.steps, plan.every, plan.t_end, ())
    run = RigidRun(evaluation, course, y, wheels, watch)
    strict = {c.name for c in contacts if c.below == "error"}
    for wheel, depth in run.raise_wheels():
        if wheel in strict:
            raise RunError(f"{wheel} starts {depth:g} below ground")
        warnings.warn(f"{wheel} starts {depth:g} below ground and is moved up", ModelWarning, stacklevel=3)
    return Trip(run, plan.steps, plan.every, plan.step)


# ---- the ground in formulas


def _add_ground(s: System, name: str, terrain: Ground, arguments: tuple[Any, ...]) -> None:
    """The nearest ground as an external routine: <name>_distance, _nx, _nz, _foot."""
    source, function = terrain.c
    routine = f"{name}_ground"
    s.add_external(
        routine,
        arguments=arguments,
        returns=tuple(f"{name}_{part}" for part in ("distance", "nx", "nz", "foot")),
        python=lambda x, z, reach: terrain.nearest(x, z, reach)[:4],
        c=f"{source}\nstatic void {identifier(routine)}(double x, double z, double reach, double *near)\n"
        f"{{\n    {function}(x, z, reach, near);\n}}\n",
    )


def _upwards(s: System) -> bool:
    return str(s.description.axes).lower().startswith("iso")


def _given(value: Any) -> bool:
    return value is not None and not (isinstance(value, int | float) and value == 0)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return repr(value)
    return f"({value})"


def _point(s: System, name: str, at: Any) -> Any:
    if isinstance(at, BodyHandle):
        return at.origin
    if isinstance(at, PointHandle | str):
        return at
    raise ModelError(f"contact '{name}': at={at!r} must be a body or a point", s.name)
