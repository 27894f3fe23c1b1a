"""The ground of a picture: its plane or hills with lines on it, a soft shadow, and fog towards the
horizon."""

from __future__ import annotations

import numpy as np

from bellcrank.scene.lens import PixelCamera
from bellcrank.scene.rasterizer import EMPTY, barycentric_weights, coverage_mask, rasterize
from bellcrank.scene.scene import SceneGround
from bellcrank.scene.solids import SceneTriangles

SOIL, LINE = np.array([0.875, 0.88, 0.885]), np.array([0.79, 0.795, 0.8])
THICK = 0.025  # of lines, of their distance
FOG = (1.6, 6.0)  # where it begins and ends, in half diagonals of the view
SHADOW, SOFT = 0.42, (0.012, 0.05)  # how dark; two widths of its edge, in diagonals of the picture
COARSE = 2  # pixels of the picture in one of the shadow
STRIPS, HILLS = 240, 90  # of ground that is not flat, along the way and across


def ground_image(
    g: SceneGround,
    lens: PixelCamera,
    triangles: SceneTriangles,
    sun: np.ndarray,
    scene_size: float,
    background: np.ndarray,
) -> np.ndarray:
    """The picture (height, width, 3) behind all items."""
    along, up_axis = np.array(g.along), np.array(g.up)
    side = np.cross(up_axis, along)
    view = float(np.hypot(lens.width, lens.height)) / lens.scale / 2
    flat = len(g.way) == 2 and not g.across
    station, lateral = float(lens.centre @ along), float(lens.centre @ side)
    ground_plane = _tangent_plane(g, station, lateral)
    u, v, is_visible = (
        _intersect_plane(ground_plane, along, side, up_axis, lens)
        if flat
        else _intersect_heights(g, along, side, up_axis, lens, view)
    )
    distance = np.sqrt((u - np.float32(station)) ** 2 + (v - np.float32(lateral)) ** 2)
    visibility = np.where(
        is_visible, 1 - _floor_smoothstep(distance, FOG[0] * view, FOG[1] * view), np.float32(0)
    )
    line_fraction = np.minimum(
        _line_coverage(u, floor_grid_spacing(scene_size))
        + _line_coverage(v, floor_grid_spacing(scene_size)),
        1,
    )
    light = visibility * (1 - _shadow_mask(ground_plane, along, up_axis, lens, triangles, sun))
    image = np.empty((*u.shape, 3), np.float32)
    for k in range(3):
        image[..., k] = (SOIL[k] + line_fraction * (LINE[k] - SOIL[k])) * light + background[k] * (
            1 - visibility
        )
    return image


def floor_grid_spacing(scene_size: float) -> float:
    """The distance of lines on the ground."""
    power = 10.0 ** np.floor(np.log10(scene_size))
    lead = scene_size / power
    return float(power * (0.5 if lead < 2 else 1.0 if lead < 5 else 2.0))


def _floor_smoothstep(x: np.ndarray, low: float, high: float) -> np.ndarray:
    t = np.clip((x - low) / (high - low), 0.0, 1.0)
    return t * t * (3 - 2 * t)


def _tangent_plane(g: SceneGround, u: float, v: float) -> tuple[float, float]:
    """The plane below a place: its height at u = 0, and its slope along the way."""
    height = np.array(g.height)
    if g.across:
        height = height.reshape(len(g.way), -1)[:, int(np.argmin(np.abs(np.array(g.across) - v)))]
    i = int(np.clip(np.searchsorted(g.way, u), 1, len(g.way) - 1))
    slope = (height[i] - height[i - 1]) / (g.way[i] - g.way[i - 1])
    return float(height[i] - slope * g.way[i]), float(slope)


