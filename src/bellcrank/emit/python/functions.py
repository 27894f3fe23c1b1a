"""Functions of a program in Python: the statements as they stand, then the results."""

from __future__ import annotations

from bellcrank.emit.python.printer import PythonPrinter
from bellcrank.expr import Symbol
from bellcrank.program.functions import Function
from bellcrank.program.program import Program
from bellcrank.program.statements import Assign


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
