"""Creators: every expression is built here, in simplest form (Sayers 1990, tables 5.3.1 to 5.3.4).

Sums and products are flattened, sorted and collected; numbers are folded exactly; common factors of all terms are
pulled out when adding; sin^2 + cos^2 goes; inverse functions cancel; terms of higher small order are dropped. Nothing
is expanded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from bellcrank.errors import ModelError, did_you_mean
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
    Symbol,
    operand,
    rational,
    size,
)

Factors = dict[Expr, Rational]
Terms = dict[Expr, Rational]
_threshold = 2
_LARGEST_POWER = 10_000  # bits of a number raised to a power: 9**9**9 is a slip, not a number


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
        if e.coefficient == 1:
            return 1, e
        core = e._core
        if core is None:
            core = e._core = _product(1, e.factors)
        return e.coefficient, core
    if e.__class__ is Number:
        return e.value, ONE
    return 1, e


def factors_of(core: Expr) -> tuple[tuple[Expr, Rational], ...]:
    """The (base, exponent) pairs of a term without its number."""
    if core.__class__ is Product:
        return core.factors
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
    """The coefficient times the merged factors."""
    items = []
    for item in merged.items():
        base, exponent = item
        if exponent:
            if (base.__class__ is Number or base.__class__ is Product) and exponent.__class__ is int:
                # roots that met: their base is no longer under a root and dissolves in the product
                return mul(Number(coefficient), *(power(b, Number(x)) for b, x in merged.items()))
            items.append(item)
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
    n: Rational = exponent.value
    if n == 0:
        return ONE
    if n == 1:
        return base
    if base.__class__ is Number:
        return _number_power(base.value, n)
    c, core = split(base)
    whole = n.__class__ is int
    if not whole and (c < 0 or (core.__class__ is Product and any(x % 2 == 0 for _, x in core.factors))):
        return _root(base, n)
    scale = _number_power(c, n) if c != 1 else ONE
    if core.__class__ is Product and (whole or len(core.factors) == 1):
        merged: Factors = {b: _normal(x * n) for b, x in core.factors}
        return mul(scale, _from_factors(1, merged))
    return mul(scale, _from_factors(1, {core: n}))


def _root(base: Expr, n: Rational) -> Expr:
    """A fractional power of a product with even powers or a negative number: sqrt(x**2 * y) is abs(x) * sqrt(y)."""
    c, core = split(base)
    result = [_number_power(size(c), n)]
    if c < 0:
        return mul(*result, Product(1, ((neg(core), n),)))
    rest: Factors = {}
    for b, x in factors_of(core):
        if x % 2 == 0:
            m = _normal(x * n)
            result.append(power(b if m % 2 == 0 else function("abs", b), Number(m)))
        else:
            rest[b] = x
    return mul(*result, power(_from_factors(1, rest), Number(n)))


def _number_power(c: Rational, n: Rational) -> Expr:
    if c == 0:
        if n < 0:
            raise ModelError("division by zero")
        return ZERO
    c = Fraction(c)
    if size(n) * max(c.numerator.bit_length(), c.denominator.bit_length()) > _LARGEST_POWER:
        raise ModelError(f"{c} to the power {n} has too many digits")
    if n.__class__ is int:
        return Number(_normal(c**n))
    if c < 0:
        raise ModelError(f"({c}) ** ({n}) is not real")
    top, bottom = _whole_root(c.numerator, n.denominator), _whole_root(c.denominator, n.denominator)
    if top is not None and bottom is not None:
        return Number(_normal(Fraction(top, bottom) ** n.numerator))
    return Product(1, ((Number(c), n),))


def _whole_root(value: int, degree: int) -> int | None:
    """The degree-th root of a whole number, if it is one."""
    if degree != 2 and value.bit_length() > 1000:
        return None
    root = math.isqrt(value) if degree == 2 else round(value ** (1 / degree))
    return root if root**degree == value else None


def add(*args: Expr) -> Expr:
    """Sum: flattened, collected, negligible terms dropped, sin^2 + cos^2 removed, common factors pulled out."""
    merged: Terms = {}
    for e in args:
        c, core = split(e)
        if c == 0:
            continue
        _accumulate_flat(merged, core, c)
    return _collected(merged)


def _accumulate(merged: Terms, core: Expr, c: Rational) -> None:
    if core in merged:
        total = _normal(merged[core] + c)
        if total == 0:
            del merged[core]
        else:
            merged[core] = total
    else:
        merged[core] = c


def _accumulate_flat(merged: Terms, core: Expr, c: Rational) -> None:
    """The same for a core that may be a sum: its terms are taken one by one, unless that needs multiplications."""
    if core.__class__ is Sum and (c == 1 or c == -1):
        for inner, k in core.terms:
            _accumulate(merged, inner, k * c)
    else:
        _accumulate(merged, core, c)


def leading(merged: Terms) -> Terms:
    """The terms that are not negligible beside the one of the lowest small order."""
    if any(core.order for core in merged):
        lowest = min(core.order for core in merged)
        return {core: c for core, c in merged.items() if core.order < lowest + _threshold}
    return merged


def _collected(merged: Terms) -> Expr:
    merged = leading(merged)
    if len(merged) > 1:
        pythagoras(merged)
    if not merged:
        return ZERO
    if len(merged) == 1:
        ((core, c),) = merged.items()
        return _product(c, factors_of(core))
    common = common_factors(merged)
    if common:
        divided: Terms = {}
        for core, c in merged.items():
            rest = dict(factors_of(core))
            for base, exponent in common.items():
                rest[base] = _normal(rest[base] - exponent)
            k, reduced = split(_from_factors(1, rest))
            _accumulate_flat(divided, reduced, c if k == 1 else _normal(k * c))
        return mul(_from_factors(1, common), _collected(divided))
    items = sorted(merged.items(), key=lambda item: item[0].sort)
    sums = items[-1][0].__class__ is Sum  # sums come last
    if sums and _absorb(merged):
        return _collected(merged)
    scale: Rational = 1
    first = size(items[0][1])
    if first != 1 and all(abs(c) == first for _, c in items):
        scale = first
    if items[0][1] < 0:
        scale = -scale
    if scale != 1:
        if scale == -1:
            items = [(core, -c) for core, c in items]
        else:
            items = [(core, _normal(c / Fraction(scale))) for core, c in items]
        if sums:
            return mul(Number(scale), add(*(mul(Number(c), core) for core, c in items)))
        return Product(scale, ((Sum(tuple(items)), 1),))
    return Sum(tuple(items))


def _absorb(merged: Terms) -> bool:
    """2*(a + b) - a - b -> a + b: terms that make up a sum which is itself a term."""
    for core in list(merged):
        if core.__class__ is not Sum:
            continue
        first, k = core.terms[0]
        ratio = merged.get(first, 0) / Fraction(k)
        if ratio and all(merged.get(inner) == ratio * k for inner, k in core.terms):
            for inner, _ in core.terms:
                del merged[inner]
            total = _normal(merged.pop(core) + ratio)
            if total:
                _accumulate_flat(merged, core, total)
            return True
    return False


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


def pythagoras(merged: Terms) -> None:
    """a sin^2 + a cos^2 -> a, then a - a sin^2 -> a cos^2, a - a cos^2 -> a sin^2, in place, until none is left."""
    squares = _squares(merged)
    while squares:
        squares.sort(key=lambda item: (item[0].sort, item[1].sort))  # the choice does not depend on the order of terms
        if not _applied(_joined, merged, squares) and not _applied(_turned, merged, squares):
            return
        squares = _squares(merged)


def _applied(rule: Callable[[Terms, Expr, Func], bool], merged: Terms, squares: list[tuple[Expr, Func]]) -> bool:
    """Applies a rule wherever it can be; tells whether it could be anywhere."""
    return any([core in merged and rule(merged, core, square) for core, square in squares])


def _squares(merged: Terms) -> list[tuple[Expr, Func]]:
    """Terms with a squared sine or cosine among their factors, and that factor."""
    found: list[tuple[Expr, Func]] = []
    for core in merged:
        if core.__class__ is Product:
            for base, exponent in core.factors:
                if exponent == 2 and base.__class__ is Func and (base.name == "sin" or base.name == "cos"):
                    found.append((core, base))
    return found


def _exchanged(core: Expr, square: Func) -> tuple[Expr, Expr]:
    """The term without the square, and with that of the other function instead."""
    rest = dict(factors_of(core))
    del rest[square]
    other = Func("cos" if square.name == "sin" else "sin", square.args)
    return _from_factors(1, rest), _from_factors(1, {**rest, other: _normal(rest.get(other, 0) + 2)})


def _joined(merged: Terms, core: Expr, square: Func) -> bool:
    bare, partner = _exchanged(core, square)
    c = merged[core]
    if merged.get(partner) != c:
        return False
    del merged[core], merged[partner]
    _accumulate_flat(merged, bare, c)
    return True


def _turned(merged: Terms, core: Expr, square: Func) -> bool:
    bare, partner = _exchanged(core, square)
    c = merged[core]
    missing = bare.terms if bare.__class__ is Sum and bare not in merged else ((bare, 1),)
    if any(merged.get(inner) != -k * c for inner, k in missing):
        return False
    del merged[core]
    for inner, _ in missing:
        del merged[inner]
    _accumulate(merged, partner, -c)
    return True


# ---------------------------------------------------------------------------------------------------- functions

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
        g = mul(Number(size(cx)), _from_factors(1, common)) if abs(cx) == abs(cy) else _from_factors(1, common)
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
