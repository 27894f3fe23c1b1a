"""Suspensions from the front and from the side, at rest, with instant centres and roll centres.

The instant centre of a wheel is where its carrier does not move, seen along one axis, while the
wheel travels. The roll centre is at the mean of the heights at which the lines from both contact
centres through their instant centres meet the middle plane: the wheels of a car with a load on one
side stand at different travels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from bellcrank.analysis.view.chart import NARROW, WIDTH, Line, curve_chart
from bellcrank.linkage.axle_sides import name_on_side
from bellcrank.linkage.chain import BASE, Chain
from bellcrank.vehicles.cars.design.axles import AxleData
from bellcrank.vehicles.cars.design.car_data import CarData
from bellcrank.vehicles.cars.statics.static_equilibrium import (
    Attitude,
    CarStatics,
    corner_at_rest,
    roll_centre,
)

Array = np.ndarray[Any, Any]
LINK, SPRING, WHEEL, CENTRE, MIDDLE = 0, 1, -1, 2, 3  # colours
AROUND = np.linspace(0.0, 2 * math.pi, 49)
MARK = 0.03  # m, half size of a cross
OUT = 0.6  # m outside the wheels, to which a side view reaches
HIGH, LOW = 0.7, 0.15  # m above and below the ground, to which lines to instant centres reach
FAR = 100.0  # m, from which on the position of an instant centre says nothing
ON_AXIS = 1e-4  # m, of a point from the axis of a hinge
WHEELS = ("wheel_left", "wheel_right")  # hard points of an axle


@dataclass(frozen=True)
class WheelView:
    """A wheel at rest with its links; x ahead, y to the left, z above the ground, m."""

    links: tuple[Array, ...]
    spring: Array
    centre: Array
    contact: Array
    front_centre: tuple[float, float]  # y, z of the instant centre
    side_centre: tuple[float, float]  # x, z


@dataclass(frozen=True)
class AxleView:
    """Both wheels of an axle."""

    name: str
    left: WheelView
    right: WheelView
    width: float  # of the tyres
    roll_centre: float


def axle_view(axle: AxleData, statics: CarStatics) -> AxleView:
    """What the views show of an axle."""
    left_wheel, right_wheel = (_wheel_view(axle, statics, side) for side in (1, -1))
    width = (
        getattr(axle.tyre, "width", None)
        or axle.record.tyre.width
        or 0.6 * float(left_wheel.centre[2])
    )
    width = float(width) + (axle.record.dual_spacing or 0.0)
    return AxleView(axle.name, left_wheel, right_wheel, width, roll_centre(axle, statics))


def _wheel_view(axle: AxleData, statics: CarStatics, side: int) -> WheelView:
    attitude, corner = statics.body_attitude(axle.name), corner_at_rest(axle, statics, side)
    level = _horizontal_axes(attitude)
    i = 0 if axle.name == "front" else 2
    travels = statics.travel[i : i + 2]
    pose = axle.pose(*travels) if axle.carries_both_wheels else axle.pose(travels[side < 0])
    mirror = np.array([1.0, 1.0 if axle.carries_both_wheels else float(side), 1.0])
    offset = np.array([0.0, 0.0, attitude.height])

    def position_above_ground(name: str) -> Array:
        position = np.asarray(pose.point(name).position).reshape(3) + np.array(axle.record.at)
        return level @ (position * mirror) + offset

    bars = (
        [] if axle.carries_both_wheels and side < 0 else _link_lines(axle.linkage.chain)
    )  # the left view has those of both wheels
    links = tuple(np.array([position_above_ground(a), position_above_ground(b)]) for a, b in bars)
    contact = level @ corner.contact + offset
    # where the wheels move together: seen from the front the axle rolls, seen from the side it
    # rises
    front, _ = instant_centres(
        contact,
        level @ (corner.contact_partial - corner.slope_other),
        level @ (corner.rotation_partial - corner.turn_other),
    )
    _, side_ = instant_centres(
        contact,
        level @ (corner.contact_partial + corner.slope_other),
        level @ (corner.rotation_partial + corner.turn_other),
    )
    spring = np.array(
        [
            position_above_ground(name_on_side(p, side) if axle.carries_both_wheels else p)
            for p in axle.spring
        ]
    )
    return WheelView(links, spring, level @ corner.centre + offset, contact, front, side_)


def _horizontal_axes(attitude: Attitude) -> Array:
    """Rows: ahead, left and up in axes of a body."""
    up_axis = attitude.up
    left_axis = np.cross(up_axis, [1.0, 0.0, 0.0])
    left_axis = left_axis / np.linalg.norm(left_axis)
    return np.array([np.cross(left_axis, up_axis), left_axis, up_axis])


def instant_centres(
    point: Array, v: Array, w: Array
) -> tuple[tuple[float, float], tuple[float, float]]:
    """(y, z) seen from the front and (x, z) from the side of a carrier, from the velocity of one of
    its points and its angular velocity; infinite where it does not turn."""
    (x, y, z), (vx, vy, vz), (wx, wy, _) = point, v, w
    front = (y - vz / wx, z + vy / wx) if abs(wx) > 1e-9 else (math.inf, math.inf)
    side = (x + vz / wy, z - vx / wy) if abs(wy) > 1e-9 else (math.inf, math.inf)
    return (float(front[0]), float(front[1])), (float(side[0]), float(side[1]))


def _link_lines(chain: Chain) -> Iterator[tuple[str, str]]:
    """Pairs of hard points to be joined by a line: rods, arms between their pivots, the carrier."""
    for rod in chain.rods:
        yield rod.first, rod.second
    for body in chain.bodies:
        pivots = list(dict.fromkeys(_pivot_points(chain, body)))
        hubs = [p for p in dict.fromkeys((chain.wheel_centre, *WHEELS)) if p in chain.points]
        hubs = [p for p in hubs if chain.points[p].body == body]
        if hubs:
            yield from ((hubs[0], p) for p in (*hubs[1:], *pivots))
        else:
            yield from combinations(pivots, 2)


def _pivot_points(chain: Chain, body: str) -> Iterator[str]:
    """Hard points where a body is joined to others, with all that lie on the axis of its hinge to
    the base."""
    for j in chain.joints:
        if body not in (j.first, j.second) or j.kind == "prismatic":
            continue
        yield j.at
        if j.kind == "revolute" and j.axis is not None and BASE in (j.first, j.second):
            axis = np.array(j.axis) / np.linalg.norm(j.axis)
            for name, p in chain.points.items():
                offset = np.array(p.at) - np.array(chain.place(j.at))
                if p.body == BASE and np.linalg.norm(offset - axis * (axis @ offset)) < ON_AXIS:
                    yield name
    for rod in chain.rods:
        yield from (p for p in (rod.first, rod.second) if chain.points[p].body == body)


def front_view(axle: AxleView) -> str:
    """An axle seen from the front, both wheels; y to the left of the car, so to the right of the
    picture."""
    lines: list[Line] = []
    colours: list[int] = []

    def add(name: str, points: Array, colour: int) -> None:
        lines.append((name, 1000 * points[:, 0], 1000 * points[:, 1]))
        colours.append(colour)

    wheels = axle.left, axle.right
    half_width = max(float(abs(w.contact[1])) for w in wheels) + axle.width / 2
    for w in wheels:
        for link in w.links:
            add("links", link[:, 1:], LINK)
        add("spring", w.spring[:, 1:], SPRING)
        add("wheel", _tyre_box(w, axle.width), WHEEL)
        _add_instant_centre_line(add, w.contact[[1, 2]], w.front_centre, (-half_width, half_width))
    add("roll centre", _cross_mark(0.0, axle.roll_centre), MIDDLE)
    return curve_chart(
        lines, "y (mm)", "z above the ground (mm)", width=NARROW, colours=colours, equal=True
    )


def side_view(
    wheels: Sequence[WheelView], mass_centre: Array, centres: Sequence[Array] = ()
) -> str:
    """The left side of a car, front to the left as the cars of most drawings; x counts forward.
    `centres`: centres of wheels without links."""
    lines: list[Line] = []
    colours: list[int] = []

    def add(name: str, points: Array, colour: int) -> None:
        lines.append((name, -1000 * points[:, 0], 1000 * points[:, 1]))
        colours.append(colour)

    def draw_wheel(centre: Array) -> None:
        around = np.stack([np.cos(AROUND), np.sin(AROUND)], 1)
        add("wheel", centre[[0, 2]] + centre[2] * around, WHEEL)

    xs = [float(w.contact[0]) for w in wheels]
    for c in wheels:
        for link in c.links:
            add("links", link[:, [0, 2]], LINK)
        add("spring", c.spring[:, [0, 2]], SPRING)
        draw_wheel(c.centre)
        _add_instant_centre_line(
            add, c.contact[[0, 2]], c.side_centre, (min(xs) - OUT, max(xs) + OUT)
        )
    for centre in centres:
        draw_wheel(centre)
    add("mass centre", _cross_mark(float(mass_centre[0]), float(mass_centre[1])), MIDDLE)
    return curve_chart(
        lines,
        "distance behind the origin of the car (mm)",
        "z above the ground (mm)",
        width=WIDTH,
        colours=colours,
        equal=True,
    )


def _add_instant_centre_line(
    add: Any, contact: Array, centre: tuple[float, float], edges: tuple[float, float]
) -> None:
    """The line from the contact centre towards the instant centre, and this one where it lies
    inside the drawing."""
    if not math.isfinite(centre[0]):
        return
    direction = np.array(centre) - contact
    room = (
        (edges[1] if direction[0] > 0 else edges[0]) - contact[0],
        HIGH if direction[1] > 0 else -LOW,
    )
    length = min(1.0, *(r / a for r, a in zip(room, direction, strict=True) if abs(a) > 1e-9))
    add("to the instant centre", np.array([contact, contact + length * direction]), CENTRE)
    if length == 1.0:
        add("to the instant centre", _cross_mark(*centre), CENTRE)


def _tyre_box(w: WheelView, width: float) -> Array:
    y, z, half_width = float(w.centre[1]), float(w.centre[2]), width / 2
    return np.array(
        [
            [y - half_width, 0.0],
            [y + half_width, 0.0],
            [y + half_width, 2 * z],
            [y - half_width, 2 * z],
            [y - half_width, 0.0],
        ]
    )


def _cross_mark(x: float, y: float) -> Array:
    gap = [math.nan, math.nan]
    return np.array([[x - MARK, y], [x + MARK, y], gap, [x, y - MARK], [x, y + MARK]])


def instant_centre_text(axle: AxleView) -> str:
    """Where the instant centres lie, in words."""

    def format_centre(axis: str, position: tuple[float, float]) -> str:
        if not math.hypot(*position) < FAR:
            return f"farther away than {FAR:g} m"
        return f"at {axis} = {1000 * position[0]:.0f} mm, z = {1000 * position[1]:.0f} mm"

    return (
        f"{axle.name.capitalize()} axle: instant centre of the left wheel "
        f"{format_centre('y', axle.left.front_centre)} seen "
        f"from the front, {format_centre('x', axle.left.side_centre)} seen from the side; "
        f"roll centre "
        f"{1000 * axle.roll_centre:.0f} mm above the ground."
    )


def added_axle_wheel_centres(data: CarData, statics: CarStatics) -> list[Array]:
    """Centres of the left wheels of axles next to front and rear, without those that are lifted."""
    centres = []
    for axle in data.added_axles:
        assert statics.added is not None
        attitude = statics.body_attitude(data.body_part_at(axle.record.at[0]))
        travel = statics.added.travel[axle.wheel_name("l")]
        centres.append(
            _horizontal_axes(attitude) @ (np.array(axle.record.at) + [0.0, 0.0, travel])
            + [0.0, 0.0, attitude.height]
        )
    return centres


def suspension_views(data: CarData, statics: CarStatics) -> tuple[list[str], str, list[str]]:
    """Front views of both axles, the side view, and words about instant centres."""
    axles = [axle_view(axle, statics) for axle in (data.front, data.rear)]
    centre = _horizontal_axes(statics.body_attitude("front")) @ statics.mass_centre
    side = side_view(
        [a.left for a in axles],
        np.array([centre[0], centre[2] + statics.height]),
        added_axle_wheel_centres(data, statics),
    )
    return [front_view(a) for a in axles], side, [instant_centre_text(a) for a in axles]
