"""Rotation vectors: exponential, logarithm, derivatives of a rotation from those of its vector.
Arrays (..., 3).

R = exp([p]x), w = J(p) p', w' = J p'' + J' p' with the left Jacobian J = 1 + b [p]x + c [p]x^2, b =
(1 - cos x)/x^2, c = (x - sin x)/x^3, x = |p|.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_TERMS = 9
_FACTORS = [[(-1.0) ** k / math.factorial(2 * k + i) for k in range(_TERMS)] for i in (1, 2, 3)]


def _power_series(X: Array, which: int, slope: bool = False) -> Array:
    """a, b or c (which = 0, 1, 2) as a power series of X = x^2, or its slope by X."""
    f = _FACTORS[which]
    terms = [k * f[k] for k in range(1, _TERMS)] if slope else f
    total = np.zeros_like(X)
    for value in reversed(terms):
        total = total * X + value
    return total


def rotation_series(X: Array) -> tuple[Array, Array, Array, Array, Array]:
    """a = sin x/x, b, c, db/dX, dc/dX at X = x^2; the series below x = 1."""
    small = X < 1.0
    Xs = np.where(small, X, 0.5)
    series = [
        _power_series(Xs, 0),
        _power_series(Xs, 1),
        _power_series(Xs, 2),
        _power_series(Xs, 1, True),
        _power_series(Xs, 2, True),
    ]
    Xl = np.where(small, 1.0, X)
    x = np.sqrt(Xl)
    a, b, c = np.sin(x) / x, (1 - np.cos(x)) / Xl, (x - np.sin(x)) / (Xl * x)
    closed = [a, b, c, (a - 2 * b) / (2 * Xl), (b - 3 * c) / (2 * Xl)]
    return tuple(np.where(small, s, l) for s, l in zip(series, closed, strict=True))  # type: ignore[return-value]


def skew(v: Array) -> Array:
    """[v]x, (..., 3, 3)."""
    zero = np.zeros(v.shape[:-1])
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    return np.stack([np.stack(r, -1) for r in ((zero, -z, y), (z, zero, -x), (-y, x, zero))], -2)


def rotation_matrix(p: Array) -> Array:
    """The rotation of a rotation vector."""
    a, b, *_ = rotation_series((p * p).sum(-1))
    K = skew(p)
    return np.eye(3) + a[..., None, None] * K + b[..., None, None] * (K @ K)


def rotation_vector(R: Array) -> Array:
    """The rotation vector of a rotation of less than half a turn; accurate for small angles (atan2
    instead of acos)."""
    v = 0.5 * np.stack(
        [R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], -1
    )
    s = np.sqrt((v * v).sum(-1))
    c = 0.5 * (np.trace(R, axis1=-2, axis2=-1) - 1)
    x = np.arctan2(s, c)
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = np.where(s < 1e-8, 1.0 + s * s / 6, x / np.where(s == 0, 1, s))
    return factor[..., None] * v


def rotation_angle(A: Array, B: Array) -> Array:
    """The angle between two attitudes, rad."""
    v = rotation_vector(np.swapaxes(A, -1, -2) @ B)
    return np.sqrt((v * v).sum(-1))


def angular_velocity(p: Array, dp: Array) -> Array:
    """w = J(p) p'."""
    _, b, c, _, _ = rotation_series((p * p).sum(-1))
    n = np.cross(p, dp)
    return dp + b[..., None] * n + c[..., None] * np.cross(p, n)


def angular_acceleration(p: Array, dp: Array, ddp: Array) -> Array:
    """w' = J p'' + J' p'."""
    _, b, c, db, dc = rotation_series((p * p).sum(-1))
    n, m = np.cross(p, dp), np.cross(p, ddp)
    dX = 2 * (p * dp).sum(-1)
    return (
        ddp
        + b[..., None] * m
        + c[..., None] * (np.cross(dp, n) + np.cross(p, m))
        + (db * dX)[..., None] * n
        + (dc * dX)[..., None] * np.cross(p, n)
    )


def vector_rate(p: Array, w: Array) -> Array:
    """p' = J(p)^-1 w."""
    X = (p * p).sum(-1)
    a, b, *_ = rotation_series(X)
    with np.errstate(invalid="ignore", divide="ignore"):
        g = np.where(
            X < 1e-3, 1 / 12 + X / 720 + X * X / 30240, (1 - a / (2 * b)) / np.where(X == 0, 1, X)
        )
    n = np.cross(p, w)
    return w - 0.5 * n + g[..., None] * np.cross(p, n)


def vector_acceleration(p: Array, dp: Array, dw: Array) -> Array:
    """p'' = J^-1 (w' - J' p')."""
    return vector_rate(p, dw - angular_acceleration(p, dp, np.zeros_like(dp)))
