"""Blocks of closed loops that a bridge can carry through singular positions.

A block is a connected component of speeds and position rows. It can be bridged if it has one freedom of its own, each
of its speeds is the rate of one coordinate, and its rows know nothing else: no time, no inputs, no other coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bellcrank.expr import ZERO, Expr, Symbol, symbols
from bellcrank.expr.node import CONSTANT_KINDS
from bellcrank.numeric.null_space import pivoted
from bellcrank.numeric.projection import Block
from bellcrank.program.loops import Loops

Rank = Callable[[np.ndarray], int]


def bridged_blocks(
    loops: Loops,
    speeds: Sequence[Symbol],
    coordinates: Sequence[Symbol],
    rates: Sequence[Expr],
    scaled: Sequence[np.ndarray],
    rank: Rank,
) -> tuple[Block, ...]:
    """The blocks, with their usual ratio of pivots; `scaled`: J in some positions, scaled; `rank` of a matrix."""
    found = []
    place = {q: i for i, q in enumerate(coordinates)}
    for rows, columns in _components(loops):
        own = [[q for q, rate in zip(coordinates, rates, strict=True) if rate is speeds[j]] for j in columns]
        if any(len(x) != 1 for x in own):
            continue
        known = {x for (x,) in own}
        used = symbols(*(loops.g[i] for i in rows))
        parts = [x[np.ix_(rows, columns)] for x in scaled]
        freedoms = len(columns) - max(map(rank, parts))
        if freedoms == 1 and all(x in known or x.kind in CONSTANT_KINDS for x in used):
            usual = max(_ratio(x, len(columns) - 1) for x in parts)
            found.append((tuple(rows), tuple(columns), tuple(place[x] for (x,) in own), usual))
    return tuple(found)


def _components(loops: Loops) -> list[tuple[list[int], list[int]]]:
    """Position rows and speeds that hang together, in order."""
    parts: list[tuple[set[int], set[int]]] = []
    for i in range(loops.paired):
        rows, columns = {i}, {j for j, x in enumerate(loops.J[i]) if x is not ZERO}
        apart = []
        for other in parts:
            if columns.isdisjoint(other[1]):
                apart.append(other)
            else:
                rows |= other[0]
                columns |= other[1]
        parts = [*apart, (rows, columns)]
    return sorted((sorted(rows), sorted(columns)) for rows, columns in parts)


def _ratio(A: np.ndarray, rank: int) -> float:
    return float(pivoted(np.column_stack([A, np.zeros(len(A))]), rank, 1.0, 0.0)[2])
