"""Items of a scene as polygons in the inertial frame.

In:  a `Scene` and the poses of one time. Out: for each item polygons, all with the same number of corners, their
color, and whether they are closed (seen from outside only).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bellcrank.scene.scene import Item, Scene

SIDES, RINGS, TURNS = 28, 12, 7  # of a cylinder, of a sphere, of a coil
PER_TURN = 14
LARGEST, MOST_PIECES = 0.2, 40  # of faces: fraction of the reach, and how many one is cut into along an edge


@dataclass(frozen=True)
class Faces:
    """Polygons (n, corners, 3); `closed`: corners run anticlockwise as seen from outside."""

    corners: np.ndarray
    color: str
    closed: bool = True


@dataclass(frozen=True)
class Wire:
    """A line through points (n, 3) with a radius: as wide from wherever it is seen."""

    points: np.ndarray
    radius: float
    color: str


def solids(scene: Scene, poses: np.ndarray) -> Iterator[Faces | Wire]:
    """All items at one time: poses (bodies, 12)."""
    places = scene.places(poses)
    for item in scene.items:
        at = places[list(item.marks)]
        if np.isfinite(at).all():
            yield from _solid(item, at, _turned(scene, item, poses), LARGEST * scene.reach)


def _turned(scene: Scene, item: Item, poses: np.ndarray) -> np.ndarray:
    """The axes of an item in the inertial frame, as columns."""
    own = np.array(item.axes).reshape(3, 3)
    body = scene.marks[item.marks[0]].body
    return own if body < 0 else poses[body, 3:].reshape(3, 3) @ own


def _solid(item: Item, at: np.ndarray, R: np.ndarray, most: float) -> Iterator[Faces | Wire]:
    size = item.size
    match item.kind:
        case "box":
            for face in _BOX:
                yield Faces(at[0] + _cut(face * np.array(size), most) @ R.T, item.color)
        case "cylinder":
            yield from _cylinder(at[0], R, size[0], size[1], item.color, most)
        case "sphere":
            yield Faces(at[0] + _SPHERE * size[0], item.color)
        case "mesh" if item.mesh is not None:
            corners = np.array(item.mesh.points)[np.array(item.mesh.faces)] * size[0]
            yield Faces(at[0] + corners @ R.T, item.color, closed=False)
        case "rod":
            length = float(np.linalg.norm(at[1] - at[0]))
            if length > 0:
                yield from _cylinder((at[0] + at[1]) / 2, across(at[1] - at[0]), size[0], length, item.color, most)
        case "coil":
            if np.linalg.norm(at[1] - at[0]) > 0:
                yield Wire(coil(at[0], at[1], size[0]), size[1], item.color)
        case "line":
            yield Wire(at, size[0] / 2, item.color)


def across(direction: np.ndarray) -> np.ndarray:
    """A frame whose third axis points along a direction, as columns."""
    z = direction / np.linalg.norm(direction)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x = x / np.linalg.norm(x)
    return np.array([x, np.cross(z, x), z]).T


def coil(start: np.ndarray, end: np.ndarray, radius: float) -> np.ndarray:
    """Points of a spring with straight ends; short ones are as wide as they are long."""
    axis = end - start
    length = float(np.linalg.norm(axis))
    R = across(axis)
    angle = np.linspace(0, 2 * np.pi * TURNS, TURNS * PER_TURN + 1)
    along = np.linspace(0.15, 0.85, len(angle)) * length
    r = min(radius, length / 2)
    wound = np.stack([r * np.cos(angle), r * np.sin(angle), along], axis=1)
    straight = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.15 * length]])
    other = np.array([[0.0, 0.0, 0.85 * length], [0.0, 0.0, length]])
    return start + np.concatenate([straight, wound, other]) @ R.T


def _cylinder(
    middle: np.ndarray, R: np.ndarray, radius: float, length: float, color: str, most: float
) -> Iterator[Faces]:
    size = np.array([radius, radius, length])
    n = _pieces(length, most)
    step = np.array([0.0, 0.0, length / n])
    strip = _SIDE * size * [1, 1, 1 / n]
    for k in range(n):
        yield Faces(middle + (strip + (k - (n - 1) / 2) * step) @ R.T, color)
    yield Faces(middle + (_ENDS * size) @ R.T, color)


def _pieces(length: float, most: float) -> int:
    return int(min(MOST_PIECES, max(1, np.ceil(length / most))))


def _cut(face: np.ndarray, most: float) -> np.ndarray:
    """A rectangle in pieces, so that each is nearer or farther than others as a whole."""
    start, right, up = face[0], face[1] - face[0], face[3] - face[0]
    m, n = (_pieces(float(np.linalg.norm(side)), most) for side in (right, up))
    i, j = (x.ravel() for x in np.meshgrid(np.arange(m), np.arange(n)))
    corners = [(i + a)[:, None] / m * right + (j + b)[:, None] / n * up for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
    return start + np.stack(corners, axis=1)


def _box() -> np.ndarray:
    """Six faces of a cube with edges of one, about its middle."""
    square = np.array([[-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]]) / 2
    turned = [np.roll(square, k, axis=1) for k in range(3)]
    return np.array([*turned, *(-face[::-1] * [1, 1, 1] for face in turned)])


def _side() -> np.ndarray:
    """The curved face of a cylinder with radius and length one, in strips."""
    angle = np.linspace(0, 2 * np.pi, SIDES + 1)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    low, high = (np.column_stack([ring, np.full(SIDES + 1, z)]) for z in (-0.5, 0.5))
    return np.stack([low[:-1], low[1:], high[1:], high[:-1]], axis=1)


def _ends() -> np.ndarray:
    """Its two ends."""
    side = _side()
    return np.array([side[:, 3], side[::-1, 0]])


def _sphere() -> np.ndarray:
    """A ball of radius one in quadrangles."""
    polar = np.linspace(0, np.pi, RINGS + 1)
    around = np.linspace(0, 2 * np.pi, SIDES + 1)
    grid = np.stack(
        [np.outer(np.sin(polar), np.cos(around)), np.outer(np.sin(polar), np.sin(around)),
         np.outer(np.cos(polar), np.ones_like(around))], axis=2,
    )  # fmt: skip
    a, b, c, d = grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]
    return np.stack([a, b, c, d], axis=2).reshape(-1, 4, 3)


_BOX, _SIDE, _ENDS, _SPHERE = _box(), _side(), _ends(), _sphere()
