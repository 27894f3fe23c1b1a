"""Triangles as pixels with a depth buffer, all of them at once in NumPy.

In:  corners on the screen, in pixels from the upper left, and the nearness of each, which is linear
on the screen. Out: for each pixel the triangle that is nearest there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NEARNESS = 2.0**30  # steps between the farthest and the nearest point
EMPTY = -1
SLIVER = 0.01  # pixels, area of a triangle whose slope is mostly rounding
# pixels of all triangles together, so that a mesh against the eye does not fill the memory
MAX_PIXEL_COUNT = 60_000_000


@dataclass(frozen=True)
class VisibleTriangles:
    """For each pixel (flat, row by row) the number of the nearest triangle, or -1, and how near it
    is there."""

    triangle: np.ndarray
    nearness: np.ndarray


def rasterize(
    corners: np.ndarray, nearness: np.ndarray, width: int, height: int
) -> VisibleTriangles:
    """The nearest triangles: corners (n, 3, 2), nearness (n, 3), larger for what is nearer."""
    best = np.full(width * height, EMPTY, np.int64)
    low, high = (float(f(nearness)) if nearness.size else 0.0 for f in (np.min, np.max))
    scale = NEARNESS / ((high - low) or 1.0)
    indices, spans = _pixel_spans(corners, width, height)
    if len(spans.row):
        c, a, b = interpolation_planes(corners[indices], (nearness[indices] - low) * scale)
        owner = spans.triangle
        count = spans.last - spans.first + 1
        base = c[owner] + b[owner] * (spans.row + 0.5) + 0.5 * a[owner]
        pixel_ends = np.cumsum(count)
        shift = np.repeat(spans.first - (pixel_ends - count), count)
        x = np.arange(int(pixel_ends[-1])) + shift
        depth = np.repeat(base, count) + np.repeat(a[owner], count) * x
        key = np.clip(depth, 0.0, NEARNESS).astype(np.int64)
        key = (key << 32) | np.repeat(indices[owner], count)
        np.maximum.at(best, np.repeat(spans.row * width, count) + x, key)
    triangle = np.where(best == EMPTY, EMPTY, best & 0xFFFFFFFF)
    return VisibleTriangles(triangle, np.where(best == EMPTY, -np.inf, low + (best >> 32) / scale))


def coverage_mask(corners: np.ndarray, width: int, height: int) -> np.ndarray:
    """Which pixels (height, width) lie within any triangle."""
    steps = np.zeros((height, width + 1), np.int32)
    _, spans = _pixel_spans(corners, width, height)
    np.add.at(steps, (spans.row, spans.first), 1)
    np.add.at(steps, (spans.row, spans.last + 1), -1)
    return np.cumsum(steps[:, :width], axis=1) > 0


def barycentric_weights(
    corners: np.ndarray, x: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The fractions of the second and third corner (n, 3, 2) at points."""
    a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    area = np.where(area == 0, 1.0, area)
    px, py = x - corners[:, 0, 0], y - corners[:, 0, 1]
    return (px * b[:, 1] - py * b[:, 0]) / area, (py * a[:, 0] - px * a[:, 1]) / area


@dataclass(frozen=True)
class _PixelSpans:
    """Pixels `first` to `last` of rows; `triangle` counts those that were kept."""

    triangle: np.ndarray
    row: np.ndarray
    first: np.ndarray
    last: np.ndarray


def _pixel_spans(corners: np.ndarray, width: int, height: int) -> tuple[np.ndarray, _PixelSpans]:
    """The numbers of triangles that cover something, and the pixels that they cover: those whose
    middles lie inside."""
    low, high = corners.min(axis=1), corners.max(axis=1)
    a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    inside = (high > 0).all(axis=1) & (low[:, 0] < width) & (low[:, 1] < height)
    indices = np.flatnonzero(inside & np.isfinite(area) & (area != 0))
    top = np.clip(np.ceil(low[indices, 1] - 0.5), 0, height).astype(np.int64)
    rows = np.clip(np.ceil(high[indices, 1] - 0.5), 0, height).astype(np.int64) - top
    indices, top, rows = indices[rows > 0], top[rows > 0], rows[rows > 0]
    owner = np.repeat(np.arange(len(indices)), rows)
    row = np.arange(int(rows.sum())) - np.repeat(np.cumsum(rows) - rows - top, rows)
    y = row + 0.5
    p, orientation = corners[indices], np.sign(area[indices])
    left, right = np.full(len(owner), -np.inf), np.full(len(owner), np.inf)
    for i in range(3):
        start, end = p[:, i], p[:, (i + 1) % 3]
        rise = end[:, 1] - start[:, 1]
        is_left_edge = orientation * rise < 0  # the inside lies to the right of such an edge
        steep = np.where(rise == 0, 1.0, rise)
        slope = (end[:, 0] - start[:, 0]) / steep
        x = (start[:, 0] - slope * start[:, 1])[owner] + slope[owner] * y
        np.maximum(left, x, out=left, where=(is_left_edge & (rise != 0))[owner])
        np.minimum(right, x, out=right, where=(~is_left_edge & (rise != 0))[owner])
    first = np.clip(np.ceil(left - 0.5), 0, width).astype(np.int64)
    last = np.clip(np.ceil(right - 0.5), 0, width).astype(np.int64) - 1
    is_used = last >= first
    if int((last - first + 1)[is_used].sum()) > MAX_PIXEL_COUNT:
        is_used &= np.cumsum(np.where(is_used, last - first + 1, 0)) <= MAX_PIXEL_COUNT
    return indices, _PixelSpans(owner[is_used], row[is_used], first[is_used], last[is_used])


def interpolation_planes(
    corners: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values at corners as c + a x + b y: c, a, b."""
    p, q = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
    area = np.where(np.abs(area) < SLIVER, np.inf, area)  # as near everywhere
    u, v = values[:, 1] - values[:, 0], values[:, 2] - values[:, 0]
    a = (u * q[:, 1] - v * p[:, 1]) / area
    b = (v * p[:, 0] - u * q[:, 0]) / area
    return values[:, 0] - a * corners[:, 0, 0] - b * corners[:, 0, 1], a, b
