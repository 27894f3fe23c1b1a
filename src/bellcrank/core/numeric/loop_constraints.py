"""States of closed loops brought onto their constraints: assembly at the start, one small
correction after every step.

Position rows g(q, t) = 0 with slopes G, and all rows v = J u + b = 0 at the level of speeds.
Corrections are the smallest ones in a metric of inertia, so no choice of dependent variables
enters, and rows that follow from others do no harm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bellcrank.core.numeric.direction_signs import DirectionSigns
from bellcrank.core.numeric.least_norm import least_norm
from bellcrank.core.numeric.null_space import SINGULAR, eliminate_pivoted, fixed_order_pivot_ratio
from bellcrank.core.numeric.tuning import ASSEMBLY, LOOPS

Block = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], float]
"""Rows of a block with one degree of freedom, its speeds, its coordinates in the same order, and
the usual ratio of pivots."""


@dataclass(frozen=True)
class ConstraintScales:
    """What is usual for the rows of loops: ranks in regular positions, and numbers that bring J to
    entries of about one.

    `regular_pivot_ratio` is the ratio of the last pivot of the scaled J to the first in a good
    position.
    """

    rank_g: int
    rank_v: int
    rows: tuple[float, ...]
    columns: tuple[float, ...]
    regular_pivot_ratio: float = 1.0
    fixed_pivots: tuple[
        tuple[int, int], ...
    ] = ()  # row and column of the pivots that the derivatives divide by ...
    regular_fixed_pivot: float = (
        1.0  # ... and the ratio of the smallest to the largest entry of J in a good position
    )
    blocks: tuple[Block, ...] = ()  # those that a bridge can carry through singular configurations


class AssemblyError(Exception):
    """No position satisfies the constraints: the row with the largest residual, and that residual;
    `reverse`: it does with a direction that points the wrong way."""

    def __init__(self, row: str, residual: float, reverse: bool = False) -> None:
        super().__init__(row, residual, reverse)
        self.row, self.residual, self.reverse = row, residual, reverse

    def __str__(self) -> str:
        if self.reverse:
            return (
                f"the loop '{self.row}' closes only with its axis the other way round than "
                f"it was drawn."
                " Give initial values nearer to the position meant, or turn the axis."
            )
        return (
            f"the loop '{self.row}' cannot be assembled: a residual of {self.residual:.3g} remains."
            " Check lengths, or give initial values nearer to an assembly."
        )


@dataclass(frozen=True)
class ProjectedState:
    """A state after correction: how far its coordinates were moved, what residual is left, the
    ratio of pivots."""

    q: np.ndarray
    u: np.ndarray
    correction: float
    residual: float
    pivot_ratio: float
    fixed_pivot_ratio: float  # the same for the pivots that the derivatives divide by
    row: str = ""  # the position row that was furthest from being closed


@dataclass(frozen=True)
class RegularCorrection:
    """The correction of regular positions as functions: places that are moved, what by, and scales
    of the pivots."""

    q: list[int]
    u: list[int]
    by_q: Callable[[float, np.ndarray, np.ndarray], np.ndarray]
    by_u: Callable[[float, np.ndarray, np.ndarray], np.ndarray]
    pivot_scales: np.ndarray

    def project(self, t: float, q: np.ndarray, u: np.ndarray) -> ProjectedState | None:
        """The state moved onto the constraints; None where a pivot is small or the correction does
        not settle."""
        q, u = q.copy(), u.copy()
        total_correction = 0.0
        for _ in range(LOOPS.corrections):
            step = self.by_q(t, q, u)
            q[self.q] -= step
            size = float(np.linalg.norm(step))
            total_correction += size
            if size < LOOPS.settled:
                break
        else:
            return None
        correction, steady = self._speed_correction(t, q, u)
        if not steady > LOOPS.watched:
            return None
        u[self.u] -= correction
        return ProjectedState(q, u, total_correction, 0.0, 1.0, steady)

    def has_large_pivots(self, t: float, q: np.ndarray, u: np.ndarray) -> bool:
        """Are all pivots large?"""
        return self._speed_correction(t, q, u)[1] > LOOPS.watched

    def _speed_correction(self, t: float, q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, float]:
        """What is taken from speeds, and the smallest pivot."""
        values, count = self.by_u(t, q, u), len(self.u)
        return values[:count], float(np.abs(values[count:] * self.pivot_scales).min(initial=np.inf))


class StartAssembler(Protocol):
    """What a compiled program has of the start of a run: `assemble` as below, `weights`, and a
    start brought onto its branch, None for one that is singular and at rest; `weights_and_branch`:
    both."""

    def assemble(
        self,
        t: float,
        q: np.ndarray,
        u: np.ndarray,
        free_q: np.ndarray,
        free_u: np.ndarray,
        nudges: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]: ...

    def weights(self, t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...

    def project_onto_branch(
        self, t: float, y: np.ndarray, weights: tuple[np.ndarray, np.ndarray]
    ) -> np.ndarray | None: ...

    def weights_and_branch(
        self, t: float, y: np.ndarray
    ) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray | None]: ...


@dataclass(frozen=True)
class LoopConstraints:
    """The constraints of a model as a function of time and state. `weights` of coordinates, speeds:
    1/inertia."""

    constraint_names: Sequence[str]  # of the rows of v
    position_names: Sequence[str]  # of the rows of g
    n_q: int
    n_u: int
    constraint_function: Callable[[float, list[float], list[float]], list[float]]
    scales: ConstraintScales
    weights: tuple[np.ndarray, np.ndarray] | None = None
    correction: RegularCorrection | None = None
    direction_signs: DirectionSigns | None = None  # of directions that must point as drawn
    compiled: StartAssembler | None = None  # what assembles in place of what stands here
    jacobian_pattern: np.ndarray | None = (
        None  # entries of J that are not zero in every configuration
    )

    def evaluate(
        self, t: float, q: np.ndarray, u: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """g, G, v, J."""
        flat = np.array(self.constraint_function(t, q.tolist(), u.tolist()))
        m, rows = len(self.position_names), len(self.constraint_names)
        g, remainder = flat[:m], flat[m:]
        G, remainder = remainder[: m * self.n_q].reshape(m, self.n_q), remainder[m * self.n_q :]
        return g, G, remainder[:rows], remainder[rows:].reshape(rows, self.n_u)

    def normalize_euler_parameters(self, t: float, y: np.ndarray) -> np.ndarray:
        """The state with Euler parameters brought to unit size: position rows without rates, the
        last of them."""
        first = sum(
            a == b for a, b in zip(self.constraint_names, self.position_names, strict=False)
        )
        if first == len(self.position_names):
            return y
        y = y.copy()
        g, G, _, _ = self.evaluate(t, y[: self.n_q], y[self.n_q :])
        for i in range(first, len(g)):
            y[: self.n_q] -= G[i] * g[i] / (G[i] @ G[i])
        return y

    def pivot_ratio(self, J: np.ndarray) -> float:
        """How far a position is from a singular one: the last pivot of J against the first; 1 is
        usual."""
        if not J.size:
            return 1.0
        A = J * np.outer(self.scales.rows, self.scales.columns)
        A = np.column_stack([A, np.zeros(len(A))])
        return float(
            eliminate_pivoted(
                A,
                self.scales.rank_v,
                self.scales.regular_pivot_ratio,
                pattern=self.jacobian_pattern,
            )[2]
        )

    def project(
        self, t: float, q: np.ndarray, u: np.ndarray, tight: bool = False
    ) -> ProjectedState:
        """The nearest state that satisfies the constraints. In a singular configuration nothing is
        moved."""
        total_correction, tolerance = 0.0, LOOPS.tight if tight else LOOPS.closed
        w_q, w_u = self.weights or (np.ones(self.n_q), np.ones(self.n_u))
        g, G, v, J = self.evaluate(t, q, u)
        ratio = self.pivot_ratio(J)
        row = self.position_names[int(np.abs(g).argmax())] if len(g) else ""
        if not ratio > SINGULAR:
            return ProjectedState(q, u, 0.0, 0.0, ratio, fixed_pivot_ratio(J, self.scales))
        for _ in range(LOOPS.corrections):
            if np.abs(g).max(initial=0.0) < tolerance:
                break
            step = least_norm(G, g, w_q, self.scales.rank_g)
            total_correction += float(np.linalg.norm(step))
            q = q - step
            g, G, v, J = self.evaluate(t, q, u)
        u = u - least_norm(J, v, w_u, self.scales.rank_v)
        return ProjectedState(
            q,
            u,
            total_correction,
            float(np.abs(g).max(initial=0.0)),
            self.pivot_ratio(J),
            fixed_pivot_ratio(J, self.scales),
            row,
        )

    def assemble(
        self,
        t: float,
        q: np.ndarray,
        u: np.ndarray,
        free_q: np.ndarray,
        free_u: np.ndarray,
        nudges: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """A state on the constraints, changing only what is free; raises CannotClose where there is
        none."""
        if self.compiled is not None:
            return self.compiled.assemble(t, q, u, free_q, free_u, nudges)
        q = self.assemble_position(t, q.copy(), u, free_q, nudges)
        _, _, v, J = self.evaluate(t, q, u)
        u = u.copy()
        u[free_u] -= _least_norm_solution(J[:, free_u], v, len(v))
        _, _, v, _ = self.evaluate(t, q, u)
        size = max(1.0, float(np.abs(u).max(initial=0.0)))
        if np.abs(v).max(initial=0.0) > ASSEMBLY.carried * size:
            worst = int(np.abs(v).argmax())
            raise AssemblyError(f"speeds of {self.constraint_names[worst]}", float(v[worst]))
        return q, u

    def assemble_position(
        self, t: float, q: np.ndarray, u: np.ndarray, free: np.ndarray, nudges: int | None = None
    ) -> np.ndarray:
        """A position on the constraints with all directions as drawn, changing only what is free;
        `nudges`: how many starts next to the given one are tried for that."""
        if self.direction_signs is None:
            return self._damped_newton(t, q, u, free, None)
        position = self._assemble_as_drawn(t, q, u, free, self.direction_signs)
        if position is not None:
            return position
        failed: AssemblyError | None = None
        try:
            position = self._damped_newton(t, q, u, free, None)
        except AssemblyError as error:
            failed = error
        else:
            row = self.direction_signs.reversed_row(t, position, u)
            if row < 0:
                return position
            failed = AssemblyError(self.position_names[row], 0.0, reverse=True)
        for nudge in range(1, (ASSEMBLY.nudges if nudges is None else nudges) + 1):
            start = q + np.where(
                free, ASSEMBLY.nudge * nudge * np.sin(np.arange(len(q)) + nudge), 0.0
            )
            position = self._assemble_as_drawn(t, start, u, free, self.direction_signs)
            if position is not None:
                return position
        raise failed

    def _assemble_as_drawn(
        self, t: float, q: np.ndarray, u: np.ndarray, free: np.ndarray, sides: DirectionSigns
    ) -> np.ndarray | None:
        """A position with all directions as drawn, found from q by rows that are weighed for it; or
        None."""
        try:
            position = self._damped_newton(t, q, u, free, sides)
        except AssemblyError:
            return None
        return position if sides.reversed_row(t, position, u) < 0 else None

    def _damped_newton(
        self, t: float, q: np.ndarray, u: np.ndarray, free: np.ndarray, sides: DirectionSigns | None
    ) -> np.ndarray:
        """Damped Newton on the position rows, as they are or weighed by their sides."""

        def residual_and_jacobian(q: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
            g, G, _, _ = self.evaluate(t, q, u)
            size = float(np.abs(g).max(initial=0.0))
            return (g, G, size) if sides is None else (*sides.weight_rows(t, q, u, g, G), size)

        g, G, size = residual_and_jacobian(q)
        old_length = _norm(g)
        # their usual rank first: near an assembly, redundant rows move it far along the motion that
        # it leaves
        ranks = list(dict.fromkeys([self.scales.rank_g, len(g)]))
        for _ in range(ASSEMBLY.tries):
            if size < LOOPS.closed:
                return q
            for rank in [*ranks, None] if size < ASSEMBLY.crumb else ranks:
                step = np.zeros_like(q)
                step[free] = (
                    _least_squares_solution(G[:, free], g)
                    if rank is None
                    else _least_norm_solution(G[:, free], g, rank)
                )
                length = _norm(step)
                scale: float = min(1.0, ASSEMBLY.stride / length) if length > 0 else 1.0
                for _ in range(ASSEMBLY.cuts):
                    trial = q - scale * step
                    new = residual_and_jacobian(trial)
                    new_length = _norm(new[0])
                    if new_length < old_length or scale < ASSEMBLY.crumb:
                        break
                    scale /= 2
                if new_length < old_length:
                    break
            else:
                break
            q, (g, G, size), old_length = trial, new, new_length
        if size < ASSEMBLY.assembled:
            return q
        g = self.evaluate(t, q, u)[0]
        worst = int(np.abs(g).argmax())
        raise AssemblyError(self.position_names[worst], float(g[worst]))


def fixed_pivot_ratio(J: np.ndarray, scales: ConstraintScales) -> float:
    """How far the pivots that the derivatives divide by are from zero; 1 is usual."""
    A = J * np.outer(scales.rows, scales.columns)
    return float(fixed_order_pivot_ratio(A, scales.fixed_pivots) / scales.regular_fixed_pivot)


def _norm(x: np.ndarray) -> float:
    """As of `np.linalg.norm`."""
    return math.sqrt(x.dot(x))


def _least_norm_solution(A: np.ndarray, r: np.ndarray, rank: int) -> np.ndarray:
    """The smallest x with A x = r, redundant rows allowed."""
    return least_norm(A, r, np.ones(A.shape[1]), rank)


def _least_squares_solution(A: np.ndarray, r: np.ndarray) -> np.ndarray:
    """The x that brings A x nearest to r, rows as long as they are: one that vanishes as loops
    close does not count."""
    return (
        np.asarray(np.linalg.lstsq(A, r, rcond=ASSEMBLY.assembled)[0])
        if A.size
        else np.zeros(A.shape[1])
    )
