"""One search for an equilibrium or steady motion: unknowns, equations, and what is left of them at a point."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from bellcrank.analysis.aims import Aim
from bellcrank.analysis.jacobian_runner import Find
from bellcrank.analysis.plant import Plant
from bellcrank.analysis.point import Point
from bellcrank.analysis.solve import STEPS, Root, newton, solve
from bellcrank.errors import RunError
from bellcrank.interface.interface import Quantity
from bellcrank.units import ANGLE

T = TypeVar("T")
LONGEST = 0.5  # rad, of one step of a search
ACTING = 1e-3  # fraction of an input in what no unknown can balance, against that of the strongest


@dataclass(frozen=True)
class Problem:
    """Unknowns and equations: some rates are to be zero, constraints to hold, aims to be reached."""

    plant: Plant
    find: Find
    start: Point
    unknowns: tuple[Quantity, ...]
    wanted: np.ndarray  # combinations of rates that are to be zero, a row each
    aims: tuple[Aim, ...]

    @property
    def x(self) -> np.ndarray:
        return np.array([self.start.of(q) for q in self.unknowns])

    def at(self, x: np.ndarray) -> Point:
        return self.start.moved(dict(zip(self.unknowns, x.tolist(), strict=True)))

    @property
    def equations(self) -> list[str]:
        """Names of the equations."""
        states = self.plant.interface.states
        rows = [f"{states[int(np.argmax(np.abs(row)))].name}'" for row in self.wanted]
        for g in ("positions", "speeds"):
            rows += [name for name, _ in self.plant.derived.results.rows(g)]
        return [*rows, *(a.name for a in self.aims)]

    def left(self, x: np.ndarray) -> np.ndarray:
        """What is left of all equations."""
        point = self.at(x)
        values = self._found(lambda: self.find.values(point))
        aimed = [a.left_at(point.x, values) for a in self.aims]
        return np.concatenate([self.wanted @ values["rates"], values["positions"], values["speeds"], aimed])

    def derivatives_at(
        self, x: np.ndarray, quantities: Sequence[Quantity] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """What is left of all equations, and its derivatives by the unknowns or by others."""
        point = self.at(x)
        values, derivatives = self._found(lambda: self.find(point))
        column_index = {s: j for j, s in enumerate(self.find.columns)}
        columns = [
            column_index[q.symbol]
            for q in (self.unknowns if quantities is None else quantities)
            if q.symbol is not None
        ]
        r, J = ([self.wanted @ g["rates"], g["positions"], g["speeds"]] for g in (values, derivatives))
        for aim in self.aims:
            residual, row = aim.at(point.x, values, derivatives)
            r.append(np.array([residual]))
            J.append(row[None, :])
        return np.concatenate(r), np.vstack(J)[:, columns]

    @staticmethod
    def _found(compute: Callable[[], T]) -> T:
        try:
            return compute()
        except RunError as error:
            raise NoValue(str(error)) from None

    def _limits(self, angle: float) -> np.ndarray:
        """How far unknowns may go, equation units: coordinates that are angles only."""
        return np.array(
            [angle if q.kind == "coordinate" and q.unit.dimension == ANGLE else np.inf for q in self.unknowns]
        )

    def nearest(self) -> Root | None:
        """The root whose region of convergence (Newton's) the start is in, angles within half a turn."""
        return newton(self.derivatives_at, self.x, self._limits(math.pi))

    def solve(self, max_steps: int = STEPS) -> Root:
        """A root near the start; a RunError if the model cannot be evaluated there."""
        root = self.nearest()
        if root is not None:
            return root
        try:
            return solve(self.derivatives_at, self.left, self.x, self._limits(LONGEST), max_steps)
        except NoValue as error:
            raise RunError(str(error)) from None

    def acting(self, x: np.ndarray, candidates: Sequence[Quantity]) -> list[tuple[Quantity, float]]:
        """Which of the candidates act on what the unknowns cannot balance, the strongest first."""
        _, J = self.derivatives_at(x)
        _, B = self.derivatives_at(x, candidates)
        scale = np.maximum(np.abs(x), 1.0)
        rows = np.abs(J * scale).max(axis=1, initial=0.0)
        rows[rows == 0] = 1.0
        U, s, _ = np.linalg.svd(J * scale / rows[:, None])
        rank = int(np.sum(s > 1e-9 * s[0])) if s.size and s[0] > 0 else 0
        free = U[:, rank:]
        columns = B / rows[:, None]
        effects = [
            (q, float(np.linalg.norm(free.T @ b) / np.linalg.norm(b)) if np.any(b) else 0.0)
            for q, b in zip(candidates, columns.T, strict=True)
        ]
        threshold = max(ACTING * max((effect for _, effect in effects), default=0.0), 1e-9)
        return sorted((x for x in effects if x[1] > threshold), key=lambda x: -x[1])


class NoValue(ArithmeticError):
    """The model cannot be evaluated at a point that a search came to."""
