"""What the kernel knows of a model, as data: sizes, numbers and lists, by the names that they have
in C.

In:  a `SimulationProgram`, and which parts of the kernel it needs. Out: whole numbers, numbers and
lists of either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from bellcrank.core.numeric.loop_constraints import Block
from bellcrank.program.jacobian_structure import (
    EliminationOrder,
    elimination_order,
    rhs_dependencies,
    stiff_method_costs,
)
from bellcrank.program.loop_equations import LoopEquations
from bellcrank.program.program import SimulationProgram
from bellcrank.symbolic.expr import ZERO, Expr

Value = int | float | Sequence[int] | Sequence[float] | Sequence[tuple[int, int]]
Data = dict[str, Value]
# lists of real numbers: those of others are whole numbers
REAL_LISTS = (
    "ROW_SCALE",
    "COLUMN_SCALE",
    "PIVOT_SCALE",
    "BLOCK_USUAL",
    "WHEEL_RADIUS",
    "WHEEL_RESTITUTION",
    "WHEEL_RESISTANCE",
)


def model_data(program: SimulationProgram, part_flags: Mapping[str, int]) -> Data:
    """All that the kernel knows of a model besides its size, without the rows of closed loops
    (`row_data`)."""
    data = unit_data(program.unit)
    loops = program.loops
    if loops is not None and (part_flags["HAS_LOOPS"] or part_flags["HAS_DAE"]):
        data |= _redundancy_data(program, loops)
        data |= _loop_data(loops) if part_flags["HAS_LOOPS"] else _sparsity_data(loops)
        data |= side_data(loops) if part_flags["HAS_SIDES"] else {}
    return data | _stiff_data(program) if part_flags["HAS_STIFF"] else data


def size_data(p: SimulationProgram) -> Data:
    """How many of all there are."""
    n_q, n_u = len(p.coordinates), len(p.speeds)
    data: Data = {
        "N_Q": n_q,
        "N_U": n_u,
        "N_S": n_q + n_u,
        "N_P": len(p.parameters),
        "N_C": len(p.constant_symbols),
    }
    data |= {"N_W": len(p.inputs), "N_I": len(p.given_inputs), "N_OUT": len(p.output_names)}
    if p.loops is not None:
        k = p.loops.scales
        data |= {"N_G": len(p.loops.g), "N_V": len(p.loops.v), "N_RG": k.rank_g, "N_RV": k.rank_v}
    return data


def unit_data(unit: Sequence[int]) -> Data:
    """Places of the first of every four Euler parameters."""
    return {"N_UNIT": len(unit), "UNIT_AT": [*unit]}


def row_data(loops: LoopEquations, order: bool = True) -> Data:
    """Rows of loops: which entries of J and M are not zero in every position, numbers that bring J
    to entries of about one, and the `order` of pivots: row and column of those of `derivatives`."""
    scales = loops.scales
    J, M = _nonzero_columns(loops.J), _nonzero_columns(loops.M)
    data: Data = {
        "USUAL_RATIO": float(scales.regular_pivot_ratio),
        "ROW_SCALE": scales.rows,
        "COLUMN_SCALE": scales.columns,
    }
    data |= {"ROW_AT": _row_offsets(J), "ROW_COLUMN": [j for row in J for j in row]}
    data |= {"MASS_AT": _row_offsets(M), "MASS_COLUMN": [j for row in M for j in row]}
    pivots: Data = {
        "USUAL_ORDER": float(scales.regular_fixed_pivot),
        "N_ORDER": len(scales.fixed_pivots),
        "ORDER": [*scales.fixed_pivots],
    }
    return data | pivots if order else data


def correction_data(loops: LoopEquations) -> Data:
    """Places that the correction of regular positions moves, and scales."""
    correction = loops.correction
    assert correction is not None
    data: Data = {"N_CORRECTED_Q": len(correction.q), "N_CORRECTED_U": len(correction.u)}
    return data | {
        "CORRECTED_Q": correction.q,
        "CORRECTED_U": correction.u,
        "PIVOT_SCALE": [*map(float, correction.pivot_scales)],
    }


def side_data(loops: LoopEquations) -> Data:
    """Directions that must point as drawn: of each row of g its direction, or -1: on both sides."""
    return {"N_SIDES": len(loops.sides), "side_of": [*loops.sided]} if loops.sides else {}


def bridge_room(blocks: Sequence[Block]) -> int:
    """How many numbers the bridges of blocks take: each four numbers, the places of four points and
    14 vectors."""
    return len(blocks) * (4 + 4 + 14 * _widest_block(blocks))


def order_data(e: EliminationOrder) -> Data:
    """The order in which stiff systems are solved: the first N_FIRST states, with what lies below
    and next to each."""
    data: Data = {"N_FIRST": len(e.down), "STATE_ORDER": e.order}
    for offset_name, index_name, rows in (
        ("DOWN", "BELOW", e.down),
        ("ACROSS", "BESIDE", e.across),
    ):
        data |= {
            offset_name: [0, *accumulate(map(len, rows))],
            index_name: [x for row in rows for x in row],
        }
    return data


def _redundancy_data(program: SimulationProgram, loops: LoopEquations) -> Data:
    """What runs need that use the redundant equations: is q' = u, and how many rows of g have rates
    that are the same rows of v?"""
    plain = tuple(program.coordinate_rates.results) == program.speeds
    return {"SPEEDS_ARE_RATES": int(plain), "N_PAIRED": loops.paired_row_count}


def _loop_data(loops: LoopEquations) -> Data:
    """Loops whose speeds are the independent ones: steps end on the constraints."""
    corrected = correction_data(loops) if loops.correction is not None else {}
    return corrected | (_block_data(loops.scales.blocks) if loops.scales.blocks else {})


def _widest_block(blocks: Sequence[Block]) -> int:
    return max((len(speeds) for _, speeds, _, _ in blocks), default=0)


def _block_data(blocks: Sequence[Block]) -> Data:
    """Rows, speeds and coordinates of which these are the rates, of blocks, and their usual ratios
    of pivots."""
    rows, speeds, coordinates, usual = zip(*blocks, strict=True)
    return {
        "N_BLOCKS": len(blocks),
        "WIDEST": _widest_block(blocks),
        "MOST_BLOCK_ROWS": max(map(len, rows)),
        "BLOCK_AT": _row_offsets(speeds),
        "BLOCK_U": [j for block in speeds for j in block],
        "BLOCK_Q": [j for block in coordinates for j in block],
        "BLOCK_ROW_AT": _row_offsets(rows),
        "BLOCK_ROW": [i for block in rows for i in block],
        "BLOCK_USUAL": [*map(float, usual)],
    }


def _sparsity_data(loops: LoopEquations) -> Data:
    """What methods for differential-algebraic equations know of the rows besides: the first entry
    of each row of M that is not zero in every position, and columns that two rows of J have
    both."""
    columns, mass = _nonzero_columns(loops.J), _nonzero_columns(loops.M)
    pairs = [
        sorted({*columns[r]}.intersection(columns[s]))
        for r in range(len(columns))
        for s in range(r + 1)
    ]
    return {
        "DIAGONAL": int(all(j == i for i, row in enumerate(mass) for j in row)),
        "MASS_FROM": [row[0] if row else i for i, row in enumerate(mass)],
        "PAIR_AT": _row_offsets(pairs),
        "PAIR_COLUMN": [j for row in pairs for j in row],
    }


def _nonzero_columns(rows: Sequence[Sequence[Expr]]) -> list[list[int]]:
    """Columns of every row that are not zero in every position."""
    return [[j for j, x in enumerate(row) if x is not ZERO] for row in rows]


def _stiff_data(program: SimulationProgram) -> Data:
    """What stiff methods know: the order in which systems are solved, costs in evaluations of
    rates, and where slopes that the program knows stand in the matrix of all, whose states are in
    the order of elimination."""
    order = elimination_order(rhs_dependencies(program), len(program.coordinates))
    cost, data = stiff_method_costs(program), order_data(order)
    data |= {
        "SLOPES_COST": float(cost.slopes),
        "FACTOR_COST": float(cost.factor),
        "SOLVE_COST": float(cost.solve),
    }
    if not program.sloped:
        return data
    n, position_of_state = (
        len(order.order),
        {state: column for column, state in enumerate(order.order)},
    )
    return data | {
        "N_SLOPES": len(program.slope_places),
        "SLOPE_PLACE": [
            position_of_state[i] * n + position_of_state[j] for i, j in program.slope_places
        ],
        "SLOPE_COLUMN": [j for _, j in program.slope_places],
        "SLOPED": [int(j in program.sloped) for j in range(n)],
    }


def _row_offsets(rows: Sequence[Sequence[int]]) -> list[int]:
    return [0, *accumulate(map(len, rows))]
