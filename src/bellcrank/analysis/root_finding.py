"""Roots of a system of equations by Newton's, else by Levenberg and Marquardt's method, with an
exact Jacobian.

Steps are of least norm in scaled unknowns, so unknowns that nothing determines stay where they are;
equations that repeat others do no harm. Angles are limited: `newton_root` takes no root further
away, `levenberg_marquardt_root` makes no longer step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Function = Callable[
    [np.ndarray], tuple[np.ndarray, np.ndarray]
]  # x -> residuals and their derivatives
Values = Callable[[np.ndarray], np.ndarray]  # x -> residuals
TOLERANCE = 1e-10  # of a residual, against its derivatives times the size of the unknowns
NEGLIGIBLE = 1e-10  # singular values below this fraction of the largest say nothing
MAX_STEPS = 200
JACOBIAN_REUSE_RATIO = (
    0.1  # fraction of what is left after a step, below which derivatives serve for another one
)
CONTRACTS = 0.5  # a Newton step against the one before: within the region of convergence
STALL_TEST = (
    25,
    0.9,
)  # steps in which what is left must fall below this share, or the search has ended


@dataclass(frozen=True)
class RootResult:
    """Where the iteration ended: unknowns, residuals with their derivatives, and whether that is a
    root."""

    x: np.ndarray
    residuals: np.ndarray
    derivatives: np.ndarray
    converged: bool
    steps: int
    moved: np.ndarray  # how far each unknown went

    @property
    def null_space(self) -> np.ndarray:
        """Directions of the unknowns that no equation determines, as columns."""
        if not self.x.size:
            return np.zeros((0, 0))
        scaled, scale = _scale_jacobian(self.x, self.derivatives)
        _, s, vt = np.linalg.svd(scaled)
        rank = int(np.sum(s > NEGLIGIBLE * s[0])) if s.size and s[0] > 0 else 0
        return np.asarray((vt[rank:] * scale).T)


def _scale_jacobian(x: np.ndarray, J: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives with rows of unit size and columns by the size of the unknowns."""
    scale = np.maximum(np.abs(x), 1.0)
    rows = np.abs(J * scale).max(axis=1, initial=0.0)
    return J * scale / np.where(rows > 0, rows, 1.0)[:, None], scale


def newton_root(function: Function, start: np.ndarray, limit: np.ndarray) -> RootResult | None:
    """The root whose region of convergence the start is in: every step at most half as long as the
    one before.

    Such a root is unique within twice the first step; None if there is none, or further away than
    the limit.
    """
    x, last_length, steps = np.array(start, dtype=float), np.inf, 0
    size = np.maximum(np.abs(x), 1.0)
    while True:
        evaluation = _evaluate_with_jacobian(function, x)
        if evaluation is None:
            return None
        r, J = evaluation
        rows = np.abs(J * size).max(axis=1, initial=0.0)
        step = _MinimumNormStep(x, J, 1.0 / np.where(rows > 0, rows, 1.0))
        dx = step(r, 0.0)
        length = float(np.abs(dx / size).max(initial=0.0))
        root, exceeds_limit = _is_root(x, r, J), bool(np.any(np.abs(x + dx - start) > limit))
        finished = _is_root(x, r, J, 1e-5) or length <= 1e-15
        if steps and length > CONTRACTS * last_length and root and not finished:
            # rounding, or a soft direction next to stiff ones, in which little that is left is a
            # long way
            nearer = None if exceeds_limit else _evaluate_with_jacobian(function, x + dx)
            next_length = (
                np.inf
                if nearer is None
                else float(np.abs(step(nearer[0], 0.0) / size).max(initial=0.0))
            )
            finished = next_length > CONTRACTS * length or steps >= MAX_STEPS
        elif length > CONTRACTS * last_length or exceeds_limit:
            finished, root = True, root and finished
        if finished:
            return RootResult(x, r, J, True, steps, np.abs(x - start)) if root else None
        x, last_length, steps = x + dx, length, steps + 1


