"""Programs without a compiler: the kernel and the program in WebAssembly, run by wasmtime.

In:  a `Program`. Out: runs, as compiled programs have them, and single evaluations. What a run reads
and writes is copied to the memory of the module for every call, and back: that takes a fraction of a millisecond,
however many steps the call takes.
"""

from __future__ import annotations

import atexit
import hashlib
import platform
import re
import struct
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from importlib import import_module
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from bellcrank.backend.c_assembly import CAssembler
from bellcrank.backend.c_job import Externals
from bellcrank.backend.c_runs import CRun, DaeCRun, LoopCRun, RigidCRun
from bellcrank.backend.cache import discard, kept, read_kept, usable_folder
from bellcrank.backend.compiler import processor
from bellcrank.backend.external import call_routine
from bellcrank.backend.interrupts import CallsBack
from bellcrank.backend.protocol import Functions
from bellcrank.backend.python import PythonCalls, PythonModel
from bellcrank.emit.c.functions import C_NAMES
from bellcrank.emit.c.rigid import RigidWheel, wheel_data
from bellcrank.emit.c.run import parts_of
from bellcrank.emit.memory import PAGE, PARTS, ROWS
from bellcrank.emit.wasm.attached import RATES, attached_program
from bellcrank.emit.wasm.placed import as_fields, model_values
from bellcrank.errors import BuildError, InternalError
from bellcrank.kernel.layout import layout_of
from bellcrank.kernel.text import kernel_file
from bellcrank.numeric.run_spec import At, Input, RunSpec
from bellcrank.program.program import Program
from bellcrank.program.routine import Routine

_STRUCTURES = (
    ("job.h", "Job"), ("input.h", "Input"), ("externals.h", "Externals"), ("model.h", "Model"), ("events.h", "Events"),
)  # fmt: skip
CONSTANTS = "constants"  # of the parameters, in the program in WebAssembly
_FUNCTION = re.compile(r"\(\*(\w+)\)\(")
_SPARE = 64  # bytes between what is placed
_READY = "kernel.cwasm"


def missing() -> str:
    """What is not there that WebAssembly needs; nothing if all is."""
    return "" if find_spec("wasmtime") is not None else "needs wasmtime (pip install 'bellcrank[wasm]')"


class WasmModel(PythonModel):
    """A program whose runs are in WebAssembly."""

    name = "wasm"

    def __init__(
        self,
        program: Program,
        functions: Functions,
        stiff: bool = False,
        dae: bool = False,
        rigid: Sequence[RigidWheel] = (),
    ) -> None:
        super().__init__(program, functions)
        self.instance = Instance(program, parts_of(program, dae, stiff, bool(rigid)), dae, rigid)
        plain = WasmRigidRun if rigid else WasmRun
        self.run = plain if program.loops is None else WasmDaeRun if dae else WasmLoopRun

    def notes(self) -> list[str]:
        """What runs it."""
        return [f"runs in WebAssembly by wasmtime {version('wasmtime')}"]

    def calls(self, functions: Functions | None = None) -> PythonCalls:
        python_calls = super().calls(functions)
        return WasmCalls(self, python_calls._functions)

    def like(self, program: Program, functions: Functions, once: bool = False) -> PythonModel:
        """Another program in WebAssembly; in Python if it is evaluated `once` in a while."""
        return PythonModel(program, functions) if once else WasmModel(program, functions)

    def for_stiff(self, program: Program, functions: Functions) -> PythonModel:
        """The program with slopes, and runs by stiff methods."""
        return WasmModel(program, functions, stiff=True)

    def for_dae(self) -> PythonModel | None:
        """The program with runs by methods for differential-algebraic equations."""
        return WasmModel(self.program, self.functions, dae=True)


