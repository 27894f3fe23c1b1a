"""Ranks of rows of any size, and whether they are clear."""

import numpy as np

from bellcrank.core.numeric.ranks import is_regular, rank_of


def test_rank_does_not_depend_on_the_sizes_of_rows():
    A = np.array([[1.0, 2.0, 3.0], [1e-9, 0.0, 1e-9], [0.0, 0.0, 0.0], [2.0, 4.0, 6.0]])
    assert rank_of(A) == 2
    assert rank_of(A[:1]) == rank_of(A[[0, 3]]) == 1
    assert rank_of(np.zeros((2, 3))) == rank_of(np.zeros((0, 3))) == 0
    assert rank_of(np.array([[1.0, 1.0], [1.0, 1.0 + 1e-3]])) == 2


def test_a_rank_that_rounding_could_make_is_not_clear():
    for small, clear in ((1e-4, True), (1e-6, False)):
        A = np.diag([3.0, 3.0 * small])
        assert is_regular(A, 2) is clear and is_regular(A, 1)
    assert not is_regular(np.eye(2), 3) and not is_regular(np.eye(2), 0)
