"""Everything of a model that may be differentiated, as one graph of expressions over shared intermediate results.

In:  an `Analysis` and the `Program` derived from it. Out: `Results`: rates, outputs and constraints, together with the
linear system that the accelerations solve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bellcrank.choices import JacobianOf, choices_of
from bellcrank.dynamics.accelerations import LONG, derivations, not_by_recursion
from bellcrank.dynamics.linear import solved_systems
from bellcrank.expr import ZERO, Expr, Func, Symbol, hold, small_threshold, substitute, transform
from bellcrank.expr.external_value import ExternalValue
from bellcrank.kinematics.analysis import Analysis
from bellcrank.program.count import count
from bellcrank.program.differentiate import NOTHING, Linear
from bellcrank.program.differentiate.implicit import EVERYTHING, solution
from bellcrank.program.idle import acting_symbols
from bellcrank.program.program import Program
from bellcrank.program.statements import Assign, Call, Solve


@dataclass(frozen=True)
class Results:
    """Everything of a model that may be differentiated, in equation units."""

    rates: tuple[tuple[str, Expr], ...]
    outputs: tuple[tuple[str, Expr], ...]
    positions: tuple[tuple[str, Expr], ...]  # g(q, t) = 0: loops, unit size of Euler parameters
    speeds: tuple[tuple[str, Expr], ...]  # v(q, u, t) = 0: rows of a model with loops
    parameters: tuple[Symbol, ...] = ()  # all that may stand in them; some cancel in the equations of motion, ...
    inputs: tuple[Symbol, ...] = ()  # ... but not elsewhere
    linear: Linear = NOTHING

    def rows(self, *groups: str) -> list[tuple[str, Expr]]:
        """The results of some groups, of GROUPS, by name."""
        return [row for name in groups for row in getattr(self, name)]

    def acting(self, n_q: int) -> tuple[list[set[Symbol]], set[Symbol]]:
        """What every rate of a coordinate depends on, and what accelerations or constraints do, as far as it acts."""
        coordinate_symbols = [acting_symbols([e]) for _, e in self.rates[:n_q]]
        other_results = [e for _, e in (*self.rates[n_q:], *self.positions, *self.speeds)]
        return coordinate_symbols, acting_symbols(other_results)


GROUPS = choices_of(JacobianOf)


def model_results(analysis: Analysis, program: Program) -> Results:
    """Rates, outputs and constraints over one graph of intermediate results.

    Ways of derivation that are equal otherwise drop different terms of small variables: then the program itself is
    taken apart.
    """
    a = analysis
    if a.mechanism.orders:
        return _from_program(a, program)
    with small_threshold(a.mechanism.threshold):
        udot, linear = _accelerations(a)
        rates = [(f"{q.name}'", a.kinematics.rates[q]) for q in a.mechanism.coordinates]
        index = {u: i for i, u in enumerate(a.mechanism.speeds)}
        rates += [(f"{u.name}'", udot[index[u]]) for u in a.state_speeds]
        accelerations: dict[Expr, Expr] = {a.kinematics.rate_of(u): udot[index[u]] for u in a.state_speeds}
        outputs = [(o.name, substitute(o.value, accelerations)) for o in a.outputs]
    return Results(
        tuple(rates), tuple(outputs), *constraint_rows(a), tuple(a.parameter_symbols), tuple(a.input_symbols), linear
    )


def constraint_rows(a: Analysis) -> tuple[tuple[tuple[str, Expr], ...], tuple[tuple[str, Expr], ...]]:
    """Rows of positions and of speeds."""
    rows = a.loops.rows if a.loops else ()
    positions = [(row.name, row.g) for row in rows if row.g is not None]
    return (*positions, *a.mechanism.norms), tuple((row.name, row.v) for row in rows)


def _from_program(a: Analysis, program: Program) -> Results:
    """The results of a program as expressions over held intermediate ones."""
    definitions: dict[Expr, Expr] = {}
    linear = NOTHING

    def written(e: Expr) -> Expr:
        return transform((e,), definitions.get)[0]

    with small_threshold(EVERYTHING):
        for section in (program.constants, program.derivatives, program.outputs):
            for s in section.statements:
                if isinstance(s, Assign):
                    definitions[s.target] = hold(written(s.value))
                elif isinstance(s, Call):
                    args = tuple(written(e) for e in s.arguments)
                    for i, target in enumerate(s.targets):
                        if target is not None:
                            one: Any = ExternalValue(s.routine, i) if s.routine.returns else s.routine
                            name = f"{s.routine.name}.{i}" if s.routine.returns else s.routine.name
                            definitions[target] = Func(name, args, one)
                elif isinstance(s, Solve):
                    linear = _linear(
                        [[hold(written(x)) for x in row] for row in s.matrix], [hold(written(x)) for x in s.right]
                    )
                    definitions.update(zip(s.targets, (linear.solution[i] for i in range(len(s.targets))), strict=True))
                else:  # in outputs: the same accelerations, found in another way
                    udot = program.derivatives.results[len(program.coordinates) :]
                    definitions.update((x, written(e)) for x, e in zip(s.targets, udot, strict=False))
        rates = [written(e) for e in program.derivatives.results]
        outputs = [written(e) for e in program.outputs.results]
    names = [f"{s.name}'" for s in (*program.coordinates, *program.speeds)]
    named_results = tuple(zip(names, rates, strict=True)), tuple(zip(program.output_names, outputs, strict=True))
    return Results(*named_results, *constraint_rows(a), tuple(a.parameter_symbols), tuple(a.input_symbols), linear)


def _linear(matrix: list[list[Expr]], right_side: list[Expr]) -> Linear:
    """A system that a program solves in numbers, solved in symbols."""
    order = range(len(right_side))
    lower = {(i, j): matrix[i][j] for i in order for j in range(i + 1) if matrix[i][j] is not ZERO}
    solutions = solution(Linear(lower, dict(enumerate(right_side)), {}, order))
    return Linear(lower, dict(enumerate(right_side)), {i: hold(solutions[i]) for i in order}, order)


def _accelerations(a: Analysis) -> tuple[dict[int, Expr], Linear]:
    if len(a.independent_speeds) > LONG and not (a.removed or a.loops or not_by_recursion(a)):
        (way,) = list(derivations(a, "order-n"))[:1]
        return way.udot, NOTHING
    best = min(solved_systems(a), key=lambda s: count(list(s.udot.values())).total)
    return best.udot, Linear(best.M, best.r, best.y, best.order)
