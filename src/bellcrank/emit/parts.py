"""Long functions in parts, because compile time grows faster than the length of a function; what the parts share."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TypeVar

from bellcrank.emit.steps import Step, step_expressions, step_targets
from bellcrank.expr import Expr, Symbol, postorder

LONGEST = 500  # statements in one function of several; twice as many may stay in one
T = TypeVar("T")


def cut(steps: Sequence[T], longest: int) -> list[Sequence[T]]:
    """Steps in parts of about equal length, if there are many."""
    if len(steps) <= 2 * longest:
        return [steps]
    size = ceil(len(steps) / ceil(len(steps) / longest))
    return [steps[i : i + size] for i in range(0, len(steps), size)]


def shared_symbols(parts: Sequence[Sequence[Step]], results: Sequence[Expr]) -> dict[Symbol, int]:
    """Places in an array of what one part of a function defines and a later one uses."""
    home = {t: i for i, part in enumerate(parts) for s in part for t in step_targets(s)}
    shared: dict[Symbol, int] = {}
    for i, part in enumerate(parts):
        roots = [e for s in part for e in step_expressions(s)] + (list(results) if i == len(parts) - 1 else [])
        for n in postorder(roots):
            if isinstance(n, Symbol) and home.get(n, i) != i:
                shared.setdefault(n, len(shared))
    return shared
