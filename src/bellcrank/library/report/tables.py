"""Metrics of cars compared: a column of values for each car, and next to it how far it is from the first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from bellcrank.errors import BellcrankError
from bellcrank.files.html import Raw, shown, table
from bellcrank.library.manoeuvres.linear import handling_of
from bellcrank.library.manoeuvres.ready import ready
from bellcrank.library.manoeuvres.side_by_side import Driven
from bellcrank.library.report.display import figure_shown
from bellcrank.library.vehicles.checking import heaviness, is_unusual
from bellcrank.library.vehicles.figures import Figure

VERDICTS = {True: "passed narrow met", False: "failed narrow missed"}  # classes of values with limits
LEAST, MOST = 0.05, 1000.0  # % of a change that is shown


def heads(cars: Sequence[Driven]) -> list[str]:
    """Heads of the columns of values."""
    return (
        ["value"] if len(cars) == 1 else [x for i, c in enumerate(cars) for x in ([c.label, "change"][: 1 + (i > 0)])]
    )


def number_columns(first: int, cars: Sequence[Driven]) -> range:
    return range(first, first + len(heads(cars)))


def cells(figures: Sequence[Figure | None], met: Sequence[bool | None] | None = None) -> list[object]:
    """Values of all cars, and changes against the first car behind all but its own; `met`: whether limits are."""
    row: list[object] = []
    for i, (figure, verdict) in enumerate(zip(figures, met or [None] * len(figures), strict=True)):
        text = "" if figure is None else figure_shown(figure)[0]
        row.append(text if verdict is None else Raw(f'<span class="{VERDICTS[verdict]}">{text}</span>'))
        if i > 0:
            row.append(_change(figure, figures[0]))
    return row


def _change(figure: Figure | None, first: Figure | None) -> object:
    if figure is None or first is None or not first.value or not math.isfinite(figure.value / first.value):
        return ""
    percent = 100 * (figure.value / first.value - 1)  # says nothing where the sign changes
    is_shown = LEAST <= abs(percent) < MOST and percent > -100
    return Raw(f'<span class="note narrow">{percent:+.1f} %</span>') if is_shown else ""


def car_figures(car: Driven) -> dict[str, Figure]:
    """Figures of a car: those of its linear model, as far as there is one, and those of hand formulas."""
    try:
        handling = handling_of(ready(car.car)).details
    except BellcrankError:
        handling = {}
    return {**handling, **car.car.metrics.details}


def compared(cars: Sequence[Driven], figures: Sequence[Mapping[str, Figure]]) -> Raw:
    """Metrics of cars compared, with units and names."""
    rows = []
    for name in dict.fromkeys(n for f in figures for n in f):
        values = [f.get(name) for f in figures]
        figure = next(f for f in values if f is not None)
        pairs = zip(cars, values, strict=True)
        odd = "unusual" if any(f is not None and is_unusual(f, heaviness(c.car.data)) for c, f in pairs) else ""
        rows.append((figure.label, *cells(values), figure_shown(figure)[1], odd, name))
    return table(("", *heads(cars), "unit", "", "name"), rows, right=number_columns(1, cars))


def whose(cars: Sequence[Driven], car: Driven) -> list[str]:
    """The label of a car where there are several."""
    return [car.label] if len(cars) > 1 else []


def link(name: str, title: str = "") -> Raw:
    """A link to the section of a manoeuvre, by its title."""
    return Raw(f'<a href="#{shown(name)}">{shown(title or name)}</a>')


def mark(is_passed: bool, failed: str = "failed") -> Raw:
    return Raw('<span class="passed">passed</span>' if is_passed else f'<span class="failed">{shown(failed)}</span>')
