"""Contact of wheels with the ground: what `add_contact` adds to a description.

A wheel is a disc of radius `rim` about a point; the ground acts on it at its nearest point, so
along the normal of the ground and through the wheel's centre. With a tyre it may enter the ground,
and springs back: forces in the generated program.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from bellcrank.core.errors import ModelError
from bellcrank.core.name_lookup import routine_name
from bellcrank.core.units import unit_system
from bellcrank.model.describe.builder import Builder
from bellcrank.model.describe.ground_derivatives import (
    NearestGroundProvider,
    c_arguments,
    with_derivatives,
)
from bellcrank.model.describe.handles import BodyHandle, PointHandle
from bellcrank.model.describe.patch import (
    SlipLaw,
    add_patch,
    is_law,
    is_z_up,
    missing_for_slip,
    road_axes,
)
from bellcrank.model.describe.tyre_model import TyreModel, is_tyre
from bellcrank.model.describe.tyre_patch import FORMULAS, add_tyre
from bellcrank.model.formula import Formula, cross, dot, pos, to_syntax, vel
from bellcrank.model.loads.contact import ContactRecord


@dataclass(frozen=True)
class Tyre:
    """A tyre with a spring and a damper, for `System.add_contact`.

    The spring acts along the normal of the ground and has a potential; the damper never makes the
    ground pull.

    Parameters
    ----------
    stiffness : ScalarLike
        Stiffness (force per length).
    damping : ScalarLike, default 0
        Damping (force times time per length).
    slip : Slip or tyre model, optional
        Forces along the ground. Default: none; the tyre slides without friction.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.Tyre(stiffness=2e5, damping="c_tyre").slip is None
    True
    """

    stiffness: Any
    damping: Any = 0
    slip: SlipLaw | TyreModel | None = None


@dataclass(frozen=True)
class Contact:
    """A contact by name. `load`, `depth`, `stored` and `speed` are names for text: normal force,
    how far the tyre is pressed in, energy of its springs, speed of the wheel's centre along the
    road.
    """

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
    s: Builder,
    name: str,
    at: Any,
    rim: Any,
    terrain: NearestGroundProvider,
    rolling_resistance: Any,
    tyre: Tyre | TyreModel | None,
    drive: Any,
    wheel: Any = None,
) -> Contact:
    """A wheel with a tyre on the ground."""
    point = _contact_point(s, name, at)
    if not hasattr(terrain, "nearest") or not hasattr(terrain, "c"):
        raise ModelError(
            f"contact '{name}': terrain={terrain!r} is not one of bc.vehicles.terrain", s.name
        )
    if is_tyre(tyre):
        return _add_model(
            s, name, point, rim, terrain, rolling_resistance, cast(TyreModel, tyre), drive, wheel
        )
    if not isinstance(tyre, Tyre):
        raise ModelError(
            f"contact '{name}': tyre={tyre!r} must be a bc.Tyre, a tyre such as bc.load "
            f"reads from a .tir file, or "
            "None for a rigid wheel",
            s.name,
        )
    _require_tyre(s, name, tyre, wheel, drive)
    if rim is None:
        raise ModelError(f"contact '{name}': radius=, the radius of the wheel, is missing", s.name)
    if is_tyre(tyre.slip):
        model = cast(TyreModel, tyre.slip)
        return _add_model(
            s, name, point, rim, terrain, rolling_resistance, model, drive, wheel, tyre
        )
    contact = Contact(name)
    s.description.wheels.append(ContactRecord(name, point, rim, wheel, terrain, is_z_up(s)))
    _require_wide(s, name, terrain, tyre, _is_nonzero(rolling_resistance) or _is_nonzero(drive))
    normal = _add_ground(s, name, terrain, point, rim)
    s.define(contact.depth, f"max(0, {_formula_text(rim)} - {name}_distance)")
    s.define(contact.speed, _rolling_speed(s, name, terrain, point))
    s.define(f"{name}_rise", dot(vel(point), normal) - Formula(to_syntax(f"{name}_lifts")))
    k, c = _formula_text(tyre.stiffness), _formula_text(tyre.damping)
    press = f"max(0, {k}*{contact.depth} - {c}*{name}_rise)"
    s.define(contact.load, f"where({contact.depth} > 0, {press}, 0)")
    resistance = _formula_text(rolling_resistance) if _is_nonzero(rolling_resistance) else None
    stored = f"{k}*{contact.depth}**2/2"
    slip: Any = tyre.slip
    if slip is not None:
        friction = _define_friction(s, name, point, terrain)
        stored += f" + {add_patch(s, name, point, wheel, slip, resistance, friction)}"
    s.define(contact.stored, stored)
    if slip is None:
        _add_rolling_forces(s, contact, point, resistance, drive, terrain.spatial)
    s.add_output(contact.load, contact.load, label=f"normal force of {name}", units="F")
    s.add_output(contact.depth, contact.depth, label=f"tyre deflection of {name}", units="L")
    s.add_output(
        contact.stored, contact.stored, label=f"energy of the tyre springs of {name}", units="F*L"
    )
    return contact


def _add_model(
    s: Builder,
    name: str,
    point: Any,
    rim: Any,
    terrain: NearestGroundProvider,
    resistance: Any,
    tyre: TyreModel,
    drive: Any,
    wheel: Any,
    casing: Tyre | None = None,
) -> Contact:
    """A wheel on a tyre model; `casing`: the tyre with spring and damper that holds it as its slip,
    if there is one."""
    problems = tyre.problems() + missing_for_slip(wheel, _is_nonzero(drive))
    if _is_nonzero(resistance) and casing is None:
        problems.append("rolling_resistance= belongs to tyres without a model, which has its own")
    free_radius = tyre.free_radius(FORMULAS, 0.0)
    if problems:
        raise ModelError([f"contact '{name}': {p}" for p in problems], s.name)
    metre = unit_system(s.description.units).parse_unit("m").factor
    radius = free_radius * metre if casing is None else rim
    s.description.wheels.append(ContactRecord(name, point, radius, wheel, terrain, is_z_up(s)))
    _add_ground(s, name, terrain, point, 1.5 * free_radius * metre if casing is None else rim)
    spring = None
    if casing is not None:
        spring = (
            Formula(to_syntax(_formula_text(casing.stiffness))),
            Formula(to_syntax(_formula_text(casing.damping))),
        )
        rim = Formula(to_syntax(rim))
    contact = Contact(name)
    road = _define_friction(s, name, point, terrain)
    mu = Formula(to_syntax(road)) if road else 1.0
    brake = Formula(to_syntax(_formula_text(resistance))) if _is_nonzero(resistance) else None
    add_tyre(s, name, point, wheel, tyre, None if casing is None else rim, spring, mu, brake)
    s.define(contact.speed, _rolling_speed(s, name, terrain, point))
    s.add_output(contact.load, contact.load, label=f"normal force of {name}", units="F")
    s.add_output(contact.depth, contact.depth, label=f"tyre deflection of {name}", units="L")
    s.add_output(
        contact.stored, contact.stored, label=f"energy of the tyre springs of {name}", units="F*L"
    )
    return contact


def _require_tyre(s: Builder, name: str, tyre: Tyre, wheel: Any, drive: Any) -> None:
    problems = [
        f"tyre: {key}={value!r} must be zero or positive"
        for key, value in (("stiffness", tyre.stiffness), ("damping", tyre.damping))
        if isinstance(value, int | float) and not value >= 0
    ]
    slip: Any = tyre.slip
    if is_tyre(slip):
        return
    if is_law(slip):
        problems += [f"slip: {p}" for p in slip.problems()] + missing_for_slip(
            wheel, _is_nonzero(drive)
        )
    elif slip is not None:
        problems.append(
            f"slip={slip!r} must be a bc.Slip, another law of bc.vehicles.tyres, or None "
            f"for a tyre that glides"
        )
    if problems:
        raise ModelError([f"contact '{name}': {p}" for p in problems], s.name)


def _require_wide(
    s: Builder, name: str, terrain: NearestGroundProvider, tyre: Tyre, has_forces: bool
) -> None:
    """What ground over x and y asks of a tyre without a model: to be held aside, or not at all."""
    slip: Any = tyre.slip
    problem = ""
    if terrain.spatial and slip is not None and not is_tyre(slip) and not slip.has_side_force:
        problem = "needs a law of slip with a side force, as bc.Slip has with cornering="
    elif terrain.spatial and slip is None and has_forces:
        problem = "knows no way ahead for drive= and rolling_resistance= of a tyre without slip"
    if problem:
        raise ModelError(f"contact '{name}': ground over x and y {problem}", s.name)


def _rolling_speed(s: Builder, name: str, terrain: NearestGroundProvider, point: Any) -> Any:
    """Speed of a wheel's centre along the road."""
    along, vertical = road_axes(s)
    nx, nz = (Formula(to_syntax(f"{name}_n{axis}")) for axis in "xz")
    forward_speed = dot(vel(point), nz * along - nx * vertical)
    return (
        forward_speed / Formula(to_syntax(f"sqrt({name}_nx**2 + {name}_nz**2)"))
        if terrain.spatial
        else forward_speed
    )


