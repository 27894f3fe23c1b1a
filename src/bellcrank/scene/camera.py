"""Where a picture is seen from, so that all of a motion is in it.

What moves in a plane is seen along its normal, without perspective, unless it stands on ground. All else is seen from
the front, from the right and from above. What travels far is followed: the camera moves with the first body. What
grows far past its usual extent is seen from farther away while it does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from bellcrank.scene.scene import ROUND, Item, Mark, Scene

FAR = 6.0  # distance of the camera in reaches of what it sees
TRAVELS, HELD = 3.0, 20.0  # reaches that the first body may go before it is followed; where the ground holds something
AROUND, ABOVE = np.radians(-58), np.radians(22)
ON_GROUND, BESIDE = np.radians(16), (np.radians(-74), np.radians(9))  # how high above ground; what moves in a plane
MARGIN = 0.05
USUAL = 2.0  # extents of the median frame, or of the first, that the view leaves room for
FARTHEST = 3.0  # times as far away as usual, past which what grows leaves the view
ROOM = 1.25  # around what is seen at first, where nobody knows how it will move


@dataclass(frozen=True)
class Camera:
    """Directions on the screen (right, up, towards the eye), the point that it looks at in each frame, and what it
    shows: left, right, lower and upper edge about that point."""

    axes: np.ndarray
    distance: float
    centres: np.ndarray
    edges: tuple[float, float, float, float]
    widths: np.ndarray | None = None  # times as much as the edges say, by frame

    def seen(self, points: np.ndarray, frame: int) -> np.ndarray:
        """Points (..., 3) on the screen, right and up; the third number is larger for what is nearer."""
        return on_screen(points - self.centres[frame], self.axes, self.distance)


def on_screen(points: np.ndarray, axes: np.ndarray, distance: float) -> np.ndarray:
    """Points about the one looked at, as a camera at a distance (inf: without perspective) sees them."""
    x = points @ axes.T
    if np.isfinite(distance):
        near = np.minimum(x[..., 2], 0.9 * distance)
        x = x.copy()
        x[..., :2] *= (distance / (distance - near))[..., None]
    return x


def camera_of(scene: Scene, poses: np.ndarray) -> Camera:
    """The camera of a motion: poses (rows, bodies, 12)."""
    flat = scene.normal is not None and scene.ground is None
    axes = _flat(scene) if flat else _spatial(scene)
    points, radii, loose = outline(scene, poses)
    shown = np.isfinite(points).all(axis=(1, 2))
    shown = shown if shown.any() else ~shown
    points = np.nan_to_num(points)
    moved = np.zeros((len(poses), 3))
    if poses.shape[1]:
        moved[shown] = poses[shown, 0, :3] - poses[shown][0, 0, :3]
    far = TRAVELS if loose.all() or scene.ground is not None else HELD
    if np.ptp(moved[shown], axis=0).max(initial=0.0) <= far * scene.reach:
        moved = np.zeros_like(moved)
    elif loose.any():  # what stands on the ground is left behind
        points, radii = points[:, loose], radii[loose]
    seen = (points - moved[:, None])[shown]
    lows, highs = (seen - radii[:, None]).min(axis=1), (seen + radii[:, None]).max(axis=1)
    usual = _usual(lows, highs)
    low, high = lows[usual].min(axis=0), highs[usual].max(axis=0)
    middle = (low + high) / 2
    distance = np.inf if flat else FAR * float(np.linalg.norm(high - low)) / 2
    on_it = on_screen(seen - middle, axes, distance)
    wide = (radii * (1.0 if np.isinf(distance) else 1 + 2 / FAR))[:, None]
    least, most = (on_it[..., :2] - wide).min(axis=1), (on_it[..., :2] + wide).max(axis=1)
    (left, lower), (right, upper) = least[usual].min(axis=0), most[usual].max(axis=0)
    more = MARGIN * max(right - left, upper - lower, 1e-12)
    edges = (float(left - more), float(right + more), float(lower - more), float(upper + more))
    if scene.view is not None:
        edges = _roomy(edges, scene.view.room)
    widths = np.ones(len(poses))
    widths[shown] = _widths(edges, least, most)
    return Camera(axes, distance, middle + moved, edges, widths)


class LiveCamera:
    """The camera of a motion that is not known in advance: it fits the first pose, follows what travels, and steps back
    for what grows."""

    def __init__(self, scene: Scene, start: np.ndarray) -> None:
        self.scene, self.start = scene, start
        first = camera_of(scene, start[None])
        low, high = np.array(first.edges[::2]), np.array(first.edges[1::2])
        middle, half = (low + high) / 2, ROOM * (high - low) / 2
        (left, lower), (right, upper) = (middle - half).tolist(), (middle + half).tolist()
        self.first = replace(first, edges=(left, right, lower, upper))
        self.follows = False

    def at(self, poses: np.ndarray) -> Camera:
        """The camera of one pose (bodies, 12), as its only frame."""
        first, moved = self.first, np.zeros(3)
        if len(poses) and np.isfinite(poses[0, :3]).all():
            moved = poses[0, :3] - self.start[0, :3]
        self.follows = self.follows or bool(np.abs(moved).max() > TRAVELS * self.scene.reach)
        centre = first.centres[0] + (moved if self.follows else 0.0)
        points, radii, loose = outline(self.scene, poses[None])
        kept = np.isfinite(points[0]).all(axis=1) & (loose if self.follows and loose.any() else True)
        flat = on_screen(points[0][kept] - centre, first.axes, first.distance)[:, :2]
        widths = np.ones(1)
        if len(flat):
            wide = radii[kept][:, None]
            widths = _widths(first.edges, (flat - wide).min(axis=0)[None], (flat + wide).max(axis=0)[None])
        return replace(first, centres=centre[None], widths=widths)


def _usual(lows: np.ndarray, highs: np.ndarray) -> np.ndarray:
    """Which frames (n, 3) are of usual extent: not many times that of the median frame, nor far from the first."""
    size = np.linalg.norm(highs - lows, axis=1)
    room = max(USUAL * min(float(np.median(size)), float(size[0])), float(size[0]))
    away = np.linalg.norm((highs + lows) / 2 - (highs[0] + lows[0]) / 2, axis=1)
    found = (size <= room) & (away <= USUAL * room)
    found[0] = True
    return np.asarray(found)


def _roomy(edges: tuple[float, float, float, float], room: float) -> tuple[float, float, float, float]:
    """Edges that show more, most of all to both sides."""
    left, right, lower, upper = edges
    aside, above = (room - 1) * (right - left) * 0.75, (room - 1) * (upper - lower) * 0.4
    return left - aside, right + aside, lower - above, upper + above


def _widths(edges: tuple[float, float, float, float], least: np.ndarray, most: np.ndarray) -> np.ndarray:
    """By how much each frame is farther away, so that all of it is seen: about the middle of the edges."""
    middle = np.array([edges[0] + edges[1], edges[2] + edges[3]]) / 2
    half = np.array([edges[1] - edges[0], edges[3] - edges[2]]) / 2
    return np.clip(np.maximum(most - middle, middle - least) / half, 1.0, FARTHEST).max(axis=1)


def outline(scene: Scene, poses: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points (rows, points, 3) with a radius each within which all of the scene lies; which of them bodies carry."""
    marks, radii = [], []
    for item in scene.items:
        corners, radius = _corners(item)
        turned = corners @ np.array(item.axes).reshape(3, 3).T
        for m in item.marks:
            body, at = scene.marks[m].body, np.array(scene.marks[m].at)
            marks += [Mark(body, (x, y, z)) for x, y, z in (at + turned).tolist()]
            radii += [radius] * len(corners)
    marks = marks or list(scene.marks) or [Mark(-1, (0.0, 0.0, 0.0))]
    bound = replace(scene, marks=tuple(marks))
    return bound.places(poses), np.resize(radii or [0.0], len(marks)), np.array([m.body >= 0 for m in marks])


