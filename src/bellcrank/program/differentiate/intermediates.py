"""Where derivatives are put together: every value is held once, known by its fingerprint.

A derivative that equals an intermediate result of the program itself, or its negative, is that
result.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from bellcrank.symbolic.expr import (
    ONE,
    ZERO,
    Expr,
    Func,
    NamedSubexpression,
    Number,
    Symbol,
    add,
    mul,
    neg,
    postorder,
)
from bellcrank.symbolic.expr.construct import split_coefficient
from bellcrank.symbolic.expr.functions import apply_builtin
from bellcrank.symbolic.expr.node import PRIME

K = TypeVar("K", int, Expr)


class Intermediates:
    """Intermediate results by value."""

    def __init__(self, roots: Iterable[Expr] = ()) -> None:
        self._known: dict[int, Expr] = {n % PRIME: Number(n) for n in range(-4, 5)}
        for node in postorder(roots):
            if isinstance(node, Symbol | NamedSubexpression | Func):
                self._register_value(node)

    def _register_value(self, e: Expr) -> None:
        self._known.setdefault(e.fingerprint, e)
        self._known.setdefault(-e.fingerprint % PRIME, neg(e))

    def bind(self, e: Expr) -> Expr:
        """An atom, or a signed atom, with the value of e."""
        if isinstance(e, Number):
            return e
        existing = self._known.get(e.fingerprint)
        if existing is not None:
            return existing
        if isinstance(e, Symbol | NamedSubexpression | Func):
            self._register_value(e)
            return e
        c, core = split_coefficient(e)
        if c == -1 and isinstance(core, Symbol | NamedSubexpression | Func):
            self._register_value(core)
            return e
        named_value = NamedSubexpression(e if c > 0 else neg(e))
        self._register_value(named_value)
        return named_value if c > 0 else neg(named_value)

    def sum(self, terms: Iterable[Expr]) -> Expr:
        return self.bind(add(*terms))

    def accumulate(self, total: dict[K, Expr], key: K, term: Expr) -> None:
        """Adds a term to what a table holds under a key."""
        total[key] = self.sum((total[key], term)) if key in total else term

    def product(self, a: Expr, b: Expr) -> Expr:
        """a b, where a choice stays outside: the branch that is not taken may have no value."""
        if a is ZERO or b is ZERO:
            return ZERO
        if a is ONE:
            return b
        if b is ONE:
            return a
        for x, y in ((a, b), (b, a)):
            if isinstance(x, Func) and x.name == "where" and ZERO in x.args[1:]:
                test, *branches = x.args
                return self.bind(
                    apply_builtin("where", test, *(self.product(e, y) for e in branches))
                )
        return self.bind(mul(a, b))
