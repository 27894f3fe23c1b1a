"""Gimbal lock: the first and the last axis of three rotations lie on each other, and the rates of
their angles are not determined. States near it have rates without bound; a run that passes through
it is not to be trusted from then on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bellcrank.core.numeric.tuning import ASSEMBLY
from bellcrank.model.mechanism import Mechanism

NEAR = 1e-3  # sine of the angle between the axes, below which rates are thousands of times the spin
STILL = 1e-9  # rad in a step: an angle that stays where it is
INSTEAD = "choose another order of rotations, or rotate='euler-parameters'"
ELSEWHERE = f"Start from a slightly different angle, {INSTEAD}"


@dataclass(frozen=True)
class GimbalLock:
    """A body in gimbal lock: how it is reported, and the time (s)."""

    text: str
    time: float = 0.0


def gimbal_lock_messages(mechanism: Mechanism, q: Sequence[float] | np.ndarray) -> list[str]:
    """The bodies that are in gimbal lock at coordinates in equation units, in words; [] if none
    is."""
    return [
        f"body '{body.name}' is in gimbal lock at {angle.name} = {float(q[index]):.6g} rad"
        for body, angle, index, lock_angle in mechanism.gimbal_locks
        if abs(math.sin(q[index] - lock_angle)) < ASSEMBLY.locked
    ]


def move_off_gimbal_lock(mechanism: Mechanism, q: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Coordinates whose free angles are out of gimbal lock."""
    shifted = q.copy()
    for _, _, index, lock_angle in mechanism.gimbal_locks:
        if free[index] and abs(math.sin(q[index] - lock_angle)) < ASSEMBLY.locked:
            shifted[index] += ASSEMBLY.nudge
    return shifted


def find_gimbal_locks(
    mechanism: Mechanism, times: np.ndarray, rows: np.ndarray
) -> list[GimbalLock]:
    """Where a run went through gimbal lock first; rows hold the coordinates in equation units.

    A body that turns about its middle axis alone goes through unharmed: its other angles stay where
    they are.
    """
    locks: list[GimbalLock] = []
    for body, angle, index, lock_angle in mechanism.gimbal_locks:
        sines = np.sin(rows[:, index] - lock_angle)
        is_near_lock = (sines[:-1] * sines[1:] < 0) | (np.abs(sines[1:]) < NEAR)
        if not is_near_lock.any():
            continue
        other_rotation = np.abs(np.diff(rows[:, [index - 1, index + 1]], axis=0)).max(
            axis=1, initial=0.0
        )
        through = np.flatnonzero(is_near_lock & (other_rotation > STILL))
        if len(through):
            locks.append(
                GimbalLock(
                    f"gimbal lock of body '{body.name}' ({angle.name})",
                    float(times[through[0] + 1]),
                )
            )
    return locks
