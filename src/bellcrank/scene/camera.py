"""Where a picture is seen from, so that all of a motion is in it.

What moves in a plane is seen along its normal, without perspective, unless it stands on ground. All
else is seen from the front, from the right and from above. What travels far is followed: the camera
moves with the first body. What grows far past its usual extent is seen from farther away while it
does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from bellcrank.scene.scene import WHEEL_KINDS, Scene, SceneItem, SceneMark

CAMERA_DISTANCE = 6.0  # distance of the camera in reaches of what it sees
TRAVELS, HELD = (
    3.0,
    20.0,
)  # reaches that the first body may go before it is followed; where the ground holds something
AROUND, ABOVE = np.radians(-58), np.radians(22)
ON_GROUND, BESIDE = (
    np.radians(16),
    (np.radians(-74), np.radians(9)),
)  # how high above ground; what moves in a plane
MARGIN = 0.05
MAX_TYPICAL_EXTENT = (
    2.0  # extents of the median frame, or of the first, that the view leaves room for
)
MAX_ZOOM_OUT = 3.0  # times as far away as usual, past which what grows leaves the view
ROOM = 1.25  # around what is seen at first, where nobody knows how it will move


@dataclass(frozen=True)
class SceneCamera:
    """Directions on the screen (right, up, towards the eye), the point that it looks at in each
    frame, and what it shows: left, right, lower and upper edge about that point."""

    axes: np.ndarray
    distance: float
    centres: np.ndarray
    edges: tuple[float, float, float, float]
    widths: np.ndarray | None = None  # times as much as the edges say, by frame

    def project_points(self, points: np.ndarray, frame: int) -> np.ndarray:
        """Points (..., 3) on the screen, right and up; the third number is larger for what is
        nearer."""
        return project_to_screen(points - self.centres[frame], self.axes, self.distance)


def project_to_screen(points: np.ndarray, axes: np.ndarray, distance: float) -> np.ndarray:
    """Points about the one looked at, as a camera at a distance (inf: without perspective) sees
    them."""
    x = points @ axes.T
    if np.isfinite(distance):
        depth = np.minimum(x[..., 2], 0.9 * distance)
        x = x.copy()
        x[..., :2] *= (distance / (distance - depth))[..., None]
    return x


def fit_camera(scene: Scene, poses: np.ndarray) -> SceneCamera:
    """The camera of a motion: poses (rows, bodies, 12)."""
    flat = scene.normal is not None and scene.ground is None
    axes = _planar_axes(scene) if flat else _perspective_axes(scene)
    points, radii, is_carried = scene_outline(scene, poses)
    is_finite = np.isfinite(points).all(axis=(1, 2))
    is_finite = is_finite if is_finite.any() else ~is_finite
    points = np.nan_to_num(points)
    displacement = np.zeros((len(poses), 3))
    if poses.shape[1]:
        displacement[is_finite] = poses[is_finite, 0, :3] - poses[is_finite][0, 0, :3]
    travel_limit = TRAVELS if is_carried.all() or scene.ground is not None else HELD
    if np.ptp(displacement[is_finite], axis=0).max(initial=0.0) <= travel_limit * scene.reach:
        displacement = np.zeros_like(displacement)
    elif is_carried.any():  # what stands on the ground is left behind
        points, radii = points[:, is_carried], radii[is_carried]
    relative_points = (points - displacement[:, None])[is_finite]
    lows, highs = (
        (relative_points - radii[:, None]).min(axis=1),
        (relative_points + radii[:, None]).max(axis=1),
    )
    is_usual = _typical_frames(lows, highs)
    low, high = lows[is_usual].min(axis=0), highs[is_usual].max(axis=0)
    middle = (low + high) / 2
    distance = np.inf if flat else CAMERA_DISTANCE * float(np.linalg.norm(high - low)) / 2
    screen_points = project_to_screen(relative_points - middle, axes, distance)
    screen_radii = (radii * (1.0 if np.isinf(distance) else 1 + 2 / CAMERA_DISTANCE))[:, None]
    lower_bounds, upper_bounds = (
        (screen_points[..., :2] - screen_radii).min(axis=1),
        (screen_points[..., :2] + screen_radii).max(axis=1),
    )
    (left, lower), (right, upper) = (
        lower_bounds[is_usual].min(axis=0),
        upper_bounds[is_usual].max(axis=0),
    )
    margin = MARGIN * max(right - left, upper - lower, 1e-12)
    edges = (
        float(left - margin),
        float(right + margin),
        float(lower - margin),
        float(upper + margin),
    )
    if scene.view is not None:
        edges = _widen_edges(edges, scene.view.room)
    widths = np.ones(len(poses))
    widths[is_finite] = _frame_zoom_factors(edges, lower_bounds, upper_bounds)
    return SceneCamera(axes, distance, middle + displacement, edges, widths)


class LiveCamera:
    """The camera of a motion that is not known in advance: it fits the first pose, follows what
    travels, and steps back for what grows."""

    def __init__(self, scene: Scene, start: np.ndarray) -> None:
        self.scene, self.start = scene, start
        first = fit_camera(scene, start[None])
        low, high = np.array(first.edges[::2]), np.array(first.edges[1::2])
        middle, half_size = (low + high) / 2, ROOM * (high - low) / 2
        (left, lower), (right, upper) = (middle - half_size).tolist(), (middle + half_size).tolist()
        self.first = replace(first, edges=(left, right, lower, upper))
        self.follows = False

    def camera_for_pose(self, poses: np.ndarray) -> SceneCamera:
        """The camera of one pose (bodies, 12), as its only frame."""
        first, displacement = self.first, np.zeros(3)
        if len(poses) and np.isfinite(poses[0, :3]).all():
            displacement = poses[0, :3] - self.start[0, :3]
        self.follows = self.follows or bool(np.abs(displacement).max() > TRAVELS * self.scene.reach)
        centre = first.centres[0] + (displacement if self.follows else 0.0)
        points, radii, is_carried = scene_outline(self.scene, poses[None])
        is_kept = np.isfinite(points[0]).all(axis=1) & (
            is_carried if self.follows and is_carried.any() else True
        )
        flat = project_to_screen(points[0][is_kept] - centre, first.axes, first.distance)[:, :2]
        widths = np.ones(1)
        if len(flat):
            screen_radii = radii[is_kept][:, None]
            widths = _frame_zoom_factors(
                first.edges,
                (flat - screen_radii).min(axis=0)[None],
                (flat + screen_radii).max(axis=0)[None],
            )
        return replace(first, centres=centre[None], widths=widths)


def _typical_frames(lows: np.ndarray, highs: np.ndarray) -> np.ndarray:
    """Which frames (n, 3) are of usual extent: not many times that of the median frame, nor far
    from the first."""
    size = np.linalg.norm(highs - lows, axis=1)
    room = max(MAX_TYPICAL_EXTENT * min(float(np.median(size)), float(size[0])), float(size[0]))
    distance = np.linalg.norm((highs + lows) / 2 - (highs[0] + lows[0]) / 2, axis=1)
    is_usual = (size <= room) & (distance <= MAX_TYPICAL_EXTENT * room)
    is_usual[0] = True
    return np.asarray(is_usual)


def _widen_edges(
    edges: tuple[float, float, float, float], room: float
) -> tuple[float, float, float, float]:
    """Edges that show more, most of all to both sides."""
    left, right, lower, upper = edges
    side_margin, top_margin = (room - 1) * (right - left) * 0.75, (room - 1) * (upper - lower) * 0.4
    return left - side_margin, right + side_margin, lower - top_margin, upper + top_margin


def _frame_zoom_factors(
    edges: tuple[float, float, float, float], lower_bounds: np.ndarray, upper_bounds: np.ndarray
) -> np.ndarray:
    """By how much each frame is farther away, so that all of it is seen: about the middle of the
    edges."""
    middle = np.array([edges[0] + edges[1], edges[2] + edges[3]]) / 2
    half_size = np.array([edges[1] - edges[0], edges[3] - edges[2]]) / 2
    return np.clip(
        np.maximum(upper_bounds - middle, middle - lower_bounds) / half_size, 1.0, MAX_ZOOM_OUT
    ).max(axis=1)


def scene_outline(scene: Scene, poses: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points (rows, points, 3) with a radius each within which all of the scene lies; which of them
    bodies carry."""
    marks, radii = [], []
    for item in scene.items:
        corners, radius = _item_corners(item)
        rotated_corners = corners @ np.array(item.axes).reshape(3, 3).T
        for m in item.marks:
            body, position = scene.marks[m].body, np.array(scene.marks[m].position)
            marks += [
                SceneMark(body, (x, y, z)) for x, y, z in (position + rotated_corners).tolist()
            ]
            radii += [radius] * len(corners)
    marks = marks or list(scene.marks) or [SceneMark(-1, (0.0, 0.0, 0.0))]
    bound = replace(scene, marks=tuple(marks))
    return (
        bound.mark_positions(poses),
        np.resize(radii or [0.0], len(marks)),
        np.array([m.body >= 0 for m in marks]),
    )


