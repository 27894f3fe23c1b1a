"""Closed loops of a program: their rows by name, as expressions, and the correction of regular
positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bellcrank.core.numeric.loop_constraints import ConstraintScales
from bellcrank.core.numeric.redundant_system import RedundantSizes
from bellcrank.symbolic.expr import ZERO, Expr, Symbol


@dataclass(frozen=True)
class LoopProjection:
    """The correction of regular positions: only what depends on the rest is moved, by pivots in
    fixed order.

    `q` and `u` are the places of the coordinates and speeds that are moved; `dq` and `du` what is
    taken from them; a pivot times its scale is usually 1.
    """

    q: tuple[int, ...]
    u: tuple[int, ...]
    dq: tuple[Expr, ...]
    du: tuple[Expr, ...]
    pivots: tuple[Expr, ...]
    pivot_scales: tuple[float, ...]


@dataclass(frozen=True)
class LoopEquations:
    """Constraints by name: positions g with their Jacobian G = dg/dq, speeds v (all rows) with J =
    dv/du."""

    names: tuple[str, ...]  # of the rows of v
    positions: tuple[str, ...]  # of the rows of g: loops, and the unit size of Euler parameters
    g: tuple[Expr, ...]
    G: tuple[tuple[Expr, ...], ...]
    v: tuple[Expr, ...]
    J: tuple[tuple[Expr, ...], ...]
    scales: ConstraintScales
    M: tuple[tuple[Expr, ...], ...]  # mass matrix of the tree, rows of its lower triangle
    f: tuple[Expr, ...]
    gamma: tuple[Expr, ...]  # J u' = gamma
    sides: tuple[
        Expr, ...
    ] = ()  # 1 where a direction points as drawn, -1 where it points the other way; and d/dq:
    side_partials: tuple[tuple[Expr, ...], ...] = ()
    sided: tuple[
        int, ...
    ] = ()  # for every row of g, the number of its side, or -1: it holds on both
    correction: LoopProjection | None = None

    def flat_sides(self) -> list[Expr]:
        """Sides, then their partial derivatives."""
        return [*self.sides, *(x for row in self.side_partials for x in row)]

    def flattened(self) -> list[Expr]:
        """g, G, v, J in one list, rows after each other."""
        return [*self.g, *(x for row in self.G for x in row), *self.v, *self.flat_rows()]

    @cached_property
    def paired_row_count(self) -> int:
        """How many rows of g, from the first on, have their rates in the same rows of v; Euler
        parameters have none."""
        return sum(a == b for a, b in zip(self.names, self.positions, strict=False))

    @cached_property
    def jacobian_pattern(self) -> np.ndarray:
        """Which entries of J are not zero in every configuration."""
        return np.array([[x is not ZERO for x in row] for row in self.J], dtype=bool).reshape(
            len(self.v), len(self.f)
        )

    def system_sizes(self, n_q: int) -> RedundantSizes:
        """How many numbers `system` gives, with n_q coordinates."""
        return RedundantSizes(n_q, len(self.f), len(self.g), len(self.v), self.paired_row_count)

    def flat_system(self) -> list[Expr]:
        """M, f, J, gamma in one list."""
        return [*(x for row in self.M for x in row), *self.f, *self.flat_rows(), *self.gamma]

    def flat_rows(self) -> list[Expr]:
        """J in one list."""
        return [x for row in self.J for x in row]

    def closure_labels(self, q: Sequence[Symbol], u: Sequence[Symbol]) -> tuple[str, ...]:
        """What the numbers of `flattened` are."""
        return (
            *self.positions,
            *(f"{name}: derivative by {s.name}" for name in self.positions for s in q),
            *(f"{name}: speed" for name in self.names),
            *(f"{name}: speed, derivative by {s.name}" for name in self.names for s in u),
        )

    def side_labels(self, q: Sequence[Symbol]) -> tuple[str, ...]:
        """What the numbers of `flat_sides` are."""
        names = [self.positions[self.sided.index(i)] for i in range(len(self.sides))]
        return (
            *(f"{name}: side" for name in names),
            *(f"{name}: side, derivative by {s.name}" for name in names for s in q),
        )

    def system_labels(self, u: Sequence[Symbol]) -> tuple[str, ...]:
        """What the numbers of `flat_system`, and of g and v after them, are."""
        return (
            *(f"M: {a.name}, {b.name}" for i, a in enumerate(u) for b in u[: i + 1]),
            *(f"f: {a.name}" for a in u),
            *(f"J: {row}, {a.name}" for row in self.names for a in u),
            *(f"gamma: {row}" for row in self.names),
            *self.positions,
            *(f"{row}: speed" for row in self.names),
        )
