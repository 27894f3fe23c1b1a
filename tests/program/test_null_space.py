"""Accelerations on the null space of the constraints, against the equations with multipliers."""

import numpy as np
import pytest

from bellcrank.core.numeric.null_space import SINGULAR, constrained_rates, fixed_order_pivot_ratio


def lower(M):
    return [row[: i + 1].tolist() for i, row in enumerate(M)]


def system(n, m, seed):
    random = np.random.default_rng(seed)
    A = random.standard_normal((n, n))
    return (
        A @ A.T + np.eye(n),
        random.standard_normal(n),
        random.standard_normal((m, n)),
        random.standard_normal(m),
    )


def with_multipliers(M, f, J, gamma):
    """M u' - J' lambda = f, J u' = gamma, solved as one system."""
    n, m = len(f), len(gamma)
    K = np.block([[M, -J.T], [J, np.zeros((m, m))]])
    return np.linalg.solve(K, np.concatenate([f, gamma]))[:n]


def rates(M, f, J, gamma, rank=None, columns=None, usual=1.0):
    m, n = J.shape
    scale = [1.0] * n if columns is None else columns
    return constrained_rates(
        lower(M),
        f.tolist(),
        J.tolist(),
        gamma.tolist(),
        m if rank is None else rank,
        [1.0] * m,
        scale,
        usual,
    )


@pytest.mark.parametrize(("n", "m"), [(2, 1), (5, 3), (8, 7)])
def test_same_as_with_multipliers(n, m):
    M, f, J, gamma = system(n, m, n)
    *udot, ratio = rates(M, f, J, gamma, columns=np.geomspace(0.1, 10, n).tolist())
    assert udot == pytest.approx(with_multipliers(M, f, J, gamma), rel=1e-9, abs=1e-9)
    assert 0 < ratio <= 1


def test_rows_that_follow_from_others_change_nothing():
    M, f, J, gamma = system(6, 3, 1)
    mix = np.random.default_rng(2).standard_normal((2, 3))
    more = np.vstack([mix @ J, J]), np.concatenate([mix @ gamma, gamma])
    assert rates(M, f, *more, rank=3)[:-1] == pytest.approx(
        with_multipliers(M, f, J, gamma), rel=1e-9
    )


def test_massless_speeds_do_no_harm():
    """What has no inertia follows from the constraints alone."""
    M, f, J, gamma = system(4, 2, 3)
    M[2:] = M[:, 2:] = 0.0
    f[2:] = 0.0
    u = np.array(rates(M, f, J, gamma)[:-1])
    assert J @ u == pytest.approx(gamma, rel=1e-9)
    T = np.linalg.svd(J)[2][2:].T
    assert T.T @ (M @ u - f) == pytest.approx(np.zeros(2), abs=1e-9)


def test_a_row_that_vanishes_is_left_out_and_told():
    M, f, J, gamma = system(4, 2, 4)
    J[1], gamma[1] = 1e-9 * J[1], 0.0
    *udot, ratio = rates(M, f, J, gamma)
    assert ratio < SINGULAR
    assert udot == pytest.approx(with_multipliers(M, f, J[:1], gamma[:1]), rel=1e-9)


def test_pivots_in_fixed_order():
    A = np.array([[2.0, 1.0, 0.0], [1.0, 1.0, 3.0]])
    assert fixed_order_pivot_ratio(A, [(0, 0), (1, 1)]) == pytest.approx(0.5)  # 2, then 1 - 1/2
    assert fixed_order_pivot_ratio(A, [(0, 2)]) == 0.0
    assert fixed_order_pivot_ratio(A, []) == 1.0


def test_pivots_in_fixed_order_are_those_of_a_full_elimination():
    random = np.random.default_rng(5)
    A = np.where(random.uniform(size=(12, 14)) < 0.3, random.uniform(0.5, 1.5, (12, 14)), 0.0)
    A[range(12), range(12)] = 2.0
    full, pivots = A.copy(), []
    for i in range(12):
        pivots.append(abs(full[i, i]))
        factor = full[:, i] / full[i, i]
        factor[i] = 0.0
        full -= factor[:, None] * full[i]
    assert fixed_order_pivot_ratio(A, [(i, i) for i in range(12)]) == min(pivots)
