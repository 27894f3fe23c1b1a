"""Passes over finished results that save operations: flatten, gather constants, take out common
parts."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.program.common_subexpressions import extract_common_parts, network_cost
from bellcrank.program.network import SumOfProductsNetwork, build_network, rebuild_expressions
from bellcrank.program.operation_count import count_operations
from bellcrank.program.operation_search import anneal_network
from bellcrank.symbolic.expr import Expr

TRIAL, MOVES = (
    1000,
    20000,
)  # of the thorough search, at most: for each way of derivation, and for the best of them
PER_OPERATION, HEAT = (
    50,
    0.2,
)  # moves that a small model needs; operations more that are accepted at first
MAX_SEARCHED_OPERATIONS = 2500  # operations above which only the plain form is tried
MAX_ROUNDS = 3  # repetitions of the extraction while it gains


def first_extraction(roots: Sequence[Expr], thorough: bool = False) -> SumOfProductsNetwork:
    """One plain extraction, which also reports what a way of derivation is worth."""
    net = build_network(roots)
    first = extract_common_parts(net)
    return min((_annealed(n, TRIAL) for n in (first, net)), key=network_cost) if thorough else first


def _annealed(net: SumOfProductsNetwork, move_count: int) -> SumOfProductsNetwork:
    return anneal_network(net, min(move_count, PER_OPERATION * network_cost(net)), HEAT)


def optimize_operations(
    roots: Sequence[Expr], first: SumOfProductsNetwork | None = None, thorough: bool = False
) -> list[Expr]:
    """The same results with fewer operations, never more. `first` is an extraction already made."""
    return optimize_known_count(roots, count_operations(roots).total, first, thorough)[0]


def optimize_known_count(
    roots: Sequence[Expr],
    operations: int,
    first: SumOfProductsNetwork | None = None,
    thorough: bool = False,
) -> tuple[list[Expr], int]:
    """The same for results whose operations are known, with the operations that are left."""
    best = first or first_extraction(roots)
    lowest_cost = network_cost(best)
    variants = ((False, 2), (True, 1)) if lowest_cost < MAX_SEARCHED_OPERATIONS else ()
    for linear, spread in variants:
        net = build_network(roots, linear, spread)
        if linear and not net.written_out:
            continue
        extracted = extract_common_parts(net)
        cost = network_cost(extracted)
        if cost < lowest_cost:
            best, lowest_cost = extracted, cost
    if thorough:
        best = _annealed(best, MOVES)
        lowest_cost = network_cost(best)
    result = rebuild_expressions(best)
    for _ in range(MAX_ROUNDS):  # what was taken out may open the way for more
        candidate = extract_common_parts(build_network(result))
        cost = network_cost(candidate)
        if cost >= lowest_cost:
            break
        result, lowest_cost = rebuild_expressions(candidate), cost
    total = count_operations(result).total
    return (result, total) if total < operations else (list(roots), operations)
