"""Derivatives of the state derivatives by all states as a further function of a program, `slopes`; those of rates and
outputs by states and inputs as a table.

In:  a `Program`. Out: the same with `slopes`, whose results are the slopes that are not zero: forward through the
statements of the rates themselves, over the same constants, what is shared computed once. States that act through a
routine whose slopes are not known (an external one, the third derivative of a linkage) have none: their columns are
left to differences, and so are rows that are found by solving systems in numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bellcrank.errors import ModelError
from bellcrank.expr import Expr, Func, Symbol, postorder, small_threshold, transform
from bellcrank.expr.external_value import ExternalValue
from bellcrank.program.differentiate import total_slopes
from bellcrank.program.differentiate.implicit import EVERYTHING
from bellcrank.program.differentiate.intermediates import Intermediates
from bellcrank.program.program import Program
from bellcrank.program.routine import Routine
from bellcrank.program.scheduler import Inside
from bellcrank.program.statements import NOTHING, Assign, Call, Reduce, Section, Solve, Statement, statement_targets

LONGEST = 150_000  # operations of the rates times the number of states: some seconds to derive


@dataclass(frozen=True)
class SlopeTable:
    """Derivatives of results with respect to symbols: those at `places` (result, symbol) are the results of `section`,
    all others are zero, as far as both the result is one of `rows` and the symbol one of `columns`. `routines` are
    called for them."""

    section: Section
    places: tuple[tuple[int, int], ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    routines: tuple[Routine, ...]


def with_slopes(program: Program) -> Program:
    """The program with slopes of its rates; as it is where they cannot be had in reasonable time."""
    states, rates = [*program.coordinates, *program.speeds], program.derivatives
    systems = any(isinstance(s, Solve | Reduce) for s in rates.statements)  # solved in numbers
    if systems or program.count.total * len(states) > LONGEST:
        return program
    table = slope_table(rates.statements, rates.results, states)
    return replace(
        program,
        routines=tuple(dict.fromkeys((*program.routines, *table.routines))),
        slopes=table.section,
        slope_places=table.places,
        sloped=table.columns,
    )


def with_slopes_in(program: Program, *languages: str) -> Program:
    """The program with slopes of its rates, if all that they call can be had in one of some languages."""
    sloped = with_slopes(program)
    extra_routines = sloped.routines[len(program.routines) :]
    return sloped if all(any(r.known_in(x) for x in languages) for r in extra_routines) else program


def slopes_of_all(program: Program) -> SlopeTable:
    """Derivatives of state derivatives, then outputs, by states, then inputs; none are known where that would take
    long."""
    states, rates, outputs = [*program.coordinates, *program.speeds], program.derivatives, program.outputs
    if program.count.total * len(states) > LONGEST:
        return SlopeTable(NOTHING, (), (), (), ())
    statements_and_results = (*rates.statements, *outputs.statements), (*rates.results, *outputs.results)
    return slope_table(*statements_and_results, [*states, *program.given_inputs], len(rates.results))


def slope_table(
    statements: Iterable[Statement], results: Sequence[Expr], variables: Sequence[Symbol], first: int | None = None
) -> SlopeTable:
    """Slopes of what statements lead to, as far as they are known. The `first` results (all) say which columns are;
    others that have fewer are not known."""
    with small_threshold(EVERYTHING):
        expanded, solved = _written(statements, results)
        rows = [i for i, e in enumerate(expanded) if solved.isdisjoint(postorder((e,)))]
        unknown = _through_unknown([expanded[i] for i in rows if first is None or i < first])
        if first is not None:
            rows = [i for i in rows if i < first or _through_unknown([expanded[i]]) <= unknown]
        columns = [j for j, s in enumerate(variables) if s not in unknown]
        derivatives = total_slopes([expanded[i] for i in rows], [variables[j] for j in columns], mode="forward")
        entries = {(rows[i], columns[j]): row[j] for i, row in enumerate(derivatives) for j in sorted(row)}
        plan = Inside(entries.values())
        lowered = tuple(plan.lower(e) for e in entries.values())
    section = Section(tuple(plan.statements), lowered)
    return SlopeTable(section, tuple(entries), tuple(rows), tuple(columns), tuple(plan.routines))


def _written(statements: Iterable[Statement], results: Sequence[Expr]) -> tuple[list[Expr], set[Expr]]:
    """Results over parameters, constants, states and inputs, and what is found by solving systems in numbers."""
    definitions: dict[Expr, Expr] = {}
    solved: set[Expr] = set()
    shared = Intermediates()

    def written(e: Expr) -> Expr:
        return transform((e,), definitions.get, into_held=False)[0]

    for s in statements:
        if isinstance(s, Assign):
            definitions[s.target] = shared.hold(written(s.value))
        elif isinstance(s, Call):
            arguments, routine = tuple(map(written, s.arguments)), s.routine
            for i, target in enumerate(s.targets):
                if target is not None and routine.returns:
                    definitions[target] = Func(routine.name, arguments, ExternalValue(routine, i))
                elif target is not None:
                    definitions[target] = Func(routine.name, arguments, routine)
        else:
            solved.update(statement_targets(s))
    return [written(e) for e in results], solved


def _through_unknown(rates: list[Expr]) -> set[Expr]:
    """Symbols that act through routines whose slopes are not known."""
    unknown_symbols: set[Expr] = set()
    for node in postorder(rates):
        if isinstance(node, Func) and node.function is not None and not _has_slopes(node):
            unknown_symbols.update(n for n in postorder(node.args) if isinstance(n, Symbol))
    return unknown_symbols


def _has_slopes(node: Func) -> bool:
    if isinstance(node.function, ExternalValue) and node.function.external.memory:
        return False
    try:
        for i in range(len(node.args)):
            node.function.partial(i, node.args)
    except ModelError:
        return False
    return True
