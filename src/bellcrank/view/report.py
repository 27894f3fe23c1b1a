"""The report of a model: one page with everything in it, to be read without a network.

In:  what was analysed and derived, a check and a run if there are any. Out: the text of an HTML file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from bellcrank.derive.derived import Derived
from bellcrank.errors import counted
from bellcrank.expr.mathml import equation, math_element, math_name, mathml
from bellcrank.files.html import Raw, paragraph, table
from bellcrank.model.mechanism import Body
from bellcrank.run.result import Run
from bellcrank.vector.basis import Vec3
from bellcrank.view.chart import chart
from bellcrank.view.document import Section, document
from bellcrank.view.equations import program_equations
from bellcrank.view.image import model_image
from bellcrank.view.sketch import Link, sketch

LONG = 4000  # characters of a formula past which a table only says that it is long


@dataclass(frozen=True)
class Checked:
    """What a check found: passed or not, and its lines (mark, property, value, limit, note)."""

    passed: bool
    head: str
    lines: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Subject:
    """What a report is about."""

    derived: Derived
    counts: Mapping[str, Any]  # of operations
    parameters: Mapping[str, float | None]  # values in user units, by key
    run: Run | None = None
    checked: Checked | None = None


def report_page(subject: Subject) -> str:
    """The whole page."""
    return document(subject.derived.name, _summary(subject), list(_sections(subject)))


def _summary(s: Subject) -> str:
    m = s.derived.analysis.mechanism
    freedoms = len(s.derived.analysis.independent_speeds)
    text = (
        f"{counted(len(m.bodies), 'body', 'bodies')}, {counted(len(m.coordinates), 'coordinate')}, "
        f"{counted(freedoms, 'degree of freedom', 'degrees of freedom')}. Units: {s.derived.interface.units}. "
        f"Derived by {s.derived.how} in {sum(s.derived.seconds.values()):.3g} s."
    )
    return paragraph(text) + "".join(paragraph(f"Note: {n}") for n in s.derived.analysis.notes)


def _sections(s: Subject) -> Iterator[Section]:
    yield Section("picture", "Picture", [model_image(s.derived, _given(s), s.run)])
    yield Section("tree", "Body tree", [sketch(s.derived.analysis.mechanism.bodies, _links(s))])
    yield Section("bodies", "Bodies", [_bodies(s)])
    yield Section("points", "Points", [_points(s)])
    yield Section("forces", "Forces and moments", [_forces(s)])
    yield Section("constraints", "Constraints", [*_constraints(s)])
    yield Section("states", "States", [_states(s)])
    yield Section("parameters", "Parameters", [_parameters(s), *_inputs(s)])
    yield Section("equations", "Equations", [*program_equations(s.derived.program)])
    yield Section("operations", "Operations", [*_operations(s)])
    yield Section("check", "Check", [*_check(s)])
    yield Section("run", "Run", [*_run(s)])


def _given(s: Subject) -> dict[str, float]:
    return {key: value for key, value in s.parameters.items() if value is not None}


# ---- tables


def _name(bodies: Sequence[Body], index: int) -> str:
    return "N" if index < 0 else bodies[index].name


def _formula(expression: Any) -> Raw:
    markup = mathml(expression)
    return Raw("long" if len(markup) > LONG else math_element(markup))


def _vector(v: Vec3) -> Raw:
    components = [mathml(x) for x in v]
    markup = math_element("<mo>(</mo>", "<mo>,</mo>".join(components), "<mo>)</mo>")
    return Raw("long" if sum(map(len, components)) > LONG else markup)


def _bodies(s: Subject) -> Raw:
    bodies = s.derived.analysis.mechanism.bodies
    rows = []
    for b in bodies:
        moments = (b.inertia[0][0], b.inertia[1][1], b.inertia[2][2])
        products = [b.inertia[i][j] for i, j in ((0, 1), (0, 2), (1, 2))]
        extra = _vector((products[0], products[1], products[2])) if any(str(x) != "0" for x in products) else ""
        placement = _vector(b.joint.at), _formula(b.mass), _vector(b.cm)
        rows.append((b.name, b.label, _name(bodies, b.parent), b.joint.text, *placement, _vector(moments), extra))
    head = ("name", "label", "parent", "joint", "joint at (in parent)", "mass", "mass centre")
    return table((*head, "I11, I22, I33", "I12, I13, I23"), rows)


def _points(s: Subject) -> Raw:
    bodies = s.derived.analysis.mechanism.bodies
    rows = [(p.name, p.label or "", _name(bodies, p.body), _vector(p.at)) for p in s.derived.analysis.points.values()]
    return table(("name", "label", "fixed in", "coordinates"), rows)


def _forces(s: Subject) -> Raw:
    bodies = s.derived.analysis.mechanism.bodies
    a = s.derived.analysis
    magnitudes = {f.name: f.magnitude for f in a.mechanism.description.forces}
    rows = []
    for x in (*a.loads, *a.body_forces):
        acting_on = "all" if x in a.body_forces else _name(bodies, x.body)
        magnitude = str(magnitudes.get(x.name, x.magnitude))
        rows.append((x.name, x.label, x.kind, acting_on, _name(bodies, x.against), magnitude, x.line()))
    return table(("name", "label", "kind", "on", "against", "magnitude", "direction"), rows)


def _constraints(s: Subject) -> list[str]:
    blocks: list[str] = []
    removed, loops = s.derived.analysis.removed, s.derived.analysis.loops
    if removed:
        rows = [(r.name, r.speed.name, equation(math_name(r.speed.name), r.relation)) for r in removed]
        blocks.append(table(("constraint", "dependent speed", "replaced by"), map(_short, rows)))
    if loops is not None:
        pivots = {r.name: u.name for r, u in zip(loops.used, loops.pivots, strict=True)}
        rows = []
        for line in loops.rows:
            markup = "" if line.g is None else math_element(mathml(line.g), "<mo>=</mo>", "<mn>0</mn>")
            rows.append((line.name, pivots.get(line.name, "follows from the others"), markup))
        blocks.append(table(("closed loop", "dependent speed", "position constraint"), map(_short, rows)))
    return blocks or [paragraph("none")]


def _short(row: tuple[str, str, str]) -> tuple[str, str, Raw]:
    text, dependent, formula = row
    return text, dependent, Raw(formula if len(formula) < LONG else "long")


def _links(s: Subject) -> list[Link]:
    """Loops between bodies, as far as they are reported by points."""
    links = []
    for record in s.derived.analysis.mechanism.description.loops:
        end_bodies = []
        for p in (record.first, record.second):
            point = s.derived.analysis.points.get(str(getattr(p, "name", p)))
            end_bodies.append(point.body if point is not None else None)
        if None not in end_bodies and end_bodies[0] != end_bodies[1]:
            links.append(Link(end_bodies[0], end_bodies[1], record.label or "closed loop"))  # type: ignore[arg-type]
    return links


def _states(s: Subject) -> Raw:
    rows = []
    for x in s.derived.interface.states:
        start = "" if s.run is None or not len(s.run) else float(s.run[x.name][0])
        rows.append((Raw(math_element(math_name(x.name))), x.name, x.kind, x.own_label, x.unit.text, start))
    return table(("", "name", "kind", "label", "unit", "initial value"), rows, right=(5,))


def _parameters(s: Subject) -> Raw:
    rows = []
    for x in s.derived.interface.parameters:
        value = s.parameters.get(x.key, x.default)
        value_shown = "no value" if value is None else float(value)
        rows.append((Raw(math_element(math_name(x.name))), x.name, x.own_label, value_shown, x.unit.text))
    return table(("", "name", "label", "value", "unit"), rows, right=(3,))


def _inputs(s: Subject) -> list[str]:
    inputs = (x for x in s.derived.interface.inputs if not x.rate)
    rows = [(x.name, x.own_label, x.unit.text) for x in (*inputs, *s.derived.interface.kept)]
    return ["<h3>Inputs</h3>", table(("name", "label", "unit"), rows)] if rows else []


def _operations(s: Subject) -> list[str]:
    kinds = ("add", "multiply", "divide", "function", "total")
    rows: list[Sequence[object]] = [("one evaluation of all rates", *(s.counts[k] for k in kinds))]
    if s.counts.get("per_step", {}).get("total"):
        rows.append(("of them once per step", *(s.counts["per_step"][k] for k in kinds)))
    c = s.counts["classic"]
    words = [f"By the classic rule: {c['add']} add, {c['muldiv']} multiply or divide, {c['calls']} calls."]
    if s.derived.program.stages:
        words.append(f"After each pass: {', '.join(f'{name} {n}' for name, n in s.derived.program.stages)}.")
    return [table(("", *kinds), rows, right=(1, 2, 3, 4, 5)), *map(paragraph, words)]


def _check(s: Subject) -> list[str]:
    if s.checked is None:
        return [paragraph("not made")]
    mark = "passed" if s.checked.passed else "failed"
    head = Raw(f'<p class="{mark}">{escape(s.checked.head)}</p>')
    return [head, table(("", "property", "value", "limit", ""), s.checked.lines, right=(2,))]


def _run(s: Subject) -> list[str]:
    run = s.run
    if run is None:
        return [paragraph("not made")]
    settings = run.settings
    head = (
        f"{settings['method']}, step {settings['step']:g} s, to t = {settings['t_end']:g} s: {run.ended}."
        if settings
        else run.ended
    )
    blocks: list[str] = [paragraph(head), *(paragraph(str(e)) for e in run.events[:20])]
    names = list(s.derived.program.output_names) or list(run)
    groups: dict[tuple[str, str], list[str]] = {}
    for name in names[:40]:
        groups.setdefault((run.units.get(name, ""), run.generic.get(name, "")), []).append(name)
    for (unit, _), listed in groups.items():
        for start in range(0, len(listed), 6):
            names_shown = listed[start : start + 6]
            title = run.labels.get(names_shown[0], names_shown[0]) if len(names_shown) == 1 else ", ".join(names_shown)
            lines = [(name, run[name]) for name in names_shown]
            blocks.append(f"<h3>{escape(title)}</h3>")
            blocks.append(
                chart(
                    run.time,
                    lines,
                    "time (s)",
                    f"{', '.join(names_shown)} ({unit})" if unit else ", ".join(names_shown),
                )
            )
    return blocks
