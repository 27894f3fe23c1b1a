"""A branch of equilibria followed over a parameter, and the folds at which it ends.

Every equilibrium is found by Newton's method from the one before. Where that does not converge, the step of the
parameter is halved. A branch that cannot be followed by the smallest step has a fold: it turns back, and the equilibria
of the following values belong to another branch, or there are none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from bellcrank.analysis.equilibrium import Equilibrium, NoEquilibrium
from bellcrank.analysis.locus import Fold
from bellcrank.errors import RunError

FINEST = 1e-6  # smallest step of the parameter, against the step asked for
NEXT_TO = 0.02  # change of the state (at least 1, in equation units) over the smallest step: the same branch

Search = Callable[..., Equilibrium]  # value, where to start, by which method


def follow(values: Sequence[float], search: Search, start: object) -> tuple[list[Equilibrium | None], tuple[Fold, ...]]:
    """The equilibrium at every value (None: there is none that could be found), and the folds between them."""
    found: list[Equilibrium | None] = [search(values[0], start)]
    folds: list[Fold] = []
    last = found[0]
    for before, value in pairwise(values):
        here = None
        if found[-1] is not None:
            here, fold = _followed(before, value, found[-1], search)
            folds += [] if fold is None else [fold]
        if here is None:
            here = _elsewhere(search, value, last, start)
            if here is not None and folds and folds[-1].to is None and found[-1] is not None:
                folds[-1] = replace(folds[-1], to=here.values)
        found.append(here)
        last = here or last
    return found, tuple(folds)


def _elsewhere(search: Search, value: float, *starts: object) -> Equilibrium | None:
    """An equilibrium on another branch."""
    for at in starts:
        try:
            return search(value, at)
        except (NoEquilibrium, RunError):
            continue
    return None


def _followed(at: float, value: float, here: Equilibrium, search: Search) -> tuple[Equilibrium | None, Fold | None]:
    """The equilibrium at a value on the branch that comes from another, or the fold between them."""
    least = FINEST * abs(value - at)
    step = value - at
    while at != value:
        ahead = value if abs(value - at) <= abs(step) else at + step
        following = _near(search, ahead, here, "newton")
        if following is None and abs(step) <= least:
            following = _near(search, ahead, here, "")
            if following is None:
                return None, Fold(at, here.values)
        if following is None:
            step = math.copysign(max(abs(step) / 2, least), step)
        else:
            at, here = ahead, following
            step *= 2
    return here, None


def _near(search: Search, value: float, here: Equilibrium, by: str) -> Equilibrium | None:
    """An equilibrium next to another one; None if there is none."""
    try:
        found = search(value, here, by)
    except (NoEquilibrium, RunError):
        return None
    change = np.abs(found.point.x - here.point.x) / np.maximum(np.abs(here.point.x), 1.0)
    return found if by or float(change.max(initial=0.0)) < NEXT_TO else None
