"""Products of vectors against rotation matrices, and the identities between them (Sayers 1990,
table 5.3.2)."""

import random

import numpy as np
import pytest

from bellcrank.core.errors import ModelError
from bellcrank.symbolic.expr import MINUS_ONE, ONE, ZERO, Symbol, apply_builtin, nominal, sqrt
from bellcrank.symbolic.vector.basis import (
    Frame,
    Vector,
    as_vector,
    axis_rotation,
    cross,
    direction,
    dot,
    magnitude,
    project,
)
from tests.symbolic.vector.trees import absolute, components, number, random_tree, random_vector

a, b = Symbol("a"), Symbol("b")
q = Symbol("q", "coordinate")
n = Frame("n")
f = Frame("f", n, axis_rotation(0, q))


def scene(seed):
    frames, values = random_tree(seed)
    rng = random.Random(seed + 100)
    return frames, values, [random_vector(rng, frames, values) for _ in range(3)]


@pytest.mark.parametrize("seed", range(6))
def test_sums_and_multiples(seed):
    _, values, (u, v, _) = scene(seed)
    U, V = components(u, values), components(v, values)
    values[a] = 1.7
    np.testing.assert_allclose(components(u + v, values), U + V, atol=1e-13)
    np.testing.assert_allclose(components(u - v, values), U - V, atol=1e-13)
    np.testing.assert_allclose(components(-u, values), -U, atol=1e-13)
    np.testing.assert_allclose(components(a * u * 2, values), 3.4 * U, atol=1e-13)
    np.testing.assert_allclose(components(u / a, values), U / 1.7, atol=1e-13)


@pytest.mark.parametrize("seed", range(6))
def test_products(seed):
    _, values, (u, v, w) = scene(seed)
    U, V, W = (components(x, values) for x in (u, v, w))
    assert number(dot(u, v), values) == pytest.approx(U @ V, abs=1e-12)
    np.testing.assert_allclose(components(cross(u, v), values), np.cross(U, V), atol=1e-12)
    assert number(magnitude(u), values) == pytest.approx(np.linalg.norm(U), abs=1e-12)
    np.testing.assert_allclose(components(direction(u), values), U / np.linalg.norm(U), atol=1e-12)
    np.testing.assert_allclose(
        components(project(u, v), values), U - V * (U @ V) / (V @ V), atol=1e-12
    )
    assert number(dot(u, cross(v, w)), values) == pytest.approx(np.linalg.det([U, V, W]), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_identities(seed):
    _, values, (u, v, w) = scene(seed)

    def same(left, right):
        np.testing.assert_allclose(components(left, values), components(right, values), atol=1e-11)

    same(cross(u, v), -cross(v, u))
    same(cross(u, cross(v, w)), v * dot(u, w) - w * dot(u, v))
    same(cross(u, cross(v, w)) + cross(v, cross(w, u)) + cross(w, cross(u, v)), Vector({}))
    lagrange = dot(cross(u, v), cross(u, v)), dot(u, u) * dot(v, v) - dot(u, v) * dot(u, v)
    assert number(lagrange[0], values) == pytest.approx(number(lagrange[1], values), rel=1e-10)
    assert number(dot(project(u, v), v), values) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_components_in_any_frame(seed):
    frames, values, (u, _, _) = scene(seed)
    for frame in frames:
        found = [number(c, values) for c in frame.coordinates(u)]
        np.testing.assert_allclose(
            found, absolute(frame, values).T @ components(u, values), atol=1e-12
        )
        again = frame.vector(frame.coordinates(u))
        np.testing.assert_allclose(components(again, values), components(u, values), atol=1e-12)


def test_vector_of_zeros_is_empty():
    v = n.vector((a, 0, 0))
    assert not (v - v)
    assert not n.vector((0, 0, 0))
    assert str(v - v) == "0"
    assert magnitude(v - v) is ZERO


def test_length_along_an_axis_is_an_absolute_value():
    assert magnitude(n.axes[0]) is ONE
    assert magnitude(n.vector((q, 0, 0))) is apply_builtin("abs", q)
    assert magnitude(n.vector((a, b, 0))) is sqrt(a**2 + b**2)


def test_direction_of_a_unit_vector_is_itself():
    assert direction(n.axes[1]).terms == {n.axes[1]: ONE}
    assert direction(-as_vector(n.axes[1])).terms == {n.axes[1]: MINUS_ONE}
    assert direction(n.vector((0, 3, 0))).terms == {n.axes[1]: ONE}


def test_nothing_has_no_direction():
    with pytest.raises(ModelError, match="division by zero"):
        direction(n.vector((0, 0, 0)))


def test_projection_on_a_plane_drops_the_normal():
    assert project(n.vector((a, b, 1)), n.axes[2]).terms == n.vector((a, b, 0)).terms
    assert project(n.vector((a, b, 1)), 2 * as_vector(n.axes[2])).terms == n.vector((a, b, 0)).terms


def test_coordinates_change_to_another_frame_at_the_nominal_place():
    """Sayers (1990), convert-coordinates: b_i = nominal(r . b_i)."""
    moved = n.vector((a, b, 2))
    assert [nominal(c) for c in f.coordinates(moved)] == [a, b, 2 * ONE]


def test_vector_takes_numbers_and_numpy_numbers():
    assert (n.vector((1, 2.5, np.float64(0.5))) * np.int64(2)).terms == n.vector((2, 5, 1)).terms
