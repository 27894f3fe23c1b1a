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
        found = super().calls(functions)
        return WasmCalls(self, found._functions)

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
        place = {routine: i for i, routine in enumerate(model.program.routines)}
        self._called = [(functions[place[r]], r.argument_count) for r in model.program.externals]
        self.instance, self._run = model.instance, model.run
        self.compiled = SimpleNamespace(
            called_back=_called_back(model.program), memory_size=0, layouts=model.instance.layouts
        )

    def constants(self, p: Sequence[float]) -> list[float]:
        found = self.instance.evaluated(CONSTANTS, (0.0, (), (), p, (), ()))  # as many runs have them, to the bit
        return super().constants(p) if found is None else found

    def derivatives(self, *at: *At) -> tuple[list[float], list[float]]:
        found, n = self.instance.evaluated(RATES, at), len(self.program.coordinates)
        return super().derivatives(*at) if found is None else (found[:n], found[n:])

    def values(self, section: str, *at: *At) -> list[float]:
        found = self.instance.evaluated(section, at)
        return super().values(section, *at) if found is None else found

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
        calls: Any = self
        return self._run(calls, spec)

    def assembler(
        self, p: Sequence[float], c: Sequence[float], inputs: Sequence[Input], spare: list[Any] | None
    ) -> Any:
        """What closes loops at a start; None if there are none."""
        calls: Any = self
        return CAssembler(calls, p, c, inputs, spare) if self._run is WasmLoopRun else None


class WasmRun(CRun):
    """A run in WebAssembly."""

    calls: Any
    in_process = False

    def event_room(self, sizes: Any) -> int:
        return int(self.calls.instance.event_room(sizes))

    def call(self, name: str, *given: Any) -> int:
        return int(self.in_c(lambda: self.calls.instance.call(self, name, given)))


