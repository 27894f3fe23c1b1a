"""A program as JavaScript text, for where WebAssembly is forbidden: the same functions over the same memory.

In:  a `Program` and the memory it works in. Out: `function program(m, r)`, which returns its functions; m are the
numbers of the memory, r tables, linkages and linear systems (`routines`).
"""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.emit.javascript.functions import Functions
from bellcrank.emit.javascript.routines import routine_names
from bellcrank.emit.memory import Memory
from bellcrank.emit.schedule import Schedule
from bellcrank.expr.function_table import FUNCTIONS, helpers_in
from bellcrank.program.functions import Function
from bellcrank.program.program import Program


def javascript_source(program: Program, plans: Sequence[tuple[Function, Schedule]], memory: Memory) -> str:
    """The functions, arranged, and `constants`."""
    printed = Functions(program, memory, routine_names(program))
    lines = [*printed.constants(), *(line for f, plan in plans for line in printed.lines(f, plan))]
    used = printed.printer.used_functions
    called = sorted(f.name for f in FUNCTIONS.values() if f.name in used and not f.text("javascript").helper)
    head = [f"const {{{', '.join(called)}}} = Math;"] if called else []
    return "\n".join(
        ["function program(m, r) {", *head, *helpers_in("javascript", used), "return {", *lines, "};", "}", ""]
    )
