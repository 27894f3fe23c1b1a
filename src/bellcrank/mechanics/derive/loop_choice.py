"""A numerical look at closed loops before they are derived: ranks, sizes, and a good choice of
dependent speeds.

Ranks mean something only where the loops are closed, so the positions looked at are found by
assembling the model with its default values and walking from there along the constraints, which
whoever runs models does (`FindPlace`). Without default values for all parameters there is nothing
to look at.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from bellcrank.core.errors import BellcrankError, ModelError
from bellcrank.core.numeric.loop_constraints import ConstraintScales
from bellcrank.core.numeric.null_space import fixed_order_pivot_ratio
from bellcrank.core.numeric.ranks import is_regular, rank_of
from bellcrank.mechanics.derive.loop_blocks import bridged_blocks, usual_ratio
from bellcrank.mechanics.kinematics.analysis import KinematicAnalysis, LoopElimination
from bellcrank.mechanics.kinematics.body_motion import Kinematics
from bellcrank.mechanics.kinematics.constraint_rows import ConstraintRow
from bellcrank.mechanics.kinematics.dimensions import Quantities
from bellcrank.mechanics.kinematics.loop_joints import LoopRow
from bellcrank.mechanics.kinematics.numeric_rank import column_sizes, vanishing_rows
from bellcrank.program.loop_equations import LoopEquations
from bellcrank.symbolic.expr import Expr, Symbol, evaluate, free_symbols

MIN_SCALED_ENTRY = 1e-12  # a scaled entry below this never acts
PIVOT_FRACTIONS = (1.0, 0.5, 0.2, 0.1)  # of the largest entry, for pivots that keep rows short
# the usual choice of speeds is kept if its pivots are no worse than this fraction of the best
# choice's
MIN_PIVOT_FRACTION = 0.3
SINGULAR_START = (
    "the initial configuration is singular: its loops are closed there with more degrees of "
    "freedom than nearby, where"
    " none are left. Give a regular one, with initial values or guesses in "
    "set_run(initial=..., guess=...)."
)
SAMPLE_COUNT = 20  # states at which rows are looked at where nothing can be assembled
Failure = (BellcrankError, ArithmeticError, ValueError)


@dataclass(frozen=True)
class ConstraintSelection:
    """What was found: the rows that count, in order, with the speeds they are solved for; sizes;
    messages."""

    elimination: LoopElimination
    scales: ConstraintScales
    notes: tuple[str, ...]


class LoopConfigurations(Protocol):
    """Constraints of a model in numbers, and positions in which they hold
    (`simulation.run.loop_configuration`)."""

    def constraint_jacobians(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Slopes of position and speed constraints at the start, and along walks from there."""

    def regular_positions(self, speeds: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """The same about a start with a degree of freedom; none if no such start is found."""

    def initial_rank(self) -> int: ...

    def is_consistent(self) -> bool:
        """Can all rows hold at once, in position and speed, at the start and soon after?"""

    def closure_failure(self) -> str:
        """Why there is no start; "" if that is not known."""

    def typical_sizes(
        self, rows: Sequence[ConstraintRow], kinematics: Kinematics
    ) -> tuple[np.ndarray, float]:
        """Sizes that partial derivatives of rows of their kinds have, and a length of the
        machine."""

    def local_redundancy_note(self, rank: int) -> str:
        """A remark where a redundancy is lost with slightly other dimensions."""


FindPlace = Callable[
    [KinematicAnalysis, LoopEquations, Sequence[Expr], Quantities], LoopConfigurations | None
]


def select_constraints(
    analysis: KinematicAnalysis,
    loops: LoopEquations,
    rates: Sequence[Expr],
    quantities: Quantities,
    assemble: FindPlace,
) -> ConstraintSelection | None:
    """The look; None where the default values do not allow one. `assemble`: evaluates the
    constraints in numbers."""
    assert analysis.loops is not None
    configurations = assemble(analysis, loops, rates, quantities)
    if configurations is None:
        return None
    rows, speeds = analysis.loops.rows, list(analysis.mechanism.speeds)
    full = len(speeds)
    positions = list(configurations.constraint_jacobians())
    start_closes = bool(positions)
    if not start_closes:
        if analysis.loops.unresolved_rows:
            if reason := configurations.closure_failure():
                raise ModelError([*analysis.loops.unresolved_rows, reason], analysis.mechanism.name)
            return None
        # runs give their own start, which may be singular for the speeds chosen here
        if not (positions := configurations.regular_positions(full)):
            return None
    singular = max(rank_of(J) for _, J in positions) == full and not all(
        is_regular(J, full) for _, J in positions
    )
    if singular and not (positions := configurations.regular_positions(full)):
        raise ModelError(SINGULAR_START, analysis.mechanism.name)
    if analysis.loops.unresolved_rows and not configurations.is_consistent():
        raise ModelError(analysis.loops.unresolved_rows, analysis.mechanism.name)
    G, J = _without_rounding(
        positions, *configurations.typical_sizes(rows, analysis.kinematics), analysis.kinematics
    )
    _refuse_points(rows, J, analysis.mechanism.name)
    scales = _equilibrate(G, J)
    scaled = [x * np.outer(scales.rows, scales.columns) for x in J]
    elimination = _choose_elimination(
        analysis.loops, scaled, analysis.mechanism.speeds, scales.rank_v
    )
    usual = max(usual_ratio(x, scales.rank_v, loops.jacobian_pattern) for x in scaled)
    notes = []
    if scales.rank_v < len(rows):
        implied = [r.quoted_name for r in rows if r not in elimination.used_rows]
        remark = configurations.local_redundancy_note(scales.rank_v) if start_closes else ""
        notes.append(
            f"{len(rows)} rows of loops have rank {scales.rank_v} wherever the loops are "
            f"closed: {', '.join(implied)}"
            f" {'follows' if len(implied) == 1 else 'follow'} from the others{remark}"
        )
    extra = scales.rank_v - configurations.initial_rank() if start_closes else 0
    if extra > 0:
        notes.append(
            f"the initial configuration is singular: it has {extra} more "
            f"degree{'s' * (extra > 1)} of freedom"
        )
    order = tuple(
        (rows.index(r), speeds.index(u))
        for r, u in zip(elimination.used_rows, elimination.pivots, strict=True)
    )
    best = max(fixed_order_pivot_ratio(x, order) for x in scaled)
    scaled_jacobians = [
        x * np.array(scales.rows)[: len(x), None] for x in (x[: loops.paired_row_count] for x in G)
    ]
    blocks = bridged_blocks(
        loops, speeds, analysis.mechanism.coordinates, rates, scaled_jacobians, scaled, rank_of
    )
    scales = replace(
        scales,
        regular_pivot_ratio=float(usual) or 1.0,
        fixed_pivots=order,
        regular_fixed_pivot=best or 1.0,
        blocks=blocks,
    )
    return ConstraintSelection(elimination, scales, tuple(notes))


def _refuse_points(rows: Sequence[ConstraintRow], J: Sequence[np.ndarray], name: str) -> None:
    """An error for distance joints between points that coincide: their equation is a square,
    without a derivative."""
    zero_distances = [
        r.source.loop
        for i, r in enumerate(rows)
        if isinstance(r.source, LoopRow)
        and r.source.joint == "distance"
        and not any(x[i].any() for x in J)
    ]
    if zero_distances:
        raise ModelError(
            [
                f"the distance of '{x}' is zero: use the kind 'spherical' or directions="
                for x in zero_distances
            ],
            name,
        )


def drawn_scales(
    elimination: LoopElimination, speeds: Sequence[Symbol], rank_g: int, values: Mapping[str, float]
) -> ConstraintScales | None:
    """Sizes of rows at states drawn at random, by which a run sees that a pivot is small there;
    None if rows have no numbers. `values`: of parameters, by name; others are drawn too."""
    random = np.random.default_rng(3)
    entries = [a for row in elimination.rows for _, a in row.partials]
    free = [s for s in free_symbols(*entries) if s.kind != "constant"]
    nonzero_positions = [
        (i, list(speeds).index(u))
        for i, row in enumerate(elimination.rows)
        for u, _ in row.partials
    ]
    J = []
    for _ in range(SAMPLE_COUNT):
        drawn: dict[Expr, float] = {s: values.get(s.name, random.uniform(0.5, 1.5)) for s in free}
        drawn |= {s: random.uniform(-np.pi, np.pi) for s in free if not s.constant}
        x = np.zeros((len(elimination.rows), len(speeds)))
        try:
            for position, value in zip(nonzero_positions, evaluate(entries, drawn), strict=True):
                x[position] = value
        except Failure:
            return None
        J.append(x)
    if not np.all(np.isfinite(J)):
        return None
    rank, scales = len(elimination.used_rows), _equilibrate([], J)
    scaled = [x * np.outer(scales.rows, scales.columns) for x in J]
    pattern = np.zeros(J[0].shape, dtype=bool)
    pattern[tuple(zip(*nonzero_positions, strict=True))] = True
    usual = max(usual_ratio(x, rank, pattern) for x in scaled)
    order = tuple(
        (elimination.rows.index(r), list(speeds).index(u))
        for r, u in zip(elimination.used_rows, elimination.pivots, strict=True)
    )
    best = max(fixed_order_pivot_ratio(x, order) for x in scaled)
    return replace(
        scales,
        rank_g=rank_g,
        rank_v=rank,
        regular_pivot_ratio=float(usual) or 1.0,
        fixed_pivots=order,
        regular_fixed_pivot=best or 1.0,
    )


def _without_rounding(
    jacobians: list[tuple[np.ndarray, np.ndarray]],
    usual: np.ndarray,
    length: float,
    kinematics: Kinematics,
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """G and J of all positions, with rows that are rounding everywhere set to zero."""
    columns = column_sizes(kinematics, length)
    idle = np.flatnonzero(
        np.all([vanishing_rows(J * columns, usual, length) for _, J in jacobians], axis=0)
    )
    for G, J in jacobians:
        J[idle] = 0.0
        G[idle[idle < len(G)]] = 0.0  # position rows come first in both
    return [G for G, _ in jacobians], [J for _, J in jacobians]


def _equilibrate(G: list[np.ndarray], J: list[np.ndarray]) -> ConstraintScales:
    """Largest entries over all positions brought to one: rows first, then columns."""
    largest = np.max(np.abs(J), axis=0)
    rows = 1.0 / _nonzero_scales(largest.max(axis=1, initial=0.0))
    columns = 1.0 / _nonzero_scales((largest * rows[:, None]).max(axis=0, initial=0.0))
    return ConstraintScales(
        max(map(rank_of, G), default=0),
        max(map(rank_of, J)),
        tuple(rows.tolist()),
        tuple(columns.tolist()),
    )


def _nonzero_scales(x: np.ndarray) -> np.ndarray:
    """Sizes to divide by: what hardly acts anywhere is not magnified."""
    return np.maximum(x, 1e-3 * x.max(initial=0.0)) if x.any() else np.ones_like(x)


def _choose_elimination(
    usual_choice: LoopElimination, J: list[np.ndarray], speeds: Sequence[Symbol], rank: int
) -> LoopElimination:
    """Rows and speeds of an elimination whose smallest pivot over all positions is large: the
    usual, else the cheapest."""
    row_indices = _independent_rows(J, rank)
    inner = [x[row_indices] for x in J]
    pattern = np.max(np.abs(inner), axis=0, initial=0.0) > MIN_SCALED_ENTRY
    orders = {}  # rows and columns: smallest pivot, cost
    for x in inner:
        for fraction in PIVOT_FRACTIONS:
            rows, columns = _pivot_order(x, rank, pattern, fraction)
            if len(rows) == rank:
                orders[rows, columns] = (
                    _worst_pivot_ratio(inner, rows, columns),
                    _fill_in(pattern, rows, columns),
                )
    solved = dict(zip(usual_choice.used_rows, usual_choice.pivots, strict=True))
    pivots = [solved[row] for i in row_indices if (row := usual_choice.rows[i]) in solved]
    index_of_speed = {u: i for i, u in enumerate(speeds)}
    has_preference = any(usual_choice.rows[i].eliminate is not None for i in row_indices)
    best = max((worst for worst, _ in orders.values()), default=0.0)
    if len(pivots) < rank or (
        not has_preference
        and _worst_pivot_ratio(inner, range(rank), [index_of_speed[u] for u in pivots])
        < MIN_PIVOT_FRACTION * best
    ):
        good_orders = {
            order: (cost, -worst)
            for order, (worst, cost) in orders.items()
            if worst >= MIN_PIVOT_FRACTION * best
        }
        rows, columns = min(good_orders, key=lambda order: good_orders[order])
        row_indices, pivots = [row_indices[i] for i in rows], [speeds[j] for j in columns]
    return LoopElimination(
        usual_choice.rows, tuple(usual_choice.rows[i] for i in row_indices), tuple(pivots)
    )


def _independent_rows(J: list[np.ndarray], rank: int) -> list[int]:
    """The first rows that do not follow from those before them wherever the loops are closed."""
    row_indices: list[int] = []
    start, end = 0, len(J[0])

    def has_dependent_row(count: int) -> bool:
        """Does one of so many rows more follow from the others? Then it does so among more rows,
        too."""
        rows = [*row_indices, *range(start, start + count)]
        return all(rank_of(x[rows]) < len(rows) for x in J)

    while start < end and len(row_indices) < rank:
        count = min(rank - len(row_indices), end - start)
        if has_dependent_row(count):
            count = bisect_left(range(1, count), True, key=has_dependent_row)
        row_indices += range(start, start + count)
        start += count + 1
    return row_indices


def _pivot_order(
    J: np.ndarray, rank: int, pattern: np.ndarray, fraction: float
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Rows and columns in the order of elimination.

    Of the pivots that are at least a fraction of the largest, the one that makes the fewest new
    entries in all rows is taken (after Markowitz); with a fraction of one this is full pivoting.
    """
    A, P = J.copy(), pattern.copy()
    rows, columns = [], []
    for _ in range(rank):
        size = np.abs(A)
        new = np.outer(P.sum(axis=1) - 1, P.sum(axis=0) - 1)
        fill_cost = np.where(
            size >= fraction * size.max(), new - size / (size.max() or 1.0), np.inf
        )
        i, j = divmod(int(fill_cost.argmin()), A.shape[1])
        if size[i, j] == 0.0:
            break
        A -= np.outer(A[:, j] / A[i, j], A[i])
        _eliminate_pattern(P, i, j)
        A[i], A[:, j] = 0.0, 0.0
        rows.append(i)
        columns.append(j)
    return tuple(rows), tuple(columns)


def _fill_in(pattern: np.ndarray, rows: Sequence[int], columns: Sequence[int]) -> int:
    """Products that an elimination in this order takes, until every row holds one dependent
    speed."""
    P, cost = pattern.copy(), 0
    for i, j in zip(rows, columns, strict=True):
        cost += int((P[:, j].sum() - 1) * (P[i].sum() - 1))
        _eliminate_pattern(P, i, j)
    return cost


def _eliminate_pattern(P: np.ndarray, i: int, j: int) -> None:
    """Where rows have entries after column j has been taken out of all of them with row i, which
    keeps the others."""
    other_columns = P[i].copy()
    other_columns[j] = False
    touched = P[:, j].copy()
    touched[i] = False
    P |= np.outer(touched, other_columns)
    P[:, j] = False


def _worst_pivot_ratio(J: list[np.ndarray], rows: Sequence[int], columns: Sequence[int]) -> float:
    return min(fixed_order_pivot_ratio(x, list(zip(rows, columns, strict=True))) for x in J)
