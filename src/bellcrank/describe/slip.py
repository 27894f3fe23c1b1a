"""Forces of a tyre along the ground: slip, relaxation length, friction circle, in a form that holds still at
standstill.

The contact patch is joined to the rim by springs along and across the wheel; e is their deflection. It follows the
slip velocity V_s of the rim at the ground, is carried off by rolling, and flows where its force would pass the
friction limit:

    e' = -V_s - |V_r|/sigma e - (excess flow),    F = C/sigma (e + t_d e'),  |F| <= mu F_z

V_r is the rolling speed (spin times distance to the ground). Rolling steadily, e = -sigma V_s/|V_r|, so F = -C
V_s/|V_r|: linear in slip. At standstill e is an elastic deflection that holds a load for ever: no slip is divided by
a speed, and nothing creeps. Locked, the patch slides with mu F_z against its velocity. Pacejka, Tyre and Vehicle
Dynamics (3rd ed., 2012), sections 7.2 (single contact point transient model) and 3.2 (slip relative to the rolling
speed); flow along the force beyond a limit: Simo & Hughes, Computational Inelasticity (1998), section 1.7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from bellcrank.describe.builder import Builder
from bellcrank.describe.handles import BodyHandle
from bellcrank.expr import Expr
from bellcrank.expr.text import Syntax
from bellcrank.model.formula import Formula, cross, dot, rot, vel

FLOW = 0.005  # s in which a deflection beyond the friction limit flows back to it
TINY = 1e-9  # force below which none has a direction


@dataclass(frozen=True)
class Slip:
    """How a tyre holds the road, each a number or an expression.

    `longitudinal`: force per slip (C_Fkappa); `cornering`: force per rad of slip angle (C_Falpha), None for a wheel
    in a plane, which has no side force. With `per_load` both are divided by the load: 1 and 1/rad. `relaxation`:
    relaxation length, or the two (along, across). `friction`: coefficient of the friction circle. `damping`: time t_d
    of the material's damping.
    """

    longitudinal: Any
    cornering: Any = None
    relaxation: Any = 0.3
    friction: Any = 1.0
    per_load: bool = False
    damping: Any = 0.004

    @property
    def lengths(self) -> tuple[Any, ...]:
        """Relaxation lengths along and across."""
        given = self.relaxation
        return tuple(given) if isinstance(given, tuple | list) else (given, given)

    def problems(self) -> list[str]:
        """What is not allowed."""
        given = {"longitudinal": self.longitudinal, "friction": self.friction}
        if self.cornering is not None:
            given["cornering"] = self.cornering
        found = [f"{key}={value!r} must be positive" for key, value in given.items() if not _positive(value)]
        if len(self.lengths) != 2:
            found.append(f"relaxation={self.relaxation!r} must be one length or two (along, across)")
        elif not all(map(_positive, self.lengths)):
            found.append(f"relaxation={self.relaxation!r} must be positive")
        if not _positive(self.damping) and not (isinstance(self.damping, int | float) and self.damping == 0):
            found.append(f"damping={self.damping!r} must be zero or positive")
        return found


def _positive(value: Any) -> bool:
    """Is it a positive number, or an expression, whose value is not known here?"""
    if isinstance(value, int | float):
        return 0 < value < math.inf
    return isinstance(value, str | Expr | Formula)


def add_slip(s: Builder, name: str, point: Any, wheel: Any, slip: Slip, upwards: bool, resistance: str | None) -> None:
    """States, definitions, forces and moments of a tyre with slip; normal, distance and load of the contact are
    defined already.

    Axes: along the road, to the left, up. The wheel turns about its second axis.
    """
    along, up = s.inertial[1], s.inertial[3] if upwards else -s.inertial[3]
    spin = Formula(Syntax("unit", (getattr(wheel, "name", wheel), 2)))
    axes = {"x": along, "y": cross(up, along), "z": up}
    for axis, e in axes.items():
        s.define(f"{name}_v{axis}", dot(vel(point), e))
        s.define(f"{name}_w{axis}", dot(rot(wheel), e))
        if slip.cornering is not None:
            s.define(f"{name}_a{axis}", dot(spin if upwards else -spin, e))
    _define_directions(s, name, slip.cornering is not None)
    _define_law(s, name, slip)
    _add_loads(s, name, point, wheel, axes, slip.cornering is not None, resistance)


def _define_directions(s: Builder, name: str, space: bool) -> None:
    """Heading t and side s of the wheel on the ground, slip velocities and rolling speed."""
    n = name
    parts = {"tx": f"{n}_nz", "ty": "0", "tz": f"-{n}_nx", "sx": "0", "sy": "1", "sz": "0"}
    if space:  # t along a x n with the wheel's axis a, s = n x t
        s.define(f"{n}_hx", f"{n}_ay*{n}_nz")
        s.define(f"{n}_hy", f"{n}_az*{n}_nx - {n}_ax*{n}_nz")
        s.define(f"{n}_hz", f"-{n}_ay*{n}_nx")
        s.define(f"{n}_h", f"1/sqrt({n}_hx**2 + {n}_hy**2 + {n}_hz**2 + {TINY**2})")  # a wheel that lies flat
        parts = {f"t{i}": f"{n}_h{i}*{n}_h" for i in "xyz"}
        parts |= {"sx": f"-{n}_nz*{n}_ty", "sy": f"{n}_nz*{n}_tx - {n}_nx*{n}_tz", "sz": f"{n}_nx*{n}_ty"}
    for part, text in parts.items():
        s.define(f"{n}_{part}", text)
    d = f"{n}_distance"  # velocity of the rim at the ground: v - d w x n
    s.define(f"{n}_cx", f"{n}_vx - {d}*{n}_wy*{n}_nz")
    s.define(f"{n}_cy", f"{n}_vy - {d}*({n}_wz*{n}_nx - {n}_wx*{n}_nz)")
    s.define(f"{n}_cz", f"{n}_vz + {d}*{n}_wy*{n}_nx")
    for side, letter in (("x", "t"), ("y", "s")):
        s.define(f"{n}_slip{side}", " + ".join(f"{n}_c{i}*{n}_{letter}{i}" for i in "xyz"))
    s.define(f"{n}_roll", f"{d}*({' + '.join(f'{n}_w{i}*{n}_s{i}' for i in 'xyz')})")


def _define_law(s: Builder, name: str, slip: Slip) -> None:
    """Deflections and forces along (x) and across (y)."""
    n = name
    stiffness = {"x": slip.longitudinal} if slip.cornering is None else {"x": slip.longitudinal, "y": slip.cornering}
    lengths = dict(zip("xy", slip.lengths, strict=True))
    ratio = {i: f"(({c})/({lengths[i]}))" for i, c in stiffness.items()}
    mean = f"sqrt({'*'.join(ratio.values())})" if len(ratio) == 2 else ratio["x"]
    s.define(f"{n}_limit", f"({slip.friction})*{n}_load")
    for i in stiffness:
        s.define(f"{n}_k{i}", f"{ratio[i]}*{n}_load" if slip.per_load else ratio[i])
    s.define(f"{n}_hold", _size([f"{n}_k{i}*{n}_e{i}" for i in stiffness]))
    s.define(f"{n}_flow", f"max(0, {n}_hold - {n}_limit)/{n}_hold/{FLOW}/{mean}")
    for i in stiffness:
        e = f"{n}_e{i}"
        moving = f"-{n}_slip{i} - abs({n}_roll)/({lengths[i]})*{e} - {n}_flow*{ratio[i]}*{e}"
        s.define(f"{e}_rate", f"where({n}_load > 0, {moving}, -{e}/{FLOW})")
        s.add_state(e, rate=f"{e}_rate", units="L", label=f"deflection of {n} {'along' if i == 'x' else 'across'}")
        s.define(f"{n}_q{i}", f"{n}_k{i}*({e} + ({slip.damping})*{e}_rate)")
    s.define(f"{n}_share", f"min(1, {n}_limit/{_size([f'{n}_q{i}' for i in stiffness])})")
    for i in stiffness:
        word = "along" if i == "x" else "across"
        s.define(f"{n}_f{i}", f"{n}_share*{n}_q{i}")
        s.add_output(f"{n}_f{i}", f"{n}_f{i}", label=f"force {word} {n}", units="F")
    # energy that the springs give back: beyond the limit only what the limited force does on the way to rest
    held = " + ".join(f"{n}_k{i}*{n}_e{i}**2" for i in stiffness)
    kept = f"min({n}_hold, {n}_limit)"
    s.define(f"{n}_kept", f"({held})*{kept}*({n}_hold - {kept}/2)/{n}_hold**2")
    if slip.cornering is None:
        s.define(f"{n}_fy", 0)


def _size(parts: list[str]) -> str:
    """The size of a vector, smooth and not zero where the vector is."""
    return f"sqrt({' + '.join(f'({p})**2' for p in parts)} + {TINY**2})"


def _add_loads(
    s: Builder, name: str, point: Any, wheel: Any, axes: dict[str, Any], space: bool, resistance: str | None
) -> None:
    """The force of the ground at the wheel's centre, and its moment about there on the wheel."""
    n = name
    brake = f"where({n}_load > 0, {resistance}*{n}_roll*{n}_distance, 0)" if resistance else "0"
    s.define(f"{n}_turn", f"-{n}_distance*{n}_fx - {brake}")
    normal = {"x": f"{n}_load*{n}_nx + ", "y": "", "z": f"{n}_load*{n}_nz + "}
    for i, e in axes.items():
        if space or i != "y":
            formula = f"{normal[i]}{n}_fx*{n}_t{i}" + (f" + {n}_fy*{n}_s{i}" if space else "")
            s.add_force(f"{n}.{i}", magnitude=formula, direction=e, at=point, label=f"force of the ground, {i}")
        if space or i == "y":
            formula = f"{n}_turn*{n}_s{i}" + (f" + {n}_distance*{n}_fy*{n}_t{i}" if space else "")
            s.add_moment(f"{n}.m{i}", magnitude=formula, direction=e, on=wheel, label=f"moment of the ground, {i}")


def needs_of_slip(wheel: Any, drive: bool) -> list[str]:
    """What a tyre with slip lacks: a body that turns. It is driven by a moment on that."""
    problems = []
    if not isinstance(wheel, BodyHandle | str):
        problems.append(f"wheel={wheel!r}: a tyre with slip needs the body that turns about its second axis")
    if drive:
        problems.append("drive= is a force for wheels without slip; a wheel with slip is driven by a moment on it")
    return problems
