"""Derivatives, nominal values, constant parts (Sayers 1990, table 5.3.3)."""

import pytest

from bellcrank.core.errors import ModelError
from bellcrank.symbolic.expr import (
    ONE,
    PI,
    ZERO,
    NamedSubexpression,
    Number,
    Symbol,
    apply_builtin,
    constant_part,
    cos,
    depends_on,
    derivative,
    evaluate,
    free_symbols,
    gradient,
    nominal,
    partial,
    sin,
    sqrt,
)

a, b, c = (Symbol(n) for n in "abc")
x, y = Symbol("x", "coordinate"), Symbol("y", "coordinate")
u, v = Symbol("u", "speed"), Symbol("v", "speed")
t = Symbol("t", "time")


def rates(s):
    return {x: u, y: v, t: ONE}.get(s, ZERO)


def test_constants_do_not_change():
    for e in (Number(3), a, PI, a * b + sin(c)):
        assert derivative(e, rates) is ZERO


def test_derivative_takes_the_rate_of_each_symbol():
    assert derivative(x, rates) is u
    assert derivative(a * x * y, rates) is a * (u * y + x * v)
    assert derivative(a * t**2, rates) is 2 * a * t


def test_partial_derivative_treats_others_as_constant():
    assert partial(a * x**3 + y, x) is 3 * a * x**2
    assert partial(y, x) is ZERO


def test_gradient_is_the_partial_derivatives():
    e = a * x**3 + y * sin(b * x)
    assert gradient(e, (x, y, u, a)) == [partial(e, s) for s in (x, y, u, a)]
    assert gradient(e, (u, c)) == [ZERO, ZERO]


def test_partial_derivative_needs_a_symbol():
    with pytest.raises(ModelError, match="with respect to a symbol"):
        partial(x * y, x * y)


@pytest.mark.parametrize(
    "name", ["sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "abs", "sqrt"]
)
def test_derivatives_of_functions(name):
    e = apply_builtin(name, a * x)
    for at in (0.31, 0.62):
        h = 1e-6
        plus, minus = (evaluate([e], {"a": 1.2, "x": at + s})[0] for s in (h, -h))
        assert evaluate([partial(e, x)], {"a": 1.2, "x": at})[0] == pytest.approx(
            (plus - minus) / (2 * h), rel=1e-8
        )


def test_derivatives_of_functions_of_two():
    point = {"x": 0.7, "y": 1.3, "a": 0.4}
    for e in (
        apply_builtin("atan2", y, x),
        (x + a) ** (y * a),
        apply_builtin("min", x, y),
        apply_builtin("max", x * x, y),
    ):
        for s in (x, y):
            h = 1e-6
            plus, minus = (evaluate([e], {**point, s.name: point[s.name] + d})[0] for d in (h, -h))
            assert evaluate([partial(e, s)], point)[0] == pytest.approx(
                (plus - minus) / (2 * h), abs=1e-8
            )


def test_derivative_of_a_choice_is_the_choice_of_derivatives():
    condition = apply_builtin("lt", x, a)
    assert partial(apply_builtin("where", condition, x**2, sin(x)), x) is apply_builtin(
        "where", condition, 2 * x, cos(x)
    )
    assert partial(apply_builtin("max", x, a), x) is apply_builtin(
        "where", apply_builtin("le", x, a), ZERO, ONE
    )
    assert partial(apply_builtin("sign", x), x) is ZERO
    assert partial(condition, x) is ZERO


def test_derivative_of_a_function_without_one_is_refused():
    from bellcrank.symbolic.expr import Func

    with pytest.raises(ModelError, match=r"derivative of mystery\(\) is not known"):
        partial(Func("mystery", (x,)), x)


def test_derivative_looks_into_held_results():
    assert partial(NamedSubexpression(a * x) ** 2, x) is 2 * a * NamedSubexpression(a * x)


def test_derivative_simplifies():
    assert partial(sin(x) ** 2 + a * cos(x) ** 2, y) is ZERO
    assert partial(sqrt(a + x), x) is 1 / (2 * sqrt(a + x))


def test_nominal_value_has_states_at_zero():
    assert nominal(a + b * x + c * cos(x) * u) is a
    assert nominal(a + b * cos(y)) is a + b
    assert nominal(a * t) is a * t
    assert nominal(a + b) is a + b


def test_constant_part():
    assert constant_part(a * b) is a * b
    assert constant_part(a * b + c * x - 3) is a * b - 3
    assert constant_part(-(a + x)) is -a
    assert constant_part(2 * (a - x)) is 2 * a
    assert constant_part(a * x) is ZERO
    assert constant_part(x) is ZERO
    assert constant_part(b * (a + x)) is ZERO


def test_symbols_are_listed_in_canonical_order():
    assert free_symbols(y * sin(x) + b, a * u) == [a, b, u, x, y]
    assert free_symbols(NamedSubexpression(x) + y) == [x, y]


def test_dependence_is_found_anywhere():
    assert depends_on(NamedSubexpression(sin(a * x)) + b, lambda s: s is x)
    assert not depends_on(a + b, lambda s: s.kind == "coordinate")
