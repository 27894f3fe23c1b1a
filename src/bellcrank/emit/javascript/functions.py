"""Functions of a program in JavaScript: `constants()`, and `name(t, y, out)` for the others, as in WebAssembly.

y and out are the addresses, in bytes, of the states and of the results.
"""

from __future__ import annotations

from collections.abc import Mapping

from bellcrank.emit.javascript.printer import JavaScriptPrinter
from bellcrank.emit.memory import SIZE, Memory, places
from bellcrank.emit.schedule import Schedule
from bellcrank.expr import Symbol
from bellcrank.program.functions import Function
from bellcrank.program.program import Program
from bellcrank.program.statements import Assign

TIME = Symbol("t", "time")


class Functions:
    """Prints the functions of a program. `routines`: names of its tables and external routines."""

    def __init__(self, program: Program, memory: Memory, routines: Mapping[object, str]) -> None:
        self.program = program
        fixed = {s: f"m[{at // SIZE}]" for s, at in places(program, memory).items()}
        states = {s: f"m[y + {i}]" for i, s in enumerate((*program.coordinates, *program.speeds))}
        self.printer = JavaScriptPrinter({**fixed, **states, TIME: "t"}, routines, memory.at["room"])

    def constants(self) -> list[str]:
        statements = [s for s in self.program.constants.statements if isinstance(s, Assign)]
        lines = [f"{self.printer.names[s.target]} = {self.printer.expr(s.value)};" for s in statements]
        return ["constants() {", *(f"  {line}" for line in lines), "},"]

    def lines(self, f: Function, plan: Schedule) -> list[str]:
        """A function, arranged."""
        body = [line for s in plan.steps for line in self.printer.statement(s)]
        body += [f"m[out + {i}] = {self.printer.expr(r)};" for i, r in enumerate(plan.results)]
        return [f"{f.name}(t, y, out) {{", "  y >>= 3, out >>= 3;", *(f"  {line}" for line in body), "},"]
