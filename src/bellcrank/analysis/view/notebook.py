"""Models and equations as notebooks show them."""

from __future__ import annotations

from html import escape

from bellcrank.analysis.view.equations import program_equations
from bellcrank.analysis.view.image import model_image
from bellcrank.core.files.html import (
    HtmlText,
    details,
    heading,
    html_table,
    paragraph,
    preformatted,
)
from bellcrank.core.files.notebook_display import html_card
from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.mechanics.derive.summary import summary


def model_html(derived: DerivedModel) -> str:
    """A model: its picture, its bodies, what it is driven by."""
    a = derived.analysis
    names = [b.name for b in a.mechanism.bodies]
    bodies = [
        (b.name, b.label, "N" if b.parent < 0 else names[b.parent], b.joint.text)
        for b in a.mechanism.bodies
    ]
    blocks = [
        heading(derived.name),
        model_image(derived),
        html_table(("body", "label", "parent", "joint"), bodies),
    ]
    if loads := dict.fromkeys((x.name, x.label, x.kind) for x in (*a.loads, *a.body_forces)):
        blocks.append(html_table(("load", "label", "kind"), list(loads)))
    return html_card(blocks, lambda: None, derived.name)


def broken_html(name: str, problem: str) -> str:
    """A description that cannot be derived yet."""
    return html_card(
        [heading(name), *(paragraph(line) for line in problem.splitlines())], lambda: None, name
    )


def equations_html(derived: DerivedModel) -> str:
    """Equations of motion: how they were derived, then all of them."""
    style = "<style>.bellcrank .equation { overflow-x: auto; padding: .2em 0 }</style>"
    listed = "\n".join(program_equations(derived.program))
    blocks = [
        HtmlText(style),
        heading(derived.name),
        preformatted(summary(derived)),
        details("Equations", listed, False),
    ]
    return html_card(blocks, lambda: None, escape(derived.name))
