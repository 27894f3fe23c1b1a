"""Bicubic interpolation of poses over travel and a second input.

Position and rotation vector (from the drawn attitude) are bicubic Hermite in every cell, through
values, slopes and mixed derivatives at its corners: values and slopes are continuous, errors h^4;
second derivatives jump at cell edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.linkage.pose import TWO_INPUTS, Pose
from bellcrank.linkage.pose_interpolation import CUBIC, extrapolate_linearly
from bellcrank.linkage.rotations import (
    angular_acceleration,
    angular_velocity,
    rotation_matrix,
    rotation_vector,
    vector_rate,
)

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class BicubicCells:
    """Coefficients (cells z, cells r, powers of s, powers of t, 6) over cells of size (hz, hr)."""

    hz: float
    hr: float
    coefficients: Array

    def pose_at(
        self, i: Array, s: Array, j: Array, t: Array, beyond: tuple[Array, Array]
    ) -> dict[str, Array]:
        """Poses in cells (i, j) at places (s, t); what lies `beyond` the last nodes continues
        straight."""
        c = self.coefficients[i, j]
        axes = ((s, self.hz, beyond[0]), (t, self.hr, beyond[1]))
        powers = [
            np.stack(extrapolate_linearly(*_cubic_powers(x, h), distance), 0)
            for x, h, distance in axes
        ]  # derivative, n, power

        rows = [np.einsum("nk,nklc->nlc", powers[0][a], c) for a in range(3)]

        def value(a: int, b: int) -> Array:
            return np.einsum("nl,nlc->nc", powers[1][b], rows[a])

        f, fz, fr, fzz, fzr, frr = (
            value(0, 0),
            value(1, 0),
            value(0, 1),
            value(2, 0),
            value(1, 1),
            value(0, 2),
        )
        p, pz, pr = f[:, 3:], fz[:, 3:], fr[:, 3:]
        zz, rr = angular_acceleration(p, pz, fzz[:, 3:]), angular_acceleration(p, pr, frr[:, 3:])
        diagonal = angular_acceleration(p, pz + pr, fzz[:, 3:] + 2 * fzr[:, 3:] + frr[:, 3:])
        mixed = 0.5 * (diagonal - zz - rr)
        position, d, d_rack, dd, dd_rack, dd_mixed = (x[:, :3] for x in (f, fz, fr, fzz, frr, fzr))
        values = (
            position,
            rotation_matrix(p),
            d,
            d_rack,
            angular_velocity(p, pz),
            angular_velocity(p, pr),
            dd,
            dd_rack,
            dd_mixed,
            zz,
            rr,
            mixed,
        )
        return dict(zip(TWO_INPUTS, values, strict=True))


def _cubic_powers(x: Array, h: float) -> tuple[Array, Array, Array]:
    one, zero = np.ones_like(x), np.zeros_like(x)
    return (
        np.stack([one, x, x * x, x**3], -1),
        np.stack([zero, one, 2 * x, 3 * x * x], -1) / h,
        np.stack([zero, zero, 2 * one, 6 * x], -1) / h**2,
    )


def bicubic_cells(pose: Pose, hz: float, hr: float) -> BicubicCells:
    """Bicubic cells through the poses of a grid (nodes z, nodes r)."""
    assert pose.delta_rack is not None and pose.ddelta_mixed is not None
    assert pose.d_rack is not None and pose.dd_mixed is not None
    p = rotation_vector(pose.rotation)
    pz, pr = vector_rate(p, pose.delta), vector_rate(p, pose.delta_rack)
    zero = np.zeros_like(p)
    # what the mixed part of w' is without p_zr: half of J' along both less J' along each
    bias = 0.5 * (
        angular_acceleration(p, pz + pr, zero)
        - angular_acceleration(p, pz, zero)
        - angular_acceleration(p, pr, zero)
    )
    pzr = vector_rate(p, pose.ddelta_mixed - bias)
    f = np.concatenate([pose.position, p], -1)
    fz = hz * np.concatenate([pose.d, pz], -1)
    fr = hr * np.concatenate([pose.d_rack, pr], -1)
    fzr = hz * hr * np.concatenate([pose.dd_mixed, pzr], -1)

    def end_values_and_slopes(g: Array, gr: Array) -> Array:
        """Along r: value and slope at both ends of every cell."""
        return np.stack([g[:, :-1], gr[:, :-1], g[:, 1:], gr[:, 1:]], 0)

    value, slope = (
        end_values_and_slopes(f, fr),
        end_values_and_slopes(fz, fzr),
    )  # (4, nodes z, cells r, 6)
    corners = np.stack(
        [value[:, :-1], slope[:, :-1], value[:, 1:], slope[:, 1:]], 0
    )  # (4 z, 4 r, cells, cells, 6)
    return BicubicCells(hz, hr, np.einsum("ak,bl,abijc->ijklc", CUBIC, CUBIC, corners))
