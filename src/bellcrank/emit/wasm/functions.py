"""Functions of a program in WebAssembly: `constants()`, `derivatives(t)`, and `name(t, y, out)` for the others.

y and out are the addresses of the states and of the results; all else lies at fixed addresses (`emit.memory`), states
and results of `derivatives`, too: engines check addresses that they do not know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bellcrank.emit.memory import SIZE, Memory, places
from bellcrank.emit.schedule import Schedule
from bellcrank.emit.steps import step_targets, symbols_in
from bellcrank.emit.wasm import binary as b
from bellcrank.emit.wasm.numbers import Numbers
from bellcrank.emit.wasm.printer import NO_ADDRESS, WasmPrinter
from bellcrank.expr import Symbol
from bellcrank.program.functions import Function
from bellcrank.program.program import Program
from bellcrank.program.statements import Assign

TIME = Symbol("t", "time")
_T, _Y, _OUT = range(3)
REGISTERS = 24  # more results than these are stored one by one as they come: engines would put them aside until the end
RATES = "derivatives"


class Functions:
    """Prints the functions of a program, and keeps the list of what they import. `routines`: names of tables and
    external routines."""

    def __init__(self, program: Program, memory: Memory, routines: Mapping[object, str]) -> None:
        self.program, self.memory, self.routines = program, memory, routines
        self.fixed = places(program, memory)
        states, stage = (*program.coordinates, *program.speeds), memory.at["stage"]
        self.states = {s: (_Y, SIZE * i) for i, s in enumerate(states)}
        self.stage = {s: (NO_ADDRESS, stage + SIZE * i) for i, s in enumerate(states)}
        self.imports: list[b.Imported] = []
        self.numbers = Numbers(memory.at["numbers"])

    def imported(self, module: str, name: str, floats: int, addresses: int) -> int:
        """The number of a function from outside: one without addresses gives a float."""
        kind = b.Type((b.F64,) * floats + (b.I32,) * addresses, () if addresses else (b.F64,))
        found = b.Imported(module, name, kind)
        if found not in self.imports:
            self.imports.append(found)
        return self.imports.index(found)

    def all(self, plans: Sequence[tuple[Function, Schedule]]) -> list[b.Defined]:
        """All functions."""
        return [self._constants(), *(self._function(f, plan) for f, plan in plans)]

    def _printer(self, where: Mapping[Symbol, tuple[int, int]], known: Mapping[Symbol, int], first: int) -> WasmPrinter:
        room, table = self.memory.at["room"], self.memory.at["sines"]
        return WasmPrinter(where, known, first, self.imported, self.numbers, self.routines, room, table)

    def _constants(self) -> b.Defined:
        """What follows from the parameters alone."""
        symbols = self.program.constant_symbols
        where = {s: (NO_ADDRESS, at) for s, at in self.fixed.items() if s not in set(symbols)}
        printer = self._printer(where, {}, 0)
        for _ in printer.statements([s for s in self.program.constants.statements if isinstance(s, Assign)], symbols):
            pass
        for s in symbols:
            printer.store(self.fixed[s], s)
        return b.Defined("constants", b.Type(), printer.body())

    def _function(self, f: Function, plan: Schedule) -> b.Defined:
        """A function, arranged."""
        fixed = f.name == RATES
        takes = (b.F64,) if fixed else (b.F64, b.I32, b.I32)
        where = {**(self.stage if fixed else self.states), **{s: (NO_ADDRESS, at) for s, at in self.fixed.items()}}
        printer = self._printer(where, {TIME: _T}, len(takes))
        out, base = (self.memory.at["rates"], None) if fixed else (0, b.get(_OUT))
        of: dict[Symbol, list[int]] = {}  # results that are there with a symbol
        if len(plan.results) > REGISTERS:
            for i, r in enumerate(plan.results):
                for symbol in symbols_in((r,)):
                    of.setdefault(symbol, []).append(i)
        left = dict(enumerate(plan.results))
        for s in printer.statements(plan.steps, plan.results):
            for i in (i for target in step_targets(s) for i in of.get(target, ())):
                printer.store(out + SIZE * i, left.pop(i), base)
        for i, r in left.items():
            printer.store(out + SIZE * i, r, base)
        return b.Defined(f.name, b.Type(takes), printer.body())
