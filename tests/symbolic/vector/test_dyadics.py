"""Dyadics, as inertias are: matrices along the axes of a frame, multiplied by vectors."""

import random

import numpy as np
import pytest

from bellcrank.symbolic.expr import Symbol
from bellcrank.symbolic.vector.basis import IDENTITY, Frame, cross, dot
from tests.symbolic.vector.trees import (
    absolute,
    components,
    matrix,
    number,
    random_tree,
    random_vector,
)

a, b = Symbol("a"), Symbol("b")


@pytest.mark.parametrize("seed", range(5))
def test_products_with_vectors(seed):
    frames, values = random_tree(seed)
    rng = random.Random(seed + 200)
    entries = [[Symbol(f"i{i}{j}") for j in range(3)] for i in range(3)]
    values.update({e: rng.uniform(-1, 1) for row in entries for e in row})
    u, v = random_vector(rng, frames, values), random_vector(rng, frames, values)
    R = absolute(frames[4], values)
    M, U, V = R @ matrix(entries, values) @ R.T, components(u, values), components(v, values)
    np.testing.assert_allclose(components(frames[4].times(entries, u), values), M @ U, atol=1e-12)
    assert number(dot(v, frames[4].times(entries, u)), values) == pytest.approx(
        V @ M @ U, abs=1e-12
    )


def test_gyroscopic_moment_of_an_isotropic_body_vanishes():
    frames, _ = random_tree(1)
    w = frames[3].vector((a, b, 1))
    assert not cross(w, frames[3].times(IDENTITY, w) * a)


def test_zero_components_are_left_out():
    n = Frame("n")
    assert n.times(IDENTITY, n.vector((a, 0, b))).terms == {n.axes[0]: a, n.axes[2]: b}
