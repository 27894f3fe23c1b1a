"""Passes over finished results that save operations: flatten, gather constants, take out common parts."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.expr import Expr
from bellcrank.program.count import count
from bellcrank.program.extract import extract, network_cost
from bellcrank.program.network import Network, build_network, rebuild

RESTARTS = 40  # of the thorough search
LARGE = 2500  # operations above which only the plain form is tried
ROUNDS = 3  # repetitions of the extraction while it gains


def first_extraction(roots: Sequence[Expr]) -> Network:
    """One plain extraction, which also reports what a way of derivation is worth."""
    return extract(build_network(roots))


def optimise(roots: Sequence[Expr], first: Network | None = None, thorough: bool = False) -> list[Expr]:
    """The same results with fewer operations, never more. `first` is an extraction already made."""
    best = first or first_extraction(roots)
    least = network_cost(best)
    variants = ((False, 1), (False, 2), (True, 1)) if thorough or least < LARGE else ()
    for linear, spread in variants:
        if (linear, spread) == (False, 1) and not thorough:
            continue  # that is the first extraction
        net = build_network(roots, linear, spread)
        if linear and not net.written_out:
            continue
        for seed in [None, *range(RESTARTS if thorough else 0)]:
            found = extract(net, seed)
            cost = network_cost(found)
            if cost < least:
                best, least = found, cost
    result = rebuild(best)
    for _ in range(ROUNDS):  # what was taken out may open the way for more
        again = extract(build_network(result))
        cost = network_cost(again)
        if cost >= least:
            break
        result, least = rebuild(again), cost
    return result if count(result).total < count(roots).total else list(roots)
