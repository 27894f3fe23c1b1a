"""Items of a scene as triangles in the inertial frame, with normals at their corners.

In:  a `Scene` and the poses of one time. Out: `Triangles`. Pages have the same shapes, made in the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

import numpy as np

from bellcrank.files.stl import Mesh
from bellcrank.scene.scene import Item, Scene

SIDES, FEW, LEAST, TURNS = 48, 16, 6, 7  # of what is round, of thin rods, of wires, of a coil
PER_TURN, WIRE = 14, 6
THIN, WIRES = 0.03, 0.018  # reaches: a rod that is thinner has few sides, one that is thinner still the least
LONG = 40  # points of a line from which on its bends are so small that they need no ball
HOOP = ((0.885, -0.3), (0.93, -0.42), (0.945, -0.5), (0.985, -0.45), (1.0, -0.2))
CREASE = 0.75  # cosine between faces from which on an edge of a mesh is round
TYRE = ((0.66, -0.42), (0.74, -0.47), (0.9, -0.5), (0.975, -0.43), (1.0, -0.28))  # half of its outline: radius, side


@dataclass(frozen=True)
class Solid:
    """Triangles (n, 3, 3) and the normals of their corners; `closed`: corners run anticlockwise seen from outside."""

    corners: np.ndarray
    normals: np.ndarray
    closed: bool = True


@dataclass(frozen=True)
class Triangles:
    """Triangles of all items: corners and normals (n, 3, 3), the number of the item of each, and whether it is seen
    from one side only."""

    corners: np.ndarray
    normals: np.ndarray
    item: np.ndarray
    closed: np.ndarray


def triangles_of(scene: Scene, poses: np.ndarray) -> Triangles:
    """All items at one time: poses (bodies, 12)."""
    places = scene.places(poses)
    found: list[tuple[np.ndarray, np.ndarray, int, bool]] = []
    for number, item in enumerate(scene.items):
        at = places[list(item.marks)]
        if np.isfinite(at).all():
            for solid, origin, by in _placed(item, at, _turned(scene, item, poses), scene.reach):
                size = np.linalg.norm(by, axis=0)
                back = by / np.maximum(size, 1e-300) ** 2  # normals of what is stretched
                normals = solid.normals @ back.T
                normals /= np.maximum(np.sqrt(np.einsum("ijk,ijk->ij", normals, normals)), 1e-300)[..., None]
                found.append((origin + solid.corners @ by.T, normals, number, solid.closed))
    if not found:
        none = np.empty((0, 3, 3))
        return Triangles(none, none, np.empty(0, int), np.empty(0, bool))
    counts = [len(c) for c, _, _, _ in found]
    return Triangles(
        np.concatenate([c for c, _, _, _ in found]),
        np.concatenate([n for _, n, _, _ in found]),
        np.repeat([k for _, _, k, _ in found], counts),
        np.repeat([c for _, _, _, c in found], counts),
    )


def _turned(scene: Scene, item: Item, poses: np.ndarray) -> np.ndarray:
    """The axes of an item in the inertial frame, as columns."""
    own = np.array(item.axes).reshape(3, 3)
    body = scene.marks[item.marks[0]].body
    return own if body < 0 else poses[body, 3:].reshape(3, 3) @ own


def _placed(item: Item, at: np.ndarray, R: np.ndarray, reach: float) -> Iterator[tuple[Solid, np.ndarray, np.ndarray]]:
    """Shapes of size one, where they are, and what they are turned and stretched by."""
    size = item.size
    if item.mesh is not None:
        yield mesh_solid(item.mesh), at[0], R * size[0]
    elif item.kind == "box":
        yield box(), at[0], R * size
    elif item.kind == "sphere":
        yield sphere(_sides(size[0], reach)), at[0], R * size[0]
    elif item.kind == "cylinder":
        yield cylinder(_sides(size[0], reach)), at[0], R * [size[0], size[0], size[1]]
    elif item.kind in ROUND:
        yield ROUND[item.kind](), at[0], R * [size[0], size[0], size[1]]
    elif item.kind == "coil":
        length = float(np.linalg.norm(at[1] - at[0]))
        if length > 0:
            wide = min(size[0], length / 2)
            wire = coil(round(size[1] / wide, 2), round(size[1] / length, 3))
            yield wire, (at[0] + at[1]) / 2, across(at[1] - at[0]) * [wide, wide, length]
    else:
        thick = size[0] / 2 if item.kind == "line" else size[0]
        for start, end in pairwise(at):
            length = float(np.linalg.norm(end - start))
            if length > 0:
                yield cylinder(_sides(thick, reach)), (start + end) / 2, across(end - start) * [thick, thick, length]
        for joint in at[1:-1] if len(at) < LONG else ():
            yield sphere(_sides(thick, reach)), joint, np.eye(3) * thick


def _sides(radius: float, reach: float) -> int:
    return SIDES if radius > THIN * reach else FEW if radius > WIRES * reach else LEAST


def across(direction: np.ndarray) -> np.ndarray:
    """A frame whose third axis points along a direction, as columns."""
    z = direction / np.linalg.norm(direction)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x = x / np.linalg.norm(x)
    return np.array([x, np.cross(z, x), z]).T


def _grid(points: np.ndarray, normals: np.ndarray) -> Solid:
    """A surface over rows and columns of points (m, n, 3): two triangles between four of them."""

    def cut(x: np.ndarray) -> np.ndarray:
        a, b, c, d = x[:-1, :-1], x[1:, :-1], x[1:, 1:], x[:-1, 1:]
        return np.stack([a, b, c, a, c, d], axis=2).reshape(-1, 3, 3)

    corners, normal = cut(points), cut(normals)
    size = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    return Solid(corners[size > 1e-12], normal[size > 1e-12])


def turned_outline(outline: np.ndarray, sides: int, crease: float = CREASE) -> Solid:
    """What an outline (radius, along the third axis) gives that is turned about this axis, outside to its right."""
    step = np.diff(outline, axis=0)
    flat = np.stack([step[:, 1], -step[:, 0]], axis=1) / np.linalg.norm(step, axis=1)[:, None]
    around = np.linspace(0, 2 * np.pi, sides + 1)
    ring = np.stack([np.cos(around), np.sin(around)], axis=1)
    parts = []
    for k in range(len(step)):
        ends = []
        for other, edge in ((k - 1, k), (k + 1, k + 1)):
            smooth = 0 <= other < len(flat) and flat[k] @ flat[other] > crease
            n = flat[k] + flat[other] if smooth else flat[k]
            n = n / np.linalg.norm(n)
            radius, side = outline[edge]
            ends.append((np.column_stack([radius * ring, np.full(sides + 1, side)]),
                         np.column_stack([n[0] * ring, np.full(sides + 1, n[1])])))  # fmt: skip
        points, normals = (np.stack([e[i] for e in ends], axis=1) for i in (0, 1))
        parts.append(_grid(points, normals))
    return Solid(np.concatenate([s.corners for s in parts]), np.concatenate([s.normals for s in parts]))


@cache
def cylinder(sides: int = SIDES) -> Solid:
    """Of radius and length one, about its middle."""
    return turned_outline(np.array([(0.0, -0.5), (1.0, -0.5), (1.0, 0.5), (0.0, 0.5)]), sides)


@cache
def sphere(sides: int = SIDES) -> Solid:
    """Of radius one."""
    polar = np.linspace(0, np.pi, sides // 2 + 1)
    return turned_outline(np.stack([np.sin(polar), -np.cos(polar)], axis=1), sides, -1.0)


def _ring(half: tuple[tuple[float, float], ...]) -> Solid:
    """A ring by half of its outline."""
    outline = np.concatenate([half, np.array(half)[::-1] * [1, -1], half[:1]])
    return turned_outline(outline, SIDES)


@cache
def tyre() -> Solid:
    """Of radius and width one, open where the rim is."""
    return _ring(TYRE)


@cache
def hoop() -> Solid:
    """A narrow tyre with its rim, of radius and width one."""
    return _ring(HOOP)


@cache
def rim() -> Solid:
    """Spokes and hub of a wheel of radius and width one."""
    return _spokes(5, 0.15, (0.36, 0.45), 0.66)


@cache
def wires() -> Solid:
    """Thin spokes and hub."""
    return _spokes(12, 0.014, (-0.12, 0.12), 0.9)


def _spokes(count: int, wide: float, side: tuple[float, float], end: float) -> Solid:
    """Spokes about the axis, on both sides where they do not reach the middle, and a hub."""
    low, high = side
    layers = [(low + high) / 2] if low < 0 else [(low + high) / 2, -(low + high) / 2]
    parts = []
    for k in range(count):
        c, s = np.cos(2 * np.pi * k / count), np.sin(2 * np.pi * k / count)
        turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        for z in layers:
            by = turn * [end, wide, high - low]
            at = turn @ [end / 2, 0, z]
            parts.append((box().corners @ by.T + at, box().normals @ turn.T))
    hub = cylinder(FEW)
    size = [0.17, 0.17, 2 * high + 0.04] if low > 0 else [0.05, 0.05, 2.0]
    parts.append((hub.corners * size, hub.normals))
    return Solid(np.concatenate([c for c, _ in parts]), np.concatenate([n for _, n in parts]))


@cache
def box() -> Solid:
    """A cube with edges of one, about its middle."""
    square = np.array([[-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]]) / 2
    turned = [np.roll(square, k, axis=1) for k in range(3)]
    faces = np.array([*turned, *(-face[::-1] for face in turned)])
    normals = np.repeat(2 * faces.mean(axis=1)[:, None], 4, axis=1)
    pick = [0, 1, 2, 0, 2, 3]
    return Solid(faces[:, pick].reshape(-1, 3, 3), normals[:, pick].reshape(-1, 3, 3))


@lru_cache(200)
def coil(thick: float = 0.16, along: float = 0.02) -> Solid:
    """A spring of radius and length one with straight ends, about its middle; radii of its wire across and along it."""
    angle = np.linspace(0, 2 * np.pi * TURNS, TURNS * PER_TURN + 1)
    wound = np.stack([np.cos(angle), np.sin(angle), np.linspace(-0.38, 0.38, len(angle))], axis=1)
    ends = np.array([[0.0, 0.0, -0.5], [0.0, 0.0, -0.39]])
    line = np.concatenate([ends, wound, ends[::-1] * [1, 1, -1]])
    turn = np.linspace(0, 2 * np.pi, WIRE + 1)
    on_axis = (line[:, :2] == 0).all(axis=1)[:, None]  # the wire lies there at the ends
    out = np.where(on_axis, [1.0, 0.0, 0.0], line * [1, 1, 0])
    other = np.where(on_axis, [0.0, 1.0, 0.0], [0.0, 0.0, 1.0])
    ring = np.cos(turn)[:, None] * out[:, None] + np.sin(turn)[:, None] * other[:, None]
    solid = _grid(line[:, None] + ring * [thick, thick, along], ring)
    return Solid(solid.corners, solid.normals, closed=False)


ROUND = {"tyre": tyre, "hoop": hoop, "rim": rim, "wires": wires}
_MESHES: dict[int, tuple[Mesh, Solid]] = {}


def mesh_solid(mesh: Mesh) -> Solid:
    """The triangles of a file, round where faces meet at a small angle."""
    known = _MESHES.get(id(mesh))
    if known is None or known[0] is not mesh:
        if len(_MESHES) > 200:
            _MESHES.clear()
        _MESHES[id(mesh)] = known = (mesh, smooth(np.array(mesh.points), np.array(mesh.faces)))
    return known[1]


def smooth(points: np.ndarray, faces: np.ndarray) -> Solid:
    """Triangles with normals that are the mean of those of faces at a corner which meet at a small angle."""
    corners = points[faces]
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(flat, axis=1)
    unit = flat / np.maximum(size, 1e-300)[:, None]
    at = faces.ravel()
    order = np.argsort(at, kind="stable")
    count = np.bincount(at, minlength=len(points))
    starts = np.cumsum(count) - count
    normals = np.zeros((len(at), 3))
    for k in range(int(count.max(initial=0))):  # the k-th face at the corner of each
        some = np.flatnonzero(count[at] > k)
        other = order[starts[at[some]] + k] // 3
        near = np.einsum("ij,ij->i", unit[some // 3], unit[other]) > CREASE
        normals[some[near]] += flat[other[near]]
    normals = normals / np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
    return Solid(corners, normals.reshape(-1, 3, 3), closed=False)
