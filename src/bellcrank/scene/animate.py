"""Animations of a motion: .mp4, by ffmpeg, or .gif, by Pillow, which matplotlib brings. Pages are those of
`recorded`."""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.errors import RunError
from bellcrank.files.picture import new_figure, plain
from bellcrank.files.whole import Parts
from bellcrank.scene.camera import camera_of
from bellcrank.scene.picture import check_path, draw_frame, panel_size
from bellcrank.scene.scene import Scene

FILMS = (".mp4", ".gif")
MOST, USUAL = 20.0, 6.0  # s that an animation lasts in real time at most, and how long one lasts that would take longer
SHORTEST = 2.0
LARGEST = 5000  # frames
DPI = 100


def animate_scene(
    scene: Scene,
    poses: np.ndarray,
    time: np.ndarray,
    path: str | Path,
    fps: float = 25,
    speed: float | None = None,
    title: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Path:
    """Writes an animation of a motion. `speed`: seconds of the motion per second of the animation."""
    check_path(path, (*FILMS, ".html"))
    shown, fps = film_frames(time, fps, speed)
    camera = camera_of(scene, poses)
    width, height = panel_size(camera)
    figure = new_figure(_even(width), _even(height + 0.5))
    axis = figure.subplots()
    name = plain(scene.name if title is None else title)
    draw_frame(axis, scene, camera, poses[0], 0)
    axis.set_title(f"{name}\n", fontsize=11)
    figure.canvas.draw()
    figure.set_layout_engine("none")  # where things stand is found once

    def frames() -> Iterator[None]:
        for n, frame in enumerate(shown):
            draw_frame(axis, scene, camera, poses[frame], frame)
            axis.set_title(f"{name}\nt = {time[frame]:.2f} s", fontsize=11)
            yield
            if progress is not None:
                progress((n + 1) / len(shown))

    write = _gif if Path(path).suffix.lower() == ".gif" else _film
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with Parts() as parts:
            write(figure, frames(), parts.beside(path), fps, path)
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror or error}") from None
    return Path(path)


def _even(inches: float) -> float:
    """A size with an even number of points, as animations need."""
    return 2 * round(inches * DPI / 2) / DPI


def film_frames(time: np.ndarray, fps: float, speed: float | None) -> tuple[list[int], float]:
    """The recorded row of every frame, and frames per second: fewer than asked for where there are fewer rows."""
    if not len(time):
        raise RunError("there is nothing to draw: the run has no row")
    for what, x in (("fps", fps), ("speed", speed)):
        if x is not None and not (isinstance(x, int | float) and 0 < x < math.inf):
            raise RunError(f"{what}={x!r} must be a positive number")
    span = float(time[-1] - time[0])
    if speed is None:
        speed = 1.0 if SHORTEST <= span <= MOST else span / USUAL or 1.0
    n = max(1, math.floor(span / speed * fps + 1e-9) + 1)
    if n > LARGEST:
        raise RunError(f"an animation with {n} frames is too long: up to {LARGEST} are written; take a larger speed=")
    wanted = time[0] + speed / fps * np.arange(n)
    after = np.clip(np.searchsorted(time, wanted), 1, max(len(time) - 1, 1))
    before = after - 1
    near = np.where(wanted - time[before] < time[np.minimum(after, len(time) - 1)] - wanted, before, after)
    rows = list(dict.fromkeys(np.minimum(near, len(time) - 1).tolist()))
    return rows, fps * len(rows) / n


def _gif(figure: Any, frames: Iterator[None], beside: Path, fps: float, path: str | Path) -> None:
    from PIL import Image

    pictures = []
    for _ in frames:
        figure.canvas.draw()
        whole = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB")
        pictures.append(whole.quantize(64, dither=Image.Dither.NONE))
    last = max(20, 10 * round(100 / fps))  # ms, of which readers of the format take whole tens
    pictures[0].save(beside, "GIF", save_all=True, append_images=pictures[1:], duration=last, loop=0, optimize=False)


def _film(figure: Any, frames: Iterator[None], beside: Path, fps: float, path: str | Path) -> None:
    from matplotlib import rc_context
    from matplotlib.animation import FFMpegWriter

    tool = _ffmpeg()
    if tool is None:
        how = "install it, or bring it along by `pip install imageio-ffmpeg`"
        raise RunError(
            f"cannot write {path}: an animation needs ffmpeg, which was not found: {how}; a .gif needs nothing else"
        )
    rate: Any = fps
    even = "pad=ceil(iw/2)*2:ceil(ih/2)*2"  # colours of an .mp4 have half the points
    writer = FFMpegWriter(fps=rate, codec="libx264", extra_args=["-vf", even, "-pix_fmt", "yuv420p", "-f", "mp4"])
    try:
        with rc_context({"animation.ffmpeg_path": tool}), writer.saving(figure, str(beside), DPI):
            for _ in frames:
                writer.grab_frame()
    except subprocess.CalledProcessError as error:
        told = str(error.stderr or error.output or "").strip().splitlines()
        raise RunError(f"cannot write {path}: ffmpeg says {told[-1] if told else error}") from None


def _ffmpeg() -> str | None:
    """The program of this machine, or that of the package imageio-ffmpeg."""
    if found := shutil.which("ffmpeg"):
        return found
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return str(get_ffmpeg_exe())
    except (ImportError, RuntimeError):  # no such package, or one without the program
        return None
