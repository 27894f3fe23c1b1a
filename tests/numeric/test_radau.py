"""Radau IIA: order conditions of the method its numbers stand for, and stiff steps over functions that are known."""

from functools import partial
from math import cos, sin

import numpy as np
import pytest

from bellcrank.numeric import adapt
from bellcrank.numeric.adapt import Count, Stretch
from bellcrank.numeric.collocation import RADAU5
from bellcrank.numeric.embedded import EMBEDDED
from bellcrank.numeric.radau import StiffStretch, fastest_mode, found_slopes
from tests.numeric.stretches import taken_by
from tests.numeric.test_embedded import defects


def matrix():
    (a, b), m = RADAU5.pair, RADAU5
    return np.linalg.inv(np.array(m.back) @ [[m.real, 0, 0], [0, a, -b], [0, b, a]] @ np.array(m.to))


def test_every_tree_up_to_the_order():
    A = matrix()
    found = defects(A[2], A, 6)
    assert max(found[:-1]) < 1e-13 and found[-1] > 1e-5
    assert np.abs(A.sum(axis=1) - RADAU5.nodes).max() < 1e-14
    stable = 1 - A[2] @ np.linalg.solve(A, np.ones(3))
    assert abs(stable) < 1e-13  # at infinity


taken = partial(taken_by, StiffStretch, RADAU5)


def test_smaller_tolerances_cost_steps_of_the_order():
    found = []
    for rtol in (1e-5, 1e-7, 1e-9):
        s, count, inner = taken(lambda t, y: [y[1], -y[0]], [1.0, 0.0], 10.0, rtol)
        assert max(abs(y[0] - cos(t)) for t, y in inner) < rtol
        found.append((count.steps, abs(s.y[0] - cos(10.0))))
        assert s.t == 10.0 and count.slopes == 1
    slope = np.log(found[0][1] / found[-1][1]) / np.log(found[-1][0] / found[0][0])
    assert slope == pytest.approx(5, abs=0.5)


def test_stiff_motion_takes_few_steps():
    """A fast mode, 1e6 1/s, that has long died out."""

    def rates(t, y):
        return [-1e6 * (y[0] - cos(t)) - sin(t), y[0]]

    s, count, _ = taken(rates, [2.0, 0.0], 10.0, 1e-6)
    assert s.y == pytest.approx([cos(10.0), sin(10.0)], abs=2e-5)
    _, smooth, _ = taken(lambda t, y: [-sin(t), y[0]], [1.0, 0.0], 10.0, 1e-6)  # the same motion without that mode
    assert count.steps < 1.5 * smooth.steps and count.failures < 5
    assert count.told["jacobians"] == count.slopes and count.told["newton_failures"] == count.failures
    explicit = Count(most=2000)
    found = Stretch(
        EMBEDDED["tsit5"], lambda t, y: np.asarray(rates(t, y)), 0.0, np.array([2.0, 0.0]), 10.0, 1e-6, 1e-8,
        explicit, look=True,
    )  # fmt: skip
    while found.status == "running" and not explicit.fastest:
        found.step()
    assert explicit.fastest == pytest.approx(1e6, rel=0.01) and explicit.steps < 100


def test_motion_that_is_not_stiff_is_not_told_to_be():
    count = Count()
    s = Stretch(
        EMBEDDED["tsit5"], lambda t, y: np.array([y[1], -y[0]]), 0.0, np.array([1.0, 0.0]), 50.0, 1e-5, 1e-7, count,
        look=True,
    )  # fmt: skip
    while s.status == "running":
        s.step()
    assert not count.fastest


def test_slopes_by_differences():
    A = np.array([[1.0, -2e6, 0.0], [0.5, 3.0, 1e-3], [0.0, 0.0, 7.0]])
    y = np.array([0.0, 1e-9, 40.0])
    known = np.full_like(A, np.nan)
    known[:, 1] = 5.0
    found = found_slopes(lambda t, y: known, lambda t, y: A @ y, 0.0, y, A @ y, 1e-3, False)
    assert np.all(found[:, 1] == 5.0)  # a column that is known stays
    found[:, 1] = A[:, 1]
    assert np.abs(found - A).max() < 1e-6


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
    with np.errstate(all="ignore"):
        s, _, _ = taken(rates, [1.0], 2.0, 1e-6, most=400 if why == adapt.TOO_MANY else 5000)
    assert s.failed == why


def test_rate_of_the_fastest_mode():
    """Of modes that are far apart exactly, of a pair that swings by its size; of nothing none."""
    modes = np.array([[1.0, 2.0, 0.5], [0.0, 1.0, -1.0], [3.0, 1.0, 1.0]])
    A = modes @ np.diag([-900.0, -3.0, 1.0]) @ np.linalg.inv(modes)
    assert fastest_mode(A) == pytest.approx(900, rel=1e-6)
    turn = 20.0 * np.array([[np.cos(1.0), -np.sin(1.0)], [np.sin(1.0), np.cos(1.0)]])
    assert fastest_mode(turn) == pytest.approx(20, rel=1e-12)
    assert fastest_mode(np.zeros((2, 2))) == 0
