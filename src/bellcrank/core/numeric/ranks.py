"""Ranks of matrices of constraints."""

from __future__ import annotations

import numpy as np

from bellcrank.core.numeric.tuning import RANKS

CLEAR = 1e-5  # singular values of a regular configuration, against the largest, are above


def rank_of(A: np.ndarray) -> int:
    """Rank of a matrix whose rows are brought to one size."""
    size = np.abs(A).max(axis=1, initial=0.0)
    values = np.linalg.svd(A[size > 0] / size[size > 0, None], compute_uv=False)
    return int(np.sum(values > RANKS.rank * values[0])) if len(values) else 0


def is_regular(A: np.ndarray, rank: int) -> bool:
    """Has the matrix this rank, clearly? About a singular configuration errors of assembly look
    like a higher one."""
    values = np.linalg.svd(A, compute_uv=False)
    return len(values) >= rank > 0 and bool(values[rank - 1] > CLEAR * values[0])
