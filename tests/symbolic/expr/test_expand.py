"""Expansion: products and whole powers of sums become plain sums, and stay so."""

from math import comb

import pytest
from hypothesis import given, settings

from bellcrank.symbolic.expr import (
    ONE,
    ZERO,
    Func,
    NamedSubexpression,
    Number,
    Product,
    Sum,
    Symbol,
    apply_builtin,
    cos,
    evaluate,
    expand,
    mul,
    postorder,
    power,
    sin,
    sqrt,
)
from tests.symbolic.expr.formulas import POINTS, build, polynomials

a, b, c, d = (Symbol(n) for n in "abcd")
x, y = Symbol("x", "coordinate"), Symbol("y", "coordinate")


def terms(e):
    return {core if k == 1 else mul(Number(k), core) for core, k in e.terms}


def assert_expanded(e):
    for node in postorder((e,)):
        if isinstance(node, Product):
            bases = [
                base
                for base, exponent in node.factors
                if isinstance(exponent, int) and exponent > 0
            ]
            assert not any(isinstance(base, Sum) for base in bases), node
        if isinstance(node, Sum):
            assert not any(isinstance(core, Sum) for core, _ in node.terms), node


def test_product_of_sums_is_multiplied_out():
    assert terms(expand((a + b) * (c - d))) == {a * c, -a * d, b * c, -b * d}


def test_factored_sum_is_multiplied_out():
    assert terms(expand(x * (a + b))) == {a * x, b * x}
    assert terms(expand(2 * (a + b))) == {2 * a, 2 * b}
    assert terms(expand(-(a - b))) == {-a, b}


def test_power_of_a_sum_is_binomial():
    e = expand((a + b) ** 12)
    assert dict(e.terms) == {
        power(a, Number(k)) * power(b, Number(12 - k)): comb(12, k) for k in range(13)
    }


def test_nested_products_are_multiplied_out():
    e = expand((a + x * (b + y * (c + d))) * (a + b))
    assert_expanded(e)
    assert len(e.terms) == 8


def test_roots_that_meet_as_a_sum_keep_their_numbers():
    """2 sqrt(p) by 5 sqrt(p), within 3: thirty times what is under the root."""
    p = Symbol("p", positive=True)
    root = sqrt(p + 7 * a**2)
    e = expand(3 * (2 * root + x) * (5 * root + y))
    assert_expanded(e)
    assert e - expand(30 * p + 210 * a**2 + 6 * root * y + 15 * x * root + 3 * x * y) is ZERO


def test_terms_cancel():
    assert expand((a + b) * (a - b) - a**2 + b**2) is ZERO
    assert expand((x + 1) ** 2 - x**2 - 2 * x) is ONE


def test_numbers_and_symbols_stay():
    for e in (ZERO, Number(3), a, 2 * a, a * x, sin(x)):
        assert expand(e) is e


def test_squares_of_sine_and_cosine_meet_after_expansion():
    assert terms(expand((sin(x) + cos(x)) ** 2)) == {ONE, 2 * sin(x) * cos(x)}


def test_arguments_of_functions_are_expanded():
    e = expand(sin(x * (a + b)) * (c + d))
    assert_expanded(e)
    assert len(e.terms) == 2


def test_arguments_of_user_functions_are_expanded():
    def user(value):
        return 2 * value

    e = expand(Func("f", (x * (a + b),), user))
    assert_expanded(e)
    assert evaluate([e], {"x": 1.0, "a": 2.0, "b": 3.0}) == [10.0]


def test_denominators_stay_below():
    e = expand((a + x) / (b + y) ** 2)
    assert len(e.terms) == 2
    assert all((b + y, -2) in core.factors for core, _ in e.terms)


def test_roots_that_meet_are_expanded_too():
    e = expand((sqrt(apply_builtin("exp", a) + x**2) + c) ** 2)
    assert_expanded(e)
    assert terms(e) == {
        apply_builtin("exp", a),
        x**2,
        c**2,
        2 * c * sqrt(apply_builtin("exp", a) + x**2),
    }


def test_roots_of_what_may_be_negative_stay_roots():
    assert terms(expand((sqrt(a + x) + c) ** 2)) == {sqrt(a + x) ** 2, c**2, 2 * c * sqrt(a + x)}


def test_held_results_are_written_out():
    e = expand(NamedSubexpression(a + x) * (b + NamedSubexpression(c)))
    assert not any(isinstance(n, NamedSubexpression) for n in postorder((e,)))
    assert len(e.terms) == 4


def test_function_that_collapses_is_expanded():
    angle = (a * apply_builtin("asin", x * (a + b)) + b * apply_builtin("asin", x * (a + b))) / 1
    assert_expanded(expand(sin(angle)))
    half = NamedSubexpression(apply_builtin("atan", x * (a + b)))
    assert terms(expand(apply_builtin("tan", half + 0))) == {a * x, b * x}


def test_expansion_of_a_hidden_zero_below_is_refused():
    from bellcrank.core.errors import ModelError

    with pytest.raises(ModelError, match="zero"):
        expand(1 / ((a + b) ** 2 - a**2 - 2 * a * b - b**2))


@settings(max_examples=120)
@given(polynomials)
def test_expansion_keeps_the_value_and_is_complete(tree):
    e = build(tree)
    expanded = expand(e)
    assert_expanded(expanded)
    assert expand(expanded) is expanded
    assert expanded.fingerprint == e.fingerprint
    for point in POINTS:
        (before,), (after,) = evaluate([e], point), evaluate([expanded], point)
        size = max([1.0, abs(before), *(abs(v) for v in evaluate(expanded.parts, point))])
        if size < 1e8:
            assert after == pytest.approx(before, rel=1e-8, abs=1e-8 * size)
