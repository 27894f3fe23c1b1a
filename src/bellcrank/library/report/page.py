"""The whole page of a report.

In:  cars and what they did (`Driven`). Out: the text of an HTML file that needs nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import zip_longest

from bellcrank.files.html import Raw, heading, paragraph, shown, table
from bellcrank.files.picture import image
from bellcrank.library.manoeuvres.outlines import outlines_of
from bellcrank.library.manoeuvres.result import Curve, Manoeuvre, Result
from bellcrank.library.manoeuvres.side_by_side import Driven
from bellcrank.library.manoeuvres.track import CONES, cones_of
from bellcrank.library.report.charts import charts, joined, merged, notes, turning_back
from bellcrank.library.report.display import converted
from bellcrank.library.report.elements import element_curves
from bellcrank.library.report.handling import handling
from bellcrank.library.report.key_figures import Targets, key_figures
from bellcrank.library.report.lane_view import between_outlines, lane_picture
from bellcrank.library.report.picture import car_picture
from bellcrank.library.report.psd import ride_psd
from bellcrank.library.report.suspension_view import views
from bellcrank.library.report.tables import car_figures, compared, mark, whose
from bellcrank.library.vehicles.car import Car
from bellcrank.library.vehicles.records import Rubber
from bellcrank.linkage.measures import Measures, drawn_columns, level_measures, measure, usual_travels
from bellcrank.version import __version__
from bellcrank.view.document import Section, document

AXLES = ("front", "rear")


def car_page(
    cars: Sequence[Driven],
    manoeuvres: Mapping[str, Manoeuvre],
    targets: Targets | None = None,
    author: str | None = None,
    date: datetime | None = None,
) -> str:
    """The whole page."""
    names = list(dict.fromkeys(n for c in cars for n in (*c.results, *c.failures)))
    title = " and ".join(c.label for c in cars) if len(cars) < 3 else f"{len(cars)} cars compared"
    sections = [
        Section("overview", "Key figures", [*key_figures(cars, names, manoeuvres, targets or {})]),
        Section("car", "Car" if len(cars) == 1 else "Cars", [*_car(cars)]),
        Section("kinematics", "Kinematics", [*_kinematics(cars)]),
        Section("handling", "Handling", [*handling(cars)]),
        *(Section(n, manoeuvres[n].title, [*_manoeuvre(cars, n, manoeuvres[n])]) for n in names),
    ]
    return document(title, provenance(cars, author, date or datetime.now()), [s for s in sections if s.parts])


# ---- cars


def _car(cars: Sequence[Driven]) -> Iterator[str]:
    pictures = "".join(image(car_picture(c.car.data, c.car.stand), f"picture of {c.label}") for c in cars)
    yield f'<div class="columns">\n{pictures}\n</div>' if len(cars) > 1 else pictures
    yield compared(cars, [car_figures(c) for c in cars])
    odd = [c.car.check() for c in cars]
    for sentence in dict.fromkeys(s for messages in odd for s in messages):
        labels = [c.label for c, messages in zip(cars, odd, strict=True) if sentence in messages]
        yield paragraph(f"Note: {sentence}" if len(labels) == len(cars) else f"{', '.join(labels)}: {sentence}")
    yield from _views(cars)
    yield heading("Springs, stops and dampers")
    front, rear = (joined(element_curves(cars, axle)) for axle in AXLES)
    yield charts([curve for pair in zip_longest(front, rear) for curve in pair if curve is not None])


def _views(cars: Sequence[Driven]) -> Iterator[str]:
    """Suspensions; cars with the same hard points share the drawing of the first."""
    groups: dict[tuple[str, ...], list[Driven]] = {}
    for c in cars:
        axles = (c.car.data.front, c.car.data.rear)
        groups.setdefault(tuple(f"{a.linkage.chain.points} {a.record.at}" for a in axles), []).append(c)
    for group in groups.values():
        fronts, side, words = views(group[0].car.data, group[0].car.stand)
        labels = "; ".join(c.label for c in group)
        yield heading("Suspension at rest" + (f": {labels}" if len(cars) > 1 else ""))
        pairs = zip(AXLES, fronts, strict=True)
        figures = "\n".join(
            f"<figure><figcaption>{a} axle, seen from the front</figcaption>{x}</figure>" for a, x in pairs
        )
        yield f'<div class="columns">\n{figures}\n</div>'
        yield f"<figure><figcaption>left side</figcaption>{side}</figure>"
        yield from notes(words)


def _kinematics(cars: Sequence[Driven]) -> Iterator[str]:
    """Measures of both axles over travel, all cars in one picture."""
    yield paragraph("Rigid links; travel 0 is the drawn position. Both wheels of an axle move together.")
    for axle in AXLES:
        yield heading(f"{axle.capitalize()} axle")
        measures = []
        for c in cars:
            linkage = c.car.linkage(axle)
            measures.append(measure(linkage, usual_travels(linkage)))
        names = list(dict.fromkeys(n for m in measures for n in drawn_columns(m)))
        everywhere = [n for n in names if all(n in m.columns for m in measures)]
        level = level_measures(measures, everywhere)
        pairs = zip(cars, measures, strict=True)
        curves = [(c.label, _measured(m, n)) for c, m in pairs for n in names if n in m.columns and n not in level]
        yield charts(joined(curves))
        if level:
            yield paragraph(f"The same at every travel: {'; '.join(level.values())}.")


def _measured(m: Measures, name: str) -> Curve:
    """A measure over the travel, by its title."""
    values, unit = m.displayed(name)
    return Curve("wheel travel, m", f"{m.title(name)}, {unit}", ((name, m["travel"], values),))


# ---- manoeuvres


def _manoeuvre(cars: Sequence[Driven], name: str, manoeuvre: Manoeuvre) -> Iterator[str]:
    driven = [c for c in cars if name in c.results]
    for c in cars:
        if name in c.failures:
            yield Raw(f'<p class="failed">{shown(f"{c.label}: not driven. {c.failures[name]}")}</p>')
    if not driven:
        return
    yield Raw(f'<p class="note"><code>{shown(name)}</code>: {shown(manoeuvre.words)}</p>')
    results = [c.results[name] for c in driven]
    for c, r in zip(driven, results, strict=True):
        for x in r.criteria:
            yield Raw(f"<p>{' '.join([mark(x.passed), *map(shown, whose(cars, c))])}: {shown(x.words)}</p>")
    for c, r in zip(driven, results, strict=True):
        yield from _lanes(cars, c, r)
    yield charts([curve for curve in merged(driven, results) if not _from_above(curve)])
    if name == "ride":
        pairs = [(c.label, curve) for c, r in zip(driven, results, strict=True) for curve in ride_psd(r)]
        yield charts(joined(pairs) if len(driven) > 1 else [curve for _, curve in pairs], log=True)
    yield from notes([*turning_back(driven, results)])
    yield compared(driven, [r.metrics.details for r in results])
    for note in dict.fromkeys(n for r in results for n in r.notes):
        labels = [c.label for c, r in zip(driven, results, strict=True) if note in r.notes]
        heading_text = "Note" if len(labels) == len(driven) else f"Note of {', '.join(labels)}"
        yield Raw(f'<p class="note">{shown(heading_text)}: {shown(note)}.</p>')
    rows = [
        (k, _setting(results[0].settings[k]), converted("", s.unit)[1] if s.unit else "", s.label)
        for k, s in manoeuvre.settings.items()
        if k in results[0].settings
    ]
    listed = table(("setting", "value", "unit", ""), rows, right=(1,))
    source = f'<p class="note">{shown(manoeuvre.source)}.</p>' if manoeuvre.source else ""
    yield Raw(f"<details><summary>Settings</summary>\n{source}{listed}</details>")


def _from_above(curve: Curve) -> bool:
    return any(name == CONES for name, _, _ in curve.fixed)


def _lanes(cars: Sequence[Driven], car: Driven, result: Result) -> Iterator[str]:
    """The vehicle between the cones, from above."""
    cones = next((k.fixed[0] for k in result.more if _from_above(k)), None)
    if cones is None or not {"x", "y", "yaw", "speed"} <= set(result.run.channels):
        return
    units = outlines_of(car.car.data, car.car.stand, car.label)
    picture = lane_picture(result.run, units, cones_of(cones[1], cones[2]))
    every = f"outlines every {between_outlines(result.run, units):g} s"
    words = ": ".join([*whose(cars, car), f"{every}, traces of the corners, and the vehicle in real time"])
    yield f"<figure><figcaption>{shown(words)}</figcaption>\n{picture}</figure>"


def _setting(value: object) -> object:
    if value is None:
        return "found"
    if isinstance(value, float):
        return f"{value:.6g}"
    return ", ".join(f"{x:g}" for x in value) if isinstance(value, tuple | list) else value


# ---- what a report must say to be filed: date, version, author, files with their hashes, tyres


SHOWN = 16  # digits of a hash


def provenance(cars: Sequence[Driven], author: str | None, date: datetime) -> Raw:
    """Date, version and author, then one row for each car."""
    rows: list[tuple[object, ...]] = [("date", f"{date:%Y-%m-%d %H:%M}"), ("Bellcrank", f"version {__version__}")]
    if author:
        rows.append(("author", author))
    for c in cars:
        front, rear = (tyre_name(getattr(c.car.data.sections, axle).tyre) for axle in ("front", "rear"))
        tyres = front if front == rear else f"front {front}, rear {rear}"
        rows.append((c.label, f"{source(c.car)}; tyres: {tyres}"))
    return table(("", ""), rows)


def tyre_name(tyre: Rubber) -> str:
    """The file, size or model of a tyre."""
    label = tyre.file or tyre.size or tyre.model
    return str(label) + (f", {tyre.pressure / 1e5:.3g} bar" if tyre.pressure is not None else "")


def source(car: Car) -> str:
    """The file of a car with its hash; of a car that was changed, the hash of its data."""
    if car.source is not None:
        return f"{car.source.name}, SHA-256 {_short(car.source.read_bytes())}"
    return f"data SHA-256 {_short(json.dumps(car.given, sort_keys=True, default=str).encode())}"


def _short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:SHOWN]
