"""Printed text: exact, and read back to the same expression."""

from fractions import Fraction

import pytest
from hypothesis import given, settings

from bellcrank.symbolic.expr import (
    MINUS_ONE,
    PI,
    Func,
    NamedSubexpression,
    Number,
    Symbol,
    add,
    apply_builtin,
    cos,
    expand,
    power,
    sin,
    sqrt,
)
from bellcrank.symbolic.expr.printing import to_text
from tests.symbolic.expr.formulas import SYMBOLS, build, formulas
from tests.symbolic.expr.reading import read

a, b, c = (SYMBOLS[n] for n in "abc")
x, y, z = (SYMBOLS[n] for n in "xyz")
THIRD = Fraction(1, 3)


def f(name, *args):
    return apply_builtin(name, *(Number(v) if isinstance(v, int | Fraction) else v for v in args))


CASES = [
    (Number(3), "3"),
    (Number(-3), "-3"),
    (Number(Fraction(1, 2)), "0.5"),
    (Number(THIRD), "1/3"),
    (Number(-THIRD), "-1/3"),
    (Number(Fraction(1, 10**7)), "1e-07"),
    (Number(10**22), "10000000000000000000000"),
    (a, "a"),
    (PI, "pi"),
    (-a, "-a"),
    (2 * a, "2*a"),
    (a * 3 / 4, "0.75*a"),
    (a / 2, "a/2"),
    (a / 3, "a/3"),
    (2 * a / 3, "2*a/3"),
    (-2 * a / 3, "-2*a/3"),
    (a * Fraction(1, 10**7), "1e-07*a"),
    (1 / x, "1/x"),
    (-1 / x, "-1/x"),
    (1 / (2 * x), "1/(2*x)"),
    (1 / (3 * x), "1/(3*x)"),
    (2 / (3 * x), "2/(3*x)"),
    (3 / (4 * x), "0.75/x"),
    (a / b, "a/b"),
    (a / (b * c), "a/(b*c)"),
    ((a / b) / (c / x), "a*x/(b*c)"),
    (a * b / (3 * c), "a*b/(3*c)"),
    (x**2, "x**2"),
    (-(x**2), "-x**2"),
    (x**-2, "1/x**2"),
    (a / x**2, "a/x**2"),
    (sqrt(x), "sqrt(x)"),
    (1 / sqrt(x), "1/sqrt(x)"),
    (x ** Fraction(3, 2), "x**(3/2)"),
    (x ** Fraction(-2, 3), "1/x**(2/3)"),
    (Number(THIRD) ** THIRD, "(1/3)**(1/3)"),
    (sqrt(a * x), "sqrt(a*x)"),
    (power(a * x, Number(THIRD)), "(a*x)**(1/3)"),
    (sqrt(-x), "sqrt(-x)"),
    (a + b, "a + b"),
    (a - b, "a - b"),
    (a - b / 3 + 1, "1 + a - b/3"),
    (a - THIRD, "-(1/3 - a)"),
    (-a - b, "-(a + b)"),
    (2 * (a + b), "2*(a + b)"),
    ((a + b) / 3, "(a + b)/3"),
    (x / (a + b), "x/(a + b)"),
    (x / (a + b) ** 2, "x/(a + b)**2"),
    ((a + b) ** 2, "(a + b)**2"),
    (x * (a - b), "x*(a - b)"),
    (1 / (1 + 1 / x), "1/(1 + 1/x)"),
    (sin(x) ** 2, "sin(x)**2"),
    (sin(a + 2 * x), "sin(a + 2*x)"),
    (2 * sin(x) * cos(y), "2*cos(y)*sin(x)"),
    (f("atan2", x, a + y), "atan2(x, a + y)"),
    (x**a, "x**a"),
    ((a + x) ** (b * y), "(a + x)**(b*y)"),
    (2 ** (-x), "2**(-x)"),
    ((x**a) ** 2, "(x**a)**2"),
    (a * x**b, "a*x**b"),
    (f("min", x, y, 3), "min(min(3, x), y)"),
    (f("where", f("gt", x, 0), x, 0), "where((x > 0), x, 0)"),
    (2 * f("le", x + a, y), "2*(a + x <= y)"),
    (f("abs", x - y), "abs(x - y)"),
    (f("sign", x), "sign(x)"),
]


@pytest.mark.parametrize(("e", "expected"), CASES, ids=[expected for _, expected in CASES])
def test_exact_text(e, expected):
    assert to_text(e) == expected
    assert str(e) == expected
    assert repr(e) == expected


@pytest.mark.parametrize("e", [e for e, _ in CASES], ids=[expected for _, expected in CASES])
def test_text_is_read_back(e):
    assert read(to_text(e), SYMBOLS) is e


@settings(max_examples=200)
@given(formulas)
def test_random_text_is_read_back(tree):
    e = build(tree)
    assert read(to_text(e), SYMBOLS) is e


def test_expanded_text_has_its_sign_in_front():
    assert to_text(expand(-(a + b))) == "-a - b"
    assert to_text(expand(x * (b - a))) in ("-a*x + b*x", "b*x - a*x")


def test_user_function_is_read_back():
    def owner(value, other):
        return value + other

    e = 2 * Func("tyre", (x, a + y), owner)
    assert to_text(e) == "2*tyre(x, a + y)"
    assert read(to_text(e), SYMBOLS, {"tyre": owner}) is e


def test_held_result_is_shown_as_what_it_holds():
    assert to_text(NamedSubexpression(a + x) * b) == "b*(a + x)"
    assert to_text(NamedSubexpression(a * x) * b) == "b*(a*x)"
    assert to_text(NamedSubexpression(-x) ** 2) == "(-x)**2"
    assert to_text(add(NamedSubexpression(a + x), b)) == "b + (a + x)"


def test_names_replace_what_they_name():
    z1 = NamedSubexpression(a + x)
    assert to_text(b * z1 + MINUS_ONE, {z1: "z1"}) in ("-(1 - b*z1)", "-1 + b*z1")
    assert to_text(sin(x), {x: "q(body)"}) == "sin(q(body))"


def test_names_of_symbols_are_shown_as_they_are():
    assert to_text(Symbol("rear.k") * Symbol("q(b, 2)", "coordinate")) == "rear.k*q(b, 2)"
