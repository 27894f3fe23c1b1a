"""What a live page draws: the scene of the model at its start, with the view of its pictures, as short as it can be."""

from __future__ import annotations

from typing import Any

from bellcrank.derive.derived import Derived
from bellcrank.emit.javascript.routines import routine_names
from bellcrank.program.program import Program
from bellcrank.run.posed import Motion, posed_program
from bellcrank.scene.browser import browser_scene
from bellcrank.scene.camera import camera_of
from bellcrank.scene.default import draft_of

AHEAD = 60.0  # reaches of the mechanism that ground which is not flat is shown in front and behind
WIDE = 20.0  # the same of ground over x and y, to all sides


def page_program(derived: Derived) -> Program:
    """The program of the model with its poses and marks."""
    draft = draft_of(derived.analysis)
    return posed_program(derived.analysis, derived.program, draft.parts, draft.expressions())


def scene_facts(derived: Derived, program: Program, start: Motion) -> dict[str, Any]:
    """The `scene`; where marks are follows from the parameters, in the page. Heights of ground that is not flat follow
    from the routine of the `road`, wherever one looks."""
    scene = start.scene
    found = browser_scene(scene, camera_of(scene, start.poses))
    ground, wheels = scene.ground, derived.analysis.wheels
    if ground is None or not (ground.across or len(ground.way) > 2):
        return {"scene": found}
    names = routine_names(program)
    text = wheels[0].terrain.javascript
    road = next((names[r] for r in program.externals if r.given_in("javascript") == text), None)
    if road is None:  # nothing depends on where the ground is
        return {"scene": found}
    found["ground"] |= {"wide": (WIDE if ground.across else AHEAD) * scene.reach, "way": (), "height": ()}
    found["ground"] |= {"across": ()} if ground.across else {}
    return {"scene": found, "road": road}
