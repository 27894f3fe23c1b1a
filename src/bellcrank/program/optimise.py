"""Passes over finished results that save operations: flatten, gather constants, take out common parts."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.expr import Expr
from bellcrank.program.count import count
from bellcrank.program.extract import extract, network_cost
from bellcrank.program.network import Network, build_network, rebuild
from bellcrank.program.search import anneal

TRIAL, MOVES = 1000, 20000  # of the thorough search, at most: for each way of derivation, and for the best of them
PER_OPERATION, HEAT = 50, 0.2  # moves that a small model needs; operations more that are accepted at first
LARGE = 2500  # operations above which only the plain form is tried
ROUNDS = 3  # repetitions of the extraction while it gains


def first_extraction(roots: Sequence[Expr], thorough: bool = False) -> Network:
    """One plain extraction, which also reports what a way of derivation is worth."""
    net = build_network(roots)
    first = extract(net)
    return min((_searched(n, TRIAL) for n in (first, net)), key=network_cost) if thorough else first


def _searched(net: Network, move_count: int) -> Network:
    return anneal(net, min(move_count, PER_OPERATION * network_cost(net)), HEAT)


def optimise(roots: Sequence[Expr], first: Network | None = None, thorough: bool = False) -> list[Expr]:
    """The same results with fewer operations, never more. `first` is an extraction already made."""
    return optimised(roots, count(roots).total, first, thorough)[0]


def optimised(
    roots: Sequence[Expr], operations: int, first: Network | None = None, thorough: bool = False
) -> tuple[list[Expr], int]:
    """The same for results whose operations are known, with the operations that are left."""
    best = first or first_extraction(roots)
    lowest_cost = network_cost(best)
    variants = ((False, 2), (True, 1)) if lowest_cost < LARGE else ()
    for linear, spread in variants:
        net = build_network(roots, linear, spread)
        if linear and not net.written_out:
            continue
        extracted = extract(net)
        cost = network_cost(extracted)
        if cost < lowest_cost:
            best, lowest_cost = extracted, cost
    if thorough:
        best = _searched(best, MOVES)
        lowest_cost = network_cost(best)
    result = rebuild(best)
    for _ in range(ROUNDS):  # what was taken out may open the way for more
        candidate = extract(build_network(result))
        cost = network_cost(candidate)
        if cost >= lowest_cost:
            break
        result, lowest_cost = rebuild(candidate), cost
    total = count(result).total
    return (result, total) if total < operations else (list(roots), operations)
