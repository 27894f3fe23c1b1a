"""A flexible frame as data: the sprung mass as a front and a rear part that turn against each other about one axis.

In: the sections of a file, x of both axles as drawn. Out: `FrameData`: the axis of torsion, its stiffness and damping,
both parts with the loads that lie on them. Together the parts have exactly the mass, mass centre and inertia of the
sprung mass.

A body is physical if its second moments P = integral of r r' dm = tr(I)/2 E - I are not negative about any axis. The
front part that a file does not give has the mass that the body has on the front axle, by the lever rule. The mass
centres of both parts lie ahead of and behind that of the body, so far apart that they make three quarters of its
second moment along the car, as those of a uniform beam that is cut through. What remains is divided as the mass is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bellcrank.library.vehicles.frame_records import Frame, FramePart
from bellcrank.library.vehicles.keys import Problems
from bellcrank.library.vehicles.records import Sections
from bellcrank.library.vehicles.sprung import Array, Sprung, given_body, with_loads
from bellcrank.library.vehicles.trailers import lifted_masses

APART = 0.75  # of the second moment of the body along the car, made by the distance of its parts
DAMPED = 0.02  # damping ratio of the torsion of the free frame, of a file that gives none
ROUNDING = 1e-9  # of the second moments, by which they may be negative


@dataclass(frozen=True, eq=False)
class FrameData:
    """A frame that twists: a point of its axis, stiffness (N m/rad), damping (N m s/rad), both parts with loads."""

    joint: Array
    stiffness: float
    damping: float
    front: Sprung
    rear: Sprung

    def part(self, x: float) -> str:
        """The part on which something lies: "front" or "rear"."""
        return "front" if x >= self.joint[0] else "rear"

    @property
    def frequency(self) -> float:
        """Of the torsion of the free sprung mass, undamped, Hz."""
        return _frequency(self.stiffness, self.front, self.rear, self.joint)

    @property
    def fraction(self) -> float:
        """Mass of the front part over that of both."""
        return self.front.mass / (self.front.mass + self.rear.mass)

    def turned(self, at: Array, twist: float) -> Array:
        """A point of the rear part, or of one row each, in the axes of the front part."""
        return np.asarray(self.joint + (at - self.joint) @ about_x(twist).T)


def about_x(angle: float) -> Array:
    """Rotation about the axis ahead."""
    s, c = math.sin(angle), math.cos(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def fit_frame(sections: Sections, ahead: float, behind: float, problems: Problems) -> FrameData | None:
    """The frame of a car whose front and rear wheels are drawn at x = `ahead` and `behind` (m); what is wrong is added
    to `problems`."""
    given, before = sections.frame, len(problems)
    if given is None:
        return None
    body = given_body(sections.body)
    joint = np.array([(ahead + behind) / 2, 0.0, body.cg[2]] if given.at is None else given.at)
    problems.extend(_frame_problems(sections, given, joint, ahead, behind))
    if not _physical(second_moments(body.inertia)):
        problems.append(
            f"frame: the inertia of the body is not physical, so that it cannot be split: with {_moments(body)} one "
            "moment is larger than the sum of both others, or the product of inertia is too large."
        )
    if len(problems) > before:
        return None
    front = _front_part(given.front, body, ahead, behind, problems)
    rear = None if front is None else _rear_part(body, front, problems)
    if front is None or rear is None:
        return None
    loads = [*(sections.loads or {}).values(), *lifted_masses(sections.axles)]
    front = with_loads(front, (x for x in loads if x.at[0] >= joint[0]))
    rear = with_loads(rear, (x for x in loads if x.at[0] < joint[0]))
    damping = given.torsion_damping
    if damping is None:
        ratio = DAMPED if given.damping_ratio is None else given.damping_ratio
        w = 2 * math.pi * _frequency(given.torsion_stiffness, front, rear, joint)
        damping = 2 * ratio * given.torsion_stiffness / w
    return FrameData(joint, given.torsion_stiffness, damping, front, rear)


def second_moments(inertia: Array) -> Array:
    """Integrals of r r' dm from an inertia matrix; the inertia matrix from these integrals is `inertia_of`."""
    return np.asarray(np.trace(inertia) / 2 * np.eye(3) - inertia)


def inertia_of(moments: Array) -> Array:
    return np.asarray(np.trace(moments) * np.eye(3) - moments)


