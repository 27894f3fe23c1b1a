"""Methods that choose their steps: order conditions of all rooted trees, and steps over functions that are known."""

from functools import cache
from math import cos, inf, nan, prod

import numpy as np
import pytest

from bellcrank.numeric import adapt
from bellcrank.numeric.adapt import Count, Stretch
from bellcrank.numeric.embedded import EMBEDDED, Embedded

METHODS = EMBEDDED.values()
EMBEDDED_ORDER = {"tsit5": 4, "dop853": 5}
DENSE_ORDER = {"tsit5": 4, "dop853": 7}


@cache
def trees(n):
    """Rooted trees of n vertices: sorted tuples of subtrees."""
    return [()] if n == 1 else list(forests(n - 1, n - 1))


@cache
def forests(n, largest):
    if n == 0:
        return [()]
    return [
        (t, *rest)
        for k in range(min(n, largest), 0, -1)
        for t in trees(k)
        for rest in forests(n - k, k)
        if not rest or (size(rest[0]), rest[0]) <= (k, t)
    ]


def size(tree):
    return 1 + sum(map(size, tree))


def density(tree):
    return size(tree) * prod(map(density, tree))


def weights(tree, A):
    found = np.ones(len(A))
    for branch in tree:
        found = found * (A @ weights(branch, A))
    return found


def defects(b, A, order, at=1.0):
    """The worst of every order up to one."""
    return [max(abs(b @ weights(t, A) - at**n / density(t)) for t in trees(n)) for n in range(1, order + 1)]


def square(m: Embedded):
    A = np.zeros((len(m.rows), len(m.rows)))
    for i, row in enumerate(m.rows):
        A[i, : len(row)] = row
    return A


def padded(row, n):
    return np.pad(np.array(row), (0, n - len(row)))


def test_trees_are_all_there():
    assert [len(trees(n)) for n in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]


@pytest.mark.parametrize("m", METHODS, ids=lambda m: m.name)
def test_every_tree_up_to_the_order(m):
    A, n = square(m), len(m.rows)
    b = A[m.result]
    found = defects(b, A, m.order + 1)
    assert max(found[:-1]) < 1e-13 and found[-1] > 1e-5
    assert np.abs(A.sum(axis=1) - m.nodes).max() < 1e-14
    estimate = defects(b - padded(m.error, n), A, EMBEDDED_ORDER[m.name] + 1)
    assert max(estimate[:-1]) < 1e-13 and estimate[-1] > 1e-6
    if m.second:
        lower = defects(b - padded(m.second, n), A, 4)
        assert max(lower[:3]) < 1e-13 and lower[3] > 1e-6


@pytest.mark.parametrize("m", METHODS, ids=lambda m: m.name)
def test_states_within_a_step_have_their_order(m):
    A, n, order = square(m), len(m.rows), DENSE_ORDER[m.name]
    unit = np.eye(n)
    b = A[m.result]
    parts = [b, unit[0] - b, 2 * b - unit[m.result] - unit[0], *(padded(row, n) for row in m.dense)]
    next_one = 0.0
    for x in (0.25, 0.5, 0.8):
        total = parts[-1]
        for i in range(len(parts) - 2, -1, -1):
            total = parts[i] + (x if i % 2 else 1 - x) * total
        found = defects(x * total, A, order + 1, at=x)
        assert max(found[:-1]) < 1e-13
        next_one = max(next_one, found[-1])
    assert next_one > 1e-6


def oscillation(m, rtol, end=10.0):
    count = Count()

    def rates(t, y):
        count.rates += 1
        return np.array([y[1], -y[0]])

    s = Stretch(m, rates, 0.0, np.array([1.0, 0.0]), end, rtol, rtol / 100, count)
    inner = 0.0
    while s.status == "running":
        before = s.t
        assert s.step() == ""
        within = s.dense_output()
        assert np.array_equal(within(before), s._last[2])
        inner = max(inner, *(abs(within(t)[0] - cos(t)) for t in np.linspace(before, s.t, 6)))
    assert s.t == end
    return abs(s.y[0] - cos(end)), inner, count


@pytest.mark.parametrize("m", METHODS, ids=lambda m: m.name)
def test_smaller_tolerances_cost_steps_of_the_order(m):
    tolerances = (1e-6, 1e-8, 1e-10)
    runs = [oscillation(m, rtol) for rtol in tolerances]
    for rtol, (error, inner, count) in zip(tolerances, runs, strict=True):
        assert error < 10 * rtol and inner < 10 * rtol
        assert count.told["steps"] == count.steps and count.rejected < 0.3 * count.steps
    slope = np.log(runs[0][1] / runs[-1][1]) / np.log(runs[-1][2].steps / runs[0][2].steps)
    assert slope == pytest.approx(m.exponent if m.name == "tsit5" else 10, abs=1.0)


def with_equal_steps(m, n):
    """Errors at the end of n equal steps and within them, of y' = -2 t y**2 from y(-1) = 1/2."""
    s = Stretch(m, lambda t, y: -2 * t * y * y, -1.0, np.array([0.5]), 1.0, 1.0, 1e9, Count())
    inner = []
    while s.status == "running":
        before, s._h = s.t, 2.0 / n
        assert s.step() == ""
        within = s.dense_output()
        inner += [abs(within(t)[0] - 1 / (1 + t * t)) for t in np.linspace(before, s.t, 5)[1:-1]]
    assert s.count.steps == n
    return abs(s.y[0] - 0.5), max(inner)


@pytest.mark.parametrize("m", METHODS, ids=lambda m: m.name)
def test_equal_steps_have_the_order(m):
    few = {"tsit5": 32, "dop853": 10}[m.name]
    (end, inner), (finer_end, finer_inner) = (with_equal_steps(m, n) for n in (few, 2 * few))
    assert np.log2(end / finer_end) > m.order - 0.3
    assert np.log2(inner / finer_inner) == pytest.approx(DENSE_ORDER[m.name] + 1, abs=0.3)  # of a single step


@pytest.mark.parametrize("m", METHODS, ids=lambda m: m.name)
@pytest.mark.parametrize(
    ("rates", "why"),
    [
        (lambda t, y: np.array([nan if t > 0.3 else 1.0]), adapt.NOT_FINITE),
        (lambda t, y: np.array([y[0] ** 2]), adapt.TOO_SMALL),
        (lambda t, y: np.array([-1e9 * (y[0] - cos(t))]), adapt.TOO_MANY),
    ],
    ids=["not finite", "to infinity at t = 1", "stiff"],
)
def test_what_cannot_go_on_says_why(m, rates, why):
    count = Count(most=500)
    with np.errstate(all="ignore"):
        s = Stretch(m, rates, 0.0, np.array([1.0]), 2.0, 1e-6, 1e-8, count)
        while s.status == "running":
            s.step()
    assert s.failed == why and s.status == "failed"
    if why == adapt.TOO_SMALL:
        assert s.t == pytest.approx(1.0, abs=1e-6)
    assert count.shortest < inf
