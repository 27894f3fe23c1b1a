"""Loops that a guess does not close, closed from other starts: angles turned by up to half a turn, slides by up to what
the guess leaves open, a little at first."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .projection import CannotClose

STARTS = 24
State = tuple[np.ndarray, np.ndarray]


def drawn(n: int) -> np.ndarray:
    """Numbers from -1 to 1 by which n coordinates are moved: a row for each start, drawn once for all."""
    return np.random.default_rng(0).uniform(-1, 1, (STARTS, n))


def reaches(slides: np.ndarray, gap: float) -> np.ndarray:
    """Of coordinates, those that slide and others; `gap`: the largest residual of the guess."""
    return np.where(slides, gap, math.pi)


def from_elsewhere(
    assemble: Callable[[np.ndarray], State],
    q: np.ndarray,
    may: np.ndarray,
    reach: np.ndarray,
    refused: Callable[[np.ndarray], object] = lambda _: False,
) -> State | None:
    """The assembly nearest to the guess q, of those that `assemble` finds from starts of coordinates that may move;
    None if there is none that is not rejected."""
    if not may.any():
        return None
    found: list[tuple[float, State]] = []
    for i, away in enumerate(drawn(len(q)), 1):
        try:
            state = assemble(q + np.where(may, i / STARTS * reach * away, 0.0))
        except CannotClose:
            continue
        if refused(state[0]):
            continue
        distance = float(np.linalg.norm((state[0] - q) / np.where(reach > 0, reach, 1.0)))
        found.append((distance, state))
    return min(found, key=lambda pair: pair[0])[1] if found else None
