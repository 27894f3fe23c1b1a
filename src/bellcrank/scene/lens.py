"""A camera at one frame with pixels: where points of space are on the screen, and what a pixel
looks at."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bellcrank.scene.camera import SceneCamera

NEAR_PLANE_FRACTION = 0.9  # of the distance of the eye, past which nothing is drawn


@dataclass(frozen=True)
class PixelCamera:
    """Directions on the screen, the distance of the eye (inf: no perspective) from the point looked
    at, pixels per length there, and where that point is on the screen."""

    axes: np.ndarray
    distance: float
    centre: np.ndarray
    scale: float
    origin: tuple[float, float]
    width: int
    height: int

    def supersampled(self, n: float) -> PixelCamera:
        """The same with n times as many pixels each way."""
        x, y = self.origin
        width, height = (max(1, round(n * size)) for size in (self.width, self.height))
        return replace(
            self, scale=n * self.scale, origin=(n * x, n * y), width=width, height=height
        )

    def project_triangles(self, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Corners (n, 3, 3) on the screen, their nearness, which is linear there, and which
        triangles are in front."""
        x = (corners - self.centre) @ self.axes.T
        toward = x[..., 2]
        front = np.isfinite(toward).all(axis=1)
        shrink = self.scale
        nearness = toward
        if np.isfinite(self.distance):
            front &= (toward < NEAR_PLANE_FRACTION * self.distance).all(axis=1)
            eye_distance = self.distance - np.minimum(toward, NEAR_PLANE_FRACTION * self.distance)
            nearness = 1 / eye_distance
            shrink = self.scale * self.distance * nearness[..., None]
        flat = x[..., :2] * shrink * [1, -1] + self.origin
        return flat, nearness, front

    def view_directions(self, points: np.ndarray) -> np.ndarray:
        """From points to the eye."""
        if not np.isfinite(self.distance):
            return np.broadcast_to(self.axes[2], points.shape)
        return self.centre + self.distance * self.axes[2] - points

    def pixel_rays(self, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Along a direction: the point of the plane looked at that each pixel (height, width) sees,
        and its ray."""
        x = ((np.arange(self.width) + 0.5 - self.origin[0]) / self.scale).astype(np.float32)
        y = ((self.origin[1] - np.arange(self.height) - 0.5) / self.scale).astype(np.float32)
        along_right, along_up, toward, centre = (
            float(v @ direction) for v in (*self.axes, self.centre)
        )
        offset = y[:, None] * np.float32(along_up) + x * np.float32(along_right)
        if not np.isfinite(self.distance):
            return offset + np.float32(centre), np.full_like(offset, -toward)
        return offset + np.float32(centre), offset - np.float32(self.distance * toward)


def fit_pixel_camera(camera: SceneCamera, frame: int, width: int, height: int) -> PixelCamera:
    """What a camera shows in a frame, as large as it fits into a picture."""
    left, right, lower, upper = camera.edges
    wider = 1.0 if camera.widths is None else float(camera.widths[frame])
    scale = min(width / (right - left), height / (upper - lower)) / wider
    middle = (left + right) / 2, (lower + upper) / 2
    origin = width / 2 - scale * middle[0], height / 2 + scale * middle[1]
    return PixelCamera(
        camera.axes, camera.distance, camera.centres[frame], scale, origin, width, height
    )
