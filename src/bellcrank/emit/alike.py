"""Functions of one kind, vectorised: calls that wait for nothing of each other become one step, which vectorises.

The floor of a call is the number of calls on the longest way to it: those on one floor do not need each other.
"""

from __future__ import annotations

from collections.abc import Hashable

from bellcrank.emit.order import Graph
from bellcrank.emit.steps import Alike, Angles, Step
from bellcrank.expr import Expr

ALIKE = ("atan",)  # functions that run-time sources take together


def side_by_side(steps: list[Step], results: tuple[Expr, ...], early: int) -> list[Step]:
    """Steps in which calls of one kind on one floor are one; the first `early` ones stay as they are."""
    graph = Graph(steps, results)
    floor = [0] * len(steps)
    groups: dict[Hashable, list[int]] = {}
    for i, s in enumerate(steps):
        floor[i] = max((floor[n] + isinstance(steps[n], Angles | Alike) for n in graph.needs[i]), default=0)
        if i >= early and isinstance(s, Angles | Alike):
            groups.setdefault((floor[i], s.function if isinstance(s, Alike) else ""), []).append(i)
    merged: list[Step | None] = [*steps]
    for members in groups.values():
        merged[members[0]] = _one([steps[i] for i in members])
        for i in members[1:]:
            merged[i] = None
    kept_steps = [s for s in merged if s is not None]
    return [kept_steps[i] for i in Graph(kept_steps, results).depth_first(early)]


def _one(members: list[Step]) -> Step:
    """Steps of one kind as one; none has been joined before."""
    first = members[0]
    if isinstance(first, Alike):
        mergeable = [s for s in members if isinstance(s, Alike)]
        return Alike(first.function, tuple(s.values[0] for s in mergeable), tuple(s.targets[0] for s in mergeable))
    return Angles(tuple(a for s in members if isinstance(s, Angles) for a in s.angles))
