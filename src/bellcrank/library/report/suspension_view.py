"""Suspensions from the front and from the side, at rest, with instant centres and roll centres.

The instant centre of a wheel is where its carrier does not move, seen along one axis, while the wheel travels; the
line from the contact centre through it meets the middle plane at the roll centre.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from bellcrank.library.vehicles.axles import FittedAxle
from bellcrank.library.vehicles.data import CarData
from bellcrank.library.vehicles.rest import Stand
from bellcrank.linkage.chain import BASE, Chain
from bellcrank.linkage.pose import Pose
from bellcrank.view.chart import NARROW, WIDTH, Line, curves

Array = np.ndarray[Any, Any]
LINK, SPRING, WHEEL, CENTRE, MIRROR = 0, 1, -1, 2, 3  # colours
AROUND = np.linspace(0.0, 2 * math.pi, 49)
MARK = 0.03  # m, half size of a cross
OUT = 0.6  # m outside the wheels, to which a side view reaches
HIGH, LOW = 0.7, 0.15  # m above and below the ground, to which lines to instant centres reach
ON_AXIS = 1e-4  # m, of a point from the axis of a hinge


@dataclass(frozen=True)
class Corner:
    """The left wheel of an axle at rest, in axes of the car with the ground at z = 0, m."""

    name: str
    links: tuple[Array, ...]
    spring: Array
    centre: Array
    contact: Array
    radius: float
    width: float
    front_centre: tuple[float, float]  # y, z of the instant centre
    side_centre: tuple[float, float]  # x, z
    roll_centre: float


def corner_of(axle: FittedAxle, at_rest: Stand) -> Corner:
    """What the views show of an axle."""
    i = 0 if axle.name == "front" else 2
    pose = axle.linkage.solve(at_rest.travel[i])
    ground = float(at_rest.contact[i][2])
    up = np.array([0.0, 0.0, -ground])
    at = np.array(axle.record.at) + up

    def place(name: str) -> Array:
        return np.asarray(pose.point(name).position).reshape(3) + at

    centre, contact = place(axle.linkage.chain.wheel_centre), at_rest.contact[i] + up
    links = tuple(np.array([place(a), place(b)]) for a, b in _bars(axle.linkage.chain))
    spring = np.array([place(p) for p in axle.spring])
    front, side = instant_centres(pose, centre)
    y, h = front
    roll = contact[1] * h / (contact[1] - y) if math.isfinite(y) else float(contact[1] * _rise(pose, centre, contact))
    width = getattr(axle.tyre, "width", None) or axle.record.tyre.width or 0.6 * float(centre[2])
    return Corner(axle.name, links, spring, centre, contact, float(centre[2]), float(width), front, side, float(roll))


def instant_centres(pose: Pose, centre: Array) -> tuple[tuple[float, float], tuple[float, float]]:
    """(y, z) seen from the front and (x, z) from the side; infinite where the carrier does not turn."""
    (vx, vy, vz), (wx, wy, _) = np.asarray(pose.d).reshape(3), np.asarray(pose.delta).reshape(3)
    x, y, z = centre
    front = (y - vz / wx, z + vy / wx) if abs(wx) > 1e-9 else (math.inf, math.inf)
    side = (x + vz / wy, z - vx / wy) if abs(wy) > 1e-9 else (math.inf, math.inf)
    return (float(front[0]), float(front[1])), (float(side[0]), float(side[1]))


def _rise(pose: Pose, centre: Array, contact: Array) -> float:
    """How far the contact centre moves outwards per travel, of a carrier that does not turn."""
    return float(np.asarray(pose.d).reshape(3)[1])


def _bars(chain: Chain) -> Iterator[tuple[str, str]]:
    """Pairs of hard points to be joined by a line: rods, arms between their pivots, the carrier."""
    for rod in chain.rods:
        yield rod.first, rod.second
    for body in chain.bodies:
        pivots = list(dict.fromkeys(_pivots(chain, body)))
        if body == chain.carrier:
            yield from ((chain.wheel_centre, p) for p in pivots)
        else:
            yield from combinations(pivots, 2)


def _pivots(chain: Chain, body: str) -> Iterator[str]:
    """Hard points where a body is joined to others, with all that lie on the axis of its hinge to the base."""
    for j in chain.joints:
        if body not in (j.first, j.second) or j.kind == "prismatic":
            continue
        yield j.at
        if j.kind == "revolute" and j.axis is not None and BASE in (j.first, j.second):
            axis = np.array(j.axis) / np.linalg.norm(j.axis)
            for name, p in chain.points.items():
                away = np.array(p.at) - np.array(chain.place(j.at))
                if p.body == BASE and np.linalg.norm(away - axis * (axis @ away)) < ON_AXIS:
                    yield name
    for rod in chain.rods:
        yield from (p for p in (rod.first, rod.second) if chain.points[p].body == body)


def front_view(corner: Corner) -> str:
    """An axle seen from the front, both wheels; y to the left of the car, so to the right of the picture."""
    lines: list[Line] = []
    colours: list[int] = []

    def add(name: str, points: Array, colour: int, mirrored: bool = True) -> None:
        for sign in (1, -1) if mirrored else (1,):
            lines.append((name, sign * 1000 * points[:, 0], 1000 * points[:, 1]))
            colours.append(colour)

    for link in corner.links:
        add("links", link[:, 1:], LINK)
    add("spring", corner.spring[:, 1:], SPRING)
    add("wheel", _tyre_box(corner), WHEEL)
    half = float(abs(corner.contact[1])) + corner.width / 2
    _add_centre(add, corner.contact[[1, 2]], corner.front_centre, (-half, half), mirrored=True)
    add("roll centre", _cross(0.0, corner.roll_centre), MIRROR, False)
    return curves(lines, "y (mm)", "z above the ground (mm)", width=NARROW, colours=colours, equal=True)


def side_view(corners: Sequence[Corner], mass_centre: Array) -> str:
    """The left side of a car, front to the left as the cars of most drawings; x counts forward."""
    lines: list[Line] = []
    colours: list[int] = []

    def add(name: str, points: Array, colour: int, mirrored: bool = False) -> None:
        lines.append((name, -1000 * points[:, 0], 1000 * points[:, 1]))
        colours.append(colour)

    xs = [float(c.contact[0]) for c in corners]
    for c in corners:
        for link in c.links:
            add("links", link[:, [0, 2]], LINK)
        add("spring", c.spring[:, [0, 2]], SPRING)
        around = np.stack([np.cos(AROUND), np.sin(AROUND)], 1)
        add("wheel", c.centre[[0, 2]] + c.radius * around, WHEEL)
        _add_centre(add, c.contact[[0, 2]], c.side_centre, (min(xs) - OUT, max(xs) + OUT), mirrored=False)
    add("mass centre", _cross(float(mass_centre[0]), float(mass_centre[1])), MIRROR)
    return curves(lines, "distance behind the origin of the car (mm)", "z above the ground (mm)", width=WIDTH,
                  colours=colours, equal=True)  # fmt: skip


def _add_centre(
    add: Any, contact: Array, centre: tuple[float, float], edges: tuple[float, float], mirrored: bool
) -> None:
    """The line from the contact centre towards the instant centre, and this one where it lies inside the drawing."""
    if not math.isfinite(centre[0]):
        return
    away = np.array(centre) - contact
    room = (edges[1] if away[0] > 0 else edges[0]) - contact[0], HIGH if away[1] > 0 else -LOW
    reach = min(1.0, *(r / a for r, a in zip(room, away, strict=True) if abs(a) > 1e-9))
    add("to the instant centre", np.array([contact, contact + reach * away]), CENTRE, mirrored)
    if reach == 1.0:
        add("to the instant centre", _cross(*centre), CENTRE, mirrored)


def _tyre_box(c: Corner) -> Array:
    y, z, half = float(c.centre[1]), c.radius, c.width / 2
    return np.array([[y - half, 0.0], [y + half, 0.0], [y + half, 2 * z], [y - half, 2 * z], [y - half, 0.0]])


def _cross(x: float, y: float) -> Array:
    gap = [math.nan, math.nan]
    return np.array([[x - MARK, y], [x + MARK, y], gap, [x, y - MARK], [x, y + MARK]])


def centre_words(corner: Corner) -> str:
    """Where the instant centres lie, in words."""

    def at(axis: str, place: tuple[float, float]) -> str:
        if not math.isfinite(place[0]):
            return "at infinity"
        return f"at {axis} = {1000 * place[0]:.0f} mm, z = {1000 * place[1]:.0f} mm"

    return (f"{corner.name.capitalize()} axle: instant centre of the left wheel {at('y', corner.front_centre)} seen "
            f"from the front, {at('x', corner.side_centre)} seen from the side; roll centre "
            f"{1000 * corner.roll_centre:.0f} mm above the ground.")  # fmt: skip


def views(data: CarData, at_rest: Stand) -> tuple[list[str], str, list[str]]:
    """Front views of both axles, the side view, and words about instant centres."""
    corners = [corner_of(axle, at_rest) for axle in (data.front, data.rear)]
    height = at_rest.centre[2] + at_rest.height
    side = side_view(corners, np.array([at_rest.centre[0], height]))
    return [front_view(c) for c in corners], side, [centre_words(c) for c in corners]
