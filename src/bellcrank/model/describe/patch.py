"""The contact patch of a wheel that turns: slip velocities on the ground, and what forces of the
patch do to the wheel.

How a tyre holds the road is a law (`SlipLaw`): it gets the patch as names for formulas and writes
its states and definitions there. A law is one class in one module; `model.describe.slip` has the
usual one, `vehicles.tyres` further ones. Axes: along the road, to the left, up. The wheel turns
about its second axis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from bellcrank.model.describe.builder import Builder
from bellcrank.model.describe.handles import BodyHandle
from bellcrank.model.formula import Formula, cross, dot, rot, vel
from bellcrank.symbolic.expr.formula_parser import SyntaxNode

MIN_MAGNITUDE = 1e-9  # force or length below which none has a direction
WORDS = {"x": "along", "y": "across"}
FORCES = {"x": "longitudinal", "y": "lateral"}


@dataclass(frozen=True)
class ContactPatch:
    """The patch of a contact, as names for formulas.

    `load_name`: normal force; `rolling_speed_name`: rolling speed (spin times distance to the
    ground); `slip_names`: velocity of the rim at the ground, along ("x") and, in space, to the left
    ("y"); `road`: friction of the road over that of the law, or nothing.
    """

    builder: Builder
    name: str
    space: bool
    road: str = ""

    @property
    def load_name(self) -> str:
        return f"{self.name}_load"

    @property
    def rolling_speed_name(self) -> str:
        return f"{self.name}_roll"

    @property
    def slip_names(self) -> dict[str, str]:
        return {side: f"{self.name}_slip{side}" for side in ("xy" if self.space else "x")}

    def define(self, part: str, formula: Any) -> str:
        """Names a scalar `<contact>_<part>`; returns that name."""
        self.builder.define(f"{self.name}_{part}", formula)
        return f"{self.name}_{part}"

    def add_state(self, part: str, rate: Any, units: str, label: str) -> str:
        """Declares a state `<contact>_<part>`; returns that name."""
        self.builder.add_state(f"{self.name}_{part}", rate=rate, units=units, label=label)
        return f"{self.name}_{part}"


@dataclass(frozen=True)
class PatchForces:
    """What a law gives, as formulas: the force of the ground on the wheel along and to the left,
    and stored energy."""

    along: str
    across: str = "0"
    stored: str = "0"


@runtime_checkable
class SlipLaw(Protocol):
    """How a tyre holds the road."""

    @property
    def has_side_force(self) -> bool:
        """Has it a side force, so that the wheel may turn in space?"""
        ...

    def problems(self) -> list[str]:
        """What is not allowed, as messages."""
        ...

    def define_forces(self, patch: ContactPatch) -> PatchForces:
        """Writes states and definitions, and gives the forces. They must be zero where the load
        is."""
        ...

    def with_parameters(self, parameter: Callable[[str, Any, str], str]) -> SlipLaw:
        """The same law with parameters, made of key, value and units, in place of its numbers."""
        ...


def is_law(candidate: Any) -> bool:
    """Is it a law? A class of laws is none yet."""
    return isinstance(candidate, SlipLaw) and not isinstance(candidate, type)


def road_axes(s: Builder) -> tuple[Formula, Formula]:
    """Along the road, and up."""
    return s.inertial[1], s.inertial[3] if is_z_up(s) else -s.inertial[3]


def is_z_up(s: Builder) -> bool:
    """Does the third axis of the ground point up?"""
    return str(s.description.axes).lower().startswith("iso")


def add_patch(
    s: Builder,
    name: str,
    point: Any,
    wheel: Any,
    law: SlipLaw,
    resistance: str | None,
    road: str = "",
) -> str:
    """States, definitions, forces and moments of a tyre with slip; gives the energy that the patch
    stores.

    Normal, distance and load of the contact are defined already.
    """
    axes = wheel_motion(s, name, point, wheel, law.has_side_force)
    _define_slip(s, name)
    patch = ContactPatch(s, name, law.has_side_force, road)
    forces = law.define_forces(patch)
    for side, formula in {"x": forces.along, "y": forces.across}.items():
        force = patch.define(f"f{side}", formula)
        if side in patch.slip_names:
            s.add_output(force, force, label=f"{FORCES[side]} force of {name}", units="F")
    _add_loads(s, name, point, wheel, axes, law.has_side_force, resistance)
    return patch.define("kept", forces.stored)


def wheel_motion(
    s: Builder, name: str, point: Any, wheel: Any, space: bool = True
) -> dict[str, Any]:
    """Defines velocity v, angular velocity w and, in space, axis a of a wheel, its heading t and
    side s on the ground.

    Gives the axes x along the road, y to the left and z up, on which their components are.
    """
    along, vertical = road_axes(s)
    spin = Formula(SyntaxNode("unit", (getattr(wheel, "name", wheel), 2)))
    axes = {"x": along, "y": cross(vertical, along), "z": vertical}
    for axis, e in axes.items():
        s.define(f"{name}_v{axis}", dot(vel(point), e))
        s.define(f"{name}_w{axis}", dot(rot(wheel), e))
        if space:
            s.define(f"{name}_a{axis}", dot(spin if is_z_up(s) else -spin, e))
    _define_heading(s, name, space)
    return axes


def _define_heading(s: Builder, name: str, space: bool) -> None:
    n = name
    components = {"tx": f"{n}_nz", "ty": "0", "tz": f"-{n}_nx", "sx": "0", "sy": "1", "sz": "0"}
    if space:  # t along a x n with the wheel's axis a, s = n x t
        s.define(f"{n}_hx", f"{n}_ay*{n}_nz - {n}_az*{n}_ny")
        s.define(f"{n}_hy", f"{n}_az*{n}_nx - {n}_ax*{n}_nz")
        s.define(f"{n}_hz", f"{n}_ax*{n}_ny - {n}_ay*{n}_nx")
        s.define(
            f"{n}_h", f"1/sqrt({n}_hx**2 + {n}_hy**2 + {n}_hz**2 + {MIN_MAGNITUDE**2})"
        )  # a wheel that lies flat
        components = {f"t{i}": f"{n}_h{i}*{n}_h" for i in "xyz"}
        components |= {
            f"s{i}": f"{n}_n{j}*{n}_t{k} - {n}_n{k}*{n}_t{j}"
            for i, j, k in (("x", "y", "z"), ("y", "z", "x"), ("z", "x", "y"))
        }
    for component, text in components.items():
        s.define(f"{n}_{component}", text)


def _define_slip(s: Builder, n: str) -> None:
    """Slip velocities and rolling speed."""
    d = f"{n}_distance"  # velocity of the rim at the ground: v - d w x n
    s.define(f"{n}_cx", f"{n}_vx - {d}*({n}_wy*{n}_nz - {n}_wz*{n}_ny)")
    s.define(f"{n}_cy", f"{n}_vy - {d}*({n}_wz*{n}_nx - {n}_wx*{n}_nz)")
    s.define(f"{n}_cz", f"{n}_vz - {d}*({n}_wx*{n}_ny - {n}_wy*{n}_nx)")
    for side, letter in (("x", "t"), ("y", "s")):
        s.define(f"{n}_slip{side}", " + ".join(f"{n}_c{i}*{n}_{letter}{i}" for i in "xyz"))
    s.define(f"{n}_roll", f"{d}*({' + '.join(f'{n}_w{i}*{n}_s{i}' for i in 'xyz')})")


def _add_loads(
    s: Builder,
    name: str,
    point: Any,
    wheel: Any,
    axes: dict[str, Any],
    space: bool,
    resistance: str | None,
) -> None:
    """The force of the ground at the wheel's centre, and its moment about there on the wheel."""
    n = name
    brake = f"where({n}_load > 0, {resistance}*{n}_roll*{n}_distance, 0)" if resistance else "0"
    s.define(f"{n}_turn", f"-{n}_distance*{n}_fx - {brake}")
    for i, e in axes.items():
        if space or i != "y":
            formula = f"{n}_load*{n}_n{i} + {n}_fx*{n}_t{i}" + (
                f" + {n}_fy*{n}_s{i}" if space else ""
            )
            s.add_force(
                f"{n}.{i}",
                magnitude=formula,
                direction=e,
                at=point,
                label=f"force of the ground, {i}",
            )
        if space or i == "y":
            formula = f"{n}_turn*{n}_s{i}" + (f" + {n}_distance*{n}_fy*{n}_t{i}" if space else "")
            s.add_moment(
                f"{n}.m{i}",
                magnitude=formula,
                direction=e,
                on=wheel,
                label=f"moment of the ground, {i}",
            )


def missing_for_slip(wheel: Any, drive: bool) -> list[str]:
    """What a tyre with slip lacks: a body that turns. It is driven by a moment on that."""
    problems = []
    if not isinstance(wheel, BodyHandle | str):
        problems.append(
            f"wheel={wheel!r}: a tyre with slip needs the body that turns about its second axis"
        )
    if drive:
        problems.append(
            "drive= is a force for wheels without slip; a wheel with slip is driven by a "
            "moment on it"
        )
    return problems
