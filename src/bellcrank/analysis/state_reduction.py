"""From all states of a constrained model to independent ones.

Positions g(q, w) = 0 and speeds v(q, u, w) = 0 tie the states together. Small movements satisfy G
dq + G_w dw = 0 and V_q dq + V_u du + V_w dw = 0; solved for the dependent states they give x = x0 +
N z + N_w w, N with unit rows at the independent states z. With exact derivatives of the constraints
and of the rates, the linear model in z is exact too: the rates are tangent to the constraints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RANK_TOLERANCE = 1e-8  # smallest pivot of independent constraint rows, against the first
ROW_SIZE_TOLERANCE = 1e-6  # rows whose sizes differ by less are of different units, not singular


class SingularConstraints(Exception):
    """Constraint rows that do not determine what they should: their names, and the fraction of the
    smallest pivot."""

    def __init__(self, rows: Sequence[str], pivot: float) -> None:
        super().__init__(rows, pivot)
        self.rows, self.pivot = list(rows), pivot


@dataclass(frozen=True)
class ConstraintJacobians:
    """Derivatives of position rows by q and inputs, of speed rows by q, u and inputs; names of the
    rows."""

    G: np.ndarray
    G_w: np.ndarray
    V_q: np.ndarray
    V_u: np.ndarray
    V_w: np.ndarray
    positions: Sequence[str]
    speeds: Sequence[str]


@dataclass(frozen=True)
class StateReduction:
    """Independent states by number (coordinates first), and N, N_w of x = N z + N_w w."""

    independent: np.ndarray
    N: np.ndarray
    N_w: np.ndarray


def reduce_states(
    c: ConstraintJacobians, prefer: Sequence[bool], expected: tuple[int, int]
) -> StateReduction:
    """Independent states at a point. `prefer` marks states (q, u) that should stay; `expected`:
    ranks of both rows."""
    n_q, n_u = c.V_q.shape[1], c.V_u.shape[1]
    preferred = np.asarray(prefer, dtype=bool)
    D_q = _dependent_columns(c.G, preferred[:n_q], c.positions, expected[0])
    D_u = _dependent_columns(c.V_u, preferred[n_q:], c.speeds, expected[1])
    I_q, I_u = np.setdiff1d(np.arange(n_q), D_q), np.setdiff1d(np.arange(n_u), D_u)
    w = c.G_w.shape[1]
    N = np.zeros((n_q + n_u, len(I_q) + len(I_u)))
    N_w = np.zeros((n_q + n_u, w))
    N[I_q, np.arange(len(I_q))] = 1.0
    N[n_q + I_u, len(I_q) + np.arange(len(I_u))] = 1.0
    if len(D_q):
        N[D_q, : len(I_q)] = -_least_squares(c.G[:, D_q], c.G[:, I_q])
        N_w[D_q] = -_least_squares(c.G[:, D_q], c.G_w)
    if len(D_u):
        N[n_q + D_u] = -_least_squares(
            c.V_u[:, D_u], c.V_q @ N[:n_q] + c.V_u[:, I_u] @ N[n_q + I_u]
        )
        N_w[n_q + D_u] = -_least_squares(c.V_u[:, D_u], c.V_w + c.V_q @ N_w[:n_q])
    return StateReduction(np.concatenate([I_q, n_q + I_u]), N, N_w)


def _least_squares(matrix: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Redundant rows do no harm."""
    if not rhs.size:
        return np.zeros((matrix.shape[1], rhs.shape[1]))
    return np.asarray(np.linalg.lstsq(matrix, rhs, rcond=None)[0])


def _dependent_columns(
    rows: np.ndarray, preferred: np.ndarray, names: Sequence[str], expected: int
) -> np.ndarray:
    """The columns that the rows determine: those that need not stay first, by pivoted
    elimination."""
    from scipy.linalg import qr

    if not rows.size:
        return np.array([], dtype=int)
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    largest = float(size.max()) or 1.0
    scaled = rows / np.maximum(
        size, ROW_SIZE_TOLERANCE * largest
    )  # a row that vanishes stays small
    weighted = scaled * np.where(preferred, 1e-3, 1.0)
    _, _, order = qr(weighted, mode="economic", pivoting=True)
    _, R, _ = qr(scaled, mode="economic", pivoting=True)
    rank = (
        int(np.sum(np.abs(np.diag(R)) > RANK_TOLERANCE * max(abs(R[0, 0]), 1e-300)))
        if R[0, 0]
        else 0
    )
    if rank < expected:
        _, R_rows, order_rows = qr(scaled.T, mode="economic", pivoting=True)
        pivots = np.abs(np.diag(R_rows))
        weak = order_rows[rank : rank + 1]
        raise SingularConstraints(
            [names[i] for i in weak], float(pivots[min(rank, len(pivots) - 1)])
        )
    return np.sort(order[:rank])
