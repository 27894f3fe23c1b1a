"""A program run with Taylor series instead of numbers: slopes of its results, exact to rounding.

In:  a `SimulationProgram` and jets for its states. Out: statements and results as jets; routines
from outside by differences.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bellcrank.program.program import SimulationProgram
from bellcrank.program.statements import (
    AssignStatement,
    CallStatement,
    NullSpaceSolve,
    Section,
    SolveStatement,
)
from bellcrank.symbolic.expr import Expr, Func, NamedSubexpression, Number, Product, Sum, postorder
from bellcrank.symbolic.expr.node import PI
from bellcrank.verify import jets
from bellcrank.verify.function_rules import FUNCTIONS
from bellcrank.verify.jets import Jet, NoDerivative, Value

KINK_TOLERANCE = 1e-8  # of the largest slope: by how much differences with two steps may differ
MAX_HALVINGS = 8  # of the step, to come closer to a state than the next kink or pole is
WEIGHTS = ((1, 45 / 60), (2, -9 / 60), (3, 1 / 60))


def central_difference(function: Callable[[float], np.ndarray], step: float) -> np.ndarray:
    """The derivative at zero by central differences of sixth order."""
    total = sum(w * (function(i * step) - function(-i * step)) for i, w in WEIGHTS)
    return np.asarray(total) / step


def converged_difference(
    function: Callable[[float], np.ndarray], step: float
) -> tuple[np.ndarray, float]:
    """The derivative at zero by differences whose step is halved until two of them agree, and by
    how much the best two do not, as a fraction of the largest entry. A pole or a kink only matters
    as far as the differences reach."""
    coarse = central_difference(function, step)
    best, uncertainty = coarse, np.inf
    for i in range(1, MAX_HALVINGS + 1):
        fine = central_difference(function, step / 2**i)
        gap = float(np.abs(coarse - fine).max(initial=0.0) / (np.abs(fine).max(initial=0.0) or 1.0))
        if gap < uncertainty:
            best, uncertainty = fine, gap
        if uncertainty <= KINK_TOLERANCE:
            break
        coarse = fine
    return best, uncertainty


class NonsmoothRoutine(ArithmeticError):
    """Differences of a routine depend on their step: it is not smooth enough here for a slope."""


class TaylorInterpreter:
    """Values of a program's symbols, each a number or a jet of length two."""

    def __init__(self, program: SimulationProgram, routines: Sequence[Any]) -> None:
        self.values: dict[Expr, Value] = {}
        self.routines = {id(r): f for r, f in zip(program.routines, routines, strict=True)}

    def set_values(self, symbols: Sequence[Expr], values: Sequence[Value]) -> None:
        self.values.update(zip(symbols, values, strict=True))

    def run_section(self, section: Section) -> None:
        for s in section.statements:
            if isinstance(s, AssignStatement):
                self.values[s.target] = self.evaluate((s.value,))[0]
            elif isinstance(s, CallStatement):
                results = self._call_routine(
                    self.routines[id(s.routine)], self.evaluate(s.arguments)
                )
                self.values.update(
                    (x, results[i]) for i, x in enumerate(s.targets) if x is not None
                )
            elif isinstance(s, SolveStatement):
                rhs = jets.stack_jets(self.evaluate(s.right))
                results = jets.solve(
                    jets.stack_jets([jets.stack_jets(self.evaluate(row)) for row in s.matrix]), rhs
                )
                self.values.update((x, results[i]) for i, x in enumerate(s.targets))
            else:
                self._null_space_solve(s)

    def _null_space_solve(self, s: NullSpaceSolve) -> None:
        """M u' - J' lambda = f, J u' = gamma; u' is unique even if rows repeat each other or bodies
        are massless."""
        n = len(s.force)
        lower = [self.evaluate(row) for row in s.mass]
        M = jets.stack_jets(
            [jets.stack_jets([lower[max(i, j)][min(i, j)] for j in range(n)]) for i in range(n)]
        )
        J = jets.stack_jets([jets.stack_jets(self.evaluate(row)) for row in s.rows])
        rhs = jets.stack_jets([*self.evaluate(s.force), *self.evaluate(s.right)])
        (M_0, M_1), (J_0, J_1), (b_0, b_1) = (jets.coefficients(x, 2) for x in (M, J, rhs))
        zero = np.zeros((len(J_0), len(J_0)))
        K_0, K_1 = (np.block([[M_k, -J_k.T], [J_k, zero]]) for M_k, J_k in ((M_0, J_0), (M_1, J_1)))
        x_0 = np.linalg.lstsq(K_0, b_0, rcond=1e-12)[0]
        x_1 = np.linalg.lstsq(K_0, b_1 - K_1 @ x_0, rcond=1e-12)[0]
        self.values.update((x, Jet([x_0[i], x_1[i]])) for i, x in enumerate(s.targets[:n]))
        self.values.update((x, 1.0) for x in s.targets[n:])

    def _call_routine(self, function: Callable[..., Any], arguments: Sequence[Value]) -> Value:
        """A routine from outside, along the line of its arguments."""
        a = np.array([jets.coefficients(x, 2) for x in arguments])

        def evaluate_on_line(h: float) -> np.ndarray:
            return np.atleast_1d(
                np.asarray(function(*(a[:, 0] + h * a[:, 1]).tolist()), dtype=float)
            )

        direction_size = float(np.abs(a[:, 1]).max(initial=0.0))
        if not direction_size:
            return Jet([evaluate_on_line(0.0), np.zeros_like(evaluate_on_line(0.0))])
        step = 1e-3 / direction_size
        solve_ahead = getattr(getattr(function, "function", None), "solve_ahead", None)
        if solve_ahead is not None:  # linkages: all that the first two differences need at once
            steps = [
                0.0,
                *(sign * i * step / n for n in (1, 2) for i, _ in WEIGHTS for sign in (1, -1)),
            ]
            solve_ahead([tuple((a[:, 0] + h * a[:, 1]).tolist()) for h in steps])
        derivative, uncertainty = converged_difference(evaluate_on_line, step)
        if not uncertainty <= KINK_TOLERANCE:
            raise NonsmoothRoutine("a routine or table has a kink at this state")
        return Jet([evaluate_on_line(0.0), derivative])

    def evaluate(self, roots: Sequence[Expr]) -> list[Value]:
        values: dict[Expr, Value] = {}

        def value(x: Expr) -> Value:
            return values[x] if x in values else self.values[x]

        for node in postorder(roots, known=self.values):
            values[node] = self._node(node, value)
        return [value(r) for r in roots]

    def _node(self, node: Expr, value: Callable[[Expr], Value]) -> Value:
        if isinstance(node, Number):
            return float(node.value)
        if isinstance(node, Sum):
            total: Value = 0.0
            for core, c in node.terms:
                total = total + float(c) * value(core)
            return total
        if isinstance(node, Product):
            product: Value = float(node.coefficient)
            for base, exponent in node.factors:
                product = product * (
                    value(base) if exponent == 1 else jets.power(value(base), float(exponent))
                )
            return product
        if isinstance(node, NamedSubexpression):
            return value(node.definition)
        if isinstance(node, Func):
            return self._function(node, [value(a) for a in node.args])
        if node is PI:
            return math.pi
        raise NoDerivative(f"no value is known for {node}")

    def _function(self, node: Func, arguments: list[Value]) -> Value:
        if node.function is None:
            return FUNCTIONS[node.name](*arguments)
        routine = getattr(node.function, "external", node.function)
        return self._call_routine(self.routines[id(routine)], arguments)[0]
