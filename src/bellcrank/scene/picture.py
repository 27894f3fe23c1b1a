"""Pictures of a scene: polygons sorted by depth and shaded, drawn by matplotlib without a display."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.errors import RunError
from bellcrank.files.picture import finished, new_figure, plain
from bellcrank.scene.camera import Camera, camera_of
from bellcrank.scene.scene import Ground, Scene
from bellcrank.scene.solids import Faces, solids

PICTURES = (".png", ".svg", ".pdf", ".jpg")
LIGHT = np.array([-0.35, 0.55, 0.76])  # from the left, above and behind the eye
SOIL, GRID = "#eceae4", "#cfcbc0"
MOST_PANELS = 12


def draw_scene(
    scene: Scene,
    poses: np.ndarray,
    times: Sequence[float] | None = None,
    path: str | Path | None = None,
    title: str | None = None,
    shown: Sequence[int] = (0,),
) -> Any:
    """A figure of some frames of a motion next to each other, all with the same view; saved if a path is given."""
    check_path(path, PICTURES)
    camera = camera_of(scene, poses)
    width, height = panel_size(camera, len(shown))
    rows = -(-len(shown) // _columns(len(shown)))
    figure = new_figure(width * _columns(len(shown)), height * rows + 0.4)
    panels = figure.subplots(rows, _columns(len(shown)), squeeze=False).ravel()
    for axis in panels:
        axis.set_axis_off()
    for axis, frame in zip(panels, shown, strict=False):
        draw_frame(axis, scene, camera, poses[frame], frame)
        if times is not None:
            axis.set_title(f"t = {times[frame]:.4g} s", fontsize=9)
    figure.suptitle(plain(scene.name if title is None else title), fontsize=11)
    return finished(figure, path)


def frames_at(time: np.ndarray, at: Any = None) -> list[int]:
    """The recorded rows nearest to some times; six over the whole unless reported."""
    if not len(time):
        raise RunError("there is nothing to draw: the run has no row")
    try:
        wanted = np.linspace(time[0], time[-1], 6) if at is None else np.array(at, float).ravel()
    except (TypeError, ValueError):
        wanted = np.empty(0)
    if not len(wanted) or not np.isfinite(wanted).all():
        raise RunError(f"at={at!r}: a time in s is needed, or several")
    if len(wanted) > MOST_PANELS:
        raise RunError(f"at: {len(wanted)} times are given; a strip shows up to {MOST_PANELS}")
    slack = 1e-9 * max(abs(time[0]), abs(time[-1]), 1e-300)
    if wanted.min() < time[0] - slack or wanted.max() > time[-1] + slack:
        raise RunError(f"at={at!r} lies outside the run, which goes from {time[0]:g} to {time[-1]:g} s")
    return [int(np.argmin(np.abs(time - t))) for t in wanted]


def check_path(path: str | Path | None, endings: Sequence[str]) -> None:
    """Rejects an ending that no picture has."""
    if path is not None and Path(path).suffix.lower() not in endings:
        known = f"{', '.join(endings[:-1])} and {endings[-1]}"
        raise RunError(
            f"cannot draw to {path}: no picture ends in '{Path(path).suffix}'; known file extensions are {known}"
        )


def _columns(n: int) -> int:
    return n if n <= 4 else -(-n // 2) if n <= 8 else 4


def panel_size(camera: Camera, panels: int = 1) -> tuple[float, float]:
    """Inches of a panel that has the shape of what it shows, within limits."""
    left, right, lower, upper = camera.edges
    ratio = min(max((right - left) / (upper - lower), 0.4), 3.0)
    area = 30.0 if panels == 1 else 12.0
    return float(np.sqrt(area * ratio)), float(np.sqrt(area / ratio))


def draw_frame(axis: Any, scene: Scene, camera: Camera, poses: np.ndarray, frame: int) -> None:
    """One frame of a motion on axes of matplotlib."""
    from matplotlib.collections import LineCollection, PolyCollection

    axis.clear()
    axis.set_axis_off()
    axis.set_aspect("equal")
    axis.set_xlim(*camera.edges[:2])
    axis.set_ylim(*camera.edges[2:])
    if scene.ground is not None:
        faces, lines = _ground(scene.ground, camera, frame, scene.reach)
        axis.add_collection(PolyCollection(faces, facecolors=SOIL, edgecolors="none", zorder=0))
        axis.add_collection(LineCollection(lines, colors=GRID, linewidths=0.6, zorder=0.5))
    polygons, colors = polygons_of(scene, camera, poses, frame)
    if polygons:
        axis.add_collection(PolyCollection(polygons, facecolors=colors, edgecolors=colors, linewidths=0.25, zorder=1))


def polygons_of(scene: Scene, camera: Camera, poses: np.ndarray, frame: int) -> tuple[list[np.ndarray], np.ndarray]:
    """All polygons on the screen, those behind first, with their colors."""
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    eye = camera.centres[frame] + (camera.distance if np.isfinite(camera.distance) else 1e6) * camera.axes[2]
    for part in solids(scene, poses):
        corners = part.corners if isinstance(part, Faces) else _ribbon(part.points, part.radius, eye)
        if not len(corners):
            continue
        seen = camera.seen(corners, frame)
        if isinstance(part, Faces):
            n = corners.shape[1]
            a, b, c, d = (corners[:, i * n // 4] for i in range(4))
            normal = np.cross(c - a, d - b)
            normal = normal / np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
            facing = np.einsum("ij,ij->i", normal, eye - corners.mean(axis=1)) > 0
            if part.closed:
                seen, normal = seen[facing], normal[facing]
            else:
                normal = np.where(facing[:, None], normal, -normal)
            light = 0.62 + 0.42 * np.clip((normal @ camera.axes.T) @ LIGHT, 0.0, 1.0)
        else:
            light = np.full(len(seen), 0.95)
        shade = np.clip(light[:, None] * np.array(_rgb(part.color)), 0.0, 1.0)
        found.append((seen[..., :2], seen[..., 2].mean(axis=1), shade))
    if not found:
        return [], np.empty((0, 3))
    depth = np.concatenate([d for _, d, _ in found])
    order = np.argsort(depth, kind="stable")
    every = [polygon for group, _, _ in found for polygon in group]
    return [every[i] for i in order], np.concatenate([c for _, _, c in found])[order]


def _rgb(color: str) -> list[float]:
    return [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def _ribbon(points: np.ndarray, radius: float, eye: np.ndarray) -> np.ndarray:
    """A line as quadrangles that face the eye."""
    along = np.diff(points, axis=0)
    side = np.cross(along, eye - points[:-1])
    length = np.linalg.norm(side, axis=1)
    keep = length > 0
    side = radius * side[keep] / length[keep, None]
    a, b = points[:-1][keep], points[1:][keep]
    return np.stack([a - side, b - side, b + side, a + side], axis=1)


HILLS = 60  # lines of ground over x and y each way


def _ground(g: Ground, camera: Camera, frame: int, reach: float) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Ground as strips across the way, and lines of a grid on it; from the side, what lies below it."""
    along, up = np.array(g.along), np.array(g.up)
    side = np.cross(up, along)
    centre = camera.centres[frame]
    span = max(camera.edges[1] - camera.edges[0], camera.edges[3] - camera.edges[2])
    here = centre @ along
    if g.across and np.isfinite(camera.distance):
        return _hills(g, camera, frame, span)
    way = np.linspace(here - 1.5 * span, here + 1.5 * span, 241)
    heights = np.array(g.height)
    if g.across:  # from the side
        heights = heights.reshape(len(g.way), -1)[:, int(np.argmin(np.abs(np.array(g.across) - centre @ side)))]
    height = np.interp(way, g.way, heights)
    if len(g.way) == 2:  # a plane continues
        height = g.height[0] + (way - g.way[0]) * (g.height[1] - g.height[0]) / (g.way[1] - g.way[0])
    middle = way[:, None] * along + height[:, None] * up
    if not np.isfinite(camera.distance):
        top = camera.seen(middle, frame)[:, :2]
        low = top.copy()
        low[:, 1] = np.minimum(top[:, 1], camera.edges[2]) - span
        return [np.concatenate([top, low[::-1]])], [top]
    across = [middle + (centre @ side + s * span) * side for s in (-1.2, 1.2)]
    left, right = (camera.seen(x, frame)[:, :2] for x in across)
    faces = np.stack([left[:-1], left[1:], right[1:], right[:-1]], axis=1)
    every = 0.5 * 10 ** np.floor(np.log10(span)) if span > 0 else 1.0
    lines = []
    for x in np.arange(np.ceil(way[0] / every), np.floor(way[-1] / every) + 1) * every:
        z = np.interp(x, way, height)
        ends = [x * along + z * up + (centre @ side + s * span) * side for s in (-1.2, 1.2)]
        lines.append(camera.seen(np.array(ends), frame)[:, :2])
    sides = centre @ side + 1.2 * span * np.array([-1, 1])
    for y in np.arange(np.ceil(sides[0] / every), np.floor(sides[1] / every) + 1) * every:
        lines.append(camera.seen(middle + y * side, frame)[:, :2])
    return list(faces), lines


def _hills(g: Ground, camera: Camera, frame: int, span: float) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Ground over x and y as quadrangles around the view, and the lines between them."""
    along, up = np.array(g.along), np.array(g.up)
    side, centre = np.cross(up, along), camera.centres[frame]
    height = np.array(g.height).reshape(len(g.way), len(g.across))
    axes, kept = [], []
    for values, middle in ((np.array(g.way), centre @ along), (np.array(g.across), centre @ side)):
        inside = np.flatnonzero(np.abs(values - middle) < 1.5 * span)
        inside = inside if len(inside) > 1 else np.arange(len(values))
        kept.append(inside[:: max(1, len(inside) // HILLS)])
        axes.append(values[kept[-1]])
    points = (
        axes[0][:, None, None] * along + axes[1][None, :, None] * side + height[np.ix_(*kept)][..., None] * up
    ).reshape(-1, 3)
    seen = camera.seen(points, frame)[:, :2].reshape(len(axes[0]), len(axes[1]), 2)
    faces = np.stack([seen[:-1, :-1], seen[1:, :-1], seen[1:, 1:], seen[:-1, 1:]], axis=2).reshape(-1, 4, 2)
    return list(faces), [*seen, *seen.swapaxes(0, 1)]
