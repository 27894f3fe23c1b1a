"""Handling at a glance: understeer curve with the neutral line, load transfer of the axles, g-g
diagram."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from bellcrank.core.files.html import HtmlText, cell_html, heading, paragraph
from bellcrank.simulation.run.result import Run
from bellcrank.vehicles.cars.design.car_data import GRAVITY
from bellcrank.vehicles.manoeuvres.car_comparison import CarResults
from bellcrank.vehicles.manoeuvres.car_report.charts import curve_charts, merge_labelled_curves
from bellcrank.vehicles.manoeuvres.manoeuvre_result import Curve, Line, Result

Array = np.ndarray[Any, Any]
STEADY = ("iso4138", "iso4138-radius", "iso4138-wheel")
DRY = (
    *STEADY,
    "braking",
    "acceleration",
    "iso7975",
    "iso7401-step",
    "iso3888-1",
    "iso3888-2",
)  # of the g-g diagram
NEEDED = ("speed", "yaw_rate", "steering_wheel")
LEAST = 0.2  # m/s2, below which the split of the load transfer says nothing
ACCELERATION = "lateral acceleration, m/s2"


def handling_charts(cars: Sequence[CarResults]) -> Iterator[str]:
    """Drawings from the steady circles and the limits of all manoeuvres on dry, level ground."""
    name = next((n for n in STEADY if any(n in c.results for c in cars)), None)
    if name is not None:
        results = [(c, c.results[name]) for c in cars if name in c.results]
        pairs = [
            (c.label, curve)
            for c, r in results
            for curve in steady_curves(r, c.car.metrics, c.car.data.axle_wheels)
        ]
        curves = merge_labelled_curves(pairs) if len(results) > 1 else [curve for _, curve in pairs]
        if curves:
            yield heading(f"Steady circle ({name}): understeer and load transfer")
            yield curve_charts(curves)
            yield paragraph(
                "The neutral line is the Ackermann angle L/R of the path that the car "
                "takes. Above it the "
                "car understeers, below it oversteers. L is the wheelbase, of vehicles with "
                "more than two "
                "axles the equivalent one."
            )
    diagram = gg_diagram(cars)
    if diagram is not None:
        yield heading("g-g diagram")
        yield curve_charts([diagram], equal=True)
        driven = [n for n in DRY if any(n in c.results for c in cars)]
        subject = "Convex hulls" if len(cars) > 1 else "Accelerations"
        yield HtmlText(
            f'<p class="note">{cell_html(subject)} of {cell_html(", ".join(driven))}, at '
            f"the mass centre of the "
            f"body.</p>"
        )


def steady_curves(
    result: Result, figures: Mapping[str, float], axles: Mapping[str, tuple[str, str]]
) -> list[Curve]:
    """Steer angle with its neutral line, and load transfer of all axles, up to the largest lateral
    acceleration."""
    run = result.run
    if any(n not in run.channels for n in NEEDED):
        return []
    ay = run["speed"] * np.radians(run["yaw_rate"])
    last = int(np.argmax(np.abs(ay))) + 1
    sign = 1.0 if ay[last - 1] >= 0 else -1.0
    ay_rising = sign * ay[:last]
    curvature = np.radians(run["yaw_rate"][:last]) / np.maximum(run["speed"][:last], 0.1)
    base = result.metrics.get("wheelbase_equivalent", figures["wheelbase"])
    neutral = sign * np.degrees(base * curvature)
    steer = sign * run["steering_wheel"][:last] / figures["steering_ratio"]
    curves = [
        Curve(
            ACCELERATION,
            "steer angle of the front wheels, deg",
            (("car", ay_rising, steer),),
            (("neutral, L/R", ay_rising, neutral),),
        )
    ]
    return curves + _load_transfer(run, axles, ay_rising, last, sign)


def _load_transfer(
    run: Run, axles: Mapping[str, tuple[str, str]], ay_rising: Array, last: int, sign: float
) -> list[Curve]:
    """Load that each axle of the car moves from the inner to the outer wheel; the part of the front
    axle in all."""
    if any(f"{wheel}.tyre_load" not in run.channels for pair in axles.values() for wheel in pair):
        return []
    transfers = {}
    for name, pair in axles.items():
        left_load, right_load = (run[f"{wheel}.tyre_load"][:last] for wheel in pair)
        transfers[name] = sign * ((right_load - left_load) - (right_load[0] - left_load[0])) / 2
    total = np.sum(list(transfers.values()), axis=0)
    front_percent = np.where(
        np.abs(ay_rising - ay_rising[0]) > LEAST,
        100 * transfers["front"] / np.where(total == 0, np.nan, total),
        np.nan,
    )
    return [
        *(
            Curve(ACCELERATION, f"lateral load transfer, {name} axle, N", ((name, ay_rising, y),))
            for name, y in transfers.items()
        ),
        Curve(
            ACCELERATION,
            "front fraction of the load transfer, %",
            (("front", ay_rising, front_percent),),
        ),
    ]


def gg_diagram(cars: Sequence[CarResults]) -> Curve | None:
    """Longitudinal over lateral acceleration in g: all manoeuvres of one car, hulls of several."""
    lines: list[Line] = []
    for c in cars:
        points = {n: _gg_points(c.results[n]) for n in DRY if n in c.results}
        points = {n: p for n, p in points.items() if len(p)}
        if len(cars) == 1:
            lines += [(n, p[:, 0], p[:, 1]) for n, p in points.items()]
        elif points:
            hull = _convex_hull(np.concatenate(list(points.values())))
            lines.append((c.label, hull[:, 0], hull[:, 1]))
    angles = np.linspace(0.0, 2 * math.pi, 73)
    circle = ("1 g", np.cos(angles), np.sin(angles))
    return (
        Curve("lateral acceleration, g", "longitudinal acceleration, g", tuple(lines), (circle,))
        if lines
        else None
    )


def _gg_points(result: Result) -> Array:
    """(n, 2), in g; a gap after every run."""
    gap = np.full((1, 2), np.nan)
    points = [
        np.concatenate([np.stack([r["ay"], r["ax"]], 1) / GRAVITY, gap])
        for r in result.runs.values()
        if {"ax", "ay"} <= set(r.channels)
    ]
    return np.concatenate(points) if points else np.empty((0, 2))


def _convex_hull(points: Array) -> Array:
    """The convex hull, closed."""
    points = points[np.isfinite(points).all(1)]
    try:
        corners = ConvexHull(points).vertices
    except (QhullError, ValueError):
        return points
    return points[[*corners, corners[0]]]
