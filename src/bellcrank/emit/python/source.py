"""Python source of a program: its functions over plain floats."""

from __future__ import annotations

import inspect
import math
from collections.abc import Collection, Mapping, Sequence
from functools import cache

from bellcrank.emit.python.printer import PythonPrinter
from bellcrank.emit.python.runtime_files import definitions, runtime
from bellcrank.expr import Symbol
from bellcrank.expr.function_table import FUNCTIONS, helpers_in
from bellcrank.numeric import null_space as routines
from bellcrank.numeric.tuning import ELIMINATION
from bellcrank.program.functions import Function
from bellcrank.program.program import Program
from bellcrank.program.statements import Assign, Section, Solve


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


# ---- functions of a program in Python: the statements as they stand, then the results


class Functions:
    """Prints the functions of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.groups = {"q": program.coordinates, "u": program.speeds, "p": program.parameters, "w": program.inputs}
        listed = {**self.groups, "c": program.constant_symbols}
        names = {s: f"{letter}[{i}]" for letter, group in listed.items() for i, s in enumerate(group)}
        self.printer = PythonPrinter({Symbol("t", "time"): "t", **names}, program.routines)

    def constants(self) -> list[str]:
        statements = [s for s in self.program.constants.statements if isinstance(s, Assign)]
        lines = [f"    c[{i}] = {self.printer.expr(s.value)}" for i, s in enumerate(statements)]
        return ["", "def constants(p, f):", f"    c = [0.0]*{len(statements)}", *lines, "    return c", ""]

    def lines(self, f: Function) -> list[str]:
        """A function; rates are two lists, those of coordinates and of speeds."""
        lines = [f"    {line}" for s in f.section.statements for line in self.printer.statement(s)]
        results = [self.printer.expr(r) for r in f.section.results]
        split = len(self.program.coordinates) if f.name == "derivatives" else len(results)
        lists = [results[:split], results[split:]] if f.name == "derivatives" else [results]
        shown = ", ".join(f"[{', '.join(values)}]" for values in lists)
        return ["", f"def {f.name}(t, q, u, p, c, w, f):", *lines, f"    return {shown}", ""]


# ---- closed loops in Python: the routines that a program calls


@cache
def null_space() -> str:
    """How rows of loops are eliminated in numbers: as this package does it."""
    functions = routines.pivoted, routines.fixed_ratio, routines.null_space, routines.constrained_rates
    texts = [inspect.getsource(f) for f in functions]
    return "\n\n".join([f"import numpy as np\n\n{definitions(ELIMINATION)}", *texts])
