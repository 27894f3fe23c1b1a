"""Slopes of rates by differences: many states at once, as compiled programs take them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

AllRates = Callable[[float, np.ndarray], np.ndarray]  # rates of states, one row each, at a time
PUSH = 1e-6  # of a state, against its size or 1


def difference_slopes(rates: AllRates, t: float, y: np.ndarray, push: float = PUSH) -> np.ndarray:
    """d(rates)/d(state) by central differences."""
    steps = np.diag(push * np.maximum(1.0, np.abs(y)))
    up, down = y + steps, y - steps
    found = rates(t, np.concatenate([up, down]))
    apart = np.diagonal(up) - np.diagonal(down)
    return np.asarray(((found[: len(y)] - found[len(y) :]) / apart[:, None]).T)
