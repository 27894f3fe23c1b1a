"""Many runs on a GPU by way of CuPy: the program compiled at run time, one thread per run."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from bellcrank.codegen.c.batch_driver import FIGURES
from bellcrank.codegen.c.cuda import THREADS, cuda_source
from bellcrank.codegen.c.events import EmittedEvents
from bellcrank.codegen.number_type import DOUBLE, FLOAT, NumberType
from bellcrank.core.errors import RunError
from bellcrank.core.numeric.run_spec import ProgramInput, RunSpec
from bellcrank.program.program import SimulationProgram
from bellcrank.simulation.backend.c_batch import (
    PENDING,
    BatchBuffers,
    BatchInitialData,
    OutputSelection,
    make_batch_struct,
)
from bellcrank.simulation.backend.c_lanes import set_step_fields

OPTIONS = ("--std=c++17", "-default-device")
TYPES = {DOUBLE: np.float64, FLOAT: np.float32}
HOST = 1  # the kind of device in DLPack that is none
SHARE = 0.8  # of the free memory of a GPU that is taken
INITIAL_FIELDS = (
    "p",
    "y",
    "inputs",
    "event_parameters",
)  # of `BatchInitialData`, with a row for each run
# results: fields of the structure in C and of `BatchBuffers`
HISTORY_FIELDS = {"kept": "histories", "figures": "metrics"}
END_FIELDS = {
    "status": "status",
    "reached": "steps_done",
    "bad": "nonfinite_states",
    "stopped_by": "stopped_by",
    "stopped_at": "stopped_at",
}
LAUNCH_SECONDS = (
    0.5  # of one launch: a watchdog ends long ones, and the keyboard is heard between two
)


def gpu_obstacle() -> str:
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
            return (
                f"the driver of the GPU is too old for this CuPy: update it, or take a CuPy for "
                f"its CUDA ({error})"
            )
        return f"there is no CUDA GPU that can be used ({error})"


def to_host(array: Any) -> Any:
    """An array that lies on a GPU, of any package that speaks DLPack, in the memory of the host;
    others as they are."""
    if not hasattr(array, "__dlpack_device__") or int(array.__dlpack_device__()[0]) == HOST:
        return array
    if obstacle := gpu_obstacle():
        raise RunError(f"values are given that lie on a GPU, and cannot be read: {obstacle}")
    return importlib.import_module("cupy").from_dlpack(array).get()


def run_memory(sizes: np.ndarray, selection: OutputSelection) -> tuple[int, int]:
    """Bytes that a run and its figures need, by the `sizes` that the program reports."""
    return int(sizes[0]), int(sum(sizes[1] + sizes[2 + selection.metric_kinds]))


class GpuProgram:
    """A program compiled for a GPU, for runs by one method that compute in some numbers; do they
    share parameters?"""

    def __init__(
        self,
        program: SimulationProgram,
        method: str,
        shared: bool,
        number: NumberType,
        events: EmittedEvents | None = None,
    ) -> None:
        self._cupy: Any = importlib.import_module("cupy")
        source = cuda_source(program, method, shared, number, events)
        self._module = self._cupy.RawModule(code=source, options=OPTIONS)
        try:
            self._run, sizes = (
                self._module.get_function("run_all"),
                self._module.get_function("sizes"),
            )
        except self._cupy.cuda.compiler.CompileException as error:
            raise RunError(f"the model cannot be compiled for the GPU: {error}") from None
        device_sizes = self._cupy.zeros(2 + len(FIGURES), dtype=np.int64)
        sizes((1,), (1,), (device_sizes,))
        self._sizes = device_sizes.get()
        array_lengths = {
            "shared_p": len(program.parameters),
            "shared_c": len(program.constant_symbols),
        }
        self._shared = (
            [(name, np.zeros(n + 1, dtype=TYPES[number])) for name, n in array_lengths.items()]
            if shared
            else []
        )

    def run_batch(
        self,
        spec: RunSpec,
        initial: BatchInitialData,
        selection: OutputSelection,
        results: BatchBuffers,
        inputs: Iterable[ProgramInput],
        progress: Callable[[float], None] | None,
    ) -> float:
        """Does all runs, as many at a time as the memory of the GPU holds; how long its launches
        took, s."""
        n, size, launched = len(results.status), self._max_runs(initial, selection, results), 0.0
        for first in range(0, n, size):
            last = min(first + size, n)

            def report_progress(fraction: float, first: int = first, last: int = last) -> None:
                if progress is not None:
                    progress((first + fraction * (last - first)) / n)

            chunk_data = replace(
                initial,
                **{
                    k: getattr(initial, k)[first:last]
                    for k in INITIAL_FIELDS
                    if len(getattr(initial, k)) > 1
                },
            )
            chunk_results = BatchBuffers(
                last - first,
                results.histories.shape[2],
                results.nonfinite_states.shape[1],
                selection,
            )
            launched += self._run_chunk(
                spec, chunk_data, selection, chunk_results, inputs, report_progress
            )
            results.histories[:, first:last], results.metrics[:, first:last] = (
                chunk_results.histories,
                chunk_results.metrics,
            )
            for name in END_FIELDS.values():
                getattr(results, name)[first:last] = getattr(chunk_results, name)
        return launched

    def _max_runs(
        self, initial: BatchInitialData, selection: OutputSelection, results: BatchBuffers
    ) -> int:
        """Runs for which there is room at a time."""
        self._cupy.get_default_memory_pool().free_all_blocks()
        free = self._cupy.cuda.runtime.memGetInfo()[0]
        array_bytes = [
            a.nbytes
            for a in (
                initial.p,
                initial.y,
                initial.inputs,
                initial.event_parameters,
                results.histories,
                results.metrics,
                results.nonfinite_states,
            )
        ]
        each = sum(run_memory(self._sizes, selection)) + sum(array_bytes) / len(results.status) + 64
        size = int(SHARE * free / each) // THREADS * THREADS
        if size < THREADS:
            raise RunError(
                f"a run needs {each / 2**20:.3g} MiB on the GPU, which has "
                f"{free / 2**20:.3g} MiB free: keep fewer "
                "channels (channels=), fewer rows (output_every=), or metrics of each run "
                "alone (metrics=)"
            )
        return size

    def _run_chunk(
        self,
        spec: RunSpec,
        initial: BatchInitialData,
        selection: OutputSelection,
        results: BatchBuffers,
        inputs: Iterable[ProgramInput],
        progress: Callable[[float], None],
    ) -> float:
        """Does runs at the same time, in launches of about the same time; how long they took, s."""
        cupy, n = self._cupy, len(results.status)
        batch, _ = make_batch_struct(initial, selection, results)
        set_step_fields(batch, spec)
        device_arrays = {
            name: cupy.asarray(array)
            for name, array in self._device_arrays(initial, selection, results, inputs).items()
        }
        for name, array in device_arrays.items():
            setattr(batch, name, array.data.ptr)
        self._write_constant("batch", np.frombuffer(bytes(batch), dtype=np.uint8))
        shared_arrays = [(name, cupy.asarray(zeros)) for name, zeros in self._shared]
        if shared_arrays:
            self._module.get_function("find_constants")(
                (1,), (1,), tuple(array for _, array in shared_arrays)
            )
        for name, array in shared_arrays:
            self._write_constant(name, array)
        jobs, tallies = (
            cupy.empty(max(n * size, 1), dtype=np.uint8)
            for size in run_memory(self._sizes, selection)
        )
        cupy.cuda.runtime.deviceSynchronize()
        steps_done, steps, launch_start = 0, min(spec.n_steps, 64), time.perf_counter()
        while steps_done < spec.n_steps:
            last, began = min(steps_done + steps, spec.n_steps), time.perf_counter()
            arguments = jobs, tallies, np.int64(steps_done == 0), np.int64(last)
            self._run((-(-n // THREADS),), (THREADS,), arguments)
            cupy.cuda.runtime.deviceSynchronize()
            step_factor = LAUNCH_SECONDS / max(time.perf_counter() - began, 1e-6)
            steps_done, steps = last, max(1, int(steps * min(step_factor, 8.0)))
            progress(steps_done / spec.n_steps)
        launched = time.perf_counter() - launch_start
        for c_name, name in (HISTORY_FIELDS | END_FIELDS).items():
            getattr(results, name)[...] = device_arrays[c_name].get()
        if (results.status == PENDING).any():
            raise RunError("runs on the GPU did not come to their end")
        return launched

    def _write_constant(self, name: str, values: Any) -> None:
        """Fills a constant of the program, from its start on."""
        array = self._cupy.asarray(values)
        self._module.get_global(name).copy_from_device(array.data, array.nbytes)

    def _device_arrays(
        self,
        initial: BatchInitialData,
        selection: OutputSelection,
        results: BatchBuffers,
        inputs: Iterable[ProgramInput],
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
            "p": initial.p,
            "y": initial.y,
            "inputs": signals.view(np.uint8),
            "breaks": initial.breaks,
            "first_breaks": initial.break_offsets,
            "roots": initial.weight_roots,
            "kept_columns": selection.histories[0],
            "kept_factors": selection.histories[1],
            "figure_kinds": selection.metric_kinds,
            "figure_columns": selection.metrics[0],
            "figure_factors": selection.metrics[1],
            "figure_numbers": selection.metric_arguments,
            "filters": selection.weighting_filters,
            "kept": results.histories,
            "figures": results.metrics,
            "status": results.status,
            "reached": results.steps_done,
            "bad": results.nonfinite_states,
            "stop": results.stop_request,
            "values": initial.event_parameters,
            "stopped_by": results.stopped_by,
            "stopped_at": results.stopped_at,
        }
