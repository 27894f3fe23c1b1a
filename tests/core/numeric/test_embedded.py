"""Adaptive methods: order conditions of all rooted trees."""

from functools import cache
from math import prod

import numpy as np
import pytest

from bellcrank.core.numeric.embedded import EMBEDDED, EmbeddedMethod

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
    return [
        max(abs(b @ weights(t, A) - at**n / density(t)) for t in trees(n))
        for n in range(1, order + 1)
    ]


def square(m: EmbeddedMethod):
    A = np.zeros((len(m.stage_weights), len(m.stage_weights)))
    for i, row in enumerate(m.stage_weights):
        A[i, : len(row)] = row
    return A


def padded(row, n):
    return np.pad(np.array(row), (0, n - len(row)))


def test_trees_are_all_there():
    assert [len(trees(n)) for n in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]


@pytest.mark.parametrize("m", METHODS, ids=lambda m: m.name)
def test_every_tree_up_to_the_order(m):
    A, n = square(m), len(m.stage_weights)
    b = A[m.result_stage]
    found = defects(b, A, m.order + 1)
    assert max(found[:-1]) < 1e-13 and found[-1] > 1e-5
    assert np.abs(A.sum(axis=1) - m.nodes).max() < 1e-14
    estimate = defects(b - padded(m.error_weights, n), A, EMBEDDED_ORDER[m.name] + 1)
    assert max(estimate[:-1]) < 1e-13 and estimate[-1] > 1e-6
    if m.second_error_weights:
        lower = defects(b - padded(m.second_error_weights, n), A, 4)
        assert max(lower[:3]) < 1e-13 and lower[3] > 1e-6


@pytest.mark.parametrize("m", METHODS, ids=lambda m: m.name)
def test_states_within_a_step_have_their_order(m):
    A, n, order = square(m), len(m.stage_weights), DENSE_ORDER[m.name]
    unit = np.eye(n)
    b = A[m.result_stage]
    parts = [
        b,
        unit[0] - b,
        2 * b - unit[m.result_stage] - unit[0],
        *(padded(row, n) for row in m.dense_weights),
    ]
    next_one = 0.0
    for x in (0.25, 0.5, 0.8):
        total = parts[-1]
        for i in range(len(parts) - 2, -1, -1):
            total = parts[i] + (x if i % 2 else 1 - x) * total
        found = defects(x * total, A, order + 1, at=x)
        assert max(found[:-1]) < 1e-13
        next_one = max(next_one, found[-1])
    assert next_one > 1e-6