class WasmCalls(PythonCalls):
    """Calls of a program whose runs are in WebAssembly."""

    watches = True

    def __init__(self, model: WasmModel, functions: Functions) -> None:
        super().__init__(model, functions)
        routine_index = {routine: i for i, routine in enumerate(model.program.routines)}
        self._called = [(functions[routine_index[r]], r.argument_count) for r in model.program.externals]
        self.instance, self._run = model.instance, model.run
        self.compiled = SimpleNamespace(
            called_back=_called_back(model.program), memory_size=0, layouts=model.instance.layouts
        )

    def constants(self, p: Sequence[float]) -> list[float]:
        values = self.instance.evaluated(CONSTANTS, (0.0, (), (), p, (), ()))  # as many runs have them, to the bit
        return super().constants(p) if values is None else values

    def derivatives(self, *program_arguments: *At) -> tuple[list[float], list[float]]:
        rates, n = self.instance.evaluated(RATES, program_arguments), len(self.program.coordinates)
        return super().derivatives(*program_arguments) if rates is None else (rates[:n], rates[n:])

    def values(self, section: str, *program_arguments: *At) -> list[float]:
        results = self.instance.evaluated(section, program_arguments)
        return super().values(section, *program_arguments) if results is None else results

    @cached_property
    def back(self) -> CallsBack:
        return CallsBack()

    def work_room(self) -> int:
        return self.instance.work_room()

    def took(self, seconds: float) -> None:
        """No faster library follows."""

    def externals(self, memory: np.ndarray) -> Any:
        return Externals()

    def start(self, spec: RunSpec) -> Any:
        """A run that has not begun."""
        program_calls: Any = self
        return self._run(program_calls, spec)

    def assembler(
        self, p: Sequence[float], c: Sequence[float], inputs: Sequence[Input], spare: list[Any] | None
    ) -> Any:
        """What closes loops at a start; None if there are none."""
        program_calls: Any = self
        return CAssembler(program_calls, p, c, inputs, spare) if self._run is WasmLoopRun else None


class WasmRun(CRun):
    """A run in WebAssembly."""

    calls: Any
    in_process = False

    def event_room(self, sizes: Any) -> int:
        return int(self.calls.instance.event_room(sizes))

    def call(self, name: str, *arguments: Any) -> int:
        return int(self.in_c(lambda: self.calls.instance.call(self, name, arguments)))


class WasmLoopRun(WasmRun, LoopCRun):
    """A run in WebAssembly whose loops are kept closed."""

    def close_loops(self, y: np.ndarray, free: np.ndarray, nudges: int) -> tuple[int, float, bool]:
        residual, reverse = np.zeros(1), np.zeros(1, dtype=np.int32)
        row = self.call("close_loops", y, free, nudges, residual, reverse)
        return row, float(residual[0]), bool(reverse[0])

    def find_metric(self) -> None:
        self.call("find_metric", self.state, *self.roots)

    def find_branch(self) -> int:
        return self.call("find_branch")


class WasmDaeRun(WasmRun, DaeCRun):
    """A run in WebAssembly by a method for differential-algebraic equations."""


class WasmRigidRun(WasmRun, RigidCRun):
    """A run in WebAssembly with rigid wheels."""


@lru_cache(maxsize=1)
def _kernel() -> tuple[Any, Any]:
    """The engine, and the kernel made ready for it, which is kept in the cache."""
    wasmtime: Any = import_module("wasmtime")
    atexit.register(_kernel.cache_clear)  # before wasmtime itself is cleared away
    engine, text = wasmtime.Engine(), files("bellcrank.kernel").joinpath("kernel.wasm").read_bytes()
    build_key = f"{version('wasmtime')} {platform.machine()} {sys.platform} {processor()}"
    key, folder = f"kernel-{hashlib.sha256(text + build_key.encode()).hexdigest()[:40]}", usable_folder()
    if (serialized := read_kept(key, folder, _READY)) is not None:
        with suppress(wasmtime.WasmtimeError):
            return engine, wasmtime.Module.deserialize(engine, serialized)
        discard(key, folder)
    module = wasmtime.Module(engine, text)

    def make(work: Path) -> Path:
        (work / _READY).write_bytes(module.serialize())
        return work / _READY

    with suppress(BuildError, OSError):
        kept(key, make, folder, _READY)
    return engine, module


