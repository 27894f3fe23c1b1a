"""The description of a closed chain: bodies, hard points, joints, rods and inputs, in m, drawn
position.

Everything is drawn in the axes of the base. A hard point belongs to one body; a joint ties two
bodies together at a point; a rod is a massless link with a ball at either end. `base` is the name
of the body that carries the linkage. Joint rows: Houdek (2020), tables 2.1 to 2.6, with pairs of
dot products that stay regular for any relative rotation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bellcrank.core.errors import ModelError, did_you_mean

Point = tuple[float, float, float]

BASE = "base"
JOINT_DOF = {
    "revolute": 1,
    "prismatic": 1,
    "cylindrical": 2,
    "universal": 2,
    "planar": 3,
    "spherical": 3,
    "inline": 4,
    "inplane": 5,
}
AXES = {  # signs of forward, left and up along the axes
    "ISO 8855": (1, 1, 1),
    "SAE": (1, -1, -1),
    "ADAMS": (-1, -1, 1),  # of vehicle templates: x rearward, y right, z up
}
SIDES = ("left", "right", "centre")


@dataclass(frozen=True)
class HardPoint:
    """A point of a body, in base axes as drawn, m."""

    body: str
    at: Point


@dataclass(frozen=True)
class ChainJoint:
    """A joint between two bodies at a hard point.

    `axis`: of revolute, prismatic and cylindrical joints the free direction, of a planar one the
    normal; of an inline joint the line of the first body on which the point stays, of an inplane
    one the normal of that plane; of a universal one the direction fixed in the first body; `axis_2`
    of a universal joint: the direction fixed in the second body. `through`, `through_2`: the two
    hard points by which they are drawn, if they are.
    """

    name: str
    kind: str
    first: str
    second: str
    at: str
    axis: Point | None = None
    axis_2: Point | None = None
    through: tuple[str, str] | None = None
    through_2: tuple[str, str] | None = None


@dataclass(frozen=True)
class ChainRod:
    """A rod between two hard points; `length` in m, or None for the drawn distance."""

    name: str
    first: str
    second: str
    length: float | None = None


@dataclass(frozen=True)
class ChainInput:
    """What is prescribed. kind: travel (height of a point, or mean height of several), rack
    (movement of a body along an axis), roll (slope of the line between two points)."""

    kind: str
    points: tuple[str, ...] = ()
    body: str = ""
    axis: Point = (0.0, 1.0, 0.0)


@dataclass(frozen=True)
class ChainStrut:
    """A spring, damper or both between two hard points; rates in N/m and N s/m, if known."""

    name: str
    points: tuple[str, str]
    stiffness: float | None = None
    damping: float | None = None


@dataclass(frozen=True)
class Chain:
    """A linkage as drawn. `up` is +1 if the base's third axis points up (ISO 8855), -1 if it points
    down (SAE).
    `drawn`: axes of the file, if its coordinates were turned into `axes`."""

    name: str
    kind: str
    bodies: tuple[str, ...]
    points: Mapping[str, HardPoint]
    joints: tuple[ChainJoint, ...]
    rods: tuple[ChainRod, ...]
    carrier: str
    wheel_centre: str
    inputs: tuple[ChainInput, ...]
    axes: str = "ISO 8855"
    side: str = "left"
    struts: tuple[ChainStrut, ...] = ()
    vehicle: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    drawn: str = "ISO 8855"

    @property
    def up(self) -> int:
        return AXES[self.axes][2]

    @property
    def outward(self) -> int:
        """Sign of the base's second axis that points away from the middle of the vehicle on this
        side."""
        left_sign = AXES[self.axes][1]
        return {"left": left_sign, "right": -left_sign}.get(self.side, left_sign)

    @property
    def both(self) -> bool:
        """Whether it carries both wheels of an axle."""
        return any(i.kind == "roll" for i in self.inputs)

    @property
    def hub(self) -> str:
        """The hard point at the centre of the wheel, of an axle of the left one."""
        return "wheel_left" if self.both else "wheel_centre"

    @property
    def track(self) -> float:
        """Distance of the wheel centres of a linkage that carries both, as drawn, m."""
        return float(distance(self.place("wheel_left"), self.place("wheel_right")))

    def place(self, name: str) -> Point:
        return self.points[name].at

    def moved(self, places: Mapping[str, Any]) -> Chain:
        """The same linkage drawn with hard points elsewhere; coordinates may be arrays, one entry
        for each variant."""
        points = {n: replace(p, at=places.get(n, p.at)) for n, p in self.points.items()}

        def axis(old: Point | None, point_names: tuple[str, str] | None) -> Any:
            if old is None or point_names is None or not places.keys() & set(point_names):
                return old
            drawn = vector_between(*(self.points[e].at for e in point_names))
            sense = (
                1 if sum(x * y for x, y in zip(drawn, old, strict=True)) > 0 else -1
            )  # a mirror may have turned it
            return tuple(sense * x for x in vector_between(*(points[e].at for e in point_names)))

        joints = tuple(
            replace(j, axis=axis(j.axis, j.through), axis_2=axis(j.axis_2, j.through_2))
            for j in self.joints
        )
        return replace(self, points=points, joints=joints)

    def in_iso(self) -> Chain:
        """The same linkage in ISO 8855 axes."""
        if self.axes == "ISO 8855":
            return self
        signs = AXES[self.axes]
        joints = tuple(
            replace(j, axis=with_axis_signs(j.axis, signs), axis_2=with_axis_signs(j.axis_2, signs))
            for j in self.joints
        )
        points = {n: replace(p, at=with_axis_signs(p.at, signs)) for n, p in self.points.items()}
        inputs = tuple(
            replace(i, axis=with_axis_signs(i.axis, signs)) if i.kind == "rack" else i
            for i in self.inputs
        )
        return replace(self, axes="ISO 8855", points=points, joints=joints, inputs=inputs)

    def mirrored(self) -> Chain:
        """The same linkage on the other side of the vehicle: y changes sign; a rack moves both
        sides the same way."""
        side = {"left": "right", "right": "left"}.get(self.side, self.side)
        joints = tuple(
            replace(
                j,
                axis=_mirror_direction(j.axis, j.kind != "prismatic"),
                axis_2=_mirror_direction(j.axis_2, True),
            )
            for j in self.joints
        )
        points = {n: replace(p, at=(p.at[0], -p.at[1], p.at[2])) for n, p in self.points.items()}
        input_points = [
            i.points[::-1] if i.kind == "roll" else i.points for i in self.inputs
        ]  # roll keeps its sense
        inputs = tuple(
            replace(i, axis=_mirror_direction(i.axis, True), points=p)
            for i, p in zip(self.inputs, input_points, strict=True)
        )
        return replace(self, points=points, joints=joints, side=side, inputs=inputs)


def _mirror_direction(axis: Point | None, axial: bool) -> Any:
    """A direction in the mirror. The sense of an axis of rotation only names the sign of an angle:
    it is kept."""
    if axis is None:
        return None
    x, y, z = axis
    return (-x, y, -z) if axial else (x, -y, z)


def with_axis_signs(v: Any, signs: tuple[int, int, int]) -> Any:
    """A vector in ISO 8855 axes, given along axes with `signs` (`AXES`), or the reverse; None
    stays."""
    return None if v is None else tuple(s * x + 0.0 for s, x in zip(signs, v, strict=True))


def check_chain(chain: Chain) -> None:
    """Raises a ModelError with everything that is wrong with the names and numbers of a chain."""
    problems: list[str] = []
    bodies = {BASE, *chain.bodies}
    if len(bodies) != len(chain.bodies) + 1:
        problems.append(
            f"two bodies have the same name, or one is called '{BASE}': {', '.join(chain.bodies)}."
        )

    def check_known(
        label: str, name: str, names: Mapping[str, object] | set[str], kind: str
    ) -> None:
        if name not in names:
            available = ", ".join(sorted(names))
            problems.append(
                f"{label}: no {kind} is called '{name}'.{did_you_mean(name, names)} There "
                f"are: {available}."
            )

    carriers = bodies | {r.name for r in chain.rods}  # a spring may sit on a rod
    for name, p in chain.points.items():
        check_known(f"hard point '{name}'", p.body, carriers, "body")
    for j in chain.joints:
        label = f"joint '{j.name}'"
        if j.kind not in JOINT_DOF:
            problems.append(
                f"{label}: the kind '{j.kind}' is not known; it is one of "
                f"{', '.join(JOINT_DOF)}, or a rod."
            )
        elif j.kind != "spherical" and (j.axis is None or _vector_norm(j.axis) == 0):
            problems.append(
                f"{label}: a {j.kind} joint needs an axis other than zero, given {j.axis}."
            )
        elif j.kind == "universal" and (j.axis_2 is None or _vector_norm(j.axis_2) == 0):
            problems.append(f"{label}: a universal joint needs a second axis, given {j.axis_2}.")
        for body in (j.first, j.second):
            check_known(label, body, bodies, "body")
        check_known(label, j.at, chain.points, "hard point")
        if j.first == j.second:
            problems.append(f"{label} ties '{j.first}' to itself.")
    for r in chain.rods:
        for end in (r.first, r.second):
            check_known(f"rod '{r.name}'", end, chain.points, "hard point")
        if not problems and not any(vector_between(chain.place(r.first), chain.place(r.second))):
            problems.append(
                f"rod '{r.name}': its ends '{r.first}' and '{r.second}' are the same point."
            )
        if r.length is not None and not r.length > 0:
            problems.append(f"rod '{r.name}': its length {r.length!r} m must be positive.")
    for s in chain.struts:
        for end in s.points:
            check_known(f"strut '{s.name}'", end, chain.points, "hard point")
    check_known("the wheel centre", chain.wheel_centre, chain.points, "hard point")
    check_known("the carrier", chain.carrier, bodies, "body")
    if problems:
        raise ModelError(problems, chain.name)


def _vector_norm(v: Point) -> float:
    return sum(x * x for x in v) ** 0.5


def distance(a: Point, b: Point) -> Any:
    """From a to b, also over arrays of either."""
    v = vector_between(a, b)
    return math.hypot(*v) if all(isinstance(x, float) for x in v) else _vector_norm(v)


def vector_between(a: Point, b: Point) -> Point:
    """The vector from a to b."""
    return b[0] - a[0], b[1] - a[1], b[2] - a[2]


def unit_vector(v: Point) -> Point:
    """The direction of a vector."""
    size = _vector_norm(v)
    return v[0] / size, v[1] / size, v[2] / size
