"""Python source of a program: its functions over plain floats."""

from __future__ import annotations

import inspect
import math
from collections.abc import Collection, Mapping, Sequence
from functools import cache

from bellcrank.codegen.python.printer import PythonPrinter
from bellcrank.codegen.python.runtime_files import constant_definitions, fill_runtime_file
from bellcrank.core.numeric import null_space as routines
from bellcrank.core.numeric.tuning import ELIMINATION
from bellcrank.program.program import SimulationProgram
from bellcrank.program.program_functions import ProgramFunction
from bellcrank.program.statements import AssignStatement, Section, SolveStatement
from bellcrank.symbolic.expr import Symbol
from bellcrank.symbolic.expr.function_table import FUNCTIONS, helper_sources


def python_source(
    program: SimulationProgram,
    labels: Mapping[str, str] | None = None,
    extra: Mapping[str, Section] | None = None,
    equations: Sequence[str] = ("minimal",),
) -> str:
    """The program as a Python module; `extra` are further functions by name, `equations` those of
    closed loops."""
    labels = labels or {}
    functions = [
        *program.functions_of(*equations),
        *(ProgramFunction.extra(*item) for item in (extra or {}).items()),
    ]
    python_functions = PythonFunctions(program)
    lines = [
        (
            f"# {letter}[{i}]  {_comment_text(s.name)}  {_comment_text(labels.get(s.name, ''))}"
        ).rstrip()
        for letter, group in python_functions.groups.items()
        for i, s in enumerate(group)
    ]
    lines += [
        (
            f"# outputs[{i}]  {_comment_text(n)}  {_comment_text(labels.get(f'output {n}', ''))}"
        ).rstrip()
        for i, n in enumerate(program.output_names)
    ]
    lines += ["", *python_functions.constants()]
    lines += [
        line
        for f in functions
        if f.name != "constants"
        for line in python_functions.function_lines(f)
    ]
    solved = any(isinstance(s, SolveStatement) for f in functions for s in f.section.statements)
    other_routines = "\n" + fill_runtime_file("linear_solve.py") if solved else ""
    if program.loops is not None:
        other_routines += "\n" + null_space_source()
    head = fill_runtime_file("head.py.in", TITLE=_comment_text(program.name)) + _function_imports(
        python_functions.printer.used_functions, other_routines
    )
    return "\n".join([head, "", *lines]) + "\n"


def _function_imports(used_names: Collection[str], other_routines: str) -> str:
    """What the program calls: functions of Python's module, other routines, and functions that
    Python lacks."""
    function_texts = [f.translation("python") for f in FUNCTIONS.values() if f.name in used_names]
    of_module = sorted(c.name for c in function_texts if not c.helper and c.name in vars(math))
    import_line = f"from math import {', '.join(of_module)}\n" if of_module else ""
    return (
        import_line
        + other_routines
        + "".join(f"\n\n{text}" for text in helper_sources("python", used_names))
    )


def _comment_text(text: str) -> str:
    """Text for a comment: one line, nothing that could end it."""
    return " ".join(str(text).replace("\\", "/").replace('"""', "'''").split())


# ---- functions of a program in Python: the statements as they stand, then the results


class PythonFunctions:
    """Prints the functions of a program."""

    def __init__(self, program: SimulationProgram) -> None:
        self.program = program
        self.groups = {
            "q": program.coordinates,
            "u": program.speeds,
            "p": program.parameters,
            "w": program.inputs,
        }
        array_groups = {**self.groups, "c": program.constant_symbols}
        names = {
            s: f"{letter}[{i}]"
            for letter, group in array_groups.items()
            for i, s in enumerate(group)
        }
        self.printer = PythonPrinter({Symbol("t", "time"): "t", **names}, program.routines)

    def constants(self) -> list[str]:
        statements = [
            s for s in self.program.constants.statements if isinstance(s, AssignStatement)
        ]
        lines = [
            f"    c[{i}] = {self.printer.print_expression(s.value)}"
            for i, s in enumerate(statements)
        ]
        return [
            "",
            "def constants(p, f):",
            f"    c = [0.0]*{len(statements)}",
            *lines,
            "    return c",
            "",
        ]

    def function_lines(self, f: ProgramFunction) -> list[str]:
        """A function; rates are two lists, those of coordinates and of speeds."""
        lines = [
            f"    {line}" for s in f.section.statements for line in self.printer.print_statement(s)
        ]
        results = [self.printer.print_expression(r) for r in f.section.results]
        coordinate_count = (
            len(self.program.coordinates) if f.name == "derivatives" else len(results)
        )
        lists = (
            [results[:coordinate_count], results[coordinate_count:]]
            if f.name == "derivatives"
            else [results]
        )
        results_text = ", ".join(f"[{', '.join(values)}]" for values in lists)
        return ["", f"def {f.name}(t, q, u, p, c, w, f):", *lines, f"    return {results_text}", ""]


# ---- closed loops in Python: the routines that a program calls


@cache
def null_space_source() -> str:
    """How rows of loops are eliminated in numbers: as this package does it."""
    functions = (
        routines.eliminate_pivoted,
        routines.fixed_order_pivot_ratio,
        routines.null_space,
        routines.constrained_rates,
    )
    texts = [inspect.getsource(f) for f in functions]
    return "\n\n".join([f"import numpy as np\n\n{constant_definitions(ELIMINATION)}", *texts])
