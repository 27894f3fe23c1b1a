"""A draft with numbers: the scene, with sizes from the reach of the mechanism.

In:  a `Draft`, the numbers of its expressions, and the poses of a motion, which begins with the start. Out: `Scene`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bellcrank.expr import Expr
from bellcrank.scene.camera import TRAVELS, outline
from bellcrank.scene.car_body import STYLES, car_body
from bellcrank.scene.draft import BALL, Draft, DraftItem, Length, Share, Slender
from bellcrank.scene.scene import UPRIGHT, Ground, Item, Mark, Scene, Triple, turned_to

SAMPLES = 1500  # of ground that is not flat, at most
ALONG, ACROSS = 300, 80  # of ground over x and y
PARALLEL = 1e-9
NARROW = 0.25  # width over radius, below which a wheel has thin spokes
RIM, DISC = "#c9ced3", "#3a3f45"
LEVEL = 0.3  # reaches that what travels on ground goes up or down
STRAIGHT = 0.98  # square of the fraction of a force along the line of its points, from which on it is drawn there


def scene_of(draft: Draft, numbers: np.ndarray, poses: np.ndarray) -> Scene:
    """The scene of a motion: poses (rows, bodies, 12)."""
    left = iter(np.nan_to_num(numbers, nan=0.0, posinf=0.0, neginf=0.0).tolist())
    marks = tuple(Mark(body, _triple(left)) for body, _ in draft.marks)
    read = [(item, *_sized(item, left)) for item in draft.items]
    sized = [(item, size, axis) for item, size, axis, shown in read if shown]
    bulks = [(bulk, next(left), _triple(left)) for bulk in draft.bulks]
    turns, slides = ([(body, _triple(left)) for body, _ in pairs] for pairs in (draft.turns, draft.slides))
    up = _unit(_triple(left), (0.0, 0.0, 1.0))
    name = draft.analysis.mechanism.name
    bodies = tuple(b.name for b in draft.analysis.mechanism.bodies) + tuple(p.name for p in draft.parts)
    bare = Scene(name, bodies, marks, (), math.inf, up)
    boxes = [_box(mass, moments) for _, mass, moments in bulks]
    radii = [(item.marks, _radius(item, size)) for item, size, _ in sized]
    radii += [((bulk.mark,), max(box) / 2) for (bulk, _, _), box in zip(bulks, boxes, strict=True)]
    places = bare.places(poses[0])
    reach = _reach(places, radii)
    items = [part for item, size, axis in sized for part in _items(item, size, axis, reach, places)]
    for (bulk, _, _), box in zip(bulks, boxes, strict=True):
        if max(box) > 0.02 * reach:
            size = tuple(max(x, 0.02 * reach) for x in box)
            items.append(Item("box", (bulk.mark,), size, bulk.color, "body", bulk.label))
        else:
            items.append(Item("sphere", (bulk.mark,), (1.6 * BALL * reach,), bulk.color, "body", bulk.label))
    normal = None if draft.in_space else _normal(poses[0], turns, slides, up)
    scene = Scene(name, bodies, marks, tuple(items), reach, up, normal)
    plane = _slides_in(slides, up) if draft.rolls else up
    return replace(scene, ground=_ground(draft, scene, poses, reach) or _floor(draft, scene, poses, plane))


def _triple(left: Iterator[float]) -> Triple:
    return next(left), next(left), next(left)


def _sized(item: DraftItem, left: Iterator[float]) -> tuple[list[float | None], Triple, bool]:
    """Sizes that are numbers, None for fractions of others; the axis; and whether it is to be drawn."""
    size, axis = [next(left) if isinstance(x, Expr) else None for x in item.size], _triple(left)
    shown = True
    if item.along is not None:
        measured, square = next(left), next(left)
        shown = square > 0 and measured * measured > STRAIGHT * square
    return size, axis, shown


def _items(item: DraftItem, size: Sequence[float | None], axis: Triple, reach: float, places: np.ndarray) -> list[Item]:
    """An item with lengths, or the items that it is made of."""
    apart = float(np.linalg.norm(places[item.marks[-1]] - places[item.marks[0]])) if len(item.marks) == 2 else 0.0
    lengths = tuple(_length(x, n, reach, apart) for x, n in zip(item.size, size, strict=True))
    turned = turned_to(axis) if any(axis) else UPRIGHT
    whole = Item(item.kind, item.marks, lengths, item.color, item.role, item.label, turned, item.mesh, item.opacity)
    if item.kind == "wheel":
        return wheel_items(whole)
    return car_items(whole) if item.kind in STYLES else [whole]


def wheel_items(whole: Item) -> list[Item]:
    """A tyre with its rim, or a narrow one on spokes."""
    radius, width = whole.size
    if width < NARROW * radius:
        return [replace(whole, kind="hoop"), replace(whole, kind="wires", color=RIM, label="")]
    disc = replace(whole, kind="cylinder", size=(0.67 * radius, 0.76 * width), color=DISC, label="")
    return [replace(whole, kind="tyre"), disc, replace(whole, kind="rim", color=RIM, label="")]


def car_items(whole: Item) -> list[Item]:
    """The shell of a car."""
    length, width, height, *more = whole.size
    sizes = [length, width, height, *(more or (0.6 * length, 0.22 * height, 0.19 * length))]
    if not min(sizes) > 0:
        return []
    shell = replace(whole, kind="mesh", size=(1.0,))
    parts = car_body(*(round(x, 6) for x in sizes), kind=whole.kind)
    return [
        replace(shell, mesh=mesh, color=color or whole.color, label="" if color else whole.label)
        for color, mesh in parts
    ]


def _length(given: Length, number: float | None, reach: float, apart: float) -> float:
    if isinstance(given, Share):
        return given.of_reach * reach
    return given.of_length * apart if isinstance(given, Slender) else abs(number or 0.0)


def _unit(v: Triple, otherwise: Triple) -> Triple:
    size = float(np.linalg.norm(v))
    return (v[0] / size, v[1] / size, v[2] / size) if size > 0 else otherwise


def _box(mass: float, moments: Triple) -> Triple:
    """A box with this mass and these moments of inertia; zeros where there is none."""
    if not mass > 0:
        return 0.0, 0.0, 0.0
    x, y, z = moments
    squares = 6 / mass * np.array([y + z - x, x + z - y, x + y - z])
    a, b, c = np.sqrt(np.maximum(squares, 0.0)).tolist()
    return a, b, c


def _radius(item: DraftItem, size: Sequence[float | None]) -> float:
    """How far an item reaches from its marks, as far as that does not depend on the reach of all."""
    known = [abs(x) for x in size if x is not None]
    if item.mesh is not None:
        return float(np.abs(np.array(item.mesh.points)).max()) * max(known, default=1.0)
    half = 1.0 if item.kind == "sphere" else 0.5  # the first size of a cylinder is its radius, of a box a whole length
    radius = max((half * x for x in known), default=0.0)
    return max(radius, known[0]) if item.kind == "cylinder" and known else radius


def _reach(places: np.ndarray, radii: Sequence[tuple[tuple[int, ...], float]]) -> float:
    """Half of the largest extent of all that is drawn."""
    corners = [places[list(marks)] + sign * radius for marks, radius in radii for sign in (-1, 1)]
    every = np.concatenate(corners) if corners else places
    every = every[np.isfinite(every).all(axis=1)]
    extent = float(np.linalg.norm(np.ptp(every, axis=0))) / 2 if len(every) else 0.0
    return extent if extent > 0 else 1.0


def _normal(
    start: np.ndarray, turns: Sequence[tuple[int, Triple]], slides: Sequence[tuple[int, Triple]], up: Triple
) -> Triple | None:
    """The normal of the plane in which all moves, if there is one."""

    def seen(body: int, v: Triple) -> np.ndarray:
        return np.array(v) if body < 0 else start[body, 3:].reshape(3, 3) @ v

    axes = [seen(*x) for x in turns]
    ways = [seen(*x) for x in slides]
    if axes:
        normal = axes[0]
    else:  # what slides only is seen from the side
        usual = [np.array(e) for e in ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))]
        across = [e for e in usual if all(abs(e @ w) < PARALLEL for w in ways)]
        beside = [e for e in across if abs(e @ np.array(up)) < PARALLEL] + across
        if not beside:
            return None
        normal = beside[0]
    leaning = any(np.linalg.norm(np.cross(normal, a)) > PARALLEL for a in axes)
    if leaning or any(abs(normal @ w) > PARALLEL for w in ways):
        return None
    x, y, z = normal.tolist()
    return x, y, z


def _slides_in(slides: Sequence[tuple[int, Triple]], up: Triple) -> Triple:
    """The normal, upwards, of the plane along which something slides on the ground in two directions, such as a disc
    that rolls on an incline; else what is up."""
    ways = [v for body, v in slides if body < 0]
    normal = np.cross(ways[0], ways[1]) if len(ways) == 2 else np.zeros(3)
    if abs(normal @ up) < LEVEL:
        return up
    x, y, z = (np.sign(normal @ up) * normal / np.linalg.norm(normal)).tolist()
    return x, y, z


def _floor(draft: Draft, scene: Scene, poses: np.ndarray, plane: Triple) -> Ground | None:
    """Ground below wheels that were given as shapes; below all where something rolls, or weighs and travels; `plane`:
    its normal."""
    up = np.array(plane)
    wheels = [i for i in scene.items if i.kind in ("tyre", "hoop")]
    if wheels:
        places = scene.places(poses[0])
        low = min(float(places[i.marks[0]] @ up) - i.size[0] for i in wheels)
    elif draft.rolls or _travels(draft, scene, poses):
        points, radii, carried = outline(scene, poses[:1])
        low = float((points[0] @ up - radii)[carried].min(initial=math.inf))
    else:
        return None
    if not math.isfinite(low):
        return None
    along = np.eye(3)[0] if abs(up[0]) < 0.9 else np.eye(3)[1]
    along = along - (along @ up) * up
    x, y, z = (along / np.linalg.norm(along)).tolist()
    way = float(np.nanmean(scene.places(poses[0]) @ (x, y, z)))
    return Ground((x, y, z), plane, (way - 3 * scene.reach, way + 3 * scene.reach), (low, low))


def _travels(draft: Draft, scene: Scene, poses: np.ndarray) -> bool:
    """Does something that weighs go far, and stay as high as it is?"""
    if not draft.analysis.gravity or not poses.shape[1]:
        return False
    moved = poses[:, 0, :3] - poses[0, 0, :3]
    moved = moved[np.isfinite(moved).all(axis=1)]
    high = np.abs(moved @ np.array(scene.up)).max(initial=0.0)
    far = np.linalg.norm(moved, axis=1).max(initial=0.0)
    return bool(far > TRAVELS * scene.reach and high < LEVEL * scene.reach)


def _ground(draft: Draft, scene: Scene, poses: np.ndarray, reach: float) -> Ground | None:
    """The ground below the wheels, as far as they went and a bit further; that of the first wheel."""
    wheels = draft.analysis.wheels
    if not wheels:
        return None
    marks = [draft.at(w.centre) for w in wheels]
    places = scene.places(poses)[:, marks]
    way = places[..., 0][np.isfinite(places[..., 0])]
    if not len(way):
        return None
    first, last = float(way.min()) - 3 * reach, float(way.max()) + 3 * reach
    if wheels[0].terrain.spatial:
        return _surface(wheels[0], places, reach)
    plane = getattr(wheels[0].terrain, "plane", None)
    n = 2 if plane is not None else int(min(SAMPLES, max(60, (last - first) / reach * 40)))
    x = np.linspace(first, last, n)
    height = np.asarray(wheels[0].terrain.height(x), float)
    up = (0.0, 0.0, 1.0 if wheels[0].upwards else -1.0)
    return Ground((1.0, 0.0, 0.0), up, tuple(x.tolist()), tuple(height.tolist()))


def _surface(wheel: Any, places: np.ndarray, reach: float) -> Ground:
    """Ground over x and y where wheels went."""
    sign = 1.0 if wheel.upwards else -1.0
    axes = []
    for values, most in ((places[..., 0], ALONG), (sign * places[..., 1], ACROSS)):
        first, last = float(np.nanmin(values)) - 3 * reach, float(np.nanmax(values)) + 3 * reach
        axes.append(np.linspace(first, last, int(min(most, max(20, (last - first) / reach * 6)))))
    return spread(axes[0], axes[1], wheel.terrain, sign)


def spread(way: np.ndarray, across: np.ndarray, terrain: Any, sign: float) -> Ground:
    """Heights of ground over x and y at places; `sign`: 1 where the third axis points up, else -1."""
    height = terrain.height(way[:, None], across[None, :]).ravel()
    numbers = (tuple(v.tolist()) for v in (way, height, across))
    return Ground((1.0, 0.0, 0.0), (0.0, 0.0, sign), *numbers)
