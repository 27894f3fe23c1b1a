"""Accelerations together with the linear system they solve, for derivatives and inverse dynamics.

In:  an `Analysis`. Out: `Solved`: M y = r in unknowns y, their solution, and the accelerations of all state speeds
that follow. Derivatives of u' are taken through M and r, never through the factorisation, so the form by composite
bodies is the one to differentiate even where articulated bodies need fewer operations for u' itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bellcrank.dynamics.accelerations import (
    Reduced,
    accelerations,
    freedom_names,
    partial_velocities,
    prepare,
    prepared,
    reduced_system,
    reference_choices,
    state_accelerations,
)
from bellcrank.dynamics.composite import composite
from bellcrank.dynamics.factor import Matrix, best_order, solve
from bellcrank.expr import Expr
from bellcrank.kinematics.analysis import Analysis


@dataclass(frozen=True)
class Solved:
    """M y = r by speed index with the order of its elimination; `udot` of all state speeds by speed index."""

    M: Matrix
    r: dict[int, Expr]
    y: dict[int, Expr]
    order: tuple[int, ...]
    udot: dict[int, Expr]


def solved_systems(analysis: Analysis) -> Iterator[Solved]:
    """The ways worth comparing: for trees one per promising base point."""
    names = freedom_names(analysis)
    if analysis.loops or analysis.removed:
        for pairs in (False, True) if analysis.removed else (False,):
            reduced = partial_velocities(analysis, prepared(analysis), pairs)
            order = best_order(reduced.M, reduced.index)
            y = solve(reduced.M, reduced.f, order, names, reduced.work)
            yield Solved(reduced.M, reduced.f, y, order, state_accelerations(analysis, y, reduced.work))
        return
    for reference in reference_choices(analysis):
        system = prepare(analysis, reference, True)
        M, r = composite(system.tree, system.motion, system.loads, system.work)
        order = best_order(M, range(len(names)))
        y = solve(M, r, order, names, system.work)
        yield Solved(M, r, y, order, accelerations(system, y, system.work, absolute_spin=True))


def user_system(analysis: Analysis) -> Reduced:
    """M u' = f in the user's independent speeds, of trees, rolling systems and loops."""
    return partial_velocities(analysis, prepared(analysis)) if analysis.loops else reduced_system(analysis)
