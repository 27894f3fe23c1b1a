"""Derivatives of the state derivatives by all states as a further function of a program, `slopes`;
those of rates and outputs by states and inputs as a table.

In:  a `SimulationProgram`. Out: the same with `slopes`, whose results are the slopes that are not
zero: forward through the statements of the rates themselves, over the same constants, what is
shared computed once. States that act through a routine whose slopes are not known (an external
one, the third derivative of a linkage) have none: their columns are left to differences, and so
are rows that are found by solving systems in numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bellcrank.core.errors import ModelError
from bellcrank.program.differentiate import total_slopes
from bellcrank.program.differentiate.implicit_derivatives import EVERYTHING
from bellcrank.program.differentiate.intermediates import Intermediates
from bellcrank.program.program import SimulationProgram
from bellcrank.program.routine import CallableRoutine
from bellcrank.program.scheduler import InlineConstantScheduler
from bellcrank.program.statements import (
    EMPTY_SECTION,
    AssignStatement,
    CallStatement,
    NullSpaceSolve,
    Section,
    SolveStatement,
    Statement,
    statement_targets,
)
from bellcrank.symbolic.expr import Expr, Func, Symbol, postorder, rewrite_nodes, small_threshold
from bellcrank.symbolic.expr.user_function_value import UserFunctionValue

MAX_JACOBIAN_WORK = (
    150_000  # operations of the rates times the number of states: some seconds to derive
)


@dataclass(frozen=True)
class SlopeTable:
    """Derivatives of results with respect to symbols: those at `places` (result, symbol) are the
    results of `section`, all others are zero, as far as both the result is one of `rows` and the
    symbol one of `columns`. `routines` are called for them."""

    section: Section
    places: tuple[tuple[int, int], ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    routines: tuple[CallableRoutine, ...]


def with_rhs_jacobian(program: SimulationProgram) -> SimulationProgram:
    """The program with slopes of its rates; as it is where they cannot be had in reasonable
    time."""
    states, rates = [*program.coordinates, *program.speeds], program.derivatives
    systems = any(
        isinstance(s, SolveStatement | NullSpaceSolve) for s in rates.statements
    )  # solved in numbers
    if systems or program.count.total * len(states) > MAX_JACOBIAN_WORK:
        return program
    table = slope_table(rates.statements, rates.results, states)
    return replace(
        program,
        routines=tuple(dict.fromkeys((*program.routines, *table.routines))),
        slopes=table.section,
        slope_places=table.places,
        sloped=table.columns,
    )


def with_rhs_jacobian_in(program: SimulationProgram, *languages: str) -> SimulationProgram:
    """The program with slopes of its rates, if all that they call can be had in one of some
    languages."""
    sloped = with_rhs_jacobian(program)
    extra_routines = sloped.routines[len(program.routines) :]
    return sloped if all(any(r.known_in(x) for x in languages) for r in extra_routines) else program


def full_derivative_table(program: SimulationProgram) -> SlopeTable:
    """Derivatives of state derivatives, then outputs, by states, then inputs; none are known where
    that would take long."""
    states, rates, outputs = (
        [*program.coordinates, *program.speeds],
        program.derivatives,
        program.outputs,
    )
    if program.count.total * len(states) > MAX_JACOBIAN_WORK:
        return SlopeTable(EMPTY_SECTION, (), (), (), ())
    statements_and_results = (
        (*rates.statements, *outputs.statements),
        (*rates.results, *outputs.results),
    )
    return slope_table(
        *statements_and_results, [*states, *program.given_inputs], len(rates.results)
    )


def slope_table(
    statements: Iterable[Statement],
    results: Sequence[Expr],
    variables: Sequence[Symbol],
    first: int | None = None,
) -> SlopeTable:
    """Slopes of what statements lead to, as far as they are known. The `first` results (all) say
    which columns are; others that have fewer are not known."""
    with small_threshold(EVERYTHING):
        expanded, solved = _inline_results(statements, results)
        rows = [i for i, e in enumerate(expanded) if solved.isdisjoint(postorder((e,)))]
        unknown = _through_unknown([expanded[i] for i in rows if first is None or i < first])
        if first is not None:
            rows = [i for i in rows if i < first or _through_unknown([expanded[i]]) <= unknown]
        columns = [j for j, s in enumerate(variables) if s not in unknown]
        derivatives = total_slopes(
            [expanded[i] for i in rows], [variables[j] for j in columns], mode="forward"
        )
        entries = {
            (rows[i], columns[j]): row[j] for i, row in enumerate(derivatives) for j in sorted(row)
        }
        plan = InlineConstantScheduler(entries.values())
        lowered = tuple(plan.lower(e) for e in entries.values())
    section = Section(tuple(plan.statements), lowered)
    return SlopeTable(section, tuple(entries), tuple(rows), tuple(columns), tuple(plan.routines))


def _inline_results(
    statements: Iterable[Statement], results: Sequence[Expr]
) -> tuple[list[Expr], set[Expr]]:
    """Results over parameters, constants, states and inputs, and what is found by solving systems
    in numbers."""
    definitions: dict[Expr, Expr] = {}
    solved: set[Expr] = set()
    shared = Intermediates()

    def inline_result(e: Expr) -> Expr:
        return rewrite_nodes((e,), definitions.get, into_held=False)[0]

    for s in statements:
        if isinstance(s, AssignStatement):
            definitions[s.target] = shared.bind(inline_result(s.value))
        elif isinstance(s, CallStatement):
            arguments, routine = tuple(map(inline_result, s.arguments)), s.routine
            for i, target in enumerate(s.targets):
                if target is not None and routine.returns:
                    definitions[target] = Func(
                        routine.name, arguments, UserFunctionValue(routine, i)
                    )
                elif target is not None:
                    definitions[target] = Func(routine.name, arguments, routine)
        else:
            solved.update(statement_targets(s))
    return [inline_result(e) for e in results], solved


def _through_unknown(rates: list[Expr]) -> set[Expr]:
    """Symbols that act through routines whose slopes are not known."""
    unknown_symbols: set[Expr] = set()
    for node in postorder(rates):
        if isinstance(node, Func) and node.function is not None and not _is_differentiable(node):
            unknown_symbols.update(n for n in postorder(node.args) if isinstance(n, Symbol))
    return unknown_symbols


def _is_differentiable(node: Func) -> bool:
    if isinstance(node.function, UserFunctionValue) and node.function.external.memory:
        return False
    try:
        for i in range(len(node.args)):
            node.function.partial(i, node.args)
    except ModelError:
        return False
    return True
