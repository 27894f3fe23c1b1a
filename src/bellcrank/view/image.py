"""The picture of a model inside a page."""

from __future__ import annotations

from collections.abc import Mapping

from bellcrank.derive.derived import Derived
from bellcrank.errors import BellcrankError
from bellcrank.files.html import Raw, paragraph
from bellcrank.files.picture import image
from bellcrank.run.body_motion import at_start, drawn
from bellcrank.run.result import Run
from bellcrank.scene.picture import draw_scene


def model_image(derived: Derived, parameters: Mapping[str, float] | None = None, run: Run | None = None) -> Raw:
    """What a model looks like where its run starts, or why that cannot be reported; with a run, seen as all of it
    is."""
    try:
        if run is not None and run.moved is not None:
            m = run.motion
        else:
            m = at_start(drawn(derived.analysis, derived.interface, derived.program), None, parameters)
        return image(draw_scene(m.scene, m.poses, title=""), f"picture of {derived.name}")
    except BellcrankError as error:
        return paragraph(f"There is no picture: {error}")
