"""Slopes of rates by differences: of many states at once, as compiled programs take them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

AllRates = Callable[[np.ndarray, np.ndarray], np.ndarray]  # rates of states, one row each, at a time each
PUSH = 1e-6  # of a state, against its size or 1


def difference_slopes(rates: AllRates, t: np.ndarray, y: np.ndarray, push: float = PUSH) -> np.ndarray:
    """d(rates)/d(state) by central differences, a matrix for each time and row of states."""
    n = y.shape[1]
    steps = (push * np.maximum(1.0, np.abs(y)))[:, None, :] * np.eye(n)
    pushed = np.stack([y[:, None, :] + steps, y[:, None, :] - steps], axis=1)
    found = rates(np.repeat(t, 2 * n), pushed.reshape(-1, n)).reshape(pushed.shape)
    ends = np.diagonal(pushed, axis1=2, axis2=3)
    apart = ends[:, 0] - ends[:, 1]
    return np.asarray(np.swapaxes((found[:, 0] - found[:, 1]) / apart[:, :, None], 1, 2))
