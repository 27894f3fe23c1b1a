"""Euler parameters: rates, conversions, and the two orders in which people write them.

Bellcrank writes (e0, e1, e2, e3) with e0 = cos(theta/2); AUTOLEV and Kane & Levinson write (e1, e2,
e3, e4) with the scalar last. `R[i][j] = a_i . b_j`. Kane, Likins & Levinson, Spacecraft Dynamics
(1983), sections 1.3 and 1.13.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.symbolic.expr import Expr, Number, add, mul, neg
from bellcrank.symbolic.vector.basis import Mat3, Vec3

HALF = Number(Fraction(1, 2))


def scalar_first(e: Sequence) -> tuple:
    """(e1, e2, e3, e4) with the scalar last, as (e0, e1, e2, e3)."""
    return (e[3], e[0], e[1], e[2])


def scalar_last(e: Sequence) -> tuple:
    """(e0, e1, e2, e3) with the scalar first, as (e1, e2, e3, e4)."""
    return (e[1], e[2], e[3], e[0])


def euler_rotation_matrix(e: Sequence[Any]) -> Mat3:
    """R_AB for (e0, e1, e2, e3) whose squares add up to 1 (Kane, Likins & Levinson 1983, 1.3.6 to
    1.3.14)."""
    e0, e1, e2, e3 = e
    return (
        (1 - 2 * (e2 * e2 + e3 * e3), 2 * (e1 * e2 - e0 * e3), 2 * (e1 * e3 + e0 * e2)),
        (2 * (e1 * e2 + e0 * e3), 1 - 2 * (e1 * e1 + e3 * e3), 2 * (e2 * e3 - e0 * e1)),
        (2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), 1 - 2 * (e1 * e1 + e2 * e2)),
    )


def body_rates(e: Sequence[Expr], w: Vec3) -> tuple[Expr, Expr, Expr, Expr]:
    """e' from the components of the angular velocity of B in A along the axes of B."""
    e0, e1, e2, e3 = e
    w1, w2, w3 = w

    def half_sum(*terms: Expr) -> Expr:
        return mul(HALF, add(*terms))

    return (
        half_sum(neg(mul(e1, w1)), neg(mul(e2, w2)), neg(mul(e3, w3))),
        half_sum(mul(e0, w1), mul(e2, w3), neg(mul(e3, w2))),
        half_sum(mul(e0, w2), mul(e3, w1), neg(mul(e1, w3))),
        half_sum(mul(e0, w3), mul(e1, w2), neg(mul(e2, w1))),
    )


def from_axis_angle(axis: Sequence[float], angle: float) -> tuple[float, float, float, float]:
    """(e0, e1, e2, e3) of a turn by an angle (rad) about an axis."""
    n = np.asarray(axis, dtype=float)
    length = float(np.linalg.norm(n)) if n.shape == (3,) else 0.0
    if not length > 0:
        raise ModelError(f"axis={axis!r} must be three numbers that are not all zero")
    s = math.sin(angle / 2) / length
    return (math.cos(angle / 2), *(float(s * x) for x in n))  # type: ignore[return-value]


def to_axis_angle(e: Sequence[float]) -> tuple[tuple[float, float, float], float]:
    """Axis (unit vector) and angle (rad, 0 to pi) of (e0, e1, e2, e3)."""
    e0, *vector = _normalized(e)
    sign = -1.0 if e0 < 0 else 1.0
    size = math.sqrt(sum(x * x for x in vector))
    angle = 2 * math.atan2(size, abs(e0))
    axis = tuple(sign * x / size for x in vector) if size > 0 else (1.0, 0.0, 0.0)
    return axis, angle  # type: ignore[return-value]


def to_matrix(e: Sequence[float]) -> np.ndarray:
    """R_AB of (e0, e1, e2, e3)."""
    return np.array(euler_rotation_matrix(_normalized(e)))


def from_matrix(R: Sequence[Sequence[float]] | np.ndarray) -> tuple[float, float, float, float]:
    """(e0, e1, e2, e3), e0 >= 0, of a rotation matrix."""
    from scipy.spatial.transform import Rotation  # not needed by derivations

    R = np.asarray(R, dtype=float)
    if R.shape != (3, 3) or not np.allclose(R @ R.T, np.eye(3), atol=1e-6) or np.linalg.det(R) < 0:
        raise ModelError("from_matrix needs a 3 x 3 rotation matrix: R R^T = 1, det R = 1")
    e = scalar_first(Rotation.from_matrix(R).as_quat().tolist())
    return tuple(-x for x in e) if e[0] < 0 else e


def _normalized(e: Sequence[float]) -> list[float]:
    size = math.sqrt(sum(float(x) ** 2 for x in e))
    if len(e) != 4 or not size > 0:
        raise ModelError(f"Euler parameters are four numbers that are not all zero, not {e!r}")
    return [float(x) / size for x in e]
