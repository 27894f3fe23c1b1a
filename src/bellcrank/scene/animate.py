"""Animations of a motion, frame by frame of `render_frame`: .mp4, by ffmpeg, or .gif, by Pillow,
which matplotlib brings. Pages are those of `recorded`."""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import RunError
from bellcrank.core.files.atomic import AtomicWrite
from bellcrank.core.files.text_files import to_one_line
from bellcrank.scene.camera import fit_camera
from bellcrank.scene.picture import check_picture_path, panel_size
from bellcrank.scene.render import render_frame
from bellcrank.scene.scene import Scene

ANIMATION_SUFFIXES = (".mp4", ".gif")
MOST, USUAL = (
    20.0,
    6.0,
)  # s that an animation lasts in real time at most, and how long one lasts that would take longer
SHORTEST = 2.0
MAX_FRAMES = 5000  # frames
PIXELS = 100  # per inch of a picture
HEAD, COLOURS = 30, 96  # pixels for the title; colours of a .gif
INK = (60, 64, 70)


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
    """Writes an animation of a motion. `speed`: seconds of the motion per second of the
    animation."""
    check_picture_path(path, (*ANIMATION_SUFFIXES, ".html"))
    frame_rows, fps = film_frames(time, fps, speed)
    camera = fit_camera(scene, poses)
    width, height = (
        2 * round(PIXELS * x / 2) for x in panel_size(camera)
    )  # even, as video formats need
    name = to_one_line(scene.name if title is None else title)

    def iterate_frames() -> Iterator[np.ndarray]:
        for n, frame in enumerate(frame_rows):
            image = render_frame(scene, poses[frame], width, height, camera, frame)
            yield _add_header(image, name, f"t = {time[frame]:.2f} s")
            if progress is not None:
                progress((n + 1) / len(frame_rows))

    write = _write_gif if Path(path).suffix.lower() == ".gif" else _write_mp4
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with AtomicWrite() as partial_files:
            write(iterate_frames(), partial_files.path_for(path), fps, path)
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror or error}") from None
    return Path(path)


def _add_header(image: np.ndarray, name: str, when: str) -> np.ndarray:
    """An image below a line with its title and time."""
    from PIL import Image, ImageDraw, ImageFont

    head = Image.new("RGB", (image.shape[1], HEAD), "white")
    pen, font = ImageDraw.Draw(head), ImageFont.load_default(15)
    room = image.shape[1] - 30 - int(pen.textlength(when, font=font))
    while name and pen.textlength(name, font=font) > room:
        name = name[:-2].rstrip("\u2026 ") + "\u2026" if len(name) > 2 else ""
    pen.text((10, 7), name, font=font, fill=INK)
    pen.text((image.shape[1] - 10, 7), when, font=font, fill=INK, anchor="ra")
    return np.concatenate([np.asarray(head), image])


def film_frames(time: np.ndarray, fps: float, speed: float | None) -> tuple[list[int], float]:
    """The recorded row of every frame, and frames per second: fewer than asked for where there are
    fewer rows."""
    if not len(time):
        raise RunError("there is nothing to draw: the run has no row")
    for label, x in (("fps", fps), ("speed", speed)):
        if x is not None and not (isinstance(x, int | float) and 0 < x < math.inf):
            raise RunError(f"{label}={x!r} must be a positive number")
    span = float(time[-1] - time[0])
    if speed is None:
        speed = 1.0 if SHORTEST <= span <= MOST else span / USUAL or 1.0
    n = max(1, math.floor(span / speed * fps + 1e-9) + 1)
    if n > MAX_FRAMES:
        raise RunError(
            f"an animation with {n} frames is too long: up to {MAX_FRAMES} are written; "
            f"take a larger speed="
        )
    frame_times = time[0] + speed / fps * np.arange(n)
    row_after = np.clip(np.searchsorted(time, frame_times), 1, max(len(time) - 1, 1))
    row_before = row_after - 1
    nearest_rows = np.where(
        frame_times - time[row_before] < time[np.minimum(row_after, len(time) - 1)] - frame_times,
        row_before,
        row_after,
    )
    rows = list(dict.fromkeys(np.minimum(nearest_rows, len(time) - 1).tolist()))
    return rows, fps * len(rows) / n


def _write_gif(
    frames: Iterator[np.ndarray], partial_path: Path, fps: float, path: str | Path
) -> None:
    from PIL import Image

    images = [Image.fromarray(image) for image in frames]
    palette = common_palette(images, COLOURS)
    pictures = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    last = max(20, 10 * round(100 / fps))  # ms, of which readers of the format take whole tens
    pictures[0].save(
        partial_path,
        "GIF",
        save_all=True,
        append_images=pictures[1:],
        duration=last,
        loop=0,
        optimize=False,
    )


def common_palette(images: Sequence[Any], colours: int) -> Any:
    """One palette for all images, so that nothing flickers: half of it for what there is most of,
    half for small things in rare colours."""
    from PIL import Image

    sampled_images = np.concatenate(
        [np.asarray(images[k]) for k in sorted({0, len(images) // 2, len(images) - 1})]
    )
    palette_entries = []
    for method in (Image.Quantize.MEDIANCUT, Image.Quantize.MAXCOVERAGE):
        palette_values = (
            Image.fromarray(sampled_images).quantize(colours // 2, method).getpalette() or []
        )
        palette_entries += palette_values[: 3 * (colours // 2)]
    palette = Image.new("P", (1, 1))
    palette.putpalette(palette_entries)
    return palette


def _write_mp4(
    frames: Iterator[np.ndarray], partial_path: Path, fps: float, path: str | Path
) -> None:
    tool = _find_ffmpeg()
    if tool is None:
        remedy = "install it, or bring it along by `pip install imageio-ffmpeg`"
        raise RunError(
            f"cannot write {path}: an animation needs ffmpeg, which was not found: "
            f"{remedy}; a .gif needs nothing else"
        )
    first = next(frames)
    size = f"{first.shape[1]}x{first.shape[0]}"
    input_options = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", str(fps), "-i", "-"]
    output_options = [
        "-an",
        "-c:v",
        "libx264",
        "-pix_fmt",
        "yuv420p",
        "-f",
        "mp4",
        "-y",
        str(partial_path),
    ]
    command = [tool, "-loglevel", "error", *input_options, *output_options]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        with suppress(BrokenPipeError):  # it says why
            for image in chain([first], frames):
                process.stdin.write(image.tobytes())
            process.stdin.close()
        message = process.stdout.read().decode(errors="replace").strip().splitlines()
    if process.returncode:
        raise RunError(
            f"cannot write {path}: ffmpeg says "
            f"{message[-1] if message else f'code {process.returncode}'}"
        )


def _find_ffmpeg() -> str | None:
    """The program of this machine, or that of the package imageio-ffmpeg."""
    if executable := shutil.which("ffmpeg"):
        return executable
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return str(get_ffmpeg_exe())
    except (ImportError, RuntimeError):  # no such package, or one without the program
        return None
