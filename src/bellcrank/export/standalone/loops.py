"""What programs with closed loops need besides the equations."""

from __future__ import annotations

from bellcrank.program.program import Program
from bellcrank.program.statements import Reduce, Section, needed


def inertia_functions(program: Program) -> dict[str, Section]:
    """`inertias`: the diagonal of the mass matrix of the tree, from which the metric of corrections follows."""
    if program.loops is None:
        return {}
    statements = program.singular_rates.statements
    (reduce,) = (s for s in statements if isinstance(s, Reduce))
    others = [s for s in statements if s is not reduce]
    return {"inertias": needed(Section((), tuple(row[-1] for row in reduce.mass)), others)}


def row_names(program: Program) -> list[str]:
    """Names of the rows of loops: positions, then speeds."""
    assert program.loops is not None
    return [*program.loops.positions, *(f"speeds of {name}" for name in program.loops.names)]
