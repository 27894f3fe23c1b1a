"""The curve that carries a loop through a singular position."""

import numpy as np
import pytest

from bellcrank.numeric.bridge import Curve, _ahead


def test_a_curve_has_places_slopes_and_second_slopes_of_both_ends():
    A, chord, *ends = np.random.default_rng(1).normal(size=(6, 3))
    curve = Curve(A, chord, *ends, share=chord, approached=False)
    for s, expected in ((0.0, (A, *ends[:2])), (1.0, (A + chord, *ends[2:]))):
        for found, value in zip(curve.at(s), expected, strict=True):
            assert found == pytest.approx(value, abs=1e-13)
    h = 1e-5
    (low, low_slope, _), (high, high_slope, _) = curve.at(0.4 - h), curve.at(0.4 + h)
    assert curve.at(0.4)[1] == pytest.approx((high - low) / (2 * h), rel=1e-6)
    assert curve.at(0.4)[2] == pytest.approx((high_slope - low_slope) / (2 * h), rel=1e-6)


def test_a_point_ahead_of_a_circle_is_off_by_the_third_power_of_the_distance():
    z, tangent = np.eye(2)
    for far in (0.1, 0.05):
        exact = [np.cos(far), np.sin(far)]
        assert np.linalg.norm(_ahead(z, tangent, -z, far) - exact) == pytest.approx(far**3 / 6, rel=0.01)
