"""Line charts as SVG, for pages that stand alone."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from html import escape

import numpy as np

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 230, 78, 20, 10, 36
NARROW = 500  # of a chart next to others
KEY, LETTER, GAP = 26, 6.2, 24  # widths in the legend: mark, letter, space behind a name
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2")
BLACK = "#333333"
DASHES = ("", "9 5", "2 4", "12 4 2 4", "5 3")  # of lines, so that equal ones are all seen
ROW = 17  # height of a row of the legend
WRAP, FULL = 30, 37  # letters of an axis label in a row, and of the last row
EDGE = 0.02  # of the range of x, left free on either side where scales are equal
MOST_POINTS = 1500  # of one line: more would not be seen
Line = tuple[str, np.ndarray, np.ndarray]  # name, x, y


def line_chart(
    x: np.ndarray, lines: Sequence[tuple[str, np.ndarray]], x_label: str, y_label: str
) -> str:
    """Lines over one axis, with labels."""
    return curve_chart([(name, x, y) for name, y in lines], x_label, y_label)


def curve_chart(
    lines: Sequence[Line],
    x_label: str,
    y_label: str,
    *,
    width: int = WIDTH,
    colours: Sequence[int] | None = None,
    most: int = MOST_POINTS,
    height: int = HEIGHT,
    dashed: bool = False,
    log: bool = False,
    equal: bool = False,
) -> str:
    """Lines of (name, x, y) in one frame; those of the same name and colour stand once in the
    legend. `colours`: their places in COLOURS, -1 is black; `most`: points of a line; `dashed`:
    each colour but the first has its own dashes;
    `log`: both axes are logarithmic; `equal`: both axes have the same scale, which gives the
    height."""
    lines = [(name, np.asarray(x, dtype=float), np.asarray(y, dtype=float)) for name, x, y in lines]
    if log:
        lines = [(name, _log10_or_nan(x), _log10_or_nan(y)) for name, x, y in lines]
    (x0, x1), (y0, y1) = (
        _data_range([x for _, x, _ in lines]),
        _data_range([y for _, _, y in lines]),
    )
    space = 0.05 * (y1 - y0)
    y0, y1 = y0 - space, y1 + space
    colour_indices = list(colours or range(len(lines)))
    marked = [BLACK if i < 0 else COLOURS[i % len(COLOURS)] for i in colour_indices]
    dashes = [DASHES[i % len(DASHES)] if dashed and i > 0 else "" for i in colour_indices]
    styles = zip(lines, marked, dashes, strict=True)
    legend_entries = dict.fromkeys((name, colour, dash) for (name, _, _), colour, dash in styles)
    legend, rows = _legend(
        list(legend_entries) if len(legend_entries) > 1 else [], width - LEFT - RIGHT
    )
    top = TOP + rows * ROW
    inner_w = width - LEFT - RIGHT
    if equal:
        x0, x1 = x0 - EDGE * (x1 - x0), x1 + EDGE * (x1 - x0)
        height = round(TOP + BOTTOM + inner_w * (y1 - y0) / (x1 - x0))
    tall = height + rows * ROW
    inner_h = tall - top - BOTTOM

    def x_pixel(v: float) -> float:
        return LEFT + (v - x0) / (x1 - x0) * inner_w

    def y_pixel(v: float) -> float:
        return tall - BOTTOM - (v - y0) / (y1 - y0) * inner_h

    elements = [
        f'<svg class="chart" viewBox="0 0 {width} {tall}" role="img" '
        f'aria-label="{escape(y_label)}">',
        *legend,
    ]
    for v, label in _axis_ticks(x0, x1, log):
        elements.append(
            f'<line class="grid" x1="{x_pixel(v):.1f}" x2="{x_pixel(v):.1f}" y1="{top}" '
            f'y2="{tall - BOTTOM}"/>'
        )
        elements.append(
            f'<text x="{x_pixel(v):.1f}" y="{tall - BOTTOM + 16}" '
            f'text-anchor="middle">{label}</text>'
        )
    for v, label in _axis_ticks(y0, y1, log):
        elements.append(
            f'<line class="grid" x1="{LEFT}" x2="{width - RIGHT}" y1="{y_pixel(v):.1f}" '
            f'y2="{y_pixel(v):.1f}"/>'
        )
        elements.append(
            f'<text x="{LEFT - 6}" y="{y_pixel(v) + 4:.1f}" text-anchor="end">{label}</text>'
        )
    elements.append(
        f'<rect class="frame" x="{LEFT}" y="{top}" width="{inner_w}" height="{inner_h}"/>'
    )
    for (_, x, y), colour, dash in zip(lines, marked, dashes, strict=True):
        style = f' stroke-dasharray="{dash}"' if dash else ""
        elements.append(
            f'<path class="line" stroke="{colour}"{style} '
            f'd="{_svg_path(x, y, x_pixel, y_pixel, most)}"/>'
        )
    elements.append(
        f'<text x="{LEFT + inner_w / 2:.0f}" y="{tall - 5}" '
        f'text-anchor="middle">{escape(x_label)}</text>'
    )
    for i, row in enumerate(_wrap_label(y_label, width)):
        transform = f"translate({12 + 14 * i} {top + inner_h / 2:.0f}) rotate(-90)"
        elements.append(f'<text transform="{transform}" text-anchor="middle">{escape(row)}</text>')
    return "\n".join([*elements, "</svg>"])


def _wrap_label(label: str, width: int) -> list[str]:
    """An axis label in at most two rows, of which the second one keeps the unit."""
    if len(label) <= WRAP or width == WIDTH:
        return [label]
    first, *other_lines = textwrap.wrap(label, WRAP)
    second = " ".join(other_lines)
    if len(second) <= FULL:
        return [first, second]
    words, bracket, unit = second.rpartition(" (")
    unit = f"…{bracket}{unit}" if bracket else "…"
    return [first, words[: FULL - len(unit)].rstrip(" ,") + unit]


def _axis_ticks(low: float, high: float, log: bool) -> list[tuple[float, str]]:
    """Ticks with their numbers; of logarithms the powers of ten, and 2 and 5 between where these
    are few."""
    if not log:
        return [(v, f"{v:.6g}") for v in round_ticks(low, high)]
    steps = (1.0, 2.0, 5.0) if high - low < 3 else (1.0,)
    exponents = [
        p + math.log10(s) for p in range(math.floor(low), math.ceil(high) + 1) for s in steps
    ]
    return [(v, _power_of_ten_text(v)) for v in exponents if low <= v <= high]


def _power_of_ten_text(v: float) -> str:
    """Ten to the power of v; far from 1 by its exponent, which is short."""
    if -4 <= v <= 5 or v != round(v):
        return f"{10**v:.6f}".rstrip("0").rstrip(".") if v < 0 else f"{10**v:.6g}"
    return "10" + f"{v:.0f}".translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _log10_or_nan(values: np.ndarray) -> np.ndarray:
    return np.log10(np.where(values > 0, values, np.nan))


def _legend(entries: Sequence[tuple[str, str, str]], room: float) -> tuple[list[str], int]:
    """Names with their colours above the frame, in as many rows as they need."""
    elements, x_offset, row = [], 0.0, 0
    for name, colour, dash in entries:
        wide = KEY + 5 + LETTER * len(name) + GAP
        if x_offset > 0 and x_offset + wide - GAP > room:
            x_offset, row = 0.0, row + 1
        x, y = LEFT + x_offset, TOP + row * ROW + 6
        style = f' stroke-dasharray="{dash}"' if dash else ""
        line = f'<line stroke="{colour}" stroke-width="3"{style}'
        elements.append(f'{line} x1="{x:.0f}" x2="{x + KEY:.0f}" y1="{y}" y2="{y}"/>')
        elements.append(f'<text x="{x + KEY + 5:.0f}" y="{y + 4}">{escape(name)}</text>')
        x_offset += wide
    return elements, row + 1 if entries else 0


def round_ticks(low: float, high: float) -> list[float]:
    """Round numbers between two, about six."""
    raw = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [i * step for i in range(first, last + 1)]


def _data_range(arrays: Sequence[np.ndarray]) -> tuple[float, float]:
    values = np.concatenate([np.ravel(a) for a in arrays]) if arrays else np.empty(0)
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    if high - low > 1e-12 * max(abs(low), abs(high)):
        return low, high
    half_range = abs(low) / 2 or 0.5
    return low - half_range, high + half_range


def _decimated_samples(x: np.ndarray, y: np.ndarray, limit: int) -> list[int]:
    """Samples to draw, about as many as `limit`: smallest and largest values of every part, and all
    ends of gaps."""
    n, finite = len(y), np.isfinite(x) & np.isfinite(y)
    if n <= limit:
        return [*range(n)]
    gap_edges = np.flatnonzero(np.diff(finite))  # last before a gap, last of a gap
    samples = {0, n - 1, *gap_edges.tolist(), *(gap_edges + 1).tolist()}
    axes = (y,) if (np.diff(x[finite]) >= 0).all() else (x, y)
    size = -(-2 * len(axes) * n // limit)
    for start in range(0, n, size):
        for values in axes:
            part = np.where(finite[start : start + size], values[start : start + size], 0.0)
            samples |= {start + int(part.argmin()), start + int(part.argmax())}
    return sorted(samples)


def _svg_path(x: np.ndarray, y: np.ndarray, px, py, limit: int) -> str:  # type: ignore[no-untyped-def]
    text, pen = [], "M"
    for i in _decimated_samples(x, y, limit):
        if not (math.isfinite(x[i]) and math.isfinite(y[i])):
            pen = "M"
            continue
        text.append(f"{pen}{px(x[i]):.1f} {py(y[i]):.1f}")
        pen = "L"
    return "".join(text)
