"""Operations of a step by a method for differential-algebraic equations, counted as the program
executes them."""

from __future__ import annotations

from bellcrank.core.numeric.fixed_step_methods import METHODS
from bellcrank.program.loop_equations import LoopEquations
from bellcrank.program.operation_count import OperationCount
from bellcrank.program.program import SimulationProgram
from bellcrank.program.statements import count_section
from bellcrank.symbolic.expr import ZERO


def step_count(
    program: SimulationProgram, dae: str, usual: bool, method: str, regular: bool
) -> OperationCount:
    """One step in a regular position; a projection counts one iteration, `usual` is the default,
    without multipliers.

    `regular`: is the mass matrix regular? Then, with few constraints, systems are solved by
    multipliers, else on the null space.
    """
    times, loops = METHODS[method].n_rhs_per_step, program.loops
    if usual or loops is None:
        corrections = times + 1 if dae == "minimal" else 1
        return _multiply_count(times, program.count) + _multiply_count(
            corrections, program.per_step
        )
    system, coordinate_rates, closure = (
        count_section(s.statements, s.results)
        for s in (program.system, program.coordinate_rates, program.closure)
    )
    n, m, rank = len(program.speeds), len(loops.v), loops.scales.rank_v
    dense = _constrained_solve_count(n, m, rank)
    factor, solve, correct = OperationCount(), dense, dense
    if regular and n - rank >= rank:
        factor, solve, correct = _multiplier_method_counts(loops, n)
    shift = _multiply_count(2, coordinate_rates) + _dot_product_count(2 * len(program.coordinates))
    rates = system + factor + solve
    if dae == "half-explicit":
        return (
            _multiply_count(
                times,
                system
                + closure
                + dense
                + _null_space_count(n, m, rank)
                + _dot_product_count(2 * (n + m)),
            )
            + rates
        )
    if dae == "dlmm":
        rates = rates + correct + shift + _dot_product_count(4 * m)
    elif dae == "stabilised":
        rates = rates + correct + correct + shift + _dot_product_count(n)
    elif dae == "baumgarte":
        rates = rates + _dot_product_count(2 * m)
    total = _multiply_count(times, rates)
    if dae in ("post", "projection"):
        total = (
            total + _multiply_count(2, system + factor + correct) + shift + _dot_product_count(n)
        )
    return total


def _multiplier_method_counts(
    loops: LoopEquations, n: int
) -> tuple[OperationCount, OperationCount, OperationCount]:
    """M = L D L' and S = J M^-1 J'; then a solution with forces, and one without."""
    m, rank = len(loops.v), loops.scales.rank_v
    first = [
        next((j for j, x in enumerate(row) if x is not ZERO), i) for i, row in enumerate(loops.M)
    ]
    nonzero_columns = [[j for j, x in enumerate(row) if x is not ZERO] for row in loops.J]
    spans = [row[-1] + 1 - row[0] if row else 0 for row in nonzero_columns]
    below = sum(i - f for i, f in enumerate(first))
    inner = sum(max(j - max(f, first[j]), 0) for i, f in enumerate(first) for j in range(f, i))
    by_mass = _dot_product_count(2 * below) + OperationCount(0, n, 0, 0, n, 0)
    factor = (
        _dot_product_count(inner + below)
        + OperationCount(0, below, n, n, below + n, 0)
        + _multiply_count(m, by_mass)
    )
    factor = factor + _dot_product_count(sum((r + 1) * span for r, span in enumerate(spans)))
    factor = factor + OperationCount(0, 2 * m * m, m, 2 * m, 2 * m * m + 2 * m, 0)
    for k in range(rank):
        remaining_rows = m - k - 1
        factor = (
            factor
            + _dot_product_count(remaining_rows * remaining_rows)
            + OperationCount(0, 0, remaining_rows, remaining_rows + 1, remaining_rows, 0)
        )
    pairs = rank * (rank - 1) // 2
    correct = _dot_product_count(2 * pairs + rank * n) + OperationCount(
        0, m + rank, pairs + rank, 0, m + 2 * rank + pairs, 0
    )
    return factor, correct + by_mass + _dot_product_count(sum(spans)), correct


def _multiply_count(times: int, count: OperationCount) -> OperationCount:
    total = OperationCount()
    for _ in range(times):
        total = total + count
    return total


def _dot_product_count(products: int) -> OperationCount:
    """Products that are added up."""
    return OperationCount(products, products, 0, 0, products, 0)


def _null_space_count(n: int, m: int, rank: int) -> OperationCount:
    """A null space of m rows with full pivoting: each entry that a pivot is looked for in is
    compared."""
    p = n - rank
    compared = sum((m - k) * (n - k) for k in range(rank))
    products = sum((m - 1) * (n + 1 - k) for k in range(rank))
    scaled = 2 * m * n + m + sum(n + 1 - k for k in range(rank)) + (p + 1) * rank
    return OperationCount(
        products, products + scaled, rank, 2 * compared, products + scaled + rank, 0
    )


def _constrained_solve_count(n: int, m: int, rank: int) -> OperationCount:
    """M x = f + J' lambda with J x = r, dense."""
    p = n - rank
    products = n * n * (1 + p) + p * n * (1 + p) + n * p + sum(k * k + 2 * k for k in range(p))
    divisions = p * (p + 1) // 2
    return _null_space_count(n, m, rank) + OperationCount(
        products, products, divisions, p * p, products + divisions, 0
    )
