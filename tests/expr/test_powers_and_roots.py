"""Powers of powers, exact roots, and roots that meet again."""

from fractions import Fraction

import pytest

from bellcrank.errors import ModelError
from bellcrank.expr import ONE, ZERO, Func, Number, Product, Symbol, evaluate, function, mul, power, sqrt

a, b, c = (Symbol(n) for n in "abc")
x, y = Symbol("x", "coordinate"), Symbol("y", "coordinate")
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def absolute(e):
    return function("abs", e)


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
    assert sqrt(x) ** 2 is x
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
    root = sqrt(a * b)
    assert root * root is a * b
    assert mul(c, root, root) is a * b * c
    assert root**4 is a**2 * b**2
    assert mul(a, root) * root is a**2 * b


def test_roots_of_negative_products_that_meet_again():
    root = sqrt(-x)
    assert mul(a, root, root) is -a * x
    assert root**4 is x**2
    assert sqrt(-4 * x * y) is 2 * sqrt(-x * y)


def test_roots_with_a_common_factor_are_added():
    assert sqrt(Number(2)) * x + sqrt(Number(2)) ** 3 * y is sqrt(Number(2)) * (x + 2 * y)
    root = sqrt(-x)
    assert root**3 * a + root * b is root * (b - a * x)


def test_numbers_leave_the_root():
    assert sqrt(4 * x) is 2 * sqrt(x)
    assert sqrt(2 * x) is sqrt(Number(2)) * sqrt(x)


def test_power_with_a_symbol_above():
    assert isinstance(x**a, Func)
    assert ONE**a is ONE
    assert evaluate([x**a], {"x": 2.0, "a": 3.0}) == [8.0]


def test_values_of_roots():
    point = {"x": -1.7, "y": 0.6, "a": 0.4, "b": 2.5, "c": 3.0}
    e = sqrt(x**2 * y**3) + sqrt(-x * a) ** 3 / sqrt(b) + power(x**4 * b, Number(Fraction(-3, 4)))
    expected = 1.7 * 0.6**1.5 + (1.7 * 0.4) ** 1.5 / 2.5**0.5 + (1.7**4 * 2.5) ** -0.75
    assert evaluate([e], point) == [pytest.approx(expected, rel=1e-14)]
