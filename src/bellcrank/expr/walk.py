"""Walks over the DAG: post-order loops with a memory, so that depth never matters and shared nodes are met once."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping

from bellcrank.expr.construct import add, mul, power
from bellcrank.expr.functions import function
from bellcrank.expr.node import Expr, Func, Held, Number, Product, Sum, Symbol


class _Constants:
    """All constant expressions."""

    def __contains__(self, e: object) -> bool:
        return e.constant  # type: ignore[attr-defined]


STILL = _Constants()


def postorder(roots: Iterable[Expr], into_held: bool = True, known: Container[Expr] = frozenset()) -> list[Expr]:
    """Every node below the roots once, parts before wholes, in argument order; those `known` are passed over."""
    found: list[Expr] = []
    seen: set[Expr] = set()
    still = known is STILL  # asked of the node itself: most walks pass over constants
    passed: Container[Expr] = () if still else known
    for root in roots:
        if root in seen or (root.constant if still else root in known):
            continue
        seen.add(root)
        waiting: list[tuple[Expr, Iterator[Expr]]] = []
        node, parts = root, iter(_parts(root, into_held))
        while True:
            for part in parts:
                if part in seen or (still and part.constant) or (passed and part in passed):
                    continue
                seen.add(part)
                below = part.parts if into_held else _parts(part, False)
                if below:
                    waiting.append((node, parts))
                    node, parts = part, iter(below)
                    break
                found.append(part)
            else:
                found.append(node)
                if not waiting:
                    break
                node, parts = waiting.pop()
    return found


def _parts(node: Expr, into_held: bool) -> tuple[Expr, ...]:
    return () if node.__class__ is Held and not into_held else node.parts


def symbols(*roots: Expr) -> list[Symbol]:
    """The symbols below the roots, in canonical order."""
    return sorted(leaves(roots), key=lambda s: (s.sort, s.kind))


def leaves(roots: Iterable[Expr]) -> list[Symbol]:
    """The symbols below the roots, in any order."""
    found: list[Symbol] = []
    seen = set(roots)
    stack = [*seen]
    while stack:
        node = stack.pop()
        if node.__class__ is Symbol:
            found.append(node)
        for part in node.parts:
            if part not in seen:
                seen.add(part)
                stack.append(part)
    return found


def depends_on(root: Expr, wanted: Callable[[Symbol], bool]) -> bool:
    return any(isinstance(n, Symbol) and wanted(n) for n in postorder((root,)))


def rebuild(node: Expr, parts: Mapping[Expr, Expr]) -> Expr:
    """The node made again from new parts, through the creators."""
    if isinstance(node, Sum):
        return add(*(mul(Number(c), parts[core]) for core, c in node.terms))
    if isinstance(node, Product):
        return mul(Number(node.coefficient), *(power(parts[b], Number(x)) for b, x in node.factors))
    if isinstance(node, Func):
        args = tuple(parts[a] for a in node.args)
        return Func(node.name, args, node.function) if node.function is not None else function(node.name, *args)
    if isinstance(node, Held):
        return hold(parts[node.definition])
    return node


def hold(e: Expr) -> Expr:
    """e as an atom: itself if it is one, else held."""
    return e if isinstance(e, Number | Symbol | Held) else Held(e)


def bare(e: Expr) -> Expr:
    """e itself, if it is held."""
    while isinstance(e, Held):
        e = e.definition
    return e


def transform(roots: Iterable[Expr], replace: Callable[[Expr], Expr | None], into_held: bool = True) -> list[Expr]:
    """The roots with every node for which `replace` returns something replaced; the rest rebuilt where needed."""
    roots = list(roots)
    done: dict[Expr, Expr] = {}
    for node in postorder(roots, into_held):
        new = replace(node)
        if new is None:
            parts = _parts(node, into_held)
            new = node if all(done[p] is p for p in parts) else rebuild(node, done)
        done[node] = new
    return [done[r] for r in roots]


def substitute(root: Expr, values: Mapping[Expr, Expr]) -> Expr:
    """root with the given expressions replaced, all at once."""
    return transform((root,), values.get)[0]


def release(root: Expr) -> Expr:
    """root with every held intermediate result written out."""
    done: dict[Expr, Expr] = {}
    for node in postorder((root,)):
        if isinstance(node, Held):
            done[node] = done[node.definition]
        else:
            done[node] = node if all(done[p] is p for p in node.parts) else rebuild(node, done)
    return done[root]
