"""Joints given by functions, in the check: series in time of a joint with two angles, by hand."""

import numpy as np
import pytest

from bellcrank.verify.guided_joints import guided_pose
from bellcrank.verify.jets import Jet


def turned(angle, axis):
    c, s = np.cos(angle), np.sin(angle)
    return np.array(
        {"z": [[c, -s, 0], [s, c, 0], [0, 0, 1]], "x": [[1, 0, 0], [0, c, -s], [0, s, c]]}[axis]
    )


def numbers(a, b):
    """Turned by a about z, then by b about the new x: pose, partial velocities and their slopes."""
    x, z = turned(a, "z") @ [1.0, 0, 0], np.array([0, 0, 1.0])
    slope = np.cross(z, x)  # of delta_2 by a; no other is not zero
    arm = turned(a, "z") @ turned(b, "x") @ [0.2, 0.5, 0.3]
    return {
        "R": turned(a, "z") @ turned(b, "x"),
        "p": arm,
        "d": [np.cross(z, arm), np.cross(x, arm)],
        "delta": [z, x],
        "ddelta": {(0, 0): np.zeros(3), (0, 1): slope / 2, (1, 1): np.zeros(3)},
        "dd": {
            (0, 0): np.cross(z, np.cross(z, arm)),
            (0, 1): np.cross(z, np.cross(x, arm)),
            (1, 1): np.cross(x, np.cross(x, arm)),
        },
    }


def test_series_of_two_angles():
    """Against central differences of the closed form along a motion."""
    q, v, h = np.array([0.7, -0.4]), np.array([1.3, 2.1]), 1e-4
    R, p, d, delta = guided_pose(numbers(*q), [Jet([x, r]) for x, r in zip(q, v, strict=True)])
    before, after = numbers(*(q - h * v)), numbers(*(q + h * v))
    for found, name in ((R, "R"), (p, "p")):
        assert found.c[1] == pytest.approx((after[name] - before[name]) / (2 * h), abs=1e-7)
    for k in (0, 1):
        assert d[k].c[1] == pytest.approx((after["d"][k] - before["d"][k]) / (2 * h), abs=1e-7)
        assert delta[k].c[1] == pytest.approx(
            (after["delta"][k] - before["delta"][k]) / (2 * h), abs=1e-7
        )
