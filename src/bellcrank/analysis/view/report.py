"""The report of a model: one page with everything in it, to be read without a network.

In:  what was analysed and derived, a check and a run if there are any. Out: the text of an HTML
file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from bellcrank.analysis.view.body_tree import LoopLink, body_tree_svg
from bellcrank.analysis.view.chart import line_chart
from bellcrank.analysis.view.document import DocumentSection, html_document
from bellcrank.analysis.view.equations import program_equations
from bellcrank.analysis.view.image import model_image
from bellcrank.core.errors import pluralize
from bellcrank.core.files.html import HtmlText, html_table, paragraph
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.model.mechanism import Body
from bellcrank.simulation.run.result import Run
from bellcrank.symbolic.expr.mathml import equation_mathml, math_element, math_name, to_mathml
from bellcrank.symbolic.vector.basis import Vec3

MAX_FORMULA_LENGTH = 4000  # characters of a formula past which a table only says that it is long


@dataclass(frozen=True)
class CheckSummary:
    """What a check found: passed or not, and its lines (mark, property, value, limit, note)."""

    passed: bool
    head: str
    lines: Sequence[Sequence[str]]


@dataclass(frozen=True)
class ReportContext:
    """What a report is about."""

    derived: DerivedModel
    counts: Mapping[str, Any]  # of operations
    parameters: Mapping[str, float | None]  # values in user units, by key
    run: Run | None = None
    checked: CheckSummary | None = None


def report_page(subject: ReportContext) -> str:
    """The whole page."""
    return html_document(
        subject.derived.name, _summary_html(subject), list(_report_sections(subject))
    )


def _summary_html(s: ReportContext) -> str:
    m = s.derived.analysis.mechanism
    freedoms = len(s.derived.analysis.independent_speeds)
    text = (
        f"{pluralize(len(m.bodies), 'body', 'bodies')}, "
        f"{pluralize(len(m.coordinates), 'coordinate')}, "
        f"{pluralize(freedoms, 'degree of freedom', 'degrees of freedom')}. Units: "
        f"{s.derived.interface.units}. "
        f"Derived by {s.derived.method_label} in {sum(s.derived.seconds.values()):.3g} s."
    )
    return paragraph(text) + "".join(paragraph(f"Note: {n}") for n in s.derived.analysis.notes)


def _report_sections(s: ReportContext) -> Iterator[DocumentSection]:
    yield DocumentSection(
        "picture", "Picture", [model_image(s.derived, _given_parameters(s), s.run)]
    )
    yield DocumentSection(
        "tree", "Body tree", [body_tree_svg(s.derived.analysis.mechanism.bodies, _loop_links(s))]
    )
    yield DocumentSection("bodies", "Bodies", [_body_table(s)])
    yield DocumentSection("points", "Points", [_point_table(s)])
    yield DocumentSection("forces", "Forces and moments", [_force_table(s)])
    yield DocumentSection("constraints", "Constraints", [*_constraint_tables(s)])
    yield DocumentSection("states", "States", [_state_table(s)])
    yield DocumentSection("parameters", "Parameters", [_parameter_table(s), *_input_table(s)])
    yield DocumentSection("equations", "Equations", [*program_equations(s.derived.program)])
    yield DocumentSection("operations", "Operations", [*_operation_table(s)])
    yield DocumentSection("check", "Check", [*_check_section(s)])
    yield DocumentSection("run", "Run", [*_report_run_section(s)])


def _given_parameters(s: ReportContext) -> dict[str, float]:
    return {key: value for key, value in s.parameters.items() if value is not None}


# ---- tables


def _report_body_name(bodies: Sequence[Body], index: int) -> str:
    return "N" if index < 0 else bodies[index].name


def _formula_html(expression: Any) -> HtmlText:
    markup = to_mathml(expression)
    return HtmlText("long" if len(markup) > MAX_FORMULA_LENGTH else math_element(markup))


def _vector_html(v: Vec3) -> HtmlText:
    components = [to_mathml(x) for x in v]
    markup = math_element("<mo>(</mo>", "<mo>,</mo>".join(components), "<mo>)</mo>")
    return HtmlText("long" if sum(map(len, components)) > MAX_FORMULA_LENGTH else markup)


def _body_table(s: ReportContext) -> HtmlText:
    bodies = s.derived.analysis.mechanism.bodies
    rows = []
    for b in bodies:
        moments = (b.inertia[0][0], b.inertia[1][1], b.inertia[2][2])
        products = [b.inertia[i][j] for i, j in ((0, 1), (0, 2), (1, 2))]
        extra = (
            _vector_html((products[0], products[1], products[2]))
            if any(str(x) != "0" for x in products)
            else ""
        )
        placement = _vector_html(b.joint.at), _formula_html(b.mass), _vector_html(b.cm)
        rows.append(
            (
                b.name,
                b.label,
                _report_body_name(bodies, b.parent),
                b.joint.text,
                *placement,
                _vector_html(moments),
                extra,
            )
        )
    head = ("name", "label", "parent", "joint", "joint at (in parent)", "mass", "mass centre")
    return html_table((*head, "I11, I22, I33", "I12, I13, I23"), rows)


def _point_table(s: ReportContext) -> HtmlText:
    bodies = s.derived.analysis.mechanism.bodies
    rows = [
        (p.name, p.label or "", _report_body_name(bodies, p.body), _vector_html(p.coordinates))
        for p in s.derived.analysis.points.values()
    ]
    return html_table(("name", "label", "fixed in", "coordinates"), rows)


def _force_table(s: ReportContext) -> HtmlText:
    bodies = s.derived.analysis.mechanism.bodies
    a = s.derived.analysis
    magnitudes = {f.name: f.magnitude for f in a.mechanism.description.forces}
    rows = []
    for x in (*a.loads, *a.body_forces):
        acting_on = "all" if x in a.body_forces else _report_body_name(bodies, x.body)
        magnitude = str(magnitudes.get(x.name, x.magnitude))
        rows.append(
            (
                x.name,
                x.label,
                x.kind,
                acting_on,
                _report_body_name(bodies, x.against),
                magnitude,
                x.direction_text(),
            )
        )
    return html_table(("name", "label", "kind", "on", "against", "magnitude", "direction"), rows)


def _constraint_tables(s: ReportContext) -> list[str]:
    blocks: list[str] = []
    removed, loops = s.derived.analysis.removed, s.derived.analysis.loops
    if removed:
        rows = [
            (r.name, r.speed.name, equation_mathml(math_name(r.speed.name), r.relation))
            for r in removed
        ]
        blocks.append(
            html_table(("constraint", "dependent speed", "replaced by"), map(_shortened_row, rows))
        )
    if loops is not None:
        pivots = {r.name: u.name for r, u in zip(loops.used_rows, loops.pivots, strict=True)}
        rows = []
        for line in loops.rows:
            markup = (
                ""
                if line.g is None
                else math_element(to_mathml(line.g), "<mo>=</mo>", "<mn>0</mn>")
            )
            rows.append((line.name, pivots.get(line.name, "follows from the others"), markup))
        blocks.append(
            html_table(
                ("closed loop", "dependent speed", "position constraint"), map(_shortened_row, rows)
            )
        )
    return blocks or [paragraph("none")]


def _shortened_row(row: tuple[str, str, str]) -> tuple[str, str, HtmlText]:
    text, dependent, formula = row
    return text, dependent, HtmlText(formula if len(formula) < MAX_FORMULA_LENGTH else "long")


def _loop_links(s: ReportContext) -> list[LoopLink]:
    """Loops between bodies, as far as they are reported by points."""
    links = []
    for record in s.derived.analysis.mechanism.description.loops:
        end_bodies = []
        for p in (record.first, record.second):
            point = s.derived.analysis.points.get(str(getattr(p, "name", p)))
            end_bodies.append(point.body if point is not None else None)
        if None not in end_bodies and end_bodies[0] != end_bodies[1]:
            links.append(LoopLink(end_bodies[0], end_bodies[1], record.label or "closed loop"))  # type: ignore[arg-type]
    return links


def _state_table(s: ReportContext) -> HtmlText:
    rows = []
    for x in s.derived.interface.states:
        start = "" if s.run is None or not len(s.run) else float(s.run[x.name][0])
        rows.append(
            (
                HtmlText(math_element(math_name(x.name))),
                x.name,
                x.kind,
                x.distinct_label,
                x.unit.text,
                start,
            )
        )
    return html_table(("", "name", "kind", "label", "unit", "initial value"), rows, right=(5,))


def _parameter_table(s: ReportContext) -> HtmlText:
    rows = []
    for x in s.derived.interface.parameters:
        value = s.parameters.get(x.key, x.default)
        value_shown = "no value" if value is None else float(value)
        rows.append(
            (
                HtmlText(math_element(math_name(x.name))),
                x.name,
                x.distinct_label,
                value_shown,
                x.unit.text,
            )
        )
    return html_table(("", "name", "label", "value", "unit"), rows, right=(3,))


def _input_table(s: ReportContext) -> list[str]:
    inputs = (x for x in s.derived.interface.inputs if not x.rate)
    rows = [
        (x.name, x.distinct_label, x.unit.text)
        for x in (*inputs, *s.derived.interface.sampled_inputs)
    ]
    return ["<h3>Inputs</h3>", html_table(("name", "label", "unit"), rows)] if rows else []


def _operation_table(s: ReportContext) -> list[str]:
    kinds = ("add", "multiply", "divide", "function", "total")
    rows: list[Sequence[object]] = [("one evaluation of all rates", *(s.counts[k] for k in kinds))]
    if s.counts.get("per_step", {}).get("total"):
        rows.append(("of them once per step", *(s.counts["per_step"][k] for k in kinds)))
    c = s.counts["classic"]
    words = [
        f"By the classic rule: {c['add']} add, {c['muldiv']} multiply or divide, "
        f"{c['calls']} calls."
    ]
    if s.derived.program.stages:
        words.append(
            f"After each pass: {', '.join(f'{name} {n}' for name, n in s.derived.program.stages)}."
        )
    return [html_table(("", *kinds), rows, right=(1, 2, 3, 4, 5)), *map(paragraph, words)]


def _check_section(s: ReportContext) -> list[str]:
    if s.checked is None:
        return [paragraph("not made")]
    mark = "passed" if s.checked.passed else "failed"
    head = HtmlText(f'<p class="{mark}">{escape(s.checked.head)}</p>')
    return [head, html_table(("", "property", "value", "limit", ""), s.checked.lines, right=(2,))]


def _report_run_section(s: ReportContext) -> list[str]:
    run = s.run
    if run is None:
        return [paragraph("not made")]
    settings = run.settings
    head = (
        f"{settings['method']}, step {settings['step']:g} s, to t = {settings['t_end']:g} "
        f"s: {run.ended}."
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
            title = (
                run.labels.get(names_shown[0], names_shown[0])
                if len(names_shown) == 1
                else ", ".join(names_shown)
            )
            lines = [(name, run[name]) for name in names_shown]
            blocks.append(f"<h3>{escape(title)}</h3>")
            blocks.append(
                line_chart(
                    run.time,
                    lines,
                    "time (s)",
                    f"{', '.join(names_shown)} ({unit})" if unit else ", ".join(names_shown),
                )
            )
    return blocks
