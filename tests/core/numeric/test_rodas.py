"""Rodas5P: order conditions of all rooted trees."""

import numpy as np
import pytest

from bellcrank.core.numeric.rosenbrock import RODAS5P as M
from tests.core.numeric.test_embedded import density, trees


def square(rows):
    return np.array([[*row, *[0.0] * (len(rows) - len(row))] for row in rows])


def classical():
    """alpha, beta = alpha + Gamma, and weights: (1/gamma - C)^-1 is Gamma."""
    gamma = np.linalg.inv(np.eye(8) / M.gamma - square(M.C))
    alpha = square(M.A) @ gamma
    return alpha, alpha + gamma, gamma


def weights(tree, alpha, beta):
    """At a vertex with one branch stages hang on all slopes, else on rates alone (Hairer & Wanner
    II, IV.7)."""
    if len(tree) == 1:
        return beta @ weights(tree[0], alpha, beta)
    found = np.ones(len(alpha))
    for branch in tree:
        found = found * (alpha @ weights(branch, alpha, beta))
    return found


def worst(b, order, at=1.0):
    alpha, beta, _ = classical()
    return max(abs(b @ weights(t, alpha, beta) - at**order / density(t)) for t in trees(order))


def test_every_tree_up_to_the_order():
    alpha, beta, gamma = classical()
    b, lower = np.array(M.b) @ gamma, (np.array(M.b) - M.error_weights) @ gamma
    assert max(worst(b, n) for n in range(1, 6)) < 1e-12 and worst(b, 6) > 1e-5
    assert max(worst(lower, n) for n in range(1, 5)) < 1e-12 and worst(lower, 5) > 1e-5
    assert np.abs(alpha.sum(axis=1) - M.nodes).max() < 1e-13
    assert np.abs(gamma.sum(axis=1) - M.d).max() < 1e-13
    assert abs(1 - b @ np.linalg.solve(beta, np.ones(8))) < 1e-11  # at infinity


@pytest.mark.parametrize("x", [0.2, 0.5, 0.9])
def test_states_within_a_step_are_of_fourth_order(x):
    *_, gamma = classical()
    K = np.array(M.dense_weights)
    b = (x * (np.array(M.b) + (1 - x) * (K[0] + x * (K[1] + x * K[2])))) @ gamma
    assert max(worst(b, n, x) for n in range(1, 5)) < 1e-11 and worst(b, 5, x) > 1e-6
