"""Programs without a compiler: the kernel and the program in WebAssembly, run by wasmtime.

In:  a `SimulationProgram`. Out: runs, as compiled programs have them, and single evaluations. What
a run reads and writes is copied to the memory of the module for every call, and back: that takes a
fraction of a millisecond, however many steps the call takes.
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
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from bellcrank.codegen.c.functions import C_NAMES
from bellcrank.codegen.c.kernel_features import kernel_features
from bellcrank.codegen.c.rigid import RigidWheel, wheel_data
from bellcrank.codegen.memory import PARTS, ROWS, WASM_PAGE_BYTES
from bellcrank.codegen.wasm.kernel_module import COMMAND as MAKE_KERNEL
from bellcrank.codegen.wasm.kernel_module import kernel_module
from bellcrank.codegen.wasm.page_memory import as_fields, model_values
from bellcrank.codegen.wasm.program_module import RATES, attached_program
from bellcrank.core.errors import BellcrankError, BuildError, InternalError
from bellcrank.core.numeric.run_spec import At, ProgramInput, RunSpec
from bellcrank.kernel.layout import layout_of
from bellcrank.kernel.text import kernel_file
from bellcrank.program.program import SimulationProgram
from bellcrank.program.routine import CallableRoutine
from bellcrank.simulation.backend.c_assembly import CAssembler
from bellcrank.simulation.backend.c_runs import (
    CRun,
    DaeCRun,
    KernelArgument,
    LoopCRun,
    RigidCRun,
    RunArrayLayout,
)
from bellcrank.simulation.backend.c_structures import Externals
from bellcrank.simulation.backend.cache import (
    get_or_make_file,
    read_cached,
    remove_key,
    usable_folder,
)
from bellcrank.simulation.backend.compiler import processor_features
from bellcrank.simulation.backend.external import call_routine
from bellcrank.simulation.backend.interrupts import PythonCallbacks
from bellcrank.simulation.backend.protocol import Functions
from bellcrank.simulation.backend.python_model import PythonCalls, PythonModel

if TYPE_CHECKING:
    import ctypes

    from numpy.typing import NDArray

    from bellcrank.simulation.backend.c_assembly import Spare
    from bellcrank.simulation.backend.event_monitor import EventMonitor

_STRUCTURES = (
    ("job.h", "Job"),
    ("input.h", "Input"),
    ("externals.h", "Externals"),
    ("model.h", "Model"),
    ("events.h", "Events"),
)
CONSTANTS = "constants"  # of the parameters, in the program in WebAssembly
_FUNCTION = re.compile(r"\(\*(\w+)\)\(")
_SPARE = 64  # bytes between what is placed
_READY = "kernel.cwasm"


def wasm_obstacle() -> str:
    """What is not there that WebAssembly needs; nothing if all is."""
    return "" if find_spec("wasmtime") is not None else "needs wasmtime (pip install wasmtime)"


class WasmModel(PythonModel):
    """A program whose runs are in WebAssembly."""

    name = "wasm"

    def __init__(
        self,
        program: SimulationProgram,
        functions: Functions,
        stiff: bool = False,
        dae: bool = False,
        rigid: Sequence[RigidWheel] = (),
    ) -> None:
        super().__init__(program, functions)
        self.instance = WasmInstance(
            program, kernel_features(program, dae, stiff, bool(rigid)), dae, rigid
        )
        plain = WasmRigidRun if rigid else WasmRun
        self.run = plain if program.loops is None else WasmDaeRun if dae else WasmLoopRun

    def notes(self) -> list[str]:
        """What runs it."""
        return [f"runs in WebAssembly by wasmtime {version('wasmtime')}"]

    def new_calls(self, functions: Functions | None = None) -> PythonCalls:
        python_calls = super().new_calls(functions)
        return WasmCalls(self, python_calls._functions)

    def compile_similar(
        self, program: SimulationProgram, functions: Functions, once: bool = False
    ) -> PythonModel:
        """Another program in WebAssembly; in Python if it is evaluated `once` in a while."""
        return PythonModel(program, functions) if once else WasmModel(program, functions)

    def with_stiff_methods(self, program: SimulationProgram, functions: Functions) -> PythonModel:
        """The program with slopes, and runs by stiff methods."""
        return WasmModel(program, functions, stiff=True)

    def with_dae_methods(self) -> PythonModel | None:
        """The program with runs by methods for differential-algebraic equations."""
        return WasmModel(self.program, self.functions, dae=True)


@dataclass(frozen=True)
class WasmProgram:
    """What all runs of a program in WebAssembly share. `python_functions`: routines that are called
    back."""

    python_functions: Sequence[CallableRoutine]
    layouts: dict[type[CRun], RunArrayLayout]
    memory_size: int = 0


class WasmCalls(PythonCalls):
    """Calls of a program whose runs are in WebAssembly."""

    supports_events = True

    def __init__(self, model: WasmModel, functions: Functions) -> None:
        super().__init__(model, functions)
        routine_index = {routine: i for i, routine in enumerate(model.program.routines)}
        self._called = [
            (functions[routine_index[r]], r.argument_count) for r in model.program.externals
        ]
        self.instance, self._run = model.instance, model.run
        self.compiled = WasmProgram(_python_functions(model.program), model.instance.layouts)

    def constants(self, p: Sequence[float]) -> list[float]:
        values = self.instance.evaluate_function(
            CONSTANTS, (0.0, (), (), p, (), ())
        )  # as many runs have them, to the bit
        return super().constants(p) if values is None else values

    def derivatives(self, *program_arguments: *At) -> tuple[list[float], list[float]]:
        rates, n = (
            self.instance.evaluate_function(RATES, program_arguments),
            len(self.program.coordinates),
        )
        return super().derivatives(*program_arguments) if rates is None else (rates[:n], rates[n:])

    def values(self, section: str, *program_arguments: *At) -> list[float]:
        results = self.instance.evaluate_function(section, program_arguments)
        return super().values(section, *program_arguments) if results is None else results

    @cached_property
    def callbacks(self) -> PythonCallbacks:
        return PythonCallbacks()

    @property
    def library(self) -> NoReturn:
        raise InternalError(f"{self.program.name} runs in WebAssembly and has no library")

    @property
    def libraries(self) -> NoReturn:
        raise InternalError(f"{self.program.name} runs in WebAssembly and has no libraries")

    def workspace_size(self) -> int:
        return self.instance.workspace_size()

    def add_run_time(self, seconds: float) -> None:
        """No faster library follows."""

    def new_externals(self, memory: NDArray[np.float64]) -> Any:
        return Externals()

    def new_run(self, spec: RunSpec) -> CRun:
        """A run that has not begun."""
        return self._run(self, spec)

    def new_assembler(
        self,
        p: Sequence[float],
        c: Sequence[float],
        inputs: Sequence[ProgramInput],
        spare: list[Spare] | None,
    ) -> CAssembler | None:
        """What closes loops at a start; None if there are none."""
        return CAssembler(self, p, c, inputs, spare) if self._run is WasmLoopRun else None


class WasmRun(CRun):
    """A run in WebAssembly."""

    calls: WasmCalls
    shares_memory = False

    def event_workspace_size(self, sizes: ctypes.Structure) -> int:
        return int(self.calls.instance.event_workspace_size(sizes))

    def call_kernel(self, name: str, *arguments: KernelArgument) -> int:
        return int(self.call_c(lambda: self.calls.instance.call_kernel(self, name, arguments)))


class WasmLoopRun(WasmRun, LoopCRun):
    """A run in WebAssembly whose loops are kept closed."""

    def close_loops(
        self, y: NDArray[np.float64], free: np.ndarray, nudges: int
    ) -> tuple[int, float, bool]:
        residual, reverse = np.zeros(1), np.zeros(1, dtype=np.int32)
        row = self.call_kernel("close_loops", y, free, nudges, residual, reverse)
        return row, float(residual[0]), bool(reverse[0])

    def compute_weights(self) -> None:
        self.call_kernel("find_metric", self.state, *self.weight_roots)

    def project_onto_branch(self) -> int:
        return self.call_kernel("find_branch")


class WasmDaeRun(WasmRun, DaeCRun):
    """A run in WebAssembly by a method for differential-algebraic equations."""


class WasmRigidRun(WasmRun, RigidCRun):
    """A run in WebAssembly with rigid wheels."""


@lru_cache(maxsize=1)
def _compiled_kernel() -> tuple[Any, Any]:
    """The engine, and the kernel made ready for it, which is kept in the cache."""
    wasmtime: Any = import_module("wasmtime")
    atexit.register(_compiled_kernel.cache_clear)  # before wasmtime itself is cleared away
    engine = wasmtime.Engine(_single_threaded(wasmtime))
    text = kernel_module("kernel")
    build_key = f"{version('wasmtime')} {platform.machine()} {sys.platform} {processor_features()}"
    key, folder = (
        f"kernel-{hashlib.sha256(text + build_key.encode()).hexdigest()[:40]}",
        usable_folder(),
    )
    if (serialized := read_cached(key, folder, _READY)) is not None:
        with suppress(wasmtime.WasmtimeError):
            return engine, wasmtime.Module.deserialize(engine, serialized)
        remove_key(key, folder)
    module = wasmtime.Module(engine, text)

    def write_serialized_kernel(work: Path) -> Path:
        (work / _READY).write_bytes(module.serialize())
        return work / _READY

    with suppress(BuildError, OSError):
        get_or_make_file(key, write_serialized_kernel, folder, _READY)
    return engine, module


def _single_threaded(wasmtime: Any) -> Any:
    """Settings of a compilation without threads: those of a process do not live on in a child that
    it forks, which would wait for them for ever."""
    config = wasmtime.Config()
    config.parallel_compilation = False
    return config


class WasmInstance:
    """The kernel and a program over one memory, which holds one run at a time: threads wait for
    each other."""

    def __init__(
        self,
        program: SimulationProgram,
        part_flags: Mapping[str, int],
        dae: bool = False,
        rigid: Sequence[RigidWheel] = (),
    ) -> None:
        wasmtime: Any = import_module("wasmtime")
        engine, kernel = _compiled_kernel()
        self._lock, self.layouts, self._given = (
            threading.RLock(),
            dict[type[CRun], RunArrayLayout](),
            (program, part_flags, dae, rigid),
        )
        self._store = wasmtime.Store(engine)
        self._kernel = wasmtime.Instance(self._store, kernel, []).exports(self._store)
        self._memory, self._table = (
            self._kernel["memory"],
            self._kernel["__indirect_function_table"],
        )
        for index, (file, name) in enumerate(_STRUCTURES):
            if (size := layout_of(file, name).size) != (
                actual_size := self._kernel["structure_size"](self._store, index)
            ):
                raise InternalError(
                    f"{name} has {actual_size} bytes in kernel.wasm and {size} where it is "
                    f"called from"
                )
        first = _align(self._kernel["__heap_base"].value(self._store))
        first_slot, equations = (
            self._table.size(self._store),
            "multipliers" if dae and program.loops else "minimal",
        )
        self._program, self._first = (
            attached_program(program, first, first_slot, equations, rigid),
            first_slot,
        )
        self._grow_memory(self._program.end + WASM_PAGE_BYTES)
        module = wasmtime.Module(engine, self._program.module)
        imported = [
            self._memory if x.module == "e" else self._kernel_export(x.name) for x in module.imports
        ]
        program_exports = wasmtime.Instance(self._store, module, imported).exports(self._store)
        self._kernel["fill_sines"](self._store, self._program.sines, ROWS, PARTS)
        self._own = (
            {}
            if _python_functions(program)
            else {name: program_exports[name] for name in self._program.names}
        )
        self._model = self._place_model(
            program,
            part_flags,
            {n: self._add_function(program_exports[n]) for n in self._program.names},
        )
        self._functions = self._kernel_functions()
        i32, f64 = wasmtime.ValType.i32(), wasmtime.ValType.f64()
        kind = wasmtime.FuncType([i32, f64, i32], [i32])
        self._input = self._add_function(wasmtime.Func(self._store, kind, self._input_value))
        kind = wasmtime.FuncType([i32] * 4, [i32])
        self._external = self._add_function(wasmtime.Func(self._store, kind, self._external_values))
        self._use_values = self._add_function(
            wasmtime.Func(self._store, wasmtime.FuncType([i32], [i32]), self._set_event_parameters)
        )
        self._hold = self._add_function(
            wasmtime.Func(self._store, wasmtime.FuncType([i32], []), self._swap_user_memory)
        )
        self._close = self._add_function(
            wasmtime.Func(self._store, wasmtime.FuncType([i32] * 3, [i32]), self._close_after_event)
        )
        kind = wasmtime.FuncType([i32, f64, i32], [i32])
        self._row_at = self._add_function(wasmtime.Func(self._store, kind, self._row_in_step))
        self._run: WasmRun | None = None
        self._places: dict[str, int] = {}  # of arrays of the run

    # ---- memory

    def _grow_memory(self, end: int) -> None:
        pages = -(-(end - self._memory.data_len(self._store)) // WASM_PAGE_BYTES)
        if pages > 0:
            self._memory.grow(self._store, pages)
        bytes_ = self._memory.data_ptr(self._store)
        self._bytes: Any = np.ctypeslib.as_array(bytes_, (self._memory.data_len(self._store),))

    def _write_array(self, address: int, array: np.ndarray) -> None:
        flat = np.ascontiguousarray(array).view(np.uint8).ravel()
        self._bytes[address : address + flat.size] = flat

    def _read_array(self, address: int, array: np.ndarray) -> None:
        flat = array.reshape(-1).view(np.uint8)
        flat[:] = self._bytes[address : address + flat.size]

    # ---- the model

    def _kernel_export(self, name: str) -> Any:
        """A function of the kernel that a model calls."""
        if name not in self._kernel:
            raise BellcrankError(f"kernel.wasm has no function {name}: run {MAKE_KERNEL}")
        return self._kernel[name]

    def _add_function(self, function: Any) -> int:
        """A function in the table; its number."""
        return int(self._table.grow(self._store, 1, function))

    def _kernel_functions(self) -> dict[str, Any]:
        """Functions of the kernel by name."""
        names = _FUNCTION.findall(kernel_file("kernel.h"))
        address = self._kernel["kernel_functions"](self._store)
        slots = struct.unpack_from(f"<{len(names)}I", self._bytes, address)
        return {
            name: self._table.get(self._store, slot)
            for name, slot in zip(names, slots, strict=True)
        }

    def _place_model(
        self,
        program: SimulationProgram,
        part_flags: Mapping[str, int],
        functions: Mapping[str, int],
    ) -> int:
        """The table of the model behind its numbers; where it is. `functions` have places in that
        of the kernel."""
        layout = layout_of("model.h", "Model")
        values, arrays = model_values(program, part_flags, functions)
        if wheels := self._given[-1]:
            wheel_values, lists = as_fields(
                {**wheel_data(wheels), "WHEEL_GROUND": self._program.grounds}
            )
            values, arrays = values | wheel_values, arrays | lists
        address = model = _align(self._program.end)
        address = _align(address + layout.size)
        for name, array in arrays.items():
            self._grow_memory(address + array.nbytes + WASM_PAGE_BYTES)
            self._write_array(address, array)
            values[name], address = address, _align(address + array.nbytes)
        layout.write(self._bytes, model, values)
        room = 8 * self._kernel["room_size"](self._store, model)
        self._room, of_functions = address, _align(address + room)
        self._end = _align(of_functions + room)
        self._grow_memory(self._end + WASM_PAGE_BYTES)
        self._kernel["use_model"](self._store, model, of_functions)
        return model

    def workspace_size(self) -> int:
        with self._lock:
            return int(self._functions["work_room"](self._store, self._model))

    def event_workspace_size(self, sizes: ctypes.Structure) -> int:
        """How many numbers events need, by their counts."""
        with self._lock:
            layout, address = layout_of("events.h", "Events"), self._end
            self._grow_memory(address + layout.size + WASM_PAGE_BYTES)
            layout.write_structure(self._bytes, address, sizes, {})
            return int(self._functions["event_room"](self._store, self._model, self._room, address))

    def evaluate_function(self, name: str, program_arguments: At) -> list[float] | None:
        """Values of a function of the model; None where Python has to find them: a routine is
        called back, or a run is under way here."""
        function, program = self._own.get(C_NAMES.get(name, name)), self._given[0]
        section = (
            program.constants
            if name == CONSTANTS
            else getattr(program.functions.get(name), "section", None)
        )
        if function is None or section is None or self._run is not None:
            return None
        t, *groups = program_arguments
        sizes = [*map(len, groups)]
        n_q, n_u = sizes[:2]
        count = (
            n_q + n_u
            if name == RATES
            else len(section.statements if name == CONSTANTS else section.results)
        )
        with self._lock:
            first = _align(self._end + layout_of("externals.h", "Externals").size)
            addresses = [first + 8 * n for n in accumulate(sizes, initial=0)]
            self._grow_memory(addresses[-1] + 8 * count + WASM_PAGE_BYTES)
            layout_of("externals.h", "Externals").write(self._bytes, self._end, {})
            struct.pack_into(f"<{sum(sizes)}d", self._bytes, first, *(x for g in groups for x in g))
            result_addresses = addresses[-1], *((addresses[-1] + 8 * n_q,) if name == RATES else ())
            function(self._store, t, *addresses[:-1], *result_addresses, self._end)
            return [*struct.unpack_from(f"<{count}d", self._bytes, addresses[-1])]

    # ---- runs

    def call_kernel(self, run: WasmRun, name: str, arguments: Sequence[KernelArgument]) -> int:
        """Calls a function of the kernel for a run; other arguments are numbers, arrays or None."""
        with self._lock:
            if self._run is not None:  # a routine of a run in Python runs the model, too
                return self._nested_instance.call_kernel(run, name, arguments)
            self._run = run
            try:
                return self._call_locked(run, name, arguments)
            finally:
                self._run = None

    @cached_property
    def _nested_instance(self) -> WasmInstance:
        """One for calls within a call."""
        return WasmInstance(*self._given)

    def _call_locked(self, run: WasmRun, name: str, arguments: Sequence[KernelArgument]) -> int:
        address = self._copy_in(run)
        c_arguments: list[float] = []
        arrays: list[tuple[int, np.ndarray]] = []
        for x in arguments:
            if isinstance(x, np.ndarray):
                c_arguments.append(address)
                arrays.append((address, x))
                address = _align(address + x.nbytes)
            else:
                c_arguments.append(0 if x is None else x)
        self._grow_memory(address + WASM_PAGE_BYTES)
        for address, array in arrays:
            self._write_array(address, array)
        status = int(
            self._functions[name](self._store, self._model, self._room, self._end, *c_arguments)
            or 0
        )
        self._copy_out(run)
        for address, array in arrays:
            self._read_array(address, array)
        return status

    @property
    def _current_run(self) -> WasmRun:
        """The run that is under way here, of a function that the kernel calls."""
        assert self._run is not None
        return self._run

    @property
    def _monitor(self) -> EventMonitor:
        """That of the run that is under way."""
        monitor = self._current_run.event_monitor
        assert monitor is not None
        return monitor

    def _copy_in(self, run: WasmRun) -> int:
        """Brings a run into memory, its job first; where memory is free behind it."""
        job, layout = run.job, layout_of("job.h", "Job")
        arrays = {**run.arrays, "rows": run.rows, **run.extra_arrays}
        address = _align(self._end + layout.size)
        addresses: dict[str, int] = {}
        for each, array in arrays.items():
            addresses[each], address = address, _align(address + array.nbytes + 8)
        externals, address = address, _align(address + layout_of("externals.h", "Externals").size)
        signals, address = (
            address,
            _align(address + layout_of("input.h", "Input").size * len(run.signals)),
        )
        points: dict[int, tuple[int, int]] = {}
        for i, x in enumerate(run.inputs):
            if x.points is not None and x.pieces is not None:
                points[i], address = (
                    (address, address + x.points.nbytes),
                    _align(address + x.points.nbytes + x.pieces.nbytes),
                )
        monitor = run.event_monitor
        if monitor is not None:
            addresses["events"], address = (
                address,
                _align(address + layout_of("events.h", "Events").size),
            )
            for each, array in monitor.arrays.items():
                addresses[f"events {each}"], address = address, _align(address + array.nbytes + 8)
        self._grow_memory(address + WASM_PAGE_BYTES)
        for each, array in arrays.items():
            if each != "rows":
                self._write_array(addresses[each], array)
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

    def _copy_out(self, run: WasmRun) -> None:
        """Takes from memory what a run has changed."""
        addresses, job, monitor = self._places, run.job, run.event_monitor
        layout_of("job.h", "Job").read_structure(self._bytes, self._end, job)
        for each, array in {**run.arrays, "rows": run.rows, **run.extra_arrays}.items():
            self._read_array(
                addresses[each], array[: job.filled] if each == "rows" and array.ndim > 1 else array
            )
        if monitor is not None:
            layout_of("events.h", "Events").read_structure(
                self._bytes, addresses["events"], monitor.fields
            )
            for each, array in monitor.arrays.items():
                self._read_array(addresses[f"events {each}"], array)

    # ---- many runs

    def new_instance(self) -> WasmInstance:
        """The same program with a memory of its own."""
        return WasmInstance(*self._given)

    def run_many(
        self,
        run: WasmRun,
        numbers: Mapping[str, int],
        input_arrays: Mapping[str, np.ndarray],
        output_arrays: Mapping[str, np.ndarray],
        inputs: tuple[np.ndarray, Mapping[int, np.ndarray]],
        fresh: Mapping[str, np.ndarray],
    ) -> None:
        """Do many runs in the kernel, by way of one that is ready.

        `numbers`, `input_arrays` and `output_arrays` are fields of a batch. `inputs`: the signals
        of all runs, and their arrays by address. `fresh`: values of the arrays of a run when it
        begins.
        """
        with self._lock:
            batch, array_of, signal = (
                layout_of(*x)
                for x in (("batch.h", "Batch"), ("batch.h", "Array"), ("input.h", "Input"))
            )
            field_addresses = {"stop": self._copy_in(run)}
            address = field_addresses["stop"] + _SPARE
            signals, curves = inputs
            array_addresses: dict[str | int | tuple[str, str], int] = {}
            arrays: dict[str | int | tuple[str, str], np.ndarray] = {
                ("fresh", name): x for name, x in fresh.items()
            }
            arrays.update(input_arrays)
            arrays.update(curves.items())
            arrays.update(output_arrays)
            for key, x in arrays.items():
                array_addresses[key], address = address, _align(address + x.nbytes + 8)
            field_addresses |= {
                key: start for key, start in array_addresses.items() if isinstance(key, str)
            }
            field_addresses["arrays"], address = (
                address,
                _align(address + array_of.size * len(fresh)),
            )
            field_addresses["inputs"], address = (
                address,
                _align(address + signal.size * signals.size),
            )
            batch_address, address = address, _align(address + batch.size)
            self._grow_memory(address + WASM_PAGE_BYTES)
            struct.pack_into("<i", self._bytes, field_addresses["stop"], 0)
            for key, x in arrays.items():
                self._write_array(array_addresses[key], x)
            for i, (name, x) in enumerate(fresh.items()):
                values = {
                    "to": self._places[name],
                    "from": array_addresses["fresh", name],
                    "n": x.size,
                }
                array_of.write(self._bytes, field_addresses["arrays"] + i * array_of.size, values)
            for i, s in enumerate(signals.ravel()):
                fields = {
                    name: s[name].tolist()
                    for name in signals.dtype.names or ()
                    if name not in ("x", "pieces")
                }
                fields |= {
                    name: array_addresses.get(int(s[name] or 0), 0) for name in ("x", "pieces")
                }
                signal.write(self._bytes, field_addresses["inputs"] + i * signal.size, fields)
            constants = self._first + self._program.names.index(CONSTANTS)
            batch.write(
                self._bytes, batch_address, {**numbers, **field_addresses, "n_arrays": len(fresh)}
            )
            tallies = address
            self._grow_memory(
                tallies + self._kernel["tally_room"](self._store, batch_address) + WASM_PAGE_BYTES
            )
            self._kernel["run_many"](
                self._store, self._room, constants, batch_address, self._end, tallies
            )
            for key, x in output_arrays.items():
                self._read_array(array_addresses[key], x)

    def _write_events(
        self, monitor: EventMonitor, address: int, addresses: Mapping[str, int]
    ) -> None:
        """The events of a run."""
        for each, array in monitor.arrays.items():
            self._write_array(addresses[f"events {each}"], array)
        pointers = {each: addresses[f"events {each}"] for each in monitor.arrays} | {
            "use_values": self._use_values
        }
        if monitor.row_at is not None:
            pointers["row_at"] = self._row_at
        if monitor.data.project_state is not None:
            pointers["close"] = self._close
        if monitor.data.swap_user_memory is not None:
            pointers["hold"] = self._hold
        layout_of("events.h", "Events").write_structure(
            self._bytes, address, monitor.fields, pointers
        )

    def _set_event_parameters(self, job: int) -> int:
        """Parameters that an event sets."""
        run, monitor, addresses = self._current_run, self._monitor, self._places
        events = layout_of("job.h", "Job").fields["events"][0] + job
        address = struct.unpack_from("<I", self._bytes, events)[0]
        layout_of("events.h", "Events").read_structure(self._bytes, address, monitor.fields)
        values = np.zeros(len(monitor.arrays["values"]))
        self._read_array(addresses["events values"], values)
        failed = int(monitor.apply_parameters(values[:-1].tolist()))
        for name in ("p", "c"):
            self._write_array(addresses[name], run.arrays[name])
        return failed

    def _close_after_event(self, job: int, event: int, address: int) -> int:
        """Loops after an event."""
        run = self._current_run
        y = np.zeros(len(run.state))
        layout_of("job.h", "Job").read_structure(self._bytes, job, run.job)
        self._read_array(address, y)
        state = self._monitor.project_state(event, y)
        if state is not None:
            self._write_array(address, np.asarray(state, float))
        return int(state is None)

    def _row_in_step(self, _: int, t: float, address: int) -> int:
        row = self._monitor.row_in_step(t)
        if row is not None:
            self._write_array(address, np.asarray(row, float))
        return int(row is None)

    def _swap_user_memory(self, action: int) -> None:
        swap_user_memory = self._monitor.data.swap_user_memory
        assert swap_user_memory is not None
        swap_user_memory(action)

    def _write_signals(
        self, run: WasmRun, address: int, points: Mapping[int, tuple[int, int]]
    ) -> None:
        layout = layout_of("input.h", "Input")
        for i, signal in enumerate(run.signals):
            x, segments_address = points.get(i, (0, 0))
            source = run.inputs[i] if x else None
            if source is not None and source.points is not None and source.pieces is not None:
                self._write_array(x, source.points)
                self._write_array(segments_address, source.pieces)
            layout.write_structure(
                self._bytes, address + i * layout.size, signal, {"x": x, "pieces": segments_address}
            )

    def _input_value(self, number: int, t: float, address: int) -> int:
        """An input that is a function of Python."""
        buffer = [0.0]
        failed = int(self._current_run._input_callback(number, t, buffer))
        struct.pack_into("<d", self._bytes, address, buffer[0])
        return failed

    def _external_values(self, number: int, live: int, arguments: int, values: int) -> int:
        """A user function in Python."""
        program_calls = self._current_run.calls
        function, count = program_calls._called[number]
        c_arguments = list(struct.unpack_from(f"<{count}d", self._bytes, arguments))
        results: dict[int, float] = {}
        failed = int(
            program_calls.callbacks.run_guarded(
                call_routine, function, count, live, c_arguments, results
            )
        )
        for i, x in results.items():
            struct.pack_into("<d", self._bytes, values + 8 * i, x)
        return failed


def _python_functions(program: SimulationProgram) -> list[CallableRoutine]:
    """Routines that are functions of Python."""
    return [r for r in program.externals if r.formulas is None and r.kernel is None]


def _align(address: int) -> int:
    """The next address for anything."""
    return -(-address // _SPARE) * _SPARE
