"""Vehicles from partial vehicles: a chassis part on a spring-damper on a rim, which stands on the ground by its tyre.

The contact point has no mass: it is the point of the ground nearest to the rim, and the tyre is a spring-damper between the two that
never pulls. z is up, x forward; nominally all springs have their relaxed lengths and the tyres touch z = 0.
Van Iwaarden (2003), Modeling a vehicle with use of partial vehicles, sections 1.3, 2 and 6; wheels that roll carry no inertia of
their contact point there either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bellcrank.api.contacts import Contact, Tyre
from bellcrank.api.handles import BodyHandle
from bellcrank.api.system import System
from bellcrank.errors import ModelError
from bellcrank.library.terrain import Terrain, flat
from bellcrank.model.formula import Formula, atan2, dot, magnitude, pos, to_syntax

__all__ = ["PartialVehicle", "Tyre", "car", "motorcycle", "partial_vehicle", "truck"]


@dataclass(frozen=True)
class PartialVehicle:
    """A quarter of a car, half of a motorcycle: its bodies and its contact with the ground."""

    name: str
    rim: BodyHandle
    chassis: BodyHandle
    contact: Contact


def partial_vehicle(
    s: System,
    name: str,
    *,
    at: Any = 0,
    contact: Any = 0,
    rim: Any,
    chassis: Any,
    k: Sequence[Any],
    c: Sequence[Any] = (0, 0),
    length: Sequence[Any],
    terrain: Terrain | None = None,
    rolling_resistance: Any = 0,
    drive: Any = 0,
    translate: Any = (1, 3),
) -> PartialVehicle:
    """Adds two point masses over a contact point at x = `at`, or at a point (x, y, z).

    `rim`, `chassis`: masses; `k`, `c`, `length`: stiffness, damping and relaxed length of tyre and suspension, in this order.
    The contact point has no mass, so `contact` must be 0. `translate`: axes along which both masses move.
    """
    place = tuple(at) if isinstance(at, tuple | list) else (at, 0, 0)
    problems = _problems(contact, {"rim": rim, "chassis": chassis}, {"k": k, "c": c, "length": length})
    if len(place) != 3:
        problems.append(f"at={at!r} must be x or (x, y, z)")
    if problems:
        raise ModelError(f"partial vehicle '{name}': " + "; ".join(problems), s.name)
    x, y, z = place
    low = _sum(z, length[0])
    wheel = s.add_point_mass(f"{name}.rim", mass=rim, translate=translate, joint_at=(x, y, low))
    body = s.add_point_mass(f"{name}.chassis", mass=chassis, translate=translate, joint_at=(x, y, _sum(low, length[1])))
    s.add_strut(f"{name}.strut", magnitude=_strut(k[1], c[1], length[1]), between=(body.origin, wheel.origin))
    touch = _touch(
        s, f"{name}.tyre", at=wheel, rim=length[0], terrain=terrain or flat(), tyre=Tyre(k[0], c[0]),
        rolling_resistance=rolling_resistance, drive=drive,
    )  # fmt: skip
    return PartialVehicle(name, wheel, body, touch)


def _touch(s: System, name: str, **options: Any) -> Contact:
    contact = s.add_contact(name, **options)
    assert isinstance(contact, Contact)  # all wheels here have tyres
    return contact


def _problems(contact: Any, masses: dict[str, Any], pairs: dict[str, Any]) -> list[str]:
    found = []
    if contact is not None and contact != 0:
        found.append(f"contact={contact!r}: the contact point has no mass, contact must be 0")
    found += [f"{key}={m!r}: the mass must be positive" for key, m in masses.items() if _number(m) and not m > 0]
    for key, pair in pairs.items():
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            found.append(f"{key}={pair!r} must be two values, of tyre and suspension")
        elif any(_number(v) and not (v > 0 if key == "length" else v >= 0) for v in pair):
            found.append(f"{key}={pair!r} must be {'positive' if key == 'length' else 'zero or positive'}")
    return found


def _number(value: Any) -> bool:
    return isinstance(value, int | float)


def _sum(*parts: Any) -> Any:
    return " + ".join(f"({p})" for p in parts)


def _strut(k: Any, c: Any, length: Any) -> str:
    return f"({k})*(({length}) - x) - ({c})*v"


# ---- motorcycle

SIDES = ("rear", "front")


def motorcycle(
    *,
    model: int = 2,
    coordinates: str = "minimal",
    rim: float = 1.0,
    chassis: float = 1.0,
    k: Sequence[float] = (1000.0, 1000.0),
    c: Sequence[float] = (50.0, 50.0),
    length: Sequence[float] = (0.4, 0.4),
    wheelbase: float = 1.0,
    rolling_resistance: float = 0.0,
    terrain: Terrain | None = None,
) -> System:
    """Two partial vehicles in the plane. Defaults: van Iwaarden's tests of chapter 6.

    model 1: both chassis parts stay above their rims, all at one forward speed. model 2: a massless rod of length `wheelbase` joins the
    chassis parts, the suspensions stay perpendicular to it; either with coordinates "minimal" (a frame that carries the rims, no
    constraint) or "redundant" (four point masses and the three position constraints P1 to P3 of (2.7)).
    Parameters: m_rim, m_chassis, k_tyre, k_strut, c_tyre, c_strut, l_tyre, l_strut, wheelbase, c_roll. Inputs: <side>.drive, a force that
    pushes the rim along the ground while it touches, and <side>.load, an upward force on the chassis part.
    """
    if model not in (1, 2) or coordinates not in ("minimal", "redundant") or (model == 1 and coordinates != "minimal"):
        raise ModelError(
            f"motorcycle: model={model!r} with coordinates={coordinates!r} is not known; model is 1, or 2 with 'minimal' or 'redundant'"
        )
    problems = _problems(0, {"rim": rim, "chassis": chassis}, {"k": k, "c": c, "length": length})
    if not wheelbase > 0:
        problems.append(f"wheelbase={wheelbase!r} must be positive")
    if problems:
        raise ModelError("motorcycle: " + "; ".join(problems))
    s = System(f"motorcycle, model {model}", axes="ISO 8855")
    s.set_defaults(m_rim=rim, m_chassis=chassis, wheelbase=wheelbase, c_roll=rolling_resistance)
    s.set_defaults(k_tyre=k[0], k_strut=k[1], c_tyre=c[0], c_strut=c[1], l_tyre=length[0], l_strut=length[1])
    s.set_units(c_roll="F*T/L", k_tyre="F/L", k_strut="F/L", c_tyre="F*T/L", c_strut="F*T/L")
    s.add_gravity()
    ground = terrain or flat()
    parts = _free_halves(s, ground) if coordinates == "redundant" else _carried_halves(s, ground, model)
    for side, part in zip(SIDES, parts, strict=True):
        s.add_variable(f"{side}.load", units="F", label=f"upward force on the {side} chassis part")
        s.add_force(f"{side}.push", magnitude=f"{side}.load", direction=s.inertial[3], at=part.chassis.origin)
        for body, what in ((part.rim, "rim"), (part.chassis, "chassis")):
            for axis, letter in ((1, "x"), (3, "z")):
                place = dot(pos(body.origin), s.inertial[axis])
                s.add_output(
                    place, f"{side}.{what}.{letter}", label=f"{letter} of the {side} {what}", units="L", body=body
                )
    rod = pos(parts[1].chassis.origin, parts[0].chassis.origin)
    s.add_output(atan2(dot(rod, s.inertial[3]), dot(rod, s.inertial[1])), "pitch", label="pitch, front up", units="deg")
    s.add_output(magnitude(rod), "rod", label="distance of the chassis parts", units="L")
    strain = " + ".join(f"{p.contact.stored} + k_strut*(l_strut - {p.name}.stroke)**2/2" for p in parts)
    for p in parts:
        s.define(f"{p.name}.stroke", magnitude(pos(p.chassis.origin, p.rim.origin)))
    s.add_output(strain, "strain", label="energy of all springs", units="F*L")
    s.add_outputs("energy")
    s.set_run(
        t_end=3, step=0.001, method="rk4", inputs={f"{side}.{i}": 0.0 for side in SIDES for i in ("load", "drive")}
    )
    return s


def _free_halves(s: System, ground: Terrain) -> list[PartialVehicle]:
    """Four point masses, joined by constraints."""
    parts = []
    for side, x in zip(SIDES, ("0", "wheelbase"), strict=True):
        s.add_variable(f"{side}.drive", units="F", label=f"driving force, {side}")
        parts.append(
            partial_vehicle(
                s, side, at=x, rim="m_rim", chassis="m_chassis", k=("k_tyre", "k_strut"), c=("c_tyre", "c_strut"),
                length=("l_tyre", "l_strut"), terrain=ground, rolling_resistance="c_roll", drive=f"{side}.drive",
            )
        )  # fmt: skip
    rear, front = parts
    rod = pos(front.chassis.origin, rear.chassis.origin)
    s.add_constraint(magnitude(rod) - Formula(to_syntax("wheelbase")), label="P1: length of the rod")
    for number, part in enumerate(parts, 2):
        s.add_constraint(
            dot(pos(part.chassis.origin, part.rim.origin), rod),
            label=f"P{number}: {part.name} suspension square to the rod",
        )
    return parts


def _carried_halves(s: System, ground: Terrain, model: int) -> list[PartialVehicle]:
    """Chassis parts fixed in a frame (model 2), or free to move up and down in it (model 1)."""
    if model == 1:
        frame = s.add_body("frame", mass=0, inertia=0, translate=1, joint_at=(0, 0, "l_tyre + l_strut"))
    else:
        frame = s.add_body("frame", mass=0, inertia=0, translate=(1, 3), rotate=2, joint_at=(0, 0, "l_tyre + l_strut"))
    parts = []
    for side, x in zip(SIDES, ("0", "wheelbase"), strict=True):
        s.add_variable(f"{side}.drive", units="F", label=f"driving force, {side}")
        up = {"translate": 3} if model == 1 else {}
        body = s.add_point_mass(
            f"{side}.chassis", frame, mass="m_chassis", joint_at=(x, 0, 0), **{"translate": (), **up}
        )
        rim = s.add_point_mass(f"{side}.rim", frame, mass="m_rim", joint_at=(x, 0, "-l_strut"), translate=3)
        s.add_force(
            f"{side}.strut", magnitude=_strut("k_strut", "c_strut", "l_strut"), direction=frame[3], at=body.origin, against=rim.origin
        )  # fmt: skip
        contact = _touch(
            s, f"{side}.tyre", at=rim, rim="l_tyre", terrain=ground, tyre=Tyre("k_tyre", "c_tyre"),
            rolling_resistance="c_roll", drive=f"{side}.drive",
        )  # fmt: skip
        parts.append(PartialVehicle(side, rim, body, contact))
    return parts


# ---- cars and trucks


def truck(
    *,
    axles: Sequence[float] = (2.5, -1.0, -2.3),
    track: float = 1.8,
    mass: float = 6000.0,
    inertia: Sequence[float] = (4000.0, 20000.0, 20000.0),
    height: float = 1.0,
    rim: float = 200.0,
    k: Sequence[float] = (800e3, 200e3),
    c: Sequence[float] = (2000.0, 10e3),
    length: Sequence[float] = (0.5, 0.5),
    rolling_resistance: float = 0.0,
    terrain: Terrain | None = None,
    name: str = "truck",
) -> System:
    """A rigid chassis on any number of axles with two wheels each, in space.

    `axles`: how far each lies in front of the mass centre of the chassis; `height` of that centre above the ground, nominally.
    Rims slide along the chassis' z axis. Wheels are called w<axle>l and w<axle>r, axles counted from 1 in the order given.
    Parameters as of `motorcycle`, and m, i_roll, i_pitch, i_yaw, track, h.
    """
    problems = _problems(0, {"rim": rim, "mass": mass}, {"k": k, "c": c, "length": length})
    if not isinstance(axles, tuple | list) or len(axles) < 2 or len(set(axles)) < len(axles):
        problems.append(f"axles={axles!r} must be at least two different numbers")
    if not isinstance(inertia, tuple | list) or len(inertia) != 3 or not all(i > 0 for i in inertia):
        problems.append(f"inertia={inertia!r} must be three positive moments")
    if not track > 0:
        problems.append(f"track={track!r} must be positive")
    if problems:
        raise ModelError(f"{name}: " + "; ".join(problems))
    s = System(name, axes="ISO 8855")
    s.set_defaults(m=mass, i_roll=inertia[0], i_pitch=inertia[1], i_yaw=inertia[2], track=track, h=height, m_rim=rim)
    s.set_defaults(k_tyre=k[0], k_strut=k[1], c_tyre=c[0], c_strut=c[1], l_tyre=length[0], l_strut=length[1])
    s.set_defaults({f"x_{i}": float(x) for i, x in enumerate(axles, 1)}, c_roll=rolling_resistance)
    s.set_units(c_roll="F*T/L", k_tyre="F/L", k_strut="F/L", c_tyre="F*T/L", c_strut="F*T/L")
    s.add_gravity()
    chassis = s.add_body(
        "chassis", mass="m", inertia=("i_roll", "i_pitch", "i_yaw"), translate=(1, 2, 3), rotate=(3, 2, 1), joint_at=(0, 0, "h")
    )  # fmt: skip
    wheels = [
        _add_wheel(s, chassis, f"w{i}{side}", f"x_{i}", f"{sign}track/2", terrain or flat())
        for i in range(1, len(axles) + 1)
        for side, sign in (("l", ""), ("r", "-"))
    ]
    s.add_output(
        dot(pos(chassis.origin), s.inertial[3]), "height", label="height of the mass centre", units="L", body=chassis
    )
    strain = " + ".join(f"{w.contact.stored} + k_strut*(l_strut - {w.name}.stroke)**2/2" for w in wheels)
    s.add_output(strain, "strain", label="energy of all springs", units="F*L")
    s.add_outputs("energy")
    s.set_run(t_end=3, step=0.001, method="rk4", inputs={f"{w.name}.drive": 0.0 for w in wheels})
    return s


def car(
    *,
    front: float = 1.2,
    rear: float = 1.4,
    track: float = 1.5,
    mass: float = 1200.0,
    inertia: Sequence[float] = (500.0, 1800.0, 2000.0),
    height: float = 0.55,
    rim: float = 40.0,
    k: Sequence[float] = (200e3, 25e3),
    c: Sequence[float] = (200.0, 2000.0),
    length: Sequence[float] = (0.3, 0.4),
    rolling_resistance: float = 0.0,
    terrain: Terrain | None = None,
) -> System:
    """A four-wheeled car with a rigid chassis: a truck of two axles, `front` before and `rear` behind the mass centre."""
    return truck(
        axles=(front, -rear), track=track, mass=mass, inertia=inertia, height=height, rim=rim, k=k, c=c, length=length,
        rolling_resistance=rolling_resistance, terrain=terrain, name="car",
    )  # fmt: skip


def _add_wheel(s: System, chassis: BodyHandle, name: str, x: str, y: str, ground: Terrain) -> PartialVehicle:
    """A rim that slides in the chassis, with its suspension and tyre."""
    s.add_variable(f"{name}.drive", units="F", label=f"driving force, wheel {name}")
    rim = s.add_point_mass(f"{name}.rim", chassis, mass="m_rim", translate=3, joint_at=(x, y, "l_tyre - h"))
    top = s.add_point(f"{name}.top", body=chassis, at=(x, y, "l_tyre + l_strut - h"))
    s.add_force(
        f"{name}.strut",
        magnitude=_strut("k_strut", "c_strut", "l_strut"),
        direction=chassis[3],
        at=top,
        against=rim.origin,
    )
    s.define(f"{name}.stroke", dot(pos(top, rim.origin), chassis[3]))
    contact = _touch(
        s, f"{name}.tyre", at=rim, rim="l_tyre", terrain=ground, tyre=Tyre("k_tyre", "c_tyre"),
        rolling_resistance="c_roll", drive=f"{name}.drive",
    )  # fmt: skip
    return PartialVehicle(name, rim, chassis, contact)


def point_mass_car(**options: Any) -> System:
    """A four-wheeled car of point masses joined by constraints: `bellcrank.library.point_mass.point_mass_car`."""
    from bellcrank.library import point_mass  # which is built on this module

    return point_mass.point_mass_car(**options)
