"""The icon of a functional mock-up unit: the model as it starts, as tools show it on a block.

In:  `Derived`. Out: the bytes of a PNG image, b"" where there is nothing to draw.
"""

from __future__ import annotations

import warnings
from io import BytesIO

from bellcrank.derive.derived import Derived
from bellcrank.errors import BellcrankError
from bellcrank.run.body_motion import at_start, drawn
from bellcrank.scene.render import render

PLACES = {2: "model.png", 3: "terminalsAndIcons/icon.png"}  # by version of FMI
SIZE = 200  # pixels


def icon(derived: Derived) -> bytes:
    """The image; a model without bodies, or without a configuration to start from, has none."""
    from PIL import Image

    if not derived.analysis.mechanism.bodies or derived.program.entry.results:  # values that user functions give
        return b""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of values that the picture alone needs
            start = at_start(drawn(derived.analysis, derived.interface, derived.program))
    except BellcrankError:
        return b""
    data = BytesIO()
    Image.fromarray(render(start.scene, start.poses[0], SIZE, SIZE)).quantize(64).save(data, "PNG", optimize=True)
    return data.getvalue()
