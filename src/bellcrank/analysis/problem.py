"""One search for an equilibrium or steady motion: unknowns, equations, and what is left of them at
a point."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from bellcrank.analysis.jacobian_runner import JacobianEvaluation
from bellcrank.analysis.plant import AnalysisModel
from bellcrank.analysis.point import EvaluationPoint
from bellcrank.analysis.root_finding import (
    MAX_STEPS,
    RootResult,
    levenberg_marquardt_root,
    newton_root,
)
from bellcrank.analysis.targets import SearchTarget
from bellcrank.core.errors import RunError
from bellcrank.core.units import ANGLE
from bellcrank.mechanics.interface.interface import Quantity

T = TypeVar("T")
MAX_STEP_ANGLE = 0.5  # rad, of one step of a search
MIN_EFFECT_FRACTION = (
    1e-3  # fraction of an input in what no unknown can balance, against that of the strongest
)


@dataclass(frozen=True)
class EquilibriumProblem:
    """Unknowns and equations: some rates are to be zero, constraints to hold, aims to be
    reached."""

    plant: AnalysisModel
    find: JacobianEvaluation
    start: EvaluationPoint
    unknowns: tuple[Quantity, ...]
    zero_rate_combinations: np.ndarray  # combinations of rates that are to be zero, a row each
    aims: tuple[SearchTarget, ...]

    @property
    def x(self) -> np.ndarray:
        return np.array([self.start.value_of(q) for q in self.unknowns])

    def point_at(self, x: np.ndarray) -> EvaluationPoint:
        return self.start.with_values(dict(zip(self.unknowns, x.tolist(), strict=True)))

    @property
    def equation_names(self) -> list[str]:
        """Names of the equations."""
        states = self.plant.interface.states
        rows = [
            f"{states[int(np.argmax(np.abs(row)))].name}'" for row in self.zero_rate_combinations
        ]
        for g in ("positions", "speeds"):
            rows += [name for name, _ in self.plant.derived.results.select_groups(g)]
        return [*rows, *(a.name for a in self.aims)]

    def residuals(self, x: np.ndarray) -> np.ndarray:
        """What is left of all equations."""
        point = self.point_at(x)
        values = self._evaluate_or_undefined(lambda: self.find.evaluate_values(point))
        aimed = [a.residual_at(point.x, values) for a in self.aims]
        return np.concatenate(
            [
                self.zero_rate_combinations @ values["rates"],
                values["positions"],
                values["speeds"],
                aimed,
            ]
        )

    def residuals_and_jacobian(
        self, x: np.ndarray, quantities: Sequence[Quantity] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """What is left of all equations, and its derivatives by the unknowns or by others."""
        point = self.point_at(x)
        values, derivatives = self._evaluate_or_undefined(lambda: self.find(point))
        column_index = {s: j for j, s in enumerate(self.find.columns)}
        columns = [
            column_index[q.symbol]
            for q in (self.unknowns if quantities is None else quantities)
            if q.symbol is not None
        ]
        r, J = (
            [self.zero_rate_combinations @ g["rates"], g["positions"], g["speeds"]]
            for g in (values, derivatives)
        )
        for aim in self.aims:
            residual, row = aim.residual_and_gradient(point.x, values, derivatives)
            r.append(np.array([residual]))
            J.append(row[None, :])
        return np.concatenate(r), np.vstack(J)[:, columns]

    @staticmethod
    def _evaluate_or_undefined(compute: Callable[[], T]) -> T:
        try:
            return compute()
        except RunError as error:
            raise UndefinedAtPoint(str(error)) from None

    def _step_limits(self, angle: float) -> np.ndarray:
        """How far unknowns may go, equation units: coordinates that are angles only."""
        return np.array(
            [
                angle if q.kind == "coordinate" and q.unit.dimension == ANGLE else np.inf
                for q in self.unknowns
            ]
        )

    def solve_by_newton(self) -> RootResult | None:
        """The root whose region of convergence (Newton's) the start is in, angles within half a
        turn."""
        return newton_root(self.residuals_and_jacobian, self.x, self._step_limits(math.pi))

    def solve(self, max_steps: int = MAX_STEPS) -> RootResult:
        """A root near the start; a RunError if the model cannot be evaluated there."""
        root = self.solve_by_newton()
        if root is not None:
            return root
        try:
            return levenberg_marquardt_root(
                self.residuals_and_jacobian,
                self.residuals,
                self.x,
                self._step_limits(MAX_STEP_ANGLE),
                max_steps,
            )
        except UndefinedAtPoint as error:
            raise RunError(str(error)) from None

    def effective_candidates(
        self, x: np.ndarray, candidates: Sequence[Quantity]
    ) -> list[tuple[Quantity, float]]:
        """Which of the candidates act on what the unknowns cannot balance, the strongest first."""
        _, J = self.residuals_and_jacobian(x)
        _, B = self.residuals_and_jacobian(x, candidates)
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
        threshold = max(
            MIN_EFFECT_FRACTION * max((effect for _, effect in effects), default=0.0), 1e-9
        )
        return sorted((x for x in effects if x[1] > threshold), key=lambda x: -x[1])


class UndefinedAtPoint(ArithmeticError):
    """The model cannot be evaluated at a point that a search came to."""
