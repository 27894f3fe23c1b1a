"""Metrics of cars compared: a column of values for each car, and next to it how far it is from the
first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from bellcrank.core.errors import BellcrankError
from bellcrank.core.files.html import HtmlText, cell_html, html_table
from bellcrank.vehicles.cars.metrics.handling_metrics import VehicleMetric
from bellcrank.vehicles.cars.metrics.plausibility import heavy_vehicle_factor, is_metric_unusual
from bellcrank.vehicles.manoeuvres.car_comparison import CarResults
from bellcrank.vehicles.manoeuvres.car_report.display import format_metric
from bellcrank.vehicles.manoeuvres.compiled_car import compile_car
from bellcrank.vehicles.manoeuvres.linear_handling import linear_handling_metrics

VERDICTS = {
    True: "passed narrow met",
    False: "failed narrow missed",
}  # classes of values with limits
LEAST, MOST = 0.05, 1000.0  # % of a change that is shown


def report_column_heads(cars: Sequence[CarResults]) -> list[str]:
    """Heads of the columns of values."""
    return (
        ["value"]
        if len(cars) == 1
        else [x for i, c in enumerate(cars) for x in ([c.label, "change"][: 1 + (i > 0)])]
    )


def number_columns(first: int, cars: Sequence[CarResults]) -> range:
    return range(first, first + len(report_column_heads(cars)))


def value_cells(
    figures: Sequence[VehicleMetric | None], met: Sequence[bool | None] | None = None
) -> list[object]:
    """Values of all cars, and changes against the first car behind all but its own; `met`: whether
    limits are."""
    row: list[object] = []
    for i, (figure, verdict) in enumerate(zip(figures, met or [None] * len(figures), strict=True)):
        text = "" if figure is None else format_metric(figure)[0]
        row.append(
            text
            if verdict is None
            else HtmlText(f'<span class="{VERDICTS[verdict]}">{text}</span>')
        )
        if i > 0:
            row.append(_relative_change(figure, figures[0]))
    return row


def _relative_change(figure: VehicleMetric | None, first: VehicleMetric | None) -> object:
    if (
        figure is None
        or first is None
        or not first.value
        or not math.isfinite(figure.value / first.value)
    ):
        return ""
    percent = 100 * (figure.value / first.value - 1)  # says nothing where the sign changes
    is_shown = LEAST <= abs(percent) < MOST and percent > -100
    return HtmlText(f'<span class="note narrow">{percent:+.1f} %</span>') if is_shown else ""


def all_car_metrics(car: CarResults) -> dict[str, VehicleMetric]:
    """Figures of a car: those of its linear model, as far as there is one, and those of hand
    formulas."""
    try:
        handling = linear_handling_metrics(compile_car(car.car)).details
    except BellcrankError:
        handling = {}
    return {**handling, **car.car.metrics.details}


def comparison_table(
    cars: Sequence[CarResults], figures: Sequence[Mapping[str, VehicleMetric]]
) -> HtmlText:
    """Metrics of cars compared, with units and names."""
    rows = []
    for name in dict.fromkeys(n for f in figures for n in f):
        values = [f.get(name) for f in figures]
        figure = next(f for f in values if f is not None)
        pairs = zip(cars, values, strict=True)
        odd = (
            "unusual"
            if any(
                f is not None and is_metric_unusual(f, heavy_vehicle_factor(c.car.data))
                for c, f in pairs
            )
            else ""
        )
        rows.append((figure.label, *value_cells(values), format_metric(figure)[1], odd, name))
    return html_table(
        ("", *report_column_heads(cars), "unit", "", "name"), rows, right=number_columns(1, cars)
    )


def car_label(cars: Sequence[CarResults], car: CarResults) -> list[str]:
    """The label of a car where there are several."""
    return [car.label] if len(cars) > 1 else []


def manoeuvre_link(name: str, title: str = "") -> HtmlText:
    """A link to the section of a manoeuvre, by its title."""
    return HtmlText(f'<a href="#{cell_html(name)}">{cell_html(title or name)}</a>')


def pass_mark(is_passed: bool, failed: str = "failed") -> HtmlText:
    return HtmlText(
        '<span class="passed">passed</span>'
        if is_passed
        else f'<span class="failed">{cell_html(failed)}</span>'
    )


def verdict_mark(verdict: str) -> HtmlText:
    """Verdict of `Result.verdicts`, colored."""
    return pass_mark(verdict == "passed", verdict.lower())
