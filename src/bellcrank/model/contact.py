"""Rigid wheels: inputs for what the ground exerts on one, outputs for what a run has to know of it, by its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

INPUTS = ("fx", "fz", "m")
OUTPUTS = ("x", "z", "vx", "vz", "spin", "ax", "az", "turn")


@dataclass(frozen=True)
class RigidContact:
    """A rigid wheel on the ground, as the description keeps it."""

    name: str
    radius: float
    terrain: Any
    restitution: tuple[float, float]
    turns: bool
    below: str  # what to do with a wheel that starts below ground
    resistance: float
