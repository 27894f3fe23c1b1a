"""The lane change from above, to scale: cones, traces of the corners, outlines of the car, and the car as it moves.

The animation is part of the drawing (SVG), so that the page needs no program.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from bellcrank.run.result import Run
from bellcrank.view.chart import BLACK, COLOURS, ticks

Array = np.ndarray[Any, Any]
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 1000, 60, 10, 10, 36
ROWS = 2  # of the track
ROOM = 0.6  # m around what is drawn
BEFORE, BEHIND = 12.0, 6.0  # m of the track before the first cone and behind the last
EVERY = 0.4  # s between outlines
FRAMES = 90  # of the animation
COLOUR = BLACK  # of outlines and traces


@dataclass(frozen=True)
class Outline:
    """The car from above, m; its middle is ahead and to the left of the mass centre."""

    length: float
    width: float
    ahead: float
    left: float = 0.0

    def corners(self, x: Array, y: Array, yaw: Array) -> Array:
        """(n, 4, 2): front left, front right, rear right, rear left on the ground; yaw in rad."""
        a, b = self.length / 2, self.width / 2
        own = np.array([[a, b], [a, -b], [-a, -b], [-a, b]]) + [self.ahead, self.left]
        c, s = np.cos(yaw)[:, None], np.sin(yaw)[:, None]
        return np.stack([x[:, None] + own[:, 0] * c - own[:, 1] * s, y[:, None] + own[:, 0] * s + own[:, 1] * c], 2)


def lane_picture(label: str, run: Run, outline: Outline, cones: Array) -> str:
    """A run between cones as SVG: the track in rows, one below the other, and the car moving from row to row."""
    path = outline.corners(run["x"], run["y"], np.radians(run["yaw"]))
    first = float(cones[:, 0].min())
    x0, x1 = first - BEFORE, float(cones[:, 0].max()) + BEHIND
    seen = path.reshape(-1, 2)
    y = np.concatenate([cones[:, 1], seen[_between(seen[:, 0], x0, x1), 1]])
    y0, y1 = float(y.min()) - ROOM, float(y.max()) + ROOM
    long = (x1 - x0) / ROWS
    scale = (WIDTH - LEFT - RIGHT) / long
    high = scale * (y1 - y0)
    tall = TOP + ROWS * (high + BOTTOM)
    parts = [f'<svg class="chart" viewBox="0 0 {WIDTH} {tall:.0f}" role="img" aria-label="lane change from above">']
    for i in range(ROWS):
        begin, top = x0 + i * long, TOP + i * (high + BOTTOM)
        window = _Window(begin, begin + long, y0, y1, scale)
        parts += _axes(window, top, high, first)
        inner = [f'<circle cx="{window.px(x):.1f}" cy="{window.py(y):.1f}" r="2.5" fill="#e06010"/>' for x, y in cones]
        inner += _traces(path, window)
        inner += _snapshots(run.time, path, window)
        inner.append(_moving(label, run, _between(run["x"], x0, x1), outline, window))
        size = f'width="{WIDTH - LEFT - RIGHT}" height="{high:.1f}"'
        parts.append(f'<svg x="{LEFT}" y="{top:.1f}" {size}>' + "\n".join(inner) + "</svg>")  # cuts what is outside
    return "\n".join([*parts, "</svg>"])


@dataclass(frozen=True)
class _Window:
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


def _between(x: Array, low: float, high: float) -> Array:
    return (x >= low) & (x <= high)


def _axes(w: _Window, top: float, high: float, first: float) -> list[str]:
    parts = []
    for v in ticks(w.x0 - first, w.x1 - first):
        x = LEFT + w.px(v + first)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{top + high:.1f}"/>')
        parts.append(f'<text x="{x:.1f}" y="{top + high + 14:.0f}" text-anchor="middle">{v:g}</text>')
    for v in range(int(np.ceil(w.y0 / 2)) * 2, int(np.floor(w.y1)) + 1, 2):
        parts.append(f'<text x="{LEFT - 6}" y="{top + w.py(v) + 4:.1f}" text-anchor="end">{v:g}</text>')
    parts.append(f'<rect class="frame" x="{LEFT}" y="{top:.1f}" width="{WIDTH - LEFT - RIGHT}" height="{high:.1f}"/>')
    middle, below = (WIDTH + LEFT - RIGHT) / 2, top + high + 28
    parts.append(f'<text x="{middle:.0f}" y="{below:.0f}" text-anchor="middle">x from the first cone (m)</text>')
    turned = f"translate(13 {top + high / 2:.0f}) rotate(-90)"
    parts.append(f'<text transform="{turned}" text-anchor="middle">y (m)</text>')
    return parts


def _traces(path: Array, w: _Window) -> list[str]:
    """Lines of the four corners."""
    near = path[_between(path[:, 0, 0], w.x0 - 10, w.x1 + 10)]
    step = max(1, len(near) // 150)
    style = f'fill="none" stroke="{COLOUR}" stroke-width="0.7" opacity="0.7"'
    return [f'<polyline points="{w.points(near[::step, k])}" {style}/>' for k in range(4)]


def _snapshots(time: Array, path: Array, w: _Window) -> list[str]:
    """Outlines of the car at equal times."""
    places = np.searchsorted(time, np.arange(time[0], time[-1], EVERY))
    style = f'fill="{COLOUR}" fill-opacity="0.08" stroke="{COLOUR}" stroke-width="0.8"'
    seen = (path[i] for i in places if path[i, :, 0].max() > w.x0 and path[i, :, 0].min() < w.x1)
    return [f'<polygon points="{w.points(corners)}" {style}/>' for corners in seen]


def _moving(label: str, run: Run, inside: Array, outline: Outline, w: _Window) -> str:
    """The car as it moves, in real time, again and again."""
    where = np.flatnonzero(inside)
    if len(where) < 2:
        return ""
    time = run.time[where]
    at = np.linspace(time[0], time[-1], FRAMES)
    x, y, yaw = (np.interp(at, time, run[n][where]) for n in ("x", "y", "yaw"))
    moves = ";".join(f"{w.px(a):.1f},{w.py(b):.1f}" for a, b in zip(x, y, strict=True))
    turns = ";".join(f"{-a:.2f}" for a in yaw)
    lasts = f'dur="{time[-1] - time[0]:.2f}s" repeatCount="indefinite"'
    left, top = w.scale * (outline.ahead - outline.length / 2), -w.scale * (outline.left + outline.width / 2)
    size = f'width="{w.scale * outline.length:.1f}" height="{w.scale * outline.width:.1f}"'
    box = f'<rect x="{left:.1f}" y="{top:.1f}" {size} rx="3" fill="{COLOURS[0]}" fill-opacity="0.85"/>'
    begin = f'transform="translate({w.px(x[0]):.1f} {w.py(y[0]):.1f})"'  # where nothing is animated, such as on paper
    return (f'<g {begin}><title>{escape(label)}</title><animateTransform attributeName="transform" type="translate" '
            f'values="{moves}" {lasts}/><g><animateTransform attributeName="transform" type="rotate" '
            f'values="{turns}" {lasts}/>{box}</g></g>')  # fmt: skip
