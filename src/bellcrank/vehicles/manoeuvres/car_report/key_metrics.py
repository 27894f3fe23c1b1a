"""The first table of a report: key figures with targets of the user and limits of laws and
standards."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.files.html import HtmlText, cell_html, html_table
from bellcrank.core.files.html import details as folded
from bellcrank.core.files.text_files import read_toml
from bellcrank.vehicles.cars.metrics.handling_metrics import VehicleMetric
from bellcrank.vehicles.manoeuvres.car_comparison import CarResults
from bellcrank.vehicles.manoeuvres.car_report.display import (
    display_factor_and_unit,
    format_report_number,
)
from bellcrank.vehicles.manoeuvres.car_report.metric_tables import (
    all_car_metrics,
    car_label,
    manoeuvre_link,
    number_columns,
    pass_mark,
    report_column_heads,
    value_cells,
    verdict_mark,
)
from bellcrank.vehicles.manoeuvres.manoeuvre_result import Manoeuvre
from bellcrank.vehicles.manoeuvres.sine_with_dwell import HEAVIEST, min_lateral_displacement

CAR = "car"  # the section of figures that need no run
FIRST = (
    "mass",
    "mass_total",
    "front_share",
    "understeer",
    "characteristic_speed",
    "critical_speed",
    "roll_gradient",
    "static_stability",
)
TOP = (
    CAR,
    "braking",
    "acceleration",
    "iso4138",
    "iso4138-radius",
    "iso7401-step",
    "iso7401-frequency",
    "iso3888-1",
    "iso3888-2",
    "sine-with-dwell",
    "ride",
)
TARGET = "target"  # whose limit it is, if not that of a standard
KEYS = ("min", "max", "target")


@dataclass(frozen=True)
class MetricLimit:
    """What a figure must keep, in its own unit; `source`: who reports it."""

    low: float = -math.inf
    high: float = math.inf
    target: float | None = None
    source: str = ""

    def is_met(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def bounds(self) -> bool:
        return math.isfinite(self.low) or math.isfinite(self.high)


Targets = Mapping[str, Mapping[str, MetricLimit]]


def read_targets(source: str | Path | Mapping[str, Any]) -> Targets:
    """Targets of a .toml file or of a mapping like it: sections are manoeuvres or `car`, keys are
    metrics, and values are [min, max] or a table with min, max and target, in the unit of the
    metric."""
    sections = source if isinstance(source, Mapping) else read_toml(Path(source))
    for name, section in sections.items():
        if not isinstance(section, Mapping):
            raise ModelError(
                f"targets: {name} = {section!r:.40} must be a section of metrics, such as [iso4138]"
            )
    return {
        name: {key: _parse_limit(f"{name}.{key}", x) for key, x in section.items()}
        for name, section in sections.items()
    }


def _parse_limit(key_path: str, value: Any) -> MetricLimit:
    if isinstance(value, list | tuple) and len(value) == 2:
        value = {"min": value[0], "max": value[1]}
    if not isinstance(value, Mapping) or not value:
        raise ModelError(
            f"targets: {key_path} = {value!r:.40} must be [min, max] or a table of "
            f"{', '.join(KEYS)}"
        )
    for key, x in value.items():
        if key not in KEYS:
            raise ModelError(
                f"targets: {key_path} has no '{key}'.{did_you_mean(key, KEYS)} It has "
                f"{', '.join(KEYS)}."
            )
        if isinstance(x, bool) or not isinstance(x, int | float) or math.isnan(x):
            raise ModelError(f"targets: {key_path}.{key} = {x!r:.40} must be a number")
    limit = MetricLimit(
        value.get("min", -math.inf), value.get("max", math.inf), value.get("target"), TARGET
    )
    if limit.low > limit.high:
        raise ModelError(
            f"targets: {key_path}: min = {limit.low:g} must not be above max = {limit.high:g}"
        )
    return limit


def check_targets(targets: Targets, manoeuvres: Mapping[str, Manoeuvre]) -> None:
    """Raises an error about sections that are no manoeuvres."""
    for name in targets:
        if name != CAR and name not in manoeuvres:
            raise ModelError(
                f"targets: no manoeuvre is called '{name}'.{did_you_mean(name, [*manoeuvres, CAR])}"
            )


def standard_limits(
    name: str, settings: Mapping[str, Any], mass: float, kind: str = "car"
) -> dict[str, MetricLimit]:
    """Limits that laws and standards set for the metrics of a manoeuvre."""
    if name == "braking":
        v = float(settings.get("speed", 100.0))
        if kind == "truck":
            return {
                "distance": MetricLimit(high=0.15 * v + v**2 / 130, source="UN R13, type 0"),
                "mfdd": MetricLimit(low=5.0, source="UN R13, type 0"),
            }
        return {
            "distance": MetricLimit(high=0.1 * v + 0.006 * v**2, source="UN R13-H, type 0"),
            "mfdd": MetricLimit(low=6.43, source="UN R13-H, type 0"),
        }
    if name == "sine-with-dwell" and mass <= HEAVIEST:
        return {
            "yaw_early": MetricLimit(high=35.0, source="FMVSS 126"),
            "yaw_late": MetricLimit(high=20.0, source="FMVSS 126"),
            "lateral_displacement": MetricLimit(
                low=min_lateral_displacement(mass), source="FMVSS 126"
            ),
        }
    if name in ("iso3888-1", "iso3888-2"):
        return {"clearance": MetricLimit(low=0.0, source="no cone touched")}
    return {}


def key_metrics_section(
    cars: Sequence[CarResults],
    names: Sequence[str],
    manoeuvres: Mapping[str, Manoeuvre],
    targets: Targets,
) -> Iterator[str]:
    """Key figures of the cars and of every manoeuvre, then criteria."""
    details = {CAR: [all_car_metrics(c) for c in cars]}
    limits: dict[str, dict[str, MetricLimit]] = {}
    keys_by_name: dict[str, tuple[str, ...]] = {CAR: FIRST}
    for name in names:
        results = [c.results.get(name) for c in cars]
        details[name] = [{} if r is None else r.metrics.details for r in results]
        settings = next((r.settings for r in results if r is not None), {})
        kind = "truck" if any(c.car.data.sections.kind == "truck" for c in cars) else "car"
        limits[name] = standard_limits(
            name, settings, max(c.car.metrics["mass"] for c in cars), kind
        )
        keys_by_name[name] = (*manoeuvres[name].first, *limits[name])
    rows: dict[bool, list[tuple[object, ...]]] = {True: [], False: []}
    for name, keys in keys_by_name.items():
        linked: object = manoeuvre_link(
            name, manoeuvres[name].title if name in manoeuvres else "Car"
        )
        for key in dict.fromkeys((*keys, *targets.get(name, {}))):
            limit = targets.get(name, {}).get(key) or limits.get(name, {}).get(key) or MetricLimit()
            row = _metric_row(key, [d.get(key) for d in details[name]], limit)
            if row is not None:
                rows[name in TOP or name in targets].append((linked, *row))
                linked = ""  # named once
    head = ("", "key figure", *report_column_heads(cars), "unit", "limit")
    right_columns = number_columns(2, cars)
    yield html_table(head, rows[True], right=right_columns)
    if rows[False]:
        yield folded("Further results", html_table(head, rows[False], right=right_columns), False)
    yield from _criteria_table(cars, names, manoeuvres)


def _metric_row(
    key: str, figures: Sequence[VehicleMetric | None], limit: MetricLimit
) -> tuple[object, ...] | None:
    """A line of the table; None for a metric that no car has, unless a target asks for it."""
    figure = next((f for f in figures if f is not None), None)
    if figure is None:
        empty = value_cells(figures)
        return (
            (key, *empty, "", pass_mark(False, "target, but not measured"))
            if limit.source == TARGET
            else None
        )
    factor, unit = display_factor_and_unit(figure.label, figure.unit)
    met = [None if f is None or not limit.bounds else limit.is_met(f.value) for f in figures]
    return figure.label, *value_cells(figures, met), unit, _format_limit(limit, factor, unit)


def _format_limit(limit: MetricLimit, factor: float, unit: str) -> HtmlText:
    """Limits, target and who reports it."""
    low, high = (
        format_report_number(factor * x, unit) if math.isfinite(x) else ""
        for x in (limit.low, limit.high)
    )
    range_text = (
        f"{low} to {high}" if low and high else f"≥ {low}" if low else f"≤ {high}" if high else ""
    )
    aim = (
        ""
        if limit.target is None
        else f"target {format_report_number(factor * limit.target, unit)}"
    )
    source = "" if limit.source == TARGET and aim else cell_html(limit.source)
    return HtmlText(
        f'<span class="narrow">{range_text}</span> <span '
        f'class="note">{" ".join(filter(None, (aim, source)))}</span>'
    )


def _criteria_table(
    cars: Sequence[CarResults], names: Sequence[str], manoeuvres: Mapping[str, Manoeuvre]
) -> Iterator[str]:
    rows: list[Sequence[object]] = []
    for name in names:
        for c in cars:
            result = c.results.get(name)
            if result is not None:
                rows += [
                    (
                        manoeuvre_link(name, manoeuvres[name].title),
                        *car_label(cars, c),
                        verdict_mark(verdict),
                        reason,
                    )
                    for verdict, reason in result.verdicts
                ]
            if name in c.failures:
                rows.append(
                    (
                        manoeuvre_link(name, manoeuvres[name].title),
                        *car_label(cars, c),
                        pass_mark(False, "not driven"),
                        c.failures[name],
                    )
                )
    if rows:
        yield "<h3>Criteria</h3>"
        yield html_table(("manoeuvre", *(["car"] if len(cars) > 1 else []), "", "criterion"), rows)
