"""A program as a module of WebAssembly, without any compiler.

In:  a `Program` and the memory it works in. Out: bytes. The module takes its memory from `e`, mathematical functions
from `m` (Math), tables, linkages, linear systems and functions that Math lacks from `r` (`emit.javascript`).
"""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.emit.javascript.routines import routine_names
from bellcrank.emit.memory import Memory
from bellcrank.emit.schedule import Schedule
from bellcrank.emit.wasm.binary import module
from bellcrank.emit.wasm.functions import Functions
from bellcrank.program.functions import Function
from bellcrank.program.program import Program


def wasm_module(program: Program, plans: Sequence[tuple[Function, Schedule]], memory: Memory) -> tuple[bytes, Memory]:
    """The functions, arranged, and `constants`; the memory, with the numbers of the text."""
    printed = Functions(program, memory, routine_names(program))
    functions = printed.all(plans)
    numbers = printed.numbers.values
    memory = memory.with_numbers(len(numbers))
    return module(printed.imports, functions, memory.pages, memory.at["numbers"], numbers), memory
