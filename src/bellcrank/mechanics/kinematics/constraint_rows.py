"""Rows of constraints, looked at before anything is eliminated: which repeat others, which
contradict them.

All rows are linear in the speeds, v = J u + b = 0. The coefficients are compared by fingerprint, so
the rank found is that of a general position, at the price of integers. What holds only where the
loops are closed is found in numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.mechanics.kinematics.body_motion import Kinematics
from bellcrank.symbolic.expr import Expr, Symbol, depends_on, free_symbols, neg, partial
from bellcrank.symbolic.expr.node import PRIME


@dataclass(frozen=True, eq=False)
class ConstraintRow:
    """One constraint: v = 0, linear in the speeds; g = 0 behind it where it concerns positions."""

    name: str
    v: Expr
    g: Expr | None = None
    eliminate: Symbol | None = None
    partials: tuple[tuple[Symbol, Expr], ...] = ()  # dv/du of the speeds that occur
    source: Any = None  # a `LoopRow`, or the formula of a speed constraint

    @property
    def quoted_name(self) -> str:
        """Its name in messages."""
        return f"'{self.name}'"


def with_partials(row: ConstraintRow, speeds: Sequence[Symbol]) -> ConstraintRow:
    """The row with its partial derivatives; an error if it is not linear in the speeds."""
    return replace(row, partials=tuple(partials_of(row.v, speeds, row.name).items()))


def partials_of(v: Expr, speeds: Sequence[Symbol], name: str) -> dict[Symbol, Expr]:
    """dv/du of the speeds that occur, in the constraint `name`."""
    present = {s for s in free_symbols(v) if s.kind == "speed"}
    partials = {u: a for u in speeds if u in present and (a := partial(v, u)).fingerprint != 0}
    for u, a in partials.items():
        if depends_on(a, lambda s: s.kind == "speed"):
            raise ModelError(
                f"the constraint '{name}' is not linear in the speeds: its derivative with "
                f"respect to {u} is {a}"
            )
    return partials


def acceleration_right_side(row: ConstraintRow, kinematics: Kinematics) -> Expr:
    """gamma of J u' = gamma."""
    return neg(kinematics.derivative_without_udot(row.v))


@dataclass
class _ReducedRow:
    """A row after elimination of earlier ones, modulo the prime; `made_of`: multiples of the rows
    given."""

    columns: dict[Symbol, int]
    rest: int
    made_of: dict[int, int]


@dataclass
class ClassifiedRows:
    """`active_rows`: rows that count in a general position; `notes` on those that repeat others.
    `unresolved_rows`: rows that follow from others in a general position only, with what is wrong
    if they do not where the loops are closed. `problems`: rows that never hold."""

    active_rows: list[ConstraintRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unresolved_rows: dict[ConstraintRow, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def ignored_note(row: ConstraintRow) -> str:
    """The note on a row that holds without being asked for."""
    return f"the constraint {row.quoted_name} is satisfied already and was ignored"


def sort_rows(rows: Sequence[ConstraintRow]) -> ClassifiedRows:
    """Which rows count, by their rank in a general position."""
    sorted_rows = ClassifiedRows()
    pivots: list[tuple[Symbol, _ReducedRow]] = []
    for i, row in enumerate(rows):
        new = _ReducedRow({u: a.fingerprint for u, a in row.partials}, _constant_term(row), {i: 1})
        for u, reduced in pivots:
            _eliminate_speed_from_rows(new, reduced, u)
        new.columns = {u: x for u, x in new.columns.items() if x}
        if new.columns:
            u = next(iter(new.columns))
            pivots.append((u, _scale_row(new, pow(new.columns[u], -1, PRIME))))
            sorted_rows.active_rows.append(row)
        elif not new.rest and _is_position_redundant(new, rows):
            sorted_rows.notes.append(ignored_note(row))
        elif contradicted := [rows[k].quoted_name for k in new.made_of if k != i]:
            sorted_rows.unresolved_rows[row] = (
                f"the constraint {row.quoted_name} contradicts {' and '.join(contradicted)}"
            )
        else:
            sorted_rows.problems.append(contradiction_message(row))
    return sorted_rows


def contradiction_message(row: ConstraintRow) -> str:
    """What is wrong with a row that nothing can make hold."""
    return f"the constraint {row.quoted_name} can never hold"


def is_driven(rows: Sequence[ConstraintRow]) -> bool:
    """Does a constraint prescribe a motion: is a speed other than zero required anywhere?"""
    return any(_constant_term(row) for row in rows)


def _constant_term(row: ConstraintRow) -> int:
    """b, modulo the prime."""
    return (row.v.fingerprint - sum(a.fingerprint * u.fingerprint for u, a in row.partials)) % PRIME


def _eliminate_speed_from_rows(row: _ReducedRow, pivot_row: _ReducedRow, u: Symbol) -> None:
    """Takes the multiple of another row away that removes a speed from this one."""
    factor = row.columns.get(u, 0)
    if not factor:
        return
    for s, x in pivot_row.columns.items():
        row.columns[s] = (row.columns.get(s, 0) - factor * x) % PRIME
    row.rest = (row.rest - factor * pivot_row.rest) % PRIME
    for k, x in pivot_row.made_of.items():
        row.made_of[k] = (row.made_of.get(k, 0) - factor * x) % PRIME
    row.made_of = {k: x for k, x in row.made_of.items() if x}


def _scale_row(row: _ReducedRow, factor: int) -> _ReducedRow:
    def times(numbers: dict) -> dict:
        return {k: x * factor % PRIME for k, x in numbers.items()}

    return _ReducedRow(times(row.columns), row.rest * factor % PRIME, times(row.made_of))


def _is_position_redundant(combination: _ReducedRow, rows: Sequence[ConstraintRow]) -> bool:
    """Does a row whose rate follows from others follow from them itself? Two lengths of one rod do
    not."""
    residuals = [(rows[k].g, x) for k, x in combination.made_of.items()]
    if any(g is None for g, _ in residuals):
        return True
    return sum(g.fingerprint * x for g, x in residuals if g is not None) % PRIME == 0
