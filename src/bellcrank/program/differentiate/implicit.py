"""Derivatives of results that depend on the solution of a linear system.

With M y = r, the derivative of y is that of r - M y at fixed y, solved with the same factors: M y' = r' - M' y. The
factorisation itself is never differentiated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bellcrank.expr import ONE, ZERO, Expr, Held, div, mul, neg, sub
from bellcrank.expr.construct import small_threshold
from bellcrank.program.differentiate.eliminate import Combination, accumulate, unit
from bellcrank.program.differentiate.intermediates import Intermediates
from bellcrank.program.differentiate.partials import ExternalPartial, by_routine

EVERYTHING = 10**9  # threshold of small orders: derivatives are those of the program as it stands, nothing is dropped


@dataclass(frozen=True)
class Linear:
    """M y = r, symmetric: `matrix` holds (i, j) with i >= j, `order` is that of the elimination."""

    matrix: Mapping[tuple[int, int], Expr]
    right: Mapping[int, Expr]
    solution: Mapping[int, Expr]
    order: Sequence[int]

    def entry(self, i: int, j: int) -> Expr:
        return self.matrix.get((max(i, j), min(i, j)), ZERO)

    def held(self) -> dict[Expr, int]:
        """The solution's nodes that results may be cut at; one that is a plain symbol or signed is seen through."""
        return {y: i for i in self.order if isinstance(y := self.solution[i], Held)}


NOTHING = Linear({}, {}, {}, ())


def total_slopes(
    results: Sequence[Expr],
    sources: Sequence[Expr],
    linear: Linear = NOTHING,
    mode: str = "cheapest",
    external: ExternalPartial = by_routine,
) -> list[dict[int, Expr]]:
    """Derivatives of every result, by number of source; those that are zero are omitted."""
    with small_threshold(EVERYTHING):
        shared = Intermediates(results)
        n = len(sources)
        residual_slopes = accumulate(_residuals(linear, shared), sources, shared, mode, external)
        columns = _solved(linear, residual_slopes, n, shared)
        unknowns = linear.held()
        direct = accumulate([unit(r) for r in results], [*sources, *unknowns], shared, mode, external)
        through = list(unknowns.values())
        return [_joined(row, columns, through, n, shared) for row in direct]


def tangent(
    results: Sequence[Expr],
    rates: Mapping[Expr, Expr],
    linear: Linear = NOTHING,
    external: ExternalPartial = by_routine,
) -> list[Expr]:
    """Derivatives of every result along one direction: `rates` gives that of each source (forward mode)."""
    with small_threshold(EVERYTHING):
        shared = Intermediates(results)
        residual_slopes = accumulate(_residuals(linear, shared), rates, shared, "forward", external)
        (column,) = _solved(linear, residual_slopes, 1, shared)
        of_solution = {y: column.get(i, ZERO) for y, i in linear.held().items()}
        direct = accumulate([unit(r) for r in results], {**rates, **of_solution}, shared, "forward", external)
        return [row.get(0, ZERO) for row in direct]


def adjoint(
    results: Sequence[Expr],
    weights: Sequence[Expr],
    sources: Sequence[Expr],
    linear: Linear = NOTHING,
    external: ExternalPartial = by_routine,
) -> list[Expr]:
    """The gradient of the weighted sum of all results (reverse mode): one linear solution, two backward sweeps."""
    with small_threshold(EVERYTHING):
        shared = Intermediates(results)
        n = len(sources)
        unknowns = linear.held()
        weighted_sum = _weighted([unit(r) for r in results], weights, shared)
        (row,) = accumulate([weighted_sum], [*sources, *unknowns], shared, "reverse", external)
        by_solution = {i: row[n + k] for k, i in enumerate(unknowns.values()) if n + k in row}
        (costate,) = _solved(linear, [{0: by_solution[i]} if i in by_solution else {} for i in linear.order], 1, shared)
        weighted_residuals = _weighted(_residuals(linear, shared), [costate.get(i, ZERO) for i in linear.order], shared)
        (implicit_row,) = accumulate([weighted_residuals], sources, shared, "reverse", external)
        return [shared.sum((row.get(j, ZERO), implicit_row.get(j, ZERO))) for j in range(n)]


