"""Creators: every expression is built here, in simplest form (Sayers 1990, tables 5.3.1 to 5.3.4).

Sums and products are flattened, sorted and collected; numbers are folded exactly; common factors of
all terms are pulled out when adding; sin^2 + cos^2 goes; inverse functions cancel where they are
inverse for every value; terms of higher small order are dropped. Nothing is expanded.

No rule changes a value where the written text has one: a root that is squared stays a root unless
what is under it is known never to be negative. What cancels with itself (x - x, x/x, 0 x) goes,
whatever it is.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from threading import RLock
from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.symbolic.expr.node import (
    LONG,
    MINUS_ONE,
    NEVER_NEGATIVE,
    ONE,
    POSITIVE,
    ZERO,
    Expr,
    Func,
    Number,
    Product,
    Rational,
    Sum,
    abs_rational,
    normalize_rational,
    try_expression,
)
from bellcrank.symbolic.expr.sum_index import OTHER, build_sum_index

Factors = dict[Expr, Rational]
Terms = dict[Expr, Rational]
_threshold = 2
_turns = RLock()
_LARGEST_POWER = 10_000  # bits of a number raised to a power: 9**9**9 is a slip, not a number


@contextmanager
def small_threshold(threshold: int) -> Iterator[None]:
    """Terms of a sum whose small order is at least the leading order plus `threshold` are dropped
    inside.

    Threads take turns here: the threshold holds for all expressions that are made.
    """
    global _threshold
    with _turns:
        previous, _threshold = _threshold, threshold
        try:
            yield
        finally:
            _threshold = previous


def expression(value: Any) -> Expr:
    """The expression for a number or expression."""
    result = try_expression(value)
    if result is None:
        raise ModelError(f"expected a number or a scalar expression, not {value!r}")
    return result


def split_coefficient(e: Expr) -> tuple[Rational, Expr]:
    """e as (number, core): 2*a*b is (2, a*b)."""
    if e.__class__ is Product:
        if e.coefficient == 1:
            return 1, e
        core = e._core
        if core is None:
            core = e._core = _product_node(1, e.factors)
        return e.coefficient, core
    if e.__class__ is Number:
        return e.value, ONE
    return 1, e


def term_factors(core: Expr) -> tuple[tuple[Expr, Rational], ...]:
    """The (base, exponent) pairs of a term without its number."""
    if core.__class__ is Product:
        return core.factors
    return () if core is ONE else ((core, 1),)


def _product_node(coefficient: Rational, factors: tuple[tuple[Expr, Rational], ...]) -> Expr:
    """Node for factors already merged and sorted."""
    if coefficient == 0:
        return ZERO
    if not factors:
        return Number(coefficient)
    if coefficient == 1 and len(factors) == 1 and factors[0][1] == 1:
        return factors[0][0]
    return Product(coefficient, factors)


def product_of_factors(coefficient: Rational, merged: Factors) -> Expr:
    """The coefficient times the merged factors."""
    items = []
    for item in merged.items():
        base, exponent = item
        if exponent:
            if (
                base.__class__ is Number or base.__class__ is Product
            ) and exponent.__class__ is int:
                # roots that met: their base is no longer under a root and dissolves in the product
                return mul(Number(coefficient), *(power(b, Number(x)) for b, x in merged.items()))
            items.append(item)
    if len(items) > 1:
        items.sort(key=lambda item: item[0].sort)
    return _product_node(coefficient, tuple(items))


def mul(*args: Expr) -> Expr:
    """Product: numbers gathered, nested products flattened, equal bases merged to powers."""
    coefficient: Rational = 1
    merged: Factors = {}
    roots: list[Expr] = []
    for e in args:
        c, core = split_coefficient(e)
        if c != 1:
            coefficient = coefficient * c
            if coefficient == 0:
                return ZERO
        for base, exponent in term_factors(core):
            if base in merged:
                if exponent.__class__ is Fraction:
                    roots.append(base)
                merged[base] = normalize_rational(merged[base] + exponent)
            else:
                merged[base] = exponent
    for base in roots:
        _keep_merged_root(merged, base)
    return product_of_factors(normalize_rational(coefficient), merged)


def _keep_merged_root(merged: Factors, base: Expr) -> None:
    """Roots that met and became a whole power stay roots, unless their base is known never to be
    negative."""
    exponent = merged.get(base, 0)
    if exponent.__class__ is int and exponent and base.sign == base.order == 0:
        del merged[base]
        root = Func("sqrt", (base,))
        merged[root] = merged.get(root, 0) + 2 * exponent


def neg(e: Expr) -> Expr:
    c, core = split_coefficient(e)
    return _product_node(-c, term_factors(core))


def sub(a: Expr, b: Expr) -> Expr:
    return add(a, neg(b))


def div(a: Expr, b: Expr) -> Expr:
    if b is ZERO:
        raise ModelError("division by zero")
    return mul(a, power(b, MINUS_ONE))


def power(base: Expr, exponent: Expr) -> Expr:
    """base ** exponent; integer powers of products are distributed, powers of powers merged."""
    if exponent.__class__ is not Number:
        if base is ONE or (base is ZERO and exponent.sign == POSITIVE):
            return base
        return Func("pow", (base, exponent))
    n: Rational = exponent.value
    if n == 0:
        return ONE
    if n == 1:
        return base
    if base.__class__ is Number:
        return _number_power(base.value, n)
    c, core = split_coefficient(base)
    is_integer = n.__class__ is int
    if not is_integer and (
        c < 0 or (core.__class__ is Product and any(x % 2 == 0 for _, x in core.factors))
    ):
        return _root(base, n)
    scale = _number_power(c, n) if c != 1 else ONE
    if core.__class__ is Product and (is_integer or len(core.factors) == 1):
        merged: Factors = {b: normalize_rational(x * n) for b, x in core.factors}
        if is_integer:
            for b, x in core.factors:
                if x.__class__ is Fraction:
                    _keep_merged_root(merged, b)
            return mul(scale, product_of_factors(1, merged))
        ((b, x),) = merged.items()
        if x.__class__ is not int or b.sign or b.order:
            return mul(scale, product_of_factors(1, merged))
    return mul(scale, product_of_factors(1, {core: n}))


def _root(base: Expr, n: Rational) -> Expr:
    """A fractional power of a product with even powers or a negative number: sqrt(x**2 * y) is
    abs(x) * sqrt(y)."""
    c, core = split_coefficient(base)
    result = [_number_power(abs_rational(c), n)]
    if c < 0:
        return mul(*result, Product(1, ((neg(core), n),)))
    odd_factors: Factors = {}
    for b, x in term_factors(core):
        if x % 2 == 0:
            m = normalize_rational(x * n)
            if m % 2 == 0:
                result.append(power(b, Number(m)))
            elif b.__class__ is Func and b.name == "sqrt":  # a root that was kept in a whole power
                result.append(power(b.args[0], Number(normalize_rational(Fraction(m, 2)))))
            else:
                result.append(power(absolute(b), Number(m)))
        else:
            odd_factors[b] = x
    return mul(*result, power(product_of_factors(1, odd_factors), Number(n)))


def absolute(x: Expr) -> Expr:
    """abs(x); what is never negative is its own."""
    c, core = split_coefficient(x)
    return mul(
        Number(abs_rational(c)), core if core.sign >= NEVER_NEGATIVE else Func("abs", (core,))
    )


def _number_power(c: Rational, n: Rational) -> Expr:
    if c == 0:
        if n < 0:
            raise ModelError("division by zero")
        return ZERO
    c = Fraction(c)
    if abs_rational(n) * max(c.numerator.bit_length(), c.denominator.bit_length()) > _LARGEST_POWER:
        raise ModelError(f"{c} to the power {n} has too many digits")
    if n.__class__ is int:
        return Number(normalize_rational(c**n))
    if c < 0:
        raise ModelError(f"({c}) ** ({n}) is not real")
    top, bottom = (
        _exact_integer_root(c.numerator, n.denominator),
        _exact_integer_root(c.denominator, n.denominator),
    )
    if top is not None and bottom is not None:
        return Number(normalize_rational(Fraction(top, bottom) ** n.numerator))
    return Product(1, ((Number(c), n),))


def _exact_integer_root(value: int, degree: int) -> int | None:
    """The degree-th root of a whole number, if it is one."""
    if degree != 2 and value.bit_length() > 1000:
        return None
    root = math.isqrt(value) if degree == 2 else round(value ** (1 / degree))
    return root if root**degree == value else None


def add(*args: Expr) -> Expr:
    """Sum: flattened, collected, negligible terms dropped, sin^2 + cos^2 removed, common factors
    pulled out."""
    if len(args) == 2:
        first, second = args
        result = _insert_term(first, second) or _insert_term(second, first)
        if result is not None:
            return result
    merged: Terms = {}
    for e in args:
        c, core = split_coefficient(e)
        if c == 0:
            continue
        _accumulate_flat(merged, core, c)
    return _sum_of_terms(merged)


def _insert_term(total: Expr, e: Expr) -> Expr | None:
    """A long sum, or one with all signs changed, and a term that only takes its place among the
    others; None if there may be more to do."""
    sign = 1
    if total.__class__ is Product and len(total.factors) == 1 and total.coefficient == -1:
        sign, total = -1, total.factors[0][0] if total.factors[0][1] == 1 else ONE
    if total.__class__ is not Sum or len(total.terms) <= LONG:
        return None
    c, core = split_coefficient(e)
    c = sign * c
    terms = total.terms
    position = bisect_left(terms, core.sort, key=lambda item: item[0].sort)
    if c == 0 or position == 0 or (position < len(terms) and terms[position][0].sort == core.sort):
        return None
    index = total.index
    if index is None:  # as yet
        plain = terms[0][1] > 0 and not common_factors(total.parts)
        index = build_sum_index((k, n, term_factors(k)) for k, n in terms) if plain else None
        total.index = index = index or False
    if not index or not index.try_add_term(core, c, term_factors(core)):
        return None
    result = total.insert_term(position, core, c)
    return result if sign == 1 else Product(-1, ((result, 1),))


def _accumulate_term(merged: Terms, core: Expr, c: Rational) -> None:
    if core in merged:
        total = normalize_rational(merged[core] + c)
        if total == 0:
            del merged[core]
        else:
            merged[core] = total
    else:
        merged[core] = c


def _accumulate_flat(merged: Terms, core: Expr, c: Rational) -> None:
    """The same for a core that may be a sum: its terms are taken one by one, unless that needs
    multiplications."""
    if core.__class__ is Sum and c == 1 and not merged:
        merged.update(core.terms)
    elif core.__class__ is Sum and (c == 1 or c == -1):
        for inner, k in core.terms:
            _accumulate_term(merged, inner, k if c == 1 else -k)
    else:
        _accumulate_term(merged, core, c)


def leading_terms(merged: Terms) -> Terms:
    """The terms that are not negligible compared with the one of the lowest small order."""
    if any(core.order for core in merged):
        lowest = min(core.order for core in merged)
        return {core: c for core, c in merged.items() if core.order < lowest + _threshold}
    return merged


def _sum_of_terms(merged: Terms) -> Expr:
    merged = leading_terms(merged)
    if len(merged) > 1:
        apply_pythagoras(merged)
    if not merged:
        return ZERO
    if len(merged) == 1:
        ((core, c),) = merged.items()
        return _product_node(c, term_factors(core))
    common = common_factors(merged)
    if common:
        divided: Terms = {}
        for core, c in merged.items():
            remaining_factors = dict(term_factors(core))
            for base, exponent in common.items():
                remaining_factors[base] = normalize_rational(remaining_factors[base] - exponent)
            k, reduced = split_coefficient(product_of_factors(1, remaining_factors))
            _accumulate_flat(divided, reduced, c if k == 1 else normalize_rational(k * c))
        return mul(product_of_factors(1, common), _sum_of_terms(divided))
    items = sorted(merged.items(), key=lambda item: item[0].sort)
    sums = items[-1][0].__class__ is Sum  # sums come last
    if sums and _absorb_nested_sum(merged):
        return _sum_of_terms(merged)
    scale: Rational = 1
    first = abs_rational(items[0][1])
    if first != 1 and all(abs(c) == first for _, c in items):
        scale = first
    if items[0][1] < 0:
        scale = -scale
    if scale != 1:
        if scale == -1:
            items = [(core, -c) for core, c in items]
        else:
            items = [(core, normalize_rational(c / Fraction(scale))) for core, c in items]
        if sums:
            return mul(Number(scale), add(*(mul(Number(c), core) for core, c in items)))
        return Product(scale, ((Sum(tuple(items)), 1),))
    return Sum(tuple(items))


def _absorb_nested_sum(merged: Terms) -> bool:
    """2*(a + b) - a - b -> a + b: terms that make up a sum which is itself a term."""
    for core in list(merged):
        if core.__class__ is not Sum:
            continue
        first, k = core.terms[0]
        ratio = merged.get(first, 0) / Fraction(k)
        if ratio and all(merged.get(inner) == ratio * k for inner, k in core.terms):
            for inner, _ in core.terms:
                del merged[inner]
            total = normalize_rational(merged.pop(core) + ratio)
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
        pairs = term_factors(core)
        if common is None:
            common = dict(pairs)
            continue
        exponents = dict(pairs)
        for base in list(common):
            x, y = common[base], exponents.get(base, 0)
            if x > 0 and y > 0:
                common[base] = min(x, y)
            elif x < 0 and y < 0:
                common[base] = max(x, y)
            else:
                del common[base]
        if not common:
            return {}
    return common or {}


def apply_pythagoras(merged: Terms) -> None:
    """a sin^2 + a cos^2 -> a, then a - a sin^2 -> a cos^2, a - a cos^2 -> a sin^2, in place, until
    none is left."""
    squares = _squared_trig_terms(merged)
    while squares:
        squares.sort(
            key=lambda item: (item[0].sort, item[1].sort)
        )  # the choice does not depend on the order of terms
        if not _apply_to_squares(_combine_sin2_cos2, merged, squares) and not _apply_to_squares(
            _apply_one_minus_square, merged, squares
        ):
            return
        squares = _squared_trig_terms(merged)


def _apply_to_squares(
    rule: Callable[[Terms, Expr, Func], bool], merged: Terms, squares: list[tuple[Expr, Func]]
) -> bool:
    """Applies a rule wherever it can be; reports whether it could be anywhere."""
    return any([core in merged and rule(merged, core, square) for core, square in squares])


def _squared_trig_terms(merged: Terms) -> list[tuple[Expr, Func]]:
    """Terms with a squared sine or cosine among their factors, and that factor."""
    squares: list[tuple[Expr, Func]] = []
    for core in merged:
        if core.__class__ is Product:
            for base, exponent in core.factors:
                if exponent == 2 and base.__class__ is Func and base.name in OTHER:
                    squares.append((core, base))
    return _combinable_squares(merged, squares) if len(squares) > LONG else squares


def _combinable_squares(merged: Terms, squares: list[tuple[Expr, Func]]) -> list[tuple[Expr, Func]]:
    """Those of many squares that a rule may join with another term: by the other function of the
    same angle, or by a term with the opposite number and one factor less, or by terms of a sum next
    to it. To try all takes far longer."""
    powers: set[tuple[str, tuple[Expr, ...]]] = set()
    numbers: set[tuple[int, int, int]] = set()
    for core, c in merged.items():
        factors = term_factors(core)
        numbers.add((c.numerator, c.denominator, len(factors)))
        powers.update((b.name, b.args) for b, x in factors if b.__class__ is Func and x >= 2)

    def can_combine(core: Expr, square: Func) -> bool:
        c, factors = merged[core], term_factors(core)
        partner = (OTHER[square.name], square.args)
        return (
            partner in powers
            or (-c.numerator, c.denominator, len(factors) - 1) in numbers
            or any(
                b.__class__ is Sum or (b.__class__ is Func and (b.name, b.args) == partner)
                for b, _ in factors
            )
        )

    return [item for item in squares if can_combine(*item)]


def _swap_squared_function(core: Expr, square: Func) -> tuple[Expr, Expr]:
    """The term without the square, and with that of the other function instead."""
    remaining_factors = dict(term_factors(core))
    del remaining_factors[square]
    partner = Func(OTHER[square.name], square.args)
    return product_of_factors(1, remaining_factors), product_of_factors(
        1, {**remaining_factors, partner: normalize_rational(remaining_factors.get(partner, 0) + 2)}
    )


def _combine_sin2_cos2(merged: Terms, core: Expr, square: Func) -> bool:
    bare, partner = _swap_squared_function(core, square)
    c = merged[core]
    if merged.get(partner) != c:
        return False
    del merged[core], merged[partner]
    _accumulate_flat(merged, bare, c)
    return True


def _apply_one_minus_square(merged: Terms, core: Expr, square: Func) -> bool:
    bare, partner = _swap_squared_function(core, square)
    c = merged[core]
    missing = bare.terms if bare.__class__ is Sum and bare not in merged else ((bare, 1),)
    if any(merged.get(inner) != -k * c for inner, k in missing):
        return False
    del merged[core]
    for inner, _ in missing:
        del merged[inner]
    _accumulate_term(merged, partner, -c)
    return True
