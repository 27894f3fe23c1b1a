"""Derivatives of results that depend on the solution of a linear system.

With M y = r, the derivative of y is that of r - M y at fixed y, solved with the same factors: M y'
= r' - M' y. The factorisation itself is never differentiated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bellcrank.program.differentiate.intermediates import Intermediates
from bellcrank.program.differentiate.partials import ExternalPartial, routine_partial
from bellcrank.program.differentiate.vertex_elimination import (
    Combination,
    accumulate_derivatives,
    unit_combination,
)
from bellcrank.symbolic.expr import ONE, ZERO, Expr, NamedSubexpression, div, mul, neg, sub
from bellcrank.symbolic.expr.construct import small_threshold

EVERYTHING = (
    10**9
    # threshold of small orders: derivatives are those of the program as it stands, nothing is
    # dropped
)


@dataclass(frozen=True)
class LinearSystem:
    """M y = r, symmetric: `matrix` holds (i, j) with i >= j, `order` is that of the elimination."""

    matrix: Mapping[tuple[int, int], Expr]
    right: Mapping[int, Expr]
    solution: Mapping[int, Expr]
    order: Sequence[int]

    def entry(self, i: int, j: int) -> Expr:
        return self.matrix.get((max(i, j), min(i, j)), ZERO)

    def cut_nodes(self) -> dict[Expr, int]:
        """The solution's nodes that results may be cut at; one that is a plain symbol or signed is
        seen through."""
        return {y: i for i in self.order if isinstance(y := self.solution[i], NamedSubexpression)}


NO_LINEAR_SYSTEM = LinearSystem({}, {}, {}, ())


def total_slopes(
    results: Sequence[Expr],
    sources: Sequence[Expr],
    linear: LinearSystem = NO_LINEAR_SYSTEM,
    mode: str = "cheapest",
    external: ExternalPartial = routine_partial,
) -> list[dict[int, Expr]]:
    """Derivatives of every result, by number of source; those that are zero are omitted."""
    with small_threshold(EVERYTHING):
        shared = Intermediates(results)
        n = len(sources)
        residual_slopes = accumulate_derivatives(
            _residual_combinations(linear, shared), sources, shared, mode, external
        )
        columns = _apply_inverse(linear, residual_slopes, n, shared)
        unknowns = linear.cut_nodes()
        direct = accumulate_derivatives(
            [unit_combination(r) for r in results], [*sources, *unknowns], shared, mode, external
        )
        through = list(unknowns.values())
        return [_total_derivative(row, columns, through, n, shared) for row in direct]


def forward_derivatives(
    results: Sequence[Expr],
    rates: Mapping[Expr, Expr],
    linear: LinearSystem = NO_LINEAR_SYSTEM,
    external: ExternalPartial = routine_partial,
) -> list[Expr]:
    """Derivatives of every result along one direction: `rates` gives that of each source (forward
    mode)."""
    with small_threshold(EVERYTHING):
        shared = Intermediates(results)
        residual_slopes = accumulate_derivatives(
            _residual_combinations(linear, shared), rates, shared, "forward", external
        )
        (column,) = _apply_inverse(linear, residual_slopes, 1, shared)
        of_solution = {y: column.get(i, ZERO) for y, i in linear.cut_nodes().items()}
        direct = accumulate_derivatives(
            [unit_combination(r) for r in results],
            {**rates, **of_solution},
            shared,
            "forward",
            external,
        )
        return [row.get(0, ZERO) for row in direct]


def reverse_gradient(
    results: Sequence[Expr],
    weights: Sequence[Expr],
    sources: Sequence[Expr],
    linear: LinearSystem = NO_LINEAR_SYSTEM,
    external: ExternalPartial = routine_partial,
) -> list[Expr]:
    """The gradient of the weighted sum of all results (reverse mode): one linear solution, two
    backward sweeps."""
    with small_threshold(EVERYTHING):
        shared = Intermediates(results)
        n = len(sources)
        unknowns = linear.cut_nodes()
        weighted_sum = _weighted_derivative_sum(
            [unit_combination(r) for r in results], weights, shared
        )
        (row,) = accumulate_derivatives(
            [weighted_sum], [*sources, *unknowns], shared, "reverse", external
        )
        by_solution = {i: row[n + k] for k, i in enumerate(unknowns.values()) if n + k in row}
        (costate,) = _apply_inverse(
            linear,
            [{0: by_solution[i]} if i in by_solution else {} for i in linear.order],
            1,
            shared,
        )
        weighted_residuals = _weighted_derivative_sum(
            _residual_combinations(linear, shared),
            [costate.get(i, ZERO) for i in linear.order],
            shared,
        )
        (implicit_row,) = accumulate_derivatives(
            [weighted_residuals], sources, shared, "reverse", external
        )
        return [shared.sum((row.get(j, ZERO), implicit_row.get(j, ZERO))) for j in range(n)]


def symbolic_solution(linear: LinearSystem) -> dict[int, Expr]:
    """y of M y = r."""
    shared = Intermediates([*linear.matrix.values(), *linear.right.values()])
    (column,) = _apply_inverse(linear, [{0: linear.right[i]} for i in linear.order], 1, shared)
    return {i: column.get(i, ZERO) for i in linear.order}


def _weighted_derivative_sum(
    combinations: Sequence[Combination], weights: Sequence[Expr], shared: Intermediates
) -> Combination:
    """The weighted sum of combinations."""
    total: dict[Expr, Expr] = {}
    for combination, weight in zip(combinations, weights, strict=True):
        for node, product in combination.items():
            shared.accumulate(total, node, shared.product(weight, product))
    return total


def _residual_combinations(linear: LinearSystem, shared: Intermediates) -> list[Combination]:
    """r - M y with y fixed, one combination per unknown in the order of elimination."""
    combinations: list[Combination] = []
    for i in linear.order:
        combination: dict[Expr, Expr] = {linear.right[i]: ONE}
        for j in linear.order:
            shared.accumulate(combination, linear.entry(i, j), neg(linear.solution[j]))
        combinations.append(combination)
    return combinations


def _total_derivative(
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


def _apply_inverse(
    linear: LinearSystem,
    columns_in: Sequence[Mapping[int, Expr]],
    count: int,
    shared: Intermediates,
) -> list[dict[int, Expr]]:
    """M^-1 times the columns of `columns_in` (rows in the order of elimination), by M = L D L^T."""
    order = list(linear.order)
    pivots, ratios = _ldl_factors(linear, shared)
    columns: list[dict[int, Expr]] = []
    for j in range(count):
        z = {i: row[j] for i, row in zip(order, columns_in, strict=True) if j in row}
        for k in order:
            if k in z:
                for i, ratio in ratios[k].items():
                    z[i] = shared.bind(sub(z.get(i, ZERO), shared.product(ratio, z[k])))
        x: dict[int, Expr] = {}
        for k in reversed(order):
            scaled_entry = div(z[k], pivots[k]) if k in z else ZERO
            terms = [neg(shared.product(r, x[i])) for i, r in ratios[k].items() if i in x]
            value = shared.sum([scaled_entry, *terms])
            if value is not ZERO:
                x[k] = value
        columns.append(x)
    return columns


def _ldl_factors(
    linear: LinearSystem, shared: Intermediates
) -> tuple[dict[int, Expr], dict[int, dict[int, Expr]]]:
    """Pivots, and the ratios below each; results of the program itself wherever it computed
    them."""
    order = list(linear.order)
    A = {(i, j): linear.entry(i, j) for i in order for j in order}
    pivots: dict[int, Expr] = {}
    ratios: dict[int, dict[int, Expr]] = {}
    for step, k in enumerate(order):
        pivots[k] = A[k, k]
        rows_below = [i for i in order[step + 1 :] if A[i, k] is not ZERO]
        ratios[k] = {i: shared.bind(div(A[i, k], A[k, k])) for i in rows_below}
        for a, i in enumerate(rows_below):
            for j in rows_below[: a + 1]:
                A[i, j] = A[j, i] = shared.bind(sub(A[i, j], mul(ratios[k][i], A[j, k])))
    return pivots, ratios
