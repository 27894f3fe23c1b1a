"""Poses: where the bodies of a linkage are, with exact first and second derivatives by the
inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.linkage.chain import BASE, Chain
from bellcrank.linkage.vector_jets import (
    Mat,
    Scalar,
    Vec,
    add_jets3,
    cross_jets3,
    dot_jets3,
    scale_jet3,
    sub3,
)

Array = np.ndarray[Any, Any]

# a pose as one row of numbers, by the count of inputs
ONE_INPUT = ("position", "rotation", "d", "delta", "dd", "ddelta")
TWO_INPUTS = (
    "position",
    "rotation",
    "d",
    "d_rack",
    "delta",
    "delta_rack",
    "dd",
    "dd_rack",
    "dd_mixed",
    "ddelta",
    "ddelta_rack",
    "ddelta_mixed",
)


@dataclass(frozen=True)
class Pose:
    """Pose of a body in the base, at one or many values of the inputs (leading axes as the
    inputs').

    position: its reference point in base axes, m (of the carrier: the wheel centre); rotation: R,
    columns are the body's axes, which as drawn are those of the base; d, delta: derivatives of
    position and rotation by travel (rotation vector per m, base axes); dd, ddelta: second
    derivatives. With a second input (rack, or roll of an axle)
    `d_rack`, `delta_rack`, `dd_rack`, `ddelta_rack` are the derivatives by it and `dd_mixed`,
    `ddelta_mixed` the mixed ones (the symmetric part of the rotation's). So with rates z' and r'

        v = d z' + d_rack r',    a = d z'' + d_rack r'' + dd z'^2 + 2 dd_mixed z' r' + dd_rack r'^2

    and likewise the angular velocity and its rate.
    """

    travel: Array
    position: Array
    rotation: Array
    d: Array
    delta: Array
    dd: Array
    ddelta: Array
    rack: Array | None = None
    d_rack: Array | None = None
    delta_rack: Array | None = None
    dd_rack: Array | None = None
    ddelta_rack: Array | None = None
    dd_mixed: Array | None = None
    ddelta_mixed: Array | None = None
    link: Mapping[str, Pose] = field(default_factory=dict)
    extended: Array | None = None  # of a table: poses outside it, continued
    chain: Chain | None = field(default=None, repr=False)
    origins: Mapping[str, Any] = field(
        default_factory=dict, repr=False
    )  # drawn reference points by body

    def point(self, name: str) -> PointMotion:
        """A hard point: position, d, dd (and d_rack, dd_rack, dd_mixed), base axes."""
        if self.chain is None:
            raise ModelError(
                "this pose belongs to a single link; ask the pose of the linkage for its points"
            )
        points = self.chain.points
        if name not in points:
            raise ModelError(
                f"no hard point of '{self.chain.name}' is called "
                f"'{name}'.{did_you_mean(name, points)} "
                f"There are: {', '.join(points)}."
            )
        body, position = points[name].body, drawn_position_array(points[name].at)
        if body == BASE:
            return _fixed_point(self, position)
        home = self if body == self.chain.carrier else self.link[body]
        return home.carried(position - drawn_position_array(self.origins[body]))

    def carried(self, offset: Array) -> PointMotion:
        """A point of the body that as drawn lies by `offset` (base axes, m) from its reference
        point."""
        r = (
            self.rotation @ offset
            if offset.ndim == 1
            else (self.rotation @ offset[:, :, None])[:, :, 0]
        )
        rotated = cross_last_axis(self.delta, r)
        d = self.d + rotated
        dd = self.dd + cross_last_axis(self.ddelta, r) + cross_last_axis(self.delta, rotated)
        if self.d_rack is None:
            return PointMotion(self.position + r, d, dd)
        rack: Any = self.delta_rack
        steered = cross_last_axis(rack, r)
        curve = self.dd_rack + cross_last_axis(self.ddelta_rack, r) + cross_last_axis(rack, steered)
        mixed = (
            self.dd_mixed
            + cross_last_axis(self.ddelta_mixed, r)
            + 0.5 * (cross_last_axis(self.delta, steered) + cross_last_axis(rack, rotated))
        )
        return PointMotion(self.position + r, d, dd, self.d_rack + steered, curve, mixed)

    def __getitem__(self, index: Any) -> Pose:
        """Some of many poses."""
        return _map_arrays(self, lambda x: x[index])

    def reshaped(self, shape: tuple[int, ...]) -> Pose:
        """The poses with other leading axes."""
        return _map_arrays(self, lambda x: x.reshape(shape + x.shape[1:]))


def drawn_position_array(coordinates: Any) -> Array:
    """A drawn place as an array; of variants (variants, 3)."""
    return np.stack(np.broadcast_arrays(*coordinates), axis=-1)


NEXT, LAST = np.array([1, 2, 0]), np.array([2, 0, 1])


def cross_last_axis(a: Any, b: Any) -> Any:
    """Vector products along the last axis, as np.cross has them at several times the cost."""
    return a.take(NEXT, -1) * b.take(LAST, -1) - a.take(LAST, -1) * b.take(NEXT, -1)


POLAR, AXIAL = (
    np.array([1.0, -1.0, 1.0]),
    np.array([-1.0, 1.0, -1.0]),
)  # vectors, rotations in the mirror y -> -y


def mirrored(pose: Pose) -> Pose:
    """The pose of one link on the other side of the vehicle, where the second input has the other
    sign."""
    data: dict[str, Any] = {"rotation": pose.rotation * np.outer(POLAR, POLAR)}
    signs = dict.fromkeys(("position", "d", "dd", "dd_rack"), POLAR)
    signs |= dict.fromkeys(("delta", "ddelta", "ddelta_rack"), AXIAL)
    signs |= {"d_rack": -POLAR, "dd_mixed": -POLAR, "delta_rack": -AXIAL, "ddelta_mixed": -AXIAL}
    data |= {
        n: getattr(pose, n) * sign for n, sign in signs.items() if getattr(pose, n) is not None
    }
    return replace(pose, rack=None if pose.rack is None else -pose.rack, link={}, **data)


@dataclass(frozen=True)
class PointMotion:
    """A point of a linkage: position (m) and its derivatives by the inputs, base axes."""

    position: Array
    d: Array
    dd: Array
    d_rack: Array | None = None
    dd_rack: Array | None = None
    dd_mixed: Array | None = None


def _fixed_point(pose: Pose, position: Array) -> PointMotion:
    zero = np.zeros_like(pose.position)
    second = [] if pose.d_rack is None else [zero, zero, zero]
    return PointMotion(zero + position, zero, zero, *second)


def _map_arrays(pose: Pose, transform: Callable[[Array], Array]) -> Pose:
    data: dict[str, Any] = {
        name: transform(x) for name, x in vars(pose).items() if isinstance(x, np.ndarray)
    }
    return replace(
        pose, link={name: _map_arrays(p, transform) for name, p in pose.link.items()}, **data
    )


def combine_poses(poses: dict[str, Pose], chain: Chain, drawn: Mapping[str, Any]) -> Pose:
    """The pose of a linkage from those of its carrier and links."""
    return replace(poses.pop(chain.carrier), link=poses, chain=chain, origins=drawn)


def rod_rotation(
    drawn: Vec, line: Vec, rate: Vec, curve: Vec, length: float
) -> tuple[Mat, Vec, Vec]:
    """Rotation of a rod that does not spin, the shortest turn from its drawn direction, with two
    derivatives.

    The spin of a rod between two balls is idle; this choice is smooth and depends on the inputs
    alone. R = 1 + [v] + [v]^2/s with v = e0 x e, s = 1 + e0.e, and w = v' - (s'/s) v + (v x v')/s.
    """
    e, de, dde = (scale_jet3(1.0 / length, x) for x in (line, rate, curve))
    v, dv, ddv = cross_jets3(drawn, e), cross_jets3(drawn, de), cross_jets3(drawn, dde)
    s, ds, dds = 1.0 + dot_jets3(drawn, e), dot_jets3(drawn, de), dot_jets3(drawn, dde)
    i = 1.0 / s
    w = add_jets3(dv, scale_jet3(-ds * i, v), scale_jet3(i, cross_jets3(v, dv)))
    bends = scale_jet3(i, cross_jets3(v, ddv)), scale_jet3(-ds * i * i, cross_jets3(v, dv))
    dw = add_jets3(
        ddv, scale_jet3((ds * i) * (ds * i) - dds * i, v), scale_jet3(-ds * i, dv), *bends
    )
    return shortest_rotation(v, s), w, dw


def shortest_rotation(v: Vec, s: Scalar) -> Mat:
    """R = (s - 1) 1 + [v]x + v v^T/s with v = e0 x e and s = 1 + e0.e."""
    i = 1.0 / s
    c = s - 1.0
    x, y, z = v
    return (
        (c + i * x * x, i * x * y - z, i * x * z + y),
        (i * x * y + z, c + i * y * y, i * y * z - x),
        (i * x * z - y, i * y * z + x, c + i * z * z),
    )


def mixed_term(a: Vec, b: Vec, along_sum: Vec) -> Vec:
    """The mixed part of a quadratic form from its values along (1, 0), (0, 1) and (1, 1)."""
    return scale_jet3(0.5, sub3(sub3(along_sum, a), b))
