"""Numerical value of expressions: the plain reference for everything that is printed and compiled.

As in compiled code, what is not defined is nan and what is too large is inf, so that the branch of a `where` that is
not taken does no harm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from bellcrank.errors import ModelError
from bellcrank.expr.node import PI, Expr, Func, Held, Number, Product, Rational, Sum, Symbol
from bellcrank.expr.walk import postorder


def _sign(x: float) -> float:
    return float((x > 0) - (x < 0))


def _power(x: float, n: float) -> float:
    """x ** n as the C library has it."""
    try:
        return math.pow(x, n)
    except OverflowError:
        return -math.inf if x < 0 and n % 2 == 1 else math.inf
    except ValueError:  # a pole, or the root of a negative number
        if x != 0:
            return math.nan
        return math.copysign(math.inf, x) if n % 2 == 1 else math.inf


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _inside(function: Callable[[float], float], bound: float) -> Callable[[float], float]:
    """A function that is defined up to a bound only."""
    return lambda x: function(x) if abs(x) <= bound else math.nan


def _finite(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: function(x) if math.isfinite(x) else math.nan


def _float(value: Rational) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _sum(terms: list[float]) -> float:
    try:
        return math.fsum(terms)
    except (OverflowError, ValueError):  # beyond the largest number, or inf - inf
        return sum(terms)


BUILTIN: dict[str, Callable[..., float]] = {
    "sin": _finite(math.sin),
    "cos": _finite(math.cos),
    "tan": _finite(math.tan),
    "asin": _inside(math.asin, 1.0),
    "acos": _inside(math.acos, 1.0),
    "atan": math.atan,
    "atan2": math.atan2,
    "exp": _exp,
    "log": _log,
    "abs": abs,
    "sign": _sign,
    "min": min,
    "max": max,
    "pow": _power,
    "lt": lambda a, b: float(a < b),
    "le": lambda a, b: float(a <= b),
    "gt": lambda a, b: float(a > b),
    "ge": lambda a, b: float(a >= b),
    "where": lambda c, a, b: a if c != 0 else b,
}


def node_value(node: Expr, value: Mapping[Expr, float], user: Mapping[str, Callable[..., float]]) -> float:
    """The value of one node from those of its parts."""
    if isinstance(node, Number):
        return _float(node.value)
    if isinstance(node, Sum):
        return _sum([_float(c) * value[core] for core, c in node.terms])
    if isinstance(node, Product):
        result = _float(node.coefficient)
        for base, exponent in node.factors:
            result *= value[base] if exponent == 1 else _power(value[base], float(exponent))
        return result
    if isinstance(node, Func):
        args = [value[a] for a in node.args]
        known = BUILTIN.get(node.name) if node.function is None else user.get(node.name, node.function)
        if known is None:
            raise ModelError(f"no value is known for the function {node.name}()")
        return float(known(*args))
    if isinstance(node, Held):
        return value[node.definition]
    if node is PI:
        return math.pi
    raise ModelError(f"no value is known for {node}")


def evaluate(
    roots: Iterable[Expr],
    known: Mapping[Expr, float] | Mapping[str, float],
    user: Mapping[str, Callable[..., float]] | None = None,
) -> list[float]:
    """Values of the roots, given those of symbols (by symbol or by name) or of any other expressions."""
    roots = list(roots)
    value: dict[Expr, float] = {e: float(v) for e, v in known.items() if isinstance(e, Expr)}
    by_name = {name: float(v) for name, v in known.items() if isinstance(name, str)}
    for node in postorder(roots, known=frozenset(value)):
        if isinstance(node, Symbol) and node.name in by_name:
            value[node] = by_name[node.name]
        else:
            value[node] = node_value(node, value, user or {})
    return [value[r] for r in roots]
