"""A four-wheeled car of point masses: four partial vehicles whose chassis parts are joined by
massless rods.

The next step that van Iwaarden (2003), Modeling a vehicle with use of partial vehicles, recommends
(section 8.2), with the constraints of (2.9) corrected: its fifth equation must compare with the own
chassis part, its tenth has a factor too many, and two sides and the flatness of the chassis are
missing. Fourteen constraints on twelve coordinates of rims and chassis parts each leave the ten
degrees of freedom of a rigid chassis on four struts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bellcrank.api.system import System
from bellcrank.core.errors import ModelError
from bellcrank.model.formula import Formula, cross, dot, magnitude, pos, to_syntax
from bellcrank.vehicles.terrain.terrain import Terrain
from bellcrank.vehicles.vehicle_parts import add_named_partial_vehicle, is_number

CORNERS = {
    "rl": ("0", "track/2"),
    "fl": ("wheelbase", "track/2"),
    "rr": ("0", "-track/2"),
    "fr": ("wheelbase", "-track/2"),
}


def point_mass_car(
    *,
    wheelbase: float = 2.6,
    track: float = 1.5,
    rim: float = 40.0,
    chassis: float = 300.0,
    k: Sequence[float] = (200e3, 25e3),
    c: Sequence[float] = (200.0, 2000.0),
    length: Sequence[float] = (0.3, 0.4),
    rolling_resistance: float = 0.0,
    terrain: Terrain | None = None,
) -> System:
    """Make a car of point masses of wheels and chassis parts at the corners rl, fl, rr, fr.

    The chassis is a rectangle that stays flat; the suspensions are perpendicular to it. Parameters:
    m_rim, m_chassis, wheelbase, track, and those of `motorcycle`. Inputs: <corner>.drive. Axes: ISO
    8855.

    Parameters
    ----------
    wheelbase, track : float, default 2.6 and 1.5
        In m.
    rim, chassis : float, default 40.0 and 300.0
        Masses of a wheel and of a corner of the chassis in kg.
    k : pair of float, default (200e3, 25e3)
        Stiffness of tyre and suspension in N/m.
    c : pair of float, default (200.0, 2000.0)
        Damping of both in N s/m.
    length : pair of float, default (0.3, 0.4)
        Free length of both in m.
    rolling_resistance : float, default 0.0
        In N s/m.
    terrain : Terrain, optional
        The ground. Default: flat.

    Returns
    -------
    System
        The model.

    Raises
    ------
    ModelError
        If a value is not positive.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.vehicles.point_mass_car(wheelbase=2.4).name
    'car of point masses'
    """
    numbers = {"wheelbase": wheelbase, "track": track, "rim": rim, "chassis": chassis}
    problems = [
        f"{n}={x!r} must be a positive number"
        for n, x in numbers.items()
        if not is_number(x) or not x > 0
    ]
    if problems:
        raise ModelError("point_mass_car: " + "; ".join(problems))
    s = System("car of point masses", axes="ISO 8855")
    s.set_defaults(
        m_rim=rim, m_chassis=chassis, wheelbase=wheelbase, track=track, c_roll=rolling_resistance
    )
    s.set_defaults(
        k_tyre=k[0], k_strut=k[1], c_tyre=c[0], c_strut=c[1], l_tyre=length[0], l_strut=length[1]
    )
    s.set_units(c_roll="F*T/L", k_tyre="F/L", k_strut="F/L", c_tyre="F*T/L", c_strut="F*T/L")
    s.add_gravity()
    corners: dict[str, Any] = {}
    for name, (x, y) in CORNERS.items():
        corners[name] = add_named_partial_vehicle(s, name, (x, y, 0), terrain, (1, 2, 3))
        height = dot(pos(corners[name].chassis.origin), s.inertial[3])
        s.add_output(f"{name}.z", height, label=f"height of the chassis, {name}", units="L")
    _add_rod_constraints(
        s,
        {name: p.chassis.origin for name, p in corners.items()},
        {name: p.rim.origin for name, p in corners.items()},
    )
    s.add_outputs("energy")
    s.set_run(t_end=3, step=0.001, method="rk4", inputs={f"{name}.drive": 0.0 for name in CORNERS})
    return s


def _add_rod_constraints(s: System, top: dict[str, Any], low: dict[str, Any]) -> None:
    """Four sides and a right angle, flatness, and for each corner a suspension square to both
    sides."""
    base, track = (Formula(to_syntax(n)) for n in ("wheelbase", "track"))
    for a, b, size in (
        ("rl", "fl", base),
        ("rr", "fr", base),
        ("rr", "rl", track),
        ("fr", "fl", track),
    ):
        s.add_constraint(magnitude(pos(top[b], top[a])) - size, label=f"side {a}-{b}")
    long, side = pos(top["fl"], top["rl"]), pos(top["rr"], top["rl"])
    s.add_constraint(dot(long, side), label="right angle at rl")
    s.add_constraint(dot(cross(long, side), pos(top["fr"], top["rl"])), label="flat chassis")
    for name in CORNERS:
        strut = pos(top[name], low[name])
        for side_name, wheels in (
            ("wheelbase", (f"f{name[1]}", f"r{name[1]}")),
            ("track", (f"{name[0]}l", f"{name[0]}r")),
        ):
            orthogonality = dot(strut, pos(top[wheels[0]], top[wheels[1]]))
            s.add_constraint(orthogonality, label=f"suspension {name} square to the {side_name}")
