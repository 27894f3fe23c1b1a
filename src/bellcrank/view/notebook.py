"""Models and equations as notebooks show them."""

from __future__ import annotations

from html import escape

from bellcrank.derive.derived import Derived
from bellcrank.derive.summary import summary
from bellcrank.files.html import Raw, folded, heading, paragraph, table, verbatim
from bellcrank.files.notebook import card
from bellcrank.view.equations import program_equations
from bellcrank.view.image import model_image


def model_html(derived: Derived) -> str:
    """A model: its picture, its bodies, what it is driven by."""
    a = derived.analysis
    names = [b.name for b in a.mechanism.bodies]
    bodies = [(b.name, b.label, "N" if b.parent < 0 else names[b.parent], b.joint.text) for b in a.mechanism.bodies]
    blocks = [heading(derived.name), model_image(derived), table(("body", "label", "parent", "joint"), bodies)]
    if loads := dict.fromkeys((x.name, x.label, x.kind) for x in (*a.loads, *a.body_forces)):
        blocks.append(table(("load", "label", "kind"), list(loads)))
    return card(blocks, lambda: None, derived.name)


def broken_html(name: str, problem: str) -> str:
    """A description that cannot be derived yet."""
    return card([heading(name), *(paragraph(line) for line in problem.splitlines())], lambda: None, name)


def equations_html(derived: Derived) -> str:
    """Equations of motion: how they were derived, then all of them."""
    style = "<style>.bellcrank .equation { overflow-x: auto; padding: .2em 0 }</style>"
    listed = "\n".join(program_equations(derived.program))
    blocks = [Raw(style), heading(derived.name), verbatim(summary(derived)), folded("Equations", listed, False)]
    return card(blocks, lambda: None, escape(derived.name))
