"""Line charts as SVG, for pages that stand alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 230, 70, 12, 10, 36
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2")
MOST_POINTS = 1500  # of one line: more would not be seen


def chart(x: np.ndarray, lines: Sequence[tuple[str, np.ndarray]], x_label: str, y_label: str) -> str:
    """Lines over one axis, with labels."""
    x = np.asarray(x, dtype=float)
    (x0, x1), (y0, y1) = _range([x]), _range([y for _, y in lines])
    space = 0.05 * (y1 - y0)
    y0, y1 = y0 - space, y1 + space
    inner_w, inner_h = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def px(v: float) -> float:
        return LEFT + (v - x0) / (x1 - x0) * inner_w

    def py(v: float) -> float:
        return HEIGHT - BOTTOM - (v - y0) / (y1 - y0) * inner_h

    parts = [f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(y_label)}">']
    for v in ticks(x0, x1):
        parts.append(f'<line class="grid" x1="{px(v):.1f}" x2="{px(v):.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
        parts.append(f'<text x="{px(v):.1f}" y="{HEIGHT - BOTTOM + 14}" text-anchor="middle">{v:.6g}</text>')
    for v in ticks(y0, y1):
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{py(v):.1f}" y2="{py(v):.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{py(v) + 4:.1f}" text-anchor="end">{v:.6g}</text>')
    parts.append(f'<rect class="frame" x="{LEFT}" y="{TOP}" width="{inner_w}" height="{inner_h}"/>')
    for i, (name, y) in enumerate(lines):
        colour = COLOURS[i % len(COLOURS)]
        parts.append(f'<path class="line" stroke="{colour}" d="{_path(x, np.asarray(y, dtype=float), px, py)}"/>')
        if len(lines) > 1:
            at = LEFT + 10 + 110 * i
            place = f'x1="{at}" x2="{at + 18}" y1="{TOP + 12}" y2="{TOP + 12}"'
            parts.append(f'<line stroke="{colour}" stroke-width="3" {place}/>')
            parts.append(f'<text x="{at + 23}" y="{TOP + 16}">{escape(name)}</text>')
    parts.append(f'<text x="{LEFT + inner_w / 2:.0f}" y="{HEIGHT - 5}" text-anchor="middle">{escape(x_label)}</text>')
    turned = f"translate(13 {TOP + inner_h / 2:.0f}) rotate(-90)"
    parts.append(f'<text transform="{turned}" text-anchor="middle">{escape(y_label)}</text>')
    return "\n".join([*parts, "</svg>"])


def ticks(low: float, high: float) -> list[float]:
    """Round numbers between two, about six."""
    raw = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [i * step for i in range(first, last + 1)]


def _range(arrays: Sequence[np.ndarray]) -> tuple[float, float]:
    values = np.concatenate([np.ravel(a) for a in arrays]) if arrays else np.empty(0)
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    if high - low > 1e-12 * max(abs(low), abs(high)):
        return low, high
    half = abs(low) / 2 or 0.5
    return low - half, high + half


def _path(x: np.ndarray, y: np.ndarray, px, py) -> str:  # type: ignore[no-untyped-def]
    every = max(1, -(-len(x) // MOST_POINTS))
    places = [*range(0, len(x), every), *([len(x) - 1] if len(x) and (len(x) - 1) % every else [])]
    text, pen = [], "M"
    for i in places:
        if not (math.isfinite(x[i]) and math.isfinite(y[i])):
            pen = "M"
            continue
        text.append(f"{pen}{px(x[i]):.1f} {py(y[i]):.1f}")
        pen = "L"
    return "".join(text)
