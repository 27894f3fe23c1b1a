"""The lane change from above, to scale: cones, traces of corners, outlines of all units, and the
units as they move.

The animation is part of the drawing (SVG), so that the page needs no program.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from bellcrank.analysis.view.chart import BLACK, COLOURS, round_ticks
from bellcrank.simulation.run.result import Run
from bellcrank.vehicles.manoeuvres.footprints import Footprint

Array = np.ndarray[Any, Any]
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 1000, 60, 10, 10, 36
ROWS = 2  # of the track
ROOM = 0.6  # m around what is drawn
BEFORE, BEHIND = 12.0, 6.0  # m of the track before the first cone and behind the last
EVERY = 0.4  # s between outlines, or a multiple of it
FRAMES = 90  # of the animation
COLOUR = BLACK  # of outlines and traces


def footprint_interval(run: Run, outlines: Sequence[Footprint]) -> float:
    """Time (s) between outlines, after which the vehicle has moved on by about its length."""
    x = np.concatenate(
        [outline.corners(run)[0, :, 0] for outline in outlines]
    )  # straight ahead, at the start
    return EVERY * max(
        1, math.ceil(0.9 * float(np.ptp(x)) / (EVERY * max(float(run["speed"][0]), 1.0)))
    )


def lane_change_svg(run: Run, outlines: Sequence[Footprint], cones: Array) -> str:
    """A run between cones as SVG: the track in rows, one below the other, and the units moving from
    row to row. Of the first one, the car, the traces of all corners are drawn, of trailers those of
    the rear ones."""
    paths = [outline.corners(run) for outline in outlines]
    first = float(cones[:, 0].min())
    x0, x1 = first - BEFORE, float(cones[:, 0].max()) + BEHIND
    corners = np.concatenate([path.reshape(-1, 2) for path in paths])
    y = np.concatenate([cones[:, 1], corners[_interval_mask(corners[:, 0], x0, x1), 1]])
    y0, y1 = float(y.min()) - ROOM, float(y.max()) + ROOM
    long = (x1 - x0) / ROWS
    scale = (WIDTH - LEFT - RIGHT) / long
    high = scale * (y1 - y0)
    tall = TOP + ROWS * (high + BOTTOM)
    every = footprint_interval(run, outlines)
    elements = [
        f'<svg class="chart" viewBox="0 0 {WIDTH} {tall:.0f}" role="img" aria-label="lane '
        f'change from above">'
    ]
    for i in range(ROWS):
        x_start, top = x0 + i * long, TOP + i * (high + BOTTOM)
        window = _PlanWindow(x_start, x_start + long, y0, y1, scale)
        elements += _axes_svg(window, top, high, first)
        inner = [
            f'<circle cx="{window.px(x):.1f}" cy="{window.py(y):.1f}" r="2.5" fill="#e06010"/>'
            for x, y in cones
        ]
        for k, path in enumerate(paths):
            inner += _corner_traces_svg(path[:, 2:] if k else path, window)
            inner += _footprints_svg(run.time, path, every, window)
        inside = _interval_mask(run["x"], x0, x1)
        inner += [
            _moving_unit_svg(x, COLOURS[k % len(COLOURS)], run, inside, window)
            for k, x in enumerate(outlines)
        ]
        size = f'width="{WIDTH - LEFT - RIGHT}" height="{high:.1f}"'
        elements.append(
            f'<svg x="{LEFT}" y="{top:.1f}" {size}>' + "\n".join(inner) + "</svg>"
        )  # cuts what is outside
    return "\n".join([*elements, "</svg>"])


@dataclass(frozen=True)
class _PlanWindow:
    """A part of the ground, m, and its scale in the drawing."""

    x0: float
    x1: float
    y0: float
    y1: float
    scale: float

    def px(self, x: Any) -> Any:
        return self.scale * (x - self.x0)

    def py(self, y: Any) -> Any:
        return self.scale * (self.y1 - y)

    def points(self, corners: Array) -> str:
        return " ".join(f"{self.px(x):.1f},{self.py(y):.1f}" for x, y in corners)


def _interval_mask(x: Array, low: float, high: float) -> Array:
    return (x >= low) & (x <= high)


def _axes_svg(w: _PlanWindow, top: float, high: float, first: float) -> list[str]:
    elements = []
    for v in round_ticks(w.x0 - first, w.x1 - first):
        x = LEFT + w.px(v + first)
        elements.append(
            f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{top + high:.1f}"/>'
        )
        elements.append(
            f'<text x="{x:.1f}" y="{top + high + 14:.0f}" text-anchor="middle">{v:g}</text>'
        )
    for v in range(int(np.ceil(w.y0 / 2)) * 2, int(np.floor(w.y1)) + 1, 2):
        elements.append(
            f'<text x="{LEFT - 6}" y="{top + w.py(v) + 4:.1f}" text-anchor="end">{v:g}</text>'
        )
    elements.append(
        f'<rect class="frame" x="{LEFT}" y="{top:.1f}" width="{WIDTH - LEFT - RIGHT}" '
        f'height="{high:.1f}"/>'
    )
    middle, below = (WIDTH + LEFT - RIGHT) / 2, top + high + 28
    elements.append(
        f'<text x="{middle:.0f}" y="{below:.0f}" text-anchor="middle">x from the first cone '
        f"(m)</text>"
    )
    transform = f"translate(13 {top + high / 2:.0f}) rotate(-90)"
    elements.append(f'<text transform="{transform}" text-anchor="middle">y (m)</text>')
    return elements


def _corner_traces_svg(path: Array, w: _PlanWindow) -> list[str]:
    """Lines of corners."""
    visible = path[_interval_mask(path[:, 0, 0], w.x0 - 10, w.x1 + 10)]
    step = max(1, len(visible) // 150)
    style = f'fill="none" stroke="{COLOUR}" stroke-width="0.7" opacity="0.7"'
    return [
        f'<polyline points="{w.points(visible[::step, k])}" {style}/>' for k in range(path.shape[1])
    ]


def _footprints_svg(time: Array, path: Array, every: float, w: _PlanWindow) -> list[str]:
    """Outlines of a unit at equal times."""
    indices = np.searchsorted(time, np.arange(time[0], time[-1], every))
    style = f'fill="{COLOUR}" fill-opacity="0.08" stroke="{COLOUR}" stroke-width="0.8"'
    visible = (
        path[i] for i in indices if path[i, :, 0].max() > w.x0 and path[i, :, 0].min() < w.x1
    )
    return [f'<polygon points="{w.points(corners)}" {style}/>' for corners in visible]


def _moving_unit_svg(
    outline: Footprint, colour: str, run: Run, inside: Array, w: _PlanWindow
) -> str:
    """A unit as it moves, in real time, again and again."""
    indices = np.flatnonzero(inside)
    if len(indices) < 2:
        return ""
    time = run.time[indices]
    times = np.linspace(time[0], time[-1], FRAMES)
    x, y, yaw = (np.interp(times, time, values[indices]) for values in outline.pose(run))
    translations = ";".join(f"{w.px(a):.1f},{w.py(b):.1f}" for a, b in zip(x, y, strict=True))
    rotations = ";".join(f"{-a:.2f}" for a in np.degrees(yaw))
    lasts = f'dur="{time[-1] - time[0]:.2f}s" repeatCount="indefinite"'
    x_box, top = (
        w.scale * (outline.ahead - outline.length / 2),
        -w.scale * (outline.left + outline.width / 2),
    )
    size = f'width="{w.scale * outline.length:.1f}" height="{w.scale * outline.width:.1f}"'
    box = f'<rect x="{x_box:.1f}" y="{top:.1f}" {size} rx="3" fill="{colour}" fill-opacity="0.85"/>'
    # where nothing is animated, such as on paper
    initial = f'transform="translate({w.px(x[0]):.1f} {w.py(y[0]):.1f})"'
    moving = (
        f'<animateTransform attributeName="transform" type="translate" values="{translations}" '
        f"{lasts}/>"
    )
    turning = (
        f'<animateTransform attributeName="transform" type="rotate" values="{rotations}" {lasts}/>'
    )
    return f"<g {initial}><title>{escape(outline.name)}</title>{moving}<g>{turning}{box}</g></g>"
