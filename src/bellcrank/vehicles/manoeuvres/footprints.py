"""Units of a vehicle from above: rectangles, and where they are in a run.

The rectangle of the car is its length and width about the middle of the axles, that of a trailer
its body as drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.vehicles.cars.design.car_data import CarData
from bellcrank.vehicles.cars.statics.static_equilibrium import CarStatics

Array = np.ndarray[Any, Any]
POINTS = 9  # of each long side


@dataclass(frozen=True)
class Footprint:
    """A unit from above, m. Its middle is ahead and to the left of the point whose x, y and yaw are
    in `channels`."""

    name: str
    length: float
    width: float
    ahead: float
    left: float = 0.0
    channels: tuple[str, str, str] = ("x", "y", "yaw")

    def pose(self, run: Any) -> tuple[Array, Array, Array]:
        """x and y (m) of that point and yaw (rad) over a run."""
        x, y, yaw = (run[channel] for channel in self.channels)
        return x, y, np.radians(yaw)

    def corners(self, run: Any) -> Array:
        """(n, 4, 2): front left, front right, rear right, rear left on the ground, m."""
        return self._points_over_run(
            run, np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])
        )

    def sides(self, run: Any) -> Array:
        """(n, 2*POINTS, 2): points of both long sides on the ground, m."""
        along = np.linspace(-1.0, 1.0, POINTS)
        return self._points_over_run(
            run,
            np.concatenate([np.stack([along, np.full(POINTS, side)], 1) for side in (1.0, -1.0)]),
        )

    def _points_over_run(self, run: Any, fractions: Array) -> Array:
        """Points, given as fractions of half the length and width."""
        x, y, yaw = self.pose(run)
        forward, lateral = (
            fractions * [self.length / 2, self.width / 2] + [self.ahead, self.left]
        ).T
        c, s = np.cos(yaw)[:, None], np.sin(yaw)[:, None]
        return np.stack(
            [x[:, None] + forward * c - lateral * s, y[:, None] + forward * s + lateral * c], 2
        )


def vehicle_footprints(data: CarData, statics: CarStatics, name: str = "car") -> list[Footprint]:
    """Outlines of the car, first, by the given name, and of its trailers."""
    front, rear, cg, body = (
        statics.contact_points[0][0],
        statics.contact_points[2][0],
        data.sprung.cg,
        data.sections.body,
    )
    outlines = [
        Footprint(name, body.length, body.width, float((front + rear) / 2 - cg[0]), -float(cg[1]))
    ]
    for trailer in data.trailers:
        axle, record = trailer.axles[0], trailer.record
        channels = (f"{axle.full_name}_x", f"{axle.full_name}_y", f"{trailer.name}.yaw")
        offset = record.body_centre_x - axle.record.at[0]
        outlines.append(
            Footprint(trailer.name, record.length, record.width, offset, channels=channels)
        )
    return outlines
