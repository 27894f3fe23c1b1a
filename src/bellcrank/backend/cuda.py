"""Many runs on a GPU by way of CuPy: the program compiled at run time, one thread per run."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from bellcrank.backend.c_lanes import set_steps
from bellcrank.backend.c_many import PENDING, Beginnings, Results, Wanted, batch_of
from bellcrank.emit.c.cuda import THREADS, cuda_source
from bellcrank.emit.c.events import EventsText
from bellcrank.emit.c.many import FIGURES
from bellcrank.emit.number import DOUBLE, FLOAT, Number
from bellcrank.errors import RunError
from bellcrank.numeric.run_spec import Input, RunSpec
from bellcrank.program.program import Program

OPTIONS = ("--std=c++17", "-default-device")
TYPES = {DOUBLE: np.float64, FLOAT: np.float32}
HOST = 1  # the kind of device in DLPack that is none
SHARE = 0.8  # of the free memory of a GPU that is taken
OF_RUNS = ("p", "y", "inputs", "values")  # what runs begin with, one by one
ENDS = ("status", "reached", "bad", "stopped_by", "stopped_at")  # how each ended
LAUNCH_SECONDS = 0.5  # of one launch: a watchdog ends long ones, and the keyboard is heard between two


def no_gpu() -> str:
    """Why there is no GPU for this, in words; nothing if there is one."""
    try:
        cupy = importlib.import_module("cupy")
    except ModuleNotFoundError as error:
        if error.name != "cupy":
            return f"the package cupy cannot be used ({error})"
        return "the package cupy is not installed (pip install bellcrank[gpu])"
    except (ImportError, OSError) as error:  # CuPy reports at length what it misses
        return f"the package cupy cannot be used ({' '.join(str(error).split())[:200]})"
    try:
        return "" if cupy.cuda.runtime.getDeviceCount() else "there is no CUDA GPU"
    except cupy.cuda.runtime.CUDARuntimeError as error:
        if "InsufficientDriver" in str(error):
            return f"the driver of the GPU is too old for this CuPy: update it, or take a CuPy for its CUDA ({error})"
        return f"there is no CUDA GPU that can be used ({error})"


def on_host(array: Any) -> Any:
    """An array that lies on a GPU, of any package that speaks DLPack, in the memory of the host; others as they are."""
    if not hasattr(array, "__dlpack_device__") or int(array.__dlpack_device__()[0]) == HOST:
        return array
    if obstacle := no_gpu():
        raise RunError(f"values are given that lie on a GPU, and cannot be read: {obstacle}")
    return importlib.import_module("cupy").from_dlpack(array).get()


def memory_of(sizes: np.ndarray, selection: Wanted) -> tuple[int, int]:
    """Bytes that a run and its figures need, by the `sizes` that the program reports."""
    return int(sizes[0]), int(sum(sizes[1] + sizes[2 + selection.kinds]))


class Gpu:
    """A program compiled for a GPU, for runs by one method that compute in some numbers; do they share parameters?"""

    def __init__(
        self, program: Program, method: str, shared: bool, number: Number, events: EventsText | None = None
    ) -> None:
        self._cupy: Any = importlib.import_module("cupy")
        source = cuda_source(program, method, shared, number, events)
        self._module = self._cupy.RawModule(code=source, options=OPTIONS)
        try:
            self._run, sizes = self._module.get_function("run_all"), self._module.get_function("sizes")
        except self._cupy.cuda.compiler.CompileException as error:
            raise RunError(f"the model cannot be compiled for the GPU: {error}") from None
        device_sizes = self._cupy.zeros(2 + len(FIGURES), dtype=np.int64)
        sizes((1,), (1,), (device_sizes,))
        self._sizes = device_sizes.get()
        array_lengths = {"shared_p": len(program.parameters), "shared_c": len(program.constant_symbols)}
        self._shared = (
            [(name, np.zeros(n + 1, dtype=TYPES[number])) for name, n in array_lengths.items()] if shared else []
        )

    def go(
        self,
        spec: RunSpec,
        initial: Beginnings,
        selection: Wanted,
        results: Results,
        inputs: Iterable[Input],
        progress: Callable[[float], None] | None,
    ) -> float:
        """Does all runs, as many at a time as the memory of the GPU holds; how long its launches took, s."""
        n, size, launched = len(results.status), self._room(initial, selection, results), 0.0
        for first in range(0, n, size):
            last = min(first + size, n)

            def told(fraction: float, first: int = first, last: int = last) -> None:
                if progress is not None:
                    progress((first + fraction * (last - first)) / n)

            chunk_data = replace(
                initial, **{k: getattr(initial, k)[first:last] for k in OF_RUNS if len(getattr(initial, k)) > 1}
            )
            chunk_results = Results(last - first, results.kept.shape[2], results.bad.shape[1], selection)
            launched += self._go(spec, chunk_data, selection, chunk_results, inputs, told)
            results.kept[:, first:last], results.figures[:, first:last] = chunk_results.kept, chunk_results.figures
            for name in ENDS:
                getattr(results, name)[first:last] = getattr(chunk_results, name)
        return launched

    def _room(self, initial: Beginnings, selection: Wanted, results: Results) -> int:
        """Runs for which there is room at a time."""
        self._cupy.get_default_memory_pool().free_all_blocks()
        free = self._cupy.cuda.runtime.memGetInfo()[0]
        array_bytes = [
            a.nbytes
            for a in (initial.p, initial.y, initial.inputs, initial.values, results.kept, results.figures, results.bad)
        ]
        each = sum(memory_of(self._sizes, selection)) + sum(array_bytes) / len(results.status) + 64
        size = int(SHARE * free / each) // THREADS * THREADS
        if size < THREADS:
            raise RunError(
                f"a run needs {each / 2**20:.3g} MiB on the GPU, which has {free / 2**20:.3g} MiB free: keep fewer "
                "channels (channels=), fewer rows (output_every=), or metrics of each run alone (metrics=)"
            )
        return size

    def _go(
        self,
        spec: RunSpec,
        initial: Beginnings,
        selection: Wanted,
        results: Results,
        inputs: Iterable[Input],
        progress: Callable[[float], None],
    ) -> float:
        """Does runs at the same time, in launches of about the same time; how long they took, s."""
        cupy, n = self._cupy, len(results.status)
        batch, _ = batch_of(initial, selection, results)
        set_steps(batch, spec)
        device_arrays = {
            name: cupy.asarray(array) for name, array in self._arrays(initial, selection, results, inputs).items()
        }
        for name, array in device_arrays.items():
            setattr(batch, name, array.data.ptr)
        self._put("batch", np.frombuffer(bytes(batch), dtype=np.uint8))
        shared_arrays = [(name, cupy.asarray(zeros)) for name, zeros in self._shared]
        if shared_arrays:
            self._module.get_function("find_constants")((1,), (1,), tuple(array for _, array in shared_arrays))
        for name, array in shared_arrays:
            self._put(name, array)
        jobs, tallies = (cupy.empty(max(n * size, 1), dtype=np.uint8) for size in memory_of(self._sizes, selection))
        cupy.cuda.runtime.deviceSynchronize()
        steps_done, steps, launch_start = 0, min(spec.steps, 64), time.perf_counter()
        while steps_done < spec.steps:
            last, began = min(steps_done + steps, spec.steps), time.perf_counter()
            arguments = jobs, tallies, np.int64(steps_done == 0), np.int64(last)
            self._run((-(-n // THREADS),), (THREADS,), arguments)
            cupy.cuda.runtime.deviceSynchronize()
            step_factor = LAUNCH_SECONDS / max(time.perf_counter() - began, 1e-6)
            steps_done, steps = last, max(1, int(steps * min(step_factor, 8.0)))
            progress(steps_done / spec.steps)
        launched = time.perf_counter() - launch_start
        for name in ("kept", "figures", *ENDS):
            getattr(results, name)[...] = device_arrays[name].get()
        if (results.status == PENDING).any():
            raise RunError("runs on the GPU did not come to their end")
        return launched

    def _put(self, name: str, values: Any) -> None:
        """Fills a constant of the program, from its start on."""
        array = self._cupy.asarray(values)
        self._module.get_global(name).copy_from_device(array.data, array.nbytes)

    def _arrays(
        self, initial: Beginnings, selection: Wanted, results: Results, inputs: Iterable[Input]
    ) -> dict[str, np.ndarray]:
        """All that C reads and writes; samples of inputs lie on the GPU as well."""
        signals = initial.inputs.copy()
        self._samples = []  # as long as the runs go
        for x in inputs:
            for field, array in (("x", x.points), ("pieces", x.pieces)):
                if array is not None:
                    self._samples.append(self._cupy.asarray(array))
                    signals[field][signals[field] == array.ctypes.data] = self._samples[-1].data.ptr
        return {
            "p": initial.p, "y": initial.y, "inputs": signals.view(np.uint8), "breaks": initial.breaks,
            "first_breaks": initial.first_breaks, "roots": initial.roots, "kept_columns": selection.kept[0],
            "kept_factors": selection.kept[1], "figure_kinds": selection.kinds, "figure_columns": selection.figures[0],
            "figure_factors": selection.figures[1], "figure_numbers": selection.numbers, "filters": selection.filters,
            "kept": results.kept, "figures": results.figures, "status": results.status, "reached": results.reached,
            "bad": results.bad, "stop": results.stop, "values": initial.values, "stopped_by": results.stopped_by,
            "stopped_at": results.stopped_at,
        }  # fmt: skip
