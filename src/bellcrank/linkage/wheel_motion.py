"""A wheel on its linkage, seen from its own side: x forward, y outward, z up, whatever axes the
file uses.

In:  a linkage (or table) and wheel travels. Out: `WheelMotion`: wheel centre, spin axis, contact
point and the velocity of any carrier point per unit of wheel travel, for parallel, opposite and
single-wheel motion of an axle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.linkage.chain import Chain, distance
from bellcrank.linkage.pose import Pose

Array = np.ndarray[Any, Any]

MODES = ("parallel", "opposite", "single")


@dataclass(frozen=True)
class WheelMotion:
    """Arrays over travel. `pose` in the file's axes, all else in wheel-side axes, m; velocities per
    m of travel."""

    chain: Chain
    pose: Pose
    flip: Array  # diagonal that turns file axes into wheel-side axes
    centre: Array
    axis: Array  # of spin, outward
    contact: Array
    v_centre: Array
    v_contact: Array  # of the carrier point at the contact: a locked wheel
    delta: Array  # rotation per m of wheel travel, file's axes
    rates: tuple[Array, Array | None]  # of the inputs per m of wheel travel

    def in_wheel_axes(self, v: Array) -> Array:
        """A vector of the file's axes in wheel-side axes."""
        return v * self.flip

    def point(self, name: str) -> tuple[Array, Array]:
        """A hard point and its velocity per m of wheel travel, wheel-side axes."""
        p = self.pose.point(name)
        return self.in_wheel_axes(p.position), self.in_wheel_axes(
            _per_wheel_travel(p.d, p.d_rack, self.rates)
        )


def linkage_wheel_motion(
    linkage: Any,
    travel: Any,
    rack: Any = 0.0,
    mode: str = "parallel",
    links: Sequence[str] | None = None,
) -> WheelMotion:
    """The wheel of a linkage at travels (m, up); of a solid axle the left one, the other moving as
    the mode says.
    `links`: those whose points are wanted (default: all)."""
    chain: Chain = linkage.chain
    if mode not in MODES:
        raise ModelError(f"mode={mode!r} is not known; it is one of {', '.join(MODES)}")
    z = np.atleast_1d(np.asarray(travel, float))
    r = np.broadcast_to(np.asarray(rack, float), z.shape)
    name, drawn = chain.wheel_centre, chain.place(chain.wheel_centre)
    rates: tuple[Array, Array | None] = (np.ones_like(z), None)
    if "roll" in linkage.inputs:
        name, drawn = "wheel_left", chain.place("wheel_left")
        track = distance(drawn, chain.place("wheel_right"))
        roll_gain = {"parallel": 0.0, "opposite": 2.0, "single": 1.0}[mode] / track
        mean_gain = {"parallel": 1.0, "opposite": 0.0, "single": 0.5}[mode]
        roll = np.arcsin(roll_gain * z)
        rates = (np.full_like(z, mean_gain), roll_gain / np.cos(roll))
        pose = linkage.solve(mean_gain * z, roll=roll, links=links)
    elif "rack" in linkage.inputs:
        pose, rates = linkage.solve(z, r, links=links), (np.ones_like(z), np.zeros_like(z))
    else:
        pose = linkage.solve(z, links=links)
    flip = np.array([1.0, float(chain.outward), float(chain.up)])
    hub = pose.point(name)
    axis = (pose.rotation @ (drawn_spin_axis(chain) * flip)) * flip
    centre = hub.position * flip
    downward = axis * axis[:, 2:3] - [0.0, 0.0, 1.0]
    downward = downward / vector_lengths(downward)[:, None]
    arm = float(chain.vehicle.get("tyre_radius", 0.0)) * downward
    v, delta = (
        _per_wheel_travel(hub.d, hub.d_rack, rates),
        _per_wheel_travel(pose.delta, pose.delta_rack, rates),
    )
    v_contact = v + np.cross(delta, arm * flip)
    return WheelMotion(
        chain, pose, flip, centre, axis, centre + arm, v * flip, v_contact * flip, delta, rates
    )


def vector_lengths(v: Array) -> Array:
    """Lengths of vectors (n, 3), analytic in complex components as a norm is not."""
    return np.sqrt((v * v).sum(axis=1))


def angle_in_deg(y: Array, x: Array) -> Array:
    """The angle in deg whose tangent is y/x; of complex numbers with its first derivative as
    imaginary part."""
    a, b = np.real(y), np.real(x)
    result = np.arctan2(a, b)
    if np.iscomplexobj(x) or np.iscomplexobj(y):
        result = result + 1j * (b * np.imag(y) - a * np.imag(x)) / (a * a + b * b)
    return result * (180.0 / np.pi)


def drawn_spin_axis(chain: Chain) -> Array:
    """The spin axis as drawn, from the toe and camber the file states (deg; 0 if not), in
    wheel-side axes."""
    toe, camber = (np.radians(chain.vehicle.get(k, 0.0)) for k in ("toe", "camber"))
    return np.array([np.sin(toe) * np.cos(camber), np.cos(toe) * np.cos(camber), -np.sin(camber)])


def _per_wheel_travel(
    by_travel: Array, by_second: Array | None, rates: tuple[Array, Array | None]
) -> Array:
    rate = by_travel * rates[0][:, None]
    return rate if rates[1] is None or by_second is None else rate + by_second * rates[1][:, None]
