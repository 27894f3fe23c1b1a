"""Roots of a system of equations by Levenberg and Marquardt's method, with exact slopes.

Steps are of least norm in scaled unknowns, so unknowns that nothing determines stay where they are; equations that
repeat others do no harm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Function = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]  # x -> residuals and their slopes
Values = Callable[[np.ndarray], np.ndarray]  # x -> residuals
TOLERANCE = 1e-10  # of a residual, against its slopes times the size of the unknowns
NEGLIGIBLE = 1e-10  # singular values below this share of the largest say nothing
STEPS = 200
STALLED = 25, 0.9  # steps in which what is left must fall below this share, or the search has ended


@dataclass(frozen=True)
class Root:
    """Where the iteration ended: unknowns, residuals with their slopes, and whether that is a root."""

    x: np.ndarray
    residuals: np.ndarray
    slopes: np.ndarray
    found: bool
    steps: int
    moved: np.ndarray  # how far each unknown went

    @property
    def null_space(self) -> np.ndarray:
        """Directions of the unknowns that no equation determines, as columns."""
        if not self.x.size:
            return np.zeros((0, 0))
        scaled, scale = _scaled(self.x, self.slopes)
        _, s, vt = np.linalg.svd(scaled)
        rank = int(np.sum(s > NEGLIGIBLE * s[0])) if s.size and s[0] > 0 else 0
        return np.asarray((vt[rank:] * scale).T)


def _scaled(x: np.ndarray, J: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slopes with rows of unit size and columns by the size of the unknowns."""
    scale = np.maximum(np.abs(x), 1.0)
    rows = np.abs(J * scale).max(axis=1, initial=0.0)
    return J * scale / np.where(rows > 0, rows, 1.0)[:, None], scale


def solve(function: Function, values: Values, start: np.ndarray, most: int = STEPS) -> Root:
    """A root near the start, or the nearest point to one that could be found within so many steps."""
    x = np.array(start, dtype=float)
    r, J = function(x)
    rows = np.abs(J * np.maximum(np.abs(x), 1.0)).max(axis=1, initial=0.0)
    weight = 1.0 / np.where(rows > 0, rows, 1.0)  # fixed, so that steps can be compared
    damping, steps = 0.0, 0
    sizes = [float(np.linalg.norm(r * weight))]
    while steps < most and not _is_root(x, r, J, 1e-5):
        steps += 1
        scale = np.maximum(np.abs(x), 1.0)
        A, b = J * scale * weight[:, None], r * weight
        left, s, right = np.linalg.svd(A, full_matrices=False)
        keep = s > NEGLIGIBLE * (s[0] if s.size else 0.0)
        along = left.T @ b
        better = None
        for _ in range(40):
            factor = np.where(keep, s / np.where(keep, s * s + damping * s[0] ** 2, 1.0), 0.0)
            dx = -scale * (right.T @ (factor * along))
            tried = _evaluated(values, x + dx)
            if tried is not None and np.linalg.norm(tried * weight) < np.linalg.norm(b):
                better = _sloped(function, x + dx)
            if better is not None:
                break
            damping = max(10 * damping, 1e-6)
            if damping > 1e12:
                break
        if better is None:
            break  # no direction leads on
        small = np.all(np.abs(dx) <= 1e-15 * scale)
        x, (r, J) = x + dx, better
        damping = damping / 30 if damping > 1e-8 else 0.0
        sizes.append(float(np.linalg.norm(r * weight)))
        if small or (steps > STALLED[0] and sizes[-1] > STALLED[1] * sizes[-1 - STALLED[0]]):
            break
    return Root(x, r, J, _is_root(x, r, J), steps, np.abs(x - start))


def _evaluated(values: Values, x: np.ndarray) -> np.ndarray | None:
    try:
        r = values(x)
    except ArithmeticError:
        return None
    return r if np.all(np.isfinite(r)) else None


def _sloped(function: Function, x: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    try:
        r, J = function(x)
    except ArithmeticError:
        return None
    return (r, J) if np.all(np.isfinite(r)) and np.all(np.isfinite(J)) else None


def _is_root(x: np.ndarray, r: np.ndarray, J: np.ndarray, strict: float = 1.0) -> bool:
    allowed = TOLERANCE * (1e-3 + np.abs(J * np.maximum(np.abs(x), 1.0)).max(axis=1, initial=0.0))
    return bool(np.all(np.abs(r) <= strict * allowed))
