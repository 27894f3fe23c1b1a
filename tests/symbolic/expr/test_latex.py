"""LaTeX output: exact for common forms, and accepted by a parser of mathematical text."""

from fractions import Fraction

import pytest
from hypothesis import given, settings

from bellcrank.symbolic.expr import (
    Func,
    NamedSubexpression,
    Number,
    Symbol,
    add,
    apply_builtin,
    cos,
    power,
    sin,
    sqrt,
    to_latex,
)
from bellcrank.symbolic.expr.printing import latex_name
from tests.late import Late
from tests.symbolic.expr.formulas import SYMBOLS, build, formulas

a, b, c = (SYMBOLS[n] for n in "abc")
x, y, z = (SYMBOLS[n] for n in "xyz")
PARSER = Late("matplotlib.mathtext", "MathTextParser", "path")


def assert_balanced(shown):
    depth = 0
    plain = shown.replace(r"\{", "").replace(r"\}", "")
    for character in plain:
        depth += (character == "{") - (character == "}")
        assert depth >= 0, shown
    assert depth == 0, shown
    assert shown.count(r"\left") == shown.count(r"\right"), shown


CASES = [
    (Number(3), "3"),
    (Number(Fraction(-1, 3)), r"-\frac{1}{3}"),
    (Number(Fraction(3, 4)), "0.75"),
    (Number(Fraction(1, 10**7)), "10^{-7}"),
    (a * Fraction(25, 10**7), r"2.5 \cdot 10^{-6} \, a"),
    (a * b, r"a \, b"),
    (-a, "-a"),
    (a / b, r"\frac{a}{b}"),
    (a / 3, r"\frac{a}{3}"),
    (1 / (2 * x), r"\frac{1}{2 \, x}"),
    (-2 * a / (3 * x), r"-\frac{2 \, a}{3 \, x}"),
    ((a + b) / c, r"\frac{a + b}{c}"),
    (x / (a + b), r"\frac{x}{a + b}"),
    (c * (a + b), r"c \, \left(a + b\right)"),
    (x**2, "{x}^{2}"),
    (x ** Fraction(3, 2), "{x}^{3/2}"),
    ((a + b) ** 2, r"{\left(a + b\right)}^{2}"),
    (sqrt(a * x), r"\sqrt{a \, x}"),
    (1 / sqrt(x), r"\frac{1}{\sqrt{x}}"),
    (power(Number(Fraction(1, 3)), Number(Fraction(1, 3))), r"{\left(\frac{1}{3}\right)}^{1/3}"),
    (sin(x) ** 2, r"{\sin\left(x\right)}^{2}"),
    (a - b * x, r"a - b \, x"),
    (-a - b, r"-\left(a + b\right)"),
    (apply_builtin("abs", x), r"\left|x\right|"),
    (apply_builtin("asin", x), r"\arcsin\left(x\right)"),
    (apply_builtin("atan2", x, y), r"\operatorname{atan2}\left(x, y\right)"),
    (x**a, "{x}^{a}"),
    (
        apply_builtin("where", apply_builtin("le", x, a), x, y),
        r"\operatorname{where}\left(x \leq a, x, y\right)",
    ),
    (Func("road_height", (x,), len), r"\operatorname{road\_height}\left(x\right)"),
    (NamedSubexpression(a + x) * b, r"b \, \left(a + x\right)"),
    (add(cos(x), Number(1)), r"1 + \cos\left(x\right)"),
]


@pytest.mark.parametrize(("e", "expected"), CASES, ids=[expected for _, expected in CASES])
def test_exact_latex(e, expected):
    assert to_latex(e) == expected
    assert e._repr_latex_() == f"${expected}$"
    assert_balanced(expected)
    PARSER.parse(f"${expected}$")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x", "x"),
        ("x0", "x_{0}"),
        ("m_b", "m_{b}"),
        ("theta", r"\theta"),
        ("theta_r1", r"\theta_{r1}"),
        ("Omega2", r"\Omega_{2}"),
        ("Alpha", r"\mathit{Alpha}"),
        ("OMEGA", r"\mathit{OMEGA}"),
        ("ixx", r"\mathit{ixx}"),
        ("k1_front", r"k_{1\_front}"),
        ("mass_front_left", r"\mathit{mass}_{front\_left}"),
        ("rear.chassis", r"\mathit{rear.chassis}"),
        ("_x", r"\mathit{\_x}"),
        ("q(b, 2)", "q_{b,2}"),
        ("qp(front_axle)", r"\dot{q}_{front\_axle}"),
        ("up(b)", r"\dot{u}_{b}"),
        ("100%", r"\mathit{100\%}"),
    ],
)
def test_names(name, expected):
    assert latex_name(name) == expected
    assert_balanced(expected)
    PARSER.parse(f"${expected}$")


def test_names_replace_what_they_name():
    assert to_latex(2 * sin(x), {x: r"\theta"}) == r"2 \, \sin\left(\theta\right)"
    assert to_latex(Symbol("a_1") * x, {x: "X"}) == r"a_{1} \, X"


@settings(max_examples=30)
@given(formulas)
def test_random_latex_is_accepted(tree):
    shown = to_latex(build(tree))
    assert_balanced(shown)
    PARSER.parse(f"${shown}$")
