"""Numerical value of expressions: the plain reference for everything that is printed and compiled.

As in compiled code, what is not defined is nan and what is too large is inf, so that the branch of
a `where` that is not taken does no harm.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from functools import reduce

import numpy as np

from bellcrank.core.errors import ModelError
from bellcrank.symbolic.expr.function_table import FUNCTIONS, OPERATORS
from bellcrank.symbolic.expr.node import (
    PI,
    Expr,
    Func,
    NamedSubexpression,
    Number,
    Product,
    Rational,
    Sum,
    Symbol,
)
from bellcrank.symbolic.expr.traversal import postorder

POWER = OPERATORS["**"].value


def _to_float(value: Rational) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _sum_or_inf(terms: list[float]) -> float:
    try:
        return math.fsum(terms)
    except (OverflowError, ValueError):  # above the largest number, or inf - inf
        return sum(terms)


def node_value(
    node: Expr, value: Mapping[Expr, float], user: Mapping[str, Callable[..., float]]
) -> float:
    """The value of one node from those of its parts."""
    if isinstance(node, Number):
        return _to_float(node.value)
    if isinstance(node, Sum):
        return _sum_or_inf([_to_float(c) * value[core] for core, c in node.terms])
    if isinstance(node, Product):
        result = _to_float(node.coefficient)
        for base, exponent in node.factors:
            result *= value[base] if exponent == 1 else POWER(value[base], float(exponent))
        return result
    if isinstance(node, Func):
        args = [value[a] for a in node.args]
        if node.function is None and node.name not in FUNCTIONS:
            raise ModelError(f"no value is known for the function {node.name}()")
        implementation = (
            FUNCTIONS[node.name].value
            if node.function is None
            else user.get(node.name, node.function)
        )
        return float(implementation(*args))
    if isinstance(node, NamedSubexpression):
        return value[node.definition]
    if node is PI:
        return math.pi
    raise ModelError(f"no value is known for {node}")


def evaluate(
    roots: Iterable[Expr],
    given_values: Mapping[Expr, float] | Mapping[str, float],
    user: Mapping[str, Callable[..., float]] | None = None,
) -> list[float]:
    """Values of the roots, given those of symbols (by symbol or by name) or of any other
    expressions."""
    roots = list(roots)
    value: dict[Expr, float] = {e: float(v) for e, v in given_values.items() if isinstance(e, Expr)}
    by_name = {name: float(v) for name, v in given_values.items() if isinstance(name, str)}
    for node in postorder(roots, known=frozenset(value)):
        if isinstance(node, Symbol) and node.name in by_name:
            value[node] = by_name[node.name]
        else:
            value[node] = node_value(node, value, user or {})
    return [value[r] for r in roots]


def evaluate_with_cache(
    roots: Iterable[Expr], value: dict[Expr, float], user: Mapping[str, Callable[..., float]]
) -> list[float]:
    """Values of the roots from those known, to which all that are met are added: for one statement
    after another."""
    roots = list(roots)
    for node in postorder(roots, known=value.keys()):
        value[node] = node_value(node, value, user)
    return [value[r] for r in roots]


def evaluate_vectorized(
    roots: Iterable[Expr], samples: Mapping[str, np.ndarray], count: int
) -> list[np.ndarray]:
    """Values of the roots for many sets of values of their symbols, each an array over the sets."""
    roots, value = list(roots), dict[Expr, np.ndarray]()
    with np.errstate(all="ignore"):
        for node in postorder(roots):
            if isinstance(node, Symbol) and node.name in samples:
                value[node] = samples[node.name]
            elif isinstance(node, Sum):
                value[node] = reduce(
                    operator.add, (_to_float(c) * value[core] for core, c in node.terms)
                )
            elif isinstance(node, Product):
                powers = (
                    value[b] if n == 1 else np.power(value[b], float(n)) for b, n in node.factors
                )
                value[node] = reduce(
                    operator.mul, powers, np.full(count, _to_float(node.coefficient))
                )
            else:
                operands = getattr(node, "parts", ())
                rows = (
                    zip(*(value[x].tolist() for x in operands), strict=True) if operands else [()]
                )
                results = [
                    node_value(node, dict(zip(operands, row, strict=True)), {}) for row in rows
                ]
                value[node] = np.broadcast_to(results, (count,))
    return [value[r] for r in roots]
