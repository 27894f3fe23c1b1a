"""Items of a scene as triangles in the inertial frame, with normals at their corners.

In:  a `Scene` and the poses of one time. Out: `SceneTriangles`. Pages have the same shapes, made in
the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

import numpy as np

from bellcrank.core.files.stl import Mesh
from bellcrank.scene.scene import Scene, SceneItem

SIDES, FEW, LEAST, TURNS = 48, 16, 6, 7  # of what is round, of thin rods, of wires, of a coil
PER_TURN, WIRE = 14, 6
THIN, WIRES = (
    0.03,
    0.018,
)  # reaches: a rod that is thinner has few sides, one that is thinner still the least
SMOOTH_LINE_POINTS = (
    40  # points of a line from which on its bends are so small that they need no ball
)
HOOP = ((0.885, -0.3), (0.93, -0.42), (0.945, -0.5), (0.985, -0.45), (1.0, -0.2))
CREASE = 0.75  # cosine between faces from which on an edge of a mesh is round
TYRE = (
    (0.66, -0.42),
    (0.74, -0.47),
    (0.9, -0.5),
    (0.975, -0.43),
    (1.0, -0.28),
)  # half of its outline: radius, side


@dataclass(frozen=True)
class SolidMesh:
    """Triangles (n, 3, 3) and the normals of their corners; `closed`: corners run anticlockwise
    seen from outside."""

    corners: np.ndarray
    normals: np.ndarray
    closed: bool = True


@dataclass(frozen=True)
class SceneTriangles:
    """Triangles of all items: corners and normals (n, 3, 3), the number of the item of each, and
    whether it is seen from one side only."""

    corners: np.ndarray
    normals: np.ndarray
    item: np.ndarray
    closed: np.ndarray


def scene_triangles(scene: Scene, poses: np.ndarray) -> SceneTriangles:
    """All items at one time: poses (bodies, 12)."""
    positions = scene.mark_positions(poses)
    solids: list[tuple[np.ndarray, np.ndarray, int, bool]] = []
    for number, item in enumerate(scene.items):
        item_points = positions[list(item.marks)]
        if np.isfinite(item_points).all():
            for solid, origin, axes in _placed_solids(
                item, item_points, _item_axes(scene, item, poses), scene.reach
            ):
                size = np.linalg.norm(axes, axis=0)
                normal_map = axes / np.maximum(size, 1e-300) ** 2  # normals of what is stretched
                normals = solid.normals @ normal_map.T
                normals /= np.maximum(np.sqrt(np.einsum("ijk,ijk->ij", normals, normals)), 1e-300)[
                    ..., None
                ]
                solids.append((origin + solid.corners @ axes.T, normals, number, solid.closed))
    if not solids:
        no_triangles = np.empty((0, 3, 3))
        return SceneTriangles(no_triangles, no_triangles, np.empty(0, int), np.empty(0, bool))
    face_counts = [len(c) for c, _, _, _ in solids]
    return SceneTriangles(
        np.concatenate([c for c, _, _, _ in solids]),
        np.concatenate([n for _, n, _, _ in solids]),
        np.repeat([k for _, _, k, _ in solids], face_counts),
        np.repeat([c for _, _, _, c in solids], face_counts),
    )


def _item_axes(scene: Scene, item: SceneItem, poses: np.ndarray) -> np.ndarray:
    """The axes of an item in the inertial frame, as columns."""
    item_axes = np.array(item.axes).reshape(3, 3)
    body = scene.marks[item.marks[0]].body
    return item_axes if body < 0 else poses[body, 3:].reshape(3, 3) @ item_axes


def _placed_solids(
    item: SceneItem, positions: np.ndarray, R: np.ndarray, scene_size: float
) -> Iterator[tuple[SolidMesh, np.ndarray, np.ndarray]]:
    """Shapes of size one, where they are, and what they are turned and stretched by."""
    size = item.size
    if item.mesh is not None:
        yield mesh_solid(item.mesh), positions[0], R * size[0]
    elif item.kind == "box":
        yield cube_solid(), positions[0], R * size
    elif item.kind == "sphere":
        yield sphere_solid(_side_count(size[0], scene_size)), positions[0], R * size[0]
    elif item.kind == "cylinder":
        yield (
            cylinder_solid(_side_count(size[0], scene_size)),
            positions[0],
            R * [size[0], size[0], size[1]],
        )
    elif item.kind in ROUND:
        yield ROUND[item.kind](), positions[0], R * [size[0], size[0], size[1]]
    elif item.kind == "coil":
        length = float(np.linalg.norm(positions[1] - positions[0]))
        if length > 0:
            wide = min(size[0], length / 2)
            wire = coil_spring_solid(round(size[1] / wide, 2), round(size[1] / length, 3))
            yield (
                wire,
                (positions[0] + positions[1]) / 2,
                frame_along(positions[1] - positions[0]) * [wide, wide, length],
            )
    else:
        thick = size[0] / 2 if item.kind == "line" else size[0]
        for start, end in pairwise(positions):
            length = float(np.linalg.norm(end - start))
            if length > 0:
                yield (
                    cylinder_solid(_side_count(thick, scene_size)),
                    (start + end) / 2,
                    frame_along(end - start) * [thick, thick, length],
                )
        for joint in positions[1:-1] if len(positions) < SMOOTH_LINE_POINTS else ():
            yield sphere_solid(_side_count(thick, scene_size)), joint, np.eye(3) * thick


def _side_count(radius: float, scene_size: float) -> int:
    return SIDES if radius > THIN * scene_size else FEW if radius > WIRES * scene_size else LEAST


def frame_along(direction: np.ndarray) -> np.ndarray:
    """A frame whose third axis points along a direction, as columns."""
    z = direction / np.linalg.norm(direction)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x = x / np.linalg.norm(x)
    return np.array([x, np.cross(z, x), z]).T


def _grid_surface(points: np.ndarray, normals: np.ndarray) -> SolidMesh:
    """A surface over rows and columns of points (m, n, 3): two triangles between four of them."""

    def split_quads(x: np.ndarray) -> np.ndarray:
        a, b, c, d = x[:-1, :-1], x[1:, :-1], x[1:, 1:], x[:-1, 1:]
        return np.stack([a, b, c, a, c, d], axis=2).reshape(-1, 3, 3)

    corners, normal = split_quads(points), split_quads(normals)
    size = np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    return SolidMesh(corners[size > 1e-12], normal[size > 1e-12])


def revolve_outline(outline: np.ndarray, sides: int, crease: float = CREASE) -> SolidMesh:
    """What an outline (radius, along the third axis) gives that is turned about this axis, outside
    to its right."""
    step = np.diff(outline, axis=0)
    flat = np.stack([step[:, 1], -step[:, 0]], axis=1) / np.linalg.norm(step, axis=1)[:, None]
    around = np.linspace(0, 2 * np.pi, sides + 1)
    ring = np.stack([np.cos(around), np.sin(around)], axis=1)
    solids = []
    for k in range(len(step)):
        edge_pair = []
        for neighbour, edge in ((k - 1, k), (k + 1, k + 1)):
            smooth = 0 <= neighbour < len(flat) and flat[k] @ flat[neighbour] > crease
            n = flat[k] + flat[neighbour] if smooth else flat[k]
            n = n / np.linalg.norm(n)
            radius, side = outline[edge]
            edge_pair.append(
                (
                    np.column_stack([radius * ring, np.full(sides + 1, side)]),
                    np.column_stack([n[0] * ring, np.full(sides + 1, n[1])]),
                )
            )
        points, normals = (np.stack([e[i] for e in edge_pair], axis=1) for i in (0, 1))
        solids.append(_grid_surface(points, normals))
    return SolidMesh(
        np.concatenate([s.corners for s in solids]), np.concatenate([s.normals for s in solids])
    )


@cache
def cylinder_solid(sides: int = SIDES) -> SolidMesh:
    """Of radius and length one, about its middle."""
    return revolve_outline(np.array([(0.0, -0.5), (1.0, -0.5), (1.0, 0.5), (0.0, 0.5)]), sides)


@cache
def sphere_solid(sides: int = SIDES) -> SolidMesh:
    """Of radius one."""
    polar = np.linspace(0, np.pi, sides // 2 + 1)
    return revolve_outline(np.stack([np.sin(polar), -np.cos(polar)], axis=1), sides, -1.0)


def _ring_solid(half_outline: tuple[tuple[float, float], ...]) -> SolidMesh:
    """A ring by half of its outline."""
    outline = np.concatenate(
        [half_outline, np.array(half_outline)[::-1] * [1, -1], half_outline[:1]]
    )
    return revolve_outline(outline, SIDES)


@cache
def tyre_solid() -> SolidMesh:
    """Of radius and width one, open where the rim is."""
    return _ring_solid(TYRE)


@cache
def narrow_tyre_solid() -> SolidMesh:
    """A narrow tyre with its rim, of radius and width one."""
    return _ring_solid(HOOP)


@cache
def spoked_rim_solid() -> SolidMesh:
    """Spokes and hub of a wheel of radius and width one."""
    return _spoke_solid(5, 0.15, (0.36, 0.45), 0.66)


@cache
def wire_wheel_solid() -> SolidMesh:
    """Thin spokes and hub."""
    return _spoke_solid(12, 0.014, (-0.12, 0.12), 0.9)


def _spoke_solid(count: int, wide: float, side: tuple[float, float], end: float) -> SolidMesh:
    """Spokes about the axis, on both sides where they do not reach the middle, and a hub."""
    low, high = side
    layers = [(low + high) / 2] if low < 0 else [(low + high) / 2, -(low + high) / 2]
    solids = []
    for k in range(count):
        c, s = np.cos(2 * np.pi * k / count), np.sin(2 * np.pi * k / count)
        rotation = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        for z in layers:
            axes = rotation * [end, wide, high - low]
            offset = rotation @ [end / 2, 0, z]
            solids.append(
                (cube_solid().corners @ axes.T + offset, cube_solid().normals @ rotation.T)
            )
    hub = cylinder_solid(FEW)
    size = [0.17, 0.17, 2 * high + 0.04] if low > 0 else [0.05, 0.05, 2.0]
    solids.append((hub.corners * size, hub.normals))
    return SolidMesh(np.concatenate([c for c, _ in solids]), np.concatenate([n for _, n in solids]))


@cache
def cube_solid() -> SolidMesh:
    """A cube with edges of one, about its middle."""
    square = np.array([[-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]]) / 2
    positive_faces = [np.roll(square, k, axis=1) for k in range(3)]
    faces = np.array([*positive_faces, *(-face[::-1] for face in positive_faces)])
    normals = np.repeat(2 * faces.mean(axis=1)[:, None], 4, axis=1)
    pick = [0, 1, 2, 0, 2, 3]
    return SolidMesh(faces[:, pick].reshape(-1, 3, 3), normals[:, pick].reshape(-1, 3, 3))


@lru_cache(200)
def coil_spring_solid(thick: float = 0.16, along: float = 0.02) -> SolidMesh:
    """A spring of radius and length one with straight ends, about its middle; radii of its wire
    across and along it."""
    angle = np.linspace(0, 2 * np.pi * TURNS, TURNS * PER_TURN + 1)
    wound = np.stack([np.cos(angle), np.sin(angle), np.linspace(-0.38, 0.38, len(angle))], axis=1)
    straight_end = np.array([[0.0, 0.0, -0.5], [0.0, 0.0, -0.39]])
    line = np.concatenate([straight_end, wound, straight_end[::-1] * [1, 1, -1]])
    wire_angles = np.linspace(0, 2 * np.pi, WIRE + 1)
    on_axis = (line[:, :2] == 0).all(axis=1)[:, None]  # the wire lies there at the ends
    radial = np.where(on_axis, [1.0, 0.0, 0.0], line * [1, 1, 0])
    binormal = np.where(on_axis, [0.0, 1.0, 0.0], [0.0, 0.0, 1.0])
    ring = (
        np.cos(wire_angles)[:, None] * radial[:, None]
        + np.sin(wire_angles)[:, None] * binormal[:, None]
    )
    solid = _grid_surface(line[:, None] + ring * [thick, thick, along], ring)
    return SolidMesh(solid.corners, solid.normals, closed=False)


ROUND = {
    "tyre": tyre_solid,
    "hoop": narrow_tyre_solid,
    "rim": spoked_rim_solid,
    "wires": wire_wheel_solid,
}
_MESHES: dict[int, tuple[Mesh, SolidMesh]] = {}


def mesh_solid(mesh: Mesh) -> SolidMesh:
    """The triangles of a file, round where faces meet at a small angle."""
    cached = _MESHES.get(id(mesh))
    if cached is None or cached[0] is not mesh:
        if len(_MESHES) > 200:
            _MESHES.clear()
        _MESHES[id(mesh)] = cached = (
            mesh,
            smooth_normals(np.array(mesh.points), np.array(mesh.faces)),
        )
    return cached[1]


def smooth_normals(points: np.ndarray, faces: np.ndarray) -> SolidMesh:
    """Triangles with normals that are the mean of those of faces at a corner which meet at a small
    angle."""
    corners = points[faces]
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(flat, axis=1)
    unit = flat / np.maximum(size, 1e-300)[:, None]
    vertex_of = faces.ravel()
    order = np.argsort(vertex_of, kind="stable")
    count = np.bincount(vertex_of, minlength=len(points))
    first_corner = np.cumsum(count) - count
    normals = np.zeros((len(vertex_of), 3))
    for k in range(int(count.max(initial=0))):  # the k-th face at the corner of each
        corner_indices = np.flatnonzero(count[vertex_of] > k)
        neighbour = order[first_corner[vertex_of[corner_indices]] + k] // 3
        is_smooth = np.einsum("ij,ij->i", unit[corner_indices // 3], unit[neighbour]) > CREASE
        normals[corner_indices[is_smooth]] += flat[neighbour[is_smooth]]
    normals = normals / np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
    return SolidMesh(corners, normals.reshape(-1, 3, 3), closed=False)
