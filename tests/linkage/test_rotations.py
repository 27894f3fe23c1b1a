"""Rotation vectors against SciPy and against differences, below and above the angle where series
end."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bellcrank.linkage.rotations import (
    angular_acceleration,
    angular_velocity,
    rotation_angle,
    rotation_matrix,
    rotation_series,
    rotation_vector,
    skew,
    vector_acceleration,
    vector_rate,
)
from bellcrank.verify.taylor import central_difference

RNG = np.random.default_rng(3)
UNIT = RNG.normal(size=(6, 3))
UNIT /= np.linalg.norm(UNIT, axis=1)[:, None]
SIZES = np.array([0.0, 1e-9, 0.02, 0.9, 1.1, 2.8])
P, DP, DDP = UNIT * SIZES[:, None], RNG.normal(size=(6, 3)), RNG.normal(size=(6, 3))


def test_rotations_of_their_vectors():
    R = rotation_matrix(P)
    assert abs(R - Rotation.from_rotvec(P).as_matrix()).max() < 1e-14
    assert rotation_vector(R) == pytest.approx(P, rel=1e-12, abs=1e-15)
    assert rotation_matrix(P[3]) == pytest.approx(R[3], abs=1e-15)
    assert np.einsum("kij,kj->ki", skew(P), DP) == pytest.approx(np.cross(P, DP))
    assert rotation_angle(R[4], R) == pytest.approx(
        (Rotation.from_matrix(R[4].T) * Rotation.from_matrix(R)).magnitude(), abs=1e-12
    )


def test_shapes_and_their_slopes():
    """sin x/x, (1 - cos x)/x^2, (x - sin x)/x^3: series and closed forms meet at one, and have
    their slopes."""
    x = np.array([0.5, 0.999, 1.0, 1.001, 2.0])
    a, b, c, db, dc = rotation_series(x * x)
    assert a == pytest.approx(np.sinc(x / np.pi), rel=1e-14)
    assert b == pytest.approx(2 * (np.sin(x / 2) / x) ** 2, rel=1e-14)
    assert c == pytest.approx((x - np.sin(x)) / x**3, rel=1e-12)
    assert db == pytest.approx(
        central_difference(lambda h: rotation_series(x * x + h)[1], 1e-2), rel=1e-9
    )
    assert dc == pytest.approx(
        central_difference(lambda h: rotation_series(x * x + h)[2], 1e-2), rel=1e-9
    )


def test_angular_velocity_and_acceleration_of_a_vector_that_moves():
    """w of R' = w x R along p + h p' + h^2 p''/2, and back."""

    def at(h):
        return P + h * DP + h * h / 2 * DDP

    turning = np.einsum(
        "kij,klj->kil",
        central_difference(lambda h: rotation_matrix(at(h)), 1e-2),
        rotation_matrix(P),
    )  # R' R^T
    w = np.stack([turning[:, 2, 1], turning[:, 0, 2], turning[:, 1, 0]], -1)
    assert angular_velocity(P, DP) == pytest.approx(w, abs=1e-10)
    rate = central_difference(lambda h: angular_velocity(at(h), DP + h * DDP), 1e-2)
    assert angular_acceleration(P, DP, DDP) == pytest.approx(rate, abs=1e-9)
    assert vector_rate(P, angular_velocity(P, DP)) == pytest.approx(DP, rel=1e-12, abs=1e-14)
    assert vector_acceleration(P, DP, angular_acceleration(P, DP, DDP)) == pytest.approx(
        DDP, rel=1e-11, abs=1e-13
    )
