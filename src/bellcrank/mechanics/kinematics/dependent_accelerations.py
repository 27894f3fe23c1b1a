"""Dependent accelerations of closed loops, in symbols: J u' = gamma solved for one speed per row.

The rows are eliminated once, with as many right-hand sides as there are independent speeds, and one
more for gamma: u_s' = sum of partials[s][r] u_r' + drift[s]. Every entry is held, so nothing is
differentiated that has a quotient in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bellcrank.mechanics.kinematics.body_motion import Kinematics
from bellcrank.mechanics.kinematics.constraint_rows import ConstraintRow
from bellcrank.mechanics.kinematics.speed_constraints import Acting, DependentSpeed, choose_speed
from bellcrank.symbolic.expr import ONE, ZERO, Expr, Symbol, add, div, mul, neg, sub
from bellcrank.symbolic.vector.derivation_workspace import DerivationWorkspace

Line = tuple[dict[Any, Expr], Expr]  # coefficients by unknown, right side


@dataclass(frozen=True)
class SpeedReduction:
    """How every speed follows from the independent ones, by index: u_s' = sum of partials_of(s)[r]
    u_r' + drift(s)."""

    free: list[int]
    partials: dict[
        int, dict[int, Expr]
    ]  # of dependent speeds, with respect to the independent ones
    drifts: dict[int, Expr]

    def partials_of(self, s: int) -> dict[int, Expr]:
        return self.partials.get(s, {s: ONE})

    def bias_term(self, s: int) -> Expr:
        return self.drifts.get(s, ZERO)


def _indexed_reduction(
    solutions: dict[Symbol, dict[Symbol, Expr]], drift: dict[Symbol, Expr], speeds: Sequence[Symbol]
) -> SpeedReduction:
    index_of_speed = {u: i for i, u in enumerate(speeds)}
    partials = {
        index_of_speed[u]: {index_of_speed[s]: a for s, a in row.items()}
        for u, row in solutions.items()
    }
    return SpeedReduction(
        [i for u, i in index_of_speed.items() if u not in solutions],
        partials,
        {index_of_speed[u]: c for u, c in drift.items()},
    )


def rate_rows(
    removed: list[DependentSpeed], k: Kinematics, work: DerivationWorkspace
) -> SpeedReduction:
    """What speed constraints say of accelerations, built like the speeds so that everything shared
    stays shared."""
    solutions: dict[Symbol, dict[Symbol, Expr]] = {}
    drifts: dict[Symbol, Expr] = {}
    for r in reversed(removed):
        total: dict[Symbol, Expr] = {}
        drift = [k.derivative_without_udot(r.rest)]
        for u, a in r.coefficients.items():
            a = work.bind(a)
            drift.append(mul(k.derivative_without_udot(a), k.speed.get(u, u)))
            if u in solutions:
                drift.append(mul(a, drifts[u]))
            for v, b in solutions.get(u, {u: ONE}).items():
                total[v] = add(total.get(v, ZERO), mul(a, b))
        entries = {v: work.bind(x) for v, x in total.items()}
        solutions[r.speed] = {v: x for v, x in entries.items() if x is not ZERO}
        drifts[r.speed] = work.bind(add(*drift))
    return _indexed_reduction(solutions, drifts, k.mechanism.speeds)


def usual_pivots(
    rows: Sequence[ConstraintRow],
    speeds: Sequence[Symbol],
    work: DerivationWorkspace,
    acting: Acting,
) -> list[Symbol]:
    """The speed each row is solved for, by the rules of speed constraints, the rows taken in
    order."""
    lines: list[Line] = []
    pivots: list[Symbol] = []
    for row in rows:
        line: Line = ({u: work.bind(a) for u, a in row.partials}, ZERO)
        for earlier_line, u in zip(lines, pivots, strict=True):
            line = _eliminate_speed(line, earlier_line, u, work)
        lines.append(line)
        pivots.append(choose_speed(line[0], list(speeds), row.eliminate, row.name, acting))
    return pivots


def eliminate_rows(
    rows: Sequence[ConstraintRow],
    right_sides: Sequence[Expr],
    pivots: Sequence[Symbol],
    speeds: Sequence[Symbol],
    work: DerivationWorkspace,
) -> SpeedReduction:
    """The reduction that rows, taken in order and solved for `pivots`, lead to; `right_sides`:
    gamma of every row."""
    solutions: dict[Symbol, dict[Symbol, Expr]] = {}
    drift: dict[Symbol, Expr] = {}
    for (columns, gamma), u in _triangularize(
        [dict(row.partials) for row in rows], right_sides, pivots, work
    ):
        total: dict[Symbol, Expr] = {}
        drift_terms = [gamma]
        for v, a in columns.items():
            if v is not u:
                drift_terms += [neg(mul(a, drift[v]))] if v in drift else []
                for s, b in solutions.get(v, {v: ONE}).items():
                    total[s] = sub(total.get(s, ZERO), mul(a, b))
        entries = {s: work.bind(div(work.bind(x), columns[u])) for s, x in total.items()}
        solutions[u] = {s: x for s, x in entries.items() if x is not ZERO}
        drift[u] = work.bind(div(work.bind(add(*drift_terms)), columns[u]))
    return _indexed_reduction(solutions, drift, speeds)


def _triangularize(
    rows: Sequence[dict[Any, Expr]],
    right_sides: Sequence[Expr],
    pivots: Sequence[Any],
    work: DerivationWorkspace,
) -> list[tuple[Line, Any]]:
    """The rows, each with its pivot, after the pivots of earlier ones have been removed from it;
    the last one first."""
    lines: list[Line] = [
        ({u: work.bind(a) for u, a in row.items()}, work.bind(r))
        for row, r in zip(rows, right_sides, strict=True)
    ]
    for k, u in enumerate(pivots):
        for i in range(k + 1, len(lines)):
            lines[i] = _eliminate_speed(lines[i], lines[k], u, work)
    return list(zip(lines, pivots, strict=True))[::-1]


def _eliminate_speed(line: Line, pivot_line: Line, u: Any, work: DerivationWorkspace) -> Line:
    """A row after a multiple of another has removed u from it."""
    columns, right_side = line
    if u not in columns:
        return line
    above, right_above = pivot_line
    factor = work.bind(div(columns[u], above[u]))
    unknowns = [v for v in dict.fromkeys([*columns, *above]) if v != u]
    columns_left = {
        v: work.bind(sub(columns.get(v, ZERO), mul(factor, above.get(v, ZERO)))) for v in unknowns
    }
    return {v: x for v, x in columns_left.items() if x is not ZERO}, work.bind(
        sub(right_side, mul(factor, right_above))
    )


def solve_rows(
    rows: Sequence[dict[Any, Expr]],
    right_sides: Sequence[Expr],
    pivots: Sequence[Any],
    work: DerivationWorkspace,
) -> tuple[list[Expr], list[Expr]]:
    """The values of `pivots` for which rows, taken in order, give their right sides; and what is
    divided by then."""
    unknown = set(pivots)
    unknown_columns = [{u: a for u, a in row.items() if u in unknown} for row in rows]
    values: dict[Any, Expr] = {}
    divided: list[Expr] = []
    for (columns, right_side), u in _triangularize(unknown_columns, right_sides, pivots, work):
        known_terms = [neg(mul(a, values[v])) for v, a in columns.items() if v != u]
        values[u] = work.bind(div(work.bind(add(right_side, *known_terms)), columns[u]))
        divided.insert(0, columns[u])
    return [values[u] for u in pivots], divided
