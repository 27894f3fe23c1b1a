"""Statements of a program: straight lines of assignments, calls and linear systems, and what they
cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bellcrank.core.numeric.loop_constraints import ConstraintScales
from bellcrank.program.operation_count import OperationCount, count_expression
from bellcrank.program.routine import CallableRoutine
from bellcrank.symbolic.expr import Expr, Symbol
from bellcrank.symbolic.expr.traversal import find_symbols


@dataclass(frozen=True)
class AssignStatement:
    """target = value; the value's leaves are symbols and numbers."""

    target: Symbol
    value: Expr
    comment: str = ""


@dataclass(frozen=True)
class CallStatement:
    """targets = routine(arguments): a user function, called once; targets follow its values (None:
    unused)."""

    targets: tuple[Symbol | None, ...]
    routine: CallableRoutine
    arguments: tuple[Expr, ...]


@dataclass(frozen=True)
class SolveStatement:
    """matrix . targets = right, a symmetric positive definite system solved numerically."""

    targets: tuple[Symbol, ...]
    matrix: tuple[tuple[Expr, ...], ...]
    right: tuple[Expr, ...]


@dataclass(frozen=True)
class NullSpaceSolve:
    """targets: u' of M u' = f + J' lambda, J u' = gamma, solved numerically on the null space of J
    (see `null_space`).

    The last target reports how near a singular configuration is. `mass` holds rows of the lower
    triangle.
    """

    targets: tuple[Symbol, ...]
    mass: tuple[tuple[Expr, ...], ...]
    force: tuple[Expr, ...]
    rows: tuple[tuple[Expr, ...], ...]
    right: tuple[Expr, ...]
    scales: ConstraintScales


Statement = AssignStatement | CallStatement | SolveStatement | NullSpaceSolve


@dataclass(frozen=True)
class Section:
    """Statements in order, and the results they lead to (symbols, numbers or expressions)."""

    statements: tuple[Statement, ...]
    results: tuple[Expr, ...]


EMPTY_SECTION = Section((), ())


def statement_expressions(s: Statement) -> tuple[Expr, ...]:
    """The expressions a statement evaluates."""
    if isinstance(s, AssignStatement):
        return (s.value,)
    if isinstance(s, CallStatement):
        return s.arguments
    if isinstance(s, NullSpaceSolve):
        return (*(x for row in (*s.mass, *s.rows) for x in row), *s.force, *s.right)
    return (*(x for row in s.matrix for x in row), *s.right)


def section_expressions(section: Section) -> list[Expr]:
    """The expressions that a section evaluates, and its results."""
    return [*(e for s in section.statements for e in statement_expressions(s)), *section.results]


def statement_targets(s: Statement) -> tuple[Symbol, ...]:
    """The symbols that a statement defines."""
    return (
        (s.target,)
        if isinstance(s, AssignStatement)
        else tuple(t for t in s.targets if t is not None)
    )


def prune_section(section: Section, first: Iterable[Statement] = ()) -> Section:
    """The section with those statements, of `first` and its own, that its results need, directly or
    by others."""
    required = set(find_symbols(section.results))
    kept_statements: list[Statement] = []
    for s in reversed([*first, *section.statements]):
        if any(t in required for t in statement_targets(s)):
            kept_statements.append(s)
            required.update(find_symbols(statement_expressions(s)))
    return Section(tuple(kept_statements[::-1]), section.results)


def count_section(statements: Iterable[Statement], results: Iterable[Expr]) -> OperationCount:
    """Operations of a section as it is printed."""
    total = OperationCount()
    for s in statements:
        for e in statement_expressions(s):
            total = total + count_expression(e)
        if isinstance(s, CallStatement):
            total = total + OperationCount(function=1, calls_classic=1)
        elif isinstance(s, SolveStatement):
            total = total + dense_solve_count(len(s.right))
    for r in results:
        total = total + count_expression(r)
    return total


def dense_solve_count(n: int) -> OperationCount:
    """Operations of an LDL^T factorisation and two substitutions with n unknowns."""
    products = sum(j * (j + 1) // 2 for j in range(n)) + n * (n - 1)
    divisions = n * (n - 1) // 2 + n
    return OperationCount(products, products, divisions, 0, products + divisions, 0)
