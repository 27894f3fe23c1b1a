"""Closed loops from analysis to program: rows as expressions, a look at them in numbers, their
regular correction.

In:  an `KinematicAnalysis` with loops. Out: `program.Loops`. The look decides how the rows are
eliminated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bellcrank.core.errors import ModelError, pluralize
from bellcrank.core.numeric.loop_constraints import ConstraintScales
from bellcrank.mechanics.derive.loop_choice import FindPlace, drawn_scales, select_constraints
from bellcrank.mechanics.dynamics.accelerations import reduced_system
from bellcrank.mechanics.kinematics.analysis import KinematicAnalysis
from bellcrank.mechanics.kinematics.constraint_rows import (
    ConstraintRow,
    acceleration_right_side,
    is_driven,
)
from bellcrank.mechanics.kinematics.dependent_accelerations import solve_rows
from bellcrank.mechanics.kinematics.dimensions import Quantities
from bellcrank.mechanics.kinematics.results import LoopElimination
from bellcrank.program.loop_equations import LoopEquations, LoopProjection
from bellcrank.program.optimize import optimize_operations
from bellcrank.program.unused_parameters import drop_idle_parameters
from bellcrank.symbolic.expr import ZERO, Expr, Symbol, gradient

DRIVEN = (
    "the model has 0 degrees of freedom: its constraints prescribe the motion, which follows "
    "from time alone"
)


def program_loops(
    analysis: KinematicAnalysis, quantities: Quantities, assemble: FindPlace
) -> LoopEquations:
    """Loops in expressions, looked at in numbers; the look decides how they are eliminated."""
    assert analysis.loops is not None
    loops = _loop_rows(analysis)
    rates = [analysis.kinematics.rates[q] for q in analysis.mechanism.coordinates]
    selection = select_constraints(analysis, loops, rates, quantities, assemble)
    if selection is None and analysis.loops.unresolved_rows:
        numbers = (
            "give default values (set_defaults) and a start (set_run) with which the loops close"
        )
        problems = [
            f"{text}, or follows from them only where the loops are closed: {numbers}"
            for text in analysis.loops.unresolved_rows
        ]
        raise ModelError(problems, analysis.mechanism.name)
    used_rows = analysis.loops.used_rows if selection is None else selection.elimination.used_rows
    if len(used_rows) >= len(analysis.mechanism.speeds):
        if not is_driven(used_rows):
            raise ModelError(_zero_dof_message(used_rows), analysis.mechanism.name)
        analysis.notes.append(DRIVEN)
    if selection is None:
        return _with_sampled_scales(analysis, loops)
    if selection.elimination != analysis.loops:
        analysis.set_elimination(selection.elimination)
    analysis.notes += selection.notes
    loops = replace(loops, scales=selection.scales)
    return replace(loops, correction=_projection_correction(analysis, loops))


def _zero_dof_message(used_rows: Sequence[ConstraintRow]) -> str:
    row_texts = ", ".join(row.quoted_name for row in used_rows)
    equations, speeds = (
        pluralize(len(used_rows), "constraint equation"),
        pluralize(len(used_rows), "speed"),
    )
    return (
        f"the model has 0 degrees of freedom: {equations} for {speeds} ({row_texts}). None "
        f"prescribes a motion: "
        "remove one, or drive one with a formula of t or an input."
    )


def _with_sampled_scales(analysis: KinematicAnalysis, loops: LoopEquations) -> LoopEquations:
    """Sizes of a model whose loops were not closed here, as it has no default values: by them a
    run sees that it is at a dead point of the speeds that were chosen."""
    assert analysis.loops is not None
    defaults = {key: x.value for key, x in analysis.mechanism.description.parameters.items()}
    values = {key: float(x) for key, x in defaults.items() if isinstance(x, int | float)}
    scales = drawn_scales(analysis.loops, analysis.mechanism.speeds, loops.scales.rank_g, values)
    return loops if scales is None else replace(loops, scales=scales)


def _projection_correction(
    analysis: KinematicAnalysis, loops: LoopEquations
) -> LoopProjection | None:
    """The correction of regular positions; None where coordinates do not follow speeds one by
    one."""
    assert analysis.loops is not None
    q, u = list(analysis.mechanism.coordinates), list(analysis.mechanism.speeds)
    rates, scales = analysis.kinematics.rates, loops.scales
    used_rows, pivots = analysis.loops.used_rows, analysis.loops.pivots
    count = sum(row.g is not None for row in used_rows)
    columns = [x for s in pivots[:count] for x in q if rates[x] is s]
    g = [row.g for row in used_rows[:count] if row.g is not None]
    if not count == scales.rank_g == len(columns) == len(g):
        return None
    partials = [
        {x: a for x, a in zip(columns, gradient(y, columns), strict=True) if a is not ZERO}
        for y in g
    ]
    dq, _ = solve_rows(partials, g, columns, analysis.kinematics.work.copy())
    speeds = [dict(row.partials) for row in used_rows]
    du, divided = solve_rows(
        speeds, [row.v for row in used_rows], pivots, analysis.kinematics.work.copy()
    )
    dq, corrections = (optimize_operations(roots) for roots in (dq, [*du, *divided]))
    sizes = tuple(
        scales.rows[i] * scales.columns[j] / scales.regular_fixed_pivot
        for i, j in scales.fixed_pivots
    )
    state_indices = tuple(q.index(x) for x in columns), tuple(u.index(s) for s in pivots)
    return LoopProjection(
        *state_indices,
        tuple(dq),
        tuple(corrections[: len(du)]),
        tuple(corrections[len(du) :]),
        sizes,
    )


def _loop_rows(analysis: KinematicAnalysis) -> LoopEquations:
    """What is needed to bring a state onto the constraints: g, dg/dq, v and dv/du; and M, f and
    gamma of the tree."""
    q, u = analysis.mechanism.coordinates, analysis.mechanism.speeds
    assert analysis.loops is not None
    rows = analysis.loops.rows
    system = reduced_system(analysis)
    count = len(u)
    right_sides = [acceleration_right_side(row, analysis.kinematics) for row in rows]
    lower = [system.M.get((i, j), ZERO) for i in range(count) for j in range(i + 1)]
    clean = drop_idle_parameters([*lower, *(system.f[i] for i in range(count)), *right_sides])
    triangle = iter(clean)
    M = tuple(tuple(next(triangle) for _ in range(i + 1)) for i in range(count))
    side_of = [getattr(row.source, "side", None) for row in rows if row.g is not None]
    sides = list(dict.fromkeys(x for x in side_of if x is not None))
    no_sides = [-1] * len(analysis.mechanism.normalization_constraints)
    f, gamma = clean[len(lower) : len(lower) + count], clean[len(lower) + count :]
    return replace(
        loop_rows(analysis.loops, analysis.mechanism.normalization_constraints, q, u, M, f, gamma),
        sides=tuple(sides),
        side_partials=tuple(tuple(gradient(x, q)) for x in sides),
        sided=tuple([*(-1 if x is None else sides.index(x) for x in side_of), *no_sides]),
    )


def loop_rows(
    loops: LoopElimination,
    norms: Sequence[tuple[str, Expr]],
    q: Sequence[Symbol],
    u: Sequence[Symbol],
    M: Sequence[Sequence[Expr]],
    f: Sequence[Expr],
    gamma: Sequence[Expr],
) -> LoopEquations:
    """Rows of loops with their partial derivatives by coordinates and speeds, next to M, f and
    their right sides."""
    rows = loops.rows
    position = [*((row.name, row.g) for row in rows if row.g is not None), *norms]
    return LoopEquations(
        tuple(row.name for row in rows),
        tuple(text for text, _ in position),
        tuple(g for _, g in position),
        tuple(tuple(gradient(g, q)) for _, g in position),
        tuple(row.v for row in rows),
        tuple(
            tuple(partials.get(s, ZERO) for s in u)
            for partials in (dict(row.partials) for row in rows)
        ),
        ConstraintScales(len(position), len(loops.used_rows), (1.0,) * len(rows), (1.0,) * len(u)),
        tuple(tuple(row) for row in M),
        tuple(f),
        tuple(gamma),
    )