def solution(linear: Linear) -> dict[int, Expr]:
    """y of M y = r."""
    shared = Intermediates([*linear.matrix.values(), *linear.right.values()])
    (column,) = _solved(linear, [{0: linear.right[i]} for i in linear.order], 1, shared)
    return {i: column.get(i, ZERO) for i in linear.order}


def _weighted(combinations: Sequence[Combination], weights: Sequence[Expr], shared: Intermediates) -> Combination:
    """The weighted sum of combinations."""
    total: dict[Expr, Expr] = {}
    for combination, weight in zip(combinations, weights, strict=True):
        for node, product in combination.items():
            shared.add_to(total, node, shared.product(weight, product))
    return total


def _residuals(linear: Linear, shared: Intermediates) -> list[Combination]:
    """r - M y with y fixed, one combination per unknown in the order of elimination."""
    combinations: list[Combination] = []
    for i in linear.order:
        combination: dict[Expr, Expr] = {linear.right[i]: ONE}
        for j in linear.order:
            shared.add_to(combination, linear.entry(i, j), neg(linear.solution[j]))
        combinations.append(combination)
    return combinations


def _joined(
    row: Mapping[int, Expr],
    columns: Sequence[Mapping[int, Expr]],
    through: Sequence[int],
    n: int,
    shared: Intermediates,
) -> dict[int, Expr]:
    """A result's derivatives, those through the solution added to the direct ones."""
    total: dict[int, Expr] = {}
    for j in range(n):
        terms = [row[j]] if j in row else []
        for k, i in enumerate(through):
            if n + k in row and i in columns[j]:
                terms.append(shared.product(row[n + k], columns[j][i]))
        value = shared.sum(terms)
        if value is not ZERO and value.fingerprint != 0:
            total[j] = value
    return total


def _solved(
    linear: Linear, columns_in: Sequence[Mapping[int, Expr]], count: int, shared: Intermediates
) -> list[dict[int, Expr]]:
    """M^-1 times the columns of `columns_in` (rows in the order of elimination), by M = L D L^T."""
    order = list(linear.order)
    pivots, ratios = _factors(linear, shared)
    columns: list[dict[int, Expr]] = []
    for j in range(count):
        z = {i: row[j] for i, row in zip(order, columns_in, strict=True) if j in row}
        for k in order:
            if k in z:
                for i, ratio in ratios[k].items():
                    z[i] = shared.hold(sub(z.get(i, ZERO), shared.product(ratio, z[k])))
        x: dict[int, Expr] = {}
        for k in reversed(order):
            scaled_entry = div(z[k], pivots[k]) if k in z else ZERO
            terms = [neg(shared.product(r, x[i])) for i, r in ratios[k].items() if i in x]
            value = shared.sum([scaled_entry, *terms])
            if value is not ZERO:
                x[k] = value
        columns.append(x)
    return columns


def _factors(linear: Linear, shared: Intermediates) -> tuple[dict[int, Expr], dict[int, dict[int, Expr]]]:
    """Pivots, and the ratios below each; results of the program itself wherever it computed them."""
    order = list(linear.order)
    A = {(i, j): linear.entry(i, j) for i in order for j in order}
    pivots: dict[int, Expr] = {}
    ratios: dict[int, dict[int, Expr]] = {}
    for step, k in enumerate(order):
        pivots[k] = A[k, k]
        rows_below = [i for i in order[step + 1 :] if A[i, k] is not ZERO]
        ratios[k] = {i: shared.hold(div(A[i, k], A[k, k])) for i in rows_below}
        for a, i in enumerate(rows_below):
            for j in rows_below[: a + 1]:
                A[i, j] = A[j, i] = shared.hold(sub(A[i, j], mul(ratios[k][i], A[j, k])))
    return pivots, ratios
