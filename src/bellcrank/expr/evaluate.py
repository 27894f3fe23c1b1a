"""Numerical value of expressions: the plain reference for everything that is printed and compiled."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bellcrank.errors import ModelError
from bellcrank.expr.node import PI, Expr, Func, Held, Number, Product, Sum, Symbol
from bellcrank.expr.walk import postorder


def _sign(x: float) -> float:
    return float((x > 0) - (x < 0))


BUILTIN: dict[str, Callable[..., float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "atan2": math.atan2,
    "exp": math.exp,
    "log": math.log,
    "abs": abs,
    "sign": _sign,
    "min": min,
    "max": max,
    "pow": math.pow,
    "lt": lambda a, b: float(a < b),
    "le": lambda a, b: float(a <= b),
    "gt": lambda a, b: float(a > b),
    "ge": lambda a, b: float(a >= b),
    "where": lambda c, a, b: a if c != 0 else b,
}


def node_value(node: Expr, value: Mapping[Expr, float], user: Mapping[str, Callable[..., float]]) -> float:
    """The value of one node from those of its parts."""
    if isinstance(node, Number):
        return float(node.value)
    if isinstance(node, Sum):
        return math.fsum(float(c) * value[core] for core, c in node.terms)
    if isinstance(node, Product):
        result = float(node.coefficient)
        for base, exponent in node.factors:
            result *= value[base] ** (exponent if isinstance(exponent, int) else float(exponent))
        return result
    if isinstance(node, Func):
        args = [value[a] for a in node.args]
        if node.function is None:
            return float(BUILTIN[node.name](*args))
        return float(user[node.name](*args) if node.name in user else node.function(*args))
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
    """Values of the roots, given those of symbols (by symbol or by name)."""
    roots = list(roots)
    table: dict[Any, float] = dict(known)
    value: dict[Expr, float] = {}
    for node in postorder(roots):
        if node in table:
            value[node] = float(table[node])
        elif isinstance(node, Symbol) and node.name in table:
            value[node] = float(table[node.name])
        else:
            value[node] = node_value(node, value, user or {})
    return [value[r] for r in roots]
