"""The smallest change that satisfies some rows, found without their square; C has the same
rules."""

from __future__ import annotations

import numpy as np

from bellcrank.core.numeric.tuning import LOOPS


def least_norm(A: np.ndarray, r: np.ndarray, weights: np.ndarray, rank: int) -> np.ndarray:
    """The x with A x = r that is smallest in the metric of inverse weights; A has a known rank.

    Rows are brought to length 1 and orthogonalised, the one with most left first, so that no square
    of A is formed. Rows that vanish against the longest, or of which nothing is left because they
    repeat others, are omitted. What is not finite in A or r makes every x NaN.
    """
    root = np.sqrt(weights)
    B = A * root
    size = _row_norms(B)
    if not (np.isfinite(size).all() and np.isfinite(r).all()):
        return np.full(A.shape[1], np.nan)
    x = np.zeros(A.shape[1])
    short = ~(size > LOOPS.short * size.max(initial=0.0))
    size[short] = np.inf  # what is divided by it vanishes
    B, r = B / size[:, None], r / size
    for _ in range(rank):
        lengths = _row_norms(B)
        best = lengths.argmax()
        longest = lengths[best]
        if not longest > LOOPS.repeated:
            break
        e = B[best] / longest
        coefficient = r[best] / longest
        x += coefficient * e
        along = B @ e
        r = r - coefficient * along
        B = B - along[:, None] * e
        B[best] = 0.0
    return np.asarray(root * x)


def _row_norms(B: np.ndarray) -> np.ndarray:
    """Of rows."""
    return np.sqrt(np.add.reduce(B * B, axis=1))
