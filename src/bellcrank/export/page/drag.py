"""Dragging a body in a live page: inertia of bodies next to their poses, and facts of the script
that pulls them.

In:  a derivation. Out: expressions, and facts. The script finds partial velocities from the poses
of the page and the mass matrix from these numbers, so that the equations which the page runs stay
those of the model.
"""

from __future__ import annotations

import math
from typing import Any

from bellcrank.mechanics.derive.derived import DerivedModel
from bellcrank.model.mechanism import Body
from bellcrank.symbolic.expr import TWO, ZERO, Expr, add, div, free_symbols, mul, sub, substitute

SAG = 0.05  # of the reach of the mechanism, that its weight may take from the pointer
WEIGHT = 9.81  # m/s2


def inertia_expressions(derived: DerivedModel) -> list[Expr]:
    """Ten for each body: mass, first moments of mass and second ones (11, 12, 13, 22, 23, 33),
    about its origin along its axes; then armatures. What the equations of motion do not hold counts
    as zero."""
    bodies = derived.analysis.mechanism.bodies
    inertias = [x for b in bodies for x in _mass_moments(b)]
    inertias += [b.armature for b, _ in _geared_bodies(derived)]
    program_parameters = {*derived.program.parameters}
    zeroed: dict[Expr, Expr] = {
        s: ZERO
        for s in free_symbols(*inertias)
        if s.kind == "parameter" and s not in program_parameters
    }
    return [substitute(x, zeroed) for x in inertias] if zeroed else inertias


def _mass_moments(b: Body) -> list[Expr]:
    trace = add(*(b.inertia[i][i] for i in range(3)))
    first = [mul(b.mass, x) for x in b.cm]
    second = [
        add(mul(first[i], b.cm[j]), sub(div(trace, TWO) if i == j else ZERO, b.inertia[i][j]))
        for i in range(3)
        for j in range(i, 3)
    ]
    return [b.mass, *first, *second]


def _geared_bodies(derived: DerivedModel) -> list[tuple[Body, int]]:
    """Bodies with one, and the numbers of their speeds."""
    numbers = {s: i for i, s in enumerate(derived.program.speeds)}
    listed = [b for b in derived.analysis.mechanism.bodies if b.armature is not ZERO]
    return [(b, numbers[b.speeds[0]]) for b in listed if b.speeds[0] in numbers]


def drag_facts(derived: DerivedModel, size: float) -> dict[str, Any]:
    """The frequency of the spring at least, in rad/s, with which weight does not take a body far
    from the pointer; how many constraint equations of speeds there are; the speeds that armatures
    resist."""
    loops, gravity = derived.program.loops, WEIGHT * derived.interface.metre_factor
    return {
        "omega": round(math.sqrt(gravity / (SAG * size)), 1) if size > 0 else 0,
        "bodies": len(derived.analysis.mechanism.bodies),
        "rows": 0 if loops is None else len(loops.v),
        "armature": [i for _, i in _geared_bodies(derived)],
    }
