"""Which coefficients of constraints cannot vanish, whatever the motion: bounds that follow from
their form.

A constraint is solved for a speed in symbols only where the coefficient of that speed is never
zero. Numbers and parameters do not change in a run, so that a coefficient made of them is looked at
once, before the run. What depends on coordinates, inputs or time must be bounded by its form: `2 +
cos(q)`, positive parameters, leading terms of small variables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bellcrank.symbolic.expr import Expr, Func, NamedSubexpression, Number, Product, Sum, postorder
from bellcrank.symbolic.expr.node import POSITIVE, UNKNOWN, Rational


@dataclass(frozen=True)
class ValueBounds:
    """An interval that holds all values of an expression; `nonzero`: zero is not one of them."""

    low: float = -math.inf
    high: float = math.inf
    nonzero: bool = False

    def __neg__(self) -> ValueBounds:
        return ValueBounds(-self.high, -self.low, self.nonzero)

    def scale(self, factor: Rational) -> ValueBounds:
        """The bounds of a multiple other than zero."""
        signed_bounds, size = (self, float(factor)) if factor > 0 else (-self, -float(factor))
        return ValueBounds(
            signed_bounds.low * size, signed_bounds.high * size, signed_bounds.nonzero
        )


def never_zero(e: Expr) -> bool:
    """Can e not vanish in any motion? Of parameters alone: it is no zero for most of their
    values."""
    return value_bounds(e).nonzero


def value_bounds(root: Expr) -> ValueBounds:
    """What the form of an expression says about its values."""
    bounds_of: dict[Expr, ValueBounds] = {}
    for node in postorder((root,)):
        bounds_of[node] = _node_bounds(node, bounds_of)
    return bounds_of[root]


def _node_bounds(node: Expr, bounds_of: Mapping[Expr, ValueBounds]) -> ValueBounds:
    if isinstance(node, NamedSubexpression):
        return bounds_of[node.definition]
    if isinstance(node, Number):
        return ValueBounds(float(node.value), float(node.value), node.value != 0)
    if node.order > 0:  # small compared with whatever it is added to
        return ValueBounds()
    result = ValueBounds()
    if isinstance(node, Sum):
        leading = [(core, c) for core, c in node.terms if core.order == 0]
        result = _sum_bounds(
            [bounds_of[core].scale(c) for core, c in leading],
            all(core.constant for core, _ in leading),
        )
    elif isinstance(node, Product):
        result = _product_bounds(
            [_power_bounds(bounds_of[base], x) for base, x in node.factors]
        ).scale(node.coefficient)
    elif isinstance(node, Func) and node.name in FUNCTIONS:
        result = FUNCTIONS[node.name]([bounds_of[a] for a in node.args])
    low = max(result.low, 0.0) if node.sign != UNKNOWN else result.low
    nonzero = result.nonzero or node.sign == POSITIVE or (node.constant and node.fingerprint != 0)
    return ValueBounds(low, result.high, nonzero)


def _multiply_safe(a: float, b: float) -> float:
    return a * b if a and b else 0.0


def _sum_bounds(terms: list[ValueBounds], constant: bool) -> ValueBounds:
    """Parts of one sign do not cancel."""
    low, high = sum(x.low for x in terms), sum(x.high for x in terms)
    one_sign = all(x.low >= 0 for x in terms) or all(x.high <= 0 for x in terms)
    return ValueBounds(
        low, high, constant or low > 0 or high < 0 or (one_sign and any(x.nonzero for x in terms))
    )


def _product_bounds(factors: list[ValueBounds]) -> ValueBounds:
    low = high = 1.0
    for x in factors:
        products = [_multiply_safe(a, b) for a in (low, high) for b in (x.low, x.high)]
        low, high = min(products), max(products)
    return ValueBounds(low, high, all(x.nonzero for x in factors))


def _power_bounds(x: ValueBounds, exponent: Rational) -> ValueBounds:
    if exponent == 1:
        return x
    if exponent < 0 and not x.nonzero:  # the description divides by it
        return ValueBounds()
    is_integer = exponent.denominator == 1
    if not is_integer or exponent % 2 == 0:
        return ValueBounds(0.0, _largest_power(x, exponent), x.nonzero)
    return ValueBounds(
        0.0 if x.low >= 0 else -math.inf, 0.0 if x.high <= 0 else math.inf, x.nonzero
    )


def _largest_power(x: ValueBounds, exponent: Rational) -> float:
    """Of an even power or a root."""
    size = max(abs(x.low), abs(x.high))
    return size ** float(exponent) if exponent > 0 and size < math.inf else math.inf


def _fixed_bounds(low: float, high: float) -> Callable[[list[ValueBounds]], ValueBounds]:
    return lambda args: ValueBounds(low, high)


def _abs_bounds(args: list[ValueBounds]) -> ValueBounds:
    return ValueBounds(0.0, max(abs(args[0].low), abs(args[0].high)), args[0].nonzero)


def _sqrt_bounds(args: list[ValueBounds]) -> ValueBounds:
    return ValueBounds(0.0, _largest_power(args[0], 0.5), args[0].nonzero)  # type: ignore[arg-type]


def _max_bounds(args: list[ValueBounds]) -> ValueBounds:
    low = max(x.low for x in args)
    certain = any(x.low >= 0 and x.nonzero for x in args) or all(
        x.high <= 0 and x.nonzero for x in args
    )
    return ValueBounds(low, max(x.high for x in args), certain)


def _min_bounds(args: list[ValueBounds]) -> ValueBounds:
    return -_max_bounds([-x for x in args])


def _where_bounds(args: list[ValueBounds]) -> ValueBounds:
    first, second = args[-2:]
    return ValueBounds(
        min(first.low, second.low), max(first.high, second.high), first.nonzero and second.nonzero
    )


FUNCTIONS: dict[str, Callable[[list[ValueBounds]], ValueBounds]] = {
    "sin": _fixed_bounds(-1.0, 1.0),
    "cos": _fixed_bounds(-1.0, 1.0),
    "tanh": _fixed_bounds(-1.0, 1.0),
    "atan": _fixed_bounds(-math.pi / 2, math.pi / 2),
    "asin": _fixed_bounds(-math.pi / 2, math.pi / 2),
    "acos": _fixed_bounds(0.0, math.pi),
    "atan2": _fixed_bounds(-math.pi, math.pi),
    "abs": _abs_bounds,
    "sqrt": _sqrt_bounds,
    "max": _max_bounds,
    "min": _min_bounds,
    "where": _where_bounds,
}
