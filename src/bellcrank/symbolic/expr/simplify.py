"""Expressions as a person would write them: multiplied out, or in the shortest of the forms that
are known.

Both leave the value alone wherever there is one. Held results are written out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.symbolic.expr import calculus
from bellcrank.symbolic.expr.construct import add, expression, mul
from bellcrank.symbolic.expr.node import Expr, NamedSubexpression, Number, Product, Sum
from bellcrank.symbolic.expr.printing import to_text
from bellcrank.symbolic.expr.traversal import inline_named, postorder

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
    return _map_expressions(given, calculus.expand)


def simplify(given: Any) -> Any:
    """Choose the shortest known form of an expression: as it is, or expanded. Long expressions stay
    as they are.

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
    return _map_expressions(given, _shortest_form)


def _map_expressions(expressions: Any, rewrite: Callable[[Expr], Expr]) -> Any:
    if isinstance(expressions, list | tuple):
        return type(expressions)(_map_expressions(x, rewrite) for x in expressions)
    return rewrite(expression(expressions))


def _shortest_form(e: Expr) -> Expr:
    if _expanded_term_count(e) > LARGEST:
        return e
    plain = inline_named(e)
    try:
        forms = plain, factor_common_terms(calculus.expand(plain))
    except ModelError:  # a zero below a fraction bar came to light: it stays where it was
        return plain
    return min(forms, key=lambda x: len(to_text(x)))


def factor_common_terms(plain: Expr) -> Expr:
    """A plain sum with its common factors in front."""
    return (
        add(*(mul(Number(c), core) for core, c in plain.terms)) if isinstance(plain, Sum) else plain
    )


def _expanded_term_count(root: Expr) -> int:
    """How many terms an expression has when it is multiplied out, if none of them cancel; those of
    arguments count."""
    count: dict[Expr, int] = {}
    for node in postorder((root,)):
        if isinstance(node, Sum):
            total = sum(count[core] for core, _ in node.terms)
        elif isinstance(node, Product):
            total = 1
            for base, exponent in node.factors:
                total *= (
                    count[base] ** min(exponent, 20)
                    if isinstance(exponent, int) and exponent > 0
                    else count[base]
                )
        else:
            total = (
                count[node.definition]
                if isinstance(node, NamedSubexpression)
                else 1 + sum(count[a] - 1 for a in node.parts)
            )
        count[node] = min(total, LARGEST + 1)
    return count[root]