def _add_rolling_forces(
    s: Builder, contact: Contact, point: Any, resistance: str | None, drive: Any, spatial: bool
) -> None:
    """Forces of a tyre without slip."""
    name, (along, vertical) = contact.name, road_axes(s)
    pushes = [f"-{resistance}*{contact.speed}"] if resistance else []
    pushes += [_formula_text(drive)] if _is_nonzero(drive) else []
    s.define(f"{name}_push", f"where({contact.load} > 0, {' + '.join(pushes)}, 0)" if pushes else 0)
    for axis, vector, formula in (
        ("x", along, f"{contact.load}*{name}_nx + {name}_push*{name}_nz"),
        ("z", vertical, f"{contact.load}*{name}_nz - {name}_push*{name}_nx"),
    ):
        label = f"force of the ground, {axis}"
        s.add_force(f"{name}.{axis}", magnitude=formula, direction=vector, at=point, label=label)
    if spatial:
        s.add_force(
            f"{name}.y",
            magnitude=f"{contact.load}*{name}_ny",
            direction=cross(vertical, along),
            at=point,
            label="force of the ground, y",
        )


# ---- the ground in formulas


def _add_ground(
    s: Builder, name: str, terrain: NearestGroundProvider, point: Any, limit: Any
) -> Any:
    """The nearest ground: <name>_distance (at most `limit`), its normal _nx, _ny, _nz, its place
    _foot, and how fast it _lifts along the normal; a routine, or formulas of a plane. Gives the
    normal."""
    along, vertical = road_axes(s)
    x, z = dot(pos(point), along), dot(pos(point), vertical)
    plane, lifted = getattr(terrain, "plane", None), getattr(terrain, "lifted", None)
    if lifted is not None:
        z = z - Formula(to_syntax(lifted[0]))
    if terrain.spatial:
        y = dot(pos(point), cross(vertical, along))
        _add_routine(
            s, name, terrain, (x, y, z, limit), ("distance", "nx", "ny", "nz", "foot", "foot_y")
        )
    else:
        s.define(f"{name}_ny", 0)
        if plane is not None:
            _add_plane(s, name, plane[0], plane[1], x, z, limit)
        else:
            _add_routine(s, name, terrain, (x, z, limit), ("distance", "nx", "nz", "foot"))
    s.define(f"{name}_lifts", 0 if lifted is None else f"({lifted[1]})*{name}_nz")
    nx, ny, nz = (Formula(to_syntax(f"{name}_n{axis}")) for axis in "xyz")
    return (
        nx * along + ny * cross(vertical, along) + nz * vertical
        if terrain.spatial
        else nx * along + nz * vertical
    )


