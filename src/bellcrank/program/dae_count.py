"""Operations of a step by a method for differential-algebraic equations, counted as the program executes them."""

from __future__ import annotations

from bellcrank.program.count import Count
from bellcrank.program.program import Program, count_section

EVALUATIONS = {"rk2": 2, "rk4": 4, "euler": 2}


def step_count(program: Program, dae: str, usual: bool, method: str) -> Count:
    """One step in a regular position; a projection counts one iteration, `usual` is the default, without multipliers."""
    times = EVALUATIONS[method]
    if usual or program.loops is None:
        return _times(times, program.count) + program.per_step
    system, turning, closure = (
        count_section(s.statements, s.results) for s in (program.system, program.turning, program.closure)
    )
    n, m = len(program.speeds), len(program.loops.v)
    solve, basis = _solve(n, m, program.loops.scales.rank_v), _basis(n, m, program.loops.scales.rank_v)
    shift = _times(2, turning) + _sums(2 * len(program.coordinates))
    if dae == "half-explicit":
        return _times(times, system + closure + solve + basis + _sums(2 * (n + m))) + system + solve
    rates = system + solve
    if dae == "dlmm":
        rates = rates + solve + shift + _sums(4 * m)
    elif dae == "stabilised":
        rates = rates + solve + solve + shift + _sums(n)
    elif dae == "baumgarte":
        rates = rates + _sums(2 * m)
    total = _times(times, rates)
    if dae in ("post", "projection"):
        total = total + system + system + solve + solve + shift + _sums(n)
    return total


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
