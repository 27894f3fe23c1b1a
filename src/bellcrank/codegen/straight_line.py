"""Straight-line code of a few values, for routines that are written next to the functions of a
program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bellcrank.program.scheduler import StatementScheduler
from bellcrank.program.statements import Statement
from bellcrank.symbolic.expr import Expr


class _StatementPrinter(Protocol):
    def print_statement(self, s: Statement) -> list[str]: ...

    def print_expression(self, root: Expr) -> str: ...


def straight_lines(
    printer: _StatementPrinter, values: Sequence[Expr]
) -> tuple[list[str], list[str]]:
    """Statements, what is shared named once, and the texts of the values after them."""
    plan = StatementScheduler(values)
    lowered = [plan.lower(v) for v in values]
    lines = [
        line for s in [*plan.constants, *plan.statements] for line in printer.print_statement(s)
    ]
    return lines, [printer.print_expression(v) for v in lowered]
