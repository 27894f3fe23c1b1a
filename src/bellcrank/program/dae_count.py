"""Operations of a step by a method for differential-algebraic equations, counted as the program executes them."""

from __future__ import annotations

from bellcrank.expr import ZERO
from bellcrank.numeric.methods import METHODS
from bellcrank.program.count import Count
from bellcrank.program.loops import Loops
from bellcrank.program.program import Program
from bellcrank.program.statements import count_section


def step_count(program: Program, dae: str, usual: bool, method: str, regular: bool) -> Count:
    """One step in a regular position; a projection counts one iteration, `usual` is the default, without multipliers.

    `regular`: is the mass matrix regular? Then, with few constraints, systems are solved by multipliers, else on the
    null space.
    """
    times, loops = METHODS[method].evaluations, program.loops
    if usual or loops is None:
        corrections = times + 1 if dae == "minimal" else 1
        return _times(times, program.count) + _times(corrections, program.per_step)
    system, coordinate_rates, closure = (
        count_section(s.statements, s.results) for s in (program.system, program.coordinate_rates, program.closure)
    )
    n, m, rank = len(program.speeds), len(loops.v), loops.scales.rank_v
    dense = _solve(n, m, rank)
    factor, solve, correct = Count(), dense, dense
    if regular and n - rank >= rank:
        factor, solve, correct = _by_multipliers(loops, n)
    shift = _times(2, coordinate_rates) + _sums(2 * len(program.coordinates))
    rates = system + factor + solve
    if dae == "half-explicit":
        return _times(times, system + closure + dense + _basis(n, m, rank) + _sums(2 * (n + m))) + rates
    if dae == "dlmm":
        rates = rates + correct + shift + _sums(4 * m)
    elif dae == "stabilised":
        rates = rates + correct + correct + shift + _sums(n)
    elif dae == "baumgarte":
        rates = rates + _sums(2 * m)
    total = _times(times, rates)
    if dae in ("post", "projection"):
        total = total + _times(2, system + factor + correct) + shift + _sums(n)
    return total


def _by_multipliers(loops: Loops, n: int) -> tuple[Count, Count, Count]:
    """M = L D L' and S = J M^-1 J'; then a solution with forces, and one without."""
    m, rank = len(loops.v), loops.scales.rank_v
    first = [next((j for j, x in enumerate(row) if x is not ZERO), i) for i, row in enumerate(loops.M)]
    nonzero_columns = [[j for j, x in enumerate(row) if x is not ZERO] for row in loops.J]
    spans = [row[-1] + 1 - row[0] if row else 0 for row in nonzero_columns]
    below = sum(i - f for i, f in enumerate(first))
    inner = sum(max(j - max(f, first[j]), 0) for i, f in enumerate(first) for j in range(f, i))
    by_mass = _sums(2 * below) + Count(0, n, 0, 0, n, 0)
    factor = _sums(inner + below) + Count(0, below, n, n, below + n, 0) + _times(m, by_mass)
    factor = factor + _sums(sum((r + 1) * span for r, span in enumerate(spans)))
    factor = factor + Count(0, 2 * m * m, m, 2 * m, 2 * m * m + 2 * m, 0)
    for k in range(rank):
        remaining_rows = m - k - 1
        factor = (
            factor
            + _sums(remaining_rows * remaining_rows)
            + Count(0, 0, remaining_rows, remaining_rows + 1, remaining_rows, 0)
        )
    pairs = rank * (rank - 1) // 2
    correct = _sums(2 * pairs + rank * n) + Count(0, m + rank, pairs + rank, 0, m + 2 * rank + pairs, 0)
    return factor, correct + by_mass + _sums(sum(spans)), correct


def _times(times: int, count: Count) -> Count:
    total = Count()
    for _ in range(times):
        total = total + count
    return total


def _sums(products: int) -> Count:
    """Products that are added up."""
    return Count(products, products, 0, 0, products, 0)


def _basis(n: int, m: int, rank: int) -> Count:
    """A null space of m rows with full pivoting: each entry that a pivot is looked for in is compared."""
    p = n - rank
    compared = sum((m - k) * (n - k) for k in range(rank))
    products = sum((m - 1) * (n + 1 - k) for k in range(rank))
    scaled = 2 * m * n + m + sum(n + 1 - k for k in range(rank)) + (p + 1) * rank
    return Count(products, products + scaled, rank, 2 * compared, products + scaled + rank, 0)


def _solve(n: int, m: int, rank: int) -> Count:
    """M x = f + J' lambda with J x = r, dense."""
    p = n - rank
    products = n * n * (1 + p) + p * n * (1 + p) + n * p + sum(k * k + 2 * k for k in range(p))
    divisions = p * (p + 1) // 2
    return _basis(n, m, rank) + Count(products, products, divisions, p * p, products + divisions, 0)
