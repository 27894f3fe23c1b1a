"""Functions in simplest form: inverse functions cancel, numbers are folded, small arguments become series.

Sayers (1990), table 5.3.1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from bellcrank.errors import ModelError, did_you_mean
from bellcrank.expr.construct import (
    add,
    common_factors,
    div,
    expression,
    factors_of,
    from_factors,
    mul,
    neg,
    power,
    split,
)
from bellcrank.expr.node import ONE, PI, ZERO, Expr, Func, Held, Number, Rational, Sum, Symbol, rational, size

_PAIRS = (("sin", "asin"), ("cos", "acos"), ("tan", "atan"), ("exp", "log"))
_INVERSE = {**dict(_PAIRS), **{b: a for a, b in _PAIRS}}
_ODD = {"sin", "tan", "asin", "atan", "sign"}
_EVEN = {"cos", "abs"}
_NUMERIC = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "exp": math.exp,
    "log": math.log,
}
# Coefficients of x, x^2, ... of the series used for small arguments; the value at 0 comes first.
_SERIES: dict[str, list[Rational]] = {
    "sin": [0, 1, 0, Fraction(-1, 6), 0, Fraction(1, 120), 0, Fraction(-1, 5040)],
    "cos": [1, 0, Fraction(-1, 2), 0, Fraction(1, 24), 0, Fraction(-1, 720)],
    "tan": [0, 1, 0, Fraction(1, 3), 0, Fraction(2, 15), 0, Fraction(17, 315)],
    "asin": [0, 1, 0, Fraction(1, 6), 0, Fraction(3, 40), 0, Fraction(15, 336)],
    "atan": [0, 1, 0, Fraction(-1, 3), 0, Fraction(1, 5), 0, Fraction(-1, 7)],
    "exp": [1, 1, Fraction(1, 2), Fraction(1, 6), Fraction(1, 24), Fraction(1, 120)],
}
ARITY = {
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "sqrt", "exp", "log", "abs", "sign"), 1),
    **dict.fromkeys(("atan2", "pow", "lt", "le", "gt", "ge"), 2),
    "where": 3,
}


def function(name: str, *args: Expr) -> Expr:
    """A built-in function in simplest form."""
    if name == "sqrt":
        return power(args[0], Number(Fraction(1, 2)))
    if name in ("min", "max"):
        return _extremum(name, args)
    if name == "atan2":
        return _atan2(*args)
    if name == "pow":
        return power(*args)
    if name == "where":
        return _where(*args)
    if name in ("lt", "le", "gt", "ge"):
        return _compare(name, *args)
    if name not in ARITY:
        raise ModelError(f"'{name}' is not a built-in function.{did_you_mean(name, ARITY)}")
    (x,) = args
    if x.order > 0 and name in _SERIES:
        return _series(name, x)
    inner = x.definition if x.__class__ is Held else x
    if inner.__class__ is Func and inner.name == _INVERSE.get(name):
        return inner.args[0]
    c, core = split(x)
    if c < 0 and (name in _ODD or name in _EVEN):
        inside = function(name, neg(x))
        return neg(inside) if name in _ODD else inside
    if x.__class__ is Number:
        return _numeric(name, x.value)
    if core is PI and Fraction(2 * c).denominator == 1:
        folded = _quarter_turn(name, int(2 * c))
        if folded is not None:
            return folded
    if name == "abs":
        if all(_never_negative(b, n) for b, n in factors_of(core)):
            return x
        if c != 1:
            return mul(Number(c), function("abs", core))
    if name == "sign" and c != 1:
        return function("sign", core)
    return Func(name, (x,))


def _never_negative(base: Expr, exponent: Rational) -> bool:
    """Even powers, roots, absolute values, exponentials."""
    if exponent.__class__ is int and exponent % 2:
        return base.__class__ is Func and base.name in ("abs", "exp") and base.function is None
    return True


def _quarter_turn(name: str, quarters: int) -> Expr | None:
    sine, cosine = (0, 1, 0, -1)[quarters % 4], (1, 0, -1, 0)[quarters % 4]
    if name == "sin":
        return Number(sine)
    if name == "cos":
        return Number(cosine)
    if name == "tan":
        return ZERO if sine == 0 else None
    return None


def _numeric(name: str, value: Rational) -> Expr:
    if name == "abs":
        return Number(size(value))
    if name == "sign":
        return Number((value > 0) - (value < 0))
    if value == 0 and name != "log":
        return {"cos": ONE, "exp": ONE}.get(name, Number(rational(_NUMERIC[name](0.0))) if name == "acos" else ZERO)
    if value == 1 and name == "log":
        return ZERO
    try:
        return Number(rational(_NUMERIC[name](float(value))))
    except ValueError:
        raise ModelError(f"{name}({value}) is not defined") from None
    except OverflowError:
        raise ModelError(f"{name}({value}) is too large a number") from None


def _series(name: str, x: Expr) -> Expr:
    """Truncated Taylor series for a small argument."""
    return add(*(mul(Number(c), power(x, Number(k))) for k, c in enumerate(_SERIES[name]) if c != 0))


def _atan2(y: Expr, x: Expr) -> Expr:
    """Angle of the point (x, y); factors that cannot be negative are cancelled, parameters counted among them."""
    (cy, core_y), (cx, core_x) = split(y), split(x)
    if y is ZERO and all(_positive(b, p) for b, p in factors_of(core_x)):
        return PI if cx < 0 else ZERO
    if (
        core_y.__class__ is Func
        and core_x.__class__ is Func
        and (core_y.name, core_x.name) == ("sin", "cos")
        and core_y.args == core_x.args
        and cx == abs(cy)
    ):
        angle = core_y.args[0]
        return angle if cy > 0 else neg(angle)
    common = {b: p for b, p in common_factors((core_y, core_x)).items() if _positive(b, p)}
    if common or abs(cx) == abs(cy) != 1:
        g = mul(Number(size(cx)), from_factors(1, common)) if abs(cx) == abs(cy) else from_factors(1, common)
        return _atan2(div(y, g), div(x, g))
    if y.order > x.order and cx > 0:
        return _series("atan", div(y, x))
    if y.__class__ is Number and x.__class__ is Number:
        return Number(rational(math.atan2(y.value, x.value)))
    if cy < 0:
        return neg(Func("atan2", (neg(y), x)))
    return Func("atan2", (y, x))


def _positive(base: Expr, exponent: Rational) -> bool:
    """May the factor be cancelled from both arguments of atan2? Parameters, their sums, and what is never negative."""
    if base.__class__ is Sum:
        if all(c > 0 and all(_plainly_positive(b, p) for b, p in factors_of(core)) for core, c in base.terms):
            return True
    return _plainly_positive(base, exponent)


def _plainly_positive(base: Expr, exponent: Rational) -> bool:
    return (base.__class__ is Symbol and base.constant) or _never_negative(base, exponent)


def _extremum(name: str, args: tuple[Expr, ...]) -> Expr:
    """The least or greatest of the arguments: repeated ones once, numbers first, the others in canonical order."""
    if not args:
        raise ModelError(f"{name}() needs at least one argument")
    distinct: dict[Expr, None] = {}
    numbers: list[Rational] = []
    waiting = list(args)
    while waiting:
        a = waiting.pop()
        if a.__class__ is Number:
            numbers.append(a.value)
        elif a.__class__ is Func and a.name == name and a.function is None:
            waiting.extend(a.args)
        else:
            distinct[a] = None
    rest = sorted(distinct, key=lambda a: a.sort)
    if numbers:
        rest.insert(0, Number(min(numbers) if name == "min" else max(numbers)))
    result = rest[0]
    for other in rest[1:]:
        result = Func(name, (result, other))
    return result


_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def _compare(name: str, a: Expr, b: Expr) -> Expr:
    if a.__class__ is Number and b.__class__ is Number:
        x, y = a.value, b.value
        return Number(int({"lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[name]))
    if a is b:
        return ONE if name in ("le", "ge") else ZERO
    if a.sort < b.sort:  # the simpler one stands on the right: x > 0
        a, b, name = b, a, _MIRRORED[name]
    return Func(name, (a, b))


def _where(condition: Expr, yes: Expr, no: Expr) -> Expr:
    """`yes` where the condition holds (a comparison, or a value that is not zero), else `no`."""
    if yes is no:
        return yes
    if condition.__class__ is Number:
        return yes if condition.value != 0 else no
    return Func("where", (condition, yes, no))


def sin(x: Any) -> Expr:
    return function("sin", expression(x))


def cos(x: Any) -> Expr:
    return function("cos", expression(x))


def sqrt(x: Any) -> Expr:
    return function("sqrt", expression(x))


def square(x: Expr) -> Expr:
    return mul(x, x)


def call(name: str, args: Iterable[Expr], user: Any) -> Expr:
    """A user function (external routine or table) of the arguments."""
    return Func(name, tuple(args), user)
