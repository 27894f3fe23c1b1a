"""What acts on the body of a car, or on both parts of one whose frame twists: loads of its wheels,
weights, pulls.

In: corners at their travels, in the axes of the part that carries them. Out: `BalanceState`, the
forces and moments that are left, in the axes of the car, which are those of the front part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bellcrank.linkage.pose import cross_last_axis
from bellcrank.vehicles.cars.design.car_data import GRAVITY, Array
from bellcrank.vehicles.cars.design.frame_data import FrameData, rotation_about_x
from bellcrank.vehicles.cars.statics.trailer_statics import HitchLoad


def vertical_in_body_axes(pitch: float, roll: float) -> Array:
    """The vertical in axes of the car."""
    return np.array([-np.sin(pitch), np.cos(pitch) * np.sin(roll), np.cos(pitch) * np.cos(roll)])


class Attitude(NamedTuple):
    """How a body stands: height of the origin of the car's axes above the ground, pitch, roll."""

    height: float
    pitch: float
    roll: float

    @property
    def up(self) -> Array:
        """The vertical in axes of the body."""
        return vertical_in_body_axes(self.pitch, self.roll)


def rear_attitude(frame: FrameData, front: Attitude, twist: float) -> Attitude:
    """How the rear part stands behind a front part, at a twist of the frame (rad)."""
    rear = Attitude(0.0, front.pitch, front.roll + twist)
    return rear._replace(height=front.height + float((front.up - rear.up) @ frame.joint))


@dataclass(frozen=True, eq=False)
class CornerMass:
    """A mass, its place, and the derivatives of that by the travels of its wheel and of the other
    one."""

    mass: float
    at: Array
    by: tuple[Array, Array]


@dataclass(frozen=True)
class BarEndHeight:
    """Height of the end of an anti-roll bar, and its derivatives by the travels of its wheel and of
    the other one."""

    height: float
    by: tuple[float, float]


@dataclass(frozen=True, eq=False)
class CornerState:
    """A corner at a travel, in the axes of the car; derivatives by its travel, `_other` by that of
    the other wheel."""

    masses: list[CornerMass]
    load: float
    contact: Array
    contact_partial: Array  # of the carrier at the contact
    rotation_partial: Array  # of the carrier
    slope_other: Array
    turn_other: Array
    moment: Array  # of the tyre that leans
    length: float  # of the spring
    drawn: float
    spring_motion_ratios: tuple[float, float]  # its derivatives by both travels
    end: BarEndHeight  # of the anti-roll bar
    centre: Array
    axis: Array  # of spin, to the left
    twist: tuple[float, float] = (
        0.0,
        0.0,
    )  # of the cross beam, left arm up, and its derivative by the travel

    @property
    def heave_motion_ratio(self) -> float:
        """Change of the length of the spring while both wheels rise, per travel."""
        return sum(self.spring_motion_ratios)


@dataclass(frozen=True, eq=False)
class BalanceState:
    vertical_residual: float  # loads less weights
    moment: Array  # of both about the origin, in axes of the body
    virtual_work: tuple[float, ...]  # what is left of the virtual work per travel, of each corner
    load: tuple[float, ...]
    centre: Array
    contact: Array
    mass: float
    torsion: tuple[float, ...] = ()  # what is left of the torque about the axis of a flexible frame


@dataclass(frozen=True, eq=False)
class SprungPartLoads:
    """What acts on a body and on the wheels that it carries, in its axes; `up`: the vertical
    there."""

    masses: Sequence[tuple[float, Array]]
    corners: Sequence[CornerState]
    pulls: Sequence[HitchLoad]
    up: Array

    def balance_state(self, virtual_work: Sequence[float]) -> BalanceState:
        masses, vertical = (
            [*self.masses, *((m.mass, m.at) for c in self.corners for m in c.masses)],
            self.up,
        )
        loads, contact = [c.load for c in self.corners], [c.contact for c in self.corners]
        weight = sum(m for m, _ in masses) * GRAVITY
        moment = sum(
            (
                cross_last_axis(p, f * vertical) + c.moment
                for p, f, c in zip(contact, loads, self.corners)
            ),
            np.zeros(3),
        )
        moment = moment - sum(
            (cross_last_axis(position, m * GRAVITY * vertical) for m, position in masses),
            np.zeros(3),
        )
        centre = sum((m * position for m, position in masses), np.zeros(3)) * GRAVITY / weight
        lift = sum(loads) - weight
        for hitch_load in self.pulls:
            lift -= hitch_load.load
            moment = (
                moment
                - cross_last_axis(hitch_load.at, hitch_load.load * vertical)
                + hitch_load.moment
            )
        return BalanceState(
            lift,
            moment,
            tuple(virtual_work),
            tuple(loads),
            centre,
            np.array(contact),
            weight / GRAVITY,
        )


def combine_frame_parts(
    frame: FrameData,
    front: BalanceState,
    rear: BalanceState,
    twist: float,
    ups: tuple[Array, Array],
) -> BalanceState:
    """Both parts of a frame as one, in axes of the front part; `ups`: the vertical in axes of each
    part."""
    joint_moment = rear.moment - cross_last_axis(frame.joint, rear.vertical_residual * ups[1])
    moment = (
        front.moment
        + rotation_about_x(twist) @ joint_moment
        + cross_last_axis(frame.joint, rear.vertical_residual * ups[0])
    )
    mass = front.mass + rear.mass
    centre = (
        front.mass * front.centre + rear.mass * frame.rotate_to_front_part(rear.centre, twist)
    ) / mass
    contact = np.vstack([front.contact, frame.rotate_to_front_part(rear.contact, twist)])
    torsion = (float(joint_moment[0]) - frame.stiffness * twist,)
    return BalanceState(
        front.vertical_residual + rear.vertical_residual,
        moment,
        front.virtual_work,
        (*front.load, *rear.load),
        centre,
        contact,
        mass,
        torsion,
    )
