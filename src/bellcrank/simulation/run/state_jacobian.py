"""Derivatives of state derivatives by states: those that a program knows, and by differences, of
many states at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from bellcrank.core.numeric.run_spec import At
from bellcrank.simulation.backend.protocol import ProgramCalls
from bellcrank.simulation.run.stepping import NO_VALUE

AllRates = Callable[
    [np.ndarray, np.ndarray], np.ndarray
]  # rates of states, one row each, at a time each
PUSH = 1e-6  # of a state, against its size or 1


def difference_jacobian(
    rates: AllRates,
    t: np.ndarray,
    y: np.ndarray,
    relative_step: float = PUSH,
    state_indices: np.ndarray | None = None,
    is_central: bool = True,
) -> np.ndarray:
    """Return d(rates)/d(state) by finite differences, a matrix for each time and row of states.

    Differences are central with `is_central`, else forward at half the cost. `state_indices`: the
    states that are perturbed, default all; columns of the others are zero.
    """
    count, n = y.shape
    columns = _all_indices(n) if state_indices is None else state_indices
    size, k = relative_step * np.maximum(1.0, np.abs(y[:, columns])), len(columns)
    states = np.repeat(y[:, None, :], 2 * k if is_central else k + 1, axis=1)
    forward, backward = states[:, np.arange(k), columns], states[:, k:]
    states[:, np.arange(k), columns] = forward + size
    if is_central:
        backward[:, np.arange(k), columns] -= size
    perturbed_rates = rates(t.repeat(states.shape[1]), states.reshape(-1, n)).reshape(states.shape)
    distances = (forward + size) - (forward - size if is_central else forward)
    by_state = (perturbed_rates[:, :k] - perturbed_rates[:, k:]) / distances[:, :, None]
    matrices = np.zeros((count, n, n))
    matrices[:, :, columns] = by_state.swapaxes(1, 2)
    return matrices


def analytic_jacobian(model: ProgramCalls, program_arguments: At) -> np.ndarray:
    """d(rates)/d(state) by a program with derivatives; columns that it does not know are not a
    number."""
    program = model.program
    n = len(program.coordinates) + len(program.speeds)
    try:
        values = model.values("slopes", *program_arguments)
    except NO_VALUE:
        return scatter_jacobian([], [], [], n)
    return scatter_jacobian(values, program.slope_places if len(values) else [], program.sloped, n)


def scatter_jacobian(
    values: Sequence[float], entries: Sequence[tuple[int, int]], columns: Sequence[int], n: int
) -> np.ndarray:
    """Derivatives of n rates by n states: values at their places, zero elsewhere in known columns,
    NaN in others."""
    matrix = np.full((n, n), math.nan)
    matrix[:, list(columns)] = 0.0
    if len(entries):
        rows, across = zip(*entries, strict=True)
        matrix[rows, across] = values
    return matrix


@cache
def _all_indices(n: int) -> np.ndarray:
    return np.arange(n)
