"""Ready channels of how a body lies and a wheel runs, in the axes of the ground: x forward, z along
gravity's line.

The formulas hold for ISO 8855 (y to the left, z up) and SAE (y to the right, z down) alike: angles
are turns about the axes z, y, x of the system, one after another, and an angle of slip turns about
z from the heading to the velocity.
"""

from __future__ import annotations

from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.model.describe.builder import Builder
from bellcrank.model.formula import (
    Formula,
    call_formula,
    cross,
    direction,
    dot,
    project,
    rot,
    to_syntax,
    vel,
)
from bellcrank.model.scope import referenced_name

SIDES = {
    "left": -1,
    "right": 1,
}  # camber over inclination, which turns the top to the side of the right wheels


def add_attitude(s: Builder, body: Any, name: str | None = None) -> None:
    """Channels of a body: yaw, pitch, roll, yaw rate, speed and side-slip angle of its mass
    centre."""
    body_name, (e1, e2, e3) = _body_axes(s, body)
    n1, n2, n3 = (s.inertial[i] for i in (1, 2, 3))
    forward, v = direction(project(e1, n3)), vel(f"{body_name}.cm")
    lateral = cross(n3, forward)
    level = call_formula("sqrt", dot(e1, n1) ** 2 + dot(e1, n2) ** 2)
    prefix = f"{body_name}." if name is None else name
    for suffix, value, label, units in (
        ("yaw", call_formula("atan2", dot(e1, n2), dot(e1, n1)), "yaw angle", "deg"),
        ("pitch", call_formula("atan2", -dot(e1, n3), level), "pitch angle", "deg"),
        ("roll", call_formula("atan2", dot(e2, n3), dot(e3, n3)), "roll angle", "deg"),
        ("yaw_rate", dot(rot(body_name), n3), "yaw rate", "deg/s"),
        ("speed", dot(v, forward), "forward speed", "L/T"),
        (
            "side_slip",
            call_formula("atan2", dot(v, lateral), dot(v, forward)),
            "side-slip angle",
            "deg",
        ),
    ):
        s.add_output(
            f"{prefix}{suffix}", value, label=f"{label} of {body_name}", units=units, body=body_name
        )


def add_wheel_angles(
    s: Builder, wheel: Any, side: str | None = None, name: str | None = None
) -> None:
    """Channels of a wheel that turns about its axis 2: slip angle of its centre, and its
    inclination."""
    if side is not None and side not in SIDES:
        raise ModelError(f"add_wheel_angles: side={side!r} must be 'left', 'right' or None", s.name)
    wheel_name, (_, e2, _) = _body_axes(s, wheel)
    n3, v = s.inertial[3], vel(f"{wheel_name}.origin")
    forward = direction(cross(e2, n3))
    lateral = cross(n3, forward)
    lean = call_formula("asin", dot(e2, n3))
    prefix = f"{wheel_name}." if name is None else name
    slip = call_formula("atan2", dot(v, lateral), dot(v, forward))
    s.add_output(
        f"{prefix}slip_angle",
        slip,
        label=f"slip angle of {wheel_name}",
        units="deg",
        body=wheel_name,
    )
    if side is None:
        s.add_output(
            f"{prefix}inclination",
            lean,
            label=f"inclination of {wheel_name}",
            units="deg",
            body=wheel_name,
        )
    else:
        label = f"camber of {wheel_name}, top outwards positive"
        s.add_output(
            f"{prefix}camber", SIDES[side] * lean, label=label, units="deg", body=wheel_name
        )


def _body_axes(s: Builder, body: Any) -> tuple[str, tuple[Formula, Formula, Formula]]:
    """The name of a body and its unit vectors."""
    body_name = referenced_name(body)
    if not isinstance(body_name, str):
        raise ModelError(f"{body!r} is not a body or the name of one", s.name)
    e1, e2, e3 = (Formula(to_syntax(f"[{body_name}{i}]")) for i in (1, 2, 3))
    return body_name, (e1, e2, e3)
