"""Angles between vectors: true size, sign by a direction (Sayers 1990, table 5.3.3)."""

import math
import random

import numpy as np
import pytest

from bellcrank.symbolic.expr import PI, ZERO, Symbol, evaluate
from bellcrank.symbolic.vector.basis import Frame, angle, as_vector, axis_rotation, dot
from tests.symbolic.vector.trees import components, number, random_tree, random_vector

a, p = Symbol("a"), Symbol("p", positive=True)
q, s = Symbol("q", "coordinate"), Symbol("s", "coordinate")
small = Symbol("q", "coordinate", order=1)
n = Frame("n")
nrb = Frame("nrb", n, axis_rotation(2, s))
rb = Frame("rb", nrb, axis_rotation(0, q))


def test_roll_angle_of_a_car_is_its_coordinate():
    assert angle(nrb.axes[1], rb.axes[1], rb.axes[0]) is q
    assert angle(rb.axes[1], nrb.axes[1], rb.axes[0]) is -q
    assert angle(nrb.axes[1], rb.axes[1], -as_vector(rb.axes[0])) is -q


def test_length_of_the_vectors_does_not_matter():
    assert (
        angle(p * as_vector(nrb.axes[1]), 2 * as_vector(rb.axes[1]), 3 * as_vector(rb.axes[0])) is q
    )


def test_length_that_may_be_negative_turns_the_vector_around():
    for value, turned in ((2.0, 0.0), (-2.0, math.pi)):
        found = angle(a * as_vector(nrb.axes[1]), rb.axes[1], rb.axes[0])
        assert abs(evaluate([found], {"a": value, "q": 0.3, "s": 0.1})[0] - 0.3) == pytest.approx(
            turned
        )


def test_parallel_vectors():
    assert angle(n.axes[0], n.axes[0]) is ZERO
    assert angle(n.axes[0], -as_vector(n.axes[0])) is PI
    assert angle(n.axes[0], p * as_vector(n.axes[0]), n.axes[1]) is ZERO


def test_small_angle_is_a_ratio():
    tilted = Frame("t", n, axis_rotation(0, small))
    assert angle(n.axes[1], tilted.axes[1], n.axes[0]) is small


@pytest.mark.parametrize("seed", range(6))
def test_size_and_sign(seed):
    frames, values = random_tree(seed)
    rng = random.Random(seed)
    u, v, about = (random_vector(rng, frames, values) for _ in range(3))
    U, V, W = (components(x, values) for x in (u, v, about))
    size = math.acos(U @ V / np.linalg.norm(U) / np.linalg.norm(V))
    assert number(angle(u, v), values) == pytest.approx(size, abs=1e-10)
    signed = math.copysign(size, W @ np.cross(U, V))
    assert number(angle(u, v, about), values) == pytest.approx(signed, abs=1e-10)
    assert number(angle(v, u, about), values) == pytest.approx(-signed, abs=1e-10)


def test_turn_about_an_axis_reaches_all_quadrants():
    turned = Frame("t", n, axis_rotation(1, q))
    across = turned.vector((1, 0, 1))
    for value in (-3.0, -1.0, 0.5, 2.0):
        got = number(angle(n.vector((1, 0, 1)), across, n.axes[1]), {q: value, s: 0.0})
        assert got == pytest.approx(value)
    assert dot(across, n.axes[1]) is ZERO
