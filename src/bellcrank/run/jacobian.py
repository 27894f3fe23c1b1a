"""Derivatives of state derivatives by states: those that a program knows, and by differences, of many states at
once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from bellcrank.backend.protocol import Calls
from bellcrank.numeric.run_spec import At
from bellcrank.run.stepping import NO_VALUE

AllRates = Callable[[np.ndarray, np.ndarray], np.ndarray]  # rates of states, one row each, at a time each
PUSH = 1e-6  # of a state, against its size or 1


def difference_jacobian(
    rates: AllRates,
    t: np.ndarray,
    y: np.ndarray,
    push: float = PUSH,
    places: np.ndarray | None = None,
    both: bool = True,
) -> np.ndarray:
    """d(rates)/d(state) by differences, a matrix for each time and row of states: to `both` sides of a state, or to one
    at half the cost. `places`: of the states that are pushed, if not all; columns of others are zero."""
    count, n = y.shape
    moved = _all(n) if places is None else places
    size, k = push * np.maximum(1.0, np.abs(y[:, moved])), len(moved)
    states = np.repeat(y[:, None, :], 2 * k if both else k + 1, axis=1)
    up, last = states[:, np.arange(k), moved], states[:, k:]
    states[:, np.arange(k), moved] = up + size
    if both:
        last[:, np.arange(k), moved] -= size
    found = rates(t.repeat(states.shape[1]), states.reshape(-1, n)).reshape(states.shape)
    apart = (up + size) - (up - size if both else up)
    by_state = (found[:, :k] - found[:, k:]) / apart[:, :, None]
    matrices = np.zeros((count, n, n))
    matrices[:, :, moved] = by_state.swapaxes(1, 2)
    return matrices


def known_jacobian(calls: Calls, at: At) -> np.ndarray:
    """d(rates)/d(state) by a program with derivatives; columns that it does not know are not a number."""
    program = calls.program
    n = len(program.coordinates) + len(program.speeds)
    try:
        values = calls.values("slopes", *at)
    except NO_VALUE:
        return in_places([], [], [], n)
    return in_places(values, program.slope_places if len(values) else [], program.sloped, n)


def in_places(values: Sequence[float], places: Sequence[tuple[int, int]], columns: Sequence[int], n: int) -> np.ndarray:
    """Derivatives of n rates by n states: values at their places, zero elsewhere in known columns, NaN in others."""
    found = np.full((n, n), math.nan)
    found[:, list(columns)] = 0.0
    if len(places):
        rows, across = zip(*places, strict=True)
        found[rows, across] = values
    return found


@cache
def _all(n: int) -> np.ndarray:
    return np.arange(n)
