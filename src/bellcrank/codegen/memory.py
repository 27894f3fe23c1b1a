"""The memory of a program in WebAssembly: `room` for the matrices and values of a statement, and a
table of sines."""

from __future__ import annotations

from collections.abc import Iterable

from bellcrank.program.program_functions import ProgramFunction
from bellcrank.program.statements import CallStatement, NullSpaceSolve, SolveStatement, Statement

FLOAT64_BYTES = 8  # bytes of a number
WASM_PAGE_BYTES = 65536  # bytes of a page of WebAssembly
PARTS, ROWS = 64, 512  # of a radian; of the table of sines, from -4 rad on


def scratch_size(functions: Iterable[ProgramFunction]) -> int:
    """How many numbers the matrices and values of a statement are at most."""
    return max(
        (_statement_scratch_size(s) for f in functions for s in f.section.statements), default=0
    )


def reduce_sizes(s: NullSpaceSolve) -> tuple[int, int, int, int, int]:
    """How many numbers mass, force, rows, right and rates of a reduced system are."""
    return sum(map(len, s.mass)), len(s.force), sum(map(len, s.rows)), len(s.right), len(s.targets)


def _statement_scratch_size(s: Statement) -> int:
    if isinstance(s, SolveStatement):
        return len(s.right) * (len(s.right) + 1)
    if isinstance(s, NullSpaceSolve):
        return sum(reduce_sizes(s))
    return len(s.arguments) + len(s.targets) if isinstance(s, CallStatement) else 0
