"""Partial derivatives of one operation with respect to its parts."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from bellcrank.expr import Expr, Func, Held, Number, Product, Sum, Symbol, mul, power
from bellcrank.expr.calculus import builtin_partials
from bellcrank.expr.node import ONE, Rational
from bellcrank.program.differentiate.intermediates import Intermediates

ExternalPartial = Callable[[Func, int], Expr]  # the partial derivative of a table or user function by one argument
HALF = Fraction(1, 2)


def by_routine(node: Func, index: int) -> Expr:
    """What a table or user function says of its own derivative."""
    result: Expr = node.function.partial(index, node.args)
    return result


def partials(node: Expr, shared: Intermediates) -> list[tuple[Expr, Expr]]:
    """(part, partial derivative) of a node that calls no routine; every partial is an atom."""
    if isinstance(node, Held):
        return [(node.definition, ONE)]
    if isinstance(node, Sum):
        return [(core, Number(c)) for core, c in node.terms]
    if isinstance(node, Product):
        return [(base, _of_factor(node, base, x, shared)) for base, x in node.factors]
    assert isinstance(node, Func)
    return [(a, shared.hold(p)) for a, p in zip(node.args, builtin_partials(node), strict=True)]


def _of_factor(node: Product, base: Expr, exponent: Rational, shared: Intermediates) -> Expr:
    if exponent == -1:  # -(a/b)/b: the quotient is there already
        return shared.hold(mul(Number(-1), atom(node, shared), power(atom(base, shared), Number(-1))))
    if exponent == HALF and len(node.factors) == 1:
        scale = Fraction(node.coefficient) ** 2 / 2
        return shared.hold(mul(Number(scale), power(atom(node, shared), Number(-1))))
    remaining_factors = [power(atom(b, shared), Number(x)) for b, x in node.factors if b is not base]
    lowered = power(atom(base, shared), Number(exponent - 1))
    return shared.hold(mul(Number(node.coefficient * exponent), lowered, *remaining_factors))


def atom(e: Expr, shared: Intermediates) -> Expr:
    """e as something the algebra does not take apart."""
    return e if isinstance(e, Symbol | Number | Held | Func) else shared.hold(e)
