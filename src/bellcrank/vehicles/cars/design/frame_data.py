"""A flexible frame as data: the sprung mass as a front and a rear part that turn against each other
about one axis.

In: the sections of a file, x of both axles as drawn. Out: `FrameData`: the axis of torsion, its
stiffness and damping, both parts with the loads that lie on them. Together the parts have exactly
the mass, mass centre and inertia of the sprung mass.

A body is physical if its second moments P = integral of r r' dm = tr(I)/2 E - I are not negative
about any axis. The front part that a file does not give has the mass that the body has on the front
axle, by the lever rule. The mass centres of both parts lie ahead of and behind that of the body, so
far apart that they make three quarters of its second moment along the car, as those of a uniform
beam that is cut through. What remains is divided as the mass is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bellcrank.vehicles.cars.design.mass_properties import (
    Array,
    RigidMassProperties,
    add_point_loads,
    body_mass_properties,
)
from bellcrank.vehicles.cars.design.trailer_data import lifted_masses
from bellcrank.vehicles.cars.keys.car_keys import CarFileKeys
from bellcrank.vehicles.cars.keys.frame_records import FrameKeys, FramePartKeys
from bellcrank.vehicles.file_keys import ProblemList

APART = 0.75  # of the second moment of the body along the car, made by the distance of its parts
DAMPED = 0.02  # damping ratio of the torsion of the free frame, of a file that gives none
ROUNDING = 1e-9  # of the second moments, by which they may be negative


@dataclass(frozen=True, eq=False)
class FrameData:
    """A frame that twists: a point of its axis, stiffness (N m/rad), damping (N m s/rad), both
    parts with loads."""

    joint: Array
    stiffness: float
    damping: float
    front: RigidMassProperties
    rear: RigidMassProperties

    def body_part_at(self, x: float) -> str:
        """The part on which something lies: "front" or "rear"."""
        return "front" if x >= self.joint[0] else "rear"

    @property
    def torsion_frequency(self) -> float:
        """Of the torsion of the free sprung mass, undamped, Hz."""
        return _torsion_frequency(self.stiffness, self.front, self.rear, self.joint)

    @property
    def front_mass_fraction(self) -> float:
        """Mass of the front part over that of both."""
        return self.front.mass / (self.front.mass + self.rear.mass)

    def rotate_to_front_part(self, position: Array, twist: float) -> Array:
        """A point of the rear part, or of one row each, in the axes of the front part."""
        return np.asarray(self.joint + (position - self.joint) @ rotation_about_x(twist).T)


def rotation_about_x(angle: float) -> Array:
    """Rotation about the axis ahead."""
    s, c = math.sin(angle), math.cos(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def make_frame_data(
    sections: CarFileKeys, x_f: float, x_r: float, problems: ProblemList
) -> FrameData | None:
    """The frame of a car whose front and rear wheels are drawn at x = `x_f` and `x_r` (m); what is
    wrong is added to `problems`."""
    frame_keys, problem_count = sections.frame, len(problems)
    if frame_keys is None:
        return None
    body = body_mass_properties(sections.body)
    joint = np.array([(x_f + x_r) / 2, 0.0, body.cg[2]] if frame_keys.at is None else frame_keys.at)
    problems.extend(_frame_problems(sections, frame_keys, joint, x_f, x_r))
    if not _is_physical_inertia(frame_second_moments(body.inertia)):
        problems.append(
            f"frame: the inertia of the body is not physical, so that it cannot be split: with "
            f"{_format_inertia(body)} one "
            "moment is larger than the sum of both others, or the product of inertia is too large."
        )
    if len(problems) > problem_count:
        return None
    front = _front_part(frame_keys.front, body, x_f, x_r, problems)
    rear = None if front is None else _rear_part(body, front, problems)
    if front is None or rear is None:
        return None
    loads = [*(sections.loads or {}).values(), *lifted_masses(sections.axles)]
    front = add_point_loads(front, (x for x in loads if x.at[0] >= joint[0]))
    rear = add_point_loads(rear, (x for x in loads if x.at[0] < joint[0]))
    damping = frame_keys.torsion_damping
    if damping is None:
        ratio = DAMPED if frame_keys.damping_ratio is None else frame_keys.damping_ratio
        w = 2 * math.pi * _torsion_frequency(frame_keys.torsion_stiffness, front, rear, joint)
        damping = 2 * ratio * frame_keys.torsion_stiffness / w
    return FrameData(joint, frame_keys.torsion_stiffness, damping, front, rear)


def frame_second_moments(inertia: Array) -> Array:
    """Integrals of r r' dm from an inertia matrix; the inertia matrix from these integrals is
    `inertia_matrix`."""
    return np.asarray(np.trace(inertia) / 2 * np.eye(3) - inertia)


def inertia_matrix(moments: Array) -> Array:
    return np.asarray(np.trace(moments) * np.eye(3) - moments)


def _frame_problems(
    sections: CarFileKeys, frame_keys: FrameKeys, joint: Array, x_f: float, x_r: float
) -> Iterable[str]:
    if frame_keys.torsion_damping is not None and frame_keys.damping_ratio is not None:
        yield "frame: give either torsion_damping or damping_ratio."
    if not x_r < joint[0] < x_f:
        yield (
            f"frame.at: the joint lies at x = {joint[0]:.4g} m, but it must lie between the "
            f"rear axle at "
            f"{x_r:.4g} m and the front axle at {x_f:.4g} m; x points forward."
        )
    if joint[1] != 0:
        yield (
            f"frame.at: y = {joint[1]:g} m must be 0: the axis of torsion lies in the middle of "
            f"the car."
        )
    for name, axle in (sections.axles or {}).items():
        on_front = axle.at[0] >= joint[0]
        if on_front and axle.equalisation and not axle.lifted:
            yield (
                f"axles.{name}.equalisation: the axle lies on the front part of the frame, "
                f"and the rear axle, with "
                "which it would share its load, on the rear part."
            )
    for i, (name, trailer) in enumerate((sections.trailers or {}).items()):
        if (
            trailer.towed_by == "car" or (trailer.towed_by is None and i == 0)
        ) and trailer.hitch.at[0] >= joint[0]:
            yield (
                f"trailers.{name}.hitch.at: x = {trailer.hitch.at[0]:.4g} m must lie behind "
                f"the joint of the frame "
                f"at {joint[0]:.4g} m (frame.at): hitches are on its rear part."
            )


def _front_part(
    part_keys: FramePartKeys | None,
    body: RigidMassProperties,
    x_f: float,
    x_r: float,
    problems: ProblemList,
) -> RigidMassProperties | None:
    if part_keys is None:
        mass_fraction = (float(body.cg[0]) - x_r) / (x_f - x_r)
        if not 0 < mass_fraction < 1:
            return problems.add_problem(
                f"frame: the mass centre of the body, at x = {body.cg[0]:.4g} m, does not "
                f"lie between the axles at "
                f"{x_r:.4g} m and {x_f:.4g} m, so that there is no default split; give its "
                f"front part as "
                "frame.front."
            )
        P = frame_second_moments(body.inertia)
        second_moment = 1.0 / float(np.linalg.inv(P)[0, 0])
        distance = math.sqrt(
            APART * second_moment / (body.mass * mass_fraction * (1 - mass_fraction))
        )
        P[0, 0] -= APART * second_moment
        centre = body.cg + [(1 - mass_fraction) * distance, 0.0, 0.0]
        return RigidMassProperties(
            mass_fraction * body.mass, centre, inertia_matrix(mass_fraction * P)
        )
    part = body_mass_properties(part_keys)
    if not part.mass < body.mass:
        return problems.add_problem(
            f"frame.front.mass = {part.mass:g} kg must be less than body.mass = {body.mass:g} kg."
        )
    if not (
        (np.diag(part.inertia) > 0).all()
        and _is_physical_inertia(frame_second_moments(part.inertia))
    ):
        return problems.add_problem(
            f"frame.front.inertia is not physical: with {_format_inertia(part)} a moment is "
            f"not positive, one is "
            f"larger than "
            "the sum of both others, or the product of inertia is too large."
        )
    return part


def _rear_part(
    body: RigidMassProperties, front: RigidMassProperties, problems: ProblemList
) -> RigidMassProperties | None:
    """What the front part leaves of the body."""
    mass = body.mass - front.mass
    cg = (body.mass * body.cg - front.mass * front.cg) / mass
    cg_offset = front.cg - cg
    reduced = front.mass * mass / body.mass
    P = (
        frame_second_moments(body.inertia)
        - frame_second_moments(front.inertia)
        - reduced * np.outer(cg_offset, cg_offset)
    )
    rear = RigidMassProperties(mass, cg, inertia_matrix(P))
    if _is_physical_inertia(P, frame_second_moments(body.inertia)):
        return rear
    return problems.add_problem(
        f"frame.front leaves a rear part that is not physical: {mass:.4g} kg at "
        f"({', '.join(f'{x:.4g}' for x in cg)}) "
        f"m with {_format_inertia(rear)}. Its mass centre and inertia follow from those of "
        f"the body; move the mass "
        f"centre of "
        "the front part or reduce its inertia."
    )


def _is_physical_inertia(moments: Array, reference: Array | None = None) -> bool:
    scale = moments if reference is None else reference
    return bool(np.linalg.eigvalsh(moments)[0] > -ROUNDING * np.trace(scale))


def _format_inertia(body: RigidMassProperties) -> str:
    roll, pitch, yaw = np.diag(body.inertia)
    return f"roll {roll:.4g}, pitch {pitch:.4g}, yaw {yaw:.4g}, xz {body.inertia[0, 2]:.4g} kg m2"


def _torsion_frequency(
    stiffness: float, front: RigidMassProperties, rear: RigidMassProperties, joint: Array
) -> float:
    """Of both parts without suspensions, free in space, Hz. Speeds: of the joint, of the front
    part, of the torsion."""
    M = np.zeros((7, 7))
    for part, torsion in ((front, 0.0), (rear, 1.0)):
        x, y, z = part.cg - joint
        rotation_partials = np.hstack([np.zeros((3, 3)), np.eye(3), [[torsion], [0.0], [0.0]]])
        arm = np.array(
            [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
        )  # velocity of the mass centre per turn
        velocity_partials = np.hstack([np.eye(3), np.zeros((3, 4))]) + arm @ rotation_partials
        M += (
            part.mass * velocity_partials.T @ velocity_partials
            + rotation_partials.T @ part.inertia @ rotation_partials
        )
    return math.sqrt(stiffness * float(np.linalg.inv(M)[6, 6])) / (2 * math.pi)
