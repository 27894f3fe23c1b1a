"""Numerical values, as compiled code would have them."""

import math

import numpy as np
import pytest

from bellcrank.core.errors import ModelError
from bellcrank.symbolic.expr import (
    PI,
    Func,
    NamedSubexpression,
    Number,
    Symbol,
    apply_builtin,
    evaluate,
    power,
    sqrt,
)
from bellcrank.symbolic.expr.evaluate import evaluate_vectorized

a = Symbol("a")
x = Symbol("x", "coordinate")


def value(e, **known):
    return evaluate([e], known)[0]


def test_values_are_given_by_symbol_or_name():
    assert evaluate([a * x, a + x], {a: 2.0, x: 3.0}) == [6.0, 5.0]
    assert evaluate([a * x, a + x], {"a": 2.0, "x": 3.0}) == [6.0, 5.0]


def test_many_values_at_once_are_those_one_by_one():
    forms = [3 * a**3 * x - x**2, sqrt(x) / a, power(a, x), apply_builtin("sin", a * x), Number(4)]
    known = {"a": np.array([2.0, 0.5, 3.0]), "x": np.array([1.5, 4.0, 0.25])}
    found = np.array(evaluate_vectorized(forms, known, 3)).T
    for row, at in zip(found, zip(known["a"], known["x"], strict=True), strict=True):
        assert row == pytest.approx(evaluate(forms, dict(zip("ax", at, strict=True))), rel=1e-15)


def test_any_node_may_be_given():
    z = NamedSubexpression(a + x)
    assert evaluate([2 * z], {z: 5.0}) == [10.0]
    assert evaluate([a + x], {a + x: 5.0}) == [5.0]


def test_pi_is_known():
    assert value(PI / 2) == math.pi / 2


def test_missing_value_is_named():
    with pytest.raises(ModelError, match="no value is known for x"):
        value(a * x, a=1.0)
    with pytest.raises(ModelError, match=r"no value is known for the function mystery\(\)"):
        value(Func("mystery", (a,)), a=1.0)


def test_sums_are_added_without_loss():
    terms = [Symbol(f"s{i}") for i in range(4)]
    assert evaluate(
        [terms[0] + terms[1] + terms[2] + terms[3]], dict(zip(terms, (1e100, 1.0, -1e100, 1.0)))
    ) == [2.0]


@pytest.mark.parametrize(
    ("e", "at", "expected"),
    [
        (1 / x, 0.0, math.inf),
        (1 / x, -0.0, -math.inf),
        (1 / x**2, 0.0, math.inf),
        (1 / x, 1e-320, math.inf),
        (sqrt(x), 0.0, 0.0),
        (1 / sqrt(x), 0.0, math.inf),
        (x**3, -1e200, -math.inf),
        (x**2, -1e200, math.inf),
        (apply_builtin("log", x), 0.0, -math.inf),
        (apply_builtin("exp", x), 1e4, math.inf),
        (apply_builtin("exp", x), -1e4, 0.0),
        (x + Number(10**400), 1.0, math.inf),
        (x * Number(-(10**400)), 1.0, -math.inf),
    ],
    ids=str,
)
def test_too_large_is_infinite(e, at, expected):
    assert value(e, x=at) == expected


@pytest.mark.parametrize(
    ("e", "at"),
    [
        (sqrt(x), -1.0),
        (power(x, Number(1) / 3), -8.0),
        (apply_builtin("log", x), -1.0),
        (apply_builtin("asin", x), 1.5),
        (apply_builtin("acos", x), -1.5),
        (apply_builtin("sin", x), math.inf),
        (x**a, -2.0),
        (x**a - apply_builtin("exp", x), math.inf),
    ],
    ids=str,
)
def test_undefined_is_not_a_number(e, at):
    assert math.isnan(value(e, x=at, a=0.5))


def test_sign_and_comparisons_are_numbers():
    assert [value(apply_builtin("sign", x), x=v) for v in (-2.0, 0.0, 3.0)] == [-1.0, 0.0, 1.0]
    assert [value(apply_builtin("ge", x, a), x=v, a=1.0) for v in (0.0, 1.0, 2.0)] == [
        0.0,
        1.0,
        1.0,
    ]
