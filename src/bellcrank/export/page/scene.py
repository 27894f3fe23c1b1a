"""What a live page draws: the scene of the model at its start, with the view of its pictures, as short as it can be."""

from __future__ import annotations

from typing import Any

from bellcrank.derive.derived import Derived
from bellcrank.emit.browser import BrowserProgram
from bellcrank.export.page.drag import inertia_expressions
from bellcrank.program.program import Program
from bellcrank.run.body_motion import Motion, posed_program
from bellcrank.scene.browser import browser_scene, few_digits
from bellcrank.scene.camera import camera_of
from bellcrank.scene.default import draft_of

AHEAD = 60.0  # reaches of the mechanism that ground which is not flat is shown in front and behind
WIDE = 20.0  # the same of ground over x and y, to all sides


def page_program(derived: Derived, drag: bool = False) -> Program:
    """The program of the model with its poses and marks; sizes of shapes stay those of the start. With `drag` the
    inertia of bodies follows the marks."""
    draft = draft_of(derived.analysis)
    numbers = [*draft.places(), *(inertia_expressions(derived) if drag else ())]
    return posed_program(derived.analysis, derived.program, draft.parts, numbers)


def scene_facts(derived: Derived, made: BrowserProgram, start: Motion) -> dict[str, Any]:
    """The `scene`; where marks are follows from the parameters, in the page, or they and the bodies stand `still`.
    Heights of ground that is not flat are those at the address of the `road`, wherever one looks."""
    scene = start.scene
    found = browser_scene(scene, camera_of(scene, start.poses))
    still = {"poses": few_digits(start.poses[0].ravel()), "marks": few_digits([x for m in scene.marks for x in m.at])}
    facts: dict[str, Any] = {"scene": found, "still": still}
    ground, wheels = scene.ground, derived.analysis.wheels
    if ground is None or not (ground.across or len(ground.way) > 2):
        return facts
    road = made.place_of(wheels[0].terrain.near_function)
    if road is None:  # nothing depends on where the ground is
        return facts
    found["ground"] |= {"wide": (WIDE if ground.across else AHEAD) * scene.reach, "way": (), "height": ()}
    found["ground"] |= {"across": ()} if ground.across else {}
    return facts | {"road": road}
