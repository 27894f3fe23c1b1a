"""Dyadics: sums of pairs of unit vectors, as inertias are."""

import random

import numpy as np
import pytest

from bellcrank.expr import ONE, ZERO, Symbol
from bellcrank.vector.basis import IDENTITY, Dyadic, Frame, cross, dot, outer, vector
from tests.vector.trees import absolute, components, matrix, number, random_tree, random_vector

a, b = Symbol("a"), Symbol("b")
n = Frame("n")


def scene(seed):
    frames, values = random_tree(seed)
    rng = random.Random(seed + 200)
    entries = [[Symbol(f"i{i}{j}") for j in range(3)] for i in range(3)]
    values.update({e: rng.uniform(-1, 1) for row in entries for e in row})
    D = Dyadic.from_matrix(frames[4], entries)
    u, v = random_vector(rng, frames, values), random_vector(rng, frames, values)
    R = absolute(frames[4], values)
    return frames, values, D, R @ matrix(entries, values) @ R.T, u, v


@pytest.mark.parametrize("seed", range(5))
def test_products_with_vectors(seed):
    _, values, D, M, u, v = scene(seed)
    U, V = components(u, values), components(v, values)
    np.testing.assert_allclose(components(D.dot(u), values), M @ U, atol=1e-12)
    np.testing.assert_allclose(components(D.rdot(u), values), U @ M, atol=1e-12)
    assert number(dot(v, D.dot(u)), values) == pytest.approx(V @ M @ U, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_components_in_any_frame(seed):
    frames, values, D, M, _, _ = scene(seed)
    for frame in frames[:4]:
        R = absolute(frame, values)
        np.testing.assert_allclose(matrix(D.matrix(frame), values), R.T @ M @ R, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_sums_multiples_and_pairs(seed):
    frames, values, D, M, u, v = scene(seed)
    U, V = components(u, values), components(v, values)
    pair = outer(u, v)
    np.testing.assert_allclose(matrix(pair.matrix(frames[0]), values), np.outer(U, V), atol=1e-12)
    np.testing.assert_allclose(matrix((D + pair).matrix(frames[0]), values), M + np.outer(U, V), atol=1e-12)
    np.testing.assert_allclose(matrix((D - 2 * pair).matrix(frames[0]), values), M - 2 * np.outer(U, V), atol=1e-12)


def test_gyroscopic_moment_of_an_isotropic_body_vanishes():
    frames, _ = random_tree(1)
    isotropic = Dyadic.from_matrix(frames[3], IDENTITY) * a
    w = frames[3].vector((a, b, 1))
    assert not cross(w, isotropic.dot(w))


def test_zero_terms_are_left_out():
    D = outer(n.vector((a, 0, 0)), n.axes[1])
    assert list(D.terms) == [(n.axes[0], n.axes[1])]
    assert (D - D).terms == {}
    assert (0 * D).terms == {}
    assert Dyadic.from_matrix(n, IDENTITY).terms == {(e, e): ONE for e in n.axes}


def test_shared_axes_make_one_pair():
    c = Frame("c", n, IDENTITY)
    assert outer(vector(c.axes[0]) + vector(n.axes[0]), n.axes[1]).terms == {(n.axes[0], n.axes[1]): 2 * ONE}


def test_text():
    assert str(a * outer(n.axes[0], n.axes[1])) == "a*([n1] . [n2])"
    assert str(outer(n.axes[0], n.axes[0]) * ZERO) == "0"
