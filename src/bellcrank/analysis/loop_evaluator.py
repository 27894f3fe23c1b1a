"""Values and derivatives of models with closed loops, without a choice of independent speeds.

With M u' = f + J' lambda and J u' = gamma, derivatives of u' follow from those of M u' - f - J' lambda and J u' -
gamma at fixed u' and lambda, on the null space of J. M, f, J and gamma are those of the tree; nothing is eliminated
in symbols, so the result holds in every regular position, also where speeds eliminated at derivation are not
determined by the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from bellcrank.analysis.jacobian import derive_jacobian
from bellcrank.analysis.jacobian_runner import Groups, Runner, grouped, rows_of
from bellcrank.analysis.plant import Plant
from bellcrank.analysis.point import Point
from bellcrank.derive.results import GROUPS
from bellcrank.errors import RunError
from bellcrank.expr import ZERO, Expr, Symbol, add, mul, neg, substitute
from bellcrank.program.differentiate import NOTHING

REGULAR = 1e-8  # last singular value of J against the first


class LoopEvaluator:
    """Values and derivatives of a model with loops; `columns` may be any symbols."""

    def __init__(self, plant: Plant, groups: Sequence[str], columns: Sequence[Symbol]) -> None:
        program, whole = plant.loaded.program, plant.derived.results
        loops = program.loops
        assert loops is not None
        self.names = [name for name, _ in whole.speeds]
        self.rank = loops.scales.rank_v
        self.n_q, self.n_u, self.m = len(program.coordinates), len(program.speeds), len(loops.J)
        rates = {u: Symbol(f"rate of {u.name}", "variable") for u in program.speeds}
        self.accelerations = list(rates.values())
        self.multipliers = [Symbol(f"multiplier {k + 1}", "variable") for k in range(self.m)]
        analysis = plant.derived.analysis
        known: dict[Expr, Expr] = {analysis.kinematics.rate_of(u): x for u, x in rates.items()}
        outputs = [(o.name, substitute(o.value, known)) for o in analysis.outputs] if "outputs" in groups else []
        rows = self._rows(loops.M, loops.f, loops.J, loops.gamma)
        still = [(name, ZERO) for name, _ in whole.rates[self.n_q :]]
        results = replace(whole, rates=(*whole.rates[: self.n_q], *still), outputs=(*rows, *outputs), linear=NOTHING)
        given = [*self.accelerations, *self.multipliers]
        jacobian = derive_jacobian(
            program, results, GROUPS, [*columns, *self.accelerations], "forward", False, inputs=given
        )
        self.runner = Runner(plant.loaded, jacobian)
        self.sizes = {g: len(results.rows(g)) for g in GROUPS}
        self.columns, self.notes = tuple(columns), jacobian.notes

    def _rows(
        self, M: Sequence[Sequence[Expr]], f: Sequence[Expr], J: Sequence[Sequence[Expr]], gamma: Sequence[Expr]
    ) -> list[tuple[str, Expr]]:
        """M u' - f - J' lambda, then J u' - gamma."""
        rows: list[tuple[str, Expr]] = []
        for i in range(self.n_u):
            mass = [mul(M[max(i, j)][min(i, j)], x) for j, x in enumerate(self.accelerations)]
            carried = [neg(mul(J[k][i], x)) for k, x in enumerate(self.multipliers)]
            rows.append((f"balance {i + 1}", add(*mass, neg(f[i]), *carried)))
        for k in range(self.m):
            moved = [mul(J[k][j], x) for j, x in enumerate(self.accelerations)]
            rows.append((f"closing {k + 1}", add(*moved, neg(gamma[k]))))
        return rows

    def __call__(self, at: Point) -> tuple[Groups, Groups]:
        n, m, columns = self.n_u, self.m, len(self.columns)
        values, derivatives = self._numbers(at, np.zeros(n), np.zeros(m))
        M, J = derivatives["outputs"][:n, columns:], derivatives["outputs"][n : n + m, columns:]
        solved = self._solver(at, M, J)
        force, right = values["outputs"][:n], values["outputs"][n : n + m]
        udot = solved(force, right)
        multipliers = np.linalg.lstsq(J.T, M @ udot + force, rcond=1e-12)[0]
        values, derivatives = self._numbers(at, udot, multipliers)
        table = derivatives["outputs"]
        by_column = solved(table[:n, :columns], table[n : n + m, :columns])
        found = {g: x[:, :columns] for g, x in derivatives.items()}
        found["rates"] = np.vstack([derivatives["rates"][: self.n_q, :columns], by_column])
        found["outputs"] = table[n + m :, :columns] + table[n + m :, columns:] @ by_column
        values["rates"] = np.concatenate([values["rates"][: self.n_q], udot])
        values["outputs"] = values["outputs"][n + m :]
        return values, found

    def values(self, at: Point) -> Groups:
        return self(at)[0]

    def _numbers(self, at: Point, udot: np.ndarray, multipliers: np.ndarray) -> tuple[Groups, Groups]:
        given = dict(zip(self.accelerations, udot.tolist(), strict=True))
        given |= dict(zip(self.multipliers, multipliers.tolist(), strict=True))
        values, matrix = self.runner(at, given, rows_of("outputs", self.sizes, self.n_u + self.m))
        return grouped(values, self.sizes), grouped(matrix, self.sizes)

    def _solver(self, at: Point, M: np.ndarray, J: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """A function that solves M x + a = J' y, J x + b = 0 for x."""
        left, s, right = np.linalg.svd(J)
        if s[self.rank - 1] <= REGULAR * s[0]:
            weakest = int(np.argmax(np.abs(left[:, self.rank - 1])))
            raise RunError(
                self.runner.singular(at, f"the constraint {self.names[weakest]} restricts no movement of its own")
            )
        inverse = right[: self.rank].T / s[: self.rank] @ left[:, : self.rank].T
        Z = right[self.rank :].T
        try:
            kernel = Z @ np.linalg.solve(Z.T @ M @ Z, Z.T)
        except np.linalg.LinAlgError:
            raise RunError(self.runner.singular(at, "a movement that the loops allow moves no mass")) from None

        def solved(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            x = -inverse @ b
            return np.asarray(x - kernel @ (a + M @ x))

        return solved
