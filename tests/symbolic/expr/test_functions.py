"""Built-in functions in simplest form: identities, inverse functions, numbers, choices."""

import math
from fractions import Fraction

import pytest

from bellcrank.core.errors import ModelError
from bellcrank.symbolic.expr import (
    ONE,
    PI,
    ZERO,
    Func,
    NamedSubexpression,
    Number,
    Sum,
    Symbol,
    add,
    apply_builtin,
    cos,
    evaluate,
    partial,
    sin,
    sqrt,
)

a, b, c = (Symbol(n) for n in "abc")
x, y, z = (Symbol(n, "coordinate") for n in "xyz")
p, r = (Symbol(n, positive=True) for n in "pr")


def f(name, *args):
    return apply_builtin(name, *(Number(v) if isinstance(v, int | Fraction) else v for v in args))


# ---- squares of sine and cosine


def test_sine_and_cosine_squared_are_one():
    assert sin(x) ** 2 + cos(x) ** 2 is ONE
    assert a * b * sin(x) ** 2 + a * b * cos(x) ** 2 is a * b
    assert 3 - 3 * sin(x) ** 2 - 3 * cos(x) ** 2 is ZERO


def test_one_minus_a_square_is_the_other_square():
    assert 1 - sin(x) ** 2 is cos(x) ** 2
    assert 1 - cos(x) ** 2 is sin(x) ** 2
    assert a * y - a * y * sin(x) ** 2 is a * y * cos(x) ** 2
    assert cos(x) ** 2 - 1 is -(sin(x) ** 2)


def test_identity_among_other_terms():
    assert sin(x) ** 2 + a + cos(x) ** 2 + b is a + b + 1
    assert sin(x) ** 2 + cos(y) ** 2 is not ONE


def test_identity_with_higher_powers():
    assert sin(x) ** 2 * cos(x) ** 2 + cos(x) ** 4 is cos(x) ** 2
    assert sin(x) ** 3 + sin(x) * cos(x) ** 2 is sin(x)


def test_identity_repeats_until_nothing_is_left():
    e = add(
        sin(x) ** 2 * sin(y) ** 2,
        sin(x) ** 2 * cos(y) ** 2,
        cos(x) ** 2 * sin(y) ** 2,
        cos(x) ** 2 * cos(y) ** 2,
        a,
    )
    assert e is 1 + a


def test_identity_times_a_sum_leaves_no_nested_sum():
    s = a + b * y
    e = add(s * sin(x) ** 2, s * cos(x) ** 2, c)
    assert e is a + b * y + c
    assert not any(isinstance(core, Sum) for core, _ in e.terms)
    assert add(2 * s * sin(x) ** 2, 2 * s * cos(x) ** 2, c) is 2 * s + c


def test_sum_minus_its_multiple_of_a_square():
    s = a + b * y
    assert s - s * sin(x) ** 2 is s * cos(x) ** 2
    assert add(c, s, -s * cos(x) ** 2) is c + s * sin(x) ** 2
    assert add(c, 2 * s, -2 * s * cos(x) ** 2) is c + 2 * s * sin(x) ** 2


def test_choice_among_identities_does_not_depend_on_order():
    terms = [ONE, -(sin(x) ** 2), -(sin(y) ** 2)]
    assert add(*terms) is add(*reversed(terms))


def test_many_identities_in_one_sum():
    angles = [Symbol(f"q{i}", "coordinate") for i in range(1500)]
    assert add(*(s for q in angles for s in (sin(q) ** 2, cos(q) ** 2))) is Number(1500)


# ---- inverse functions, symmetry, numbers


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        ("tan", "atan"),
        ("log", "exp"),
        ("log1p", "expm1"),
        ("sinh", "asinh"),
        ("asinh", "sinh"),
        ("atanh", "tanh"),
    ],
)
def test_functions_that_are_inverse_everywhere_cancel(outer, inner):
    assert f(outer, f(inner, x)) is x
    assert f(outer, NamedSubexpression(f(inner, x))) is x


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        ("asin", "sin"),
        ("acos", "cos"),
        ("atan", "tan"),
        ("acosh", "cosh"),
        ("sin", "asin"),
        ("cos", "acos"),
        ("exp", "log"),
        ("expm1", "log1p"),
        ("cosh", "acosh"),
        ("tanh", "atanh"),
    ],
)
def test_functions_that_are_inverse_in_a_range_stay(outer, inner):
    assert f(outer, f(inner, x)) is Func(outer, (Func(inner, (x,)),))


