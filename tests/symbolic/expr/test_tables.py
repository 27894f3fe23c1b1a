"""Tables against SciPy's interpolation and against differences, inside their points, at them and
past."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, RectBivariateSpline, RegularGridInterpolator

from bellcrank.symbolic.expr import Symbol, evaluate
from bellcrank.symbolic.expr.table import table

X, Y = [-1.0, 0.5, 1.0, 2.5, 4.0], [0.0, 1.0, 1.5, 3.0]
V = [2.0, -1.0, 0.5, 3.0, 2.5]
Z = np.random.default_rng(1).normal(size=(5, 4))
PLACES = [(-0.7, 0.2), (0.5, 1.0), (0.8, 1.2), (3.9, 2.9), (4.0, 3.0), (-1.0, 0.0)]


@pytest.mark.parametrize("order", [1, 3])
def test_one_argument(order):
    """Outside its points it continues with the end slope."""
    t = table(X, V, order)
    known = CubicSpline(X, V) if order == 3 else (lambda x: np.interp(x, X, V))
    for x in (-1.0, -0.3, 0.5, 0.9, 3.3, 4.0):
        assert t(x) == t.value(x) == pytest.approx(float(known(x)), rel=1e-13)
    ends = [float(known(x, 1)) for x in (-1, 4)] if order == 3 else [-3 / 1.5, -0.5 / 1.5]
    assert t(-3.0) == pytest.approx(2.0 - 2 * ends[0]) and t(4.5) == pytest.approx(
        2.5 + 0.5 * ends[1]
    )
    slope = t.partial(0, [Symbol("x", "variable")]).function
    assert slope.derivative == (1,)
    assert [slope(x) for x in (-3.0, 4.5)] == pytest.approx(ends)
    assert slope(0.7) == pytest.approx((t(0.7 + 1e-6) - t(0.7 - 1e-6)) / 2e-6, rel=1e-6)
    if order == 3:
        bend = slope.partial(0, [Symbol("x", "variable")]).function
        assert bend(0.7) == pytest.approx(float(known(0.7, 2))) and bend(-3.0) == bend(4.5) == 0


@pytest.mark.parametrize("order", [1, 3])
def test_two_arguments(order):
    """Values and slopes by each argument; outside its points the end value holds, and slopes by
    what is past are zero."""
    t = table(X, Y, Z, order)
    known = (
        RectBivariateSpline(X, Y, Z, kx=3, ky=3).ev
        if order == 3
        else (lambda *at: RegularGridInterpolator((X, Y), Z)(at).item())
    )
    args = [Symbol("x", "variable"), Symbol("y", "variable")]
    slopes = [t.partial(i, args).function for i in (0, 1)]
    for x, y in PLACES:
        assert t(x, y) == pytest.approx(float(known(x, y)), rel=1e-12)
    for x, y in PLACES[:1] + PLACES[2:4]:
        for slope, (a, b) in zip(slopes, ((1e-6, 0), (0, 1e-6)), strict=True):
            expected = (t(x + a, y + b) - t(x - a, y - b)) / 2e-6
            assert slope(x, y) == pytest.approx(expected, rel=1e-5, abs=1e-8)
            assert evaluate(
                [t.partial(slopes.index(slope), args)], dict(zip(args, (x, y), strict=True))
            ) == [slope(x, y)]
    assert t(9.0, 1.2) == pytest.approx(t(4.0, 1.2)) and t(0.8, -5.0) == pytest.approx(t(0.8, 0.0))
    assert slopes[0](9.0, 1.2) == slopes[1](0.8, -5.0) == 0
    assert slopes[1](9.0, 1.2) == pytest.approx(slopes[1](4.0, 1.2)) != 0
    assert slopes[0](0.8, -5.0) == pytest.approx(slopes[0](0.8, 0.0)) != 0
    if order == 3:
        mixed, twice = slopes[0].partial(1, args).function, slopes[1].partial(1, args).function
        spline = RectBivariateSpline(X, Y, Z)
        assert mixed(0.8, 1.2) == pytest.approx(float(spline.ev(0.8, 1.2, dx=1, dy=1)))
        assert twice(0.8, 1.2) == pytest.approx(float(spline.ev(0.8, 1.2, dy=2)))
