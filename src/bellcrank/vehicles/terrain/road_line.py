"""Roads along a curved line: heights over the way u along it and the distance v to its left, as
heights over x and y.

The line is made of straight pieces of one length, each with its heading, as in OpenCRG (ASAM 2020);
cross-sections stand at its points, square to the mean of both headings. It begins at x = u, y = 0
along x. Between points of a road heights are straight; outside its edges and ends they stay those
of the edge.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, issue_warning

Array = np.ndarray[Any, Any]

MOST = 1_000_000  # heights of a ground, as they stand in generated programs
USUAL = 250_000  # heights at most, unless a spacing is asked for
SAME = 0.05  # m by which roads that meet may differ in height
COARSE = 1.5  # times the spacing of the file, past which it is said


class RoadLine:
    """A line of straight pieces: `headings` (rad) of the pieces, each `step` long, from x = `start`
    on."""

    def __init__(self, headings: Array, step: float, start: float) -> None:
        relative_headings = np.unwrap(headings) - headings[0]
        self.step, self.headings = step, relative_headings
        displacements = step * np.column_stack(
            [np.cos(relative_headings), np.sin(relative_headings)]
        )
        self.points = np.vstack([[start, 0.0], [start, 0.0] + np.cumsum(displacements, axis=0)])
        heading_changes = np.zeros(len(self.points))
        heading_changes[1:-1] = np.diff(relative_headings)
        self.closed = bool(np.hypot(*(self.points[-1] - self.points[0])) < 0.5 * step)
        if self.closed:
            heading_changes[0] = heading_changes[-1] = (
                np.remainder(relative_headings[0] - relative_headings[-1] + np.pi, 2 * np.pi)
                - np.pi
            )
        self.turns = heading_changes  # at the points

    def tightest_edge(self, v_right: float, v_left: float) -> tuple[float, int]:
        """Length of the shortest piece of an edge over that of the line, and where it is."""
        curvatures = self.turns / self.step
        length_ratio = 1 - np.where(
            curvatures > 0, curvatures * max(v_left, 0.0), curvatures * min(v_right, 0.0)
        )
        tightest = int(np.argmin(length_ratio))
        return float(length_ratio[tightest]), tightest

    def line_coordinates(self, points: Array) -> tuple[Array, Array]:
        """The way along the line (in pieces) and the distance to the left, of places."""
        from scipy.spatial import cKDTree

        nearest = cKDTree(self.points).query(points)[1]
        count = len(self.headings)
        best = [np.full(len(points), np.inf), np.zeros(len(points)), np.zeros(len(points))]
        for candidate in (nearest - 1, nearest):
            k = candidate % count if self.closed else np.clip(candidate, 0, count - 1)
            e = np.column_stack([np.cos(self.headings[k]), np.sin(self.headings[k])])
            offset = points - self.points[k]
            along, lateral = (offset * e).sum(1), e[:, 0] * offset[:, 1] - e[:, 1] * offset[:, 0]
            first, last = (
                lateral * np.tan(self.turns[k] / 2),
                self.step - lateral * np.tan(self.turns[k + 1] / 2),
            )
            fraction = (along - first) / np.where(last > first, last - first, np.inf)
            excess = np.abs(fraction - np.clip(fraction, 0.0, 1.0))
            better = excess < best[0]
            for target, value in zip(
                best, (excess, k + np.clip(fraction, 0.0, 1.0), lateral), strict=True
            ):
                target[better] = value[better]
        return best[1], best[2]


def heights_on_grid(
    road: str, line: RoadLine, v: Array, heights: Array, spacing: tuple[float, float] | None
) -> tuple[Array, Array, Array]:
    """x, y and heights of a road whose `heights` stand at all points of the line and all distances
    `v`."""
    length_ratio, tightest = line.tightest_edge(float(v[0]), float(v[-1]))
    if length_ratio <= 0:
        x, y = line.points[tightest]
        raise ModelError(
            f"{road}: at x = {x:.4g}, y = {y:.4g} its reference line bends with a radius of "
            f"{abs(line.step / line.turns[tightest]):.4g} m, within its own width from v = "
            f"{v[0]:g} to {v[-1]:g}"
        )
    _check_single_height(road, line, v, heights)
    low, high = line.points.min(axis=0) - np.abs(v).max(), line.points.max(axis=0) + np.abs(v).max()
    if spacing is None:
        native = min(line.step, float(np.diff(v).min()))
        step = max(native, float(np.sqrt(np.prod(high - low) / USUAL)))
        if step > COARSE * native:
            issue_warning(
                f"{road}: its points stand every {native:.3g} m; the ground over x and y "
                f"has one every {step:.3g} m. "
                "Give spacing= for another."
            )
        spacing = (step, step)
    count = float(np.prod((high - low) / spacing))
    if count > MOST:
        raise ModelError(
            f"{road}: with spacing={spacing} it has {count:.3g} heights, more than {MOST}"
        )
    axes = [np.arange(a, b + d, d) for a, b, d in zip(low, high, spacing, strict=True)]
    grid_points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    along, lateral = line.line_coordinates(grid_points)
    i = np.minimum(along.astype(int), len(heights) - 2)
    f = along - i
    j = np.clip(np.searchsorted(v, lateral, side="right") - 1, 0, len(v) - 2)
    g = np.clip((lateral - v[j]) / (v[j + 1] - v[j]), 0.0, 1.0)
    grid_heights = (1 - f) * ((1 - g) * heights[i, j] + g * heights[i, j + 1])
    grid_heights += f * ((1 - g) * heights[i + 1, j] + g * heights[i + 1, j + 1])
    return axes[0], axes[1], grid_heights.reshape(len(axes[0]), len(axes[1]))


def _check_single_height(road: str, line: RoadLine, v: Array, heights: Array) -> None:
    """Rejects roads that cross themselves at another height: ground over x and y has one."""
    from scipy.spatial import cKDTree

    width = float(v[-1] - v[0])
    stride = max(int(width / 4 / line.step), 1)
    points, mean_heights = line.points[::stride], heights[::stride].mean(axis=1)
    pairs = cKDTree(points).query_pairs(width, output_type="ndarray")
    index_distance = np.abs(pairs[:, 0] - pairs[:, 1])
    if line.closed:
        index_distance = np.minimum(index_distance, len(points) - index_distance)
    pairs = pairs[index_distance * stride * line.step > 2 * width + 2 * stride * line.step]
    if not len(pairs):
        return
    cross_rise = float(np.abs(np.diff(heights, axis=1)).sum(axis=1).max())
    long_rise = float(np.abs(np.diff(heights.mean(axis=1))).max()) / line.step * width
    rises = np.abs(mean_heights[pairs[:, 0]] - mean_heights[pairs[:, 1]])
    worst = int(np.argmax(rises))
    if rises[worst] > SAME + cross_rise + long_rise:
        x, y = points[pairs[worst, 0]]
        raise ModelError(
            f"{road}: near x = {x:.4g}, y = {y:.4g} the road crosses itself, "
            f"{rises[worst]:.3g} m higher; ground "
            "over x and y has one height"
        )