def _item_corners(item: SceneItem) -> tuple[np.ndarray, float]:
    """Points of an item about its marks, along its own axes, and a radius about these."""
    size = np.array(item.size)
    if item.mesh is not None:
        points = np.array(item.mesh.points) * size[0]
        low, high = points.min(axis=0), points.max(axis=0)
        return np.array(list(product(*zip(low, high, strict=True)))), 0.0
    if item.kind in ("box", "cylinder", *WHEEL_KINDS):
        half_size = size / 2 if item.kind == "box" else np.array([size[0], size[0], size[1] / 2])
        return np.array(list(product(*zip(-half_size, half_size, strict=True)))), 0.0
    return np.zeros((1, 3)), float(size[0]) / (2 if item.kind == "line" else 1)


def _planar_axes(scene: Scene) -> np.ndarray:
    """Along the normal of a plane, with what is up upwards and the first axis to the right."""
    assert scene.normal is not None
    toward, up_axis = np.array(scene.normal), np.array(scene.up)
    first = np.eye(3)[0] if abs(toward[0]) < 0.9 else np.eye(3)[1]
    if np.linalg.norm(np.cross(toward, up_axis)) < 1e-6:  # seen from above
        toward = np.copysign(1.0, toward @ up_axis) * toward
        right = first - (first @ toward) * toward
        right /= np.linalg.norm(right)
        return np.array([right, np.cross(toward, right), toward])
    up_axis = up_axis - (up_axis @ toward) * toward
    up_axis /= np.linalg.norm(up_axis)
    right = np.cross(up_axis, toward)
    if right @ first < 0:
        right, toward = -right, -toward
    return np.array([right, up_axis, toward])


def _perspective_axes(scene: Scene) -> np.ndarray:
    """From the side, a bit from the front and from above."""
    up_axis = np.array(scene.up)
    first = np.eye(3)[0] if abs(up_axis[0]) < 0.9 else np.eye(3)[1]
    forward = first - (first @ up_axis) * up_axis
    forward /= np.linalg.norm(forward)
    lateral = np.cross(up_axis, forward)
    around, above = AROUND, ABOVE if scene.ground is None else ON_GROUND
    if scene.normal is not None:
        around, above = BESIDE
    if scene.view is not None:
        around, above = scene.view.around, scene.view.above
    level = np.cos(around) * forward + np.sin(around) * lateral
    toward = np.cos(above) * level + np.sin(above) * up_axis
    right = np.cross(up_axis, toward)
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(toward, right), toward])
