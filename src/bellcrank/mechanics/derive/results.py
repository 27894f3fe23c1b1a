"""Everything of a model that may be differentiated, as one graph of expressions over shared
intermediate results.

In:  an `KinematicAnalysis` and the `SimulationProgram` derived from it. Out:
`DifferentiableResults`: rates, outputs and constraints, together with the linear system that the
accelerations solve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bellcrank.choices import JacobianOf, choice_values
from bellcrank.mechanics.dynamics.accelerations import (
    MAX_DOF_FACTORIZATION,
    candidate_derivations,
    recursion_obstacle,
)
from bellcrank.mechanics.dynamics.linear import solved_systems
from bellcrank.mechanics.kinematics.analysis import KinematicAnalysis
from bellcrank.program.differentiate import NO_LINEAR_SYSTEM, LinearSystem
from bellcrank.program.differentiate.implicit_derivatives import EVERYTHING, symbolic_solution
from bellcrank.program.operation_count import count_operations
from bellcrank.program.program import SimulationProgram
from bellcrank.program.statements import AssignStatement, CallStatement, SolveStatement
from bellcrank.program.unused_parameters import acting_symbols
from bellcrank.symbolic.expr import (
    ZERO,
    Expr,
    Func,
    Symbol,
    as_atom,
    rewrite_nodes,
    small_threshold,
    substitute,
)
from bellcrank.symbolic.expr.user_function_value import UserFunctionValue


@dataclass(frozen=True)
class DifferentiableResults:
    """Everything of a model that may be differentiated, in equation units."""

    rates: tuple[tuple[str, Expr], ...]
    outputs: tuple[tuple[str, Expr], ...]
    positions: tuple[tuple[str, Expr], ...]  # g(q, t) = 0: loops, unit size of Euler parameters
    speeds: tuple[tuple[str, Expr], ...]  # v(q, u, t) = 0: rows of a model with loops
    parameters: tuple[
        Symbol, ...
    ] = ()  # all that may stand in them; some cancel in the equations of motion, ...
    inputs: tuple[Symbol, ...] = ()  # ... but not elsewhere
    linear: LinearSystem = NO_LINEAR_SYSTEM

    def select_groups(self, *groups: str) -> list[tuple[str, Expr]]:
        """The results of some groups, of GROUPS, by name."""
        return [row for name in groups for row in getattr(self, name)]

    def dependencies(self, n_q: int) -> tuple[list[set[Symbol]], set[Symbol]]:
        """What every rate of a coordinate depends on, and what accelerations or constraints do, as
        far as it acts."""
        coordinate_symbols = [acting_symbols([e]) for _, e in self.rates[:n_q]]
        other_results = [e for _, e in (*self.rates[n_q:], *self.positions, *self.speeds)]
        return coordinate_symbols, acting_symbols(other_results)


GROUPS = choice_values(JacobianOf)


def model_results(analysis: KinematicAnalysis, program: SimulationProgram) -> DifferentiableResults:
    """Rates, outputs and constraints over one graph of intermediate results.

    Ways of derivation that are equal otherwise drop different terms of small variables: then the
    program itself is taken apart.
    """
    a = analysis
    if a.mechanism.orders:
        return _results_from_program(a, program)
    with small_threshold(a.mechanism.threshold):
        udot, linear = _recursive_accelerations(a)
        rates = [(f"{q.name}'", a.kinematics.rates[q]) for q in a.mechanism.coordinates]
        index = {u: i for i, u in enumerate(a.mechanism.speeds)}
        rates += [(f"{u.name}'", udot[index[u]]) for u in a.state_speeds]
        accelerations: dict[Expr, Expr] = {
            a.kinematics.symbol_derivative(u): udot[index[u]] for u in a.state_speeds
        }
        outputs = [(o.name, substitute(o.value, accelerations)) for o in a.outputs]
    return DifferentiableResults(
        tuple(rates),
        tuple(outputs),
        *constraint_rows(a),
        tuple(a.parameter_symbols),
        tuple(a.input_symbols),
        linear,
    )


def constraint_rows(
    a: KinematicAnalysis,
) -> tuple[tuple[tuple[str, Expr], ...], tuple[tuple[str, Expr], ...]]:
    """Rows of positions and of speeds."""
    rows = a.loops.rows if a.loops else ()
    positions = [(row.name, row.g) for row in rows if row.g is not None]
    return (*positions, *a.mechanism.normalization_constraints), tuple(
        (row.name, row.v) for row in rows
    )


def _results_from_program(
    a: KinematicAnalysis, program: SimulationProgram
) -> DifferentiableResults:
    """The results of a program as expressions over held intermediate ones."""
    definitions: dict[Expr, Expr] = {}
    linear = NO_LINEAR_SYSTEM

    def inline_known(e: Expr) -> Expr:
        return rewrite_nodes((e,), definitions.get)[0]

    with small_threshold(EVERYTHING):
        for section in (program.constants, program.derivatives, program.outputs):
            for s in section.statements:
                if isinstance(s, AssignStatement):
                    definitions[s.target] = as_atom(inline_known(s.value))
                elif isinstance(s, CallStatement):
                    args = tuple(inline_known(e) for e in s.arguments)
                    for i, target in enumerate(s.targets):
                        if target is not None:
                            one: Any = (
                                UserFunctionValue(s.routine, i) if s.routine.returns else s.routine
                            )
                            name = f"{s.routine.name}.{i}" if s.routine.returns else s.routine.name
                            definitions[target] = Func(name, args, one)
                elif isinstance(s, SolveStatement):
                    linear = _solve_symbolically(
                        [[as_atom(inline_known(x)) for x in row] for row in s.matrix],
                        [as_atom(inline_known(x)) for x in s.right],
                    )
                    definitions.update(
                        zip(
                            s.targets,
                            (linear.solution[i] for i in range(len(s.targets))),
                            strict=True,
                        )
                    )
                else:  # in outputs: the same accelerations, found in another way
                    udot = program.derivatives.results[len(program.coordinates) :]
                    definitions.update(
                        (x, inline_known(e)) for x, e in zip(s.targets, udot, strict=False)
                    )
        rates = [inline_known(e) for e in program.derivatives.results]
        outputs = [inline_known(e) for e in program.outputs.results]
    names = [f"{s.name}'" for s in (*program.coordinates, *program.speeds)]
    named_results = (
        tuple(zip(names, rates, strict=True)),
        tuple(zip(program.output_names, outputs, strict=True)),
    )
    return DifferentiableResults(
        *named_results,
        *constraint_rows(a),
        tuple(a.parameter_symbols),
        tuple(a.input_symbols),
        linear,
    )


def _solve_symbolically(matrix: list[list[Expr]], right_side: list[Expr]) -> LinearSystem:
    """A system that a program solves in numbers, solved in symbols."""
    order = range(len(right_side))
    lower = {(i, j): matrix[i][j] for i in order for j in range(i + 1) if matrix[i][j] is not ZERO}
    solutions = symbolic_solution(LinearSystem(lower, dict(enumerate(right_side)), {}, order))
    return LinearSystem(
        lower, dict(enumerate(right_side)), {i: as_atom(solutions[i]) for i in order}, order
    )


def _recursive_accelerations(a: KinematicAnalysis) -> tuple[dict[int, Expr], LinearSystem]:
    if len(a.independent_speeds) > MAX_DOF_FACTORIZATION and not (
        a.removed or a.loops or recursion_obstacle(a)
    ):
        (way,) = list(candidate_derivations(a, "order-n"))[:1]
        return way.udot, NO_LINEAR_SYSTEM
    best = min(solved_systems(a), key=lambda s: count_operations(list(s.udot.values())).total)
    return best.udot, LinearSystem(best.M, best.r, best.y, best.order)
