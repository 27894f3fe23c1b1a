"""A draft with numbers: the scene, with sizes from the reach of the mechanism.

In:  a `SceneDraft`, the numbers of its expressions, and the poses of a motion, which begins with
the start. Out: `Scene`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bellcrank.scene.camera import TRAVELS, scene_outline
from bellcrank.scene.car_body import STYLES, car_body
from bellcrank.scene.draft import (
    BALL,
    DistanceFraction,
    DraftItem,
    Length,
    ReachFraction,
    SceneDraft,
)
from bellcrank.scene.scene import (
    UPRIGHT,
    Scene,
    SceneGround,
    SceneItem,
    SceneMark,
    Triple,
    rotation_to_axis,
)
from bellcrank.symbolic.expr import Expr

SAMPLES = 1500  # of ground that is not flat, at most
ALONG, ACROSS = 300, 80  # of ground over x and y
PARALLEL = 1e-9
NARROW = 0.25  # width over radius, below which a wheel has thin spokes
RIM, DISC = "#c9ced3", "#3a3f45"
LEVEL = 0.3  # reaches that what travels on ground goes up or down
# square of the fraction of a force along the line of its points, from which on it is drawn there
STRAIGHT = 0.98


def build_scene(draft: SceneDraft, numbers: np.ndarray, poses: np.ndarray) -> Scene:
    """The scene of a motion: poses (rows, bodies, 12)."""
    numbers_left = iter(np.nan_to_num(numbers, nan=0.0, posinf=0.0, neginf=0.0).tolist())
    marks = tuple(SceneMark(body, _next_triple(numbers_left)) for body, _ in draft.marks)
    read = [(item, *_item_sizes(item, numbers_left)) for item in draft.items]
    sized = [(item, size, axis) for item, size, axis, is_shown in read if is_shown]
    bulks = [(bulk, next(numbers_left), _next_triple(numbers_left)) for bulk in draft.bulks]
    turn_axes, slides = (
        [(body, _next_triple(numbers_left)) for body, _ in pairs]
        for pairs in (draft.rotation_axes, draft.translation_directions)
    )
    up_axis = _unit_vector(_next_triple(numbers_left), (0.0, 0.0, 1.0))
    name = draft.analysis.mechanism.name
    bodies = tuple(b.name for b in draft.analysis.mechanism.bodies) + tuple(
        p.name for p in draft.parts
    )
    bare = Scene(name, bodies, marks, (), math.inf, up_axis)
    boxes = [_inertia_box(mass, moments) for _, mass, moments in bulks]
    radii = [(item.marks, _item_radius(item, size)) for item, size, _ in sized]
    radii += [((bulk.mark,), max(box) / 2) for (bulk, _, _), box in zip(bulks, boxes, strict=True)]
    positions = bare.mark_positions(poses[0])
    scene_size = _half_extent(positions, radii)
    items = [
        part
        for item, size, axis in sized
        for part in _build_items(item, size, axis, scene_size, positions)
    ]
    for (bulk, _, _), box in zip(bulks, boxes, strict=True):
        if max(box) > 0.02 * scene_size:
            size = tuple(max(x, 0.02 * scene_size) for x in box)
            items.append(SceneItem("box", (bulk.mark,), size, bulk.color, "body", bulk.label))
        else:
            items.append(
                SceneItem(
                    "sphere",
                    (bulk.mark,),
                    (1.6 * BALL * scene_size,),
                    bulk.color,
                    "body",
                    bulk.label,
                )
            )
    normal = (
        None if draft.is_spatial else _motion_plane_normal(poses[0], turn_axes, slides, up_axis)
    )
    scene = Scene(name, bodies, marks, tuple(items), scene_size, up_axis, normal)
    plane = _sliding_plane_normal(slides, up_axis) if draft.has_rolling_body else up_axis
    return replace(
        scene,
        ground=_ground_below_wheels(draft, scene, poses, scene_size)
        or _ground_below_motion(draft, scene, poses, plane),
    )


def _next_triple(numbers: Iterator[float]) -> Triple:
    return next(numbers), next(numbers), next(numbers)


def _item_sizes(
    item: DraftItem, numbers: Iterator[float]
) -> tuple[list[float | None], Triple, bool]:
    """Sizes that are numbers, None for fractions of others; the axis; and whether it is to be
    drawn."""
    size, axis = (
        [next(numbers) if isinstance(x, Expr) else None for x in item.size],
        _next_triple(numbers),
    )
    is_shown = True
    if item.along is not None:
        measured, square = next(numbers), next(numbers)
        is_shown = square > 0 and measured * measured > STRAIGHT * square
    return size, axis, is_shown


def _build_items(
    item: DraftItem,
    size: Sequence[float | None],
    axis: Triple,
    scene_size: float,
    positions: np.ndarray,
) -> list[SceneItem]:
    """An item with lengths, or the items that it is made of."""
    distance = (
        float(np.linalg.norm(positions[item.marks[-1]] - positions[item.marks[0]]))
        if len(item.marks) == 2
        else 0.0
    )
    lengths = tuple(
        _resolve_length(x, n, scene_size, distance) for x, n in zip(item.size, size, strict=True)
    )
    axes = rotation_to_axis(axis) if any(axis) else UPRIGHT
    full_item = SceneItem(
        item.kind,
        item.marks,
        lengths,
        item.color,
        item.role,
        item.label,
        axes,
        item.mesh,
        item.opacity,
    )
    if item.kind == "wheel":
        return wheel_items(full_item)
    return car_items(full_item) if item.kind in STYLES else [full_item]


def wheel_items(wheel: SceneItem) -> list[SceneItem]:
    """A tyre with its rim, or a narrow one on spokes."""
    radius, width = wheel.size
    if width < NARROW * radius:
        return [replace(wheel, kind="hoop"), replace(wheel, kind="wires", color=RIM, label="")]
    disc = replace(wheel, kind="cylinder", size=(0.67 * radius, 0.76 * width), color=DISC, label="")
    return [replace(wheel, kind="tyre"), disc, replace(wheel, kind="rim", color=RIM, label="")]


def car_items(car: SceneItem) -> list[SceneItem]:
    """The shell of a car."""
    length, width, height, *proportions = car.size
    sizes = [length, width, height, *(proportions or (0.6 * length, 0.22 * height, 0.19 * length))]
    if not min(sizes) > 0:
        return []
    shell = replace(car, kind="mesh", size=(1.0,))
    body_meshes = car_body(*(round(x, 6) for x in sizes), kind=car.kind)
    return [
        replace(shell, mesh=mesh, color=color or car.color, label="" if color else car.label)
        for color, mesh in body_meshes
    ]


def _resolve_length(
    length: Length, number: float | None, scene_size: float, distance: float
) -> float:
    if isinstance(length, ReachFraction):
        return length.of_reach * scene_size
    return (
        length.of_length * distance if isinstance(length, DistanceFraction) else abs(number or 0.0)
    )


def _unit_vector(v: Triple, otherwise: Triple) -> Triple:
    size = float(np.linalg.norm(v))
    return (v[0] / size, v[1] / size, v[2] / size) if size > 0 else otherwise


def _inertia_box(mass: float, moments: Triple) -> Triple:
    """A box with this mass and these moments of inertia; zeros where there is none."""
    if not mass > 0:
        return 0.0, 0.0, 0.0
    x, y, z = moments
    squares = 6 / mass * np.array([y + z - x, x + z - y, x + y - z])
    a, b, c = np.sqrt(np.maximum(squares, 0.0)).tolist()
    return a, b, c


def _item_radius(item: DraftItem, size: Sequence[float | None]) -> float:
    """How far an item reaches from its marks, as far as that does not depend on the reach of
    all."""
    lengths = [abs(x) for x in size if x is not None]
    if item.mesh is not None:
        return float(np.abs(np.array(item.mesh.points)).max()) * max(lengths, default=1.0)
    factor = (
        1.0 if item.kind == "sphere" else 0.5
    )  # the first size of a cylinder is its radius, of a box a whole length
    radius = max((factor * x for x in lengths), default=0.0)
    return max(radius, lengths[0]) if item.kind == "cylinder" and lengths else radius


def _half_extent(positions: np.ndarray, radii: Sequence[tuple[tuple[int, ...], float]]) -> float:
    """Half of the largest extent of all that is drawn."""
    corners = [
        positions[list(marks)] + sign * radius for marks, radius in radii for sign in (-1, 1)
    ]
    points = np.concatenate(corners) if corners else positions
    points = points[np.isfinite(points).all(axis=1)]
    extent = float(np.linalg.norm(np.ptp(points, axis=0))) / 2 if len(points) else 0.0
    return extent if extent > 0 else 1.0


def _motion_plane_normal(
    start: np.ndarray,
    turn_axes: Sequence[tuple[int, Triple]],
    slides: Sequence[tuple[int, Triple]],
    up_axis: Triple,
) -> Triple | None:
    """The normal of the plane in which all moves, if there is one."""

    def direction_in_ground(body: int, v: Triple) -> np.ndarray:
        return np.array(v) if body < 0 else start[body, 3:].reshape(3, 3) @ v

    axes = [direction_in_ground(*x) for x in turn_axes]
    directions = [direction_in_ground(*x) for x in slides]
    if axes:
        normal = axes[0]
    else:  # what slides only is seen from the side
        base_axes = [np.array(e) for e in ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))]
        across = [e for e in base_axes if all(abs(e @ w) < PARALLEL for w in directions)]
        candidates = [e for e in across if abs(e @ np.array(up_axis)) < PARALLEL] + across
        if not candidates:
            return None
        normal = candidates[0]
    has_other_axis = any(np.linalg.norm(np.cross(normal, a)) > PARALLEL for a in axes)
    if has_other_axis or any(abs(normal @ w) > PARALLEL for w in directions):
        return None
    x, y, z = normal.tolist()
    return x, y, z


def _sliding_plane_normal(slides: Sequence[tuple[int, Triple]], up_axis: Triple) -> Triple:
    """The normal, upwards, of the plane along which something slides on the ground in two
    directions, such as a disc that rolls on an incline; else what is up."""
    directions = [v for body, v in slides if body < 0]
    normal = np.cross(directions[0], directions[1]) if len(directions) == 2 else np.zeros(3)
    if abs(normal @ up_axis) < LEVEL:
        return up_axis
    x, y, z = (np.sign(normal @ up_axis) * normal / np.linalg.norm(normal)).tolist()
    return x, y, z


def _ground_below_motion(
    draft: SceneDraft, scene: Scene, poses: np.ndarray, plane: Triple
) -> SceneGround | None:
    """Ground below wheels that were given as shapes; below all where something rolls, or weighs and
    travels; `plane`: its normal."""
    up_axis = np.array(plane)
    wheels = [i for i in scene.items if i.kind in ("tyre", "hoop")]
    if wheels:
        positions = scene.mark_positions(poses[0])
        low = min(float(positions[i.marks[0]] @ up_axis) - i.size[0] for i in wheels)
    elif draft.has_rolling_body or _is_travelling(draft, scene, poses):
        points, radii, is_carried = scene_outline(scene, poses[:1])
        low = float((points[0] @ up_axis - radii)[is_carried].min(initial=math.inf))
    else:
        return None
    if not math.isfinite(low):
        return None
    along = np.eye(3)[0] if abs(up_axis[0]) < 0.9 else np.eye(3)[1]
    along = along - (along @ up_axis) * up_axis
    x, y, z = (along / np.linalg.norm(along)).tolist()
    way = float(np.nanmean(scene.mark_positions(poses[0]) @ (x, y, z)))
    return SceneGround((x, y, z), plane, (way - 3 * scene.reach, way + 3 * scene.reach), (low, low))


def _is_travelling(draft: SceneDraft, scene: Scene, poses: np.ndarray) -> bool:
    """Does something that weighs go far, and stay as high as it is?"""
    if not draft.analysis.gravity or not poses.shape[1]:
        return False
    displacement = poses[:, 0, :3] - poses[0, 0, :3]
    displacement = displacement[np.isfinite(displacement).all(axis=1)]
    height_change = np.abs(displacement @ np.array(scene.up)).max(initial=0.0)
    distance = np.linalg.norm(displacement, axis=1).max(initial=0.0)
    return bool(distance > TRAVELS * scene.reach and height_change < LEVEL * scene.reach)


def _ground_below_wheels(
    draft: SceneDraft, scene: Scene, poses: np.ndarray, scene_size: float
) -> SceneGround | None:
    """The ground below the wheels, as far as they went and a bit further; that of the first
    wheel."""
    wheels = draft.analysis.wheels
    if not wheels:
        return None
    marks = [draft.mark_at_point(w.centre) for w in wheels]
    positions = scene.mark_positions(poses)[:, marks]
    way = positions[..., 0][np.isfinite(positions[..., 0])]
    if not len(way):
        return None
    first, last = float(way.min()) - 3 * scene_size, float(way.max()) + 3 * scene_size
    if wheels[0].terrain.spatial:
        return _wheel_surface(wheels[0], positions, scene_size)
    plane = getattr(wheels[0].terrain, "plane", None)
    n = 2 if plane is not None else int(min(SAMPLES, max(60, (last - first) / scene_size * 40)))
    x = np.linspace(first, last, n)
    height = np.asarray(wheels[0].terrain.height(x), float)
    up_axis = (0.0, 0.0, 1.0 if wheels[0].upwards else -1.0)
    return SceneGround((1.0, 0.0, 0.0), up_axis, tuple(x.tolist()), tuple(height.tolist()))


def _wheel_surface(wheel: Any, positions: np.ndarray, scene_size: float) -> SceneGround:
    """Ground over x and y where wheels went."""
    sign = 1.0 if wheel.upwards else -1.0
    axes = []
    for values, max_count in ((positions[..., 0], ALONG), (sign * positions[..., 1], ACROSS)):
        first, last = (
            float(np.nanmin(values)) - 3 * scene_size,
            float(np.nanmax(values)) + 3 * scene_size,
        )
        axes.append(
            np.linspace(first, last, int(min(max_count, max(20, (last - first) / scene_size * 6))))
        )
    return height_grid(axes[0], axes[1], wheel.terrain, sign)


def height_grid(way: np.ndarray, across: np.ndarray, terrain: Any, sign: float) -> SceneGround:
    """Heights of ground over x and y at places; `sign`: 1 where the third axis points up, else
    -1."""
    height = terrain.height(way[:, None], across[None, :]).ravel()
    numbers = (tuple(v.tolist()) for v in (way, height, across))
    return SceneGround((1.0, 0.0, 0.0), (0.0, 0.0, sign), *numbers)
