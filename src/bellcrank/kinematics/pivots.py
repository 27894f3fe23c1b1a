"""Which coefficients of constraints cannot vanish, whatever the motion: bounds that follow from their form.

A constraint is solved for a speed in symbols only where the coefficient of that speed is never zero. Numbers and
parameters do not change in a run, so that a coefficient made of them is looked at once, before the run. What depends on
coordinates, inputs or time must be bounded by its form: `2 + cos(q)`, positive parameters, leading terms of small
variables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bellcrank.expr import Expr, Func, Held, Number, Product, Sum, postorder
from bellcrank.expr.node import POSITIVE, UNKNOWN, Rational


@dataclass(frozen=True)
class Bounds:
    """An interval that holds all values of an expression; `nonzero`: zero is not one of them."""

    low: float = -math.inf
    high: float = math.inf
    nonzero: bool = False

    def __neg__(self) -> Bounds:
        return Bounds(-self.high, -self.low, self.nonzero)

    def scaled(self, factor: Rational) -> Bounds:
        """The bounds of a multiple other than zero."""
        signed_bounds, size = (self, float(factor)) if factor > 0 else (-self, -float(factor))
        return Bounds(signed_bounds.low * size, signed_bounds.high * size, signed_bounds.nonzero)


def never_zero(e: Expr) -> bool:
    """Can e not vanish in any motion? Of parameters alone: it is no zero for most of their values."""
    return bounds(e).nonzero


def bounds(root: Expr) -> Bounds:
    """What the form of an expression says about its values."""
    bounds_of: dict[Expr, Bounds] = {}
    for node in postorder((root,)):
        bounds_of[node] = _bounds(node, bounds_of)
    return bounds_of[root]


def _bounds(node: Expr, bounds_of: Mapping[Expr, Bounds]) -> Bounds:
    if isinstance(node, Held):
        return bounds_of[node.definition]
    if isinstance(node, Number):
        return Bounds(float(node.value), float(node.value), node.value != 0)
    if node.order > 0:  # small compared with whatever it is added to
        return Bounds()
    result = Bounds()
    if isinstance(node, Sum):
        leading = [(core, c) for core, c in node.terms if core.order == 0]
        result = _sum([bounds_of[core].scaled(c) for core, c in leading], all(core.constant for core, _ in leading))
    elif isinstance(node, Product):
        result = _product([_power(bounds_of[base], x) for base, x in node.factors]).scaled(node.coefficient)
    elif isinstance(node, Func) and node.name in FUNCTIONS:
        result = FUNCTIONS[node.name]([bounds_of[a] for a in node.args])
    low = max(result.low, 0.0) if node.sign != UNKNOWN else result.low
    nonzero = result.nonzero or node.sign == POSITIVE or (node.constant and node.fingerprint != 0)
    return Bounds(low, result.high, nonzero)


def _times(a: float, b: float) -> float:
    return a * b if a and b else 0.0


def _sum(terms: list[Bounds], constant: bool) -> Bounds:
    """Parts of one sign do not cancel."""
    low, high = sum(x.low for x in terms), sum(x.high for x in terms)
    one_sign = all(x.low >= 0 for x in terms) or all(x.high <= 0 for x in terms)
    return Bounds(low, high, constant or low > 0 or high < 0 or (one_sign and any(x.nonzero for x in terms)))


def _product(factors: list[Bounds]) -> Bounds:
    low = high = 1.0
    for x in factors:
        products = [_times(a, b) for a in (low, high) for b in (x.low, x.high)]
        low, high = min(products), max(products)
    return Bounds(low, high, all(x.nonzero for x in factors))


def _power(x: Bounds, exponent: Rational) -> Bounds:
    if exponent == 1:
        return x
    if exponent < 0 and not x.nonzero:  # the description divides by it
        return Bounds()
    is_integer = exponent.denominator == 1
    if not is_integer or exponent % 2 == 0:
        return Bounds(0.0, _largest(x, exponent), x.nonzero)
    return Bounds(0.0 if x.low >= 0 else -math.inf, 0.0 if x.high <= 0 else math.inf, x.nonzero)


def _largest(x: Bounds, exponent: Rational) -> float:
    """Of an even power or a root."""
    size = max(abs(x.low), abs(x.high))
    return size ** float(exponent) if exponent > 0 and size < math.inf else math.inf


def _between(low: float, high: float) -> Callable[[list[Bounds]], Bounds]:
    return lambda args: Bounds(low, high)


def _absolute(args: list[Bounds]) -> Bounds:
    return Bounds(0.0, max(abs(args[0].low), abs(args[0].high)), args[0].nonzero)


def _root(args: list[Bounds]) -> Bounds:
    return Bounds(0.0, _largest(args[0], 0.5), args[0].nonzero)  # type: ignore[arg-type]


def _max(args: list[Bounds]) -> Bounds:
    low = max(x.low for x in args)
    certain = any(x.low >= 0 and x.nonzero for x in args) or all(x.high <= 0 and x.nonzero for x in args)
    return Bounds(low, max(x.high for x in args), certain)


def _min(args: list[Bounds]) -> Bounds:
    return -_max([-x for x in args])


def _either(args: list[Bounds]) -> Bounds:
    first, second = args[-2:]
    return Bounds(min(first.low, second.low), max(first.high, second.high), first.nonzero and second.nonzero)


FUNCTIONS: dict[str, Callable[[list[Bounds]], Bounds]] = {
    "sin": _between(-1.0, 1.0),
    "cos": _between(-1.0, 1.0),
    "tanh": _between(-1.0, 1.0),
    "atan": _between(-math.pi / 2, math.pi / 2),
    "asin": _between(-math.pi / 2, math.pi / 2),
    "acos": _between(0.0, math.pi),
    "atan2": _between(-math.pi, math.pi),
    "abs": _absolute,
    "sqrt": _root,
    "max": _max,
    "min": _min,
    "where": _either,
}  # fmt: skip
