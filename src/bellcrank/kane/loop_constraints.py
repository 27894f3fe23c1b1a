"""Constraints of a hand-led derivation that leave all speeds as states: closed loops, as in
described systems.

In:  expressions of coordinates and time, or of speeds too, that are zero, and M u' = f without
them. Out: rows, accelerations with the constraints, and `program.Loops`, by which a run is
assembled and kept on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bellcrank.core.errors import ModelError
from bellcrank.kane.scalars import DerivationScalars
from bellcrank.kane.system import KaneSystem
from bellcrank.mechanics.derive.loop_choice import drawn_scales
from bellcrank.mechanics.derive.loop_equations import loop_rows
from bellcrank.mechanics.dynamics.accelerations import project_mass_matrix
from bellcrank.mechanics.dynamics.ldl_factorization import best_order
from bellcrank.mechanics.dynamics.ldl_factorization import solve_ldl as factored
from bellcrank.mechanics.kinematics.body_motion import Kinematics
from bellcrank.mechanics.kinematics.constraint_rows import (
    ConstraintRow,
    acceleration_right_side,
    sort_rows,
    with_partials,
)
from bellcrank.mechanics.kinematics.dependent_accelerations import eliminate_rows, usual_pivots
from bellcrank.mechanics.kinematics.results import LoopElimination
from bellcrank.program.loop_equations import LoopEquations
from bellcrank.symbolic.expr import ZERO, Expr, Symbol, add, inline_named, mul
from bellcrank.symbolic.vector.derivation_workspace import DerivationWorkspace


@dataclass(frozen=True)
class KaneLoopConstraints:
    """Rows that count, what they lead to, and notes on the others."""

    elimination: LoopElimination
    notes: list[str]


def select_kane_constraints(
    scalars: DerivationScalars, positions: Sequence[Expr], motions: Sequence[Expr], name: str
) -> KaneLoopConstraints:
    """The rows of constraints, with the speeds they are solved for."""
    speeds = scalars.independent_speeds
    rows = []
    for g in positions:
        position, rate = (inline_named(x) for x in scalars.resolve((g, scalars.rate(g))))
        rows.append(with_partials(ConstraintRow(f"{g} = 0", rate, position), speeds))
    rows += [
        with_partials(ConstraintRow(f"{v} = 0", inline_named(x)), speeds)
        for v, x in zip(motions, scalars.resolve(motions), strict=True)
    ]
    sorted_rows = sort_rows(rows)
    if problems := [*sorted_rows.problems, *sorted_rows.unresolved_rows.values()]:
        raise ModelError(problems, name)
    if len(sorted_rows.active_rows) >= len(speeds):
        raise ModelError(
            "the model has 0 degrees of freedom: the constraint equations determine every speed",
            name,
        )
    pivots = usual_pivots(
        sorted_rows.active_rows, speeds, DerivationWorkspace([*scalars.coordinates, *speeds]), list
    )
    used_rows = tuple(sorted_rows.active_rows)
    return KaneLoopConstraints(
        LoopElimination(used_rows, used_rows, tuple(pivots)), sorted_rows.notes
    )


def closed_rates(
    system: KaneSystem, loops: LoopElimination, kinematics: Kinematics, work: DerivationWorkspace
) -> dict[int, Expr]:
    """u' of all speeds: those of the independent ones from the projected equations, the others from
    the rows."""
    speeds = system.speeds
    constraint_rhs = [acceleration_right_side(row, kinematics) for row in loops.used_rows]
    reduction = eliminate_rows(loops.used_rows, constraint_rhs, loops.pivots, speeds, work)
    M = {
        (i, j): x
        for i in range(len(speeds))
        for j in range(i + 1)
        if (x := work.bind(system.M[i][j])) is not ZERO
    }
    f = {i: work.bind(x) for i, x in enumerate(system.f)}
    reduced, rhs = project_mass_matrix(M, f, reduction, dict(reduction.drifts), work)
    names = {i: f"the speed {u}" for i, u in enumerate(speeds)}
    udot = factored(reduced, rhs, best_order(reduced, reduction.free), names, work)
    for s, partials in reduction.partials.items():
        udot[s] = work.bind(
            add(reduction.bias_term(s), *(mul(a, udot[r]) for r, a in partials.items()))
        )
    return udot


def program_rows(
    system: KaneSystem,
    loops: LoopElimination,
    kinematics: Kinematics,
    coordinates: Sequence[Symbol],
    norms: Sequence[tuple[str, Expr]],
    values: Mapping[str, float],
) -> LoopEquations:
    """What a run needs to close the loops and to keep them closed."""
    u = system.speeds
    M = [system.M[i][: i + 1] for i in range(len(u))]
    rhs = [acceleration_right_side(row, kinematics) for row in loops.rows]
    closure = loop_rows(loops, norms, coordinates, u, M, system.f, rhs)
    scales = drawn_scales(loops, u, closure.scales.rank_g, values)
    return closure if scales is None else replace(closure, scales=scales)
