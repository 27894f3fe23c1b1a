"""Functions of one kind, vectorised: calls that wait for nothing of each other become one step,
which vectorises.

The floor of a call is the number of calls on the longest way to it: those on one floor do not need
each other.
"""

from __future__ import annotations

from collections.abc import Hashable

from bellcrank.codegen.schedule_steps import SinCosGroup, Step, VectorizedCall
from bellcrank.codegen.step_order import DependencyGraph
from bellcrank.symbolic.expr import Expr

ALIKE = ("atan",)  # functions that run-time sources take together


def vectorize_calls(steps: list[Step], results: tuple[Expr, ...], early: int) -> list[Step]:
    """Steps in which calls of one kind on one floor are one; the first `early` ones stay as they
    are."""
    graph = DependencyGraph(steps, results)
    floor = [0] * len(steps)
    groups: dict[Hashable, list[int]] = {}
    for i, s in enumerate(steps):
        floor[i] = max(
            (floor[n] + isinstance(steps[n], SinCosGroup | VectorizedCall) for n in graph.needs[i]),
            default=0,
        )
        if i >= early and isinstance(s, SinCosGroup | VectorizedCall):
            groups.setdefault(
                (floor[i], s.function if isinstance(s, VectorizedCall) else ""), []
            ).append(i)
    merged: list[Step | None] = [*steps]
    for members in groups.values():
        merged[members[0]] = _merge_steps([steps[i] for i in members])
        for i in members[1:]:
            merged[i] = None
    kept_steps = [s for s in merged if s is not None]
    return [kept_steps[i] for i in DependencyGraph(kept_steps, results).depth_first(early)]


def _merge_steps(members: list[Step]) -> Step:
    """Steps of one kind as one; none has been joined before."""
    first = members[0]
    if isinstance(first, VectorizedCall):
        mergeable = [s for s in members if isinstance(s, VectorizedCall)]
        return VectorizedCall(
            first.function,
            tuple(s.values[0] for s in mergeable),
            tuple(s.targets[0] for s in mergeable),
        )
    return SinCosGroup(tuple(a for s in members if isinstance(s, SinCosGroup) for a in s.angles))
