"""Creators: every expression is built here, in simplest form (Sayers 1990, tables 5.3.1 to 5.3.4).

Sums and products are flattened, sorted and collected; numbers are folded exactly; common factors of all terms are
pulled out when adding; sin^2 + cos^2 goes; inverse functions cancel; terms of higher small order are dropped. Nothing
is expanded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from bellcrank.errors import ModelError
from bellcrank.expr.node import (
    MINUS_ONE,
    ONE,
    PI,
    ZERO,
    Expr,
    Func,
    Held,
    Number,
    Product,
    Rational,
    Sum,
    operand,
    rational,
)

Factors = dict[Expr, Rational]
_threshold = 2


@contextmanager
def small_threshold(threshold: int) -> Iterator[None]:
    """Terms of a sum whose small order is at least the leading order plus `threshold` are dropped inside."""
    global _threshold
    previous, _threshold = _threshold, threshold
    try:
        yield
    finally:
        _threshold = previous


def expression(value: Any) -> Expr:
    """The expression for a number or expression."""
    result = operand(value)
    if result is None:
        raise ModelError(f"expected a number or a scalar expression, not {value!r}")
    return result


def split(e: Expr) -> tuple[Rational, Expr]:
    """e as (number, core): 2*a*b is (2, a*b)."""
    if e.__class__ is Product:
        if e.coefficient == 1:  # type: ignore[attr-defined]
            return 1, e
        core = e._core  # type: ignore[attr-defined]
        if core is None:
            core = e._core = _product(1, e.factors)  # type: ignore[attr-defined]
        return e.coefficient, core  # type: ignore[attr-defined]
    if e.__class__ is Number:
        return e.value, ONE  # type: ignore[attr-defined]
    return 1, e


def factors_of(core: Expr) -> tuple[tuple[Expr, Rational], ...]:
    """The (base, exponent) pairs of a term without its number."""
    if core.__class__ is Product:
        return core.factors  # type: ignore[attr-defined,no-any-return]
    return () if core is ONE else ((core, 1),)


def _normal(value: Rational) -> Rational:
    return value.numerator if value.__class__ is Fraction and value.denominator == 1 else value


def _product(coefficient: Rational, factors: tuple[tuple[Expr, Rational], ...]) -> Expr:
    """Node for factors already merged and sorted."""
    if coefficient == 0:
        return ZERO
    if not factors:
        return Number(coefficient)
    if coefficient == 1 and len(factors) == 1 and factors[0][1] == 1:
        return factors[0][0]
    return Product(coefficient, factors)


def _from_factors(coefficient: Rational, merged: Factors) -> Expr:
    items = [(b, x) for b, x in merged.items() if x != 0]
    if len(items) > 1:
        items.sort(key=lambda item: item[0].sort)
    return _product(coefficient, tuple(items))


def mul(*args: Expr) -> Expr:
    """Product: numbers gathered, nested products flattened, equal bases merged to powers."""
    coefficient: Rational = 1
    merged: Factors = {}
    for e in args:
        c, core = split(e)
        if c != 1:
            coefficient = coefficient * c
            if coefficient == 0:
                return ZERO
        for base, exponent in factors_of(core):
            if base in merged:
                merged[base] = _normal(merged[base] + exponent)
            else:
                merged[base] = exponent
    for base in list(merged):
        if base.__class__ is Number and merged[base].__class__ is int:
            coefficient = coefficient * Fraction(base.value) ** merged.pop(base)  # type: ignore[attr-defined]
    return _from_factors(_normal(coefficient), merged)


def neg(e: Expr) -> Expr:
    c, core = split(e)
    return _product(-c, factors_of(core))


def sub(a: Expr, b: Expr) -> Expr:
    return add(a, neg(b))


def div(a: Expr, b: Expr) -> Expr:
    if b is ZERO:
        raise ModelError("division by zero")
    return mul(a, power(b, MINUS_ONE))


def power(base: Expr, exponent: Expr) -> Expr:
    """base ** exponent; integer powers of products are distributed, powers of powers merged."""
    if exponent.__class__ is not Number:
        if base is ONE or base is ZERO:
            return base
        return Func("pow", (base, exponent))
    n: Rational = exponent.value  # type: ignore[attr-defined]
    if n == 0:
        return ONE
    if n == 1:
        return base
    if base.__class__ is Number:
        return _number_power(base.value, n)  # type: ignore[attr-defined]
    c, core = split(base)
    whole = n.__class__ is int
    if not whole and (c < 0 or (core.__class__ is Product and any(x % 2 == 0 for _, x in core.factors))):  # type: ignore[attr-defined]
        return _root(base, n)
    scale = _number_power(c, n) if c != 1 else ONE
    if core.__class__ is Product and (whole or len(core.factors) == 1):  # type: ignore[attr-defined]
        merged: Factors = {b: _normal(x * n) for b, x in core.factors}  # type: ignore[attr-defined]
        return mul(scale, _from_factors(1, merged))
    return mul(scale, _from_factors(1, {core: n}))


def _root(base: Expr, n: Rational) -> Expr:
    """A fractional power of a product with even powers: sqrt(x**2) is abs(x)."""
    c, core = split(base)
    if c <= 0:
        return _product(1, ((base, n),))
    result = [_number_power(c, n)]
    rest: Factors = {}
    for b, x in factors_of(core):
        if x.__class__ is int and x % 2 == 0 and n == Fraction(1, 2):
            result.append(power(function("abs", b), Number(x // 2)))
        elif x.__class__ is int and x % 2 == 0 and n == Fraction(-1, 2):
            result.append(power(function("abs", b), Number(-(x // 2))))
        else:
            rest[b] = x
    if rest:
        left = _from_factors(1, rest)
        result.append(_from_factors(1, {left: n}) if left.__class__ is not Product else _product(1, ((left, n),)))
    return mul(*result)


def _number_power(c: Rational, n: Rational) -> Expr:
    if n.__class__ is int:
        if c == 0 and n < 0:
            raise ModelError("division by zero")
        return Number(rational(Fraction(c) ** n))
    if c < 0:
        raise ModelError(f"({c}) ** ({n}) is not real")
    exact = _exact_root(Fraction(c), Fraction(n))
    if exact is not None:
        return Number(rational(exact))
    return Product(1, ((Number(c), n),))


def _exact_root(c: Fraction, n: Fraction) -> Fraction | None:
    if n.denominator != 2:
        return None
    top, bottom = math.isqrt(c.numerator), math.isqrt(c.denominator)
    if top * top == c.numerator and bottom * bottom == c.denominator:
        return Fraction(top, bottom) ** n.numerator
    return None


def add(*args: Expr) -> Expr:
    """Sum: flattened, collected, negligible terms dropped, sin^2 + cos^2 removed, common factors pulled out."""
    merged: dict[Expr, Rational] = {}
    for e in args:
        c, core = split(e)
        if c == 0:
            continue
        if core.__class__ is Sum and (c == 1 or c == -1):
            for inner, k in core.terms:  # type: ignore[attr-defined]
                _accumulate(merged, inner, k * c)
        else:
            _accumulate(merged, core, c)
    return _collected(merged)


def _accumulate(merged: dict[Expr, Rational], core: Expr, c: Rational) -> None:
    if core in merged:
        total = _normal(merged[core] + c)
        if total == 0:
            del merged[core]
        else:
            merged[core] = total
    else:
        merged[core] = c


def _collected(merged: dict[Expr, Rational]) -> Expr:
    if any(core.order for core in merged):
        lowest = min(core.order for core in merged)
        merged = {core: c for core, c in merged.items() if core.order < lowest + _threshold}
    if len(merged) > 1:
        merged = _pythagoras(merged)
    if not merged:
        return ZERO
    if len(merged) == 1:
        ((core, c),) = merged.items()
        if core.__class__ is Sum and c == 1:
            return core
        return _product(c, factors_of(core))
    common = common_factors(merged)
    if common:
        divided: dict[Expr, Rational] = {}
        for core, c in merged.items():
            rest = dict(factors_of(core))
            for base, exponent in common.items():
                rest[base] = _normal(rest[base] - exponent)
            reduced = _from_factors(1, rest)
            if reduced.__class__ is Sum:
                for inner, k in reduced.terms:  # type: ignore[attr-defined]
                    _accumulate(divided, inner, _normal(k * c))
            else:
                _accumulate(divided, reduced, c)
        return mul(_from_factors(1, common), _collected(divided))
    items = sorted(merged.items(), key=lambda item: item[0].sort)
    scale: Rational = 1
    size = abs(items[0][1])
    if size != 1 and all(abs(c) == size for _, c in items):
        scale = size
    if items[0][1] < 0:
        scale = -scale
    if scale != 1:
        items = [(core, _normal(c / Fraction(scale))) for core, c in items]
        if any(core.__class__ is Sum for core, _ in items):
            return mul(Number(scale), add(*(mul(Number(c), core) for core, c in items)))
        return Product(scale, ((Sum(tuple(items)), 1),))
    return Sum(tuple(items))


def common_factors(cores: Iterable[Expr]) -> Factors:
    """The greatest common factor of the given terms, numbers apart."""
    common: Factors | None = None
    for core in cores:
        if core is ONE:
            return {}
        pairs = factors_of(core)
        if common is None:
            common = dict(pairs)
            continue
        here = dict(pairs)
        for base in list(common):
            x, y = common[base], here.get(base, 0)
            if x > 0 and y > 0:
                common[base] = min(x, y)
            elif x < 0 and y < 0:
                common[base] = max(x, y)
            else:
                del common[base]
        if not common:
            return {}
    return common or {}


def _pythagoras(merged: dict[Expr, Rational]) -> dict[Expr, Rational]:
    """a sin^2 + a cos^2 -> a, a - a sin^2 -> a cos^2, a - a cos^2 -> a sin^2."""
    for core in list(merged):
        c = merged.get(core)
        if c is None:
            continue
        for base, exponent in factors_of(core):
            if exponent != 2 or base.__class__ is not Func or base.name not in ("sin", "cos"):  # type: ignore[attr-defined]
                continue
            rest = dict(factors_of(core))
            del rest[base]
            other = Func("cos" if base.name == "sin" else "sin", base.args)  # type: ignore[attr-defined]
            partner = _from_factors(1, {**rest, other: rest.get(other, 0) + 2})
            bare = _from_factors(1, rest)
            if merged.get(partner) == c:
                del merged[core], merged[partner]
                _accumulate(merged, bare, c)
                return _pythagoras(merged)
            if merged.get(bare) == -c:
                del merged[core], merged[bare]
                _accumulate(merged, partner, -c)
                return _pythagoras(merged)
    return merged


# ---------------------------------------------------------------------------------------------------- functions

_INVERSE = {"sin": "asin", "cos": "acos", "tan": "atan", "asin": "sin", "acos": "cos", "atan": "tan", "exp": "log", "log": "exp"}
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
    (x,) = args
    if x.order > 0 and name in _SERIES:
        return _series(name, x)
    inner = x.definition if x.__class__ is Held else x  # type: ignore[attr-defined]
    if name in _INVERSE and inner.__class__ is Func and inner.name == _INVERSE[name]:  # type: ignore[attr-defined]
        return inner.args[0]  # type: ignore[attr-defined,no-any-return]
    c, core = split(x)
    if c < 0 and (name in _ODD or name in _EVEN):
        inside = function(name, neg(x))
        return neg(inside) if name in _ODD else inside
    if x.__class__ is Number:
        return _numeric(name, x.value)  # type: ignore[attr-defined]
    if core is PI and Fraction(2 * c).denominator == 1:
        folded = _quarter_turn(name, int(2 * c))
        if folded is not None:
            return folded
    if name == "abs" and x.__class__ is Func and x.name in ("abs", "exp"):  # type: ignore[attr-defined]
        return x
    if name == "abs" and core.__class__ is Product and c != 1:
        return mul(Number(c), function("abs", core))
    return Func(name, (x,))


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
        return Number(abs(value))
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


def _series(name: str, x: Expr) -> Expr:
    """Truncated Taylor series for a small argument."""
    terms = [
        mul(Number(c), power(x, Number(k))) if k else Number(c) for k, c in enumerate(_SERIES[name]) if c != 0
    ]
    return add(*terms)


def _atan2(y: Expr, x: Expr) -> Expr:
    (cy, core_y), (cx, core_x) = split(y), split(x)
    if y is ZERO:
        return ZERO
    if (
        core_y.__class__ is Func
        and core_x.__class__ is Func
        and (core_y.name, core_x.name) == ("sin", "cos")  # type: ignore[attr-defined]
        and core_y.args == core_x.args  # type: ignore[attr-defined]
        and cx == abs(cy)
    ):
        angle = core_y.args[0]  # type: ignore[attr-defined]
        return angle if cy > 0 else neg(angle)  # type: ignore[no-any-return]
    common = {b: p for b, p in common_factors((core_y, core_x)).items() if _positive(b, p)}
    if common or abs(cx) == abs(cy) != 1:
        g = mul(Number(abs(cx)), _from_factors(1, common)) if abs(cx) == abs(cy) else _from_factors(1, common)
        return _atan2(div(y, g), div(x, g))
    if y.order > x.order:
        return _series("atan", div(y, x))
    if y.__class__ is Number and x.__class__ is Number:
        return Number(rational(math.atan2(y.value, x.value)))  # type: ignore[attr-defined]
    if cy < 0:
        return neg(Func("atan2", (neg(y), x)))
    return Func("atan2", (y, x))


def _positive(base: Expr, exponent: Rational) -> bool:
    """May the factor be cancelled from both arguments of atan2? Parameters and powers that cannot be negative."""
    return base.constant or (exponent.__class__ is int and exponent % 2 == 0) or exponent.__class__ is Fraction


def _extremum(name: str, args: tuple[Expr, ...]) -> Expr:
    distinct = list(dict.fromkeys(args))
    numbers = [a.value for a in distinct if a.__class__ is Number]  # type: ignore[attr-defined]
    rest = sorted((a for a in distinct if a.__class__ is not Number), key=lambda a: a.sort)
    if numbers:
        rest.insert(0, Number(min(numbers) if name == "min" else max(numbers)))
    result = rest[0]
    for other in rest[1:]:
        result = Func(name, (result, other))
    return result


def _compare(name: str, a: Expr, b: Expr) -> Expr:
    if a.__class__ is Number and b.__class__ is Number:
        x, y = a.value, b.value  # type: ignore[attr-defined]
        return Number(int({"lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[name]))
    return Func(name, (a, b))


def _where(condition: Expr, yes: Expr, no: Expr) -> Expr:
    """`yes` where the condition holds (a comparison, or a value that is not zero), else `no`."""
    if yes is no:
        return yes
    if condition.__class__ is Number:
        return yes if condition.value != 0 else no  # type: ignore[attr-defined]
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