class WasmLoopRun(WasmRun, LoopCRun):
    """A run in WebAssembly whose loops are kept closed."""

    def close_loops(self, y: np.ndarray, may: np.ndarray, nudges: int) -> tuple[int, float, bool]:
        residual, reverse = np.zeros(1), np.zeros(1, dtype=np.int32)
        row = self.call("close_loops", y, may, nudges, residual, reverse)
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
    made_for = f"{version('wasmtime')} {platform.machine()} {sys.platform} {processor()}"
    key, folder = f"kernel-{hashlib.sha256(text + made_for.encode()).hexdigest()[:40]}", usable_folder()
    if (ready := read_kept(key, folder, _READY)) is not None:
        with suppress(wasmtime.WasmtimeError):
            return engine, wasmtime.Module.deserialize(engine, ready)
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
        self, program: Program, parts: Mapping[str, int], dae: bool = False, rigid: Sequence[RigidWheel] = ()
    ) -> None:
        wasmtime: Any = import_module("wasmtime")
        engine, kernel = _kernel()
        self._lock, self.layouts, self._given = threading.RLock(), dict[type, Any](), (program, parts, dae, rigid)
        self._store = wasmtime.Store(engine)
        self._kernel = wasmtime.Instance(self._store, kernel, []).exports(self._store)
        self._memory, self._table = self._kernel["memory"], self._kernel["__indirect_function_table"]
        for which, (file, name) in enumerate(_STRUCTURES):
            if (size := layout_of(file, name).size) != (found := self._kernel["structure_size"](self._store, which)):
                raise InternalError(f"{name} has {found} bytes in kernel.wasm and {size} where it is called from")
        first = _up(self._kernel["__heap_base"].value(self._store))
        places, equations = self._table.size(self._store), "multipliers" if dae and program.loops else "minimal"
        self._program, self._first = attached_program(program, first, places, equations, rigid), places
        self._grow(self._program.end + PAGE)
        module = wasmtime.Module(engine, self._program.module)
        given = [self._memory if x.module == "e" else self._kernel[x.name] for x in module.imports]
        made = wasmtime.Instance(self._store, module, given).exports(self._store)
        self._kernel["fill_sines"](self._store, self._program.sines, ROWS, PARTS)
        self._own = {} if _called_back(program) else {name: made[name] for name in self._program.names}
        self._model = self._place_model(program, parts, {n: self._put(made[n]) for n in self._program.names})
        self._functions = self._listed()
        whole, number = wasmtime.ValType.i32(), wasmtime.ValType.f64()
        kind = wasmtime.FuncType([whole, number, whole], [whole])
        self._input = self._put(wasmtime.Func(self._store, kind, self._input_value))
        kind = wasmtime.FuncType([whole] * 4, [whole])
        self._external = self._put(wasmtime.Func(self._store, kind, self._external_values))
        self._use_values = self._put(wasmtime.Func(self._store, wasmtime.FuncType([whole], [whole]), self._values_set))
        self._hold = self._put(wasmtime.Func(self._store, wasmtime.FuncType([whole], []), self._held))
        self._close = self._put(wasmtime.Func(self._store, wasmtime.FuncType([whole] * 3, [whole]), self._closed))
        kind = wasmtime.FuncType([whole, number, whole], [whole])
        self._row_at = self._put(wasmtime.Func(self._store, kind, self._row_within))
        self._run: Any = None
        self._places: dict[str, int] = {}  # of arrays of the run

    # ---- memory

    def _grow(self, end: int) -> None:
        more = -(-(end - self._memory.data_len(self._store)) // PAGE)
        if more > 0:
            self._memory.grow(self._store, more)
        bytes_ = self._memory.data_ptr(self._store)
        self._bytes: Any = np.ctypeslib.as_array(bytes_, (self._memory.data_len(self._store),))

    def _write(self, at: int, array: np.ndarray) -> None:
        flat = np.ascontiguousarray(array).view(np.uint8).ravel()
        self._bytes[at : at + flat.size] = flat

    def _read(self, at: int, array: np.ndarray) -> None:
        flat = array.reshape(-1).view(np.uint8)
        flat[:] = self._bytes[at : at + flat.size]

    # ---- the model

    def _put(self, function: Any) -> int:
        """A function in the table; its number."""
        return int(self._table.grow(self._store, 1, function))

    def _listed(self) -> dict[str, Any]:
        """Functions of the kernel by name."""
        names = _FUNCTION.findall(kernel_file("kernel.h"))
        at = self._kernel["kernel_functions"](self._store)
        places = struct.unpack_from(f"<{len(names)}I", self._bytes, at)
        return {name: self._table.get(self._store, place) for name, place in zip(names, places, strict=True)}

    def _place_model(self, program: Program, parts: Mapping[str, int], functions: Mapping[str, int]) -> int:
        """The table of the model behind its numbers; where it is. `functions` have places in that of the kernel."""
        layout = layout_of("model.h", "Model")
        values, arrays = model_values(program, parts, functions)
        if wheels := self._given[-1]:
            more, lists = as_fields({**wheel_data(wheels), "WHEEL_GROUND": self._program.grounds})
            values, arrays = values | more, arrays | lists
        at = model = _up(self._program.end)
        at = _up(at + layout.size)
        for name, array in arrays.items():
            self._grow(at + array.nbytes + PAGE)
            self._write(at, array)
            values[name], at = at, _up(at + array.nbytes)
        layout.write(self._bytes, model, values)
        room = 8 * self._kernel["room_size"](self._store, model)
        self._room, of_functions = at, _up(at + room)
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
            layout, at = layout_of("events.h", "Events"), self._end
            self._grow(at + layout.size + PAGE)
            layout.write_structure(self._bytes, at, sizes, {})
            return int(self._functions["event_room"](self._store, self._model, self._room, at))

    def evaluated(self, name: str, at: At) -> list[float] | None:
        """Values of a function of the model; None where Python has to find them: a routine is called back, or a run is
        under way here."""
        function, program = self._own.get(C_NAMES.get(name, name)), self._given[0]
        known = program.constants if name == CONSTANTS else getattr(program.functions.get(name), "section", None)
        if function is None or known is None or self._run is not None:
            return None
        t, *groups = at
        sizes = [*map(len, groups)]
        n_q, n_u = sizes[:2]
        count = n_q + n_u if name == RATES else len(known.statements if name == CONSTANTS else known.results)
        with self._lock:
            first = _up(self._end + layout_of("externals.h", "Externals").size)
            places = [first + 8 * n for n in accumulate(sizes, initial=0)]
            self._grow(places[-1] + 8 * count + PAGE)
            layout_of("externals.h", "Externals").write(self._bytes, self._end, {})
            struct.pack_into(f"<{sum(sizes)}d", self._bytes, first, *(x for g in groups for x in g))
            out = places[-1], *((places[-1] + 8 * n_q,) if name == RATES else ())
            function(self._store, t, *places[:-1], *out, self._end)
            return [*struct.unpack_from(f"<{count}d", self._bytes, places[-1])]

    # ---- runs

    def call(self, run: Any, name: str, given: Sequence[Any]) -> int:
        """Calls a function of the kernel for a run; other arguments are numbers, arrays or None."""
        with self._lock:
            if self._run is not None:  # a routine of a run in Python runs the model, too
                return self._another.call(run, name, given)
            self._run = run
            try:
                return self._called(run, name, given)
            finally:
                self._run = None

    @cached_property
    def _another(self) -> Instance:
        """One for calls within a call."""
        return Instance(*self._given)

    def _called(self, run: Any, name: str, given: Sequence[Any]) -> int:
        at, further = self._placed(run), list[Any]()
        for x in given:
            further.append(at if isinstance(x, np.ndarray) else 0 if x is None else x)
            at = _up(at + x.nbytes) if isinstance(x, np.ndarray) else at
        self._grow(at + PAGE)
        for x, place in zip(given, further, strict=True):
            if isinstance(x, np.ndarray):
                self._write(place, x)
        status = int(self._functions[name](self._store, self._model, self._room, self._end, *further) or 0)
        self._taken(run)
        for x, place in zip(given, further, strict=True):
            if isinstance(x, np.ndarray):
                self._read(place, x)
        return status

    def _placed(self, run: Any) -> int:
        """Brings a run into memory, its job first; where memory is free behind it."""
        job, layout = run.fields, layout_of("job.h", "Job")
        arrays = {**run.arrays, "rows": run.rows, **run.more_arrays}
        at = _up(self._end + layout.size)
        places: dict[str, int] = {}
        for each, array in arrays.items():
            places[each], at = at, _up(at + array.nbytes + 8)
        externals, at = at, _up(at + layout_of("externals.h", "Externals").size)
        signals, at = at, _up(at + layout_of("input.h", "Input").size * len(run.signals))
        points: dict[int, tuple[int, int]] = {}
        for i, x in enumerate(run.inputs):
            if x.points is not None and x.pieces is not None:
                points[i], at = (at, at + x.points.nbytes), _up(at + x.points.nbytes + x.pieces.nbytes)
        watching = run.watching
        if watching is not None:
            places["events"], at = at, _up(at + layout_of("events.h", "Events").size)
            for each, array in watching.arrays.items():
                places[f"events {each}"], at = at, _up(at + array.nbytes + 8)
        self._grow(at + PAGE)
        for each, array in arrays.items():
            if each != "rows":
                self._write(places[each], array)
        layout_of("externals.h", "Externals").write(
            self._bytes, externals, {"memory": places["memory"], "callback": self._external}
        )
        self._write_signals(run, signals, points)
        pointers = {**places, "externals": externals, "inputs": signals, "function": self._input, "from": places["y"]}
        if watching is not None:
            self._write_events(watching, places["events"], places)
        layout.write_structure(self._bytes, self._end, job, pointers)
        self._places = places
        return at

    def _taken(self, run: Any) -> None:
        """Takes from memory what a run has changed."""
        places, job, watching = self._places, run.fields, run.watching
        layout_of("job.h", "Job").read_structure(self._bytes, self._end, job)
        for each, array in {**run.arrays, "rows": run.rows, **run.more_arrays}.items():
            self._read(places[each], array[: job.filled] if each == "rows" and array.ndim > 1 else array)
        if watching is not None:
            layout_of("events.h", "Events").read_structure(self._bytes, places["events"], watching.fields)
            for each, array in watching.arrays.items():
                self._read(places[f"events {each}"], array)

    # ---- many runs

    def another(self) -> Instance:
        """The same program with a memory of its own."""
        return Instance(*self._given)

    def run_many(
        self,
        run: Any,
        numbers: Mapping[str, int],
        given: Mapping[str, np.ndarray],
        found: Mapping[str, np.ndarray],
        inputs: tuple[np.ndarray, Mapping[int, np.ndarray]],
        fresh: Mapping[str, np.ndarray],
    ) -> None:
        """Many runs as the kernel does them, by way of one that is ready. `numbers` and arrays that are `given` or
        `found`: fields of a batch; `inputs` of all runs, with arrays by the addresses that stand there; `fresh`: what
        arrays of a run hold when one begins."""
        with self._lock:
            batch, array_of, signal = (
                layout_of(*x) for x in (("batch.h", "Batch"), ("batch.h", "Array"), ("input.h", "Input"))
            )
            places = {"stop": self._placed(run)}
            at = places["stop"] + _SPARE
            signals, curves = inputs
            where: dict[Any, int] = {}
            written: dict[Any, np.ndarray] = {("fresh", name): x for name, x in fresh.items()}
            written.update(given)
            written.update(curves)
            written.update(found)
            for key, x in written.items():
                where[key], at = at, _up(at + x.nbytes + 8)
            places |= {key: place for key, place in where.items() if isinstance(key, str)}
            places["arrays"], at = at, _up(at + array_of.size * len(fresh))
            places["inputs"], at = at, _up(at + signal.size * signals.size)
            own, at = at, _up(at + batch.size)
            self._grow(at + PAGE)
            struct.pack_into("<i", self._bytes, places["stop"], 0)
            for key, x in written.items():
                self._write(where[key], x)
            for i, (name, x) in enumerate(fresh.items()):
                values = {"to": self._places[name], "from": where["fresh", name], "n": x.size}
                array_of.write(self._bytes, places["arrays"] + i * array_of.size, values)
            for i, s in enumerate(signals.ravel()):
                fields = {name: s[name].tolist() for name in signals.dtype.names or () if name not in ("x", "pieces")}
                fields |= {name: where.get(int(s[name] or 0), 0) for name in ("x", "pieces")}
                signal.write(self._bytes, places["inputs"] + i * signal.size, fields)
            constants = self._first + self._program.names.index(CONSTANTS)
            batch.write(self._bytes, own, {**numbers, **places, "n_arrays": len(fresh)})
            tallies = at
            self._grow(tallies + self._kernel["tally_room"](self._store, own) + PAGE)
            self._kernel["run_many"](self._store, self._room, constants, own, self._end, tallies)
            for key, x in found.items():
                self._read(where[key], x)

    def _write_events(self, watching: Any, at: int, places: Mapping[str, int]) -> None:
        """The events of a run."""
        for each, array in watching.arrays.items():
            self._write(places[f"events {each}"], array)
        pointers = {each: places[f"events {each}"] for each in watching.arrays} | {"use_values": self._use_values}
        if watching.row_at is not None:
            pointers["row_at"] = self._row_at
        if watching.data.close is not None:
            pointers["close"] = self._close
        if watching.data.hold is not None:
            pointers["hold"] = self._hold
        layout_of("events.h", "Events").write_structure(self._bytes, at, watching.fields, pointers)

    def _values_set(self, job: int) -> int:
        """Parameters that an event sets."""
        run, places = self._run, self._places
        events = layout_of("job.h", "Job").fields["events"][0] + job
        at = struct.unpack_from("<I", self._bytes, events)[0]
        layout_of("events.h", "Events").read_structure(self._bytes, at, run.watching.fields)
        values = np.zeros(len(run.watching.arrays["values"]))
        self._read(places["events values"], values)
        failed = int(run.watching.use_values(values[:-1].tolist()))
        for name in ("p", "c"):
            self._write(places[name], run.arrays[name])
        return failed

    def _closed(self, job: int, event: int, at: int) -> int:
        """Loops after an event."""
        run, y = self._run, np.zeros(len(self._run.state))
        layout_of("job.h", "Job").read_structure(self._bytes, job, run.fields)
        self._read(at, y)
        found = run.watching.close(event, y)
        if found is not None:
            self._write(at, np.asarray(found, float))
        return int(found is None)

    def _row_within(self, _: int, t: float, at: int) -> int:
        found = self._run.watching.row_within(t)
        if found is not None:
            self._write(at, np.asarray(found, float))
        return int(found is None)

    def _held(self, what: int) -> None:
        self._run.watching.data.hold(what)

    def _write_signals(self, run: Any, at: int, points: Mapping[int, tuple[int, int]]) -> None:
        layout = layout_of("input.h", "Input")
        for i, signal in enumerate(run.signals):
            x, pieces = points.get(i, (0, 0))
            if x:
                self._write(x, run.inputs[i].points)
                self._write(pieces, run.inputs[i].pieces)
            layout.write_structure(self._bytes, at + i * layout.size, signal, {"x": x, "pieces": pieces})

    def _input_value(self, number: int, t: float, at: int) -> int:
        """An input that is a function of Python."""
        found = [0.0]
        failed = int(self._run._input(number, t, found))
        struct.pack_into("<d", self._bytes, at, found[0])
        return failed

    def _external_values(self, number: int, live: int, arguments: int, values: int) -> int:
        """A user function in Python."""
        calls = self._run.calls
        count = calls._called[number][1]
        given = list(struct.unpack_from(f"<{count}d", self._bytes, arguments))
        found: dict[int, float] = {}
        failed = int(calls.back.guarded(call_routine, *calls._called[number], live, given, found))
        for i, x in found.items():
            struct.pack_into("<d", self._bytes, values + 8 * i, x)
        return failed


def _called_back(program: Program) -> list[Routine]:
    """Routines that are functions of Python."""
    return [r for r in program.externals if r.formulas is None and r.kernel is None]


def _up(at: int) -> int:
    """The next address for anything."""
    return -(-at // _SPARE) * _SPARE
