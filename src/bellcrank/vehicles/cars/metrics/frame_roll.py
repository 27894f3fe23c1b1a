"""Roll of a car on a frame that twists, by hand formulas: roll angles of both parts and their roll
moments.

Each part rolls about the roll centre of its axles, on their roll stiffness k and on the frame, k_t.
Lateral forces of the axles follow from the balance of yaw: where a part has more mass than its
axles carry, the frame transfers the rest S at the height h_t of its axis. With the heights h of the
mass centres and h_0 of the roll centres, the moments per lateral acceleration are a_f = m_f (h_f -
h_0f) - S (h_t - h_0f) and a_r = m_r (h_r - h_0r) + S (h_t - h_0r), and

    (k_f + k_t - g a_f) phi_f - k_t phi_r = a_f ay,
    -k_t phi_f + (k_r + k_t - g a_r) phi_r = a_r ay.

For a stiff frame both angles are those of the rigid car. Compare Milliken & Milliken, Race Car
Vehicle Dynamics (1995), ch. 18, and Sampson & Cebon, Vehicle System Dynamics 40 (2003), 255-284.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.cars.design.frame_data import FrameData


@dataclass(frozen=True)
class RollSupport:
    """The axles of a part: x at which they act as one (m), roll stiffness (N m/rad), height of the
    roll centre (m)."""

    x: float
    stiffness: float
    roll_centre: float


@dataclass(frozen=True)
class FlexibleRoll:
    """Roll angles per lateral acceleration, rad s2/m, and the part of the roll moments of the
    springs in front."""

    front: float
    rear: float
    front_moment: float


def flexible_roll(
    frame: FrameData, height: float, front: RollSupport, rear: RollSupport
) -> FlexibleRoll:
    """The roll of both parts; `height`: of the origin of the car's axes above the ground."""
    body_parts = frame.front, frame.rear
    mass = body_parts[0].mass + body_parts[1].mass
    x = sum(p.mass * float(p.cg[0]) for p in body_parts) / mass
    shared = body_parts[0].mass - mass * (x - rear.x) / (front.x - rear.x)
    arms = []
    for part, support, sign in zip(body_parts, (front, rear), (-1.0, 1.0), strict=True):
        mass_arm, axis = (
            height + float(z) - support.roll_centre for z in (part.cg[2], frame.joint[2])
        )
        arms.append(part.mass * mass_arm + sign * shared * axis)
    k, (a, b) = frame.stiffness, arms
    K = np.array([[front.stiffness + k - GRAVITY * a, -k], [-k, rear.stiffness + k - GRAVITY * b]])
    if not (np.linalg.eigvalsh(K) > 0).all():
        return FlexibleRoll(math.inf, math.inf, math.nan)
    angles = np.linalg.solve(K, arms)
    moments = angles * [front.stiffness, rear.stiffness]
    return FlexibleRoll(float(angles[0]), float(angles[1]), float(moments[0] / moments.sum()))
