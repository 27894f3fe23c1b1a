"""M u' = f as a user sees it: in the user's own speeds, with what determines the dependent ones.

In:  an `KinematicAnalysis`. Out: matrices of expressions, and relations of speeds.
"""

from __future__ import annotations

from bellcrank.mechanics.dynamics.accelerations import reduced_system
from bellcrank.mechanics.kinematics.results import KinematicAnalysis
from bellcrank.mechanics.kinematics.speed_constraints import DependentSpeed, solve_speed_constraint
from bellcrank.program.unused_parameters import drop_idle_parameters
from bellcrank.symbolic.expr import ZERO, Expr, small_threshold
from bellcrank.symbolic.expr.simplify import simplify

Matrices = tuple[list[list[Expr]], list[Expr]]


def user_matrices(analysis: KinematicAnalysis) -> Matrices:
    """M and f of M u' = f."""
    with small_threshold(analysis.mechanism.threshold):  # simplifying drops small terms, too
        system = reduced_system(analysis)
        index = system.index
        matrix = [system.M.get((max(i, j), min(i, j)), ZERO) for i in index for j in index]
        clean = drop_idle_parameters([*matrix, *(system.f[i] for i in index)])
        n = len(index)
        rows = [clean[i * n : (i + 1) * n] for i in range(n)]
        return simplify(rows), simplify(clean[n * n :])


def dependent_speeds(analysis: KinematicAnalysis) -> tuple[DependentSpeed, ...]:
    """The dependent speeds, each with the relation that determines it."""
    loops = analysis.loops
    if loops is None:
        return tuple(analysis.removed)
    removed: list[DependentSpeed] = []
    speeds = analysis.state_speeds
    for row, pivot in zip(loops.used_rows, loops.pivots, strict=True):
        solved = solve_speed_constraint(row.v, removed, speeds, pivot, row.name)
        assert solved is not None
        removed.append(solved)
        speeds.remove(pivot)
    return tuple(removed)
