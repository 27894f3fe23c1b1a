"""Slopes of the rates by all states as a further function of a program, `slopes`.

In:  a `Program`. Out: the same with `slopes`, whose results are the slopes that are not zero: forward through the
statements of the rates themselves, over the same constants, what is shared computed once. States that act through a
routine whose slopes are not known (an external one, the third derivative of a linkage) have none: their columns are
left to differences.
"""

from __future__ import annotations

from dataclasses import replace

from bellcrank.errors import ModelError
from bellcrank.expr import Expr, Func, Symbol, postorder, small_threshold, transform
from bellcrank.expr.external_value import ExternalValue
from bellcrank.program.differentiate import total_slopes
from bellcrank.program.differentiate.implicit import EVERYTHING
from bellcrank.program.differentiate.intermediates import Intermediates
from bellcrank.program.program import Program
from bellcrank.program.scheduler import Inside
from bellcrank.program.statements import Assign, Call, Section

LONGEST = 150_000  # operations of the rates times the number of states: some seconds to derive


def with_slopes(program: Program) -> Program:
    """The program with slopes of its rates; as it is where they cannot be had in reasonable time."""
    states = [*program.coordinates, *program.speeds]
    if program.count.total * len(states) > LONGEST:
        return program
    with small_threshold(EVERYTHING):
        rates = _rates(program)
        if rates is None:
            return program
        unknown = _through_unknown(rates)
        columns = [j for j, s in enumerate(states) if s not in unknown]
        found = total_slopes(rates, [states[j] for j in columns], mode="forward")
        entries = {(i, columns[j]): row[j] for i, row in enumerate(found) for j in sorted(row)}
        plan = Inside(entries.values())
        results = tuple(plan.lower(e) for e in entries.values())
    routines = dict.fromkeys((*program.routines, *plan.routines))
    return replace(
        program,
        routines=tuple(routines),
        slopes=Section(tuple(plan.statements), results),
        slope_places=tuple(entries),
        sloped=tuple(columns),
    )


def _rates(program: Program) -> list[Expr] | None:
    """The rates over parameters, constants, states and inputs; None if systems are solved for them in numbers."""
    known: dict[Expr, Expr] = {}
    shared = Intermediates()

    def written(e: Expr) -> Expr:
        return transform((e,), known.get, into_held=False)[0]

    for s in program.derivatives.statements:
        if isinstance(s, Assign):
            known[s.target] = shared.hold(written(s.value))
        elif isinstance(s, Call):
            arguments, routine = tuple(map(written, s.arguments)), s.routine
            for i, target in enumerate(s.targets):
                if target is not None and routine.returns:
                    known[target] = Func(routine.name, arguments, ExternalValue(routine, i))
                elif target is not None:
                    known[target] = Func(routine.name, arguments, routine)
        else:
            return None
    return [written(e) for e in program.derivatives.results]


def _through_unknown(rates: list[Expr]) -> set[Expr]:
    """Symbols that act through routines whose slopes are not known."""
    found: set[Expr] = set()
    for node in postorder(rates):
        if isinstance(node, Func) and node.function is not None and not _has_slopes(node):
            found.update(n for n in postorder(node.args) if isinstance(n, Symbol))
    return found


def _has_slopes(node: Func) -> bool:
    if isinstance(node.function, ExternalValue) and node.function.external.memory:
        return False
    try:
        for i in range(len(node.args)):
            node.function.partial(i, node.args)
    except ModelError:
        return False
    return True
