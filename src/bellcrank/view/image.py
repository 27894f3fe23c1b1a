"""Pictures inside pages: a figure as an image that needs no file, and the picture of a model at its start."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from html import escape
from io import BytesIO
from typing import Any

from bellcrank.derive.derived import Derived
from bellcrank.errors import BellcrankError
from bellcrank.files.text import one_line
from bellcrank.run.posed import at_start, drawn
from bellcrank.run.result import Run
from bellcrank.scene.picture import draw_scene
from bellcrank.view.html import Raw, paragraph


def image(figure: Any, words: str) -> Raw:
    """A matplotlib figure as an image; `words` are for those who do not see it."""
    data = BytesIO()
    figure.savefig(data, format="png", dpi=100)
    text = b64encode(data.getvalue()).decode("ascii")
    return Raw(f'<img class="picture" alt="{escape(one_line(words))}" src="data:image/png;base64,{text}">')


def model_image(derived: Derived, parameters: Mapping[str, float] | None = None, run: Run | None = None) -> Raw:
    """What a model looks like where its run starts, or why that cannot be told; with a run, seen as all of it is."""
    try:
        if run is not None and run.moved is not None:
            m = run.motion
        else:
            m = at_start(drawn(derived.analysis, derived.interface, derived.program), None, parameters)
        return image(draw_scene(m.scene, m.poses, title=""), f"picture of {derived.name}")
    except BellcrankError as error:
        return paragraph(f"There is no picture: {error}")
