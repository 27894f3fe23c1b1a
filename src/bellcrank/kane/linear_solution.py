"""Small linear systems in symbols, solved without poles that are not theirs.

In:  rows of coefficients and right sides. Out: the unknowns. Constant pivots are eliminated first;
the rest is solved by cofactors over its determinant, multiplied out and simplified, so that what
is left below a fraction bar is a pole of the system itself: an elimination would divide by
whatever coefficient it happens to meet.
"""

from __future__ import annotations

from collections.abc import Iterable

from bellcrank.core.errors import ModelError
from bellcrank.symbolic.expr import (
    ONE,
    ZERO,
    Expr,
    Number,
    Product,
    Symbol,
    add,
    div,
    expand,
    mul,
    neg,
    postorder,
    sub,
)
from bellcrank.symbolic.expr.simplify import factor_common_terms

Row = dict[Symbol, Expr]  # coefficients, or values, of unknowns
LARGEST = 6  # unknowns that are solved for by cofactors
Minors = dict[tuple[tuple[int, ...], tuple[Symbol, ...]], Expr]


def solve_linear(matrix: list[Row], rhs: list[Expr], unknowns: list[Symbol], complaint: str) -> Row:
    """The solution; `complaint` if there is none, or more than one."""
    rows, rhs = [dict(row) for row in matrix], list(rhs)
    steps: list[tuple[Symbol, int]] = []
    rows_left, unsolved = list(range(len(rows))), list(unknowns)

    def eliminate_unknown(i: int, x: Symbol) -> None:
        steps.append((x, i))
        rows_left.remove(i)
        unsolved.remove(x)
        for k in rows_left:
            ratio = div(rows[k][x], rows[i][x])
            if ratio.fingerprint != 0:
                rows[k] = {y: sub(a, mul(ratio, rows[i][y])) for y, a in rows[k].items()}
                rhs[k] = sub(rhs[k], mul(ratio, rhs[i]))

    while unsolved and (pivot := _choose_pivot(rows, rows_left, unsolved, len(unsolved) > LARGEST)):
        eliminate_unknown(*pivot)
    solution: Row = {}
    for block_rows, columns in _independent_blocks(rows, rows_left, unsolved):
        solution |= _solve_by_cofactors(rows, rhs, block_rows, columns, complaint)
    for x, i in reversed(steps):
        terms = [neg(mul(rows[i][y], value)) for y, value in solution.items()]
        solution[x] = div(add(rhs[i], *terms), rows[i][x])
    return {x: solution[x] for x in unknowns}


def _choose_pivot(
    rows: list[Row], rows_left: list[int], unsolved: list[Symbol], any_coefficient: bool
) -> tuple[int, Symbol] | None:
    """The shortest constant coefficient; or, if there are too many unknowns, the shortest one."""
    choices = [
        (not rows[i][x].constant, len(str(rows[i][x])), n, i, x)
        for i in rows_left
        for n, x in enumerate(unsolved)
        if rows[i][x].fingerprint != 0 and (any_coefficient or rows[i][x].constant)
    ]
    return min(choices, key=lambda c: c[:4])[3:] if choices else None


def _independent_blocks(
    rows: list[Row], rows_left: list[int], columns: list[Symbol]
) -> list[tuple[list[int], list[Symbol]]]:
    """The rows and unknowns that have nothing to do with each other, apart."""
    blocks: list[tuple[list[int], list[Symbol]]] = []
    for i in rows_left:
        row_unknowns = [x for x in columns if rows[i][x].fingerprint != 0]
        together = [b for b in blocks if any(x in b[1] for x in row_unknowns)]
        unknowns = {x for b in together for x in b[1]} | set(row_unknowns)
        merged = [k for b in together for k in b[0]] + [i], [x for x in columns if x in unknowns]
        blocks = [b for b in blocks if b not in together] + [merged]
    return blocks


def _solve_by_cofactors(
    rows: list[Row], rhs: list[Expr], row_indices: list[int], columns: list[Symbol], complaint: str
) -> Row:
    minors: Minors = {}
    everything = tuple(row_indices), tuple(columns)
    determinant = (
        _minor_determinant(rows, *everything, minors) if len(row_indices) == len(columns) else ZERO
    )
    if determinant.fingerprint == 0:
        raise ModelError(complaint)
    solution: Row = {}
    for n, x in enumerate(columns):
        terms = []
        for k, i in enumerate(row_indices):
            reduced = (
                tuple(j for j in row_indices if j != i),
                tuple(y for y in columns if y is not x),
            )
            minor = _minor_determinant(rows, *reduced, minors)
            terms.append(mul(Number((-1) ** (n + k)), div(minor, determinant), rhs[i]))
        solution[x] = add(*terms)
    return solution


def _minor_determinant(
    rows: list[Row], row_indices: tuple[int, ...], columns: tuple[Symbol, ...], cache: Minors
) -> Expr:
    """The determinant of some rows and columns, by the first of the rows, in simplest form."""
    if not row_indices:
        return ONE
    if (row_indices, columns) not in cache:
        terms = []
        for n, x in enumerate(columns):
            a = rows[row_indices[0]][x]
            if a.fingerprint != 0:
                minor = _minor_determinant(
                    rows, row_indices[1:], (*columns[:n], *columns[n + 1 :]), cache
                )
                terms.append(mul(Number((-1) ** n), a, minor))
        cache[row_indices, columns] = factor_common_terms(expand(add(*terms)))
    return cache[row_indices, columns]


def possible_poles(values: Iterable[Expr]) -> list[Expr]:
    """What values are divided by that may become zero in the course of a motion."""
    below = [
        base
        for node in postorder(values)
        if isinstance(node, Product)
        for base, exponent in node.factors
        if exponent < 0 and not base.constant and not base.sign
    ]
    return list(dict.fromkeys(below))
