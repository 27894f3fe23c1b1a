"""Small and large symbols: terms of higher order are dropped, functions become series (Sayers 1990,
section 5.3)."""

from fractions import Fraction

import pytest

from bellcrank.symbolic.expr import (
    ONE,
    ZERO,
    Number,
    Symbol,
    add,
    apply_builtin,
    cos,
    expand,
    nominal,
    partial,
    sin,
    small_threshold,
    sqrt,
)

a, b = Symbol("a"), Symbol("b")
e, d = Symbol("e", "coordinate", order=1), Symbol("d", "coordinate", order=1)
large = Symbol("large", "speed", order=-1)


def test_orders_add_in_products_and_multiply_in_powers():
    assert (a * e * d).order == 2
    assert (e**3).order == 3
    assert (e / d).order == 0
    assert (a / e).order == -1
    assert (large**2 * e).order == -1
    assert sqrt(e**3 * a).order == 1


def test_order_of_a_sum_is_the_lowest():
    assert (a + e).order == 0
    assert (e + e * d).order == 1
    assert (a + large).order == -1


def test_terms_beyond_the_threshold_are_dropped():
    assert len((a + e).terms) == 2
    assert a + e**2 is a
    assert e + e**3 is e
    assert e + e**2 is e * (1 + e)
    assert a + e * d is a
    assert large + e is large


def test_difference_of_orders_counts_not_the_order():
    assert len(add(e * d, e * d * e).factors) == 3
    assert e * d + e**4 is e * d


def test_numbers_have_order_zero():
    assert 1 + e**2 is ONE
    assert (1 + e) ** 2 is not ONE


def test_negligible_terms_leave_the_base_of_a_power():
    assert (a + e**2) ** 3 is a**3
    assert 1 / (a + e * d) is 1 / a


@pytest.mark.parametrize(
    ("name", "series"),
    [
        ("sin", e),
        ("cos", ONE),
        ("tan", e),
        ("asin", e),
        ("atan", e),
        ("exp", 1 + e),
    ],
)
def test_functions_of_small_arguments_are_series(name, series):
    assert apply_builtin(name, e) is series


def test_small_products_count_as_small_arguments():
    assert sin(a * e) is a * e
    assert cos(a * e * d) is ONE
    assert sin(a + e) is not a + e


def test_higher_threshold_keeps_more_of_the_series():
    with small_threshold(5):
        assert expand(sin(e)) is expand(e - e**3 / 6 + e**5 / 120)
        assert cos(e) is 1 - e**2 / 2 + e**4 / 24
        assert len((a + e**4).terms) == 2
        assert a + e**5 is a
    assert cos(e) is ONE


def test_threshold_is_restored_after_an_error():
    with pytest.raises(RuntimeError), small_threshold(9):
        raise RuntimeError
    assert a + e**2 is a


def test_atan2_of_a_small_ratio_is_the_ratio():
    assert apply_builtin("atan2", e, a) is e / a
    assert apply_builtin("atan2", a, large) is a / large
    assert apply_builtin("atan2", e, a + b * e) is e / (a + b * e)


def test_atan2_near_half_a_turn_is_no_ratio():
    assert apply_builtin("atan2", e, -a) is not -e / a
    assert apply_builtin("atan2", e, Number(-1)).name == "atan2"


def test_value_that_is_one_of_its_arguments_has_their_order():
    assert apply_builtin("abs", e).order == 1
    assert apply_builtin("min", e, d).order == 1
    assert apply_builtin("max", e, a).order == 0
    assert apply_builtin("where", apply_builtin("lt", e, ZERO), e, ZERO).order == 1
    assert 1 + e * apply_builtin("max", e, ZERO) is ONE


def test_derivative_works_after_small_terms_are_dropped():
    assert partial(a + e + e**2, e) is ONE
    assert partial(sin(e), e) is ONE
    assert partial(b * e * (1 + d), e) is b * (1 + d)


def test_expansion_drops_small_terms_too():
    assert expand((a + e) * (b + d)) is expand(a * b + a * d + b * e)


def test_nominal_value_is_not_truncated_first():
    assert nominal(a + e) is a
    assert nominal(e / (a + e)) is ZERO


def test_small_and_ordinary_symbol_of_one_name_are_two():
    assert Symbol("e", "coordinate") is not e
    assert Symbol("e", "coordinate").fingerprint == e.fingerprint


def test_series_coefficients_are_exact():
    with small_threshold(9):
        series = {name: expand(apply_builtin(name, e)) for name in ("sin", "tan", "asin", "atan")}
    coefficient = {name: dict((core, c) for core, c in s.terms)[e**7] for name, s in series.items()}
    assert coefficient == {
        "sin": Fraction(-1, 5040),
        "tan": Fraction(17, 315),
        "asin": Fraction(5, 112),
        "atan": Fraction(-1, 7),
    }