def _corners(item: Item) -> tuple[np.ndarray, float]:
    """Points of an item about its marks, along its own axes, and a radius about these."""
    size = np.array(item.size)
    if item.mesh is not None:
        points = np.array(item.mesh.points) * size[0]
        low, high = points.min(axis=0), points.max(axis=0)
        return np.array(list(product(*zip(low, high, strict=True)))), 0.0
    if item.kind in ("box", "cylinder", *ROUND):
        half = size / 2 if item.kind == "box" else np.array([size[0], size[0], size[1] / 2])
        return np.array(list(product(*zip(-half, half, strict=True)))), 0.0
    return np.zeros((1, 3)), float(size[0]) / (2 if item.kind == "line" else 1)


def _flat(scene: Scene) -> np.ndarray:
    """Along the normal of a plane, with what is up upwards and the first axis to the right."""
    assert scene.normal is not None
    toward, up = np.array(scene.normal), np.array(scene.up)
    first = np.eye(3)[0] if abs(toward[0]) < 0.9 else np.eye(3)[1]
    if np.linalg.norm(np.cross(toward, up)) < 1e-6:  # seen from above
        toward = np.copysign(1.0, toward @ up) * toward
        right = first - (first @ toward) * toward
        right /= np.linalg.norm(right)
        return np.array([right, np.cross(toward, right), toward])
    up = up - (up @ toward) * toward
    up /= np.linalg.norm(up)
    right = np.cross(up, toward)
    if right @ first < 0:
        right, toward = -right, -toward
    return np.array([right, up, toward])


def _spatial(scene: Scene) -> np.ndarray:
    """From the side, a bit from the front and from above."""
    up = np.array(scene.up)
    first = np.eye(3)[0] if abs(up[0]) < 0.9 else np.eye(3)[1]
    ahead = first - (first @ up) * up
    ahead /= np.linalg.norm(ahead)
    left = np.cross(up, ahead)
    around, above = AROUND, ABOVE if scene.ground is None else ON_GROUND
    if scene.normal is not None:
        around, above = BESIDE
    if scene.view is not None:
        around, above = scene.view.around, scene.view.above
    level = np.cos(around) * ahead + np.sin(around) * left
    toward = np.cos(above) * level + np.sin(above) * up
    right = np.cross(up, toward)
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(toward, right), toward])