def _intersect_plane(
    ground_plane: tuple[float, float],
    along: np.ndarray,
    side: np.ndarray,
    up_axis: np.ndarray,
    lens: PixelCamera,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where each pixel meets the plane, along the way and across, and whether it does."""
    start, ray = lens.pixel_rays(up_axis - ground_plane[1] * along)
    with np.errstate(divide="ignore", invalid="ignore"):
        ray_length = (np.float32(ground_plane[0]) - start) / ray
    is_visible = np.isfinite(ray_length) & (
        ray_length > (-1.0 if np.isfinite(lens.distance) else -np.inf)
    )  # before the eye
    ray_length[~is_visible] = 0
    (u, more_u), (v, more_v) = lens.pixel_rays(along), lens.pixel_rays(side)
    return u + ray_length * more_u, v + ray_length * more_v, is_visible


def _intersect_heights(
    g: SceneGround,
    along: np.ndarray,
    side: np.ndarray,
    up_axis: np.ndarray,
    lens: PixelCamera,
    view: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same for ground with heights, by its triangles."""
    span = FOG[1] * view
    station, lateral = float(lens.centre @ along), float(lens.centre @ side)
    u = np.linspace(station - span, station + span, STRIPS)
    height = np.array(g.height)
    if g.across:
        v = np.linspace(lateral - span, lateral + span, HILLS)
        grid = height.reshape(len(g.way), -1)
        grid = np.stack([np.interp(u, g.way, column) for column in grid.T], axis=1)
        z = np.stack([np.interp(v, g.across, row) for row in grid])
    else:
        v = np.linspace(lateral - span, lateral + span, HILLS // 3)
        z = np.repeat(np.interp(u, g.way, height)[:, None], len(v), axis=1)
    points = u[:, None, None] * along + v[None, :, None] * side + z[..., None] * up_axis
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    corners = np.stack([a, b, c, a, c, d], axis=2).reshape(-1, 3, 3)
    screen, nearness, front = lens.project_triangles(corners)
    corners, screen, nearness = corners[front], screen[front], nearness[front]
    triangle_of = rasterize(screen, nearness, lens.width, lens.height).triangle
    pixels = np.flatnonzero(triangle_of != EMPTY)
    k = triangle_of[pixels]
    b1, b2 = barycentric_weights(screen[k], pixels % lens.width + 0.5, pixels // lens.width + 0.5)
    p = corners[k]
    positions = p[:, 0] + b1[:, None] * (p[:, 1] - p[:, 0]) + b2[:, None] * (p[:, 2] - p[:, 0])
    coordinates = np.zeros((2, lens.height * lens.width), np.float32)
    coordinates[:, pixels] = positions @ along, positions @ side
    shape = lens.height, lens.width
    return (
        coordinates[0].reshape(shape),
        coordinates[1].reshape(shape),
        (triangle_of != EMPTY).reshape(shape),
    )


def _line_coverage(x: np.ndarray, every: float) -> np.ndarray:
    """How much of each pixel lies on lines at whole multiples of a distance."""
    dy, dx = np.abs(np.diff(x, axis=0, append=x[-1:])), np.abs(np.diff(x, axis=1, append=x[:, -1:]))
    pixel = np.maximum(dy + dx, 1e-12 * every)
    line_distance = np.abs(x - np.float32(every) * np.rint(x / np.float32(every)))
    line_width = np.maximum(THICK * every, pixel)
    fades = np.clip(2 - (4 / every) * pixel, 0, 1)  # lines closer than pixels
    return (
        np.clip(0.5 + (line_width / 2 - line_distance) / pixel, 0, 1)
        * (np.float32(THICK * every) / line_width)
        * fades
    )


def _shadow_mask(
    ground_plane: tuple[float, float],
    along: np.ndarray,
    up_axis: np.ndarray,
    lens: PixelCamera,
    triangles: SceneTriangles,
    sun: np.ndarray,
) -> np.ndarray:
    """How dark each pixel of the ground is, from 0 to 1."""
    normal = up_axis - ground_plane[1] * along
    above = triangles.corners @ normal - ground_plane[0]
    fallen = (
        triangles.corners
        - (np.maximum(above, 0.0) / max(float(sun @ normal), 0.2))[..., None] * sun
    )
    coarse = lens.supersampled(1 / COARSE)
    screen, _, front = coarse.project_triangles(fallen)
    mask = coverage_mask(screen[front], coarse.width, coarse.height).astype(np.float32)
    size = float(np.hypot(coarse.width, coarse.height))
    narrow_blur, wide_blur = (_box_blur(mask, max(1, round(share * size / 3))) for share in SOFT)
    darkness = np.repeat(
        np.repeat(SHADOW * (0.5 * narrow_blur + 0.5 * wide_blur), COARSE, axis=0), COARSE, axis=1
    )
    pad = max(0, lens.height - darkness.shape[0]), max(0, lens.width - darkness.shape[1])
    return np.pad(darkness, ((0, pad[0]), (0, pad[1])), mode="edge")[: lens.height, : lens.width]


def _box_blur(mask: np.ndarray, radius: int) -> np.ndarray:
    """Means over boxes, twice each way."""
    for axis in (0, 1):
        for _ in range(2):
            wide = np.pad(
                mask, [(radius + 1, radius) if k == axis else (0, 0) for k in (0, 1)], mode="edge"
            )
            total = np.cumsum(wide, axis=axis, dtype=np.float32)
            n = mask.shape[axis]
            high = np.take(total, np.arange(2 * radius + 1, 2 * radius + 1 + n), axis=axis)
            mask = ((high - np.take(total, np.arange(n), axis=axis)) / (2 * radius + 1)).astype(
                np.float32
            )
    return mask
