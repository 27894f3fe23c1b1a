"""Accelerations together with the linear system they solve, for derivatives and inverse dynamics.

In:  an `Analysis`. Out: `Solved`: M y = r in unknowns y, their solution, and the accelerations of all state speeds
that follow. Derivatives of u' are taken through M and r, never through the factorisation, so the form by composite
bodies is the one to differentiate even where articulated bodies need fewer operations for u' itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bellcrank.dynamics.composite import Matrix, composite
from bellcrank.dynamics.derive import (
    Reduced,
    accelerations,
    freedom_names,
    partial_velocities,
    prepare,
    reduced_system,
    reduction_of,
    reference_choices,
)
from bellcrank.dynamics.factor import best_orders, pattern, solve
from bellcrank.expr import Expr, add, mul
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
            yield _constrained(analysis, names, pairs)
        return
    for reference in reference_choices(analysis):
        system = prepare(analysis, reference, True)
        built = composite(system.tree, system.motion, system.loads, system.work)
        (order,) = best_orders(pattern(built.M, len(names)), keep=1)
        y = solve(built.M, built.rhs, order, names, system.work)
        yield Solved(built.M, built.rhs, y, order, accelerations(system, y, system.work, absolute_spin=True))


def user_system(analysis: Analysis) -> Reduced:
    """M u' = f in the user's independent speeds, of trees, rolling systems and loops."""
    if analysis.loops:
        return partial_velocities(analysis, frozenset())
    return reduced_system(analysis, shift_back=True)[0]


def _constrained(analysis: Analysis, names: dict[int, str], pairs: bool) -> Solved:
    system = partial_velocities(analysis, frozenset(), pairs)
    place = {i: n for n, i in enumerate(system.index)}
    grid = pattern({(place[i], place[j]): v for (i, j), v in system.M.items()}, len(place))
    (found,) = best_orders(grid, keep=1)
    order = tuple(system.index[n] for n in found)
    y = solve(system.M, system.f, order, names, system.work)
    udot = dict(y)
    if analysis.loops:
        work, reduction = system.work, reduction_of(analysis, system.work)
        for s in range(len(analysis.mechanism.speeds)):
            if s not in udot:
                terms = [mul(a, y[r]) for r, a in reduction.slope(s).items()]
                udot[s] = work.hold(add(reduction.drift(s), *terms))
    return Solved(system.M, system.f, y, order, udot)
