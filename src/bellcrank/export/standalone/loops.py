"""What programs with closed loops need besides the equations."""

from __future__ import annotations

from bellcrank.program.program import SimulationProgram


def row_names(program: SimulationProgram) -> list[str]:
    """Rows of loops as messages name them: positions, then speeds."""
    assert program.loops is not None
    return [
        *(f"'{x}'" for x in program.loops.positions),
        *(f"speeds of '{x}'" for x in program.loops.names),
    ]
