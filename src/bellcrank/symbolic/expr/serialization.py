"""Expressions as flat rows, parts before wholes: for files and pickles. Shared nodes are written
once."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.symbolic.expr.node import (
    POSITIVE,
    Expr,
    Func,
    NamedSubexpression,
    Number,
    Product,
    Rational,
    Sum,
    Symbol,
    to_rational,
)
from bellcrank.symbolic.expr.traversal import postorder

Row = tuple[Any, ...]


def dump_nodes(roots: Iterable[Expr]) -> list[Row]:
    """Rows of the nodes below the roots, then one row with the positions of the roots."""
    roots = list(roots)
    index: dict[Expr, int] = {}
    rows: list[Row] = []
    for node in postorder(roots):
        index[node] = len(rows)
        rows.append(_node_row(node, index))
    rows.append(("roots", *(index[r] for r in roots)))
    return rows


def _node_row(node: Expr, index: dict[Expr, int]) -> Row:
    if isinstance(node, Number):
        return ("number", str(node.value))
    if isinstance(node, Symbol):
        return ("symbol", node.name, node.kind, node.order, node.sign == POSITIVE)
    if isinstance(node, Sum):
        return ("sum", *((index[core], str(c)) for core, c in node.terms))
    if isinstance(node, Product):
        return ("product", str(node.coefficient), *((index[b], str(x)) for b, x in node.factors))
    if isinstance(node, Func):
        return ("func", node.name, node.function, *(index[a] for a in node.args))
    if isinstance(node, NamedSubexpression):
        return ("held", index[node.definition])
    raise ModelError(f"cannot write {type(node).__name__}")


def _parse_rational(text: str) -> Rational:
    return to_rational(Fraction(text))


def load_nodes(rows: Iterable[Row]) -> list[Expr]:
    """The roots of dumped rows. Nodes are interned again, so equal structure is one object as
    before."""
    nodes: list[Expr] = []
    for kind, *fields in rows:
        match kind:
            case "number":
                nodes.append(Number(_parse_rational(fields[0])))
            case "symbol":
                nodes.append(Symbol(*fields))
            case "sum":
                nodes.append(Sum(tuple((nodes[i], _parse_rational(c)) for i, c in fields)))
            case "product":
                nodes.append(
                    Product(
                        _parse_rational(fields[0]),
                        tuple((nodes[i], _parse_rational(x)) for i, x in fields[1:]),
                    )
                )
            case "func":
                nodes.append(Func(fields[0], tuple(nodes[i] for i in fields[2:]), fields[1]))
            case "held":
                nodes.append(NamedSubexpression(nodes[fields[0]]))
            case "roots":
                return [nodes[i] for i in fields]
            case _:
                raise ModelError(f"a stored expression has a row of unknown kind {kind!r}")
    raise ModelError("a stored expression ends without its roots")


def load_one(rows: list[Row]) -> Expr:
    return load_nodes(rows)[0]
