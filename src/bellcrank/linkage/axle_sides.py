"""The two sides of an axle that one linkage carries: names of its hard points and bodies, movements
of its wheels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.linkage.pose import Pose

Array = np.ndarray[Any, Any]


def name_on_side(name: str, side: int) -> str:
    """The name on the left (1) or right (-1) of what is called `name` on the left; `spring_left`,
    `spring_right`."""
    return name if side > 0 else name.replace("left", "right")


def beam_twist_angle(pose: Pose) -> float:
    """Twist of the cross beam of a twist beam, left arm up positive, rad."""
    z, right_rotation = pose.rotation[:, 2], pose.link["right_arm"].rotation
    return math.atan2(float(right_rotation[:, 0] @ z), float(right_rotation[:, 2] @ z))


@dataclass(frozen=True)
class AxleInputRates:
    """Rates of the two inputs of an axle, travel and roll, per travel of one of its wheels."""

    travel: float
    roll: float

    def per_wheel_travel(self, by_travel: Array, by_roll: Array | None) -> Array:
        """A derivative by the travel of that wheel."""
        derivative: Array = (
            self.travel * by_travel + self.roll * by_roll if by_roll is not None else by_travel
        )
        return derivative


def axle_input_rates(pose: Pose, side: int) -> tuple[AxleInputRates, AxleInputRates]:
    """Rates per travel of the wheel on a side, and of the other one: z = (zl + zr)/2, sin(roll) =
    (zl - zr)/track."""
    assert pose.chain is not None and pose.rack is not None
    share = side / (pose.chain.track * math.cos(float(pose.rack)))
    return AxleInputRates(0.5, share), AxleInputRates(0.5, -share)
