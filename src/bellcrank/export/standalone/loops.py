"""What programs with closed loops need besides the equations."""

from __future__ import annotations

from bellcrank.program.program import Program
from bellcrank.program.statements import Section, needed


def inertia_functions(program: Program) -> dict[str, Section]:
    """`inertias`: the diagonal of the mass matrix of the tree, from which the metric of corrections follows."""
    if program.loops is None:
        return {}
    first, system = len(program.coordinates), program.system
    places = [first + i * (i + 3) // 2 for i in range(len(program.speeds))]  # of the diagonal in the lower triangle
    return {"inertias": needed(Section((), tuple(system.results[i] for i in places)), system.statements)}


def row_names(program: Program) -> list[str]:
    """Names of the rows of loops: positions, then speeds."""
    assert program.loops is not None
    return [*program.loops.positions, *(f"speeds of {name}" for name in program.loops.names)]
