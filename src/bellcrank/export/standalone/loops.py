"""What programs with closed loops need besides the equations."""

from __future__ import annotations

from bellcrank.program.program import Program


def row_names(program: Program) -> list[str]:
    """Names of the rows of loops: positions, then speeds."""
    assert program.loops is not None
    return [*program.loops.positions, *(f"speeds of {name}" for name in program.loops.names)]
