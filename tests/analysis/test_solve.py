"""Roots of systems of equations, against iterations written out in one unknown, and closed forms in
several."""

import numpy as np
import pytest

from bellcrank.analysis.root_finding import RootResult, levenberg_marquardt_root, newton_root

FAR = np.array([1e9])


def counted(f, slope):
    """A function of one unknown, and where it, and its slope, were asked."""
    asked, sloped = [], []

    def function(x):
        sloped.append(float(x[0]))
        return np.array([f(x[0])]), np.array([[slope(x[0])]])

    def values(x):
        asked.append(float(x[0]))
        return np.array([f(x[0])])

    return function, values, asked, sloped


@pytest.mark.parametrize("start", [2.5, 3.0, 9.0])
def test_derivatives_serve_as_long_as_nine_tenths_vanish_in_a_step(start):
    function, values, asked, sloped = counted(lambda x: x**3 - 2 * x - 4, lambda x: 3 * x * x - 2)
    found = levenberg_marquardt_root(function, values, np.array([start]), FAR)
    x, J, expected, renewed = start, 3 * start**2 - 2, [], [start]
    while abs(x**3 - 2 * x - 4) > 1e-13:
        before = abs(x**3 - 2 * x - 4)
        x -= (x**3 - 2 * x - 4) / J
        expected.append(x)
        if abs(x**3 - 2 * x - 4) > 0.1 * before:
            J = 3 * x * x - 2
            renewed.append(x)
    assert found.converged and found.x[0] == pytest.approx(2, rel=1e-12)
    n = min(len(asked), len(expected))
    assert n > 3 and asked[:n] == pytest.approx(expected[:n], rel=1e-9)
    assert sloped[: len(renewed)] == pytest.approx(renewed, rel=1e-9)
    assert found.derivatives[0, 0] == pytest.approx(10, rel=1e-9)  # those of the result
    assert found.moved == pytest.approx([abs(start - found.x[0])]) and found.steps == len(asked)


def test_no_step_is_longer_than_the_limit():
    function, values, asked, _ = counted(lambda x: x - 10.0, lambda x: 1.0)
    found = levenberg_marquardt_root(function, values, np.array([0.0]), np.array([4.0]))
    assert found.converged and asked[:3] == pytest.approx([4, 8, 10])


def test_where_there_is_no_root_the_nearest_point_is_told():
    """x^2 + 1 and y - 3: what is left is least at x = 0."""

    def values(x):
        return np.array([x[0] ** 2 + 1, x[1] - 3])

    def function(x):
        return values(x), np.array([[2 * x[0], 0.0], [0.0, 1.0]])

    found = levenberg_marquardt_root(function, values, np.array([2.0, 0.0]), np.full(2, 1e9))
    assert not found.converged
    assert found.x == pytest.approx([0, 3], abs=1e-3) and found.residuals == pytest.approx(
        [1, 0], abs=1e-6
    )
    few = levenberg_marquardt_root(function, values, np.array([2.0, 0.0]), np.full(2, 1e9), most=2)
    assert few.steps == 2


def test_steps_of_least_norm_leave_alone_what_nothing_determines():
    """a x + b y = c twice, unknowns in their own sizes: the nearest point of the line in x/4 and
    y."""
    J = np.array([[3.0, 5.0, 0.0], [6.0, 10.0, 0.0]])

    def function(x):
        return J @ x - [7.0, 14.0], J

    start = np.array([4.0, 0.5, 2.0])
    found = levenberg_marquardt_root(function, lambda x: function(x)[0], start, np.full(3, 1e9))
    a = np.array([3.0 * 4, 5.0])  # by unknowns of size 4 and 1
    step = -(3 * 4 + 5 * 0.5 - 7) * a / (a @ a)
    assert found.converged and found.x == pytest.approx([4 + 4 * step[0], 0.5 + step[1], 2])
    assert found.x[2] == 2.0
    free = found.null_space
    assert free.shape == (3, 2) and abs(J @ free).max() < 1e-12
    assert RootResult(
        np.zeros(0), np.zeros(0), np.zeros((0, 0)), True, 0, np.zeros(0)
    ).null_space.shape == (0, 0)


def test_newton_takes_the_root_it_converges_to_at_once():
    """Each step at most half as long as the one before; no root outside the limit, none where steps
    do not shrink."""
    function, *_ = counted(lambda x: x * x - 2, lambda x: 2 * x)
    found = newton_root(function, np.array([1.5]), np.array([0.2]))
    assert (
        found.converged
        and found.x[0] == pytest.approx(np.sqrt(2), rel=1e-15)
        and 2 < found.steps < 7
    )
    assert found.moved[0] == pytest.approx(1.5 - np.sqrt(2))
    assert newton_root(function, np.array([1.5]), np.array([0.05])) is None
    slow, *_ = counted(lambda x: x**4 - 1, lambda x: 4 * x**3)
    assert (
        newton_root(slow, np.array([20.0]), FAR) is None
    )  # each step is three quarters of the one before
    wild, *_ = counted(lambda x: np.cbrt(x), lambda x: np.cbrt(x) / (3 * x))
    assert newton_root(wild, np.array([1.0]), FAR) is None
    rooted, *_ = counted(lambda x: x - 3.0, lambda x: 1.0)
    assert newton_root(rooted, np.array([3.0]), FAR).steps == 0


def test_a_soft_direction_next_to_a_stiff_one_is_found_as_well():
    """Minimum of K/2 (x - y^2)^2 + k/2 y^2 - g x - f y: y = f/(k - 2 g), though nearly all of y
    changes what is left by less than rounding in x does."""
    K, k, g, f = 5e9, 1.0, 0.3, 1e-6

    def function(z):
        x, y = z
        push = K * (x - y * y)
        return np.array([push - g, -2 * y * push + k * y - f]), np.array(
            [[K, -2 * K * y], [-2 * K * y, k - 2 * push + 4 * K * y * y]]
        )

    found = newton_root(function, np.zeros(2), np.full(2, 1e9))
    assert found is not None and found.x[1] == pytest.approx(f / (k - 2 * g), rel=1e-6)
