"""Many runs of a compiled program, in C: the driver, and what one thread of it needs.

In:  a run of the program that is ready, what the runs begin with, and where their results go. Out:
numbers in the arrays of the results. The driver is compiled once for all models.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.codegen.c.batch_driver import FIGURES, driver
from bellcrank.core.errors import InternalError
from bellcrank.simulation.backend.c_runs import GIVEN, CRun
from bellcrank.simulation.backend.c_structures import (
    Array,
    Batch,
    array_address,
    check_structure_sizes,
)
from bellcrank.simulation.backend.compiler import Compiler, default_flags, load_from_source

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROOM = 256  # rows of a run between two looks at them
PENDING = -1  # the status of a run that has not ended


@dataclass(frozen=True)
class BatchInitialData:
    """What runs begin with, in equation units, a row for each run; a single row is that of all.

    `inputs` are structures of C, a row of them for each run, whose arrays somebody else keeps; the
    `breaks` of a run stand from `break_offsets` of it on. `weight_roots` of inverse inertias: of
    closed loops; `tolerances` allowed, and sizes of states that count at most for them: of adaptive
    methods. `event_parameters` of parameters in events are in units of the user.
    """

    p: NDArray[np.float64]
    y: NDArray[np.float64]
    inputs: np.ndarray
    breaks: NDArray[np.float64]
    break_offsets: NDArray[np.int64]
    weight_roots: NDArray[np.float64]
    tolerances: NDArray[np.float64]
    event_parameters: NDArray[np.float64]


@dataclass(frozen=True)
class OutputSelection:
    """What is wanted of the rows: columns with the factors of their units, kinds of figures with a
    number each, and `weighting_filters` of weightings."""

    histories: tuple[NDArray[np.int64], NDArray[np.float64]]
    metrics: tuple[NDArray[np.int64], NDArray[np.float64]]
    metric_kinds: NDArray[np.int32]
    metric_arguments: NDArray[np.float64]
    weighting_filters: NDArray[np.float64]

    @classmethod
    def from_columns(
        cls,
        histories: list[tuple[int, float]],
        figures: list[tuple[int, float, str, float]],
        filters: NDArray[np.float64],
    ) -> OutputSelection:
        def columns(
            listed: Sequence[tuple[int, float] | tuple[int, float, str, float]],
        ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
            return np.array([x[0] for x in listed], dtype=np.int64), np.array(
                [x[1] for x in listed], dtype=float
            )

        kinds = np.array([FIGURES.index(x[2]) for x in figures], dtype=np.int32)
        return cls(
            columns(histories),
            columns(figures),
            kinds,
            np.array([x[3] for x in figures], dtype=float),
            filters,
        )


class BatchBuffers:
    """Arrays that the runs fill: histories by channel, run and row; figures by figure and run; how
    each ended."""

    def __init__(self, n: int, n_times: int, n_states: int, selection: OutputSelection) -> None:
        self.histories = np.full((len(selection.histories[0]), n, n_times), np.nan)
        self.metrics = np.full((len(selection.metric_kinds), n), np.nan)
        self.status = np.full(n, PENDING, dtype=np.int32)
        self.steps_done = np.zeros(n, dtype=np.int64)
        self.nonfinite_states = np.full((n, n_states), np.nan)
        self.stop_request = np.zeros(1, dtype=np.int32)
        self.stopped_by, self.stopped_at = (
            np.zeros(n, dtype=np.int32),
            np.full(n, np.nan),
        )  # events, and when (s)


def row_stride(array: np.ndarray) -> int:
    """How far what one run begins with is from that of the next."""
    return 0 if len(array) == 1 else array.shape[1]


def row_buffer(run: CRun) -> tuple[int, NDArray[np.float64]]:
    """Most steps of a run between two looks at its rows, and room for these."""
    every = run.spec.output_every
    block = max(1, ROOM // every) * every if every < ROOM else every
    return block, np.empty((block // every + 2, run.width))


def initial_arrays(run: CRun) -> dict[str, np.ndarray]:
    """What arrays of a run hold when it begins."""
    return {k: a.copy() for k, a in run.arrays.items() if k not in (*GIVEN, "y") and a.size} | {
        "bad": run.nonfinite_state
    }


def make_batch_struct(
    initial: BatchInitialData, selection: OutputSelection, results: BatchBuffers
) -> tuple[Any, list[object]]:
    """The structure that C reads, without what belongs to one thread, and the arrays that must live
    as long."""
    n, n_times = len(results.status), results.histories.shape[2]

    arrays: dict[str, np.ndarray] = {
        "p": initial.p,
        "y": initial.y,
        "inputs": initial.inputs,
        "breaks": initial.breaks,
        "roots": initial.weight_roots,
        "errors": initial.tolerances,
        "values": initial.event_parameters,
        "first_breaks": initial.break_offsets,
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
        "stopped_by": results.stopped_by,
        "stopped_at": results.stopped_at,
    }
    batch = Batch(
        n=n,
        p_apart=row_stride(initial.p),
        y_apart=row_stride(initial.y),
        inputs_apart=row_stride(initial.inputs),
        roots_apart=row_stride(initial.weight_roots),
        errors_apart=row_stride(initial.tolerances),
        values_apart=row_stride(initial.event_parameters),
        breaks_apart=0 if len(initial.break_offsets) == 2 else 1,
        n_states=initial.y.shape[1],
        n_kept=len(results.histories),
        n_times=n_times,
        n_figures=len(results.metrics),
    )
    for name, array in arrays.items():
        if not array.flags.c_contiguous:
            raise InternalError(f"the array {name} of many runs is not in one piece")
        setattr(batch, name, array.ctypes.data)
    return batch, [*arrays.values()]


class CompiledBatchWorker:
    """One thread's part of many runs, by way of a run of the program that is ready but has not
    begun."""

    def __init__(
        self,
        run: CRun,
        compiler: Compiler,
        initial: BatchInitialData,
        selection: OutputSelection,
        results: BatchBuffers,
    ) -> None:
        self._run, program = run, run.calls.program
        self._library = _driver_library(compiler)
        self._batch, self._held = make_batch_struct(initial, selection, results)
        block, rows = row_buffer(run)
        fresh = initial_arrays(run)
        arrays = [
            Array(array_address(run.arrays[name]), array_address(a), a.size)
            for name, a in fresh.items()
        ]
        listed = (Array * max(len(arrays), 1))(*arrays)
        b = self._batch
        b.n_coordinates, b.n_constants = len(program.coordinates), len(program.constants.statements)
        b.width, b.block, b.arrays, b.n_arrays = (
            run.width,
            block,
            ctypes.addressof(listed),
            len(arrays),
        )
        run.job.rows = array_address(rows)
        self._held += [rows, fresh, listed]

    def run_range(self, first: int, last: int) -> None:
        """Runs from number `first` to before `last`."""
        model = self._run.calls.library
        b = self._batch
        b.run, b.constants = (
            ctypes.cast(f, ctypes.c_void_p).value for f in (model.run, model.constants)
        )
        began = time.perf_counter()
        self._library.run_many(ctypes.byref(self._batch), ctypes.byref(self._run.job), first, last)
        self._run.calls.libraries.add_run_time(time.perf_counter() - began)


def check_batch_size(library: ctypes.CDLL) -> None:
    library.batch_size.restype = ctypes.c_int64
    if library.batch_size() != ctypes.sizeof(Batch):
        raise InternalError("the structure of many runs has another size in C")


@cache
def _driver_library(compiler: Compiler) -> ctypes.CDLL:
    library = load_from_source(driver(), compiler, default_flags(compiler))
    check_structure_sizes(library)
    check_batch_size(library)
    library.run_many.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
    library.run_many.restype = None
    return library
