"""Accelerations together with the linear system they solve, for derivatives and inverse dynamics.

In:  an `KinematicAnalysis`. Out: `SolvedAccelerations`: M y = r in unknowns y, their solution, and
the accelerations of all state speeds that follow. Derivatives of u' are taken through M and r,
never through the factorisation, so the form by composite bodies is the one to differentiate even
where articulated bodies need fewer operations for u' itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bellcrank.mechanics.dynamics.accelerations import (
    ReducedSystem,
    freedom_names,
    partial_velocities,
    prepare_constrained_tree,
    prepare_tree_system,
    recover_accelerations,
    reduced_system,
    reference_choices,
    state_accelerations,
)
from bellcrank.mechanics.dynamics.composite import assemble_composite
from bellcrank.mechanics.dynamics.ldl_factorization import Matrix, best_order, solve_ldl
from bellcrank.mechanics.kinematics.analysis import KinematicAnalysis
from bellcrank.symbolic.expr import Expr


@dataclass(frozen=True)
class SolvedAccelerations:
    """M y = r by speed index with the order of its elimination; `udot` of all state speeds by speed
    index."""

    M: Matrix
    r: dict[int, Expr]
    y: dict[int, Expr]
    order: tuple[int, ...]
    udot: dict[int, Expr]


def solved_systems(analysis: KinematicAnalysis) -> Iterator[SolvedAccelerations]:
    """The ways worth comparing: for trees one per promising base point."""
    names = freedom_names(analysis)
    if analysis.loops or analysis.removed:
        for pairs in (False, True) if analysis.removed else (False,):
            reduced = partial_velocities(analysis, prepare_constrained_tree(analysis), pairs)
            order = best_order(reduced.M, reduced.index)
            y = solve_ldl(reduced.M, reduced.f, order, names, reduced.work)
            yield SolvedAccelerations(
                reduced.M, reduced.f, y, order, state_accelerations(analysis, y, reduced.work)
            )
        return
    for reference in reference_choices(analysis):
        system = prepare_tree_system(analysis, reference, True)
        M, r = assemble_composite(system.tree, system.motion, system.loads, system.work)
        order = best_order(M, range(len(names)))
        y = solve_ldl(M, r, order, names, system.work)
        yield SolvedAccelerations(
            M, r, y, order, recover_accelerations(system, y, system.work, absolute_spin=True)
        )


def user_system(analysis: KinematicAnalysis) -> ReducedSystem:
    """M u' = f in the user's independent speeds, of trees, rolling systems and loops."""
    return (
        partial_velocities(analysis, prepare_constrained_tree(analysis))
        if analysis.loops
        else reduced_system(analysis)
    )
