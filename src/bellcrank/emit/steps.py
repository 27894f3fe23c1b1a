"""Steps of a schedule: statements, and sines and cosines that are taken together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bellcrank.expr import Expr, Symbol, postorder
from bellcrank.program.statements import Statement, statement_expressions, statement_targets


@dataclass(frozen=True)
class Angle:
    """sine, cosine = sin(value), cos(value); None where unused."""

    value: Expr
    sine: Symbol | None
    cosine: Symbol | None


@dataclass(frozen=True)
class Angles:
    """Sines and cosines that are taken together."""

    angles: tuple[Angle, ...]


Step = Statement | Angles


def step_targets(s: Step) -> tuple[Symbol, ...]:
    """The symbols that a step defines."""
    if isinstance(s, Angles):
        return tuple(x for a in s.angles for x in (a.sine, a.cosine) if x is not None)
    return statement_targets(s)


def step_expressions(s: Step) -> tuple[Expr, ...]:
    """The expressions that a step evaluates."""
    return tuple(a.value for a in s.angles) if isinstance(s, Angles) else statement_expressions(s)


def symbols_in(roots: Iterable[Expr]) -> list[Symbol]:
    return [n for n in postorder(roots) if isinstance(n, Symbol)]
