"""A branch of equilibria followed over a parameter, and the folds at which it ends.

Every equilibrium is found by Newton's method from the one before. Where that does not converge, the
step of the parameter is halved. A branch that cannot be followed by the smallest step has a fold:
it turns back, and the equilibria of the following values belong to another branch, or there are
none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from bellcrank.analysis.equilibrium import Equilibrium, NoEquilibrium
from bellcrank.analysis.root_locus import FoldPoint
from bellcrank.core.errors import RunError

MIN_STEP_FRACTION = 1e-6  # smallest step of the parameter, against the step asked for
# change of the state (at least 1, in equation units) over the smallest step: the same branch
NEXT_TO = 0.02

Search = Callable[..., Equilibrium]  # value, where to start, by which method


def follow(
    values: Sequence[float], search: Search, start: object
) -> tuple[list[Equilibrium | None], tuple[FoldPoint, ...]]:
    """The equilibrium at every value (None: there is none that could be found), and the folds
    between them."""
    branch: list[Equilibrium | None] = [search(values[0], start)]
    folds: list[FoldPoint] = []
    last = branch[0]
    for previous, value in pairwise(values):
        equilibrium = None
        if branch[-1] is not None:
            equilibrium, fold = _continue_branch(previous, value, branch[-1], search)
            folds += [] if fold is None else [fold]
        if equilibrium is None:
            equilibrium = _equilibrium_on_other_branch(search, value, last, start)
            if (
                equilibrium is not None
                and folds
                and folds[-1].to is None
                and branch[-1] is not None
            ):
                folds[-1] = replace(folds[-1], to=equilibrium.values)
        branch.append(equilibrium)
        last = equilibrium or last
    return branch, tuple(folds)


def _equilibrium_on_other_branch(
    search: Search, value: float, *guesses: object
) -> Equilibrium | None:
    """An equilibrium on another branch."""
    for guess in guesses:
        try:
            return search(value, guess)
        except (NoEquilibrium, RunError):
            continue
    return None


def _continue_branch(
    current: float, value: float, equilibrium: Equilibrium, search: Search
) -> tuple[Equilibrium | None, FoldPoint | None]:
    """The equilibrium at a value on the branch that comes from another, or the fold between
    them."""
    min_step = MIN_STEP_FRACTION * abs(value - current)
    step = value - current
    while current != value:
        next_value = value if abs(value - current) <= abs(step) else current + step
        successor = _neighbouring_equilibrium(search, next_value, equilibrium, "newton")
        if successor is None and abs(step) <= min_step:
            successor = _neighbouring_equilibrium(search, next_value, equilibrium, "")
            if successor is None:
                return None, FoldPoint(current, equilibrium.values)
        if successor is None:
            step = math.copysign(max(abs(step) / 2, min_step), step)
        else:
            current, equilibrium = next_value, successor
            step *= 2
    return equilibrium, None


def _neighbouring_equilibrium(
    search: Search, value: float, reference: Equilibrium, method: str
) -> Equilibrium | None:
    """An equilibrium next to another one; None if there is none."""
    try:
        equilibrium = search(value, reference, method)
    except (NoEquilibrium, RunError):
        return None
    state_change = np.abs(equilibrium.point.x - reference.point.x) / np.maximum(
        np.abs(reference.point.x), 1.0
    )
    return equilibrium if method or float(state_change.max(initial=0.0)) < NEXT_TO else None
