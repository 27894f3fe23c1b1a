"""Cones, lanes and the path of a manoeuvre, as animations and reports show them."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.scene.track import Track

Array = np.ndarray[Any, Any]
CONES = "cones"  # name of the fixed line that has the edges of lanes
SPACING = 3.0  # m between cones


def cone_positions(x: Array, y: Array) -> Array:
    """Places of cones on edges of lanes; edges are pairs of points with gaps (NaN) between."""
    positions = []
    for x0, x1, y0 in zip(x[::3], x[1::3], y[::3], strict=False):
        count = max(2, round(float(x1 - x0) / SPACING) + 1)
        positions += [(v, y0) for v in np.linspace(x0, x1, count)]
    return np.array(positions)


def make_track(x: Array, y: Array, edges: tuple[Array, Array] | None) -> Track:
    """The track of a path, and of edges of lanes with cones on them if there are such."""
    path = [*zip(x.tolist(), y.tolist(), strict=True)]
    if edges is None:
        return Track(path=path)
    ex, ey = edges
    lanes = [
        ((x0, y0), (x1, y1))
        for x0, x1, y0, y1 in zip(ex[::3], ex[1::3], ey[::3], ey[1::3], strict=False)
    ]
    return Track([(float(a), float(b)) for a, b in cone_positions(ex, ey)], lanes, path)
