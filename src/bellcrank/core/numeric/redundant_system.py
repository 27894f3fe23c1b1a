"""The redundant equations of closed loops in numbers: M u' = f + J' lambda with J u' = gamma,
position rows g = 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bellcrank.core.numeric.loop_constraints import ConstraintScales
from bellcrank.core.numeric.null_space import SINGULAR, null_space


@dataclass(frozen=True)
class RedundantSystem:
    """The redundant equations at a state. `g` has an entry for each row of v: zero for those of
    speeds alone."""

    qd: np.ndarray
    M: np.ndarray
    f: np.ndarray
    J: np.ndarray
    gamma: np.ndarray
    g: np.ndarray
    v: np.ndarray

    def solve(
        self, f: np.ndarray, right_side: np.ndarray, scales: ConstraintScales, min_pivot: float
    ) -> tuple[np.ndarray, float]:
        """Return x of M x = f + J' lambda with J x = `right_side`, and the ratio of pivots.

        Rows with pivots below `min_pivot` are omitted.

        With f = 0 it is the smallest x in the metric of M.
        """
        T, c, ratio = null_space(
            self.J,
            right_side,
            scales.rank_v,
            scales.rows,
            scales.columns,
            scales.regular_pivot_ratio,
            min_pivot,
        )
        try:
            a = np.linalg.solve(T.T @ self.M @ T, T.T @ (f - self.M @ c))
        except np.linalg.LinAlgError:
            return np.full(len(c), np.nan), ratio
        return T @ a + c, ratio

    def rates(
        self, scales: ConstraintScales, min_pivot: float = SINGULAR
    ) -> tuple[np.ndarray, float]:
        """Rates of all coordinates and speeds without a choice of independent ones, and the ratio
        of pivots."""
        ud, ratio = self.solve(self.f, self.gamma, scales, min_pivot)
        return np.concatenate([self.qd, ud]), ratio


@dataclass(frozen=True)
class RedundantSizes:
    """How many numbers of each kind a program's `system` gives; `paired_row_count`: rows of g that
    are the first of v."""

    n_q: int
    n_u: int
    n_g: int
    n_v: int
    paired_row_count: int

    def unpack(self, flat: Sequence[float]) -> RedundantSystem:
        """What `system` gives, in its parts."""
        n_q, n, m = self.n_q, self.n_u, self.n_v
        sizes = (n_q, n * (n + 1) // 2, n, m * n, m, self.n_g, m)
        qd, mass, f, J, gamma, g, v = np.split(np.array(flat), np.cumsum(sizes)[:-1])
        M = np.zeros((n, n))
        M[np.tril_indices(n)] = mass
        rows = np.zeros(m)
        rows[: self.paired_row_count] = g[: self.paired_row_count]
        return RedundantSystem(qd, M + np.tril(M, -1).T, f, J.reshape(m, n), gamma, rows, v)
