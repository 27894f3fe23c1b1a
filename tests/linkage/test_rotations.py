"""Rotation vectors against SciPy and against differences, below and above the angle where series end."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bellcrank.linkage.rotations import angle, exp, log, shapes, skew, spin, spin_rate, unspin, unspin_rate
from bellcrank.verify.taylor import difference

RNG = np.random.default_rng(3)
UNIT = RNG.normal(size=(6, 3))
UNIT /= np.linalg.norm(UNIT, axis=1)[:, None]
SIZES = np.array([0.0, 1e-9, 0.02, 0.9, 1.1, 2.8])
P, DP, DDP = UNIT * SIZES[:, None], RNG.normal(size=(6, 3)), RNG.normal(size=(6, 3))


def test_rotations_of_their_vectors():
    R = exp(P)
    assert abs(R - Rotation.from_rotvec(P).as_matrix()).max() < 1e-14
    assert log(R) == pytest.approx(P, rel=1e-12, abs=1e-15)
    assert exp(P[3]) == pytest.approx(R[3], abs=1e-15)
    assert np.einsum("kij,kj->ki", skew(P), DP) == pytest.approx(np.cross(P, DP))
    assert angle(R[4], R) == pytest.approx(
        (Rotation.from_matrix(R[4].T) * Rotation.from_matrix(R)).magnitude(), abs=1e-12
    )


def test_shapes_and_their_slopes():
    """sin x/x, (1 - cos x)/x^2, (x - sin x)/x^3: series and closed forms meet at one, and have their slopes."""
    x = np.array([0.5, 0.999, 1.0, 1.001, 2.0])
    a, b, c, db, dc = shapes(x * x)
    assert a == pytest.approx(np.sinc(x / np.pi), rel=1e-14)
    assert b == pytest.approx(2 * (np.sin(x / 2) / x) ** 2, rel=1e-14)
    assert c == pytest.approx((x - np.sin(x)) / x**3, rel=1e-12)
    assert db == pytest.approx(difference(lambda h: shapes(x * x + h)[1], 1e-2), rel=1e-9)
    assert dc == pytest.approx(difference(lambda h: shapes(x * x + h)[2], 1e-2), rel=1e-9)


def test_angular_velocity_and_acceleration_of_a_vector_that_moves():
    """w of R' = w x R along p + h p' + h^2 p''/2, and back."""

    def at(h):
        return P + h * DP + h * h / 2 * DDP

    turning = np.einsum("kij,klj->kil", difference(lambda h: exp(at(h)), 1e-2), exp(P))  # R' R^T
    w = np.stack([turning[:, 2, 1], turning[:, 0, 2], turning[:, 1, 0]], -1)
    assert spin(P, DP) == pytest.approx(w, abs=1e-10)
    rate = difference(lambda h: spin(at(h), DP + h * DDP), 1e-2)
    assert spin_rate(P, DP, DDP) == pytest.approx(rate, abs=1e-9)
    assert unspin(P, spin(P, DP)) == pytest.approx(DP, rel=1e-12, abs=1e-14)
    assert unspin_rate(P, DP, spin_rate(P, DP, DDP)) == pytest.approx(DDP, rel=1e-11, abs=1e-13)
