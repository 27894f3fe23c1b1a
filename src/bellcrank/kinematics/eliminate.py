"""Dependent accelerations of closed loops, in symbols: J u' = gamma solved for one speed per row.

The rows are eliminated once, with as many right-hand sides as there are independent speeds, and one more for gamma:
u_s' = sum of slope[s][r] u_r' + drift[s]. Every entry is held, so nothing is differentiated that has a quotient in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.expr import ONE, ZERO, Expr, Symbol, add, div, mul, neg, sub
from bellcrank.kinematics.constraints import choose_speed
from bellcrank.kinematics.rows import Row
from bellcrank.vector.work import Work

Line = tuple[dict[Symbol, Expr], Expr]


class Reduction:
    """How every speed follows from the independent ones: u_s' = sum of slope[s][r] u_r' + drift[s]."""

    def __init__(self, free: list[int], slope: dict[int, dict[int, Expr]], drift: dict[int, Expr]) -> None:
        self.free, self._slope, self._drift = free, slope, drift

    def slope(self, s: int) -> dict[int, Expr]:
        return self._slope.get(s, {s: ONE})

    def drift(self, s: int) -> Expr:
        return self._drift.get(s, ZERO)


def usual_pivots(rows: Sequence[Row], speeds: Sequence[Symbol], work: Work) -> list[Symbol]:
    """The speed each row is solved for, by the rules of speed constraints, the rows taken in order."""
    lines: list[Line] = []
    pivots: list[Symbol] = []
    for row in rows:
        line: Line = ({u: work.hold(a) for u, a in row.slopes}, ZERO)
        for known, u in zip(lines, pivots, strict=True):
            line = _without(line, known, u, work)
        lines.append(line)
        pivots.append(choose_speed(line[0], list(speeds), row.eliminate, row.text))
    return pivots


def eliminate(
    rows: Sequence[Row], right: Sequence[Expr], pivots: Sequence[Symbol], speeds: Sequence[Symbol], work: Work
) -> Reduction:
    """The reduction that rows, taken in order and solved for `pivots`, lead to; `right`: gamma of every row."""
    lines: list[Line] = [
        ({u: work.hold(a) for u, a in row.slopes}, work.hold(gamma)) for row, gamma in zip(rows, right, strict=True)
    ]
    for k, u in enumerate(pivots):
        for i in range(k + 1, len(lines)):
            lines[i] = _without(lines[i], lines[k], u, work)
    slope: dict[Symbol, dict[Symbol, Expr]] = {}
    drift: dict[Symbol, Expr] = {}
    for line, u in reversed(list(zip(lines, pivots, strict=True))):
        slope[u], drift[u] = _solved(line, u, slope, drift, work)
    place = {u: i for i, u in enumerate(speeds)}
    free = [i for u, i in place.items() if u not in slope]
    named = {place[u]: {place[s]: a for s, a in row.items()} for u, row in slope.items()}
    return Reduction(free, named, {place[u]: c for u, c in drift.items()})


def _without(line: Line, other: Line, u: Symbol, work: Work) -> Line:
    """A row after a multiple of another has removed u from it."""
    columns, right = line
    if u not in columns:
        return line
    above, right_above = other
    factor = work.hold(div(columns[u], above[u]))
    out: dict[Symbol, Expr] = {}
    for v in dict.fromkeys([*columns, *above]):
        if v is not u:
            x = work.hold(sub(columns.get(v, ZERO), mul(factor, above.get(v, ZERO))))
            if x is not ZERO:
                out[v] = x
    return out, work.hold(sub(right, mul(factor, right_above)))


def _solved(
    line: Line, u: Symbol, slope: dict[Symbol, dict[Symbol, Expr]], drift: dict[Symbol, Expr], work: Work
) -> tuple[dict[Symbol, Expr], Expr]:
    """Slopes and drift of the speed that a row determines, those of later rows put in."""
    columns, right = line
    total: dict[Symbol, Expr] = {}
    rest = [right]
    for v, a in columns.items():
        if v is u:
            continue
        if v not in slope:
            total[v] = sub(total.get(v, ZERO), a)
            continue
        rest.append(neg(mul(a, drift[v])))
        for s, b in slope[v].items():
            total[s] = sub(total.get(s, ZERO), mul(a, b))
    pivot = columns[u]
    held = {s: work.hold(div(work.hold(x), pivot)) for s, x in total.items()}
    return {s: x for s, x in held.items() if x is not ZERO}, work.hold(div(work.hold(add(*rest)), pivot))


def solve_rows(
    rows: Sequence[dict[Symbol, Expr]], right: Sequence[Expr], pivots: Sequence[Symbol], work: Work
) -> tuple[list[Expr], list[Expr]]:
    """The values of `pivots` for which rows, taken in order, give their right sides; and what is divided by then."""
    wanted = {*pivots}
    lines: list[Line] = [
        ({u: work.hold(a) for u, a in row.items() if u in wanted}, work.hold(r))
        for row, r in zip(rows, right, strict=True)
    ]
    for k, u in enumerate(pivots):
        for i in range(k + 1, len(lines)):
            lines[i] = _without(lines[i], lines[k], u, work)
    values: dict[Symbol, Expr] = {}
    for (columns, rest), u in reversed(list(zip(lines, pivots, strict=True))):
        known = [neg(mul(a, values[v])) for v, a in columns.items() if v is not u]
        values[u] = work.hold(div(work.hold(add(rest, *known)), columns[u]))
    return [values[u] for u in pivots], [line[0][u] for line, u in zip(lines, pivots, strict=True)]
