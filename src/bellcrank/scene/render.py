"""One frame of a scene as an image: triangles with a depth buffer, light, ground with a soft
shadow, and fog.

In:  a `Scene`, the poses of one time and the camera. Out: an array (height, width, 3) of colours
from 0 to 255. What is drawn has four samples per pixel. Pages draw the same by `scene.js`.
"""

from __future__ import annotations

import numpy as np

from bellcrank.scene.camera import SceneCamera, fit_camera
from bellcrank.scene.ground_rendering import ground_image
from bellcrank.scene.lens import PixelCamera, fit_pixel_camera
from bellcrank.scene.rasterizer import interpolation_planes, rasterize
from bellcrank.scene.scene import Scene
from bellcrank.scene.solids import SceneTriangles, scene_triangles

BACKGROUND = np.array([1.0, 1.0, 1.0])
SAMPLES = 2  # per pixel, each way
SUN = np.array([-0.35, 0.55, 0.76])  # as seen at first: from the left, above and behind the eye
AMBIENT, SKY, DIRECT, GLOSS, SHINY = 0.5, 0.18, 0.4, 0.12, 24


def render_frame(
    scene: Scene,
    poses: np.ndarray,
    width: int = 640,
    height: int = 400,
    camera: SceneCamera | None = None,
    frame: int = 0,
) -> np.ndarray:
    """An image (height, width, 3) of 8-bit colours: poses (bodies, 12) of one time, seen as the
    camera has that frame.

    Without a camera, the view fits this one pose.
    """
    camera = fit_camera(scene, poses[None]) if camera is None else camera
    lens = fit_pixel_camera(camera, frame, width, height)
    triangles = scene_triangles(scene, poses)
    sun = SUN @ camera.axes
    if scene.ground is None:
        image = np.full((height, width, 3), BACKGROUND, np.float32)
    else:
        image = ground_image(scene.ground, lens, triangles, sun, scene.reach, BACKGROUND)
    _add_objects(image, scene, lens, triangles, sun)
    return (255 * np.clip(image, 0, 1) + 0.5).astype(np.uint8)


def _add_objects(
    image: np.ndarray, scene: Scene, lens: PixelCamera, every: SceneTriangles, sun: np.ndarray
) -> None:
    """Draws the items over what is behind them."""
    screen, nearness, front = lens.project_triangles(every.corners)
    flat = np.cross(
        every.corners[:, 1] - every.corners[:, 0], every.corners[:, 2] - every.corners[:, 0]
    )
    facing = np.einsum("ij,ij->i", flat, lens.view_directions(every.corners[:, 0])) > 0
    is_visible = front & (facing | ~every.closed)
    if not is_visible.any():
        return
    low, high = screen[is_visible].min(axis=(0, 1)), screen[is_visible].max(axis=(0, 1))
    left, top = (int(x) for x in np.clip(np.floor(low), 0, (lens.width, lens.height)))
    right, bottom = (int(x) for x in np.clip(np.ceil(high), 0, (lens.width, lens.height)))
    if right <= left or bottom <= top:
        return
    wide, tall = SAMPLES * (right - left), SAMPLES * (bottom - top)
    screen = SAMPLES * (screen - (left, top))
    rgb = np.array([_rgb_fractions(i.color) for i in scene.items], np.float32)
    opacity = np.array([i.opacity for i in scene.items], np.float32)
    orientation = np.where(every.closed | facing, 1.0, -1.0)[:, None, None]
    light, gloss = _shade(orientation * every.normals, sun, np.array(scene.up), lens.axes[2])
    through = opacity[every.item] < 1
    color, cover = np.zeros((tall * wide, 3), np.float32), np.zeros(tall * wide, np.float32)
    depth = np.full(tall * wide, -np.inf)
    for layer in (
        is_visible & ~through,
        is_visible & through,
    ):  # of what one sees through the nearest layer
        indices = np.flatnonzero(layer)
        if not len(indices):
            continue
        raster = rasterize(screen[indices], nearness[indices], wide, tall)
        pixels = np.flatnonzero(raster.nearness > depth)
        triangle, item = raster.triangle[pixels], every.item[indices]
        shades = [interpolation_planes(screen[indices], x[indices]) for x in (light, gloss)]
        table = np.stack(
            [*shades[0], *shades[1], opacity[item], *rgb[item].T], axis=1, dtype=np.float32
        )[triangle]
        y, x = np.divmod(pixels, wide)
        x, y = x.astype(np.float32) + np.float32(0.5), y.astype(np.float32) + np.float32(0.5)
        lit, shine = (table[:, k] + table[:, k + 1] * x + table[:, k + 2] * y for k in (0, 3))
        alpha = table[:, 6]
        lit, shine = np.clip(lit, 0, 2) * alpha, np.clip(shine, 0, 1) * alpha
        color[pixels] = (
            color[pixels] * (1 - alpha)[:, None] + table[:, 7:] * lit[:, None] + shine[:, None]
        )
        cover[pixels] += (1 - cover[pixels]) * alpha
        depth[pixels] = raster.nearness[pixels]
    part = image[top:bottom, left:right]
    part *= 1 - _average_samples(cover.reshape(tall, wide))[..., None]
    part += _average_samples(color.reshape(tall, wide, 3))


def _average_samples(samples: np.ndarray) -> np.ndarray:
    """Of the samples of each pixel."""
    sample_planes = [
        samples[i::SAMPLES, j::SAMPLES] for i in range(SAMPLES) for j in range(SAMPLES)
    ]
    mean: np.ndarray = sum(sample_planes[1:], sample_planes[0]) / np.float32(len(sample_planes))
    return mean


def _shade(
    n: np.ndarray, sun: np.ndarray, up_axis: np.ndarray, eye: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Light from the sky and the sun on surfaces with normals (..., 3), and their gloss."""
    half_vector = sun + eye
    half_vector = half_vector / np.linalg.norm(half_vector)
    light = AMBIENT + SKY * (0.5 + 0.5 * (n @ up_axis)) + DIRECT * np.maximum(n @ sun, 0.0)
    return light, GLOSS * np.maximum(n @ half_vector, 0.0) ** SHINY


def _rgb_fractions(color: str) -> list[float]:
    return [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
