"""Dependent accelerations of closed loops, in symbols: J u' = gamma solved for one speed per row.

The rows are eliminated once, with as many right-hand sides as there are independent speeds, and one more for gamma:
u_s' = sum of partials[s][r] u_r' + drift[s]. Every entry is held, so nothing is differentiated that has a quotient in
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bellcrank.expr import ONE, ZERO, Expr, Symbol, add, div, mul, neg, sub
from bellcrank.kinematics.body_motion import Kinematics
from bellcrank.kinematics.rows import Row
from bellcrank.kinematics.speed_constraints import Acting, Removed, choose_speed
from bellcrank.vector.work import Work

Line = tuple[dict[Any, Expr], Expr]  # coefficients by unknown, right side


@dataclass(frozen=True)
class Reduction:
    """How every speed follows from the independent ones, by index: u_s' = sum of partials_of(s)[r] u_r' + drift(s)."""

    free: list[int]
    partials: dict[int, dict[int, Expr]]  # of dependent speeds, with respect to the independent ones
    drifts: dict[int, Expr]

    def partials_of(self, s: int) -> dict[int, Expr]:
        return self.partials.get(s, {s: ONE})

    def drift(self, s: int) -> Expr:
        return self.drifts.get(s, ZERO)


def _reduction(
    found: dict[Symbol, dict[Symbol, Expr]], drift: dict[Symbol, Expr], speeds: Sequence[Symbol]
) -> Reduction:
    place = {u: i for i, u in enumerate(speeds)}
    partials = {place[u]: {place[s]: a for s, a in row.items()} for u, row in found.items()}
    return Reduction([i for u, i in place.items() if u not in found], partials, {place[u]: c for u, c in drift.items()})


def rate_rows(removed: list[Removed], k: Kinematics, work: Work) -> Reduction:
    """What speed constraints say of accelerations, built like the speeds so that everything shared stays shared."""
    found: dict[Symbol, dict[Symbol, Expr]] = {}
    rest: dict[Symbol, Expr] = {}
    for r in reversed(removed):
        total: dict[Symbol, Expr] = {}
        drift = [k.drift(r.rest)]
        for u, a in r.coefficients.items():
            a = work.hold(a)
            drift.append(mul(k.drift(a), k.speed.get(u, u)))
            if u in found:
                drift.append(mul(a, rest[u]))
            for v, b in found.get(u, {u: ONE}).items():
                total[v] = add(total.get(v, ZERO), mul(a, b))
        held = {v: work.hold(x) for v, x in total.items()}
        found[r.speed] = {v: x for v, x in held.items() if x is not ZERO}
        rest[r.speed] = work.hold(add(*drift))
    return _reduction(found, rest, k.mechanism.speeds)


def usual_pivots(rows: Sequence[Row], speeds: Sequence[Symbol], work: Work, acting: Acting) -> list[Symbol]:
    """The speed each row is solved for, by the rules of speed constraints, the rows taken in order."""
    lines: list[Line] = []
    pivots: list[Symbol] = []
    for row in rows:
        line: Line = ({u: work.hold(a) for u, a in row.partials}, ZERO)
        for known, u in zip(lines, pivots, strict=True):
            line = _without(line, known, u, work)
        lines.append(line)
        pivots.append(choose_speed(line[0], list(speeds), row.eliminate, row.name, acting))
    return pivots


def eliminate(
    rows: Sequence[Row], right: Sequence[Expr], pivots: Sequence[Symbol], speeds: Sequence[Symbol], work: Work
) -> Reduction:
    """The reduction that rows, taken in order and solved for `pivots`, lead to; `right`: gamma of every row."""
    found: dict[Symbol, dict[Symbol, Expr]] = {}
    drift: dict[Symbol, Expr] = {}
    for (columns, gamma), u in _triangular([dict(row.partials) for row in rows], right, pivots, work):
        total: dict[Symbol, Expr] = {}
        rest = [gamma]
        for v, a in columns.items():
            if v is not u:
                rest += [neg(mul(a, drift[v]))] if v in drift else []
                for s, b in found.get(v, {v: ONE}).items():
                    total[s] = sub(total.get(s, ZERO), mul(a, b))
        held = {s: work.hold(div(work.hold(x), columns[u])) for s, x in total.items()}
        found[u] = {s: x for s, x in held.items() if x is not ZERO}
        drift[u] = work.hold(div(work.hold(add(*rest)), columns[u]))
    return _reduction(found, drift, speeds)


def _triangular(
    rows: Sequence[dict[Any, Expr]], right: Sequence[Expr], pivots: Sequence[Any], work: Work
) -> list[tuple[Line, Any]]:
    """The rows, each with its pivot, after the pivots of earlier ones have been removed from it; the last one first."""
    lines: list[Line] = [
        ({u: work.hold(a) for u, a in row.items()}, work.hold(r)) for row, r in zip(rows, right, strict=True)
    ]
    for k, u in enumerate(pivots):
        for i in range(k + 1, len(lines)):
            lines[i] = _without(lines[i], lines[k], u, work)
    return list(zip(lines, pivots, strict=True))[::-1]


def _without(line: Line, other: Line, u: Any, work: Work) -> Line:
    """A row after a multiple of another has removed u from it."""
    columns, right = line
    if u not in columns:
        return line
    above, right_above = other
    factor = work.hold(div(columns[u], above[u]))
    others = [v for v in dict.fromkeys([*columns, *above]) if v != u]
    left = {v: work.hold(sub(columns.get(v, ZERO), mul(factor, above.get(v, ZERO)))) for v in others}
    return {v: x for v, x in left.items() if x is not ZERO}, work.hold(sub(right, mul(factor, right_above)))


def solve_rows(
    rows: Sequence[dict[Any, Expr]], right: Sequence[Expr], pivots: Sequence[Any], work: Work
) -> tuple[list[Expr], list[Expr]]:
    """The values of `pivots` for which rows, taken in order, give their right sides; and what is divided by then."""
    unknown = set(pivots)
    wanted = [{u: a for u, a in row.items() if u in unknown} for row in rows]
    values: dict[Any, Expr] = {}
    divided: list[Expr] = []
    for (columns, rest), u in _triangular(wanted, right, pivots, work):
        known = [neg(mul(a, values[v])) for v, a in columns.items() if v != u]
        values[u] = work.hold(div(work.hold(add(rest, *known)), columns[u]))
        divided.insert(0, columns[u])
    return [values[u] for u in pivots], divided