def test_logarithm_of_what_is_never_negative_cancels():
    assert f("exp", f("log", x**2 + a**2)) is x**2 + a**2
    assert f("exp", f("log", p)) is p


def test_odd_and_even_functions_lose_the_sign():
    assert sin(-x) is -sin(x)
    assert f("atan", a - x) is -f("atan", x - a)
    assert cos(-2 * x) is cos(2 * x)
    assert f("abs", -3 * x) is 3 * f("abs", x)
    assert f("sign", -3 * x) is -f("sign", x)


def test_functions_of_numbers_are_evaluated():
    assert sin(ZERO) is ZERO
    assert cos(ZERO) is ONE
    assert f("exp", 0) is ONE
    assert f("log", 1) is ZERO
    assert evaluate([sin(0.5), f("acos", 0), f("atan", -2)], {}) == pytest.approx(
        [math.sin(0.5), math.pi / 2, math.atan(-2)], rel=1e-15
    )


def test_functions_of_quarter_turns_are_exact():
    assert [sin(PI * Fraction(n, 2)) for n in range(5)] == [ZERO, ONE, ZERO, -ONE, ZERO]
    assert [cos(PI * Fraction(n, 2)) for n in range(5)] == [ONE, ZERO, -ONE, ZERO, ONE]
    assert f("tan", PI) is ZERO


@pytest.mark.parametrize(("name", "value"), [("log", 0), ("log", -1), ("asin", 2), ("acos", -2)])
def test_functions_outside_their_domain_are_refused(name, value):
    with pytest.raises(ModelError, match="is not defined"):
        f(name, value)


def test_function_values_too_large_are_refused():
    with pytest.raises(ModelError, match="too large"):
        f("exp", 1000)


def test_unknown_function_is_refused_with_a_guess():
    with pytest.raises(ModelError, match=r"'sine' is not a built-in function\. Did you mean 'sin'"):
        f("sine", x)


def test_absolute_value_of_what_is_never_negative():
    for e in (x**2, 3 * x**4, sqrt(x), f("abs", x), f("exp", x), 2 * x**2 * f("exp", y)):
        assert f("abs", e) is e


def test_absolute_value_of_a_product_keeps_its_number_outside():
    assert f("abs", 2 * x) is 2 * f("abs", x)
    assert f("abs", 2 * x * y) is 2 * f("abs", x * y)


# ---- atan2


def test_atan2_divides_by_the_common_factor():
    assert f("atan2", p * x, p * y) is f("atan2", x, y)
    assert f("atan2", 3 * x, 3 * y) is f("atan2", x, y)
    assert f("atan2", p * x * f("exp", z), p**2 * y * f("exp", z)) is f("atan2", x, p * y)
    assert f("atan2", (p + r) * x, (p + r) * y) is f("atan2", x, y)
    assert f("atan2", (p + a**2) * x, (p + a**2) * y) is f("atan2", x, y)


def test_atan2_keeps_factors_that_may_be_negative():
    for factor in (
        z,
        a,
        a + b,
        p - r,
        cos(z),
        z**2,
    ):  # the last one may be zero, and atan2(0, 0) is 0
        assert f("atan2", factor * x, factor * y) is not f("atan2", x, y)


def test_atan2_of_sine_and_cosine_is_within_half_a_turn():
    e = f("atan2", p * sin(x), p * cos(x))
    assert evaluate([e], {"x": 4.0}) == [pytest.approx(4 - 2 * math.pi)]


