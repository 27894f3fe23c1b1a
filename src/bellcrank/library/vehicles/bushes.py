"""Bushes of an axle: what its suspension gives on them, as the coefficients of a K&C rig, and what they add to springs.

Bushes are without load where the car stands, and give in proportion to forces there. Forces along act at the wheel
centre, as nothing but a brake or a hub motor turns the carrier; the moment of a brake is a cause of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bellcrank.library.vehicles.axles import FittedAxle
from bellcrank.library.vehicles.data import Array, CarData
from bellcrank.library.vehicles.records import Compliance
from bellcrank.library.vehicles.rest import Stand, drawn_length, push_of
from bellcrank.linkage.elastic import Give, give
from bellcrank.linkage.pose import Pose

H = 1e-6  # m of spring length, for the slope of its force


@dataclass(frozen=True)
class Gives:
    """What an axle gives: coefficients of its left wheel, None if it does not; `rate` of the bushes at a wheel, N/m."""

    compliance: Compliance | None
    rate: float = 0.0


def gives(car: CarData, at_rest: Stand, axle: FittedAxle) -> Gives:
    """What an axle gives where the car stands: by its bushes, or as the file says."""
    if not axle.bushes:
        return Gives(axle.record.compliance)
    i = 0 if axle.name == "front" else 2
    pose = axle.pose(sum(at_rest.travel[i : i + 2]) / 2)
    found = give_at(axle, at_rest, pose)
    centre = pose.position + np.array(axle.record.at)
    arm = (at_rest.contact[i] + at_rest.contact[i + 1] * [1, -1, 1]) / 2 - centre
    return Gives(coefficients(car, axle, found, arm), found.rate)


def give_at(axle: FittedAxle, at_rest: Stand, pose: Pose) -> Give:
    """How the left suspension gives at a pose, with the stiffness of its spring there; of a car as drawn, without."""
    if axle.name not in at_rest.free_length:
        return give(axle.linkage, pose, axle.bushes)
    a, b = (pose.point(p).position for p in axle.spring)
    length, drawn = float(np.linalg.norm(a - b)), drawn_length(axle, axle.spring)
    free = at_rest.free_length[axle.name]
    slope = push_of(axle, free, length - H, drawn) - push_of(axle, free, length + H, drawn)
    return give(axle.linkage, pose, axle.bushes, {"spring": (axle.spring, slope / (2 * H))})


def coefficients(car: CarData, axle: FittedAxle, found: Give, arm: Array) -> Compliance:
    """Of the left wheel, whose contact lies by `arm` from its centre."""
    x, y = np.eye(3)[:2]
    by_side = found.under(y, arm)
    drive = car.sections.drive
    hub = drive.reaction == "carrier" and drive.driven in ("all", axle.name)
    along = found.under(x, arm if hub else 0 * arm)
    on_carrier = not car.sections.brakes.react_on_body(axle.name)
    brake = (on_carrier - hub) * float(found.compliance[5, 4])
    return Compliance(
        steer_by_lateral_force=float(by_side[5]), steer_by_aligning_moment=float(found.compliance[5, 5]),
        toe_by_longitudinal_force=float(-along[5]), toe_by_brake_torque=-brake,
        camber_by_lateral_force=float(by_side[3]),
    )  # fmt: skip
