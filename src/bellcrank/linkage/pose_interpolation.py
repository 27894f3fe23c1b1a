"""Interpolation of poses between nodes, each scheme with its derivatives.

three-rotations: cubic Hermite position, three rotations (Houdek 2020, eqs 3.43-3.60, with scaled
    vectors s1, s2, s3 in the products of its second derivative and delta_i in the first term).
    Errors h^4, h^3 in angle.
cubic: cubic Hermite on position and rotation vector from the left node. Errors h^4; second
    derivatives jump at nodes.
quintic: quintic Hermite on both, through the second derivatives. Errors h^6; the second derivative
    is continuous.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.linkage.pose import ONE_INPUT, Pose
from bellcrank.linkage.rotations import (
    angular_acceleration,
    angular_velocity,
    rotation_matrix,
    rotation_vector,
    vector_acceleration,
    vector_rate,
)

Array = np.ndarray[Any, Any]

SCHEMES = ("quintic", "cubic", "three-rotations")

# Coefficients of powers of s for value and slope (and second derivative) at s = 0 and 1, lowest
# power first
CUBIC = np.array([[1, 0, -3, 2], [0, 1, -2, 1], [0, 0, 3, -2], [0, 0, -1, 1]], float)
QUINTIC = np.array(
    [
        [1, 0, 0, -10, 15, -6],
        [0, 1, 0, -6, 8, -3],
        [0, 0, 0.5, -1.5, 1.5, -0.5],
        [0, 0, 0, 10, -15, 6],
        [0, 0, 0, -4, 7, -3],
        [0, 0, 0, 0.5, -1, 0.5],
    ]
)


@dataclass(frozen=True)
class PosePolynomials:
    """Polynomials of position and rotation vector by interval: coefficients (intervals, powers, 6),
    lowest power of s = (u - u_i)/h first; R: attitude of the left node, from which the rotation
    vector counts."""

    step: float
    coefficients: Array
    R: Array

    def evaluate(
        self, i: Array, s: Array, beyond: Array | float = 0.0
    ) -> tuple[Array, Array, Array]:
        """The six values with first and second derivative by travel; `beyond` the last node they
        continue straight."""
        c = self.coefficients[i]
        f = np.zeros((len(i), 6))
        df, ddf = np.zeros_like(f), np.zeros_like(f)
        for k in reversed(range(c.shape[1])):
            ddf = ddf * s[:, None] + 2 * df
            df = df * s[:, None] + f
            f = f * s[:, None] + c[:, k]
        return extrapolate_linearly(f, df / self.step, ddf / self.step**2, beyond)

    def pose_at(self, i: Array, s: Array, beyond: Array | float = 0.0) -> dict[str, Array]:
        """The pose in intervals i at places s; `beyond` the last node it continues straight."""
        f, df, ddf = self.evaluate(i, s, beyond)
        R = self.R[i]
        p, dp, ddp = f[:, 3:], df[:, 3:], ddf[:, 3:]
        delta, ddelta = (
            _rotate(R, angular_velocity(p, dp)),
            _rotate(R, angular_acceleration(p, dp, ddp)),
        )
        return dict(
            zip(
                ONE_INPUT,
                (f[:, :3], R @ rotation_matrix(p), df[:, :3], delta, ddf[:, :3], ddelta),
                strict=True,
            )
        )


def extrapolate_linearly(
    f: Array, df: Array, ddf: Array, beyond: Array | float
) -> tuple[Array, Array, Array]:
    """Values and derivatives at the end of a table, continued by their slopes."""
    distance = np.asarray(beyond, float).reshape(-1, *[1] * (f.ndim - 1))
    return f + distance * df, df, np.where(distance == 0.0, ddf, 0.0)


def _rotate(R: Array, v: Array) -> Array:
    return np.einsum("nij,nj->ni", R, v)


def _rotate_back(R: Array, v: Array) -> Array:
    return np.einsum("nji,nj->ni", R, v)


def pose_polynomials(nodes: Pose, h: float, quintic: bool) -> PosePolynomials:
    """Polynomial pieces through the nodes of a uniform grid."""
    R = nodes.rotation[:-1]
    p_1 = rotation_vector(np.swapaxes(R, 1, 2) @ nodes.rotation[1:])
    p_0 = np.zeros_like(p_1)
    dp_0 = _rotate_back(R, nodes.delta[:-1])
    dp_1 = vector_rate(p_1, _rotate_back(R, nodes.delta[1:]))
    # values count from the left node, so that high powers do not lose the digits of its position
    start = np.hstack([nodes.position[:-1], p_0])
    value = [np.zeros_like(start), np.hstack([nodes.position[1:], p_1]) - start]
    slope = [h * np.hstack([nodes.d[:-1], dp_0]), h * np.hstack([nodes.d[1:], dp_1])]
    if not quintic:
        conditions, basis = [value[0], slope[0], value[1], slope[1]], CUBIC
    else:
        # at the left node p = 0, where J' p' = (p' x p')/2 = 0
        ddp_0, ddp_1 = (
            _rotate_back(R, nodes.ddelta[:-1]),
            vector_acceleration(p_1, dp_1, _rotate_back(R, nodes.ddelta[1:])),
        )
        curve = [
            h * h * np.hstack([nodes.dd[:-1], ddp_0]),
            h * h * np.hstack([nodes.dd[1:], ddp_1]),
        ]
        conditions, basis = [value[0], slope[0], curve[0], value[1], slope[1], curve[1]], QUINTIC
    coefficients = np.einsum("en,eic->inc", basis, np.array(conditions))
    coefficients[:, 0] += start
    return PosePolynomials(h, coefficients, R)


@dataclass(frozen=True)
class ThreeRotations:
    """Cubic position, and attitude R_i R1 R2 R3 between the nodes."""

    step: float
    position: PosePolynomials
    R: Array
    first: Array  # delta_i in the left node's axes
    middle: Array  # rotation vector from node to node, left node's axes
    last: Array  # delta_{i+1} in the right node's axes

    def pose_at(self, i: Array, s: Array, beyond: Array | float = 0.0) -> dict[str, Array]:
        h = self.step
        f, df, ddf = self.position.evaluate(i, s, beyond)
        distance = np.asarray(beyond, float) / h
        h01, dh01, ddh01 = extrapolate_linearly(
            s * s * (3 - 2 * s), 6 * s * (1 - s), 6 - 12 * s, distance
        )
        h10, dh10, ddh10 = extrapolate_linearly(
            s * (1 - s) ** 2, 1 - 4 * s + 3 * s * s, 6 * s - 4, distance
        )
        h11, dh11, ddh11 = extrapolate_linearly(
            s * s * (s - 1), 3 * s * s - 2 * s, 6 * s - 2, distance
        )
        R0 = self.R[i]
        R1 = R0 @ rotation_matrix(self.first[i] * (h * h10)[:, None])
        R2 = R1 @ rotation_matrix(self.middle[i] * h01[:, None])
        R3 = R2 @ rotation_matrix(self.last[i] * (h * h11)[:, None])
        a, b, c = _rotate(R0, self.first[i]), _rotate(R1, self.middle[i]), _rotate(R2, self.last[i])
        s1, s2, s3 = a * dh10[:, None], b * (dh01 / h)[:, None], c * dh11[:, None]
        ddelta = a * (ddh10 / h)[:, None] + b * (ddh01 / h**2)[:, None] + np.cross(s1, s2)
        ddelta = ddelta + c * (ddh11 / h)[:, None] + np.cross(s1 + s2, s3)
        return dict(
            zip(ONE_INPUT, (f[:, :3], R3, df[:, :3], s1 + s2 + s3, ddf[:, :3], ddelta), strict=True)
        )


def interpolant(nodes: Pose, h: float, scheme: str) -> PosePolynomials | ThreeRotations:
    """The interpolant of a scheme through the nodes of a uniform grid."""
    cubic = pose_polynomials(nodes, h, quintic=scheme == "quintic")
    if scheme != "three-rotations":
        return cubic
    R, last = cubic.R, _rotate_back(nodes.rotation[1:], nodes.delta[1:])
    middle = rotation_vector(np.swapaxes(R, 1, 2) @ nodes.rotation[1:])
    return ThreeRotations(h, cubic, R, _rotate_back(R, nodes.delta[:-1]), middle, last)
