"""Radau IIA: order conditions of the method its numbers stand for."""

import numpy as np

from bellcrank.core.numeric.collocation import RADAU5
from tests.core.numeric.test_embedded import defects


def matrix():
    (a, b), m = RADAU5.complex_eigenvalue, RADAU5
    return np.linalg.inv(
        np.array(m.from_eigenbasis)
        @ [[m.real_eigenvalue, 0, 0], [0, a, -b], [0, b, a]]
        @ np.array(m.to_eigenbasis)
    )


def test_every_tree_up_to_the_order():
    A = matrix()
    found = defects(A[2], A, 6)
    assert max(found[:-1]) < 1e-13 and found[-1] > 1e-5
    assert np.abs(A.sum(axis=1) - RADAU5.nodes).max() < 1e-14
    stable = 1 - A[2] @ np.linalg.solve(A, np.ones(3))
    assert abs(stable) < 1e-13  # at infinity