def levenberg_marquardt_root(
    function: Function, values: Values, start: np.ndarray, limit: np.ndarray, most: int = MAX_STEPS
) -> RootResult:
    """A root near the start, or the nearest point to one that could be found within so many steps.

    The Jacobian serves for several steps as long as these lead on quickly; that of the result is
    its own.
    """
    x = np.array(start, dtype=float)
    r, J = function(x)
    rows = np.abs(J * np.maximum(np.abs(x), 1.0)).max(axis=1, initial=0.0)
    weight = 1.0 / np.where(rows > 0, rows, 1.0)  # fixed, so that steps can be compared
    damping, steps, stale = 0.0, 0, False
    step = _MinimumNormStep(x, J, weight)
    sizes = [float(np.linalg.norm(r * weight))]
    while steps < most and not _is_root(x, r, J, 1e-5):
        steps += 1
        better = None
        for _ in range(40):
            dx = step(r, damping)
            dx = dx / max(1.0, float(np.abs(dx / limit).max(initial=0.0)))
            better = _evaluate_finite(values, x + dx)
            if better is not None and np.linalg.norm(better * weight) < sizes[-1]:
                break
            better = None
            if stale:
                (r, J), stale = function(x), False
                step = _MinimumNormStep(x, J, weight)
                continue
            damping = max(10 * damping, 1e-6)
            if damping > 1e12:
                break
        if better is None:
            break  # no direction leads on
        small = np.all(np.abs(dx) <= 1e-15 * np.maximum(np.abs(x), 1.0))
        x, r, stale = x + dx, better, True
        damping = damping / 30 if damping > 1e-8 else 0.0
        sizes.append(float(np.linalg.norm(r * weight)))
        if sizes[-1] > JACOBIAN_REUSE_RATIO * sizes[-2]:
            evaluation = _evaluate_with_jacobian(function, x)
            if evaluation is None:
                break
            (r, J), stale = evaluation, False
            step = _MinimumNormStep(x, J, weight)
        if small or (
            steps > STALL_TEST[0] and sizes[-1] > STALL_TEST[1] * sizes[-1 - STALL_TEST[0]]
        ):
            break
    if stale:
        r, J = _evaluate_with_jacobian(function, x) or (r, J)
    return RootResult(x, r, J, _is_root(x, r, J), steps, np.abs(x - start))


class _MinimumNormStep:
    """Steps from a point with its derivatives, of least norm in scaled unknowns."""

    def __init__(self, x: np.ndarray, J: np.ndarray, weight: np.ndarray) -> None:
        self.scale, self.weight = np.maximum(np.abs(x), 1.0), weight
        self.left, self.s, self.right = np.linalg.svd(
            J * self.scale * weight[:, None], full_matrices=False
        )
        self.keep = self.s > NEGLIGIBLE * (self.s[0] if self.s.size else 0.0)

    def __call__(self, r: np.ndarray, damping: float) -> np.ndarray:
        s, significant = self.s, self.keep
        factor = np.where(
            significant, s / np.where(significant, s * s + damping * s[:1] ** 2, 1.0), 0.0
        )
        return np.asarray(
            -self.scale * (self.right.T @ (factor * (self.left.T @ (r * self.weight))))
        )


def _evaluate_finite(values: Values, x: np.ndarray) -> np.ndarray | None:
    try:
        r = values(x)
    except ArithmeticError:
        return None
    return r if np.all(np.isfinite(r)) else None


def _evaluate_with_jacobian(
    function: Function, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    try:
        r, J = function(x)
    except ArithmeticError:
        return None
    return (r, J) if np.all(np.isfinite(r)) and np.all(np.isfinite(J)) else None


def _is_root(x: np.ndarray, r: np.ndarray, J: np.ndarray, strict: float = 1.0) -> bool:
    tolerance = TOLERANCE * (1e-3 + np.abs(J * np.maximum(np.abs(x), 1.0)).max(axis=1, initial=0.0))
    return bool(np.all(np.abs(r) <= strict * tolerance))
