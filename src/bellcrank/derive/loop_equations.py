"""Closed loops from analysis to program: rows as expressions, a look at them in numbers, their regular correction.

In:  an `Analysis` with loops. Out: `program.Loops`. The look decides how the rows are eliminated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bellcrank.derive.loop_choice import FindPlace, drawn_scales, look_at
from bellcrank.dynamics.accelerations import reduced_system
from bellcrank.errors import ModelError, counted
from bellcrank.expr import ZERO, Expr, Symbol, gradient
from bellcrank.kinematics.analysis import Analysis
from bellcrank.kinematics.dimensions import Quantities
from bellcrank.kinematics.eliminate import solve_rows
from bellcrank.kinematics.results import Elimination
from bellcrank.kinematics.rows import Row, is_driven, right_side
from bellcrank.numeric.projection import Scales
from bellcrank.program.idle import drop_idle_parameters
from bellcrank.program.loops import Correction, Loops
from bellcrank.program.optimise import optimise

DRIVEN = "the model has 0 degrees of freedom: its constraints prescribe the motion, which follows from time alone"


def program_loops(analysis: Analysis, quantities: Quantities, assemble: FindPlace) -> Loops:
    """Loops in expressions, looked at in numbers; the look decides how they are eliminated."""
    assert analysis.loops is not None
    loops = _loop_rows(analysis)
    rates = [analysis.kinematics.rates[q] for q in analysis.mechanism.coordinates]
    selection = look_at(analysis, loops, rates, quantities, assemble)
    if selection is None and analysis.loops.open:
        numbers = "give default values (set_defaults) and a start (set_run) with which the loops close"
        problems = [
            f"{text}, or follows from them only where the loops are closed: {numbers}" for text in analysis.loops.open
        ]
        raise ModelError(problems, analysis.mechanism.name)
    used_rows = analysis.loops.used if selection is None else selection.elimination.used
    if len(used_rows) >= len(analysis.mechanism.speeds):
        if not is_driven(used_rows):
            raise ModelError(_rigid(used_rows), analysis.mechanism.name)
        analysis.notes.append(DRIVEN)
    if selection is None:
        return _with_drawn_scales(analysis, loops)
    if selection.elimination != analysis.loops:
        analysis.eliminate(selection.elimination)
    analysis.notes += selection.notes
    loops = replace(loops, scales=selection.scales)
    return replace(loops, correction=_correction(analysis, loops))


def _rigid(used_rows: Sequence[Row]) -> str:
    row_texts = ", ".join(row.text for row in used_rows)
    equations, speeds = counted(len(used_rows), "constraint equation"), counted(len(used_rows), "speed")
    return (
        f"the model has 0 degrees of freedom: {equations} for {speeds} ({row_texts}). None prescribes a motion: "
        "remove one, or drive one with a formula of t or an input."
    )


def _with_drawn_scales(analysis: Analysis, loops: Loops) -> Loops:
    """Speed constraints of a model without default values: their sizes need no closed loops."""
    assert analysis.loops is not None
    if loops.g:
        return loops
    defaults = {key: x.value for key, x in analysis.mechanism.description.parameters.items()}
    values = {key: float(x) for key, x in defaults.items() if isinstance(x, int | float)}
    scales = drawn_scales(analysis.loops, analysis.mechanism.speeds, 0, values)
    return loops if scales is None else replace(loops, scales=scales)


def _correction(analysis: Analysis, loops: Loops) -> Correction | None:
    """The correction of regular positions; None where coordinates do not follow speeds one by one."""
    assert analysis.loops is not None
    q, u = list(analysis.mechanism.coordinates), list(analysis.mechanism.speeds)
    rates, scales = analysis.kinematics.rates, loops.scales
    used_rows, pivots = analysis.loops.used, analysis.loops.pivots
    count = sum(row.g is not None for row in used_rows)
    columns = [x for s in pivots[:count] for x in q if rates[x] is s]
    g = [row.g for row in used_rows[:count] if row.g is not None]
    if not count == scales.rank_g == len(columns) == len(g):
        return None
    partials = [{x: a for x, a in zip(columns, gradient(y, columns), strict=True) if a is not ZERO} for y in g]
    dq, _ = solve_rows(partials, g, columns, analysis.kinematics.work.copy())
    speeds = [dict(row.partials) for row in used_rows]
    du, divided = solve_rows(speeds, [row.v for row in used_rows], pivots, analysis.kinematics.work.copy())
    dq, corrections = (optimise(roots) for roots in (dq, [*du, *divided]))
    sizes = tuple(scales.rows[i] * scales.columns[j] / scales.usual_order for i, j in scales.order)
    state_indices = tuple(q.index(x) for x in columns), tuple(u.index(s) for s in pivots)
    return Correction(*state_indices, tuple(dq), tuple(corrections[: len(du)]), tuple(corrections[len(du) :]), sizes)


def _loop_rows(analysis: Analysis) -> Loops:
    """What is needed to bring a state onto the constraints: g, dg/dq, v and dv/du; and M, f and gamma of the tree."""
    q, u = analysis.mechanism.coordinates, analysis.mechanism.speeds
    assert analysis.loops is not None
    rows = analysis.loops.rows
    system = reduced_system(analysis)
    count = len(u)
    right_sides = [right_side(row, analysis.kinematics) for row in rows]
    lower = [system.M.get((i, j), ZERO) for i in range(count) for j in range(i + 1)]
    clean = drop_idle_parameters([*lower, *(system.f[i] for i in range(count)), *right_sides])
    triangle = iter(clean)
    M = tuple(tuple(next(triangle) for _ in range(i + 1)) for i in range(count))
    side_of = [getattr(row.source, "side", None) for row in rows if row.g is not None]
    sides = list(dict.fromkeys(x for x in side_of if x is not None))
    no_sides = [-1] * len(analysis.mechanism.norms)
    f, gamma = clean[len(lower) : len(lower) + count], clean[len(lower) + count :]
    return replace(
        loop_rows(analysis.loops, analysis.mechanism.norms, q, u, M, f, gamma),
        sides=tuple(sides),
        side_partials=tuple(tuple(gradient(x, q)) for x in sides),
        sided=tuple([*(-1 if x is None else sides.index(x) for x in side_of), *no_sides]),
    )


def loop_rows(
    loops: Elimination,
    norms: Sequence[tuple[str, Expr]],
    q: Sequence[Symbol],
    u: Sequence[Symbol],
    M: Sequence[Sequence[Expr]],
    f: Sequence[Expr],
    gamma: Sequence[Expr],
) -> Loops:
    """Rows of loops with their partial derivatives by coordinates and speeds, next to M, f and their right sides."""
    rows = loops.rows
    position = [*((row.name, row.g) for row in rows if row.g is not None), *norms]
    return Loops(
        tuple(row.name for row in rows),
        tuple(text for text, _ in position),
        tuple(g for _, g in position),
        tuple(tuple(gradient(g, q)) for _, g in position),
        tuple(row.v for row in rows),
        tuple(tuple(partials.get(s, ZERO) for s in u) for partials in (dict(row.partials) for row in rows)),
        Scales(len(position), len(loops.used), (1.0,) * len(rows), (1.0,) * len(u)),
        tuple(tuple(row) for row in M),
        tuple(f),
        tuple(gamma),
    )
