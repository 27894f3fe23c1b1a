"""Accelerations of a constrained system on the null space of its constraints, pivoted numerically.

M u' = f + J' lambda with J u' = gamma: u' = T a + c, where J T = 0 and J c = gamma come from one
elimination with pivots chosen at every configuration, and (T' M T) a = T' (f - M c). No inverse of
M is needed, so links may be massless, and rows may repeat others. Generated Python contains the
functions as they stand here.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from bellcrank.core.numeric.tuning import ELIMINATION

SINGULAR, VANISHING, SPARSER = ELIMINATION.singular, ELIMINATION.vanishing, ELIMINATION.sparser


def eliminate_pivoted(A, rank, usual, min_ratio=SINGULAR, pattern=None):
    """Eliminates the rows of A (the last column is a right-hand side) in place, rows with the
    largest entries first.

    Returns the order of the columns, the number of rows used, and the ratio of the last pivot to
    the first, against its usual value. Rows whose pivots are not above `min_ratio` of that are
    omitted. `pattern`: entries that are not zero in every configuration, without which all may be;
    of the pivots of a row that are not much smaller than the largest, the one in the emptiest
    column is taken.
    """
    n = A.shape[1] - 1
    P = np.ones((len(A), n), dtype=bool) if pattern is None else np.array(pattern)
    order = np.arange(n)
    first, ratio, n_used = 0.0, 1.0, 0
    for k in range(rank):
        size = np.abs(A[k:, k:n])
        i = int(size.max(axis=1).argmax())
        largest = size[i].max()
        eligible = size[i] >= SPARSER * largest
        holders = P[k:, k:].sum(axis=0)
        eligible &= holders == holders[eligible].min(initial=len(A))
        j = int(np.where(eligible, size[i], -1.0).argmax()) + k
        i += k
        first = first or largest
        ratio = largest / (first * usual) if first else 0.0
        if not ratio > min_ratio:
            break
        if i != k:
            A[[k, i]], P[[k, i]] = A[[i, k]], P[[i, k]]
        if j != k:
            A[:, [k, j]], P[:, [k, j]] = A[:, [j, k]], P[:, [j, k]]
            order[[k, j]] = order[[j, k]]
        A[k] /= A[k, k]
        factor = A[:, k].copy()
        factor[k] = 0.0
        A -= factor[:, None] * A[k]
        P[P[:, k]] |= P[k]
        n_used = k + 1
    return order, n_used, float(ratio)


def fixed_order_pivot_ratio(A, order):
    """The smallest pivot of an elimination of A in fixed order; 1 if there is none."""
    A = np.array(A)
    smallest = np.inf
    unused = np.ones(len(A), dtype=bool)  # rows that are still to be used
    for i, j in order:
        smallest = min(smallest, abs(A[i, j]))
        if not smallest > VANISHING:
            return 0.0
        unused[i] = False
        rows = np.flatnonzero(unused & (A[:, j] != 0.0))
        A[rows] -= (A[rows, j] / A[i, j])[:, None] * A[i]
    return float(smallest) if order else 1.0


def null_space(J, right_side, rank, rows, columns, usual, min_ratio=SINGULAR):
    """T with J T = 0, c with J c = right, the ratio of pivots; `rank`: of J usually; `rows`,
    `columns` scale J."""
    s, r = np.array(columns), np.array(rows)
    A = np.column_stack([np.array(J) * s * r[:, None], np.array(right_side) * r])
    order, n_used, ratio = eliminate_pivoted(A, rank, usual, min_ratio)
    n = len(s)
    T, c = np.zeros((n, n - n_used)), np.zeros(n)
    T[order[:n_used]], c[order[:n_used]] = -A[:n_used, n_used:n], A[:n_used, n]
    T[order[n_used:]] = np.eye(n - n_used)
    return s[:, None] * T, s * c, ratio


def constrained_rates(M, f, J, gamma, rank, rows, columns, usual):
    """u', then the ratio of pivots. M: rows of its lower triangle; the others as of
    `null_space`."""
    n, f = len(f), np.array(f)
    lower = np.array([[*row, *[0.0] * (n - len(row))] for row in M])
    M = lower + np.tril(lower, -1).T
    T, c, ratio = null_space(J, gamma, rank, rows, columns, usual)
    a = np.linalg.solve(T.T @ M @ T, T.T @ (f - M @ c))
    return [*(T @ a + c).tolist(), ratio]
