"""The whole page of a report.

In:  cars and what they did (`CarResults`). Out: the text of an HTML file that needs nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import zip_longest

from bellcrank.analysis.view.document import DocumentSection, html_document
from bellcrank.core.files.figure_files import figure_html
from bellcrank.core.files.html import HtmlText, cell_html, heading, html_table, paragraph
from bellcrank.core.version import __version__
from bellcrank.linkage.measures import (
    Measures,
    constant_measures,
    default_travels,
    main_measures,
    measure_wheel,
)
from bellcrank.vehicles.cars.car import Car
from bellcrank.vehicles.cars.car_picture import car_picture
from bellcrank.vehicles.cars.keys.car_keys import TyreData
from bellcrank.vehicles.cars.suspension_view import suspension_views
from bellcrank.vehicles.manoeuvres.car_comparison import CarResults
from bellcrank.vehicles.manoeuvres.car_report.charts import (
    curve_charts,
    merge_curves,
    merge_labelled_curves,
    note_paragraphs,
    turn_back_messages,
)
from bellcrank.vehicles.manoeuvres.car_report.display import display_factor_and_unit
from bellcrank.vehicles.manoeuvres.car_report.force_elements import element_curves
from bellcrank.vehicles.manoeuvres.car_report.handling_charts import handling_charts
from bellcrank.vehicles.manoeuvres.car_report.key_metrics import Targets, key_metrics_section
from bellcrank.vehicles.manoeuvres.car_report.lane_change_view import (
    footprint_interval,
    lane_change_svg,
)
from bellcrank.vehicles.manoeuvres.car_report.metric_tables import (
    all_car_metrics,
    car_label,
    comparison_table,
    verdict_mark,
)
from bellcrank.vehicles.manoeuvres.car_report.ride_psd import ride_psd
from bellcrank.vehicles.manoeuvres.footprints import vehicle_footprints
from bellcrank.vehicles.manoeuvres.manoeuvre_result import Curve, Manoeuvre, Result
from bellcrank.vehicles.manoeuvres.track import CONES, cone_positions

AXLES = ("front", "rear")


def car_page(
    cars: Sequence[CarResults],
    manoeuvres: Mapping[str, Manoeuvre],
    targets: Targets | None = None,
    author: str | None = None,
    date: datetime | None = None,
) -> str:
    """The whole page."""
    names = list(dict.fromkeys(n for c in cars for n in (*c.results, *c.failures)))
    title = " and ".join(c.label for c in cars) if len(cars) < 3 else f"{len(cars)} cars compared"
    sections = [
        DocumentSection(
            "overview",
            "Key figures",
            [*key_metrics_section(cars, names, manoeuvres, targets or {})],
        ),
        DocumentSection("car", "Car" if len(cars) == 1 else "Cars", [*_car_section(cars)]),
        DocumentSection("kinematics", "Kinematics", [*_kinematics_section(cars)]),
        DocumentSection("handling", "Handling", [*handling_charts(cars)]),
        *(
            DocumentSection(n, manoeuvres[n].title, [*_manoeuvre_section(cars, n, manoeuvres[n])])
            for n in names
        ),
    ]
    return html_document(
        title, provenance(cars, author, date or datetime.now()), [s for s in sections if s.parts]
    )


# ---- cars


def _car_section(cars: Sequence[CarResults]) -> Iterator[str]:
    pictures = "".join(
        figure_html(car_picture(c.car.data, c.car.stand), f"picture of {c.label}") for c in cars
    )
    yield f'<div class="columns">\n{pictures}\n</div>' if len(cars) > 1 else pictures
    yield comparison_table(cars, [all_car_metrics(c) for c in cars])
    odd = [c.car.check() for c in cars]
    for sentence in dict.fromkeys(s for messages in odd for s in messages):
        labels = [c.label for c, messages in zip(cars, odd, strict=True) if sentence in messages]
        yield paragraph(
            f"Note: {sentence}" if len(labels) == len(cars) else f"{', '.join(labels)}: {sentence}"
        )
    yield from _suspension_section(cars)
    yield heading("Springs, stops and dampers")
    front, rear = (merge_labelled_curves(element_curves(cars, axle)) for axle in AXLES)
    yield curve_charts(
        [curve for pair in zip_longest(front, rear) for curve in pair if curve is not None]
    )


def _suspension_section(cars: Sequence[CarResults]) -> Iterator[str]:
    """Suspensions; cars with the same hard points share the drawing of the first."""
    groups: dict[tuple[str, ...], list[CarResults]] = {}
    for c in cars:
        axles = (c.car.data.front, c.car.data.rear)
        groups.setdefault(
            tuple(f"{a.linkage.chain.points} {a.record.at}" for a in axles), []
        ).append(c)
    for group in groups.values():
        fronts, side, words = suspension_views(group[0].car.data, group[0].car.stand)
        labels = "; ".join(c.label for c in group)
        yield heading("Suspension at rest" + (f": {labels}" if len(cars) > 1 else ""))
        pairs = zip(AXLES, fronts, strict=True)
        figures = "\n".join(
            f"<figure><figcaption>{a} axle, seen from the front</figcaption>{x}</figure>"
            for a, x in pairs
        )
        yield f'<div class="columns">\n{figures}\n</div>'
        yield f"<figure><figcaption>left side</figcaption>{side}</figure>"
        yield from note_paragraphs(words)


def _kinematics_section(cars: Sequence[CarResults]) -> Iterator[str]:
    """Measures of both axles over travel, all cars in one picture."""
    yield paragraph(
        "Rigid links; travel 0 is the drawn position. Both wheels of an axle move together."
    )
    for axle in AXLES:
        yield heading(f"{axle.capitalize()} axle")
        measures = []
        for c in cars:
            linkage = c.car.linkage(axle)
            measures.append(measure_wheel(linkage, default_travels(linkage)))
        names = list(dict.fromkeys(n for m in measures for n in main_measures(m)))
        everywhere = [n for n in names if all(n in m.columns for m in measures)]
        level = constant_measures(measures, everywhere)
        pairs = zip(cars, measures, strict=True)
        curves = [
            (c.label, _measure_curve(m, n))
            for c, m in pairs
            for n in names
            if n in m.columns and n not in level
        ]
        yield curve_charts(merge_labelled_curves(curves))
        if level:
            yield paragraph(f"The same at every travel: {'; '.join(level.values())}.")


def _measure_curve(m: Measures, name: str) -> Curve:
    """A measure over the travel, by its title."""
    values, unit = m.displayed(name)
    return Curve("wheel travel, m", f"{m.title(name)}, {unit}", ((name, m["travel"], values),))


# ---- manoeuvres


def _manoeuvre_section(
    cars: Sequence[CarResults], name: str, manoeuvre: Manoeuvre
) -> Iterator[str]:
    driven = [c for c in cars if name in c.results]
    for c in cars:
        if name in c.failures:
            yield HtmlText(
                f'<p class="failed">{cell_html(f"{c.label}: not driven. {c.failures[name]}")}</p>'
            )
    if not driven:
        return
    yield HtmlText(
        f'<p class="note"><code>{cell_html(name)}</code>: {cell_html(manoeuvre.words)}</p>'
    )
    results = [c.results[name] for c in driven]
    for c, r in zip(driven, results, strict=True):
        for verdict, reason in r.verdicts:
            mark = " ".join([verdict_mark(verdict), *map(cell_html, car_label(cars, c))])
            yield HtmlText(f"<p>{mark}: {cell_html(reason)}</p>")
    for c, r in zip(driven, results, strict=True):
        yield from _lane_change_section(cars, c, r)
    yield curve_charts([curve for curve in merge_curves(driven, results) if not _has_cones(curve)])
    if name == "ride":
        pairs = [
            (c.label, curve) for c, r in zip(driven, results, strict=True) for curve in ride_psd(r)
        ]
        yield curve_charts(
            merge_labelled_curves(pairs) if len(driven) > 1 else [curve for _, curve in pairs],
            log=True,
        )
    yield from note_paragraphs([*turn_back_messages(driven, results)])
    yield comparison_table(driven, [r.metrics.details for r in results])
    for note in dict.fromkeys(n for r in results for n in r.notes):
        labels = [c.label for c, r in zip(driven, results, strict=True) if note in r.notes]
        heading_text = "Note" if len(labels) == len(driven) else f"Note of {', '.join(labels)}"
        yield HtmlText(f'<p class="note">{cell_html(heading_text)}: {cell_html(note)}.</p>')
    rows = [
        (
            k,
            _format_setting(results[0].settings[k]),
            display_factor_and_unit("", s.unit)[1] if s.unit else "",
            s.label,
        )
        for k, s in manoeuvre.settings.items()
        if k in results[0].settings
    ]
    listed = html_table(("setting", "value", "unit", ""), rows, right=(1,))
    source = f'<p class="note">{cell_html(manoeuvre.source)}.</p>' if manoeuvre.source else ""
    yield HtmlText(f"<details><summary>Settings</summary>\n{source}{listed}</details>")


def _has_cones(curve: Curve) -> bool:
    return any(name == CONES for name, _, _ in curve.fixed)


def _lane_change_section(
    cars: Sequence[CarResults], car: CarResults, result: Result
) -> Iterator[str]:
    """The vehicle between the cones, from above."""
    cones = next((k.fixed[0] for k in result.more if _has_cones(k)), None)
    if cones is None or not {"x", "y", "yaw", "speed"} <= set(result.run.channels):
        return
    units = vehicle_footprints(car.car.data, car.car.stand, car.label)
    picture = lane_change_svg(result.run, units, cone_positions(cones[1], cones[2]))
    every = f"outlines every {footprint_interval(result.run, units):g} s"
    words = ": ".join(
        [*car_label(cars, car), f"{every}, traces of the corners, and the vehicle in real time"]
    )
    yield f"<figure><figcaption>{cell_html(words)}</figcaption>\n{picture}</figure>"


def _format_setting(value: object) -> object:
    if value is None:
        return "found"
    if isinstance(value, float):
        return f"{value:.6g}"
    return ", ".join(f"{x:g}" for x in value) if isinstance(value, tuple | list) else value


# ---- what a report must say to be filed: date, version, author, files with their hashes, tyres


SHOWN = 16  # digits of a hash


def provenance(cars: Sequence[CarResults], author: str | None, date: datetime) -> HtmlText:
    """Date, version and author, then one row for each car."""
    rows: list[tuple[object, ...]] = [
        ("date", f"{date:%Y-%m-%d %H:%M}"),
        ("Bellcrank", f"version {__version__}"),
    ]
    if author:
        rows.append(("author", author))
    for c in cars:
        front, rear = (
            tyre_name(getattr(c.car.data.sections, axle).tyre) for axle in ("front", "rear")
        )
        tyres = front if front == rear else f"front {front}, rear {rear}"
        rows.append((c.label, f"{car_source(c.car)}; tyres: {tyres}"))
    return html_table(("", ""), rows)


def tyre_name(tyre: TyreData) -> str:
    """The file, size or model of a tyre."""
    label = tyre.file or tyre.size or tyre.model
    return str(label) + (f", {tyre.pressure / 1e5:.3g} bar" if tyre.pressure is not None else "")


def car_source(car: Car) -> str:
    """The file of a car with its hash; of a car that was changed, the hash of its data."""
    if car.source is not None:
        return f"{car.source.name}, SHA-256 {_short_hash(car.source.read_bytes())}"
    return (
        f"data SHA-256 {_short_hash(json.dumps(car.given, sort_keys=True, default=str).encode())}"
    )


def _short_hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:SHOWN]
