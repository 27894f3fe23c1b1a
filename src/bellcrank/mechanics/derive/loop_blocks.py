"""Blocks of closed loops that a bridge can carry through singular configurations.

A block is a connected component of speeds and position rows. It can be bridged if it has one degree
of freedom of its own, each of its speeds is the rate of one coordinate, and the positions that
close its rows depend on nothing else: not on time or inputs, nor on other coordinates, such as
those of a base that carries the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bellcrank.core.numeric.loop_constraints import Block
from bellcrank.core.numeric.null_space import eliminate_pivoted
from bellcrank.core.numeric.tuning import BRIDGES
from bellcrank.program.loop_equations import LoopEquations
from bellcrank.symbolic.expr import Expr, Symbol, free_symbols
from bellcrank.symbolic.expr.node import CONSTANT_KINDS

Rank = Callable[[np.ndarray], int]


def bridged_blocks(
    loops: LoopEquations,
    speeds: Sequence[Symbol],
    coordinates: Sequence[Symbol],
    rates: Sequence[Expr],
    G: Sequence[np.ndarray],
    J: Sequence[np.ndarray],
    rank: Rank,
) -> tuple[Block, ...]:
    """The blocks, with their usual ratio of pivots.

    `G`, `J`: Jacobians in some positions in which loops are closed, rows (and columns of J) scaled;
    `rank` of a matrix.
    """
    blocks = []
    acting, sloping = (np.max(np.abs(x), axis=0) > BRIDGES.foreign for x in (J, G))
    for rows, columns in _connected_components(acting[: loops.paired_row_count]):
        coordinate_choices = [
            [i for i, rate in enumerate(rates) if rate is speeds[j]] for j in columns
        ]
        if any(len(x) != 1 for x in coordinate_choices):
            continue
        coordinate_indices = [x for (x,) in coordinate_choices]
        other_coordinates = [i for i in range(len(coordinates)) if i not in coordinate_indices]
        kinds = {x.kind for x in free_symbols(*(loops.g[i] for i in rows)) if x not in coordinates}
        if sloping[np.ix_(rows, other_coordinates)].any() or not kinds <= CONSTANT_KINDS:
            continue
        submatrices = [x[np.ix_(rows, columns)] for x in J]
        if len(columns) - max(map(rank, submatrices)) == 1:
            pattern = loops.jacobian_pattern[np.ix_(rows, columns)]
            usual = max(usual_ratio(x, len(columns) - 1, pattern) for x in submatrices)
            blocks.append((tuple(rows), tuple(columns), tuple(coordinate_indices), usual))
    return tuple(blocks)


def _connected_components(acting: np.ndarray) -> list[tuple[list[int], list[int]]]:
    """Position rows and speeds that hang together, in order."""
    components: list[tuple[set[int], set[int]]] = []
    for i, row in enumerate(acting):
        rows, columns = {i}, {*np.flatnonzero(row).tolist()}
        separate = []
        for component in components:
            if columns.isdisjoint(component[1]):
                separate.append(component)
            else:
                rows |= component[0]
                columns |= component[1]
        components = [*separate, (rows, columns)]
    return sorted((sorted(rows), sorted(columns)) for rows, columns in components if columns)


def usual_ratio(A: np.ndarray, rank: int, pattern: np.ndarray) -> float:
    """The ratio of the last pivot to the first."""
    return float(
        eliminate_pivoted(np.column_stack([A, np.zeros(len(A))]), rank, 1.0, 0.0, pattern)[2]
    )
