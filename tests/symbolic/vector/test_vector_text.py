"""Vectors as text and as LaTeX."""

import pytest

from bellcrank.symbolic.expr import Symbol, apply_builtin, sin, sqrt
from bellcrank.symbolic.expr.formula_parser import parse_formula
from bellcrank.symbolic.vector.basis import Frame, Vector
from tests.late import Late

a, b = Symbol("a"), Symbol("b")
q = Symbol("q", "coordinate")
n = Frame("n")
axle = Frame("front_axle", n, tuple(tuple(sin(q) for _ in range(3)) for _ in range(3)))
PARSER = Late("matplotlib.mathtext", "MathTextParser", "path")

CASES = [
    ((1, 0, 0), "[n1]", r"\mathbf{n}_{1}"),
    ((-1, 0, 0), "-[n1]", r"- \mathbf{n}_{1}"),
    ((a, b, 0), "a*[n1] + b*[n2]", r"a \, \mathbf{n}_{1} + b \, \mathbf{n}_{2}"),
    (
        (a, -b, 1),
        "a*[n1] - b*[n2] + [n3]",
        r"a \, \mathbf{n}_{1} - b \, \mathbf{n}_{2} + \mathbf{n}_{3}",
    ),
    ((-a, -b, 0), "-a*[n1] - b*[n2]", r"- a \, \mathbf{n}_{1} - b \, \mathbf{n}_{2}"),
    ((a + b, 0, 0), "(a + b)*[n1]", r"\left(a + b\right) \, \mathbf{n}_{1}"),
    ((-a - b, 0, 0), "-(a + b)*[n1]", r"- \left(a + b\right) \, \mathbf{n}_{1}"),
    ((0, -a * (1 + q), 0), "-a*(1 + q)*[n2]", r"- a \, \left(1 + q\right) \, \mathbf{n}_{2}"),
    ((0, 0, a / b), "a/b*[n3]", r"\frac{a}{b} \, \mathbf{n}_{3}"),
    ((0, 0.5, 0), "0.5*[n2]", r"0.5 \, \mathbf{n}_{2}"),
    ((0, 0, 0), "0", "0"),
]


@pytest.mark.parametrize(("components", "text", "latex"), CASES, ids=[text for _, text, _ in CASES])
def test_exact_text_and_latex(components, text, latex):
    v = n.vector(components)
    assert str(v) == text
    assert repr(v) == text
    assert v.latex() == latex
    assert v._repr_latex_() == f"${latex}$"
    PARSER.parse(f"${latex}$")


def test_text_can_be_parsed():
    v = n.vector((sqrt(a) - b, -a / (b + q), apply_builtin("atan2", q, b))) + axle.vector((a, 0, 0))
    units = [node for node in _nodes(parse_formula(str(v))) if node.op == "unit"]
    assert [node.args for node in units] == [("n", 1), ("n", 2), ("n", 3), ("front_axle", 1)]


def _nodes(root):
    from bellcrank.symbolic.expr.formula_parser import postorder_syntax

    return postorder_syntax(root)


def test_latex_of_a_name_with_underscores():
    v = Vector({axle.axes[1]: a})
    assert v.latex() == r"a \, \mathbf{front\_axle}_{2}"
    PARSER.parse(f"${v.latex()}$")


def test_frames_and_unit_vectors_are_shown_by_name():
    assert repr(axle) == "Frame(front_axle)"
    assert repr(axle.axes[2]) == "[front_axle3]"
