"""A scene as pages draw it: short, with the directions of the camera; where marks are is told beside it."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.scene.camera import Camera
from bellcrank.scene.scene import Scene


def browser_scene(scene: Scene, camera: Camera) -> dict[str, Any]:
    """What `scene.js` takes, ready for JSON."""
    items = []
    for item in scene.data()["items"]:
        kept = {k: v for k, v in item.items() if k not in ("role", "label")}
        items.append({k: few_digits(v) if k in ("size", "axes", "points") else v for k, v in kept.items()})
    found: dict[str, Any] = {"items": items, "marks": [m.body for m in scene.marks], "up": few_digits(scene.up)}
    found |= {"reach": scene.reach, "axes": few_digits(camera.axes.ravel()), "flat": not np.isfinite(camera.distance)}
    if scene.ground is not None:
        found["ground"] = scene.data()["ground"]
    return found


def few_digits(values: Any) -> Any:
    """Numbers to the digits that can be seen."""
    if isinstance(values, list | tuple | np.ndarray):
        return [few_digits(v) for v in values]
    return float(f"{float(values):.6g}")
