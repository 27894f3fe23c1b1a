"""Rodas5P: order conditions of all rooted trees, and steps over functions that are known."""

from functools import partial
from math import cos, exp, sin

import numpy as np
import pytest

from bellcrank.numeric import adapt
from bellcrank.numeric.rodas import RosenbrockStretch
from bellcrank.numeric.rosenbrock import RODAS5P as M
from tests.numeric.stretches import taken_by
from tests.numeric.test_embedded import density, trees


def square(rows):
    return np.array([[*row, *[0.0] * (len(rows) - len(row))] for row in rows])


def classical():
    """alpha, beta = alpha + Gamma, and weights: (1/gamma - C)^-1 is Gamma."""
    gamma = np.linalg.inv(np.eye(8) / M.gamma - square(M.C))
    alpha = square(M.A) @ gamma
    return alpha, alpha + gamma, gamma


def weights(tree, alpha, beta):
    """At a vertex with one branch stages hang on all slopes, else on rates alone (Hairer & Wanner II, IV.7)."""
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
    b, lower = np.array(M.b) @ gamma, (np.array(M.b) - M.error) @ gamma
    assert max(worst(b, n) for n in range(1, 6)) < 1e-12 and worst(b, 6) > 1e-5
    assert max(worst(lower, n) for n in range(1, 5)) < 1e-12 and worst(lower, 5) > 1e-5
    assert np.abs(alpha.sum(axis=1) - M.nodes).max() < 1e-13
    assert np.abs(gamma.sum(axis=1) - M.d).max() < 1e-13
    assert abs(1 - b @ np.linalg.solve(beta, np.ones(8))) < 1e-11  # at infinity


@pytest.mark.parametrize("x", [0.2, 0.5, 0.9])
def test_states_within_a_step_are_of_fourth_order(x):
    *_, gamma = classical()
    K = np.array(M.dense)
    b = (x * (np.array(M.b) + (1 - x) * (K[0] + x * (K[1] + x * K[2])))) @ gamma
    assert max(worst(b, n, x) for n in range(1, 5)) < 1e-11 and worst(b, 5, x) > 1e-6


taken = partial(taken_by, RosenbrockStretch, M)


def test_smaller_tolerances_cost_steps_of_the_order():
    """Rates that depend on time, too."""
    found = []
    for rtol in (1e-5, 1e-7):
        s, count, _ = taken(lambda t, y: [y[1], -y[0] + exp(-t) * cos(3 * t), y[0] * y[1]], [1, 0, 0], 10.0, rtol)
        finer = taken(lambda t, y: [y[1], -y[0] + exp(-t) * cos(3 * t), y[0] * y[1]], [1, 0, 0], 10.0, 1e-10)[0]
        found.append((count.steps, np.abs(s.y - finer.y).max()))
    slope = np.log(found[0][1] / found[-1][1]) / np.log(found[-1][0] / found[0][0])
    assert slope == pytest.approx(5, abs=0.6)


def test_stiff_motion_takes_few_steps():
    """A fast mode, 1e6 1/s, that has long died out, along a path that depends on time."""
    s, count, inner = taken(lambda t, y: [-1e6 * (y[0] - cos(t)) - sin(t), y[0]], [2.0, 0.0], 10.0, 1e-6)
    assert s.y == pytest.approx([cos(10.0), sin(10.0)], abs=2e-5)
    assert count.steps < 150 and count.slopes == count.steps <= count.factors
    assert max(abs(y[1] - sin(t)) for t, y in inner) < 1e-4


@pytest.mark.parametrize(
    ("rates", "why"),
    [
        (lambda t, y: [np.nan if t > 0.3 else 1.0], adapt.NOT_FINITE),
        (lambda t, y: [y[0] ** 2], adapt.TOO_SMALL),
        (lambda t, y: [cos(1e9 * t)], adapt.TOO_MANY),
    ],
    ids=["not finite", "to infinity at t = 1", "too many"],
)
def test_what_cannot_go_on_says_why(rates, why):
    s, _, _ = taken(rates, [1.0], 2.0, 1e-6, most=400)
    assert s.failed == why
