"""Where a program keeps its numbers in one memory: WebAssembly and JavaScript share the addresses.

p, c, w, y: parameters, constants that follow from them, inputs, states; k: rates; `stage`, `rates`: a state that rates
are computed of, and these; then the results of every other function under its name, `room` for the matrices and values
of a statement, a table of `sines` and then cosines, which JavaScript fills (`emit.javascript.routines`), and at last
the `numbers` that the text of the program holds. Addresses count bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from bellcrank.expr import Symbol
from bellcrank.program.functions import Function
from bellcrank.program.program import Program
from bellcrank.program.statements import Call, Reduce, Solve, Statement

SIZE = 8  # bytes of a number
PAGE = 65536  # bytes of a page of WebAssembly
FIRST = 8  # nothing stands at address 0
PARTS, ROWS = 64, 512  # of a radian; of the table of sines, from -4 rad on
SPARE = 12  # arrays as long as the state that steps work in


@dataclass(frozen=True)
class Memory:
    """Addresses by name, and how many numbers there are."""

    at: Mapping[str, int]
    sizes: Mapping[str, int]

    @property
    def pages(self) -> int:
        return -(-max(self.at[name] + SIZE * n for name, n in self.sizes.items()) // PAGE)

    def with_numbers(self, count: int) -> Memory:
        """The same with room for so many numbers of the program's text."""
        return replace(self, sizes={**self.sizes, "numbers": count})


def memory_of(program: Program, functions: Iterable[Function]) -> Memory:
    """The memory of a program with these functions."""
    listed = list(functions)
    states = len(program.coordinates) + len(program.speeds)
    sizes = {"p": len(program.parameters), "c": len(program.constant_symbols), "w": len(program.inputs), "y": states}
    sizes |= {"k": states, "stage": states, "rates": states}
    sizes |= {f.name: len(f.section.results) for f in listed if f.name not in ("constants", "derivatives")}
    sizes["room"] = room_of(listed)
    sizes |= {"spare": SPARE * states, "sines": 2 * ROWS}
    at, address = {}, FIRST
    for name, n in sizes.items():
        at[name] = address
        address += SIZE * n
    return Memory({**at, "numbers": address}, {**sizes, "numbers": 0})


def room_of(functions: Iterable[Function]) -> int:
    """How many numbers the matrices and values of a statement are at most."""
    return max((_room(s) for f in functions for s in f.section.statements), default=0)


def places(program: Program, memory: Memory) -> dict[Symbol, int]:
    """Addresses of parameters, constants and inputs."""
    groups = {"p": program.parameters, "c": program.constant_symbols, "w": program.inputs}
    return {s: memory.at[name] + SIZE * i for name, group in groups.items() for i, s in enumerate(group)}


def reduce_sizes(s: Reduce) -> tuple[int, int, int, int, int]:
    """How many numbers mass, force, rows, right and rates of a reduced system are."""
    return sum(map(len, s.mass)), len(s.force), sum(map(len, s.rows)), len(s.right), len(s.targets)


def _room(s: Statement) -> int:
    if isinstance(s, Solve):
        return len(s.right) * (len(s.right) + 1)
    if isinstance(s, Reduce):
        return sum(reduce_sizes(s))
    return len(s.arguments) + len(s.targets) if isinstance(s, Call) else 0
