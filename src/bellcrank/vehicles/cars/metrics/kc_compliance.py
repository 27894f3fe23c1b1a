"""Compliance of an axle as a K&C rig measures it: forces and torques at both wheels, in phase and
opposed.

The body is held, wheels keep their travel, and the steering wheel is held. Loads act on both wheels
of an axle:

- lateral: at the contact centres, to the left. Opposed: both outward.
- braking: rearward at the contact centres, wheels locked to their carriers. Opposed: left rearward,
  right forward.
- traction: forward; at the wheel centres where the drive torque is reacted by the body, else at the
  contact centres.
- aligning: torque about the vertical at the contact centres, to the left. Opposed: towards toe-out
  of both.

Values are those of the left wheel. The rack moves on the elasticity of column and assistance by
what both wheels push; pushes of mirror images cancel. Milliken & Milliken, Race Car Vehicle
Dynamics (1995), ch. 23.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bellcrank.linkage.measures import Measures
from bellcrank.linkage.wheel_motion import WheelMotion, linkage_wheel_motion
from bellcrank.vehicles.cars.design.axles import AxleData
from bellcrank.vehicles.cars.design.car_data import Array, CarData
from bellcrank.vehicles.cars.keys.car_keys import ComplianceKeys
from bellcrank.vehicles.cars.statics.bush_compliance import carrier_compliance
from bellcrank.vehicles.cars.statics.static_equilibrium import CarStatics

LOADS = {
    "lateral": "lateral force",
    "braking": "braking force",
    "traction": "traction force",
    "aligning": "aligning torque",
}
PHASES = {"in_phase": "in phase", "opposed": "opposed"}
RESPONSES = {
    "steer": ("deg", "steer, to the left"),
    "toe": ("deg", "toe, toe-in positive"),
    "camber": ("deg", "camber, top outward positive"),
    "lateral": ("mm", "lateral displacement of the contact centre, to the left"),
    "longitudinal": ("mm", "longitudinal displacement of the wheel centre, forward"),
}
SYMMETRIC = {
    ("braking", "in_phase"),
    ("traction", "in_phase"),
    ("lateral", "opposed"),
    ("aligning", "opposed"),
}
"""Loads whose mirror image is themselves, so that both wheels push the rack to opposite sides."""


def compliance_measures(
    car: CarData,
    statics: CarStatics,
    linkage: Any,
    axle: str,
    travel: Any,
    rack: Any,
    load: Any = None,
) -> Measures:
    """Responses of the left wheel to each load, over travel: names such as
    `lateral_in_phase_steer`. `load`: size of the loads in kN and 100 N m; small without it."""
    z, r, sizes = (
        np.atleast_1d(a).astype(float)
        for a in np.broadcast_arrays(travel, rack, 0.0 if load is None else load)
    )
    fitted = car.axle(axle)
    wheel = linkage_wheel_motion(linkage, z, r if "rack" in linkage.inputs else 0.0)
    m = Measures(linkage.name, "compliance")
    m.add("travel", z, "m", "wheel travel, up")
    if "rack" in linkage.inputs:
        m.add("rack", r, "m", "rack travel")
    arms = wheel.in_wheel_axes(wheel.contact - wheel.centre)
    if load is not None:
        m.add("load", sizes, "", "load, in kN and in 100 N-m")
    load_motions = [
        _suspension_response(car, statics, fitted, wheel, i, arms[i], sizes[i])
        for i in range(len(z))
    ]
    rack_compliance = _rack_compliance(car, fitted)
    for load, loading in LOADS.items():
        unit, scale = ("100 N-m", 100.0) if load == "aligning" else ("kN", 1000.0)
        for phase, phasing in PHASES.items():
            responses = []
            for i, arm in enumerate(arms):
                motion = load_motions[i][load].copy()
                if rack_compliance and (load, phase) not in SYMMETRIC:
                    motion += rack_compliance * _rack_response(
                        wheel, i, arm, *_contact_load(car, fitted, load, arm)
                    )
                responses.append(_wheel_responses(motion, arm))
            table = scale * np.array(responses)
            for k, (response, (response_unit, label)) in enumerate(RESPONSES.items()):
                if np.isfinite(table[:, k]).all():
                    title = (
                        f"{label.partition(',')[0]} per {loading} "
                        f"{phasing}{label[len(label.partition(',')[0]) :]}"
                    )
                    m.add(
                        f"{load}_{phase}_{response}",
                        table[:, k] + 0.0,
                        f"{response_unit}/{unit}",
                        title,
                    )
    source = (
        "bushes" if fitted.bushes else "the coefficients of the file, which have no displacements"
    )
    m.notes.append(f"compliance by {source}; the body and the steering wheel are held")
    return m


def _contact_load(car: CarData, axle: AxleData, load: str, arm: Array) -> tuple[Array, Array]:
    """Force on the left wheel, and moment about its centre, of one N or N m."""
    x, y, vertical = np.eye(3)
    if load == "aligning":
        return 0 * vertical, vertical
    if load == "lateral":
        return y, np.cross(arm, y)
    if load == "braking":
        return -x, 0 * vertical if car.sections.brakes.react_on_body(axle.name) else np.cross(
            arm, -x
        )
    drive = car.sections.drive
    hub = drive.reaction == "carrier" and drive.driven in ("all", axle.name)
    return x, np.cross(arm, x) if hub else 0 * vertical


def _suspension_response(
    car: CarData,
    statics: CarStatics,
    axle: AxleData,
    w: WheelMotion,
    i: int,
    arm: Array,
    size: float,
) -> dict[str, Array]:
    """Displacement of the wheel centre (m) and rotation (rad) per load, the rack held: on bushes,
    or as far as coefficients of the file describe them."""
    if axle.bushes:
        compliance, motions = carrier_compliance(axle, statics, w.pose[i]), {}
        for load in LOADS:
            unit_load, n = (
                np.concatenate(_contact_load(car, axle, load, arm)),
                size * (100.0 if load == "aligning" else 1000.0),
            )
            motions[load] = (
                compliance.displacement(n * unit_load) / n
                if n
                else compliance.compliance @ unit_load
            )
        return motions
    c, lever = axle.record.compliance or ComplianceKeys(), -float(arm[2])
    steer = {
        "lateral": c.steer_by_lateral_force,
        "aligning": c.steer_by_aligning_moment,
        "traction": -c.toe_by_longitudinal_force,
        "braking": c.toe_by_longitudinal_force - lever * c.toe_by_brake_torque,
    }
    tilt = {"lateral": c.camber_by_lateral_force}
    unknown = [math.nan] * 3
    return {load: np.array([*unknown, tilt.get(load, 0.0), 0.0, steer[load]]) for load in LOADS}


def _rack_compliance(car: CarData, axle: AxleData) -> float:
    """Movement of the rack by equal pushes of both wheels per push of one, m/N; 0 for an axle that
    is not steered."""
    if not axle.is_steered or axle.name != "front":
        return 0.0
    steering = car.sections.steering
    pinion = steering.rack_per_turn / (2 * math.pi)
    return 2 * pinion**2 / ((1 + steering.assist) * steering.stiffness)


def _rack_response(w: WheelMotion, i: int, arm: Array, force: Array, moment: Array) -> Array:
    """How the wheel moves with the rack, times its push on the rack by virtual work."""
    assert w.pose.delta_rack is not None and w.pose.d_rack is not None
    motion = np.concatenate([w.pose.d_rack[i], w.pose.delta_rack[i]])
    return np.asarray(motion * float(motion @ np.concatenate([force, moment])))


def _wheel_responses(motion: Array, arm: Array) -> list[float]:
    """As in `RESPONSES`: deg and mm."""
    rotation = np.degrees(motion[3:])
    contact = motion[:3] + np.cross(motion[3:], arm)
    return [rotation[2], -rotation[2], -rotation[0], 1000 * contact[1], 1000 * motion[0]]
