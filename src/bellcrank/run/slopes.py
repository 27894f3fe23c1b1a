"""Slopes of rates by states: those that a program knows, and by differences, of many states at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from bellcrank.backend.protocol import Calls
from bellcrank.numeric.course import At
from bellcrank.numeric.radau import in_places
from bellcrank.run.stepping import NO_VALUE

AllRates = Callable[[np.ndarray, np.ndarray], np.ndarray]  # rates of states, one row each, at a time each
PUSH = 1e-6  # of a state, against its size or 1


def difference_slopes(rates: AllRates, t: np.ndarray, y: np.ndarray, push: float = PUSH) -> np.ndarray:
    """d(rates)/d(state) by central differences, a matrix for each time and row of states."""
    count, n = y.shape
    size = push * np.maximum(1.0, np.abs(y))
    steps = size[:, None, :] * _one(n)
    pushed = np.empty((count, 2, n, n))
    np.add(y[:, None, :], steps, out=pushed[:, 0])
    np.subtract(y[:, None, :], steps, out=pushed[:, 1])
    found = rates(t.repeat(2 * n), pushed.reshape(-1, n)).reshape(pushed.shape)
    apart = (y + size) - (y - size)
    return np.asarray(((found[:, 0] - found[:, 1]) / apart[:, :, None]).swapaxes(1, 2))


def known_slopes(calls: Calls, at: At) -> np.ndarray:
    """d(rates)/d(state) by a program with slopes; columns that it does not know are not a number."""
    program = calls.program
    n = len(program.coordinates) + len(program.speeds)
    try:
        values = calls.values("slopes", *at)
    except NO_VALUE:
        return in_places([], [], [], n)
    return in_places(values, program.slope_places if len(values) else [], program.sloped, n)


@cache
def _one(n: int) -> np.ndarray:
    return np.eye(n)
