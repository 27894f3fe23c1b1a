"""Walks over the DAG: post-order loops with a memory, so that depth never matters and shared nodes
are met once."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping

from bellcrank.symbolic.expr.construct import add, mul, power
from bellcrank.symbolic.expr.functions import apply_builtin
from bellcrank.symbolic.expr.node import (
    Expr,
    Func,
    NamedSubexpression,
    Number,
    Product,
    Sum,
    Symbol,
)


class _ConstantNodes:
    """All constant expressions."""

    def __contains__(self, e: object) -> bool:
        return e.constant  # type: ignore[attr-defined]


STILL = _ConstantNodes()


def postorder(
    roots: Iterable[Expr], into_held: bool = True, known: Container[Expr] = frozenset()
) -> list[Expr]:
    """Every node below the roots once, parts before wholes, in argument order; those `known` are
    passed over."""
    order: list[Expr] = []
    visited: set[Expr] = set()
    skip_constants = known is STILL  # asked of the node itself: most walks pass over constants
    skipped: Container[Expr] = () if skip_constants else known
    for root in roots:
        if root in visited or (root.constant if skip_constants else root in known):
            continue
        visited.add(root)
        stack: list[tuple[Expr, Iterator[Expr]]] = []
        node, part_iterator = root, iter(_operands(root, into_held))
        while True:
            for part in part_iterator:
                if (
                    part in visited
                    or (skip_constants and part.constant)
                    or (skipped and part in skipped)
                ):
                    continue
                visited.add(part)
                below = part.parts if into_held else _operands(part, False)
                if below:
                    stack.append((node, part_iterator))
                    node, part_iterator = part, iter(below)
                    break
                order.append(part)
            else:
                order.append(node)
                if not stack:
                    break
                node, part_iterator = stack.pop()
    return order


def _operands(node: Expr, into_held: bool) -> tuple[Expr, ...]:
    return () if node.__class__ is NamedSubexpression and not into_held else node.parts


def free_symbols(*roots: Expr) -> list[Symbol]:
    """The symbols below the roots, in canonical order."""
    return sorted(find_symbols(roots), key=lambda s: (s.sort, s.kind))


def find_symbols(roots: Iterable[Expr]) -> list[Symbol]:
    """The symbols below the roots, in any order."""
    leaf_symbols: list[Symbol] = []
    visited = set(roots)
    stack = [*visited]
    while stack:
        node = stack.pop()
        if node.__class__ is Symbol:
            leaf_symbols.append(node)
        for part in node.parts:
            if part not in visited:
                visited.add(part)
                stack.append(part)
    return leaf_symbols


def depends_on(root: Expr, predicate: Callable[[Symbol], bool]) -> bool:
    return any(isinstance(n, Symbol) and predicate(n) for n in postorder((root,)))


def rebuild_node(node: Expr, rebuilt_parts: Mapping[Expr, Expr]) -> Expr:
    """The node made again from new parts, through the creators."""
    if isinstance(node, Sum):
        return add(*(mul(Number(c), rebuilt_parts[core]) for core, c in node.terms))
    if isinstance(node, Product):
        return mul(
            Number(node.coefficient), *(power(rebuilt_parts[b], Number(x)) for b, x in node.factors)
        )
    if isinstance(node, Func):
        args = tuple(rebuilt_parts[a] for a in node.args)
        return (
            Func(node.name, args, node.function)
            if node.function is not None
            else apply_builtin(node.name, *args)
        )
    if isinstance(node, NamedSubexpression):
        return as_atom(rebuilt_parts[node.definition])
    return node


def as_atom(e: Expr) -> Expr:
    """e as an atom: itself if it is one, else held."""
    return e if isinstance(e, Number | Symbol | NamedSubexpression) else NamedSubexpression(e)


def unwrap_named(e: Expr) -> Expr:
    """e itself, if it is held."""
    while isinstance(e, NamedSubexpression):
        e = e.definition
    return e


def rewrite_nodes(
    roots: Iterable[Expr], replace: Callable[[Expr], Expr | None], into_held: bool = True
) -> list[Expr]:
    """The roots with every node for which `replace` returns something replaced; the rest rebuilt
    where needed."""
    roots = list(roots)
    rebuilt: dict[Expr, Expr] = {}
    for node in postorder(roots, into_held):
        new = replace(node)
        if new is None:
            operands = _operands(node, into_held)
            new = node if all(rebuilt[p] is p for p in operands) else rebuild_node(node, rebuilt)
        rebuilt[node] = new
    return [rebuilt[r] for r in roots]


def substitute(root: Expr, values: Mapping[Expr, Expr]) -> Expr:
    """root with the given expressions replaced, all at once."""
    return rewrite_nodes((root,), values.get)[0]


def inline_named(root: Expr) -> Expr:
    """root with every held intermediate result written out."""
    released: dict[Expr, Expr] = {}
    for node in postorder((root,)):
        if isinstance(node, NamedSubexpression):
            released[node] = released[node.definition]
        else:
            released[node] = (
                node if all(released[p] is p for p in node.parts) else rebuild_node(node, released)
            )
    return released[root]