def _frame_problems(sections: Sections, given: Frame, joint: Array, ahead: float, behind: float) -> Iterable[str]:
    if given.torsion_damping is not None and given.damping_ratio is not None:
        yield "frame: give either torsion_damping or damping_ratio."
    if not behind < joint[0] < ahead:
        yield (f"frame.at: the joint lies at x = {joint[0]:.4g} m, but it must lie between the rear axle at "
               f"{behind:.4g} m and the front axle at {ahead:.4g} m; x points forward.")  # fmt: skip
    if joint[1] != 0:
        yield f"frame.at: y = {joint[1]:g} m must be 0: the axis of torsion lies in the middle of the car."
    for name, axle in (sections.axles or {}).items():
        on_front = axle.at[0] >= joint[0]
        if on_front and axle.equalisation and not axle.lifted:
            yield (f"axles.{name}.equalisation: the axle lies on the front part of the frame, and the rear axle, with "
                   "which it would share its load, on the rear part.")  # fmt: skip
    for i, (name, trailer) in enumerate((sections.trailers or {}).items()):
        if (trailer.towed_by == "car" or (trailer.towed_by is None and i == 0)) and trailer.hitch.at[0] >= joint[0]:
            yield (f"trailers.{name}.hitch.at: x = {trailer.hitch.at[0]:.4g} m must lie behind the joint of the frame "
                   f"at {joint[0]:.4g} m (frame.at): hitches are on its rear part.")  # fmt: skip


def _front_part(
    given: FramePart | None, body: Sprung, ahead: float, behind: float, problems: Problems
) -> Sprung | None:
    if given is None:
        share = (float(body.cg[0]) - behind) / (ahead - behind)
        if not 0 < share < 1:
            return problems.wrong(
                f"frame: the mass centre of the body, at x = {body.cg[0]:.4g} m, does not lie between the axles at "
                f"{behind:.4g} m and {ahead:.4g} m, so that there is no default split; give its front part as "
                "frame.front."
            )
        P = second_moments(body.inertia)
        along = 1.0 / float(np.linalg.inv(P)[0, 0])
        distance = math.sqrt(APART * along / (body.mass * share * (1 - share)))
        P[0, 0] -= APART * along
        centre = body.cg + [(1 - share) * distance, 0.0, 0.0]
        return Sprung(share * body.mass, centre, inertia_of(share * P))
    part = given_body(given)
    if not part.mass < body.mass:
        return problems.wrong(f"frame.front.mass = {part.mass:g} kg must be less than body.mass = {body.mass:g} kg.")
    if not ((np.diag(part.inertia) > 0).all() and _physical(second_moments(part.inertia))):
        return problems.wrong(
            f"frame.front.inertia is not physical: with {_moments(part)} a moment is not positive, one is larger than "
            "the sum of both others, or the product of inertia is too large."
        )
    return part


def _rear_part(body: Sprung, front: Sprung, problems: Problems) -> Sprung | None:
    """What the front part leaves of the body."""
    mass = body.mass - front.mass
    cg = (body.mass * body.cg - front.mass * front.cg) / mass
    apart = front.cg - cg
    reduced = front.mass * mass / body.mass
    P = second_moments(body.inertia) - second_moments(front.inertia) - reduced * np.outer(apart, apart)
    found = Sprung(mass, cg, inertia_of(P))
    if _physical(P, second_moments(body.inertia)):
        return found
    return problems.wrong(
        f"frame.front leaves a rear part that is not physical: {mass:.4g} kg at ({', '.join(f'{x:.4g}' for x in cg)}) "
        f"m with {_moments(found)}. Its mass centre and inertia follow from those of the body; move the mass centre of "
        "the front part or reduce its inertia."
    )


def _physical(moments: Array, of: Array | None = None) -> bool:
    whole = moments if of is None else of
    return bool(np.linalg.eigvalsh(moments)[0] > -ROUNDING * np.trace(whole))


def _moments(body: Sprung) -> str:
    roll, pitch, yaw = np.diag(body.inertia)
    return f"roll {roll:.4g}, pitch {pitch:.4g}, yaw {yaw:.4g}, xz {body.inertia[0, 2]:.4g} kg m2"


def _frequency(stiffness: float, front: Sprung, rear: Sprung, joint: Array) -> float:
    """Of both parts without suspensions, free in space, Hz. Speeds: of the joint, of the front part, of the torsion."""
    M = np.zeros((7, 7))
    for part, torsion in ((front, 0.0), (rear, 1.0)):
        x, y, z = part.cg - joint
        turns = np.hstack([np.zeros((3, 3)), np.eye(3), [[torsion], [0.0], [0.0]]])
        arm = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])  # velocity of the mass centre per turn
        moves = np.hstack([np.eye(3), np.zeros((3, 4))]) + arm @ turns
        M += part.mass * moves.T @ moves + turns.T @ part.inertia @ turns
    return math.sqrt(stiffness * float(np.linalg.inv(M)[6, 6])) / (2 * math.pi)
