"""Symmetric factorisation M = L D L^T in symbols, ordered against fill, and the solution of M y = rhs.

The order is found on the pattern of zeros, constants and variables by local search; pivots of a positive definite
matrix are positive in every order, so no division can become 0/0 for a valid model.
"""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.errors import ModelError
from bellcrank.expr import ZERO, Expr, add, div, mul, neg, sub
from bellcrank.vector.work import Work

Matrix = dict[tuple[int, int], Expr]  # (i, j) for i >= j, where an entry is not zero
NOTHING, CONSTANT, VARIABLE = 0, 1, 2


def solve(M: Matrix, rhs: dict[int, Expr], order: Sequence[int], names: dict[int, str], work: Work) -> dict[int, Expr]:
    """y of M y = rhs, eliminating in the given order."""
    A = {(i, j): entry(M, i, j) for i in order for j in order}
    z = dict(rhs)
    rows: dict[int, list[tuple[int, Expr]]] = {}
    for step, j in enumerate(order):
        pivot = A[j, j]
        check_pivot(pivot, names[j])
        later = [i for i in order[step + 1 :] if A[i, j] is not ZERO]
        ratio = {i: work.hold(div(A[i, j], pivot)) for i in later}
        for a, i in enumerate(later):
            for k in later[: a + 1]:
                value = work.hold(sub(A[i, k], mul(ratio[i], A[k, j])))
                A[i, k] = A[k, i] = value
            z[i] = work.hold(sub(z[i], mul(ratio[i], z[j])))
        rows[j] = [(i, ratio[i]) for i in later]
    y: dict[int, Expr] = {}
    for j in reversed(order):
        own = div(z[j], A[j, j])
        y[j] = work.hold(add(own, *(neg(mul(r, y[i])) for i, r in rows[j])))
    return y


def entry(M: Matrix, i: int, j: int) -> Expr:
    return M.get((max(i, j), min(i, j)), ZERO)


def neighbours(M: Matrix) -> dict[int, list[int]]:
    """The columns in which rows have entries, in order."""
    found: dict[int, set[int]] = {}
    for i, j in M:
        found.setdefault(i, set()).add(j)
        found.setdefault(j, set()).add(i)
    return {i: sorted(columns) for i, columns in found.items()}


def check_pivot(pivot: Expr, freedom: str) -> None:
    """Rejects a degree of freedom, given in words, whose pivot is zero."""
    if pivot is ZERO or pivot.fingerprint == 0:
        raise ModelError(
            f"the mass matrix is singular: {freedom} moves nothing that has mass or inertia. "
            "Give the body (or one it carries) mass or inertia along this degree of freedom, or remove it."
        )


def _cost(grid: list[list[int]], order: Sequence[int], limit: int) -> int:
    """Estimated operations of elimination and substitution in this order; counting stops above the limit."""
    A = [row[:] for row in grid]
    total = 0
    for step, j in enumerate(order):
        row_j, pivot = A[j], A[j][j]
        later = [i for i in order[step + 1 :] if row_j[i]]
        total += 1  # division of the right-hand side
        if total > limit:
            return total
        for a, i in enumerate(later):
            variable = row_j[i] == VARIABLE or pivot == VARIABLE
            total += 4 + variable  # ratio; its use in forward and back substitution
            row_i = A[i]
            for k in later[: a + 1]:
                if variable or row_j[k] == VARIABLE:
                    total += 1 + (row_i[k] != NOTHING)
                    row_i[k] = A[k][i] = VARIABLE
                elif row_i[k] == NOTHING:
                    row_i[k] = A[k][i] = CONSTANT
    return total


def best_order(M: Matrix, index: Sequence[int]) -> tuple[int, ...]:
    """The cheapest order of elimination, found by local search on the pattern of M's rows `index`."""
    place, count = {i: n for n, i in enumerate(index)}, len(index)
    grid = [[NOTHING] * count for _ in range(count)]
    for (i, j), value in M.items():
        if value is not ZERO:
            grid[place[i]][place[j]] = grid[place[j]][place[i]] = CONSTANT if value.constant else VARIABLE
    return tuple(index[n] for n in _search(grid))


def _search(grid: list[list[int]]) -> tuple[int, ...]:
    count = len(grid)
    seen: dict[tuple[int, ...], int] = {}
    least = [10**9]

    def rate(order: tuple[int, ...]) -> int:
        if order not in seen:
            seen[order] = _cost(grid, order, least[0])
            least[0] = min(least[0], seen[order])
        return seen[order]

    by_zeros = tuple(sorted(range(count), key=lambda i: (-grid[i].count(NOTHING), i)))
    starts = [tuple(reversed(range(count))), by_zeros, _minimum_degree(grid)]
    if count > 24:  # long chains: the search would cost more than it saves
        return min(set(starts), key=rate)
    for here in starts:
        while True:
            moves: list[tuple[int, ...]] = []
            for i in range(count):
                rest = here[:i] + here[i + 1 :]
                moves.extend(rest[:k] + (here[i],) + rest[k:] for k in range(count) if k != i)
            best = min(moves, key=rate, default=here)
            if rate(best) >= rate(here):
                break
            here = best
    return min(seen, key=lambda order: (seen[order], order))


def _minimum_degree(grid: list[list[int]]) -> tuple[int, ...]:
    neighbours = [{j for j, x in enumerate(row) if x and j != i} for i, row in enumerate(grid)]
    left = set(range(len(grid)))
    order = []
    while left:
        j = min(left, key=lambda i: (len(neighbours[i]), i))
        order.append(j)
        left.remove(j)
        for i in neighbours[j]:
            neighbours[i] |= neighbours[j]
            neighbours[i] -= {i, j}
    return tuple(order)
