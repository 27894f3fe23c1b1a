"""The picture of a model inside a page."""

from __future__ import annotations

from collections.abc import Mapping

from bellcrank.core.errors import BellcrankError
from bellcrank.core.files.figure_files import figure_html
from bellcrank.core.files.html import HtmlText, paragraph
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.scene.picture import draw_scene
from bellcrank.simulation.run.body_poses import initial_pose, load_for_picture
from bellcrank.simulation.run.result import Run


def model_image(
    derived: DerivedModel, parameters: Mapping[str, float] | None = None, run: Run | None = None
) -> HtmlText:
    """What a model looks like where its run starts, or why that cannot be reported; with a run,
    seen as all of it is."""
    try:
        if run is not None and run._find_motion is not None:
            m = run.motion
        else:
            m = initial_pose(
                load_for_picture(derived.analysis, derived.interface, derived.program),
                None,
                parameters,
            )
        return figure_html(draw_scene(m.scene, m.poses, title=""), f"picture of {derived.name}")
    except BellcrankError as error:
        return paragraph(f"There is no picture: {error}")
