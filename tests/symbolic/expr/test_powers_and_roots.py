"""Powers of powers, exact roots, and roots that meet again."""

import math
from fractions import Fraction

import pytest

from bellcrank.core.errors import ModelError
from bellcrank.symbolic.expr import (
    ONE,
    ZERO,
    Func,
    Number,
    Product,
    Symbol,
    apply_builtin,
    evaluate,
    mul,
    partial,
    power,
    sqrt,
)

a, b, c = (Symbol(n) for n in "abc")
p, r = Symbol("p", positive=True), Symbol("r", positive=True)
x, y = Symbol("x", "coordinate"), Symbol("y", "coordinate")
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def absolute(e):
    return apply_builtin("abs", e)


def test_roots_of_squares_are_exact():
    assert sqrt(Number(Fraction(9, 4))) is Number(Fraction(3, 2))
    assert Number(4) ** Fraction(-3, 2) is Number(Fraction(1, 8))


def test_roots_of_other_degree_are_exact_where_they_can_be():
    assert Number(27) ** Fraction(2, 3) is Number(9)
    assert Number(Fraction(8, 125)) ** THIRD is Number(Fraction(2, 5))
    assert ONE**THIRD is ONE
    assert ZERO**THIRD is ZERO
    assert Number(10**30) ** THIRD is Number(10**10)


def test_other_roots_stay_roots():
    assert isinstance(sqrt(Number(2)), Product)
    assert sqrt(Number(2)) ** 2 is Number(2)
    assert mul(sqrt(Number(2)), sqrt(Number(2)), x) is 2 * x


def test_root_of_a_negative_number_is_refused():
    with pytest.raises(ModelError, match="not real"):
        sqrt(Number(-2))


def test_powers_with_absurdly_many_digits_are_refused():
    with pytest.raises(ModelError, match="too many digits"):
        Number(9) ** (9**9)
    with pytest.raises(ModelError, match="too many digits"):
        (9 * x) ** (9**9)
    assert (x ** (9**9)).factors == ((x, 9**9),)


def test_power_of_a_power_merges_exponents():
    assert sqrt(p) ** 2 is p
    assert sqrt(x) ** 3 is power(x, Number(Fraction(3, 2)))
    assert sqrt(x**3) is power(x, Number(Fraction(3, 2)))
    assert power(sqrt(x), Number(HALF)) is power(x, Number(Fraction(1, 4)))


def test_zeroth_and_first_power():
    assert x**0 is ONE
    assert x**1 is x


def test_root_of_a_square_is_the_absolute_value():
    assert sqrt(x**2) is absolute(x)
    assert sqrt(4 * x**2 * y) is 2 * absolute(x) * sqrt(y)
    assert sqrt((a - x) ** 2) is absolute(x - a)
    assert 1 / sqrt(x**2) is 1 / absolute(x)


def test_no_absolute_value_where_the_power_stays_even():
    assert sqrt(x**4) is x**2
    assert power(x**2, Number(Fraction(3, 2))) is absolute(x) ** 3
    assert power(x**6, Number(THIRD)) is x**2
    assert power(x**2, Number(THIRD)) is power(absolute(x), Number(Fraction(2, 3)))


def test_roots_of_products_with_even_and_odd_powers():
    assert sqrt(x**2 * y**3) is absolute(x) * power(y, Number(Fraction(3, 2)))
    assert sqrt(a**2 * b * c) is absolute(a) * sqrt(b * c)


def test_roots_that_meet_dissolve_in_the_product():
    root = sqrt(p * r)
    assert root * root is p * r
    assert mul(c, root, root) is c * p * r
    assert root**4 is p**2 * r**2
    assert mul(p, root) * root is p**2 * r


def test_roots_of_what_may_be_negative_stay_roots():
    for e in (x, a, -x, a * b, a - x, sqrt(x) - 1):
        square = sqrt(e) ** 2
        assert square is sqrt(e) * sqrt(e) is (e**THIRD) ** 3
        assert str(square) == f"sqrt({e})**2"
        (value,) = evaluate([square], {"x": 0.5, "a": -2.0, "b": 3.0})
        (inside,) = evaluate([e], {"x": 0.5, "a": -2.0, "b": 3.0})
        assert value == pytest.approx(inside) if inside >= 0 else math.isnan(value)
    assert sqrt(x) ** 2 / sqrt(x) ** 2 is ONE
    assert power(x**3, Number(THIRD)) is not x
    assert math.isnan(evaluate([power(x**3, Number(THIRD))], {"x": -1.0})[0])


def test_roots_of_what_is_never_negative_dissolve():
    for e in (
        x**2 + y**2,
        absolute(x),
        1 + x**4 * p,
        apply_builtin("exp", x),
        apply_builtin("hypot", x, y),
        p + r,
    ):
        assert sqrt(e) ** 2 is e


def test_slope_of_a_root_that_stays():
    e = a * sqrt(x * y) ** 2 * x
    assert evaluate([partial(e, x)], {"x": 0.3, "y": 0.7, "a": 2.0}) == [
        pytest.approx(2 * 2 * 0.3 * 0.7)
    ]


def test_roots_of_negative_products_that_meet_again():
    root = sqrt(-p)
    assert mul(a, root, root) is a * root**2
    assert evaluate([root**4], {"p": -3.0}) == [pytest.approx(9.0)]
    assert sqrt(-4 * x * y) is 2 * sqrt(-x * y)


def test_roots_with_a_common_factor_are_added():
    assert sqrt(Number(2)) * x + sqrt(Number(2)) ** 3 * y is sqrt(Number(2)) * (x + 2 * y)
    root = sqrt(-x)
    assert root**3 * a + root * b is root * (b - a * x)


def test_numbers_leave_the_root():
    assert sqrt(4 * x) is 2 * sqrt(x)
    assert sqrt(2 * x) is sqrt(Number(2)) * sqrt(x)


def test_zero_to_a_power_with_a_symbol_above():
    assert ZERO**p is ZERO
    assert evaluate([ZERO**a], {"a": 0.0}) == [1.0]


def test_power_with_a_symbol_above():
    assert isinstance(x**a, Func)
    assert ONE**a is ONE
    assert evaluate([x**a], {"x": 2.0, "a": 3.0}) == [8.0]


def test_values_of_roots():
    point = {"x": -1.7, "y": 0.6, "a": 0.4, "b": 2.5, "c": 3.0}
    e = sqrt(x**2 * y**3) + sqrt(-x * a) ** 3 / sqrt(b) + power(x**4 * b, Number(Fraction(-3, 4)))
    expected = 1.7 * 0.6**1.5 + (1.7 * 0.4) ** 1.5 / 2.5**0.5 + (1.7**4 * 2.5) ** -0.75
    assert evaluate([e], point) == [pytest.approx(expected, rel=1e-14)]
