"""Vehicles from partial vehicles: a chassis part on a spring-damper on a rim, which stands on the
ground by its tyre.

The contact point has no mass: it is the point of the ground nearest to the rim, and the tyre is a
spring-damper between the two that never pulls. z is up, x forward; nominally all springs have their
relaxed lengths and the tyres touch z = 0. Van Iwaarden (2003), Modeling a vehicle with use of
partial vehicles, sections 1.3, 2 and 6; wheels that roll carry no inertia of their contact point
there either.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bellcrank.api.system import System
from bellcrank.core.errors import ModelError
from bellcrank.model.describe.contacts import Tyre
from bellcrank.model.describe.patch import SlipLaw
from bellcrank.model.describe.slip import Slip
from bellcrank.model.formula import Formula, call_formula, dot, magnitude, pos, to_syntax
from bellcrank.vehicles.driver_inputs import (
    add_driver_inputs,
    add_wheel,
    slip_per_axle,
    slip_with_parameters,
    spin_and_brake_problems,
)
from bellcrank.vehicles.labels import write_plain_labels
from bellcrank.vehicles.partial.chassis import CAR, TRUCK, Design, make_rigid_vehicle
from bellcrank.vehicles.partial.point_mass import point_mass_car
from bellcrank.vehicles.terrain.terrain import Terrain, flat
from bellcrank.vehicles.vehicle_parts import (
    PartialVehicle,
    add_named_partial_vehicle,
    add_tyre_contact,
    mass_and_pair_problems,
    partial_vehicle,
    set_suspension_defaults,
    strut_force_formula,
)

__all__ = [
    "Design",
    "PartialVehicle",
    "Slip",
    "Tyre",
    "car",
    "motorcycle",
    "partial_vehicle",
    "point_mass_car",
    "truck",
]


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
    slip: SlipLaw | Sequence[SlipLaw] | None = None,
    spin: float = 0.05,
    brakes: Sequence[float] = (0.3, 0.7),
) -> System:
    """Make a motorcycle of two partial vehicles in the plane. Defaults: van Iwaarden (2003),
    chapter 6.

    Parameters of the model: m_rim, m_chassis, k_tyre, k_strut, c_tyre, c_strut, l_tyre, l_strut,
    wheelbase, c_roll. Inputs: <side>.load, an upward force on a chassis part, and <side>.drive, a
    force on the wheel along the ground; with `slip` drive and brake, torques.

    Parameters
    ----------
    model : {1, 2}, default 2
        1: chassis parts stay above their wheels. 2: a massless rod joins them, and suspensions are
        perpendicular to it.
    coordinates : {"minimal", "redundant"}, default "minimal"
        "redundant" (of model 2): four point masses and three position constraints.
    rim, chassis : float, default 1.0
        Masses of a wheel and of a chassis part in kg.
    k, c : pair of float, default (1000.0, 1000.0) and (50.0, 50.0)
        Stiffness in N/m and damping in N s/m of tyre and suspension.
    length : pair of float, default (0.4, 0.4)
        Free length of both in m.
    wheelbase : float, default 1.0
        In m.
    rolling_resistance : float, default 0.0
        In N s/m.
    terrain : Terrain, optional
        The ground. Default: flat.
    slip : Slip or pair, optional
        Tyre forces along the ground, of both wheels or of rear and front (model 2, minimal).
        Default: none.
    spin : float, default 0.05
        Moment of inertia of a wheel with `slip` in kg m^2.
    brakes : pair of float, default (0.3, 0.7)
        Distribution of the brake torque, rear and front.

    Returns
    -------
    System
        The model.

    Raises
    ------
    ModelError
        If the options do not go together or a value is not allowed.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.vehicles.motorcycle(model=1)
    >>> s.equations().inputs
    ['rear.drive', 'front.drive', 'rear.load', 'front.load']
    """
    if (
        model not in (1, 2)
        or coordinates not in ("minimal", "redundant")
        or (model == 1 and coordinates != "minimal")
    ):
        raise ModelError(
            f"motorcycle: model={model!r} with coordinates={coordinates!r} is not known; "
            f"model is 1, or 2 with "
            "'minimal' or 'redundant'"
        )
    problems = mass_and_pair_problems(
        {"rim": rim, "chassis": chassis}, {"k": k, "c": c, "length": length}
    )
    if not wheelbase > 0:
        problems.append(f"wheelbase={wheelbase!r} must be positive")
    if slip is not None and (model, coordinates) != (2, "minimal"):
        problems.append(
            "slip needs a frame that takes the moments: model=2 with coordinates='minimal'"
        )
    slips, slip_problems = slip_per_axle(slip, 2, space=False) if slip is not None else ([], [])
    problems += slip_problems + (
        spin_and_brake_problems(spin, brakes, 2) if slip is not None else []
    )
    if problems:
        raise ModelError("motorcycle: " + "; ".join(problems))
    s = System(f"motorcycle, model {model}", axes="ISO 8855")
    s.set_defaults(m_chassis=chassis, wheelbase=wheelbase)
    set_suspension_defaults(s, rim, k, c, length, rolling_resistance)
    s.add_gravity()
    ground = terrain or flat()
    if slips:
        add_driver_inputs(s, spin, brakes, "drive", "brake")
    partial_vehicles = (
        _add_point_mass_halves(s, ground)
        if coordinates == "redundant"
        else _add_frame_halves(s, ground, model, slips)
    )
    for side, part in zip(SIDES, partial_vehicles, strict=True):
        s.add_input(f"{side}.load", units="F", label=f"upward force on the {side} chassis part")
        s.add_force(
            f"{side}.push",
            magnitude=f"{side}.load",
            direction=s.inertial[3],
            at=part.chassis.origin,
        )
        for body, body_name in ((part.rim, "rim"), (part.chassis, "chassis")):
            for axis, letter in ((1, "x"), (3, "z")):
                coordinate, label = (
                    dot(pos(body.origin), s.inertial[axis]),
                    f"{letter} of the {side} {body_name}",
                )
                s.add_output(
                    f"{side}.{body_name}.{letter}", coordinate, label=label, units="L", body=body
                )
    rod = pos(partial_vehicles[1].chassis.origin, partial_vehicles[0].chassis.origin)
    pitch = call_formula("atan2", dot(rod, s.inertial[3]), dot(rod, s.inertial[1]))
    s.add_output("pitch", pitch, label="pitch, front up", units="deg")
    s.add_output("rod", magnitude(rod), label="distance of the wheels", units="L")
    strain = " + ".join(
        f"{p.contact.stored} + k_strut*(l_strut - {p.name}.stroke)**2/2" for p in partial_vehicles
    )
    for p in partial_vehicles:
        s.define(f"{p.name}.stroke", magnitude(pos(p.chassis.origin, p.rim.origin)))
    s.add_output("strain", strain, label="energy of all springs", units="F*L")
    s.add_outputs("energy")
    input_names = ("load",) if slips else ("load", "drive")
    s.set_run(
        t_end=3,
        step=0.001,
        method="rk4",
        inputs={f"{side}.{i}": 0.0 for side in SIDES for i in input_names},
    )
    write_plain_labels(s, {f"{side}.tyre": f"the {side} tyre" for side in SIDES})
    return s


def _add_point_mass_halves(s: System, ground: Terrain) -> list[PartialVehicle]:
    """Four point masses, joined by constraints."""
    partial_vehicles = [
        add_named_partial_vehicle(s, side, x, ground)
        for side, x in zip(SIDES, ("0", "wheelbase"), strict=True)
    ]
    rear, front = partial_vehicles
    rod = pos(front.chassis.origin, rear.chassis.origin)
    s.add_constraint(
        magnitude(rod) - Formula(to_syntax("wheelbase")), label="P1: length of the rod"
    )
    for number, part in enumerate(partial_vehicles, 2):
        orthogonality = dot(pos(part.chassis.origin, part.rim.origin), rod)
        s.add_constraint(
            orthogonality, label=f"P{number}: {part.name} suspension square to the rod"
        )
    return partial_vehicles


def _add_frame_halves(
    s: System, ground: Terrain, model: int, slips: Sequence[SlipLaw]
) -> list[PartialVehicle]:
    """Chassis parts fixed in a frame (model 2), or free to move up and down in it (model 1)."""
    joint_options: dict[str, Any] = (
        {"translate": 1} if model == 1 else {"translate": (1, 3), "rotate": 2}
    )
    frame = s.add_body(
        "frame", mass=0, inertia=0, joint_at=(0, 0, "l_tyre + l_strut"), **joint_options
    )
    if model == 2:
        size = (
            "1.5*wheelbase",
            "0.3*wheelbase",
            "2.9*l_tyre",
            "wheelbase",
            "l_tyre",
            "0.12*wheelbase",
        )
        s.add_shape(
            body=frame, kind="motorcycle", size=size, at=("wheelbase", 0, "-l_strut"), label="body"
        )
    partial_vehicles = []
    for i, (side, x) in enumerate(zip(SIDES, ("0", "wheelbase"), strict=True), 1):
        translation = 3 if model == 1 else ()
        body = s.add_point_mass(
            f"{side}.chassis", frame, mass="m_chassis", joint_at=(x, 0, 0), translate=translation
        )
        rim = s.add_point_mass(
            f"{side}.rim", frame, mass="m_rim", joint_at=(x, 0, "-l_strut"), translate=3
        )
        strut_force = strut_force_formula("k_strut", "c_strut", "l_strut")
        s.add_force(
            f"{side}.strut",
            magnitude=strut_force,
            direction=frame[3],
            at=body.origin,
            against=rim.origin,
        )
        if slips:
            wheel = add_wheel(s, side, rim, "drive" if side == "rear" else None, f"brake*share_{i}")
            partial_vehicles.append(
                add_tyre_contact(
                    s,
                    side,
                    rim,
                    body,
                    ground,
                    slip_with_parameters(s, slips[i - 1], i),
                    wheel=wheel,
                )
            )
        else:
            s.add_input(f"{side}.drive", units="F", label=f"driving force, {side}")
            partial_vehicles.append(
                add_tyre_contact(s, side, rim, body, ground, drive=f"{side}.drive")
            )
    return partial_vehicles


# ---- cars and trucks


def truck(*, axles: Sequence[float] = TRUCK.axles, **changes: Any) -> System:
    """Make a truck: a rigid chassis on any number of axles with two wheels each.

    Wheels are called w<axle>l and w<axle>r. Inputs: <wheel>.drive, a force along the ground; with
    slip steer (angle of a wheel in the middle of the first steered axle, positive to the left,
    Ackermann), drive and brake (sums of torques).

    Parameters
    ----------
    axles : sequence of float, default (2.5, -1.0, -2.3)
        Distance of each axle in front of the mass centre in m.
    changes : optional
        Fields of `Design`.

    Returns
    -------
    System
        The model.

    Raises
    ------
    ModelError
        If a value is not allowed.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.vehicles.truck(axles=(2.5, -1.5), mass=5000)
    >>> s.name
    'truck'
    """
    return make_rigid_vehicle("truck", TRUCK, axles, changes)


def car(*, front: float = CAR.axles[0], rear: float = -CAR.axles[1], **changes: Any) -> System:
    """Make a car with a rigid chassis: a truck with two axles. `Car` has cars with suspensions.

    Parameters
    ----------
    front, rear : float, default 1.2 and 1.4
        Distances of the front axle before and the rear axle behind the mass centre in m.
    changes : optional
        Fields of `Design`.

    Returns
    -------
    System
        The model.

    Raises
    ------
    ModelError
        If a value is not allowed.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.vehicles.car(front=1.1, slip=bc.Slip(60e3, 45e3), speed=20)
    >>> s.name
    'car'
    """
    return make_rigid_vehicle("car", CAR, (front, -rear), changes, "front, rear")
