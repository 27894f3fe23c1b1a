"""Bushes of an axle: what its suspension gives on them, as the coefficients of a K&C rig, and what
they add to springs.

Bushes are without load where the car stands, and give in proportion to forces there, or by their
curves. Forces along act at the wheel centre, as nothing but a brake or a hub motor turns the
carrier; the moment of a brake is a cause of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bellcrank.linkage.elastokinematics import CarrierCompliance, solve_carrier_compliance
from bellcrank.linkage.pose import Pose
from bellcrank.vehicles.cars.design.axles import AxleData
from bellcrank.vehicles.cars.design.car_data import Array, CarData
from bellcrank.vehicles.cars.keys.car_keys import ComplianceKeys
from bellcrank.vehicles.cars.statics.static_equilibrium import (
    CarStatics,
    drawn_length,
    spring_and_stop_force,
)

H = 1e-6  # m of spring length, for the slope of its force


@dataclass(frozen=True)
class AxleCompliance:
    """What an axle gives: coefficients of its left wheel, None if it does not; `rate` of the bushes
    at a wheel, N/m. With curves the coefficients are those of small forces, and `curved` is the
    whole with its `loads` of
    `unit_tyre_loads`."""

    compliance: ComplianceKeys | None
    rate: float = 0.0
    curved: CarrierCompliance | None = None
    loads: Array = field(default_factory=lambda: np.zeros((4, 6)))


def axle_compliance(car: CarData, statics: CarStatics, axle: AxleData) -> AxleCompliance:
    """What an axle gives where the car stands: by its bushes, or as the file says."""
    if not axle.bushes:
        return AxleCompliance(axle.record.compliance)
    i = 0 if axle.name == "front" else 2
    pose = axle.pose(sum(statics.travel[i : i + 2]) / 2)
    compliance = carrier_compliance(axle, statics, pose)
    centre = pose.position + np.array(axle.record.at)
    arm = (statics.contact_points[i] + statics.contact_points[i + 1] * [1, -1, 1]) / 2 - centre
    return AxleCompliance(
        compliance_coefficients(car, axle, compliance, arm),
        compliance.rate,
        compliance if compliance.curves else None,
        unit_tyre_loads(car, axle, arm),
    )


def carrier_compliance(axle: AxleData, statics: CarStatics, pose: Pose) -> CarrierCompliance:
    """How the left suspension gives at a pose, with the stiffness of its spring there; of a car as
    drawn, without."""
    if axle.name not in statics.free_length:
        return solve_carrier_compliance(axle.linkage, pose, axle.bushes)
    a, b = (pose.point(p).position for p in axle.spring)
    length, drawn = float(np.linalg.norm(a - b)), drawn_length(axle, axle.spring)
    free_length = statics.free_length[axle.name]
    force_change = spring_and_stop_force(
        axle, free_length, length - H, drawn
    ) - spring_and_stop_force(axle, free_length, length + H, drawn)
    return solve_carrier_compliance(
        axle.linkage, pose, axle.bushes, {"spring": (axle.spring, force_change / (2 * H))}
    )


def unit_tyre_loads(car: CarData, axle: AxleData, arm: Array) -> Array:
    """Loads at the centre of the left wheel by one N of lateral force at the contact, which lies by
    `arm` from it, one N m of aligning moment, one N of longitudinal force and one N m of brake
    torque: a row of six for each."""
    x, y, vertical = np.eye(3)
    drive = car.sections.drive
    hub = drive.reaction == "carrier" and drive.driven in ("all", axle.name)
    on_carrier = not car.sections.brakes.react_on_body(axle.name)
    zero = np.zeros(3)
    return np.array(
        [
            [*y, *np.cross(arm, y)],
            [*zero, *vertical],
            [*x, *(np.cross(arm, x) if hub else zero)],
            [*zero, *((on_carrier - hub) * y)],
        ]
    )


def compliance_coefficients(
    car: CarData, axle: AxleData, compliance: CarrierCompliance, arm: Array
) -> ComplianceKeys:
    """Of the left wheel, whose contact lies by `arm` from its centre."""
    tilt, steer = (compliance.compliance @ unit_tyre_loads(car, axle, arm).T)[[3, 5]].tolist()
    return ComplianceKeys(
        steer_by_lateral_force=steer[0],
        steer_by_aligning_moment=steer[1],
        toe_by_longitudinal_force=-steer[2],
        toe_by_brake_torque=-steer[3],
        camber_by_lateral_force=tilt[0],
    )
