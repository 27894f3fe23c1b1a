"""Pictures of a scene as figures of matplotlib, which sets titles around images of `render_frame`;
no display is needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import RunError
from bellcrank.core.files.figure_files import new_figure, plot_text, save_figure
from bellcrank.scene.camera import SceneCamera, fit_camera
from bellcrank.scene.render import render_frame
from bellcrank.scene.scene import Scene

PICTURES = (".png", ".svg", ".pdf", ".jpg")
MOST_PANELS = 12
PIXELS = 130  # per inch


def draw_scene(
    scene: Scene,
    poses: np.ndarray,
    times: Sequence[float] | np.ndarray | None = None,
    path: str | Path | None = None,
    title: str | None = None,
    frames: Sequence[int] = (0,),
) -> Any:
    """A figure of some frames of a motion next to each other, all with the same view; saved if a
    path is given."""
    check_picture_path(path, PICTURES)
    camera = fit_camera(scene, poses)
    width, height = panel_size(camera, len(frames))
    rows = -(-len(frames) // _column_count(len(frames)))
    figure = new_figure(width * _column_count(len(frames)), height * rows + 0.4)
    panels = figure.subplots(rows, _column_count(len(frames)), squeeze=False).ravel()
    for axis in panels:
        axis.set_axis_off()
    for axis, frame in zip(panels, frames, strict=False):
        image = render_frame(
            scene, poses[frame], round(PIXELS * width), round(PIXELS * height), camera, frame
        )
        axis.imshow(image, interpolation="antialiased")
        if times is not None:
            axis.set_title(f"t = {times[frame]:.4g} s", fontsize=9)
    figure.suptitle(plot_text(scene.name if title is None else title), fontsize=11)
    return save_figure(figure, path)


def nearest_frames(time: np.ndarray, at: Any = None) -> list[int]:
    """The recorded rows nearest to some times; six over the whole unless reported."""
    if not len(time):
        raise RunError("there is nothing to draw: the run has no row")
    try:
        times = np.linspace(time[0], time[-1], 6) if at is None else np.array(at, float).ravel()
    except (TypeError, ValueError):
        times = np.empty(0)
    if not len(times) or not np.isfinite(times).all():
        raise RunError(f"at={at!r}: a time in s is needed, or several")
    if len(times) > MOST_PANELS:
        raise RunError(f"at: {len(times)} times are given; a strip shows up to {MOST_PANELS}")
    slack = 1e-9 * max(abs(time[0]), abs(time[-1]), 1e-300)
    if times.min() < time[0] - slack or times.max() > time[-1] + slack:
        raise RunError(
            f"at={at!r} lies outside the run, which goes from {time[0]:g} to {time[-1]:g} s"
        )
    return [int(np.argmin(np.abs(time - t))) for t in times]


def check_picture_path(path: str | Path | None, endings: Sequence[str]) -> None:
    """Rejects an ending that no picture has."""
    if path is not None and Path(path).suffix.lower() not in endings:
        listing = f"{', '.join(endings[:-1])} and {endings[-1]}"
        raise RunError(
            f"cannot draw to {path}: no picture ends in '{Path(path).suffix}'; known file "
            f"extensions are {listing}"
        )


def _column_count(n: int) -> int:
    return n if n <= 4 else -(-n // 2) if n <= 8 else 4


def panel_size(camera: SceneCamera, panels: int = 1) -> tuple[float, float]:
    """Inches of a panel that has the shape of what it shows, within limits."""
    left, right, lower, upper = camera.edges
    ratio = min(max((right - left) / (upper - lower), 0.4), 2.4)
    area = 30.0 if panels == 1 else 12.0
    return float(np.sqrt(area * ratio)), float(np.sqrt(area / ratio))
