"""A recorded run as a page: the mechanism in motion and plots of channels, in one file that needs
nothing else.

In:  a motion, and channels over the same times. Out: the text of a page. Live pages have the same
window around theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import accumulate
from typing import Any

import numpy as np

from bellcrank.core.files.embed import minify_script, minify_style, pack_text, to_json_bytes
from bellcrank.core.files.embed import page_text as plain
from bellcrank.core.files.template import fill_template, template_text
from bellcrank.core.version import __version__
from bellcrank.scene.camera import fit_camera
from bellcrank.scene.page_scene import (
    PLAYBACK_SPEEDS,
    browser_scene,
    label_fields,
    playback_rows,
    playback_speed,
    quantize_columns,
    round_digits,
    scene_scripts,
)
from bellcrank.scene.scene import Scene

PAGES = "bellcrank.export/page/templates"  # of live pages too: one window around all that moves


def recorded_page(
    scene: Scene,
    poses: np.ndarray,
    time: np.ndarray,
    channels: Sequence[tuple[Mapping[str, str], np.ndarray]],
    plots: Sequence[Sequence[int]],
    least_ranges: Sequence[float],
    title: str | None = None,
) -> str:
    """The page. `channels`: name, label and unit, and values over time; `plots`: those that are
    plotted, by panel;
    `least_ranges`: the least range of the axis of each."""
    pose_columns = poses.reshape(len(time), -1)
    rows = playback_rows(len(time), pose_columns.shape[1] + len(channels))
    numbers, size = quantize_columns(
        np.concatenate([pose_columns[rows].T, *(x[None, rows] for _, x in channels)])
    )
    span = max(float(time[-1] - time[0]), 1e-9)
    facts: dict[str, Any] = {
        "title": plain(scene.name if title is None else title),
        "time": round_digits(time[rows], 9),
        "bodies": poses.shape[1],
        "bytes": size,
        "places": round_digits([x for m in scene.marks for x in m.position]),
        "window": span,
        "paces": PLAYBACK_SPEEDS,
        "pace": playback_speed(span),
        "channels": [label_fields(**words) for words, _ in channels],
        "plots": plots,
        "least": round_digits(least_ranges, 2),
        "scene": browser_scene(scene, fit_camera(scene, poses)),
    }
    scripts = ("plots.js", *scene_scripts(facts["scene"]), "record.js", "player.js", "film.js")
    script = minify_script(
        "\n".join(['"use strict";', *(template_text(PAGES, name) for name in scripts)])
    ).encode()
    return recorded_page_text(facts, [], numbers, script, scene=True)


def recorded_page_text(
    facts: Mapping[str, Any],
    modules: Sequence[bytes],
    numbers: bytes,
    script: bytes,
    scene: bool = False,
    live: bool = False,
) -> str:
    """The text of a page: its title; packed: modules of a program, recorded numbers, facts, style
    and script."""
    sections = (
        b"".join(modules),
        numbers,
        to_json_bytes(facts),
        minify_style(template_text(PAGES, "page.css")).encode(),
        script,
    )
    offsets = map(str, accumulate(map(len, sections[:-1])))
    section_ends = dict(zip(("MODULE", "NUMBERS", "FACTS", "STYLE"), offsets, strict=True))
    text, length = pack_text([*modules, b"".join(sections[1:])])
    fields = {
        "VERSION": __version__,
        "TITLE": escape(facts["title"]),
        "SCENE": "yes" if scene else "",
        "LIVE": "yes" if live else "",
        "PACKED": text,
        "LOADER": fill_template(
            minify_script(template_text(PAGES, "loader.js")), section_ends | {"LENGTH": str(length)}
        ),
    }
    return fill_template(template_text(PAGES, "page.html"), fields)
