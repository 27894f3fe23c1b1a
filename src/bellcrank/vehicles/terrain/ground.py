"""The point of the ground nearest to a wheel, in Python, C and JavaScript: foot of the
perpendicular, edge or wall.

The ground is all below the height; at jumps its boundary is a vertical wall. The distance to it is
continuous everywhere, so a force that follows from it alone has a potential.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bellcrank.codegen.kernel_function import KernelFunction, kernel_function_digest
from bellcrank.core.files.template import template_text
from bellcrank.core.numeric.tuning import GROUND, constants

_RULES = {c.name.upper(): repr(c.value) for c in constants(GROUND)}
SAMPLES_PER_PIECE = 8  # of a curved piece, before Newton's method starts from the nearest


class Near(NamedTuple):
    """The nearest ground: its distance (negative below ground), the unit normal from it, its
    foot."""

    distance: float
    normal_x: float
    normal_z: float
    foot_x: float
    foot_z: float


Piece = Sequence[float]


class PiecewiseGround:
    """The boundary of a ground, asked for by the shapes of its pieces."""

    starts: np.ndarray
    pieces: np.ndarray  # one row each: reference, c0, c1, c2, c3, a, w, p
    spatial = False

    @cached_property
    def _starts_and_pieces(self) -> tuple[list[float], list[list[float]]]:
        """Starts, and pieces with their bounds of `curvature_bound`."""
        starts = self.starts.tolist()
        intervals = pairwise([-math.inf, *starts, math.inf])
        return starts, [
            [*row, curvature_bound(row, a, b)]
            for row, (a, b) in zip(self.pieces.tolist(), intervals, strict=True)
        ]

    def nearest(self, x: float, z: float, reach: float = math.inf) -> Near:
        """The point of the ground nearest to (x, z): distance (negative below ground), unit normal
        towards it, foot.

        Ground farther away than `reach` is not looked for; the distance is then `reach`, the normal
        upright.
        """
        starts, pieces = self._starts_and_pieces
        x, z, reach = float(x), float(z), float(reach)
        index = bisect_right(starts, x)
        below = _piece_height(pieces[index], x)
        best = abs(z - below)
        foot = (x, below)
        if not z - below < reach:
            best, foot = reach, (x, z - reach)
        first, last = bisect_right(starts, x - best), bisect_right(starts, x + best)
        for i in range(first, last + 1):
            x_left = starts[i - 1] if i > 0 else -math.inf
            x_right = starts[i] if i < len(starts) else math.inf
            for point in _nearest_candidates(
                pieces, i, x, z, max(x_left, x - best), min(x_right, x + best), x_right, best
            ):
                d = math.hypot(point[0] - x, point[1] - z)
                if d < best:
                    best, foot = d, point
        if best == 0.0:
            slope = _piece_slope(pieces[index], x)
            size = math.hypot(1.0, slope)
            return Near(0.0, -slope / size, 1 / size, *foot)
        side = 1.0 if z >= below else -1.0
        return Near(side * best, side * (x - foot[0]) / best, side * (z - foot[1]) / best, *foot)

    def turn(self, x: float, z: float, reach: float = math.inf) -> tuple[float, float]:
        """By how much the normal turns per length moved along the nearest ground (see `shape`); is
        that in reach?"""
        nearest_point = self.nearest(x, z, reach)
        return (self.shape(nearest_point)[1], 1.0) if nearest_point.distance < reach else (0.0, 0.0)

    def shape(self, near: Near) -> tuple[int, float]:
        """Which part of the ground a nearest point lies on, and by how much the normal turns per
        length moved along it.

        Parts are pieces (2 i), edges and kinks (2 i + 1) and walls (negative); the turn is
        1/distance at an edge.
        """
        starts, pieces = self._starts_and_pieces
        x, z = near.foot_x, near.foot_z
        i = bisect_right(starts, x)
        if i > 0 and starts[i - 1] == x:
            h_left, h_right = _piece_height(pieces[i - 1], x), _piece_height(pieces[i], x)
            if min(h_left, h_right) < z < max(h_left, h_right):
                return -i, 0.0
            return 2 * i + 1, 1 / near.distance if near.distance else math.inf
        slope = _piece_slope(pieces[i], x)
        curve = _piece_second_derivative(pieces[i], x) / (1 + slope * slope) ** 1.5
        return 2 * i, -curve / (1 - curve * near.distance)

    @cached_property
    def c(self) -> tuple[str, str]:
        """C source of the ground, and the name of its function
        `void f(double x, double z, double reach, double *near)` with near = distance, normal x,
        normal z, foot x."""
        from bellcrank.codegen.c.linkage import shared_source

        return shared_source(self._c_name, self._c_name, self.near_function), self._c_name

    @property
    def lanes(self) -> str:
        """C source behind that of `c`: `ground_near_lanes`, of several points at once."""
        return template_text("bellcrank.vehicles.terrain/templates", "near_lanes.c")

    @cached_property
    def c_turn(self) -> tuple[str, str]:
        """The same for `turn`: `void f(double x, double z, double reach, double *found)`."""
        from bellcrank.codegen.c.linkage import shared_source

        name = f"{self._c_name}_turn"
        return shared_source(name, self._c_name, self.turn_function), name

    @cached_property
    def near_function(self) -> KernelFunction:
        """`nearest` as the kernel knows it."""
        starts, pieces = self._starts_and_pieces
        rows = np.array([[*row, 1 / math.hypot(1.0, row[2])] for row in pieces])
        lists = {"starts": np.array(starts), "pieces": rows.ravel()}
        return KernelFunction("Ground", "ground_near_at", {"n": len(starts)}, lists, 3, 4)

    @property
    def turn_function(self) -> KernelFunction:
        """The same for `turn`."""
        return replace(self.near_function, called="ground_turn_at", values=2)

    @cached_property
    def _c_name(self) -> str:
        return "ground_" + kernel_function_digest(self.near_function)


def _nearest_candidates(
    pieces: list[list[float]],
    i: int,
    x: float,
    z: float,
    a: float,
    b: float,
    x_right: float,
    best: float,
) -> list[tuple[float, float]]:
    """Points of piece i between a and b that may be nearest, and of the wall at its right end."""
    piece, points = pieces[i], []
    if a <= b:
        s = _nearest_foot(piece, x, z, a, b, piece[8] * best < 1)
        points.append((s, _piece_height(piece, s)))
    if b == x_right:
        h_left, h_right = _piece_height(piece, x_right), _piece_height(pieces[i + 1], x_right)
        points.append((x_right, min(max(z, min(h_left, h_right)), max(h_left, h_right))))
    return points


def _nearest_foot(
    piece: Piece, x: float, z: float, a: float, b: float, has_single_foot: bool
) -> float:
    """Where a piece is nearest between a and b; Newton's method alone finds it in a gentle one."""
    x0, c0, c1, c2, c3, amplitude = piece[:6]
    if not (c2 or c3 or amplitude):
        s = (x + c1 * (z - c0 + c1 * x0)) / (1 + c1 * c1)
        return min(max(s, a), b)
    if has_single_foot:
        slope = _piece_slope(piece, x)
        s = x + (z - _piece_height(piece, x)) * slope / (
            1 + slope * slope
        )  # the foot on the tangent below
        return _refine_foot(piece, x, z, min(max(s, a), b), a, b)
    feet = [
        _refine_foot(piece, x, z, *around) for around in _locally_nearest_samples(piece, x, z, a, b)
    ]
    return min(feet, key=lambda s: (s - x) ** 2 + (_piece_height(piece, s) - z) ** 2)


