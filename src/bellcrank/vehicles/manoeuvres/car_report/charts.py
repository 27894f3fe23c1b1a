"""Curves of manoeuvres as charts: cars in one picture, axes with label and unit, notes where a
curve turns back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bellcrank.analysis.view.chart import NARROW, curve_chart
from bellcrank.core.files.html import HtmlText, cell_html
from bellcrank.vehicles.cars.design.car_data import CORNERS
from bellcrank.vehicles.manoeuvres.car_comparison import CarResults
from bellcrank.vehicles.manoeuvres.car_report.display import format_axis_label
from bellcrank.vehicles.manoeuvres.manoeuvre_result import ON_GROUND, Curve, Line, Result

POINTS = 500  # of a line
TALL = 250
LONG = 3.0  # of the shorter side, above which a drawing from above has two scales
TURNED = 0.03  # of the range of x, by which a curve must come back to be noted
STEADY = (
    "iso4138"  # manoeuvres whose curves are single-valued as long as the car is near steady states
)
WORDS = "lateral acceleration"


def merge_curves(cars: Sequence[CarResults], results: Sequence[Result]) -> list[Curve]:
    """Curves of all cars, those with the same axes in one; of several cars, lines are named after
    these."""
    if len(cars) == 1:
        return results[0].curves()
    return merge_labelled_curves(
        (c.label, curve) for c, r in zip(cars, results, strict=True) for curve in r.curves()
    )


def merge_labelled_curves(
    labelled: Iterator[tuple[str, Curve]] | Sequence[tuple[str, Curve]],
) -> list[Curve]:
    """Curves of cars by their labels, those with the same axes in one."""
    merged: dict[tuple[str, str], Curve] = {}
    for label, curve in labelled:
        old = merged.get((curve.x, curve.y))
        labelled_lines = tuple(
            (f"{label}, {name}" if name in CORNERS else label, x, y) for name, x, y in curve.lines
        )
        lines, fixed = (
            (labelled_lines, curve.fixed)
            if old is None
            else ((*old.lines, *labelled_lines), _unique_fixed_lines(old.fixed, curve.fixed))
        )
        merged[curve.x, curve.y] = Curve(curve.x, curve.y, lines, fixed)
    return list(merged.values())


def _unique_fixed_lines(old: tuple[Line, ...], new: tuple[Line, ...]) -> tuple[Line, ...]:
    """Fixed lines of cars, each once."""
    old_lines = {(n, x.tobytes(), y.tobytes()) for n, x, y in old}
    return (*old, *((n, x, y) for n, x, y in new if (n, x.tobytes(), y.tobytes()) not in old_lines))


def curve_charts(drawn: Sequence[Curve], log: bool = False, equal: bool = False) -> HtmlText:
    """Charts next to each other; every axis has its label with a unit."""
    figures = [f"<figure>{_curve_chart(curve, log, equal)}</figure>" for curve in drawn]
    return HtmlText('<div class="columns">\n' + "\n".join(figures) + "\n</div>")


def _curve_chart(curve: Curve, log: bool, equal: bool) -> str:
    (x_label, x_factor), (y_label, y_factor) = (
        format_axis_label(curve.x),
        format_axis_label(curve.y),
    )
    names = list(dict.fromkeys(name for name, _, _ in curve.lines))
    lines: list[Line] = [
        (n, x_factor * x, y_factor * y) for n, x, y in (*curve.fixed, *curve.lines)
    ]
    equal = equal or (curve.x == ON_GROUND and _is_compact(lines))
    colours = [-1] * len(curve.fixed) + [names.index(name) for name, _, _ in curve.lines]
    return curve_chart(
        lines,
        x_label,
        y_label,
        width=NARROW,
        colours=colours,
        most=POINTS,
        height=TALL,
        dashed=len(names) > 1,
        log=log,
        equal=equal,
    )


def _is_compact(lines: Sequence[Line]) -> bool:
    """Is what is seen from above neither long nor wide, so that both axes may have one scale?"""
    x, y = (
        float(np.ptp(values[np.isfinite(values)]))
        for values in map(np.concatenate, list(zip(*lines))[1:])
    )
    return bool(max(x, y) <= LONG * min(x, y))


def turn_back_messages(cars: Sequence[CarResults], results: Sequence[Result]) -> Iterator[str]:
    """Messages about steady-state curves that turn back: what follows is no steady circle any
    more."""
    for c, r in zip(cars, results, strict=True):
        if not r.manoeuvre.startswith(STEADY):
            continue
        curve = next((k for k in r.curves() if k.x.startswith(WORDS)), None)
        for _, x, _ in curve.lines if curve is not None else ():
            peak = int(np.nanargmax(x))
            if x[peak] - np.nanmin(x[peak:]) > TURNED * (x[peak] - np.nanmin(x)):
                yield (
                    f"{c.label}: curves over lateral acceleration turn back at "
                    f"{x[peak]:.3g} m/s2. What follows is "
                    "no steady state, and no metric uses it."
                )
                break


def note_paragraphs(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        yield HtmlText(f'<p class="note">{cell_html(text)}</p>')
