"""Rows of constraints, looked at before anything is eliminated: which repeat others, which contradict them.

All rows are linear in the speeds, v = J u + b = 0. The coefficients are compared by fingerprint, so the rank found is
that of a general position, at the price of integers. What holds only where the loops are closed is found in
numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bellcrank.errors import ModelError
from bellcrank.expr import Expr, Symbol, depends_on, neg, partial, symbols
from bellcrank.expr.node import PRIME
from bellcrank.kinematics.body_motion import Kinematics


@dataclass(frozen=True, eq=False)
class Row:
    """One constraint: v = 0, linear in the speeds; g = 0 behind it where it concerns positions."""

    name: str
    v: Expr
    g: Expr | None = None
    eliminate: Symbol | None = None
    partials: tuple[tuple[Symbol, Expr], ...] = ()  # dv/du of the speeds that occur
    source: Any = None  # a `LoopRow`, or the formula of a speed constraint

    @property
    def text(self) -> str:
        """Its name in messages."""
        return f"'{self.name}'"


def with_partials(row: Row, speeds: Sequence[Symbol]) -> Row:
    """The row with its partial derivatives; an error if it is not linear in the speeds."""
    return replace(row, partials=tuple(partials_of(row.v, speeds, row.name).items()))


def partials_of(v: Expr, speeds: Sequence[Symbol], name: str) -> dict[Symbol, Expr]:
    """dv/du of the speeds that occur, in the constraint `name`."""
    present = {s for s in symbols(v) if s.kind == "speed"}
    partials = {u: a for u in speeds if u in present and (a := partial(v, u)).fingerprint != 0}
    for u, a in partials.items():
        if depends_on(a, lambda s: s.kind == "speed"):
            raise ModelError(
                f"the constraint '{name}' is not linear in the speeds: its derivative with respect to {u} is {a}"
            )
    return partials


def right_side(row: Row, kinematics: Kinematics) -> Expr:
    """gamma of J u' = gamma."""
    return neg(kinematics.drift(row.v))


@dataclass
class _Reduced:
    """A row after elimination of earlier ones, modulo the prime; `made_of`: multiples of the rows given."""

    columns: dict[Symbol, int]
    rest: int
    made_of: dict[int, int]


@dataclass
class Sorted:
    """`kept`: rows that count in a general position; `notes` on those that repeat others. `open`: rows that follow from
    others in a general position only, with what is wrong if they do not where the loops are closed. `problems`: rows
    that never hold."""

    kept: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    open: dict[Row, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def ignored(row: Row) -> str:
    """The note on a row that holds without being asked for."""
    return f"the constraint {row.text} is satisfied already and was ignored"


def sort_rows(rows: Sequence[Row]) -> Sorted:
    """Which rows count, by their rank in a general position."""
    sorted_rows = Sorted()
    pivots: list[tuple[Symbol, _Reduced]] = []
    for i, row in enumerate(rows):
        new = _Reduced({u: a.fingerprint for u, a in row.partials}, _rest(row), {i: 1})
        for u, reduced in pivots:
            _subtract(new, reduced, u)
        new.columns = {u: x for u, x in new.columns.items() if x}
        if new.columns:
            u = next(iter(new.columns))
            pivots.append((u, _scaled(new, pow(new.columns[u], -1, PRIME))))
            sorted_rows.kept.append(row)
        elif not new.rest and _follows(new, rows):
            sorted_rows.notes.append(ignored(row))
        elif contradicted := [rows[k].text for k in new.made_of if k != i]:
            sorted_rows.open[row] = f"the constraint {row.text} contradicts {' and '.join(contradicted)}"
        else:
            sorted_rows.problems.append(never(row))
    return sorted_rows


def never(row: Row) -> str:
    """What is wrong with a row that nothing can make hold."""
    return f"the constraint {row.text} can never hold"


def is_driven(rows: Sequence[Row]) -> bool:
    """Does a constraint prescribe a motion: is a speed other than zero required anywhere?"""
    return any(_rest(row) for row in rows)


def _rest(row: Row) -> int:
    """b, modulo the prime."""
    return (row.v.fingerprint - sum(a.fingerprint * u.fingerprint for u, a in row.partials)) % PRIME


def _subtract(row: _Reduced, pivot_row: _Reduced, u: Symbol) -> None:
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


def _scaled(row: _Reduced, factor: int) -> _Reduced:
    def times(numbers: dict) -> dict:
        return {k: x * factor % PRIME for k, x in numbers.items()}

    return _Reduced(times(row.columns), row.rest * factor % PRIME, times(row.made_of))


def _follows(combination: _Reduced, rows: Sequence[Row]) -> bool:
    """Does a row whose rate follows from others follow from them itself? Two lengths of one rod do not."""
    residuals = [(rows[k].g, x) for k, x in combination.made_of.items()]
    if any(g is None for g, _ in residuals):
        return True
    return sum(g.fingerprint * x for g, x in residuals if g is not None) % PRIME == 0