class Instance:
    """The kernel and a program over one memory, which holds one run at a time: threads wait for each other."""

    def __init__(
        self, program: Program, part_flags: Mapping[str, int], dae: bool = False, rigid: Sequence[RigidWheel] = ()
    ) -> None:
        wasmtime: Any = import_module("wasmtime")
        engine, kernel = _kernel()
        self._lock, self.layouts, self._given = threading.RLock(), dict[type, Any](), (program, part_flags, dae, rigid)
        self._store = wasmtime.Store(engine)
        self._kernel = wasmtime.Instance(self._store, kernel, []).exports(self._store)
        self._memory, self._table = self._kernel["memory"], self._kernel["__indirect_function_table"]
        for index, (file, name) in enumerate(_STRUCTURES):
            if (size := layout_of(file, name).size) != (
                actual_size := self._kernel["structure_size"](self._store, index)
            ):
                raise InternalError(f"{name} has {actual_size} bytes in kernel.wasm and {size} where it is called from")
        first = _up(self._kernel["__heap_base"].value(self._store))
        first_slot, equations = self._table.size(self._store), "multipliers" if dae and program.loops else "minimal"
        self._program, self._first = attached_program(program, first, first_slot, equations, rigid), first_slot
        self._grow(self._program.end + PAGE)
        module = wasmtime.Module(engine, self._program.module)
        imported = [self._memory if x.module == "e" else self._kernel[x.name] for x in module.imports]
        program_exports = wasmtime.Instance(self._store, module, imported).exports(self._store)
        self._kernel["fill_sines"](self._store, self._program.sines, ROWS, PARTS)
        self._own = {} if _called_back(program) else {name: program_exports[name] for name in self._program.names}
        self._model = self._place_model(
            program, part_flags, {n: self._put(program_exports[n]) for n in self._program.names}
        )
        self._functions = self._listed()
        i32, f64 = wasmtime.ValType.i32(), wasmtime.ValType.f64()
        kind = wasmtime.FuncType([i32, f64, i32], [i32])
        self._input = self._put(wasmtime.Func(self._store, kind, self._input_value))
        kind = wasmtime.FuncType([i32] * 4, [i32])
        self._external = self._put(wasmtime.Func(self._store, kind, self._external_values))
        self._use_values = self._put(wasmtime.Func(self._store, wasmtime.FuncType([i32], [i32]), self._values_set))
        self._hold = self._put(wasmtime.Func(self._store, wasmtime.FuncType([i32], []), self._held))
        self._close = self._put(wasmtime.Func(self._store, wasmtime.FuncType([i32] * 3, [i32]), self._closed))
        kind = wasmtime.FuncType([i32, f64, i32], [i32])
        self._row_at = self._put(wasmtime.Func(self._store, kind, self._row_within))
        self._run: Any = None
        self._places: dict[str, int] = {}  # of arrays of the run

    # ---- memory

    def _grow(self, end: int) -> None:
        pages = -(-(end - self._memory.data_len(self._store)) // PAGE)
        if pages > 0:
            self._memory.grow(self._store, pages)
        bytes_ = self._memory.data_ptr(self._store)
        self._bytes: Any = np.ctypeslib.as_array(bytes_, (self._memory.data_len(self._store),))

    def _write(self, address: int, array: np.ndarray) -> None:
        flat = np.ascontiguousarray(array).view(np.uint8).ravel()
        self._bytes[address : address + flat.size] = flat

    def _read(self, address: int, array: np.ndarray) -> None:
        flat = array.reshape(-1).view(np.uint8)
        flat[:] = self._bytes[address : address + flat.size]

    # ---- the model

    def _put(self, function: Any) -> int:
        """A function in the table; its number."""
        return int(self._table.grow(self._store, 1, function))

    def _listed(self) -> dict[str, Any]:
        """Functions of the kernel by name."""
        names = _FUNCTION.findall(kernel_file("kernel.h"))
        address = self._kernel["kernel_functions"](self._store)
        slots = struct.unpack_from(f"<{len(names)}I", self._bytes, address)
        return {name: self._table.get(self._store, slot) for name, slot in zip(names, slots, strict=True)}

    def _place_model(self, program: Program, part_flags: Mapping[str, int], functions: Mapping[str, int]) -> int:
        """The table of the model behind its numbers; where it is. `functions` have places in that of the kernel."""
        layout = layout_of("model.h", "Model")
        values, arrays = model_values(program, part_flags, functions)
        if wheels := self._given[-1]:
            wheel_values, lists = as_fields({**wheel_data(wheels), "WHEEL_GROUND": self._program.grounds})
            values, arrays = values | wheel_values, arrays | lists
        address = model = _up(self._program.end)
        address = _up(address + layout.size)
        for name, array in arrays.items():
            self._grow(address + array.nbytes + PAGE)
            self._write(address, array)
            values[name], address = address, _up(address + array.nbytes)
        layout.write(self._bytes, model, values)
        room = 8 * self._kernel["room_size"](self._store, model)
        self._room, of_functions = address, _up(address + room)
        self._end = _up(of_functions + room)
        self._grow(self._end + PAGE)
        self._kernel["use_model"](self._store, model, of_functions)
        return model

    def work_room(self) -> int:
        with self._lock:
            return int(self._functions["work_room"](self._store, self._model))

    def event_room(self, sizes: Any) -> int:
        """How many numbers events need, by their counts."""
        with self._lock:
            layout, address = layout_of("events.h", "Events"), self._end
            self._grow(address + layout.size + PAGE)
            layout.write_structure(self._bytes, address, sizes, {})
            return int(self._functions["event_room"](self._store, self._model, self._room, address))

    def evaluated(self, name: str, program_arguments: At) -> list[float] | None:
        """Values of a function of the model; None where Python has to find them: a routine is called back, or a run is
        under way here."""
        function, program = self._own.get(C_NAMES.get(name, name)), self._given[0]
        section = program.constants if name == CONSTANTS else getattr(program.functions.get(name), "section", None)
        if function is None or section is None or self._run is not None:
            return None
        t, *groups = program_arguments
        sizes = [*map(len, groups)]
        n_q, n_u = sizes[:2]
        count = n_q + n_u if name == RATES else len(section.statements if name == CONSTANTS else section.results)
        with self._lock:
            first = _up(self._end + layout_of("externals.h", "Externals").size)
            addresses = [first + 8 * n for n in accumulate(sizes, initial=0)]
            self._grow(addresses[-1] + 8 * count + PAGE)
            layout_of("externals.h", "Externals").write(self._bytes, self._end, {})
            struct.pack_into(f"<{sum(sizes)}d", self._bytes, first, *(x for g in groups for x in g))
            result_addresses = addresses[-1], *((addresses[-1] + 8 * n_q,) if name == RATES else ())
            function(self._store, t, *addresses[:-1], *result_addresses, self._end)
            return [*struct.unpack_from(f"<{count}d", self._bytes, addresses[-1])]

    # ---- runs

    def call(self, run: Any, name: str, arguments: Sequence[Any]) -> int:
        """Calls a function of the kernel for a run; other arguments are numbers, arrays or None."""
        with self._lock:
            if self._run is not None:  # a routine of a run in Python runs the model, too
                return self._another.call(run, name, arguments)
            self._run = run
            try:
                return self._called(run, name, arguments)
            finally:
                self._run = None

    @cached_property
    def _another(self) -> Instance:
        """One for calls within a call."""
        return Instance(*self._given)

    def _called(self, run: Any, name: str, arguments: Sequence[Any]) -> int:
        address, c_arguments = self._placed(run), list[Any]()
        for x in arguments:
            c_arguments.append(address if isinstance(x, np.ndarray) else 0 if x is None else x)
            address = _up(address + x.nbytes) if isinstance(x, np.ndarray) else address
        self._grow(address + PAGE)
        for x, c_argument in zip(arguments, c_arguments, strict=True):
            if isinstance(x, np.ndarray):
                self._write(c_argument, x)
        status = int(self._functions[name](self._store, self._model, self._room, self._end, *c_arguments) or 0)
        self._taken(run)
        for x, c_argument in zip(arguments, c_arguments, strict=True):
            if isinstance(x, np.ndarray):
                self._read(c_argument, x)
        return status

    def _placed(self, run: Any) -> int:
        """Brings a run into memory, its job first; where memory is free behind it."""
        job, layout = run.fields, layout_of("job.h", "Job")
        arrays = {**run.arrays, "rows": run.rows, **run.more_arrays}
        address = _up(self._end + layout.size)
        addresses: dict[str, int] = {}
        for each, array in arrays.items():
            addresses[each], address = address, _up(address + array.nbytes + 8)
        externals, address = address, _up(address + layout_of("externals.h", "Externals").size)
        signals, address = address, _up(address + layout_of("input.h", "Input").size * len(run.signals))
        points: dict[int, tuple[int, int]] = {}
        for i, x in enumerate(run.inputs):
            if x.points is not None and x.pieces is not None:
                points[i], address = (
                    (address, address + x.points.nbytes),
                    _up(address + x.points.nbytes + x.pieces.nbytes),
                )
        monitor = run.watching
        if monitor is not None:
            addresses["events"], address = address, _up(address + layout_of("events.h", "Events").size)
            for each, array in monitor.arrays.items():
                addresses[f"events {each}"], address = address, _up(address + array.nbytes + 8)
        self._grow(address + PAGE)
        for each, array in arrays.items():
            if each != "rows":
                self._write(addresses[each], array)
        layout_of("externals.h", "Externals").write(
            self._bytes, externals, {"memory": addresses["memory"], "callback": self._external}
        )
        self._write_signals(run, signals, points)
        pointers = {
            **addresses,
            "externals": externals,
            "inputs": signals,
            "function": self._input,
            "from": addresses["y"],
        }
        if monitor is not None:
            self._write_events(monitor, addresses["events"], addresses)
        layout.write_structure(self._bytes, self._end, job, pointers)
        self._places = addresses
        return address

    def _taken(self, run: Any) -> None:
        """Takes from memory what a run has changed."""
        addresses, job, monitor = self._places, run.fields, run.watching
        layout_of("job.h", "Job").read_structure(self._bytes, self._end, job)
        for each, array in {**run.arrays, "rows": run.rows, **run.more_arrays}.items():
            self._read(addresses[each], array[: job.filled] if each == "rows" and array.ndim > 1 else array)
        if monitor is not None:
            layout_of("events.h", "Events").read_structure(self._bytes, addresses["events"], monitor.fields)
            for each, array in monitor.arrays.items():
                self._read(addresses[f"events {each}"], array)

    # ---- many runs

    def another(self) -> Instance:
        """The same program with a memory of its own."""
        return Instance(*self._given)

    def run_many(
        self,
        run: Any,
        numbers: Mapping[str, int],
        input_arrays: Mapping[str, np.ndarray],
        output_arrays: Mapping[str, np.ndarray],
        inputs: tuple[np.ndarray, Mapping[int, np.ndarray]],
        fresh: Mapping[str, np.ndarray],
    ) -> None:
        """Do many runs in the kernel, by way of one that is ready.

        `numbers`, `input_arrays` and `output_arrays` are fields of a batch. `inputs`: the signals of all runs, and
        their arrays by address. `fresh`: values of the arrays of a run when it begins.
        """
        with self._lock:
            batch, array_of, signal = (
                layout_of(*x) for x in (("batch.h", "Batch"), ("batch.h", "Array"), ("input.h", "Input"))
            )
            field_addresses = {"stop": self._placed(run)}
            address = field_addresses["stop"] + _SPARE
            signals, curves = inputs
            array_addresses: dict[Any, int] = {}
            arrays: dict[Any, np.ndarray] = {("fresh", name): x for name, x in fresh.items()}
            arrays.update(input_arrays)
            arrays.update(curves)
            arrays.update(output_arrays)
            for key, x in arrays.items():
                array_addresses[key], address = address, _up(address + x.nbytes + 8)
            field_addresses |= {key: start for key, start in array_addresses.items() if isinstance(key, str)}
            field_addresses["arrays"], address = address, _up(address + array_of.size * len(fresh))
            field_addresses["inputs"], address = address, _up(address + signal.size * signals.size)
            batch_address, address = address, _up(address + batch.size)
            self._grow(address + PAGE)
            struct.pack_into("<i", self._bytes, field_addresses["stop"], 0)
            for key, x in arrays.items():
                self._write(array_addresses[key], x)
            for i, (name, x) in enumerate(fresh.items()):
                values = {"to": self._places[name], "from": array_addresses["fresh", name], "n": x.size}
                array_of.write(self._bytes, field_addresses["arrays"] + i * array_of.size, values)
            for i, s in enumerate(signals.ravel()):
                fields = {name: s[name].tolist() for name in signals.dtype.names or () if name not in ("x", "pieces")}
                fields |= {name: array_addresses.get(int(s[name] or 0), 0) for name in ("x", "pieces")}
                signal.write(self._bytes, field_addresses["inputs"] + i * signal.size, fields)
            constants = self._first + self._program.names.index(CONSTANTS)
            batch.write(self._bytes, batch_address, {**numbers, **field_addresses, "n_arrays": len(fresh)})
            tallies = address
            self._grow(tallies + self._kernel["tally_room"](self._store, batch_address) + PAGE)
            self._kernel["run_many"](self._store, self._room, constants, batch_address, self._end, tallies)
            for key, x in output_arrays.items():
                self._read(array_addresses[key], x)

    def _write_events(self, monitor: Any, address: int, addresses: Mapping[str, int]) -> None:
        """The events of a run."""
        for each, array in monitor.arrays.items():
            self._write(addresses[f"events {each}"], array)
        pointers = {each: addresses[f"events {each}"] for each in monitor.arrays} | {"use_values": self._use_values}
        if monitor.row_at is not None:
            pointers["row_at"] = self._row_at
        if monitor.data.close is not None:
            pointers["close"] = self._close
        if monitor.data.hold is not None:
            pointers["hold"] = self._hold
        layout_of("events.h", "Events").write_structure(self._bytes, address, monitor.fields, pointers)

    def _values_set(self, job: int) -> int:
        """Parameters that an event sets."""
        run, addresses = self._run, self._places
        events = layout_of("job.h", "Job").fields["events"][0] + job
        address = struct.unpack_from("<I", self._bytes, events)[0]
        layout_of("events.h", "Events").read_structure(self._bytes, address, run.watching.fields)
        values = np.zeros(len(run.watching.arrays["values"]))
        self._read(addresses["events values"], values)
        failed = int(run.watching.use_values(values[:-1].tolist()))
        for name in ("p", "c"):
            self._write(addresses[name], run.arrays[name])
        return failed

    def _closed(self, job: int, event: int, address: int) -> int:
        """Loops after an event."""
        run, y = self._run, np.zeros(len(self._run.state))
        layout_of("job.h", "Job").read_structure(self._bytes, job, run.fields)
        self._read(address, y)
        state = run.watching.close(event, y)
        if state is not None:
            self._write(address, np.asarray(state, float))
        return int(state is None)

    def _row_within(self, _: int, t: float, address: int) -> int:
        row = self._run.watching.row_within(t)
        if row is not None:
            self._write(address, np.asarray(row, float))
        return int(row is None)

    def _held(self, action: int) -> None:
        self._run.watching.data.hold(action)

    def _write_signals(self, run: Any, address: int, points: Mapping[int, tuple[int, int]]) -> None:
        layout = layout_of("input.h", "Input")
        for i, signal in enumerate(run.signals):
            x, segments_address = points.get(i, (0, 0))
            if x:
                self._write(x, run.inputs[i].points)
                self._write(segments_address, run.inputs[i].pieces)
            layout.write_structure(self._bytes, address + i * layout.size, signal, {"x": x, "pieces": segments_address})

    def _input_value(self, number: int, t: float, address: int) -> int:
        """An input that is a function of Python."""
        buffer = [0.0]
        failed = int(self._run._input(number, t, buffer))
        struct.pack_into("<d", self._bytes, address, buffer[0])
        return failed

    def _external_values(self, number: int, live: int, arguments: int, values: int) -> int:
        """A user function in Python."""
        program_calls = self._run.calls
        count = program_calls._called[number][1]
        c_arguments = list(struct.unpack_from(f"<{count}d", self._bytes, arguments))
        results: dict[int, float] = {}
        failed = int(
            program_calls.back.guarded(call_routine, *program_calls._called[number], live, c_arguments, results)
        )
        for i, x in results.items():
            struct.pack_into("<d", self._bytes, values + 8 * i, x)
        return failed


def _called_back(program: Program) -> list[Routine]:
    """Routines that are functions of Python."""
    return [r for r in program.externals if r.formulas is None and r.kernel is None]


def _up(address: int) -> int:
    """The next address for anything."""
    return -(-address // _SPARE) * _SPARE
