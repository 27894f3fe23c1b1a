"""Slopes at a corner of a model: damping that is another in rebound, a table of straight lines, friction.

There the slopes of both sides differ. A linear model takes their mean, by which a small swing about the corner goes on
as one with the fundamental of its force; which of both sides rounding would choose says nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bellcrank.analysis.point import Point
from bellcrank.analysis.slope_runner import Find, Groups
from bellcrank.errors import RunError

BESIDE = 1e-9  # distance of what is looked at on both sides, against the size of a state or 1
JUMP = 1e-4  # difference of slopes of both sides, against the largest of a row, that is a corner


def mean_of_sides(find: Find, at: Point, slopes: Groups) -> tuple[Groups, list[str]]:
    """The slopes at a point, means where they jump, and the names of the columns in which they do."""
    rng = np.random.default_rng(3)
    away = [
        BESIDE * np.maximum(np.abs(x), 1.0) * rng.uniform(0.5, 1.0, len(x)) * rng.choice((-1.0, 1.0), len(x))
        for x in (at.q, at.u)
    ]
    try:
        one, other = (find(replace(at, q=at.q + k * away[0], u=at.u + k * away[1]))[1] for k in (1.0, -1.0))
    except RunError:
        return slopes, []
    found, jumping = dict(slopes), np.zeros(len(find.columns), dtype=bool)
    for group, here in slopes.items():
        a, b = one[group], other[group]
        with np.errstate(invalid="ignore"):
            size = np.maximum(np.abs(a), np.abs(b)).max(axis=1, keepdims=True, initial=0.0)
            jumps = (np.abs(a - b) > JUMP * size) & np.isfinite(here)  # what has no slope has none
        found[group] = np.where(jumps, (a + b) / 2, here)
        jumping |= jumps.any(axis=0)
    return found, [s.name for s, j in zip(find.columns, jumping, strict=True) if j]
