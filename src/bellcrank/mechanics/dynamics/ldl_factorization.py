"""Symmetric factorisation M = L D L^T in symbols, ordered against fill, and the solution of M y =
rhs.

The order is found on the pattern of zeros, constants and variables by local search; pivots of a
positive definite matrix are positive in every order, so no division can become 0/0 for a valid
model.
"""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.core.errors import ModelError
from bellcrank.symbolic.expr import ZERO, Expr, add, div, mul, neg, sub
from bellcrank.symbolic.vector.derivation_workspace import DerivationWorkspace

Matrix = dict[tuple[int, int], Expr]  # (i, j) for i >= j, where an entry is not zero
NOTHING, CONSTANT, VARIABLE = 0, 1, 2


def solve_ldl(
    M: Matrix,
    rhs: dict[int, Expr],
    order: Sequence[int],
    names: dict[int, str],
    work: DerivationWorkspace,
) -> dict[int, Expr]:
    """y of M y = rhs, eliminating in the given order."""
    A = {(i, j): symmetric_entry(M, i, j) for i in order for j in order}
    z = dict(rhs)
    rows: dict[int, list[tuple[int, Expr]]] = {}
    for step, j in enumerate(order):
        pivot = A[j, j]
        check_pivot(pivot, names[j])
        rows_below = [i for i in order[step + 1 :] if A[i, j] is not ZERO]
        ratio = {i: work.bind(div(A[i, j], pivot)) for i in rows_below}
        for a, i in enumerate(rows_below):
            for k in rows_below[: a + 1]:
                value = work.bind(sub(A[i, k], mul(ratio[i], A[k, j])))
                A[i, k] = A[k, i] = value
            z[i] = work.bind(sub(z[i], mul(ratio[i], z[j])))
        rows[j] = [(i, ratio[i]) for i in rows_below]
    y: dict[int, Expr] = {}
    for j in reversed(order):
        quotient = div(z[j], A[j, j])
        y[j] = work.bind(add(quotient, *(neg(mul(r, y[i])) for i, r in rows[j])))
    return y


def symmetric_entry(M: Matrix, i: int, j: int) -> Expr:
    return M.get((max(i, j), min(i, j)), ZERO)


def adjacency(M: Matrix) -> dict[int, list[int]]:
    """The columns in which rows have entries, in order."""
    columns_of_row: dict[int, set[int]] = {}
    for i, j in M:
        columns_of_row.setdefault(i, set()).add(j)
        columns_of_row.setdefault(j, set()).add(i)
    return {i: sorted(columns) for i, columns in columns_of_row.items()}


def check_pivot(pivot: Expr, freedom: str) -> None:
    """Rejects a degree of freedom, given in words, whose pivot is zero."""
    if pivot is ZERO or pivot.fingerprint == 0:
        raise ModelError(
            f"the mass matrix is singular: {freedom} moves nothing that has mass or inertia. "
            "Give the body (or one it carries) mass or inertia along this degree of "
            "freedom, or remove it."
        )


def _elimination_cost(grid: list[list[int]], order: Sequence[int], limit: int) -> int:
    """Estimated operations of elimination and substitution in this order; counting stops above the
    limit."""
    A = [row[:] for row in grid]
    total = 0
    for step, j in enumerate(order):
        row_j, pivot = A[j], A[j][j]
        rows_below = [i for i in order[step + 1 :] if row_j[i]]
        total += 1  # division of the right-hand side
        if total > limit:
            return total
        for a, i in enumerate(rows_below):
            variable = row_j[i] == VARIABLE or pivot == VARIABLE
            total += 4 + variable  # ratio; its use in forward and back substitution
            row_i = A[i]
            for k in rows_below[: a + 1]:
                if variable or row_j[k] == VARIABLE:
                    total += 1 + (row_i[k] != NOTHING)
                    row_i[k] = A[k][i] = VARIABLE
                elif row_i[k] == NOTHING:
                    row_i[k] = A[k][i] = CONSTANT
    return total


def best_order(M: Matrix, index: Sequence[int]) -> tuple[int, ...]:
    """The cheapest order of elimination, found by local search on the pattern of M's rows
    `index`."""
    position, count = {i: n for n, i in enumerate(index)}, len(index)
    grid = [[NOTHING] * count for _ in range(count)]
    for (i, j), value in M.items():
        if value is not ZERO:
            grid[position[i]][position[j]] = grid[position[j]][position[i]] = (
                CONSTANT if value.constant else VARIABLE
            )
    return tuple(index[n] for n in _search_order(grid))


def _search_order(grid: list[list[int]]) -> tuple[int, ...]:
    count = len(grid)
    costs: dict[tuple[int, ...], int] = {}
    lowest_cost = [10**9]

    def order_cost(order: tuple[int, ...]) -> int:
        if order not in costs:
            costs[order] = _elimination_cost(grid, order, lowest_cost[0])
            lowest_cost[0] = min(lowest_cost[0], costs[order])
        return costs[order]

    by_zeros = tuple(sorted(range(count), key=lambda i: (-grid[i].count(NOTHING), i)))
    initial_orders = [tuple(reversed(range(count))), by_zeros, _minimum_degree(grid)]
    if count > 24:  # long chains: the search would cost more than it saves
        return min(set(initial_orders), key=order_cost)
    for order_now in initial_orders:
        while True:
            neighbour_orders: list[tuple[int, ...]] = []
            for i in range(count):
                shortened = order_now[:i] + order_now[i + 1 :]
                neighbour_orders.extend(
                    shortened[:k] + (order_now[i],) + shortened[k:] for k in range(count) if k != i
                )
            best = min(neighbour_orders, key=order_cost, default=order_now)
            if order_cost(best) >= order_cost(order_now):
                break
            order_now = best
    return min(costs, key=lambda order: (costs[order], order))


def _minimum_degree(grid: list[list[int]]) -> tuple[int, ...]:
    neighbours = [{j for j, x in enumerate(row) if x and j != i} for i, row in enumerate(grid)]
    vertices = set(range(len(grid)))
    order = []
    while vertices:
        j = min(vertices, key=lambda i: (len(neighbours[i]), i))
        order.append(j)
        vertices.remove(j)
        for i in neighbours[j]:
            neighbours[i] |= neighbours[j]
            neighbours[i] -= {i, j}
    return tuple(order)
