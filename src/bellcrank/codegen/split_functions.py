"""Long functions in parts, because compile time grows faster than the length of a function; what
the parts share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from typing import TypeVar

from bellcrank.codegen.schedule_steps import SinCosGroup, Step, step_expressions, step_targets
from bellcrank.symbolic.expr import Expr, Symbol, postorder

MAX_STATEMENTS_PER_PART = (
    500  # statements in one function of several; twice as many may stay in one
)
MIN_RESULTS_COUNTED = 200  # results of one step, above which each counts as a statement
T = TypeVar("T", bound=Step)


def split_steps(steps: Sequence[T], longest: int) -> list[Sequence[T]]:
    """Steps in parts of about equal length, if there are many."""
    lengths = [_statement_count(s) for s in steps]
    total = sum(lengths)
    if total <= 2 * longest:
        return [steps]
    size, filled, boundaries = ceil(total / ceil(total / longest)), 0, [0]
    for i, length in enumerate(lengths):
        if filled and filled + length > size:
            boundaries.append(i)
            filled = 0
        filled += length
    return [steps[a:b] for a, b in pairwise([*boundaries, len(steps)])]


def _statement_count(s: Step) -> int:
    """A step, in statements."""
    count = len(s.angles) if isinstance(s, SinCosGroup) else 1
    return 1 if 2 * count <= MIN_RESULTS_COUNTED else len(step_targets(s))


def shared_symbols(groups: Sequence[Sequence[Step]], results: Sequence[Expr]) -> dict[Symbol, int]:
    """Places in an array of what one part of a function defines and a later one uses."""
    home = {t: i for i, group in enumerate(groups) for s in group for t in step_targets(s)}
    shared: dict[Symbol, int] = {}
    for i, group in enumerate(groups):
        roots = [e for s in group for e in step_expressions(s)] + (
            list(results) if i == len(groups) - 1 else []
        )
        for n in postorder(roots):
            if isinstance(n, Symbol) and home.get(n, i) != i:
                shared.setdefault(n, len(shared))
    return shared
