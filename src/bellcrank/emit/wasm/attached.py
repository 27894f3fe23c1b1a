"""A program as a module of WebAssembly that is attached to the kernel: its functions are those that C has.

`derivatives(t, q, u, p, c, w, qd, ud, x)`, and `name(t, q, u, p, c, w, out, x)` for the others, over the memory of the
kernel (`e`), from an address on. Mathematical functions, tables and linear systems are those of the
kernel (`k`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bellcrank.emit.arranged import arranged
from bellcrank.emit.c.functions import C_NAMES
from bellcrank.emit.memory import ROWS, SIZE, room_of
from bellcrank.emit.pieces import table_pieces
from bellcrank.emit.schedule import BEST, Schedule
from bellcrank.emit.steps import Step
from bellcrank.emit.wasm import binary as b
from bellcrank.emit.wasm.functions import RATES, TIME
from bellcrank.emit.wasm.numbers import Numbers
from bellcrank.emit.wasm.printer import WasmPrinter
from bellcrank.expr import Symbol
from bellcrank.expr.table import Table
from bellcrank.program.functions import Function
from bellcrank.program.program import Program
from bellcrank.program.statements import Call

OPTIONS = replace(BEST, side_by_side=False)
_T, _Q, _U, _P, _C, _W, _OUT, _UD = range(8)


@dataclass(frozen=True)
class Attached:
    """`module`: bytes; `names` of its functions, as C has them; `sines`: where the kernel is to fill
    the table of sines; `end`: where its memory ends."""

    module: bytes
    names: tuple[str, ...]
    sines: int
    end: int


def attached_program(program: Program, first: int, equations: str = "minimal") -> Attached:
    """The functions of runs by some `equations`; what they keep in memory begins at the address `first`."""
    functions = [*program.functions_of(equations)]
    sines = first
    room = sines + SIZE * 2 * ROWS
    numbers = Numbers(room + SIZE * room_of(functions))
    printed = _Printed(program, numbers, room, sines)
    defined = [printed.function(f, plan) for f, plan in arranged(program, functions, OPTIONS)]
    end = numbers.at + SIZE * len(numbers.values)
    made = b.module(printed.imports, defined, 1, numbers.at, numbers.values)
    return Attached(made, tuple(d.name for d in defined), sines, end)


class _Printed:
    def __init__(self, program: Program, numbers: Numbers, room: int, sines: int) -> None:
        self.program, self.numbers, self.room, self.sines = program, numbers, room, sines
        self.imports: list[b.Imported] = []
        groups = (program.coordinates, program.speeds, program.parameters, program.constant_symbols, program.inputs)
        self.where = {s: (local, SIZE * i) for local, g in enumerate(groups, _Q) for i, s in enumerate(g)}
        self._arrays: dict[Any, tuple[bytes, ...]] = {}

    def imported(self, _: str, name: str, floats: int, addresses: int, gives: bool | None = None) -> int:
        """The number of a function of the kernel; one without addresses gives a float."""
        gives = not addresses if gives is None else gives
        kind = b.Type((b.F64,) * floats + (b.I32,) * addresses, (b.F64,) if gives else ())
        found = b.Imported("k", name, kind)
        if found not in self.imports:
            self.imports.append(found)
        return self.imports.index(found)

    def _printer(self, where: dict[Symbol, tuple[int, int]], known: dict[Symbol, int], first: int) -> WasmPrinter:
        return _Printer(self, where, known, first)

    def table(self, t: Table, arguments: Sequence[bytes]) -> bytes:
        """A table at its arguments."""
        key = (t.axes, t.values, t.order)
        if key not in self._arrays:
            lengths = [b.i32(len(axis)) for axis in t.axes]
            places = [b.i32(self.numbers.many(axis)) for axis in t.axes]
            axes = [x for pair in zip(lengths, places, strict=True) for x in pair]
            self._arrays[key] = (*axes, b.i32(self.numbers.many(table_pieces(t))))
        given = [*self._arrays[key], *(b.i32(d) for d in t.derivative)]
        name = ("spline", "surface")[len(t.axes) - 1]
        called = b.call(self.imported("k", name, len(t.axes), len(given), True))
        return b"".join((*arguments, *given)) + called

    def function(self, f: Function, plan: Schedule) -> b.Defined:
        """A function, arranged."""
        takes = (b.F64, *(b.I32,) * (8 if f.name == RATES else 7))
        printer = self._printer(self.where, {TIME: _T}, len(takes))
        for _ in printer.statements(plan.steps, plan.results):
            pass
        n_q = len(self.program.coordinates) if f.name == RATES else len(plan.results)
        for i, r in enumerate(plan.results):
            at, local = (i, _OUT) if i < n_q else (i - n_q, _UD)
            printer.store(SIZE * at, r, b.get(local))
        return b.Defined(C_NAMES.get(f.name, f.name), b.Type(takes), printer.body())


class _Printer(WasmPrinter):
    """Instructions whose tables are functions of the kernel, as are calls of external routines. The last argument of
    the function, before its locals, are these routines."""

    def __init__(
        self, of: _Printed, where: Mapping[Symbol, tuple[int, int]], known: Mapping[Symbol, int], first: int
    ) -> None:
        super().__init__(where, known, first, of.imported, of.numbers, {}, of.room, of.sines)
        self._of, self._externals = of, first - 1

    def _routine(self, function: Any, args: list[bytes]) -> bytes:
        return self._of.table(function, args)

    def _statement(self, s: Step) -> None:
        if not isinstance(s, Call):
            super()._statement(s)
            return
        values = self.room + SIZE * len(s.arguments)
        for i, x in enumerate(s.arguments):
            self.store(self.room + SIZE * i, x)
        number = self._of.program.externals.index(s.routine)
        given = (b.i32(n) for n in (number, self.room, values, len(s.targets)))
        self.code += b.get(self._externals) + b"".join(given) + b.call(self._of.imported("k", "external", 0, 5))
        self._fetch(values, s.targets)