def _add_routine(
    s: Builder,
    name: str,
    terrain: NearestGroundProvider,
    arguments: tuple[Any, ...],
    value_names: Sequence[str],
) -> None:
    """The nearest ground as a routine with slopes."""
    source, function = terrain.c
    routine = f"{name}_ground"
    parameters, handed = c_arguments(terrain)
    s.add_external(
        routine,
        arguments=arguments,
        returns=tuple(f"{name}_{value_name}" for value_name in value_names),
        python=lambda *at: terrain.nearest(*at)[: len(value_names)],
        c=f"{source}\nstatic void {routine_name(routine)}({parameters}, double *near)\n"
        f"{{\n    {function}({handed}, near);\n}}\n",
    )
    lanes_source = (
        f"{terrain.lanes}\nstatic void "
        f"{routine_name(routine)}({parameters.replace('double', 'lanes')}, lanes *near)\n"
        f"{{\n    ground_near_lanes(&{function}_of, {handed}, near);\n}}\n"
    )
    lanes = lanes_source if terrain.lanes else None
    external = replace(s.description.externals[-1], lanes=lanes, kernel=terrain.near_function)
    s.description.externals[-1] = with_derivatives(external, terrain)


def _define_friction(s: Builder, name: str, point: Any, terrain: NearestGroundProvider) -> str:
    """Defines the friction of the road below a wheel; nothing where it is one."""
    friction, factor = getattr(terrain, "friction", None), getattr(terrain, "friction_factor", None)
    factors = [] if factor is None else [f"({factor})"]
    if friction is not None:
        along, vertical = road_axes(s)
        s.define(f"{name}_beside", dot(pos(point), cross(vertical, along)))
        left, right = (_friction_formula(name, grip) for grip in friction)
        factors.append(left if left == right else f"where({name}_beside > 0, {left}, {right})")
    if not factors:
        return ""
    s.define(f"{name}_road", "*".join(factors))
    return f"{name}_road"


def _friction_formula(name: str, grip: Sequence[tuple[float, float]]) -> str:
    """The friction of one side of a road at the foot of a wheel."""
    text = repr(grip[0][1])
    for x, mu in grip[1:]:
        text = f"where({name}_foot < {x!r}, {text}, {mu!r})"
    return text


def _add_plane(
    s: Builder, name: str, height: float, slope: float, x: Any, z: Any, limit: Any
) -> None:
    """Ground that is a plane, as formulas: they have slopes, and are the same in every language."""
    size = math.hypot(1.0, slope)
    s.define(f"{name}_nx", -slope / size)
    s.define(f"{name}_nz", 1 / size)
    s.define(f"{name}_above", (z - height - slope * x) / size)
    s.define(f"{name}_distance", f"min({name}_above, {_formula_text(limit)})")
    s.define(f"{name}_foot", x + slope / size * Formula(to_syntax(f"{name}_distance")))


def _is_nonzero(value: Any) -> bool:
    return value is not None and not (isinstance(value, int | float) and value == 0)


def _formula_text(value: Any) -> str:
    return repr(value) if isinstance(value, float) else f"({value})"


def _contact_point(s: Builder, name: str, reference: Any) -> Any:
    if isinstance(reference, BodyHandle):
        return reference.origin
    if isinstance(reference, PointHandle | str):
        return reference
    raise ModelError(f"contact '{name}': at={reference!r} must be a body or a point", s.name)
