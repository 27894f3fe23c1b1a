"""Loops that a guess does not close, closed from other starts: angles turned by up to half a turn,
slides by up to what the guess leaves open, a little at first."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from bellcrank.core.numeric.loop_constraints import AssemblyError

STARTS = 24
State = tuple[np.ndarray, np.ndarray]


def start_offsets(n: int) -> np.ndarray:
    """Numbers from -1 to 1 by which n coordinates are moved: a row for each start, drawn once for
    all."""
    return np.random.default_rng(0).uniform(-1, 1, (STARTS, n))


def search_ranges(slides: np.ndarray, gap: float) -> np.ndarray:
    """Of coordinates, those that slide and others; `gap`: the largest residual of the guess."""
    return np.where(slides, gap, math.pi)


def assemble_multistart(
    assemble: Callable[[np.ndarray], State],
    q: np.ndarray,
    free: np.ndarray,
    ranges: np.ndarray,
    is_rejected: Callable[[np.ndarray], object] = lambda _: False,
) -> State | None:
    """The assembly nearest to the guess q, of those that `assemble` finds from starts of
    coordinates that may move; None if there is none that is not rejected."""
    if not free.any():
        return None
    assemblies: list[tuple[float, State]] = []
    for i, offsets in enumerate(start_offsets(len(q)), 1):
        try:
            state = assemble(q + np.where(free, i / STARTS * ranges * offsets, 0.0))
        except AssemblyError:
            continue
        if is_rejected(state[0]):
            continue
        distance = float(np.linalg.norm((state[0] - q) / np.where(ranges > 0, ranges, 1.0)))
        assemblies.append((distance, state))
    return min(assemblies, key=lambda pair: pair[0])[1] if assemblies else None
