"""Targets of a fit of hard points: what a file or mapping states, and what of it suits a linkage.

In:  `points` with the ranges of their coordinates, `curves` with targets, units as in car files.
Out: `PointCoordinate` and `TargetCurve` of `linkage.hard_point_fitting`, all that is wrong
reported at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, make_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.files.text_files import read_toml
from bellcrank.linkage import Linkage
from bellcrank.linkage.hard_point_fitting import (
    AXES,
    HardPointFit,
    PointCoordinate,
    TargetCurve,
    fit_curves,
)
from bellcrank.linkage.measures import Measures, measure_wheel
from bellcrank.linkage.wheel_motion import MODES
from bellcrank.vehicles.file_keys import UNITS, ProblemList, SectionUnits, file_key, read_key_record

DIMENSIONS = {
    "deg": "A",
    "m": "L",
    "%": "1",
    "1": "1",
    "N/m": "F/L",
}  # of the metrics, by their units
TOLERANCES = {"deg": 0.05, "m": 0.002, "%": 2.0, "1": 0.01, "N/m": 500.0}
SAMPLES = 17


@dataclass(frozen=True)
class PointMoveLimits:
    """How far a hard point may move from its drawn place: lowest and highest, by coordinate."""

    x: tuple[float, ...] | None = file_key("range of x", "L", None, kind="numbers")
    y: tuple[float, ...] | None = file_key("range of y", "L", None, kind="numbers")
    z: tuple[float, ...] | None = file_key("range of z", "L", None, kind="numbers")


@dataclass(frozen=True)
class FitTargets:
    """The whole file."""

    points: Mapping[str, Any] = file_key(
        "hard points that may move, with ranges of x, y, z", kind="sections", record=PointMoveLimits
    )
    curves: Mapping[str, Any] = file_key("target curves, by name", kind="mapping")
    axle: str | None = file_key(
        "axle of a car, 'front' or 'rear'", default=None, kind="text", choices=("front", "rear")
    )
    move_weight: float = file_key(
        "weight of moves: the residual of a move by half its range, where that of a curve "
        "at its tolerance is 1",
        default=0.05,
        sign=0,
    )


@cache
def curve_keys(dimension: str) -> Any:
    """The record of a curve whose metric has a dimension."""
    return make_dataclass(
        "CurveKeys",
        [
            (
                "metric",
                str,
                file_key("metric; default: the name of the section", default=None, kind="text"),
            ),
            (
                "travel",
                Any,
                file_key("wheel travel: lowest and highest", "L", None, kind="numbers"),
            ),
            (
                "rack",
                Any,
                file_key("rack travel: lowest and highest, at travel 0", "L", None, kind="numbers"),
            ),
            ("samples", float, file_key("number of samples", default=float(SAMPLES), sign=1)),
            (
                "mode",
                str,
                file_key(
                    "motion of the other wheel", default="parallel", kind="text", choices=MODES
                ),
            ),
            ("value", Any, file_key("target", dimension, None)),
            ("change", Any, file_key("target of the change from travel 0", dimension, None)),
            (
                "slope",
                Any,
                file_key("target of the derivative by travel or rack", f"{dimension}/L", None),
            ),
            (
                "table",
                Any,
                file_key("travel or rack, and target there", ("L", dimension), None, kind="pairs"),
            ),
            (
                "over",
                str,
                file_key(
                    "input of the table", default="travel", kind="text", choices=("travel", "rack")
                ),
            ),
            ("tolerance", Any, file_key("accepted deviation", dimension, None, sign=1)),
            ("weight", float, file_key("weight of the curve", default=1.0, sign=1)),
        ],
        frozen=True,
    )


@dataclass(frozen=True)
class FitTargetFile:
    """A file of targets, read as far as it can be without a linkage."""

    name: str
    targets: FitTargets
    stated: SectionUnits

    @classmethod
    def read(cls, source: str | Path | Mapping[str, Any]) -> FitTargetFile:
        content = dict(source) if isinstance(source, Mapping) else read_toml(Path(source))
        name = "targets" if isinstance(source, Mapping) else str(source)
        problems = ProblemList()
        section_units = (
            SectionUnits().with_section_units(content.pop(UNITS), "units", problems)
            if UNITS in content
            else SectionUnits()
        )
        targets = read_key_record(FitTargets, content, "", problems, section_units)
        if problems:
            raise ModelError(problems, name)
        return cls(name, targets, section_units)


def fit_hard_points(linkage: Linkage, target_file: FitTargetFile) -> HardPointFit:
    """Moves hard points of a linkage until its curves meet the targets."""
    problems = ProblemList()
    coordinates = _read_coordinates(linkage, target_file.targets, problems)
    metrics = _linkage_metrics(linkage)
    curves = [
        _read_target_curve(str(n), g, metrics, target_file.stated, linkage, problems)
        for n, g in target_file.targets.curves.items()
    ]
    if not target_file.targets.curves:
        problems.append("curves: there is no target; add a section such as [curves.toe].")
    if problems:
        raise ModelError(problems, target_file.name)
    return fit_curves(
        linkage, coordinates, [c for c in curves if c is not None], target_file.targets.move_weight
    )


def _read_coordinates(
    linkage: Linkage, targets: FitTargets, problems: ProblemList
) -> list[PointCoordinate]:
    coordinates, points = [], linkage.chain.points
    for name, ranges in targets.points.items():
        if name not in points:
            problems.append(
                f"points: no hard point of '{linkage.name}' is called "
                f"'{name}'.{did_you_mean(name, points)} There are "
                f"{', '.join(points)}."
            )
            continue
        twin = (
            name.replace("left", "right")
            if linkage.chain.side == "centre" and "left" in name
            else None
        )
        for i, axis in enumerate(AXES):
            span = getattr(ranges, axis)
            if span is None:
                continue
            if len(span) != 2 or not span[0] < span[1] or not span[0] <= 0 <= span[1]:
                problems.append(
                    f"points.{name}.{axis}: give lowest and highest move about 0, such as "
                    f"[-20, 20]."
                )
                continue
            coordinates.append(
                PointCoordinate(name, i, span[0], span[1], twin if twin in points else None)
            )
    if not coordinates and not problems:
        problems.append(
            "points: no coordinate may move; add a section such as [points.tie_base] with z "
            "= [-20, 20]."
        )
    return coordinates


def _linkage_metrics(linkage: Linkage) -> Measures:
    """Metrics of the linkage, for their names and units."""
    return measure_wheel(linkage, 0.0)


def _read_target_curve(
    name: str,
    keys: Any,
    metrics: Measures,
    section_units: SectionUnits,
    linkage: Linkage,
    problems: ProblemList,
) -> TargetCurve | None:
    section = f"curves.{name}"
    metric = keys.get("metric", name) if isinstance(keys, Mapping) else name
    if metric not in metrics.columns:
        suggestion = did_you_mean(str(metric), metrics.columns)
        metric_names = ", ".join(c for c in metrics.columns if metrics.units[c] in DIMENSIONS)
        return problems.add_problem(
            f"{section}: there is no metric '{metric}' of '{metrics.name}'.{suggestion} "
            f"There are {metric_names}."
        )
    unit = metrics.units[metric]
    k = read_key_record(curve_keys(DIMENSIONS[unit]), keys, section, problems, section_units)
    if k is None:
        return None
    spans = [x for x in (k.travel, k.rack, k.table) if x is not None]
    if len(spans) != 1:
        return problems.add_problem(f"{section}: give one of travel, rack and table.")
    input_name = (
        "rack" if k.rack is not None or (k.table is not None and k.over == "rack") else "travel"
    )
    if input_name == "rack" and "rack" not in linkage.inputs:
        return problems.add_problem(f"{section}: '{linkage.name}' has no rack.")
    target_kinds = [k.value is not None or k.table is not None, k.change is not None]
    if (
        sum(target_kinds) > 1
        or (not any(target_kinds) and k.slope is None)
        or (k.table is not None and k.slope is not None)
    ):
        return problems.add_problem(
            f"{section}: give table, or value or change, with or without slope, or slope alone."
        )
    unit_factor = 180.0 / np.pi if unit == "deg" else 1.0
    if k.table is not None:
        grid, target = (np.array(x) for x in zip(*k.table, strict=True))
        target = unit_factor * target
    else:
        span = k.travel if k.rack is None else k.rack
        if len(span) != 2 or not span[0] < span[1] or not 2 <= k.samples <= 1000:
            return problems.add_problem(
                f"{section}: {input_name} must be lowest and highest, samples 2 to 1000."
            )
        grid = np.linspace(span[0], span[1], round(k.samples))
        target = unit_factor * ((k.value or k.change or 0.0) + (k.slope or 0.0) * grid)
    travel, rack = (
        (grid, np.zeros_like(grid)) if input_name == "travel" else (np.zeros_like(grid), grid)
    )
    tolerance = TOLERANCES[unit] if k.tolerance is None else unit_factor * k.tolerance
    return TargetCurve(
        name, metric, travel, rack, target, not target_kinds[0], tolerance, k.weight, k.mode
    )
