"""Which speeds loops are solved for: of good choices, the one that keeps rows short."""

from types import SimpleNamespace

import numpy as np
import pytest

from bellcrank.mechanics.derive.loop_blocks import usual_ratio
from bellcrank.mechanics.derive.loop_choice import (
    _equilibrate,
    _fill_in,
    _independent_rows,
    _pivot_order,
    drawn_scales,
)
from bellcrank.mechanics.kinematics.analysis import LoopElimination
from bellcrank.symbolic.expr import Symbol


def platform(legs=4, seed=0):
    """Rows of a platform with six degrees of freedom on legs of three joints each: every leg's rows
    hold its own speeds and the platform's."""
    rng = np.random.default_rng(seed)
    J = np.zeros((3 * legs, 6 + 3 * legs))
    for k in range(legs):
        rows = slice(3 * k, 3 * k + 3)
        J[rows, :6] = rng.uniform(0.5, 1, (3, 6)) * rng.choice([-1, 1], (3, 6))
        J[rows, 6 + 3 * k : 9 + 3 * k] = np.eye(3) * 0.6 + rng.uniform(-0.1, 0.1, (3, 3))
    return J


def test_legs_are_solved_for_one_by_one():
    J = platform()
    pattern = J != 0
    rows, columns = _pivot_order(J, len(J), pattern, 0.2)
    assert sorted(rows) == list(range(12)) and sorted(columns) == list(range(6, 18))
    full = _pivot_order(J, len(J), pattern, 1.0)
    assert _fill_in(pattern, rows, columns) < 0.3 * _fill_in(pattern, *full)


def test_products_of_an_elimination_by_count():
    """Two rows a x + b y + d = 0 and c x + e = 0: with x from the second, one product for d and
    none for y."""
    pattern = np.array([[True, True, True, False], [True, False, False, True]])
    assert _fill_in(pattern, (1, 0), (0, 1)) == 1
    assert _fill_in(pattern, (0, 1), (1, 0)) == 1


def test_full_pivoting_takes_the_largest_entry_that_is_left():
    """Next to an elimination written out; the ratio is that of the last pivot to the first."""
    rng = np.random.default_rng(2)
    J = rng.normal(size=(4, 6))
    J[3] = J[0] - 2 * J[1]  # rank 3
    rows, columns = _pivot_order(J, 3, np.ones_like(J, dtype=bool), 1.0)
    ratio = usual_ratio(J, 3, np.ones_like(J, dtype=bool))
    A, expected, pivots = J.copy(), [], []
    for _ in range(3):
        i, j = np.unravel_index(np.abs(A).argmax(), A.shape)
        expected.append((i, j))
        pivots.append(abs(A[i, j]))
        A = A - np.outer(A[:, j], A[i]) / A[i, j]
    assert [*zip(rows, columns, strict=True)] == expected
    assert ratio == pytest.approx(pivots[-1] / pivots[0], rel=1e-12)
    assert _pivot_order(np.zeros((2, 3)), 2, np.ones((2, 3), dtype=bool), 1.0) == ((), ())


def test_products_of_an_elimination_are_counted():
    """Row by row with sets: a row that has the column takes on all other entries of the pivot's
    row."""
    rng = np.random.default_rng(4)
    for _ in range(5):
        pattern = rng.uniform(size=(4, 7)) < 0.5
        order = [(i, j) for i, j in ((0, 3), (2, 1), (1, 5)) if pattern[i, j]]
        rows, cost = [set(np.flatnonzero(r)) for r in pattern], 0
        done = []
        for i, j in order:
            if j not in rows[i]:
                break
            for k, row in enumerate(rows):
                if k != i and j in row:
                    cost += len(rows[i]) - 1
                    row |= rows[i]
                    row.discard(j)
            rows[i] = rows[i] - {j}
            done.append((i, j))
        assert _fill_in(pattern, [i for i, _ in done], [j for _, j in done]) == cost


def test_largest_entries_become_one():
    """Over all positions: rows first, then columns; what hardly acts is not magnified."""
    J = [
        np.array([[2.0, -8.0, 0.0], [1e-9, 0.0, 1e-8], [0.0, 3.0, 0.0]]),
        np.array([[4.0, 1.0, 0.0], [0, 0, 0], [0, -6.0, 0.0]]),
    ]
    found = _equilibrate([np.eye(2)], J)
    assert found.rows == pytest.approx((1 / 8, 1 / 8e-3, 1 / 6))
    assert found.columns == pytest.approx((2, 1, 1e3))
    assert found.rank_g == 2
    assert _independent_rows(
        [np.array([[1.0, 2.0], [2.0, 4.0], [0.0, 1.0]]), np.zeros((3, 2))], 2
    ) == [0, 2]
    assert _independent_rows([np.eye(3)], 2) == [0, 1]


def test_sizes_of_rows_are_those_of_the_parameters_that_are_known():
    """M and m are two: the value of neither is drawn, nor taken for the other."""
    M, m, u, v = (
        Symbol("M", "parameter"),
        Symbol("m", "parameter"),
        Symbol("u", "speed"),
        Symbol("v", "speed"),
    )
    row = SimpleNamespace(partials=[(u, M), (v, m)], text="row")
    known = LoopElimination((row,), (row,), (v,))
    found = drawn_scales(known, [u, v], 0, {"M": 40.0, "m": 5.0})
    assert (found.rows, found.columns) == (pytest.approx((1 / 40,)), pytest.approx((1, 8)))
    assert (found.rank_g, found.rank_v, found.fixed_pivots) == (0, 1, ((0, 1),))
