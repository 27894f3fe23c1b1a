"""Expressions that are linear in some symbols: their coefficients and the rest, in one walk."""

from __future__ import annotations

from collections.abc import Collection

from bellcrank.symbolic.expr import (
    ONE,
    ZERO,
    Expr,
    NamedSubexpression,
    Number,
    Product,
    Sum,
    Symbol,
    add,
    mul,
    postorder,
    power,
)

Form = tuple[dict[Symbol, Expr], Expr]  # coefficients by symbol, and what is left


def linear_form(root: Expr, base: Collection[Symbol]) -> Form | None:
    """root = sum of coefficient * symbol + rest; None where it is not linear in the symbols."""
    variables = frozenset(base)
    forms: dict[Expr, Form] = {}  # of the nodes that hold a symbol
    for node in postorder((root,)):
        if node in variables:
            forms[node] = ({node: ONE}, ZERO)
        elif isinstance(node, NamedSubexpression):
            if node.definition in forms:
                forms[node] = forms[node.definition]
        elif any(part in forms for part in node.parts):
            form = _sum(node, forms) if isinstance(node, Sum) else _product(node, forms)
            if form is None:
                return None
            forms[node] = form
    return forms.get(root, ({}, root))


def _sum(node: Sum, forms: dict[Expr, Form]) -> Form:
    coefficients: dict[Symbol, list[Expr]] = {}
    rest_terms: list[Expr] = []
    for core, c in node.terms:
        k = Number(c)
        if core in forms:
            inner, inner_rest = forms[core]
            for s, x in inner.items():
                coefficients.setdefault(s, []).append(mul(k, x))
            rest_terms.append(mul(k, inner_rest))
        else:
            rest_terms.append(mul(k, core))
    return {s: add(*terms) for s, terms in coefficients.items()}, add(*rest_terms)


def _product(node: Expr, forms: dict[Expr, Form]) -> Form | None:
    if not isinstance(node, Product):  # a function of the symbols
        return None
    inside = [(b, x) for b, x in node.factors if b in forms]
    if len(inside) != 1 or inside[0][1] != 1:
        return None
    base = inside[0][0]
    k = mul(
        Number(node.coefficient), *(power(b, Number(x)) for b, x in node.factors if b is not base)
    )
    inner, inner_rest = forms[base]
    return {s: mul(k, x) for s, x in inner.items()}, mul(k, inner_rest)
