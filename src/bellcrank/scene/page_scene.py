"""A scene as pages draw it: short, with the directions of the camera; where marks are is reported
next to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bellcrank.core.files.embed import page_text
from bellcrank.core.files.stl import Mesh
from bellcrank.core.unit_notation import typeset_unit
from bellcrank.scene.camera import SceneCamera
from bellcrank.scene.scene import WHEEL_KINDS, Scene

PLAYBACK_SPEEDS = (
    0.001,
    0.01,
    0.1,
    0.5,
    1.0,
    2.0,
    5.0,
    20.0,
    100.0,
)  # speeds that a page offers, of real time
MAX_ROWS = 1000  # rows of a recorded run that a page keeps
LARGEST = 1e30  # number in it
MAX_SEVEN_DIGIT_NUMBERS = (
    60_000  # numbers of a recorded run up to which a page has them to seven digits, else to four
)
MAX_WIDE_RUN_ROWS = 300  # rows of a run with more


def browser_scene(scene: Scene, camera: SceneCamera) -> dict[str, Any]:
    """What `scene.js` takes, ready for JSON."""
    items = []
    for item in scene.to_dict()["items"]:
        shown_fields = {k: v for k, v in item.items() if k not in ("role", "label")}
        items.append(
            {k: round_digits(v) if k in ("size", "axes") else v for k, v in shown_fields.items()}
        )
    meshes: dict[int, Mesh] = {id(i.mesh): i.mesh for i in scene.items if i.mesh is not None}
    for item, scene_item in zip(items, scene.items, strict=True):
        if scene_item.mesh is not None:
            item["mesh"] = [*meshes].index(id(scene_item.mesh))
            del item["points"], item["faces"]
    scene_data: dict[str, Any] = {
        "items": items,
        "marks": [m.body for m in scene.marks],
        "up": round_digits(scene.up),
    }
    scene_data |= {
        "reach": scene.reach,
        "axes": round_digits(camera.axes.ravel()),
        "flat": not np.isfinite(camera.distance),
    }
    if meshes:
        flat = [
            {"points": round_digits(np.ravel(m.points), 5), "faces": np.ravel(m.faces).tolist()}
            for m in meshes.values()
        ]
        scene_data["meshes"] = flat
    if scene.view is not None:
        scene_data["room"] = scene.view.room
    if any(i.kind in WHEEL_KINDS for i in scene.items):
        scene_data["wheels"] = True
    if any(i.kind == "coil" for i in scene.items):
        scene_data["coils"] = True
    if scene.ground is not None:
        scene_data["ground"] = scene.to_dict()["ground"]
    return scene_data


def label_fields(name: Any, label: Any, unit: str) -> dict[str, str]:
    """Name, label and unit of a quantity, without control characters; the label only where it is
    not the name."""
    words = {
        "name": page_text(name),
        "label": page_text(label),
        "unit": "" if unit in ("-", "?") else page_text(typeset_unit(unit)),
    }
    return {k: x for k, x in words.items() if k == "name" or (x and x != words["name"])}


def scene_scripts(scene: Mapping[str, Any]) -> list[str]:
    """The files of pages that draw such a scene."""
    has_shapes = "wheels" in scene or "meshes" in scene
    optional_files = {
        "coil.js": "coils" in scene,
        "shapes.js": has_shapes,
        "ground.js": "ground" in scene,
    }
    return ["scene.js", *(name for name, is_needed in optional_files.items() if is_needed)]


def round_digits(values: Any, digits: int = 6) -> Any:
    """Numbers to the digits that can be seen."""
    if isinstance(values, list | tuple | np.ndarray):
        return [round_digits(v, digits) for v in values]
    return float(f"{float(values):.{digits}g}")


def playback_speed(span: float) -> float:
    """The speed at first: real time, but slower for runs below a second and faster for those above
    a minute."""
    target_pace = span / 20 if span > 60 else min(span, 1.0)
    return max((p for p in PLAYBACK_SPEEDS if p <= target_pace), default=PLAYBACK_SPEEDS[0])


def playback_rows(count: int, columns: int = 0) -> np.ndarray:
    """The rows of a run that a page plays; fewer where each has many numbers."""
    max_rows = (
        MAX_ROWS
        if columns * min(count, MAX_ROWS) < 5 * MAX_SEVEN_DIGIT_NUMBERS
        else MAX_WIDE_RUN_ROWS
    )
    return np.unique(np.linspace(0, count - 1, min(count, max_rows)).round().astype(int))


def quantize_columns(columns: np.ndarray) -> tuple[bytes, int]:
    """Numbers over time (columns, rows) as pages play them, and how many bytes each has: 3, or 2
    where there are many.

    Each is a step within the range of its column; what stands there is by how much it differs from
    that before, so that a smooth motion packs well: first all lows and steps as 32-bit numbers,
    then the highest bytes of all, and so on.
    """
    size = 3 if columns.size < MAX_SEVEN_DIGIT_NUMBERS else 2
    finite = np.clip(np.where(np.isfinite(columns), columns, 0.0), -LARGEST, LARGEST)
    low = finite.min(axis=1).astype("<f4")
    low = np.where(low > finite.min(axis=1), np.nextafter(low, np.float32(-np.inf)), low).astype(
        "<f4"
    )
    max_level = 256**size / 2 - 1
    step = ((finite.max(axis=1) - low) / max_level).astype("<f4")
    step = np.nextafter(np.where(step > 0, step, np.float32(1e-37)), np.float32(np.inf)).astype(
        "<f4"
    )
    levels = np.rint((finite - low[:, None]) / step[:, None].astype(float)).astype(np.int64)
    differences = np.diff(levels, axis=1, prepend=0)
    folded = np.where(differences < 0, -2 * differences - 1, 2 * differences)
    planes = [(folded >> 8 * k & 255).astype(np.uint8).tobytes() for k in reversed(range(size))]
    return b"".join([low.tobytes(), step.tobytes(), *planes]), size


def small_numbers(values: np.ndarray) -> bytes:
    """Numbers as pages read them, with 32 bits each; what is not finite is zero."""
    finite = np.where(np.isfinite(values), values, 0.0)
    return np.clip(finite, -LARGEST, LARGEST).astype("<f4").tobytes()
