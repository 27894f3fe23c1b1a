"""What a live page draws: the scene of the model at its start, with the view of its pictures, as short as it can be."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.derive.derived import Derived
from bellcrank.program.program import Program
from bellcrank.run.posed import Motion, posed_program
from bellcrank.scene.camera import camera_of
from bellcrank.scene.draft import draft_of

ROAD = 1000  # samples of ground that is not flat
AHEAD = 60.0  # reaches of the mechanism that such ground is shown in front and behind


def page_program(derived: Derived) -> Program:
    """The program of the model with its poses and marks."""
    draft = draft_of(derived.analysis)
    return posed_program(derived.analysis, derived.program, draft.parts, draft.expressions())


def scene_facts(derived: Derived, start: Motion) -> dict[str, Any]:
    """The scene; where marks are follows from the parameters, in the page."""
    scene, camera = start.scene, camera_of(start.scene, start.poses)
    items = []
    for item in scene.data()["items"]:
        kept = {k: v for k, v in item.items() if k not in ("role", "label")}
        items.append({k: _short(v) if k in ("size", "axes", "points") else v for k, v in kept.items()})
    found: dict[str, Any] = {"items": items, "marks": [m.body for m in scene.marks], "up": _short(scene.up)}
    found |= {"reach": scene.reach, "axes": _short(camera.axes.ravel()), "flat": not np.isfinite(camera.distance)}
    if scene.ground is not None:
        ground = scene.data()["ground"]
        if len(ground["way"]) > 2:
            middle, wide = float(np.mean(ground["way"])), AHEAD * scene.reach
            way = np.linspace(middle - wide, middle + wide, ROAD)
            height = np.asarray(derived.analysis.wheels[0].terrain.height(way), float)
            ground |= {"way": _short(way), "height": _short(height)}
        found["ground"] = ground
    return found


def _short(values: Any) -> Any:
    """Numbers to the digits that can be seen."""
    if isinstance(values, list | tuple | np.ndarray):
        return [_short(v) for v in values]
    return float(f"{float(values):.6g}")
