"""What a live page draws: the scene of the model at its start, with the view of its pictures, as short as it can be."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.derive.derived import Derived
from bellcrank.program.program import Program
from bellcrank.run.posed import Motion, posed_program
from bellcrank.scene.browser import browser_scene, few_digits
from bellcrank.scene.build import spread
from bellcrank.scene.camera import camera_of
from bellcrank.scene.default import draft_of

ROAD = 1000  # samples of ground that is not flat
AHEAD = 60.0  # reaches of the mechanism that such ground is shown in front and behind
WIDE, LINES = 20.0, 81  # the same of ground over x and y, to all sides; and lines of it


def page_program(derived: Derived) -> Program:
    """The program of the model with its poses and marks."""
    draft = draft_of(derived.analysis)
    return posed_program(derived.analysis, derived.program, draft.parts, draft.expressions())


def scene_facts(derived: Derived, start: Motion) -> dict[str, Any]:
    """The scene; where marks are follows from the parameters, in the page."""
    scene = start.scene
    found = browser_scene(scene, camera_of(scene, start.poses))
    wheels = derived.analysis.wheels
    if scene.ground is not None and scene.ground.across:
        axes = [float(np.mean(v)) + WIDE * scene.reach * np.linspace(-1, 1, LINES)
                for v in (scene.ground.way, scene.ground.across)]  # fmt: skip
        g = spread(axes[0], axes[1], wheels[0].terrain, scene.ground.up[2])
        found["ground"] |= {k: few_digits(getattr(g, k)) for k in ("way", "height", "across")}
    elif scene.ground is not None and len(scene.ground.way) > 2:
        middle, wide = float(np.mean(scene.ground.way)), AHEAD * scene.reach
        way = np.linspace(middle - wide, middle + wide, ROAD)
        height = np.asarray(wheels[0].terrain.height(way), float)
        found["ground"] |= {"way": few_digits(way), "height": few_digits(height)}
    return found
