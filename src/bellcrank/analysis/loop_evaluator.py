"""Values and derivatives of models with closed loops, without a choice of independent speeds.

With M u' = f + J' lambda and J u' = gamma, derivatives of u' follow from those of M u' - f - J'
lambda and J u' - gamma at fixed u' and lambda, on the null space of J. M, f, J and gamma are those
of the tree; nothing is eliminated in symbols, so the result holds in every regular position, also
where speeds eliminated at derivation are not determined by the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from bellcrank.analysis.jacobian import derive_jacobian
from bellcrank.analysis.jacobian_runner import Groups, JacobianRunner, group_rows, split_groups
from bellcrank.analysis.plant import AnalysisModel
from bellcrank.analysis.point import EvaluationPoint
from bellcrank.core.errors import RunError
from bellcrank.mechanics.derive.results import GROUPS
from bellcrank.program.differentiate import NO_LINEAR_SYSTEM
from bellcrank.symbolic.expr import ZERO, Expr, Symbol, add, mul, neg, substitute

MIN_SINGULAR_RATIO = 1e-8  # last singular value of J against the first


class LoopEvaluator:
    """Values and derivatives of a model with loops; `columns` may be any symbols."""

    def __init__(
        self, plant: AnalysisModel, groups: Sequence[str], columns: Sequence[Symbol]
    ) -> None:
        program, model_results = plant.loaded.program, plant.derived.results
        loops = program.loops
        assert loops is not None
        self.names = [name for name, _ in model_results.speeds]
        self.rank = loops.scales.rank_v
        self.n_q, self.n_u, self.m = len(program.coordinates), len(program.speeds), len(loops.J)
        rates = {u: Symbol(f"rate of {u.name}", "variable") for u in program.speeds}
        self.accelerations = list(rates.values())
        self.multipliers = [Symbol(f"multiplier {k + 1}", "variable") for k in range(self.m)]
        analysis = plant.derived.analysis
        substitutions: dict[Expr, Expr] = {
            analysis.kinematics.symbol_derivative(u): x for u, x in rates.items()
        }
        outputs = (
            [(o.name, substitute(o.value, substitutions)) for o in analysis.outputs]
            if "outputs" in groups
            else []
        )
        rows = self._residual_rows(loops.M, loops.f, loops.J, loops.gamma)
        zero_rates = [(name, ZERO) for name, _ in model_results.rates[self.n_q :]]
        results = replace(
            model_results,
            rates=(*model_results.rates[: self.n_q], *zero_rates),
            outputs=(*rows, *outputs),
            linear=NO_LINEAR_SYSTEM,
        )
        extra_inputs = [*self.accelerations, *self.multipliers]
        jacobian = derive_jacobian(
            program,
            results,
            GROUPS,
            [*columns, *self.accelerations],
            "forward",
            False,
            inputs=extra_inputs,
        )
        self.runner = JacobianRunner(plant.loaded, jacobian)
        self.sizes = {g: len(results.select_groups(g)) for g in GROUPS}
        self.columns, self.notes = tuple(columns), jacobian.notes

    def _residual_rows(
        self,
        M: Sequence[Sequence[Expr]],
        f: Sequence[Expr],
        J: Sequence[Sequence[Expr]],
        gamma: Sequence[Expr],
    ) -> list[tuple[str, Expr]]:
        """M u' - f - J' lambda, then J u' - gamma."""
        rows: list[tuple[str, Expr]] = []
        for i in range(self.n_u):
            mass = [mul(M[max(i, j)][min(i, j)], x) for j, x in enumerate(self.accelerations)]
            constraint_terms = [neg(mul(J[k][i], x)) for k, x in enumerate(self.multipliers)]
            rows.append((f"balance {i + 1}", add(*mass, neg(f[i]), *constraint_terms)))
        for k in range(self.m):
            acceleration_terms = [mul(J[k][j], x) for j, x in enumerate(self.accelerations)]
            rows.append((f"closing {k + 1}", add(*acceleration_terms, neg(gamma[k]))))
        return rows

    def __call__(self, point: EvaluationPoint) -> tuple[Groups, Groups]:
        n, m, columns = self.n_u, self.m, len(self.columns)
        values, derivatives = self._evaluate_program(point, np.zeros(n), np.zeros(m))
        M, J = derivatives["outputs"][:n, columns:], derivatives["outputs"][n : n + m, columns:]
        solved = self._constrained_solver(point, M, J)
        force, bias = values["outputs"][:n], values["outputs"][n : n + m]
        udot = solved(force, bias)
        multipliers = np.linalg.lstsq(J.T, M @ udot + force, rcond=1e-12)[0]
        values, derivatives = self._evaluate_program(point, udot, multipliers)
        table = derivatives["outputs"]
        by_column = solved(table[:n, :columns], table[n : n + m, :columns])
        jacobians = {g: x[:, :columns] for g, x in derivatives.items()}
        jacobians["rates"] = np.vstack([derivatives["rates"][: self.n_q, :columns], by_column])
        jacobians["outputs"] = table[n + m :, :columns] + table[n + m :, columns:] @ by_column
        values["rates"] = np.concatenate([values["rates"][: self.n_q], udot])
        values["outputs"] = values["outputs"][n + m :]
        return values, jacobians

    def evaluate_values(self, point: EvaluationPoint) -> Groups:
        return self(point)[0]

    def _evaluate_program(
        self, point: EvaluationPoint, udot: np.ndarray, multipliers: np.ndarray
    ) -> tuple[Groups, Groups]:
        input_values = dict(zip(self.accelerations, udot.tolist(), strict=True))
        input_values |= dict(zip(self.multipliers, multipliers.tolist(), strict=True))
        values, matrix = self.runner(
            point, input_values, group_rows("outputs", self.sizes, self.n_u + self.m)
        )
        return split_groups(values, self.sizes), split_groups(matrix, self.sizes)

    def _constrained_solver(
        self, point: EvaluationPoint, M: np.ndarray, J: np.ndarray
    ) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """A function that solves M x + a = J' y, J x + b = 0 for x."""
        U, s, Vt = np.linalg.svd(J)
        if s[self.rank - 1] <= MIN_SINGULAR_RATIO * s[0]:
            weakest = int(np.argmax(np.abs(U[:, self.rank - 1])))
            raise RunError(
                self.runner.singular_message(
                    point, f"the constraint {self.names[weakest]} restricts no movement of its own"
                )
            )
        inverse = Vt[: self.rank].T / s[: self.rank] @ U[:, : self.rank].T
        Z = Vt[self.rank :].T
        try:
            kernel = Z @ np.linalg.solve(Z.T @ M @ Z, Z.T)
        except np.linalg.LinAlgError:
            raise RunError(
                self.runner.singular_message(point, "a movement that the loops allow moves no mass")
            ) from None

        def solve_constrained(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            x = -inverse @ b
            return np.asarray(x - kernel @ (a + M @ x))

        return solve_constrained
