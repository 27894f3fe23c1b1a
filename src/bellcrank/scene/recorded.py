"""A recorded run as a page: the mechanism in motion and plots of channels, in one file that needs nothing else.

In:  a motion, and channels over the same times. Out: the text of a page. Its drawing is that of live pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from bellcrank.files.embed import as_json, packed, plain, short_script
from bellcrank.files.template import filled, template
from bellcrank.scene.browser import browser_scene, few_digits
from bellcrank.scene.camera import camera_of
from bellcrank.scene.scene import Scene

MOST = 1000  # rows that a page keeps
LARGEST = 1e30  # number in it
LIVE = "bellcrank.export/page/templates"  # of live pages, which draw in the same way


def recorded_page(
    scene: Scene,
    poses: np.ndarray,
    time: np.ndarray,
    channels: Sequence[tuple[Mapping[str, str], np.ndarray]],
    title: str | None = None,
) -> str:
    """The page. `channels`: name, label and unit, and values over time; the first three are plotted."""
    rows = np.unique(np.linspace(0, len(time) - 1, min(len(time), MOST)).round().astype(int))
    kept = [np.where(np.isfinite(x[rows]), x[rows], 0.0) for _, x in channels]
    numbers = np.concatenate([np.nan_to_num(poses[rows]).ravel(), *kept])
    numbers = np.clip(numbers, -LARGEST, LARGEST).astype("<f4")
    facts: dict[str, Any] = {
        "title": plain(scene.name if title is None else title),
        "time": few_digits(time[rows]),
        "bodies": poses.shape[1],
        "places": few_digits([x for m in scene.marks for x in m.at]),
        "window": max(float(time[-1] - time[0]), 1e-9),
        "channels": [{k: plain(v) for k, v in words.items()} for words, _ in channels],
        "scene": browser_scene(scene, camera_of(scene, poses)),
    }
    live = [template(LIVE, name) for name in ("plots.js", "scene.js")]
    pieces = {
        "TITLE": escape(facts["title"]),
        "STYLE": short_script(template(LIVE, "page.css")),
        "FACTS": as_json(facts),
        "NUMBERS": packed(numbers.tobytes()),
        "SCRIPT": short_script("\n".join(['"use strict";', *live, template("bellcrank.scene/templates", "film.js")])),
    }
    return filled(template("bellcrank.scene/templates", "film.html"), pieces)
