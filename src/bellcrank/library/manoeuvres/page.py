"""The report of cars: one page with figures, pictures, kinematics and every manoeuvre, cars side by side.

In:  cars and what they did (`Driven`). Out: the text of an HTML file that needs nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from bellcrank.files.html import Raw, paragraph, shown, table
from bellcrank.library.manoeuvres.result import Curve, Manoeuvre, Result
from bellcrank.library.manoeuvres.side_by_side import Driven
from bellcrank.library.vehicles.figures import Figure
from bellcrank.linkage.measures import drawn_columns, measure
from bellcrank.linkage.table import default_range
from bellcrank.view.chart import NARROW, curves
from bellcrank.view.document import Section, document

POINTS = 500  # of a line
TRAVEL, TRAVELS = 0.1, 33  # m up and down, as far as the suspension goes, and places of the sweep
ODD = Raw("unusual")


def car_page(cars: Sequence[Driven], known: Mapping[str, Manoeuvre], pictures: Sequence[Raw]) -> str:
    """The whole page; `pictures` are those of the cars."""
    names = list(dict.fromkeys(n for c in cars for n in (*c.results, *c.failures)))
    title = " and ".join(c.label for c in cars) if len(cars) < 3 else f"{len(cars)} cars side by side"
    sections = [
        Section("overview", "Overview", [*_overview(cars, names, known)]),
        Section("car", "Car" if len(cars) == 1 else "Cars", [*_pictures(cars, pictures), *_figures(cars)]),
        Section("kinematics", "Kinematics", [*_kinematics(cars)]),
        *(Section(n, f"{n}: {known[n].words}", [*_manoeuvre(cars, n, known[n])]) for n in names),
    ]
    return document(title, _summary(cars), sections)


def _summary(cars: Sequence[Driven]) -> str:
    lines = []
    for c in cars:
        f = c.car.figures
        lines.append(paragraph(
            f"{c.label}: {f['mass']:.4g} kg, {100 * f['front_share']:.3g} % of it in front, wheelbase "
            f"{f['wheelbase']:.4g} m, mass centre {f['cg_height']:.3g} m above the ground."
        ))  # fmt: skip
    return "\n".join(lines)


# ---- values of several cars


def _value(found: Figure | None, first: Figure | None) -> object:
    """A number, and beside another car by how much it differs."""
    if found is None:
        return ""
    if not math.isfinite(found.value):
        return "none"
    told = f"{found.value:.5g}"
    if first is found:
        return told
    change = 100 * (found.value / first.value - 1) if first is not None and first.value else math.nan
    by = f"{change:+.1f} %" if 0.05 <= abs(change) < 1000 else ""
    return Raw(f'{told} <span class="note change">{by}</span>')  # as wide without, so that numbers stand in line


def _compared(cars: Sequence[Driven], figures: Sequence[Mapping[str, Figure]]) -> Raw:
    """Figures of cars side by side."""
    names = list(dict.fromkeys(n for f in figures for n in f))
    rows = []
    for name in names:
        own = next(f[name] for f in figures if name in f)
        first = figures[0].get(name)
        odd = ODD if any(name in f and f[name].odd for f in figures) else ""
        rows.append((own.label, *(_value(f.get(name), first) for f in figures), own.unit, odd, name))
    head = ("", *(_heads(cars)), "unit", "", "name")
    return table(head, rows, right=range(1, len(cars) + 1))


def _heads(cars: Sequence[Driven]) -> list[str]:
    return ["value"] if len(cars) == 1 else [c.label for c in cars]


# ---- sections


def _overview(cars: Sequence[Driven], names: Sequence[str], known: Mapping[str, Manoeuvre]) -> Iterator[str]:
    rows: list[Sequence[object]] = []
    for name in names:
        results = [c.results.get(name) for c in cars]
        named: object = _link(name)
        for key in known[name].first:
            found = [r.metrics.details.get(key) if r is not None else None for r in results]
            own = next((f for f in found if f is not None), None)
            if own is not None:
                rows.append((named, own.label, *(_value(f, found[0]) for f in found), own.unit))
                named = ""  # said once
    if rows:
        yield table(("manoeuvre", "", *_heads(cars), "unit"), rows, right=range(2, 2 + len(cars)))
    rows = []
    for c in cars:
        for name in names:
            result = c.results.get(name)
            if result is not None:
                rows += [(_link(name), *_who(cars, c), _mark(x.passed), x.words) for x in result.criteria]
            if name in c.failures:
                rows.append((_link(name), *_who(cars, c), _mark(False, "not driven"), c.failures[name]))
    if rows:
        yield "<h3>Criteria</h3>"
        yield table(("manoeuvre", *(["car"] if len(cars) > 1 else []), "", ""), rows)


def _who(cars: Sequence[Driven], car: Driven) -> list[str]:
    return [car.label] if len(cars) > 1 else []


def _link(name: str) -> Raw:
    return Raw(f'<a href="#{shown(name)}">{shown(name)}</a>')


def _mark(passed: bool, failed: str = "failed") -> Raw:
    return Raw('<span class="passed">passed</span>' if passed else f'<span class="failed">{failed}</span>')


def _pictures(cars: Sequence[Driven], pictures: Sequence[Raw]) -> Iterator[str]:
    yield '<div class="beside">'
    for c, picture in zip(cars, pictures, strict=True):
        yield f"<figure>{picture}<figcaption>{shown(c.label)}</figcaption></figure>"
    yield "</div>"


def _figures(cars: Sequence[Driven]) -> Iterator[str]:
    yield _compared(cars, [c.car.figures.details for c in cars])
    odd = [c.car.check() for c in cars]
    for sentence in dict.fromkeys(s for found in odd for s in found):
        whose = [c.label for c, found in zip(cars, odd, strict=True) if sentence in found]
        yield paragraph(f"Unusual: {sentence}" if len(whose) == len(cars) else f"{', '.join(whose)}: {sentence}")


def _kinematics(cars: Sequence[Driven]) -> Iterator[str]:
    """Measures of both axles over travel, all cars in one picture."""
    yield paragraph("Rigid links, as drawn at travel 0; both wheels of an axle move together.")
    for axle in ("front", "rear"):
        yield f"<h3>{axle.capitalize()} axle</h3>"
        found = []
        for c in cars:
            linkage = c.car.linkage(axle)
            low, high = default_range(linkage)
            found.append(measure(linkage, np.linspace(max(low, -TRAVEL), min(high, TRAVEL), TRAVELS)))
        names = list(dict.fromkeys(n for m in found for n in drawn_columns(m)))
        drawn = []
        for name in names:
            own = next(m for m in found if name in m.columns)
            factor, unit = {"m": (1000.0, "mm"), "1": (1.0, "-")}.get(own.units[name], (1.0, own.units[name]))
            lines = tuple(
                (c.label, 1000 * m["travel"], factor * np.broadcast_to(m[name], m["travel"].shape))
                for c, m in zip(cars, found, strict=True)
                if name in m.columns
            )
            drawn.append(Curve("wheel travel, mm", f"{own.labels[name]}, {unit}", lines))
        yield _charts(drawn)


def _manoeuvre(cars: Sequence[Driven], name: str, manoeuvre: Manoeuvre) -> Iterator[str]:
    there = [c for c in cars if name in c.results]
    for c in cars:
        if name in c.failures:
            yield Raw(f'<p class="failed">{shown(f"{c.label}: not driven. {c.failures[name]}")}</p>')
    if not there:
        return
    results = [c.results[name] for c in there]
    for c, r in zip(there, results, strict=True):
        for x in r.criteria:
            yield Raw(f"<p>{' '.join([_mark(x.passed), *map(shown, _who(cars, c))])}: {shown(x.words)}</p>")
    yield _charts(_merged(there, results))
    yield _compared(there, [r.metrics.details for r in results])
    for note in dict.fromkeys(n for r in results for n in r.notes):
        said = [c.label for c, r in zip(there, results, strict=True) if note in r.notes]
        whose = "Note" if len(said) == len(there) else f"Note of {', '.join(said)}"
        yield Raw(f'<p class="note">{shown(whose)}: {shown(note)}.</p>')
    rows = [(k, _setting(results[0].settings[k]), s.unit, s.label) for k, s in manoeuvre.settings.items()]
    listed = table(("setting", "value", "unit", ""), rows, right=(1,))
    source = f'<p class="note">{shown(manoeuvre.source)}.</p>' if manoeuvre.source else ""
    yield Raw(f"<details><summary>Settings</summary>\n{source}{listed}</details>")


def _setting(value: object) -> object:
    if value is None:
        return "found"
    return ", ".join(f"{x:g}" for x in value) if isinstance(value, tuple | list) else value


# ---- charts


def _merged(cars: Sequence[Driven], results: Sequence[Result]) -> list[Curve]:
    """Curves of all cars, those with the same axes in one; of several cars, lines are named after these."""
    if len(cars) == 1:
        return results[0].curves()
    found: dict[tuple[str, str], Curve] = {}
    for c, r in zip(cars, results, strict=True):
        for curve in r.curves():
            old = found.get((curve.x, curve.y))
            own = tuple((c.label, x, y) for _, x, y in curve.lines)
            lines = own if old is None else (*old.lines, *own)
            found[curve.x, curve.y] = Curve(curve.x, curve.y, lines, curve.fixed)
    return list(found.values())


def _charts(drawn: Sequence[Curve]) -> Raw:
    parts = []
    for curve in drawn:
        names = list(dict.fromkeys(name for name, _, _ in curve.lines))
        lines = [*curve.fixed, *curve.lines]
        colours = [-1] * len(curve.fixed) + [names.index(name) for name, _, _ in curve.lines]
        y, _, unit = curve.y.rpartition(", ")
        picture = curves(lines, curve.x, unit or y, width=NARROW, colours=colours, most=POINTS)
        parts.append(f"<figure><figcaption>{shown(curve.y)}</figcaption>\n{picture}</figure>")
    return Raw('<div class="beside">\n' + "\n".join(parts) + "\n</div>")
