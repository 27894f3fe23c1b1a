"""Steady cornering: roll angle, steering angle and steering torque over lateral acceleration, at
one speed.

Each point is a steady turn of the model: speed and yaw rate are given, drive and steering torque
are found with the motion. Points follow each other from straight running on, each from the one
before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.analysis.equilibrium import Equilibrium
from bellcrank.analysis.plots import draw_panels
from bellcrank.analysis.tables import SavableTable
from bellcrank.core.errors import RunError

FURTHEST = 1.5  # m/s2 of lateral acceleration, from one turn to the next
SMALLEST = 1 / 8  # of that, where turns are hard to find
COLUMNS = (
    ("lateral acceleration", "m/s2", "lateral_acceleration"),
    ("radius", "m", "radius"),
    ("roll", "deg", "roll"),
    ("steer", "deg", "steer"),
    ("steering torque", "N-m", "steering_torque"),
    ("drive torque", "N-m", "drive_torque"),
    ("front slip angle", "deg", "front.tyre.alpha"),
    ("rear slip angle", "deg", "rear.tyre.alpha"),
)
HEAD = tuple(f"{words} ({unit})" for words, unit, _ in COLUMNS)


@dataclass(frozen=True, eq=False)
class Cornering(SavableTable):
    """Steady turns of a motorcycle at one speed; `plot` draws roll, steering angle and torque over
    them.

    Attributes
    ----------
    name : str
        Name of the motorcycle.
    speed : float
        Speed in m/s.
    lateral_acceleration : tuple of float
        Lateral accelerations in m/s2, positive to the left.
    turns : tuple of Equilibrium
        The steady motion at each.
    problems : tuple of str
        Turns that were not found, and why.

    Examples
    --------
    >>> import bellcrank as bc
    >>> found = bc.vehicles.Cornering(
    ...     "bicycle", speed=20.0, lateral_acceleration=(2.0, 4.0), turns=()
    ... )
    >>> found["radius"].tolist()
    [200.0, 100.0]
    """

    name: str
    speed: float
    lateral_acceleration: tuple[float, ...]
    turns: tuple[Equilibrium, ...]
    problems: tuple[str, ...] = ()

    def __getitem__(self, channel: str) -> np.ndarray:
        """An output over the turns, by name; angles in deg."""
        if channel == "lateral_acceleration":
            return np.array(self.lateral_acceleration)
        if channel == "radius":
            with np.errstate(divide="ignore"):
                return self.speed**2 / np.array(self.lateral_acceleration)
        values = np.array([state[channel] for state in self.turns])
        return np.degrees(values) if channel.endswith((".alpha", ".gamma")) else values

    @property
    def _title(self) -> str:
        return f"{self.name}: steady turns at {self.speed:g} m/s"

    def _table(self) -> tuple[Sequence[str], list[list[float]]]:
        return HEAD, np.column_stack([self[channel] for _, _, channel in COLUMNS]).tolist()

    def _lines_after_table(self) -> list[str]:
        return list(self.problems)

    def _draw(self, path: str | Path | None) -> Any:
        panels = [
            (f"{label} ({unit})", {label: self[channel]}) for label, unit, channel in COLUMNS[2:5]
        ]
        return draw_panels(self._title, HEAD[0], self["lateral_acceleration"], panels, path)


def straight_running_state(sim: Any, start: dict[str, float], speed: float) -> Equilibrium:
    """Steady straight running at a speed (m/s), by the drive torque that it takes."""
    equilibrium: Equilibrium = sim.equilibrium(at=start, free="drive", targets={"speed": speed})
    return equilibrium


def steady_turn_state(sim: Any, state: Equilibrium, speed: float, ay: float) -> Equilibrium:
    """The steady turn with a lateral acceleration (m/s2), in steps from a motion near it; where one
    fails, in smaller ones."""
    yaw_rate, target = state["yaw_rate"], float(np.degrees(ay / speed))
    furthest = float(np.degrees(FURTHEST / speed))
    step = furthest
    torque = state["steering_torque"]
    while yaw_rate != target:
        count = max(1, int(np.ceil(abs(target - yaw_rate) / step)))
        rate = target if count == 1 else yaw_rate + (target - yaw_rate) / count
        try:
            state = sim.equilibrium(
                at=dict(state.initial),
                inputs={"drive": state["drive"], "steer_torque": torque},
                free=("drive", "steer_torque"),
                targets={"speed": speed, "yaw_rate": rate},
            )
        except RunError as error:
            step = abs(rate - yaw_rate) / 2
            if step < furthest * SMALLEST:
                raise RunError(
                    f"no steady turn at {speed:g} m/s with {np.radians(rate) * speed:.3g} "
                    f"m/s2 was found: {error}"
                ) from None
        else:
            torque, yaw_rate = state["steer_torque"], rate
    return state
