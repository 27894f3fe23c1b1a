"""Python source of a program: its functions over plain floats."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from bellcrank.emit.python.functions import Functions
from bellcrank.emit.python.loops import null_space
from bellcrank.emit.python.runtime_files import runtime
from bellcrank.expr.function_table import FUNCTIONS, helpers_in
from bellcrank.program.functions import Function
from bellcrank.program.program import Program
from bellcrank.program.statements import Section, Solve


def python_source(
    program: Program,
    labels: Mapping[str, str] | None = None,
    extra: Mapping[str, Section] | None = None,
    equations: Sequence[str] = ("minimal",),
) -> str:
    """The program as a Python module; `extra` are further functions by name, `equations` those of closed loops."""
    labels = labels or {}
    functions = [*program.functions_of(*equations), *(Function.extra(*item) for item in (extra or {}).items())]
    printed = Functions(program)
    lines = [
        f"# {letter}[{i}]  {_safe(s.name)}  {_safe(labels.get(s.name, ''))}".rstrip()
        for letter, group in printed.groups.items()
        for i, s in enumerate(group)
    ]
    lines += [
        f"# outputs[{i}]  {_safe(n)}  {_safe(labels.get(f'output {n}', ''))}".rstrip()
        for i, n in enumerate(program.output_names)
    ]
    lines += ["", *printed.constants()]
    lines += [line for f in functions if f.name != "constants" for line in printed.lines(f)]
    solved = any(isinstance(s, Solve) for f in functions for s in f.section.statements)
    others = "\n" + runtime("linear_solve.py") if solved else ""
    if program.loops is not None:
        others += "\n" + null_space()
    head = runtime("head.py.in", TITLE=_safe(program.name)) + _functions(printed.printer.used_functions, others)
    return "\n".join([head, "", *lines]) + "\n"


def _functions(used: Collection[str], others: str) -> str:
    """What the program calls: functions of Python's module, other routines, and functions that Python lacks."""
    called = [f.text("python") for f in FUNCTIONS.values() if f.name in used]
    of_module = sorted(c.name for c in called if not c.helper and c.name in vars(math))
    listed = f"from math import {', '.join(of_module)}\n" if of_module else ""
    return listed + others + "".join(f"\n\n{text}" for text in helpers_in("python", used))


def _safe(text: str) -> str:
    """Text for a comment: one line, nothing that could end it."""
    return " ".join(str(text).replace("\\", "/").replace('"""', "'''").split())