def test_atan2_of_zero_looks_at_the_sign():
    assert f("atan2", 0, p) is ZERO
    assert f("atan2", 0, x**2) is ZERO
    assert f("atan2", 0, -2 * p) is PI
    assert f("atan2", 0, 0) is ZERO
    assert evaluate([f("atan2", 0, x), f("atan2", 0, a)], {"x": -1.0, "a": -2.0}) == [
        math.pi,
        math.pi,
    ]


def test_atan2_of_numbers():
    for v, w in ((1, 2), (1, -2), (-1, -2), (1, 0), (-1, 0), (2, -2)):
        assert evaluate([f("atan2", v, w)], {}) == [pytest.approx(math.atan2(v, w), rel=1e-15)]


def test_atan2_is_odd():
    assert f("atan2", -x, y) is -f("atan2", x, y)


# ---- choices


def test_extremum_folds_numbers_and_repeats():
    assert f("min", 3, 1, 2) is ONE
    assert f("max", 3, 1, 2) is Number(3)
    assert f("min", x, x) is x
    assert f("min", x) is x
    assert f("min", 5, x, 3) is f("min", x, 3)


def test_extremum_of_several_does_not_depend_on_order():
    one = f("min", x, y, z)
    assert one is f("min", z, y, x)
    assert one is f("min", f("min", x, z), y)
    assert one is f("min", x, f("min", y, z), x)
    assert f("max", one, a) is f("max", a, f("min", y, f("min", x, z)))
    assert evaluate([f("max", x, y, z, 1)], {"x": 0.5, "y": -3.0, "z": 2.5}) == [2.5]


def test_extremum_of_nothing_is_refused():
    with pytest.raises(ModelError, match="at least one"):
        f("max")


def test_comparisons_of_numbers_are_decided():
    assert [f(n, 1, 2) for n in ("lt", "le", "gt", "ge")] == [ONE, ONE, ZERO, ZERO]
    assert [f(n, 2, 2) for n in ("lt", "le", "gt", "ge")] == [ZERO, ONE, ZERO, ONE]


def test_comparison_with_itself_is_decided():
    assert [f(n, x + a, a + x) for n in ("lt", "le", "gt", "ge")] == [ZERO, ONE, ZERO, ONE]


def test_comparison_is_one_thing_seen_from_either_side():
    assert f("lt", 0, x) is f("gt", x, 0)
    assert f("ge", a, x) is f("le", x, a)
    assert f("lt", x, y) is not f("lt", y, x)


def test_where_takes_the_branch_that_is_known():
    assert f("where", 1, x, y) is x
    assert f("where", 0, x, y) is y
    assert f("where", f("gt", 1, 2), x, y) is y
    assert f("where", z, x, x) is x


def test_where_with_comparisons():
    e = f("where", f("gt", x, 0), x**2, -x)
    assert evaluate([e], {"x": 3.0}) == [9.0]
    assert evaluate([e], {"x": -3.0}) == [3.0]
    assert evaluate([f("where", x, a, b)], {"x": -0.5, "a": 1.0, "b": 2.0}) == [1.0]


def test_branch_not_taken_does_no_harm():
    e = f("where", f("gt", x, 0), sqrt(x) + f("log", x) + 1 / x, ZERO)
    assert evaluate([e], {"x": -1.0}) == [0.0]
    assert evaluate([e], {"x": 0.0}) == [0.0]
    assert evaluate([partial(e, x)], {"x": -1.0}) == [0.0]
    assert evaluate([partial(e, x)], {"x": 0.0}) == [0.0]


# ---- user functions


class Cube:
    """A function of the user with its own derivative."""

    varies = False

    def __call__(self, value):
        return value**3

    def partial(self, index, args):
        assert index == 0
        return 3 * args[0] ** 2


def test_user_function_brings_its_derivative():
    cube = Cube()
    e = a * Func("cube", (sin(x),), cube)
    assert partial(e, x) is 3 * a * sin(x) ** 2 * cos(x)
    assert evaluate([e], {"a": 2.0, "x": 0.3}) == [pytest.approx(2 * math.sin(0.3) ** 3)]
    assert evaluate([e], {"a": 2.0, "x": 0.3}, {"cube": lambda v: 1.0}) == [2.0]
