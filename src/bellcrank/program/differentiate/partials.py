"""Partial derivatives of one operation with respect to its parts."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from bellcrank.program.differentiate.intermediates import Intermediates
from bellcrank.symbolic.expr import (
    Expr,
    Func,
    NamedSubexpression,
    Number,
    Product,
    Sum,
    Symbol,
    mul,
    power,
)
from bellcrank.symbolic.expr.calculus import builtin_partials
from bellcrank.symbolic.expr.node import ONE, Rational

ExternalPartial = Callable[
    [Func, int], Expr
]  # the partial derivative of a table or user function by one argument
HALF = Fraction(1, 2)


def routine_partial(node: Func, index: int) -> Expr:
    """What a table or user function says of its own derivative."""
    result: Expr = node.function.partial(index, node.args)
    return result


def node_partials(node: Expr, shared: Intermediates) -> list[tuple[Expr, Expr]]:
    """(part, partial derivative) of a node that calls no routine; every partial is an atom."""
    if isinstance(node, NamedSubexpression):
        return [(node.definition, ONE)]
    if isinstance(node, Sum):
        return [(core, Number(c)) for core, c in node.terms]
    if isinstance(node, Product):
        return [(base, _factor_partial(node, base, x, shared)) for base, x in node.factors]
    assert isinstance(node, Func)
    return [(a, shared.bind(p)) for a, p in zip(node.args, builtin_partials(node), strict=True)]


def _factor_partial(node: Product, base: Expr, exponent: Rational, shared: Intermediates) -> Expr:
    if exponent == -1:  # -(a/b)/b: the quotient is there already
        return shared.bind(
            mul(Number(-1), as_opaque(node, shared), power(as_opaque(base, shared), Number(-1)))
        )
    if exponent == HALF and len(node.factors) == 1:
        scale = Fraction(node.coefficient) ** 2 / 2
        return shared.bind(mul(Number(scale), power(as_opaque(node, shared), Number(-1))))
    remaining_factors = [
        power(as_opaque(b, shared), Number(x)) for b, x in node.factors if b is not base
    ]
    lowered = power(as_opaque(base, shared), Number(exponent - 1))
    return shared.bind(mul(Number(node.coefficient * exponent), lowered, *remaining_factors))


def as_opaque(e: Expr, shared: Intermediates) -> Expr:
    """e as something the algebra does not take apart."""
    return e if isinstance(e, Symbol | Number | NamedSubexpression | Func) else shared.bind(e)
