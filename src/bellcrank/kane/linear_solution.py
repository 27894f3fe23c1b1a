"""Small linear systems in symbols, solved without poles that are not theirs.

In:  rows of coefficients and right sides. Out: the unknowns. Constant pivots are eliminated first; the rest is solved
by cofactors over its determinant, multiplied out and simplified, so that what is left below a fraction bar is a pole of
the system itself: an elimination would divide by whatever coefficient it happens to meet.
"""

from __future__ import annotations

from collections.abc import Iterable

from bellcrank.errors import ModelError
from bellcrank.expr import ONE, ZERO, Expr, Number, Product, Symbol, add, div, expand, mul, neg, postorder, sub
from bellcrank.expr.simplify import collected

Row = dict[Symbol, Expr]  # coefficients, or values, of unknowns
LARGEST = 6  # unknowns that are solved for by cofactors
Minors = dict[tuple[tuple[int, ...], tuple[Symbol, ...]], Expr]


def solved(matrix: list[Row], right: list[Expr], unknowns: list[Symbol], complaint: str) -> Row:
    """The solution; `complaint` if there is none, or more than one."""
    rows, right = [dict(row) for row in matrix], list(right)
    steps: list[tuple[Symbol, int]] = []
    left, open_ = list(range(len(rows))), list(unknowns)

    def eliminate(i: int, x: Symbol) -> None:
        steps.append((x, i))
        left.remove(i)
        open_.remove(x)
        for k in left:
            ratio = div(rows[k][x], rows[i][x])
            if ratio.fingerprint != 0:
                rows[k] = {y: sub(a, mul(ratio, rows[i][y])) for y, a in rows[k].items()}
                right[k] = sub(right[k], mul(ratio, right[i]))

    while open_ and (pivot := _pivot(rows, left, open_, len(open_) > LARGEST)):
        eliminate(*pivot)
    solution: Row = {}
    for some, columns in _blocks(rows, left, open_):
        solution |= _by_cofactors(rows, right, some, columns, complaint)
    for x, i in reversed(steps):
        known = [neg(mul(rows[i][y], value)) for y, value in solution.items()]
        solution[x] = div(add(right[i], *known), rows[i][x])
    return {x: solution[x] for x in unknowns}


def _pivot(rows: list[Row], left: list[int], open_: list[Symbol], any_: bool) -> tuple[int, Symbol] | None:
    """The shortest constant coefficient; or, if there are too many unknowns, the shortest one."""
    choices = [
        (not rows[i][x].constant, len(str(rows[i][x])), n, i, x)
        for i in left
        for n, x in enumerate(open_)
        if rows[i][x].fingerprint != 0 and (any_ or rows[i][x].constant)
    ]
    return min(choices, key=lambda c: c[:4])[3:] if choices else None


def _blocks(rows: list[Row], left: list[int], columns: list[Symbol]) -> list[tuple[list[int], list[Symbol]]]:
    """The rows and unknowns that have nothing to do with each other, apart."""
    blocks: list[tuple[list[int], list[Symbol]]] = []
    for i in left:
        here = [x for x in columns if rows[i][x].fingerprint != 0]
        together = [b for b in blocks if any(x in b[1] for x in here)]
        found = {x for b in together for x in b[1]} | set(here)
        merged = [k for b in together for k in b[0]] + [i], [x for x in columns if x in found]
        blocks = [b for b in blocks if b not in together] + [merged]
    return blocks


def _by_cofactors(rows: list[Row], right: list[Expr], some: list[int], columns: list[Symbol], complaint: str) -> Row:
    minors: Minors = {}
    everything = tuple(some), tuple(columns)
    whole = _minor(rows, *everything, minors) if len(some) == len(columns) else ZERO
    if whole.fingerprint == 0:
        raise ModelError(complaint)
    found: Row = {}
    for n, x in enumerate(columns):
        terms = []
        for k, i in enumerate(some):
            rest = tuple(j for j in some if j != i), tuple(y for y in columns if y is not x)
            minor = _minor(rows, *rest, minors)
            terms.append(mul(Number((-1) ** (n + k)), div(minor, whole), right[i]))
        found[x] = add(*terms)
    return found


def _minor(rows: list[Row], some: tuple[int, ...], columns: tuple[Symbol, ...], known: Minors) -> Expr:
    """The determinant of some rows and columns, by the first of the rows, in simplest form."""
    if not some:
        return ONE
    if (some, columns) not in known:
        terms = []
        for n, x in enumerate(columns):
            a = rows[some[0]][x]
            if a.fingerprint != 0:
                rest = _minor(rows, some[1:], (*columns[:n], *columns[n + 1 :]), known)
                terms.append(mul(Number((-1) ** n), a, rest))
        known[some, columns] = collected(expand(add(*terms)))
    return known[some, columns]


def poles(values: Iterable[Expr]) -> list[Expr]:
    """What values are divided by that may become zero in the course of a motion."""
    below = [
        base
        for node in postorder(values)
        if isinstance(node, Product)
        for base, exponent in node.factors
        if exponent < 0 and not base.constant and not base.sign
    ]
    return list(dict.fromkeys(below))
