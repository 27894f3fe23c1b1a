"""Partial derivatives of one operation with respect to its parts."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from bellcrank.expr import Expr, Func, Held, Number, Product, Sum, Symbol, mul, power
from bellcrank.expr.calculus import builtin_partials
from bellcrank.expr.node import ONE, Rational
from bellcrank.program.differentiate.desk import Desk

Outside = Callable[[Func, int], Expr]  # the partial derivative of a table or external routine by one argument
HALF = Fraction(1, 2)


def by_routine(node: Func, index: int) -> Expr:
    """What a table or external routine says of its own derivative."""
    result: Expr = node.function.partial(index, node.args)
    return result


def partials(node: Expr, desk: Desk, outside: Outside = by_routine) -> list[tuple[Expr, Expr]]:
    """(part, partial derivative) of a node; every partial is an atom."""
    if isinstance(node, Held):
        return [(node.definition, ONE)]
    if isinstance(node, Sum):
        return [(core, Number(c)) for core, c in node.terms]
    if isinstance(node, Product):
        return [(base, _of_factor(node, base, x, desk)) for base, x in node.factors]
    assert isinstance(node, Func)
    if node.function is not None:
        return [(a, outside(node, i)) for i, a in enumerate(node.args)]
    return [(a, desk.hold(p)) for a, p in zip(node.args, builtin_partials(node), strict=True)]


def _of_factor(node: Product, base: Expr, exponent: Rational, desk: Desk) -> Expr:
    if exponent == -1:  # -(a/b)/b: the quotient is there already
        return desk.hold(mul(Number(-1), atom(node, desk), power(atom(base, desk), Number(-1))))
    if exponent == HALF and len(node.factors) == 1:
        scale = Fraction(node.coefficient) ** 2 / 2
        return desk.hold(mul(Number(scale), power(atom(node, desk), Number(-1))))
    rest = [power(atom(b, desk), Number(x)) for b, x in node.factors if b is not base]
    lowered = power(atom(base, desk), Number(exponent - 1))
    return desk.hold(mul(Number(node.coefficient * exponent), lowered, *rest))


def atom(e: Expr, desk: Desk) -> Expr:
    """e as something the algebra does not take apart."""
    return e if isinstance(e, Symbol | Number | Held | Func) else desk.hold(e)
