"""Directions that must point as drawn: rows of loops say of them only that they are parallel.

A row g = a . b, with b normal to the direction d that a is to have, is zero for a = d and for a =
-d. The cosine h of the angle between a and d is 1 and -1 there. For assembly rows are divided by 1
+ h: what is left is the tangent of half the angle, which grows all the way to the wrong side and
has one zero, so Newton's iteration goes to the right one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bellcrank.core.numeric.tuning import ASSEMBLY


@dataclass(frozen=True)
class DirectionSigns:
    """`function` gives the cosines, then their slopes by q; `cosine_of_row` the number of the
    cosine of a row, or -1."""

    function: Callable[[float, list[float], list[float]], list[float]]
    cosine_of_row: Sequence[int]

    def cosines_and_gradients(
        self, t: float, q: np.ndarray, u: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The cosines and their slopes."""
        flat = np.array(self.function(t, q.tolist(), u.tolist()))
        count = max(self.cosine_of_row, default=-1) + 1
        return flat[:count], flat[count:].reshape(count, len(q))

    def reversed_row(self, t: float, q: np.ndarray, u: np.ndarray) -> int:
        """The first row of a direction that points the wrong way, or -1."""
        h, _ = self.cosines_and_gradients(t, q, u)
        return next((i for i, k in enumerate(self.cosine_of_row) if k >= 0 and not h[k] > 0), -1)

    def weight_rows(
        self, t: float, q: np.ndarray, u: np.ndarray, g: np.ndarray, G: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The rows, and their slopes, divided by 1 + h."""
        h, H = self.cosines_and_gradients(t, q, u)
        g, G = g.copy(), G.copy()
        for i, k in enumerate(self.cosine_of_row):
            if k >= 0:
                d = max(1.0 + h[k], ASSEMBLY.opposite)
                G[i] = (G[i] - g[i] / d * H[k]) / d
                g[i] /= d
        return g, G
