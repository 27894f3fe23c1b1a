"""Which speeds loops are solved for: of good choices, the one that keeps rows short."""

import numpy as np

from bellcrank.derive.loop_choice import _fill, _order


def platform(legs=4, seed=0):
    """Rows of a platform with six freedoms on legs of three joints each: every leg's rows hold its own speeds and the platform's."""
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
    rows, columns, ratio = _order(J, len(J), pattern, 0.2)
    assert sorted(rows) == list(range(12)) and sorted(columns) == list(range(6, 18))
    full = _order(J, len(J), pattern, 1.0)
    assert _fill(pattern, rows, columns) < 0.3 * _fill(pattern, *full[:2])
    assert ratio > 0.1


def test_pivots_of_full_pivoting_are_the_largest_left():
    J = platform(2, seed=3)
    rows, columns, _ = _order(J, len(J), J != 0, 1.0)
    assert (rows[0], columns[0]) == np.unravel_index(np.abs(J).argmax(), J.shape)


def test_products_of_an_elimination_by_count():
    """Two rows a x + b y + d = 0 and c x + e = 0: with x from the second, one product for d and none for y."""
    pattern = np.array([[True, True, True, False], [True, False, False, True]])
    assert _fill(pattern, (1, 0), (0, 1)) == 1
    assert _fill(pattern, (0, 1), (1, 0)) == 1
