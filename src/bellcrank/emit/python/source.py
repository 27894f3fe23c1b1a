"""Python source of a program: three functions over plain floats."""

from __future__ import annotations

import inspect
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from bellcrank.emit.printer import ATOM, Piece, Printer
from bellcrank.expr import Expr, Func, Symbol
from bellcrank.expr.function_table import FUNCTIONS, helpers_in, names_in
from bellcrank.numeric import null_space
from bellcrank.program.functions import Function
from bellcrank.program.program import Program
from bellcrank.program.statements import Assign, Call, Reduce, Section, Solve, Statement

HEADER = '''"""{title}

constants(p) gives what follows from the parameters alone; derivatives(t, q, u, p, c, w, f) the rates of all coordinates
and speeds; outputs(...) the extra channels. Equation units: rad, and consistent units of length, mass and time.
q, u, p, w: coordinates, speeds, parameters, inputs, in the order listed below; f: external routines and tables.
If there are, start(...) and update(...) give the last entries of w: values of external routines kept over a run
or over a step; entry(...) gives the last entries of p, and echo(...) values for the echo of a run.
"""

import math
{imports}
'''

LINEAR_SOLVE = """
import numpy


def linear_solve(matrix, right):
    try:
        return numpy.linalg.solve(matrix, right)
    except numpy.linalg.LinAlgError:
        return numpy.full(len(right), numpy.nan)
"""


class PythonPrinter(Printer):
    FUNCTIONS: ClassVar[Mapping[str, str]] = names_in("python")
    PI_TEXT = "3.141592653589793"

    def __init__(self, names: Mapping[Symbol, str], routines: tuple[Any, ...]) -> None:
        super().__init__(names)
        self.place = {routine: i for i, routine in enumerate(routines)}

    def choice(self, args: list[Piece]) -> Piece:
        return f"({args[1][0]} if {args[0][0]} else {args[2][0]})", ATOM

    def routine(self, node: Func, args: list[Piece]) -> Piece:
        return f"f[{self.place[node.function]}]({', '.join(a[0] for a in args)})", ATOM

    def statement(self, s: Statement) -> list[str]:
        if isinstance(s, Assign):
            self.names[s.target] = s.target.name
            return [f"{s.target.name} = {self.expr(s.value)}"]
        if isinstance(s, Call):
            arguments = ", ".join(self.expr(a) for a in s.arguments)
            call = f"f[{self.place[s.routine]}]({arguments})"
            for target in s.targets:
                if target is not None:
                    self.names[target] = target.name
            if len(s.targets) == 1:
                return [f"{s.targets[0].name} = {call}" if s.targets[0] else call]
            shown = ", ".join(t.name if t else "_" for t in s.targets)
            return [f"{shown} = {call}"]
        if isinstance(s, Reduce):
            k = s.scales
            numbers = [self._matrix(s.mass), self._row(s.force), self._matrix(s.rows), self._row(s.right)]
            numbers += [str(x) for x in (k.rank_v, list(k.rows), list(k.columns), k.usual)]
            value = f"constrained_rates({', '.join(numbers)})"
        else:
            value = f"linear_solve({self._matrix(s.matrix)}, {self._row(s.right)}).tolist()"
        for target in s.targets:
            self.names[target] = target.name
        shown = ", ".join(t.name for t in s.targets)
        return [f"{shown}{',' if len(s.targets) == 1 else ''} = {value}"]

    def _row(self, values: Iterable[Expr]) -> str:
        return f"[{', '.join(self.expr(x) for x in values)}]"

    def _matrix(self, rows: Iterable[Iterable[Expr]]) -> str:
        return f"[{', '.join(self._row(row) for row in rows)}]"


def python_source(
    program: Program,
    labels: Mapping[str, str] | None = None,
    extra: Mapping[str, Section] | None = None,
    equations: Sequence[str] = ("minimal",),
) -> str:
    """The program as a Python module; `extra` are further functions by name, `equations` those of closed loops."""
    labels = labels or {}
    functions = [*program.functions_of(*equations), *(Function.extra(*item) for item in (extra or {}).items())]
    names: dict[Symbol, str] = {Symbol("t", "time"): "t"}
    for letter, listed in (
        ("q", program.coordinates),
        ("u", program.speeds),
        ("p", program.parameters),
        ("w", program.inputs),
    ):
        names.update({s: f"{letter}[{i}]" for i, s in enumerate(listed)})
    names.update({s: f"c[{i}]" for i, s in enumerate(program.constant_symbols)})
    printer = PythonPrinter(names, program.routines)
    solved = any(isinstance(s, Solve) for f in functions for s in f.section.statements)
    imports = LINEAR_SOLVE if solved else ""
    if program.loops is not None:
        imports += "\n" + inspect.getsource(null_space).partition('"""\n\n')[2]
    lines: list[str] = []
    for letter, listed in (
        ("q", program.coordinates),
        ("u", program.speeds),
        ("p", program.parameters),
        ("w", program.inputs),
    ):
        for i, s in enumerate(listed):
            label = labels.get(s.name.lower(), "")
            lines.append(f"# {letter}[{i}]  {_safe(s.name)}  {_safe(label)}".rstrip())
    lines += [
        f"# outputs[{i}]  {_safe(n)}  {_safe(labels.get(f'output {n}'.lower(), ''))}".rstrip()
        for i, n in enumerate(program.output_names)
    ]
    lines.append("")
    lines += _constants(program, printer)
    for f in functions:
        if f.name != "constants":
            lines += _function(
                f.name, f.section, printer, len(program.coordinates) if f.name == "derivatives" else None
            )
    head = HEADER.format(title=_safe(program.name), imports=_functions(printer.used_functions, imports))
    return "\n".join([head, *lines]) + "\n"


def _functions(used: Collection[str], others: str) -> str:
    """What the program calls: functions of Python's module, other routines, and functions that Python lacks."""
    called = [f.text("python") for f in FUNCTIONS.values() if f.name in used]
    of_module = sorted(c.name for c in called if not c.helper and c.name in vars(math))
    listed = f"from math import {', '.join(of_module)}\n" if of_module else ""
    return listed + others + "".join(f"\n\n{text}" for text in helpers_in("python", used))


def _safe(text: str) -> str:
    """Text for a comment: one line, nothing that could end it."""
    return " ".join(str(text).replace("\\", "/").replace('"""', "'''").split())


def _constants(program: Program, printer: PythonPrinter) -> list[str]:
    lines = ["", "def constants(p):", f"    c = [0.0]*{len(program.constants.statements)}"]
    for i, s in enumerate(program.constants.statements):
        assert isinstance(s, Assign)
        lines.append(f"    c[{i}] = {printer.expr(s.value)}")
    return [*lines, "    return c", ""]


def _function(name: str, section: Section, printer: PythonPrinter, split: int | None = None) -> list[str]:
    lines = ["", f"def {name}(t, q, u, p, c, w, f):"]
    for s in section.statements:
        lines += [f"    {line}" for line in printer.statement(s)]
    results = [printer.expr(r) for r in section.results]
    if split is None:
        return [*lines, f"    return [{', '.join(results)}]", ""]
    return [*lines, f"    return [{', '.join(results[:split])}], [{', '.join(results[split:])}]", ""]
