"""Outputs that continue from the rates: of a long model, what both compute is printed and compiled
once.

The rates leave the values that outputs need in an array; `Functions` prints who stores and who
loads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bellcrank.codegen.c.paired_lookups import PairedRoutine
from bellcrank.codegen.schedule_steps import symbols_in_order
from bellcrank.program.program_functions import ProgramFunction
from bellcrank.program.statements import (
    CallStatement,
    Section,
    Statement,
    section_expressions,
    statement_targets,
)
from bellcrank.symbolic.expr import Symbol

MAX_EXTRA_FRACTION = (
    0.1  # of the statements of the rates, computed for outputs that do not need them
)


@dataclass(frozen=True)
class SharedValues:
    """Values in an array of `size` that `call` fills, by their place; `prototype` declares what is
    called."""

    places: Mapping[Symbol, int]
    size: int
    call: Sequence[str]
    prototype: str


def share_rhs_values(
    functions: Sequence[ProgramFunction], longest: int
) -> tuple[list[ProgramFunction], tuple[Symbol, ...]]:
    """The functions, with outputs that have no statement of the rates, and the values that they
    take from there: the last results of the rates. None are taken where the rates are short, where
    outputs need few of their statements, or where a user would notice a call more."""
    by_name = {f.name: f for f in functions}
    rates, outputs = by_name["derivatives"].section, by_name["outputs"].section
    common = {*outputs.statements}
    rates_only = [s for s in rates.statements if s not in common]
    if len(rates.statements) <= 2 * longest or len(rates_only) > MAX_EXTRA_FRACTION * len(
        rates.statements
    ):
        return list(functions), ()
    if any(_calls_user_function(s) for s in rates.statements) or any(
        isinstance(s, CallStatement) for s in rates_only
    ):
        return list(functions), ()
    rate_statements = {*rates.statements}
    outputs_left = Section(
        tuple(s for s in outputs.statements if s not in rate_statements), outputs.results
    )
    output_symbols = {*symbols_in_order(section_expressions(outputs_left))}
    shared_values = tuple(
        t for s in rates.statements for t in statement_targets(s) if t in output_symbols
    )
    sections = {
        "derivatives": replace(rates, results=(*rates.results, *shared_values)),
        "outputs": outputs_left,
    }
    return [replace(f, section=sections.get(f.name, f.section)) for f in functions], shared_values


def _calls_user_function(s: Statement) -> bool:
    """Does a statement call a function of the user?"""
    return (
        isinstance(s, CallStatement)
        and s.routine.formulas is None
        and not isinstance(s.routine, PairedRoutine)
    )
