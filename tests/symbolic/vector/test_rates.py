"""Time derivatives: a unit vector turns with its frame, omega x e (Sayers 1990, eq. 5.3.2)."""

import random

import numpy as np
import pytest

from bellcrank.symbolic.expr import ONE, ZERO, Symbol, cos, derivative, sin
from bellcrank.symbolic.vector.basis import Frame, Vector, axis_rotation, dot, time_derivative
from tests.symbolic.vector.trees import components, number


def turning_chain(seed, size=5):
    """Frames turning about their own axes, with angular velocities, and the motion q(t) = q0 + u
    t."""
    rng = random.Random(seed)
    frames, start, speeds = [Frame("n")], {}, {}
    for i in range(size):
        q, u = Symbol(f"q{i}", "coordinate"), Symbol(f"u{i}", "speed")
        parent, k = rng.choice(frames), rng.randrange(3)
        frame = Frame(f"b{i}", parent, axis_rotation(k, q))
        turn = Vector({parent.axes[k]: u})
        frame.omega = turn if parent.omega is None else parent.omega + turn
        frames.append(frame)
        start[q], speeds[q] = rng.uniform(-2, 2), (u, rng.uniform(-1, 1))
    return frames, start, speeds


def at(t, start, speeds):
    values = {q: start[q] + u * t for q, (_, u) in speeds.items()}
    values.update(dict(speeds.values()))
    return values


@pytest.mark.parametrize("seed", range(5))
def test_rate_agrees_with_differences(seed):
    frames, start, speeds = turning_chain(seed)
    coordinates = list(speeds)
    v = Vector.from_pairs(
        (e, sin(coordinates[i % 5]) + coordinates[(i + 1) % 5] * cos(coordinates[i % 3]))
        for i, f in enumerate(frames)
        for e in f.axes
    )
    slope = time_derivative(v, lambda s: speeds[s][0] if s in speeds else ZERO)
    h = 1e-5
    plus, minus = (components(v, at(t, start, speeds)) for t in (h, -h))
    np.testing.assert_allclose(
        components(slope, at(0, start, speeds)), (plus - minus) / (2 * h), atol=2e-8
    )


@pytest.mark.parametrize("seed", range(3))
def test_rate_of_a_product_of_vectors(seed):
    frames, start, speeds = turning_chain(seed)

    def of(s):
        return speeds[s][0] if s in speeds else ZERO

    a = frames[2].vector((1, sin(next(iter(speeds))), 2))
    b = frames[4].vector((3, 0, next(iter(speeds))))
    left = derivative(dot(a, b), of)
    right = dot(time_derivative(a, of), b) + dot(a, time_derivative(b, of))
    values = at(0, start, speeds)
    assert number(left, values) == pytest.approx(number(right, values), abs=1e-12)


def test_fixed_directions_do_not_turn():
    n = Frame("n")
    x, v = Symbol("x", "coordinate"), Symbol("v", "speed")
    assert not time_derivative(n.axes[0], lambda s: ZERO)
    assert time_derivative(n.vector((x, 0, 1)), {x: v}.get).terms == {n.axes[0]: v}


def test_unit_vector_turns_with_the_frame_that_introduced_it():
    n = Frame("n")
    q, u = Symbol("q", "coordinate"), Symbol("u", "speed")
    b = Frame("b", n, axis_rotation(2, q), omega=Vector({n.axes[2]: u}))
    assert time_derivative(b.axes[0], {q: u}.get).terms == {b.axes[1]: u}
    assert time_derivative(b.axes[1], {q: u}.get).terms == {b.axes[0]: -u}
    assert not time_derivative(b.axes[2], {q: u}.get)
    assert time_derivative(
        2 * time_derivative(b.axes[0], {q: u}.get), lambda s: ONE if s is u else u
    ).terms == {
        b.axes[1]: 2 * ONE,
        b.axes[0]: -2 * u**2,
    }
