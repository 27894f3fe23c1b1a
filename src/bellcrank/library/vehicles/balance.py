"""What acts on the body of a car, or on both parts of one whose frame twists: loads of its wheels, weights, pulls.

In: corners at their travels, in the axes of the part that carries them. Out: `Now`, the forces and moments that are
left, in the axes of the car, which are those of the front part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bellcrank.library.vehicles.data import GRAVITY, Array
from bellcrank.library.vehicles.frame import FrameData, about_x
from bellcrank.library.vehicles.trailer_rest import Pull
from bellcrank.linkage.pose import cross


def up_of(pitch: float, roll: float) -> Array:
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
        return up_of(self.pitch, self.roll)


def behind(frame: FrameData, front: Attitude, twist: float) -> Attitude:
    """How the rear part stands behind a front part, at a twist of the frame (rad)."""
    rear = Attitude(0.0, front.pitch, front.roll + twist)
    return rear._replace(height=front.height + float((front.up - rear.up) @ frame.joint))


@dataclass(frozen=True, eq=False)
class Weight:
    """A mass, its place, and the derivatives of that by the travels of its wheel and of the other one."""

    mass: float
    at: Array
    by: tuple[Array, Array]


@dataclass(frozen=True)
class End:
    """Height of the end of an anti-roll bar, and its derivatives by the travels of its wheel and of the other one."""

    height: float
    by: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Corner:
    """A corner at a travel, in the axes of the car; derivatives by its travel, `_other` by that of the other wheel."""

    masses: list[Weight]
    load: float
    contact: Array
    slope: Array  # of the carrier at the contact
    turn: Array  # of the carrier
    slope_other: Array
    turn_other: Array
    moment: Array  # of the tyre that leans
    length: float  # of the spring
    drawn: float
    ratios: tuple[float, float]  # its derivatives by both travels
    end: End  # of the anti-roll bar
    centre: Array
    axis: Array  # of spin, to the left
    twist: tuple[float, float] = (0.0, 0.0)  # of the cross beam, left arm up, and its derivative by the travel

    @property
    def ratio(self) -> float:
        """Change of the length of the spring while both wheels rise, per travel."""
        return sum(self.ratios)


@dataclass(frozen=True, eq=False)
class Now:
    lift: float  # loads less weights
    moment: Array  # of both about the origin, in axes of the body
    push: tuple[float, ...]  # what is left of the virtual work per travel, of each corner
    load: tuple[float, ...]
    centre: Array
    contact: Array
    mass: float
    torsion: tuple[float, ...] = ()  # what is left of the torque about the axis of a flexible frame


@dataclass(frozen=True, eq=False)
class Part:
    """What acts on a body and on the wheels that it carries, in its axes; `up`: the vertical there."""

    masses: Sequence[tuple[float, Array]]
    corners: Sequence[Corner]
    pulls: Sequence[Pull]
    up: Array

    def now(self, virtual_work: Sequence[float]) -> Now:
        masses, vertical = [*self.masses, *((m.mass, m.at) for c in self.corners for m in c.masses)], self.up
        loads, contact = [c.load for c in self.corners], [c.contact for c in self.corners]
        weight = sum(m for m, _ in masses) * GRAVITY
        moment = sum((cross(p, f * vertical) + c.moment for p, f, c in zip(contact, loads, self.corners)), np.zeros(3))
        moment = moment - sum((cross(position, m * GRAVITY * vertical) for m, position in masses), np.zeros(3))
        centre = sum((m * position for m, position in masses), np.zeros(3)) * GRAVITY / weight
        lift = sum(loads) - weight
        for hitch_load in self.pulls:
            lift -= hitch_load.load
            moment = moment - cross(hitch_load.at, hitch_load.load * vertical) + hitch_load.moment
        return Now(lift, moment, tuple(virtual_work), tuple(loads), centre, np.array(contact), weight / GRAVITY)


def joined(frame: FrameData, front: Now, rear: Now, twist: float, ups: tuple[Array, Array]) -> Now:
    """Both parts of a frame as one, in axes of the front part; `ups`: the vertical in axes of each part."""
    joint_moment = rear.moment - cross(frame.joint, rear.lift * ups[1])
    moment = front.moment + about_x(twist) @ joint_moment + cross(frame.joint, rear.lift * ups[0])
    mass = front.mass + rear.mass
    centre = (front.mass * front.centre + rear.mass * frame.turned(rear.centre, twist)) / mass
    contact = np.vstack([front.contact, frame.turned(rear.contact, twist)])
    torsion = (float(joint_moment[0]) - frame.stiffness * twist,)
    return Now(front.lift + rear.lift, moment, front.push, (*front.load, *rear.load), centre, contact, mass, torsion)