def _refine_foot(piece: Piece, x: float, z: float, s: float, low: float, high: float) -> float:
    """The foot between two bounds, from a point between them."""
    for _ in range(GROUND.feet):
        h, h1, h2 = (
            _piece_height(piece, s),
            _piece_slope(piece, s),
            _piece_second_derivative(piece, s),
        )
        g, g1 = s - x + (h - z) * h1, 1 + h1 * h1 + (h - z) * h2
        low, high = (low, s) if g > 0 else (s, high)
        new = s - g / g1 if g1 > 0 else math.inf
        if not low <= new <= high:
            new = 0.5 * (low + high)
        step, s = abs(new - s), new
        if step <= GROUND.foot * (1 + abs(s)):  # the next one would be its square
            break
    return s


def curvature_bound(piece: Piece, x_left: float, x_right: float) -> float:
    """A bound B of a piece: where B times the distance is below 1, there is one nearest point
    within it.

    B = K (1 + S) with bounds K of the second derivative and S of the slope, as d/ds of s - x + (h -
    z) h' is then positive.
    """
    x0, _, c1, c2, c3, a, w, _ = piece[:8]
    if not (c2 or c3):
        return abs(a) * w * w * (1 + abs(c1) + abs(a * w))
    if not (math.isfinite(x_left) and math.isfinite(x_right)):
        return math.inf
    offsets = (x_left - x0, x_right - x0)
    second = max(abs(2 * c2 + 6 * c3 * s) for s in offsets) + abs(a) * w * w
    slope = (
        max(abs(c1 + 2 * c2 * s + 3 * c3 * s * s) for s in offsets)
        + abs(a * w)
        + second * (x_right - x_left)
    )
    return second * (1 + slope)


def _locally_nearest_samples(
    piece: Piece, x: float, z: float, a: float, b: float
) -> list[tuple[float, float, float]]:
    """Those of some points between a and b that are nearer than their neighbours, and these
    neighbours."""
    width = (b - a) / SAMPLES_PER_PIECE
    squares = [
        (s - x) ** 2 + (_piece_height(piece, s) - z) ** 2
        for s in (a + k * width for k in range(SAMPLES_PER_PIECE + 1))
    ]
    padded = [math.inf, *squares, math.inf]
    minima = [
        k
        for k in range(SAMPLES_PER_PIECE + 1)
        if padded[k + 1] < padded[k] and padded[k + 1] <= padded[k + 2]
    ]
    return [
        (a + k * width, max(a, a + (k - 1) * width), min(b, a + (k + 1) * width)) for k in minima
    ] or [(a, a, b)]


def _piece_height(piece: Piece, x: float) -> float:
    x0, c0, c1, c2, c3, a, w, p = piece[:8]
    s = x - x0
    return c0 + s * (c1 + s * (c2 + s * c3)) + (a * math.cos(w * s + p) if a else 0.0)


def _piece_slope(piece: Piece, x: float) -> float:
    x0, _, c1, c2, c3, a, w, p = piece[:8]
    s = x - x0
    return c1 + s * (2 * c2 + 3 * s * c3) - (a * w * math.sin(w * s + p) if a else 0.0)


def _piece_second_derivative(piece: Piece, x: float) -> float:
    x0, _, _, c2, c3, a, w, p = piece[:8]
    s = x - x0
    return 2 * c2 + 6 * s * c3 - (a * w * w * math.cos(w * s + p) if a else 0.0)
