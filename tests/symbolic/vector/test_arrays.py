"""Rotations and products as plain arrays of three."""

import numpy as np
import pytest

from bellcrank.symbolic.expr import MINUS_ONE, ONE, ZERO, Number, Symbol
from bellcrank.symbolic.vector.basis import (
    IDENTITY,
    add3,
    axis_rotation,
    cross3,
    dot3,
    euler_parameter_rotation,
    matmul,
    matvec,
    neg3,
    rotation_about,
    scale3,
    transpose,
)
from tests.symbolic.vector.trees import matrix, number

q = Symbol("q", "coordinate")
NAMES = [Symbol(f"s{i}") for i in range(18)]
VALUES = {s: np.sin(3.0 * i + 1) for i, s in enumerate(NAMES)} | {q: 0.83}
A = tuple(tuple(NAMES[3 * i + j] for j in range(3)) for i in range(3))
B = tuple(tuple(NAMES[9 + 3 * i + j] for j in range(3)) for i in range(3))
U, V = A[0], B[1]


def array(v):
    return np.array([number(c, VALUES) for c in v])


def test_products_of_arrays():
    assert number(dot3(U, V), VALUES) == pytest.approx(array(U) @ array(V))
    np.testing.assert_allclose(array(cross3(U, V)), np.cross(array(U), array(V)), atol=1e-15)
    np.testing.assert_allclose(
        matrix(matmul(A, B), VALUES), matrix(A, VALUES) @ matrix(B, VALUES), atol=1e-15
    )
    np.testing.assert_allclose(array(matvec(A, V)), matrix(A, VALUES) @ array(V), atol=1e-15)
    np.testing.assert_allclose(matrix(transpose(A), VALUES), matrix(A, VALUES).T)


def test_sums_and_multiples_of_arrays():
    np.testing.assert_allclose(array(add3(U, V, U)), 2 * array(U) + array(V))
    np.testing.assert_allclose(array(scale3(Number(3), U)), 3 * array(U))
    np.testing.assert_allclose(array(neg3(U)), -array(U))


def rodrigues(axis, angle):
    n = np.asarray(axis, dtype=float)
    skew = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
    return np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * skew @ skew


@pytest.mark.parametrize(
    "axis",
    [
        (1, 0, 0),
        (0, 1, 0),
        (0, 0, 1),
        (-1, 0, 0),
        (0, -1, 0),
        (0.6, 0, 0.8),
        (2 / 3, -2 / 3, 1 / 3),
    ],
)
def test_rotation_about_an_axis(axis):
    exact = tuple(Number(round(15 * c)) / 15 for c in axis)
    R = rotation_about(exact, q)
    np.testing.assert_allclose(matrix(R, VALUES), rodrigues(axis, 0.83), atol=1e-14)


@pytest.mark.parametrize("k", range(3))
def test_rotation_about_a_coordinate_axis_has_simple_entries(k):
    R = axis_rotation(k, q)
    axis = tuple(ONE if i == k else ZERO for i in range(3))
    assert rotation_about(axis, q) == R
    assert rotation_about(neg3(axis), q) == transpose(R)
    assert matmul(R, transpose(R)) == IDENTITY
    assert MINUS_ONE not in {e for row in R for e in row}


def test_euler_parameters():
    angle, axis = 1.1, np.array([2, -2, 1]) / 3
    e = tuple(Symbol(f"e{i}", "coordinate") for i in range(4))
    values = dict(zip(e, (np.cos(angle / 2), *(np.sin(angle / 2) * axis))))
    np.testing.assert_allclose(
        matrix(euler_parameter_rotation(e), values), rodrigues(axis, angle), atol=1e-14
    )
