"""Steps of a schedule: statements, and functions of several arguments that are taken together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bellcrank.program.statements import Statement, statement_expressions, statement_targets
from bellcrank.symbolic.expr import Expr, Symbol


@dataclass(frozen=True)
class SinCos:
    """sine, cosine = sin(value), cos(value); None where unused."""

    value: Expr
    sine: Symbol | None
    cosine: Symbol | None


@dataclass(frozen=True)
class SinCosGroup:
    """Sines and cosines that are taken together."""

    angles: tuple[SinCos, ...]


@dataclass(frozen=True)
class VectorizedCall:
    """targets = a function of each of the values; taken together."""

    function: str
    values: tuple[Expr, ...]
    targets: tuple[Symbol, ...]


Step = Statement | SinCosGroup | VectorizedCall


def step_targets(s: Step) -> tuple[Symbol, ...]:
    """The symbols that a step defines."""
    if isinstance(s, SinCosGroup):
        return tuple(x for a in s.angles for x in (a.sine, a.cosine) if x is not None)
    return s.targets if isinstance(s, VectorizedCall) else statement_targets(s)


def step_expressions(s: Step) -> tuple[Expr, ...]:
    """The expressions that a step evaluates."""
    if isinstance(s, SinCosGroup):
        return tuple(a.value for a in s.angles)
    return s.values if isinstance(s, VectorizedCall) else statement_expressions(s)


def symbols_in_order(roots: Iterable[Expr]) -> list[Symbol]:
    """The symbols below the roots, in the order in which they are met."""
    symbols: list[Symbol] = []
    visited: set[Expr] = set()
    stack = [*roots][::-1]
    while stack:
        node = stack.pop()
        if node not in visited:
            visited.add(node)
            if node.__class__ is Symbol:
                symbols.append(node)
            else:
                stack += node.parts[::-1]
    return symbols
