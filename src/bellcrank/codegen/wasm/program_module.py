"""A program as a module of WebAssembly that is attached to the kernel: its functions are those that
C has.

`derivatives(t, q, u, p, c, w, qd, ud, x)`, and `name(t, q, u, p, c, w, out, x)` for the others,
over the memory of the kernel (`e`), from an address on. Mathematical functions, tables, linkages
and linear systems are those of the kernel (`k`), which calls the formulas of linkages by their
numbers in its table of functions.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from bellcrank.codegen.c.functions import C_NAMES
from bellcrank.codegen.c.rigid import RigidWheel, wheels_at
from bellcrank.codegen.kernel_function import Formulas, KernelFunction, kernel_function_digest
from bellcrank.codegen.linkages import kernel_function
from bellcrank.codegen.memory import FLOAT64_BYTES, ROWS, scratch_size
from bellcrank.codegen.schedule import DEFAULT_OPTIONS, StepSchedule, schedule_section
from bellcrank.codegen.schedule_steps import Step
from bellcrank.codegen.scheduled_functions import schedule_functions
from bellcrank.codegen.table_coefficients import table_coefficients
from bellcrank.codegen.wasm import encode_module as b
from bellcrank.codegen.wasm.number_pool import NumberPool
from bellcrank.codegen.wasm.printer import WasmPrinter
from bellcrank.kernel.layout import layout_of
from bellcrank.program.inertias import inertia_functions
from bellcrank.program.program import SimulationProgram
from bellcrank.program.program_functions import ProgramFunction
from bellcrank.program.scheduler import StatementScheduler
from bellcrank.program.statements import AssignStatement, CallStatement, Section
from bellcrank.symbolic.expr import Symbol
from bellcrank.symbolic.expr.table import Table

OPTIONS = replace(
    DEFAULT_OPTIONS, side_by_side=False
)  # functions that are known late are called one by one
_schedule = lru_cache(maxsize=64)(
    schedule_section
)  # a page and its trial have the same functions at other addresses
EXPORTS = {  # functions of the kernel by their names outside of it
    "look_up": "lookup",
    "implicit_values": "implicit",
    "ground_near_at": "ground_near",
    "ground_turn_at": "ground_turn",
    "grid_near_at": "grid_near",
    "grid_turn_at": "grid_turn",
}
TIME = Symbol("t", "time")
RATES = "derivatives"
_T, _Q, _U, _P, _C, _W, _OUT, _UD = range(8)

Mirrored = tuple[
    int, int, int, list[int]
]  # to, from, how many numbers, and signs of each row of them
LONG = 200  # numbers of a list that is worth it


@dataclass(frozen=True)
class ProgramModule:
    """`module`: bytes; `names` of its functions, as C has them: all that it exports, in the order
    in which they must stand in the table of the kernel; `sines`: where the kernel is to fill the
    table of sines; `grounds`: where those of rigid wheels are; `end`: where its memory ends;
    `imports`: what it calls; `routines`: where those are, by what the kernel knows of each;
    `mirrored`: lists that are to be copied before it is used (of programs with `behind`)."""

    module: bytes
    names: tuple[str, ...]
    sines: int
    grounds: tuple[int, ...]
    end: int
    imports: tuple[str, ...]
    routines: Mapping[str, int]
    mirrored: tuple[Mirrored, ...]


def attached_program(
    program: SimulationProgram,
    first: int,
    table: int,
    equations: str = "minimal",
    wheels: Sequence[RigidWheel] = (),
    trailer: Callable[[int, Sequence[str], Sequence[int]], bytes] | None = None,
) -> ProgramModule:
    """The functions of runs by some `equations`, with rigid `wheels`; what they keep in memory
    begins at the address
    `first`, their places in the table of the kernel at `table`. `trailer` gives what stands behind
    it, at the address that it is given, with the names of all functions and the grounds of all
    wheels."""
    functions = [*program.functions_of(equations)]
    if equations == "minimal":
        functions += [ProgramFunction.extra(*item) for item in inertia_functions(program).items()]
    functions += [ProgramFunction.extra("wheels_at", wheels_at(program, wheels))] if wheels else []
    sines = first
    scratch = sines + FLOAT64_BYTES * 2 * ROWS
    kernel_functions = {r: kernel_function(program, r) for r in program.externals}
    solved = {r: function for r, function in kernel_functions.items() if function is not None}
    widest = max((f.arguments + f.pivots + f.room + f.values for f in solved.values()), default=0)
    numbers = NumberPool(scratch + FLOAT64_BYTES * (scratch_size(functions) + widest))
    module_printer = _ModulePrinter(program, numbers, scratch, sines, table)
    module_printer.mirrors = trailer is not None
    for routine, solution in solved.items():
        module_printer.placed[routine] = module_printer.place_kernel_function(solution), solution
    grounds = {kernel_function_digest(w.ground): w.ground for w in wheels}
    ground_addresses = {
        key: module_printer.place_kernel_function(ground) for key, ground in grounds.items()
    }
    for f, plan in schedule_functions(program, functions, OPTIONS, _schedule):
        module_printer.function(f, plan)
    module_printer.constants()
    end, names = (
        numbers.at + FLOAT64_BYTES * len(numbers.values),
        tuple(d.name for d in module_printer.defined),
    )
    wheel_grounds = tuple(ground_addresses[kernel_function_digest(w.ground)] for w in wheels)
    data = struct.pack(f"<{len(numbers.values)}d", *numbers.values) + (
        trailer(end, names, wheel_grounds) if trailer else b""
    )
    module_bytes = b.module(module_printer.imports, module_printer.defined, 1, numbers.at, data)
    imports, routines = (
        (x.name for x in module_printer.imports),
        {kernel_function_digest(f): address for address, f in module_printer.placed.values()},
    )
    return ProgramModule(
        module_bytes,
        names,
        sines,
        wheel_grounds,
        end,
        tuple(imports),
        routines,
        tuple(module_printer.mirrored),
    )


class _ModulePrinter:
    def __init__(
        self, program: SimulationProgram, numbers: NumberPool, room: int, sines: int, table: int
    ) -> None:
        self.program, self.numbers, self.room, self.sines, self._table = (
            program,
            numbers,
            room,
            sines,
            table,
        )
        self.imports: list[b.ImportedFunction] = []
        self.defined: list[b.DefinedFunction] = []
        self.placed: dict[
            Any, tuple[int, KernelFunction]
        ] = {}  # where routines lie that the kernel evaluates
        groups = (
            program.coordinates,
            program.speeds,
            program.parameters,
            program.constant_symbols,
            program.inputs,
        )
        self.where = {
            s: (local, FLOAT64_BYTES * i)
            for local, g in enumerate(groups, _Q)
            for i, s in enumerate(g)
        }
        self._arrays: dict[Any, Any] = {}
        self.mirrors, self.mirrored, self._long = False, list[Mirrored](), dict[int, np.ndarray]()

    def import_index(
        self, _: str, name: str, floats: int, addresses: int, returns_float: bool | None = None
    ) -> int:
        """The number of a function of the kernel; one without addresses gives a float."""
        returns_float = not addresses if returns_float is None else returns_float
        kind = b.FunctionType(
            (b.F64,) * floats + (b.I32,) * addresses, (b.F64,) if returns_float else ()
        )
        entry = b.ImportedFunction("k", name, kind)
        if entry not in self.imports:
            self.imports.append(entry)
        return self.imports.index(entry)

    def _printer(
        self,
        addresses: dict[Symbol, tuple[int, int]],
        local_of_symbol: dict[Symbol, int],
        first: int,
    ) -> WasmPrinter:
        return _ProgramPrinter(self, addresses, local_of_symbol, first)

    def table_call(self, t: Table, arguments: Sequence[bytes]) -> bytes:
        """A table at its arguments."""
        key = (t.axes, t.values, t.order)
        if key not in self._arrays:
            lengths = [b.i32_const(len(axis)) for axis in t.axes]
            axis_addresses = [b.i32_const(self.numbers.place_values(axis)) for axis in t.axes]
            axes = [x for pair in zip(lengths, axis_addresses, strict=True) for x in pair]
            self._arrays[key] = (
                *axes,
                b.i32_const(self.numbers.place_values(table_coefficients(t))),
            )
        constants = [*self._arrays[key], *(b.i32_const(d) for d in t.derivative)]
        name = ("spline", "surface")[len(t.axes) - 1]
        table_call = b.call_function(
            self.import_index("k", name, len(t.axes), len(constants), True)
        )
        return b"".join((*arguments, *constants)) + table_call

    def place_kernel_function(self, f: KernelFunction) -> int:
        """Brings a function that the kernel evaluates into memory; its address."""
        layout = layout_of(f.structure_file, f.kind)
        values: dict[str, float | Sequence[float]] = {**f.numbers}
        values |= {
            name: self._place_numbers(_as_float64(numbers)) for name, numbers in f.lists.items()
        }
        name = f"linkage_{len(self.placed)}"
        values |= {
            field: self._formula_function(f"{name}_{field}", field_formulas)
            for field, field_formulas in f.formulas.items()
        }
        image = np.zeros(layout.size, np.uint8)
        layout.write(image, 0, values)
        return self.numbers.place_values(_as_float64(image))

    def _place_numbers(self, numbers: Sequence[float]) -> int:
        """The address of numbers, which routines over the same ground share."""
        key = struct.pack(f"<{len(numbers)}d", *numbers)
        if key not in self._arrays:
            mirror = (
                self._find_mirrored_list(np.array(numbers))
                if self.mirrors and len(numbers) > LONG
                else None
            )
            self._arrays[key] = address = self.numbers.place_values(
                numbers if mirror is None else [0.0] * len(numbers)
            )
            if mirror is None:
                self._long[address] = np.array(numbers)
            else:
                self.mirrored.append((address, mirror[0], len(numbers), mirror[1]))
        return int(self._arrays[key])

    def _find_mirrored_list(self, numbers: np.ndarray) -> tuple[int, list[int]] | None:
        """A list before with the same numbers but for signs that repeat, as of a suspension on the
        other side: where it is, and the signs."""
        for address, candidate in self._long.items():
            if len(candidate) != len(numbers) or not np.array_equal(
                np.abs(candidate), np.abs(numbers)
            ):
                continue
            for width in range(1, 100):
                if len(numbers) % width == 0:
                    is_negated = ((candidate * numbers).reshape(-1, width) < 0).any(axis=0)
                    signs = np.where(is_negated, -1, 1)
                    if np.array_equal(
                        numbers.reshape(-1, width), candidate.reshape(-1, width) * signs
                    ):
                        return address, signs.tolist()
        return None

    def _formula_function(self, name: str, formulas: Formulas) -> int:
        """A function of formulas over lists; its number in the table."""
        groups, values = formulas
        addresses = {
            s: (local, FLOAT64_BYTES * i)
            for local, group in enumerate(groups)
            for i, s in enumerate(group)
        }
        scheduler = StatementScheduler([*values.values()])
        results = tuple(scheduler.lower(x) for x in values.values())
        plan = _schedule(
            Section((*scheduler.constants, *scheduler.statements), results), OPTIONS, ()
        )
        out_local = len(groups)
        printer = self._printer(addresses, {}, out_local + 1)
        for _ in printer.statements(plan.steps, plan.results):
            pass
        for i, x in zip(values, plan.results, strict=True):
            printer.store(FLOAT64_BYTES * i, x, b.local_get(out_local))
        self.defined.append(
            b.DefinedFunction(name, b.FunctionType((b.I32,) * (out_local + 1)), printer.body())
        )
        return self._table + len(self.defined) - 1

    def function(self, f: ProgramFunction, plan: StepSchedule) -> None:
        """A function, arranged."""
        parameter_types = (b.F64, *(b.I32,) * (8 if f.name == RATES else 7))
        printer = self._printer(self.where, {TIME: _T}, len(parameter_types))
        for _ in printer.statements(plan.steps, plan.results):
            pass
        n_q = len(self.program.coordinates) if f.name == RATES else len(plan.results)
        for i, r in enumerate(plan.results):
            index, local = (i, _OUT) if i < n_q else (i - n_q, _UD)
            printer.store(FLOAT64_BYTES * index, r, b.local_get(local))
        self.defined.append(
            b.DefinedFunction(
                C_NAMES.get(f.name, f.name), b.FunctionType(parameter_types), printer.body()
            )
        )

    def constants(self) -> None:
        """What follows from the parameters alone."""
        symbols = self.program.constant_symbols
        parameter_types = (b.F64, *(b.I32,) * 7)
        addresses = {s: address for s, address in self.where.items() if s not in set(symbols)}
        printer = self._printer(addresses, {}, len(parameter_types))
        for _ in printer.statements(
            [s for s in self.program.constants.statements if isinstance(s, AssignStatement)],
            symbols,
        ):
            pass
        for i, s in enumerate(symbols):
            printer.store(FLOAT64_BYTES * i, s, b.local_get(_OUT))
        self.defined.append(
            b.DefinedFunction("constants", b.FunctionType(parameter_types), printer.body())
        )


def _as_float64(numbers: np.ndarray[Any, Any]) -> list[float]:
    """A list as numbers with the same bits: two of its own in one, if these are shorter."""
    short = numbers.astype(numbers.dtype.newbyteorder("<")).tobytes()
    values: list[float] = np.frombuffer(short + bytes(-len(short) % FLOAT64_BYTES), "<f8").tolist()
    return values


class _ProgramPrinter(WasmPrinter):
    """Instructions whose tables are functions of the kernel, as are calls of user functions. The
    last argument of the function, before its locals, are these routines."""

    def __init__(
        self,
        module_printer: _ModulePrinter,
        addresses: Mapping[Symbol, tuple[int, int]],
        local_of_symbol: Mapping[Symbol, int],
        first: int,
    ) -> None:
        super().__init__(
            addresses,
            local_of_symbol,
            first,
            module_printer.import_index,
            module_printer.numbers,
            {},
            module_printer.room,
            module_printer.sines,
        )
        self._of, self._externals = module_printer, first - 1

    def _routine(self, function: Any, args: list[bytes]) -> bytes:
        return self._of.table_call(function, args)

    def _print_statement(self, s: Step) -> None:
        if not isinstance(s, CallStatement):
            super()._print_statement(s)
            return
        scratch = self.room + FLOAT64_BYTES * len(s.arguments)
        for i, x in enumerate(s.arguments):
            self.store(self.room + FLOAT64_BYTES * i, x)
        if s.routine in self._of.placed:
            address, f = self._of.placed[s.routine]
            values = scratch + FLOAT64_BYTES * (f.pivots + f.room)
            operands = [
                b.i32_const(n)
                for n in (address, self.room, *((scratch,) if f.room else ()), values)
            ]
            name = EXPORTS[f.called]
        else:
            values, number = scratch, self._of.program.externals.index(s.routine)
            operands = [
                b.local_get(self._externals),
                *map(b.i32_const, (number, self.room, values, len(s.targets))),
            ]
            name = "external"
        self.code += b"".join(operands) + b.call_function(
            self._of.import_index("k", name, 0, len(operands))
        )
        self._load_targets(values, s.targets)
