"""Roads along a curved line: heights over the way u along it and the distance v to its left, as heights over x and y.

The line is made of straight pieces of one length, each with its heading, as in OpenCRG (ASAM 2020); cross-sections
stand at its points, square to the mean of both headings. It begins at x = u, y = 0 along x. Between points of a road
heights are straight; outside its edges and ends they stay those of the edge.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.errors import ModelError, warn

Array = np.ndarray[Any, Any]

MOST = 1_000_000  # heights of a ground, as they stand in generated programs
USUAL = 250_000  # heights at most, unless a spacing is asked for
SAME = 0.05  # m by which roads that meet may differ in height
COARSE = 1.5  # times the spacing of the file, past which it is said


class RoadLine:
    """A line of straight pieces: `headings` (rad) of the pieces, each `step` long, from x = `start` on."""

    def __init__(self, headings: Array, step: float, start: float) -> None:
        turned = np.unwrap(headings) - headings[0]
        self.step, self.headings = step, turned
        moves = step * np.column_stack([np.cos(turned), np.sin(turned)])
        self.points = np.vstack([[start, 0.0], [start, 0.0] + np.cumsum(moves, axis=0)])
        turns = np.zeros(len(self.points))
        turns[1:-1] = np.diff(turned)
        self.closed = bool(np.hypot(*(self.points[-1] - self.points[0])) < 0.5 * step)
        if self.closed:
            turns[0] = turns[-1] = np.remainder(turned[0] - turned[-1] + np.pi, 2 * np.pi) - np.pi
        self.turns = turns  # at the points

    def tightest(self, right: float, left: float) -> tuple[float, int]:
        """Length of the shortest piece of an edge over that of the line, and where it is."""
        bends = self.turns / self.step
        inside = 1 - np.where(bends > 0, bends * max(left, 0.0), bends * min(right, 0.0))
        worst = int(np.argmin(inside))
        return float(inside[worst]), worst

    def seen(self, places: Array) -> tuple[Array, Array]:
        """The way along the line (in pieces) and the distance to the left, of places."""
        from scipy.spatial import cKDTree

        near = cKDTree(self.points).query(places)[1]
        count = len(self.headings)
        best = [np.full(len(places), np.inf), np.zeros(len(places)), np.zeros(len(places))]
        for piece in (near - 1, near):
            k = piece % count if self.closed else np.clip(piece, 0, count - 1)
            e = np.column_stack([np.cos(self.headings[k]), np.sin(self.headings[k])])
            away = places - self.points[k]
            along, left = (away * e).sum(1), e[:, 0] * away[:, 1] - e[:, 1] * away[:, 0]
            first, last = left * np.tan(self.turns[k] / 2), self.step - left * np.tan(self.turns[k + 1] / 2)
            share = (along - first) / np.where(last > first, last - first, np.inf)
            missed = np.abs(share - np.clip(share, 0.0, 1.0))
            better = missed < best[0]
            for into, value in zip(best, (missed, k + np.clip(share, 0.0, 1.0), left), strict=True):
                into[better] = value[better]
        return best[1], best[2]


def spread(
    where: str, line: RoadLine, v: Array, heights: Array, spacing: tuple[float, float] | None
) -> tuple[Array, Array, Array]:
    """x, y and heights of a road whose `heights` stand at all points of the line and all distances `v`."""
    inside, worst = line.tightest(float(v[0]), float(v[-1]))
    if inside <= 0:
        x, y = line.points[worst]
        raise ModelError(
            f"{where}: at x = {x:.4g}, y = {y:.4g} its reference line bends with a radius of "
            f"{abs(line.step / line.turns[worst]):.4g} m, within its own width from v = {v[0]:g} to {v[-1]:g}"
        )
    _one_height(where, line, v, heights)
    low, high = line.points.min(axis=0) - np.abs(v).max(), line.points.max(axis=0) + np.abs(v).max()
    if spacing is None:
        own = min(line.step, float(np.diff(v).min()))
        even = max(own, float(np.sqrt(np.prod(high - low) / USUAL)))
        if even > COARSE * own:
            warn(f"{where}: its points stand every {own:.3g} m; the ground over x and y has one every {even:.3g} m. "
                 "Give spacing= for another.")  # fmt: skip
        spacing = (even, even)
    count = float(np.prod((high - low) / spacing))
    if count > MOST:
        raise ModelError(f"{where}: with spacing={spacing} it has {count:.3g} heights, more than {MOST}")
    axes = [np.arange(a, b + d, d) for a, b, d in zip(low, high, spacing, strict=True)]
    places = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    along, left = line.seen(places)
    i = np.minimum(along.astype(int), len(heights) - 2)
    f = along - i
    j = np.clip(np.searchsorted(v, left, side="right") - 1, 0, len(v) - 2)
    g = np.clip((left - v[j]) / (v[j + 1] - v[j]), 0.0, 1.0)
    found = (1 - f) * ((1 - g) * heights[i, j] + g * heights[i, j + 1])
    found += f * ((1 - g) * heights[i + 1, j] + g * heights[i + 1, j + 1])
    return axes[0], axes[1], found.reshape(len(axes[0]), len(axes[1]))


def _one_height(where: str, line: RoadLine, v: Array, heights: Array) -> None:
    """Rejects roads that cross themselves at another height: ground over x and y has one."""
    from scipy.spatial import cKDTree

    wide = float(v[-1] - v[0])
    every = max(int(wide / 4 / line.step), 1)
    points, middle = line.points[::every], heights[::every].mean(axis=1)
    pairs = cKDTree(points).query_pairs(wide, output_type="ndarray")
    apart = np.abs(pairs[:, 0] - pairs[:, 1])
    if line.closed:
        apart = np.minimum(apart, len(points) - apart)
    pairs = pairs[apart * every * line.step > 2 * wide + 2 * every * line.step]
    if not len(pairs):
        return
    across = float(np.abs(np.diff(heights, axis=1)).sum(axis=1).max())
    along = float(np.abs(np.diff(heights.mean(axis=1))).max()) / line.step * wide
    differ = np.abs(middle[pairs[:, 0]] - middle[pairs[:, 1]])
    worst = int(np.argmax(differ))
    if differ[worst] > SAME + across + along:
        x, y = points[pairs[worst, 0]]
        raise ModelError(
            f"{where}: near x = {x:.4g}, y = {y:.4g} the road crosses itself, {differ[worst]:.3g} m higher; ground "
            "over x and y has one height"
        )
