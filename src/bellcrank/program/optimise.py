"""Passes over finished results that save operations: flatten, gather constants, take out common parts."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.expr import Expr
from bellcrank.program.count import count
from bellcrank.program.extract import extract, network_cost
from bellcrank.program.network import build_network, rebuild

RESTARTS = 40  # of the thorough search


def optimise(roots: Sequence[Expr], thorough: bool = False) -> list[Expr]:
    """The same results with fewer operations, never more."""
    best = list(roots)
    least = count(best).total
    for linear, spread in ((False, 1), (False, 2), (True, 1)):
        net = build_network(roots, linear, spread)
        seeds: list[int | None] = [None, *range(RESTARTS)] if thorough else [None]
        for seed in seeds:
            found = rebuild(extract(net, seed))
            total = count(found).total
            if total < least:
                best, least = found, total
    return best


def quick_cost(roots: Sequence[Expr]) -> int:
    """Operations after one plain extraction: for choosing between ways of derivation."""
    return network_cost(extract(build_network(roots)))
