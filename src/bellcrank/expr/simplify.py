"""Expressions as a person would write them: multiplied out, or in the shortest of the forms that are known.

Both leave the value alone wherever there is one. Held results are written out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bellcrank.errors import ModelError
from bellcrank.expr import calculus
from bellcrank.expr.construct import add, expression, mul
from bellcrank.expr.node import Expr, Held, Number, Product, Sum
from bellcrank.expr.show import text
from bellcrank.expr.walk import postorder, release

LARGEST = 200  # terms; an expression that would have more when multiplied out stays as it is


def expand(given: Any) -> Any:
    """Multiply out products and powers of sums, collect terms and replace sin^2 + cos^2 by 1.

    Parameters
    ----------
    given : Expr, list or tuple
        An expression, or lists of them such as a mass matrix.

    Returns
    -------
    Expr, list or tuple
        The same, expanded.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("any")
    >>> bc.expand(s.expr("(a + b)**2 - a**2 - 2*a*b"))
    b**2
    """
    return _each(given, calculus.expand)


def simplify(given: Any) -> Any:
    """Choose the shortest known form of an expression: as it is, or expanded. Long expressions stay as they are.

    Parameters
    ----------
    given : Expr, list or tuple
        An expression, or lists of them such as a mass matrix.

    Returns
    -------
    Expr, list or tuple
        The same, simplified.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("any")
    >>> bc.simplify(s.expr("a*(b + c) - a*b"))
    a*c
    """
    return _each(given, _shortest)


def _each(expressions: Any, rewrite: Callable[[Expr], Expr]) -> Any:
    if isinstance(expressions, list | tuple):
        return type(expressions)(_each(x, rewrite) for x in expressions)
    return rewrite(expression(expressions))


def _shortest(e: Expr) -> Expr:
    if _terms(e) > LARGEST:
        return e
    plain = release(e)
    try:
        forms = plain, collected(calculus.expand(plain))
    except ModelError:  # a zero below a fraction bar came to light: it stays where it was
        return plain
    return min(forms, key=lambda x: len(text(x)))


def collected(plain: Expr) -> Expr:
    """A plain sum with its common factors in front."""
    return add(*(mul(Number(c), core) for core, c in plain.terms)) if isinstance(plain, Sum) else plain


def _terms(root: Expr) -> int:
    """How many terms an expression has when it is multiplied out, if none of them cancel; those of arguments count."""
    count: dict[Expr, int] = {}
    for node in postorder((root,)):
        if isinstance(node, Sum):
            total = sum(count[core] for core, _ in node.terms)
        elif isinstance(node, Product):
            total = 1
            for base, exponent in node.factors:
                total *= count[base] ** min(exponent, 20) if isinstance(exponent, int) and exponent > 0 else count[base]
        else:
            total = count[node.definition] if isinstance(node, Held) else 1 + sum(count[a] - 1 for a in node.parts)
        count[node] = min(total, LARGEST + 1)
    return count[root]
