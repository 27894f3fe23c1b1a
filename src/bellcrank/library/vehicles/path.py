"""Paths to follow: a line in the plane by its arc length, as cubic tables; it goes on straight at both ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bellcrank.errors import ModelError

STEP = 1.0  # m between the points of the tables
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Path:
    """A line through points: arc length, x, y and heading (rad) of each."""

    s: tuple[float, ...]
    x: tuple[float, ...]
    y: tuple[float, ...]
    heading: tuple[float, ...]

    @classmethod
    def through(cls, x: Any, y: Any) -> Path:
        """A smooth line through points (m), cubic over the length of their chords."""
        from scipy.interpolate import CubicSpline

        px, py = np.asarray(x, float), np.asarray(y, float)
        if px.ndim != 1 or px.shape != py.shape or len(px) < 3 or not np.isfinite(px).all() & np.isfinite(py).all():
            raise ModelError("a path needs x and y of at least three points, the same count of each")
        chords = np.hypot(np.diff(px), np.diff(py))
        if not (chords > 0).all():
            raise ModelError(f"two points of the path lie at the same place, near point {int(np.argmin(chords))}")
        over = np.concatenate([[0.0], np.cumsum(chords)])
        line = CubicSpline(over, np.column_stack([px, py]))
        fine = np.linspace(0.0, over[-1], max(int(8 * over[-1] / STEP), 16))
        slope = line(fine, 1)
        s = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line(fine), axis=0).T))])
        heading = np.unwrap(np.arctan2(slope[:, 1], slope[:, 0]))
        at = np.linspace(0.0, s[-1], max(int(np.ceil(s[-1] / STEP)) + 1, 4))
        values = (np.interp(at, s, c) for c in (*line(fine).T, heading))
        return cls(*(tuple(map(float, v)) for v in (at, *values)))

    @property
    def length(self) -> float:
        return self.s[-1]

    def nearest(self, x: float, y: float) -> float:
        """The station nearest to a place."""
        fine = np.linspace(0.0, self.length, 20 * len(self.s))
        px, py = (np.interp(fine, self.s, v) for v in (self.x, self.y))
        return float(fine[int(np.argmin((px - x) ** 2 + (py - y) ** 2))])


def lane_change(corners: Sequence[tuple[float, float]], before: float = 500.0, after: float = 500.0) -> Path:
    """Straight, then quintic steps from corner to corner (x, y), then straight; from `before` behind the origin to
    `after` beyond the last corner, in m."""
    straight = corners[0][0] + before
    xs, ys = [np.linspace(-before, corners[0][0], max(int(straight), 2))], []
    ys.append(np.full(len(xs[0]), corners[0][1]))
    for (x0, y0), (x1, y1) in pairwise(corners):
        share = np.linspace(0.0, 1.0, max(int(x1 - x0), 4) + 1)[1:]
        xs.append(x0 + share * (x1 - x0))
        ys.append(y0 + (y1 - y0) * share**3 * (10 - 15 * share + 6 * share**2))
    x_end, y_end = corners[-1]
    xs.append(np.linspace(x_end, x_end + after, max(int(after), 2))[1:])
    ys.append(np.full(len(xs[-1]), y_end))
    return Path.through(np.concatenate(xs), np.concatenate(ys))


def circle(radius: float, straight: float = 30.0, turns: float = 1.0) -> Path:
    """Straight ahead, then round to the left (radius > 0) or right, the curvature growing over the second half of the
    straight part."""
    size = abs(radius)
    ds = 0.25
    s = np.arange(0.0, straight + 2 * np.pi * size * turns, ds)
    bend = np.clip((s - straight / 2) / (straight / 2), 0.0, 1.0)
    heading = np.cumsum(bend) * ds / radius
    x, y = np.cumsum(np.cos(heading)) * ds, np.cumsum(np.sin(heading)) * ds
    return Path.through(x[::4], y[::4])
