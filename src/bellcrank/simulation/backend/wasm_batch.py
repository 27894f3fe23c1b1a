"""Many runs in WebAssembly: what one thread of them needs, with an instance of its own."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bellcrank.core.numeric.run_spec import ProgramInput
from bellcrank.simulation.backend.c_batch import (
    BatchBuffers,
    BatchInitialData,
    OutputSelection,
    initial_arrays,
    row_buffer,
    row_stride,
)

if TYPE_CHECKING:
    from bellcrank.simulation.backend.wasm import WasmRun

SHORT = 0.1  # s: calls that take less do more runs
MOST = 256  # runs in one call


class WasmBatchWorker:
    """One thread's part of many runs, by way of a run of the program that is ready but has not
    begun."""

    def __init__(
        self,
        run: WasmRun,
        initial: BatchInitialData,
        inputs: Sequence[Sequence[ProgramInput]],
        selection: OutputSelection,
        results: BatchBuffers,
    ) -> None:
        self._run, self._begin, self._wanted, self._results = run, initial, selection, results
        self._instance, self._count = run.calls.instance.new_instance(), 1
        arrays = [a for each in inputs for x in each for a in (x.points, x.pieces) if a is not None]
        self._curves = {a.ctypes.data: a for a in arrays}
        block, rows = row_buffer(run)
        run.set_row_buffer(rows)
        program = run.calls.program
        self._numbers = {
            "n_states": initial.y.shape[1],
            "n_coordinates": len(program.coordinates),
            "n_constants": len(program.constants.statements),
            "width": run.width,
            "block": block,
            "n_kept": len(results.histories),
            "n_times": results.histories.shape[2],
            "n_figures": len(results.metrics),
        }
        self._fresh = initial_arrays(run)

    def run_range(self, first: int, last: int) -> None:
        """Runs from number `first` to before `last`, a few in each call, so that they can be
        stopped."""
        while first < last and not self._results.stop_request[0]:
            began, end = time.perf_counter(), min(first + self._count, last)
            self._run_chunk(first, end)
            took, first = time.perf_counter() - began, end
            self._count = min(2 * self._count, MOST) if took < SHORT else max(1, self._count // 2)

    def _run_chunk(self, first: int, last: int) -> None:
        initial, selection, r, n = self._begin, self._wanted, self._results, last - first
        run_arrays = {
            "p": initial.p,
            "y": initial.y,
            "roots": initial.weight_roots,
            "errors": initial.tolerances,
        }
        input_arrays: dict[str, np.ndarray] = {
            name: x if len(x) == 1 else x[first:last] for name, x in run_arrays.items()
        }
        signals = initial.inputs if len(initial.inputs) == 1 else initial.inputs[first:last]
        breaks = (
            initial.break_offsets
            if len(initial.break_offsets) == 2
            else initial.break_offsets[first : last + 1]
        )
        input_arrays |= {
            "breaks": initial.breaks,
            "first_breaks": breaks,
            "kept_columns": selection.histories[0],
            "kept_factors": selection.histories[1],
            "figure_kinds": selection.metric_kinds,
            "figure_columns": selection.metrics[0],
            "figure_factors": selection.metrics[1],
            "figure_numbers": selection.metric_arguments,
            "filters": selection.weighting_filters,
        }
        sample_arrays, end_arrays = (
            (r.histories[:, first:last], r.metrics[:, first:last]),
            (r.status, r.steps_done, r.nonfinite_states),
        )
        output_arrays = dict(
            zip(("kept", "figures"), (x.copy() for x in sample_arrays), strict=True)
        )
        output_arrays |= dict(
            zip(
                ("status", "reached", "bad"),
                (x[first:last].copy() for x in end_arrays),
                strict=True,
            )
        )
        numbers = self._numbers | {
            "n": n,
            **{f"{name}_apart": row_stride(x) for name, x in run_arrays.items()},
        }
        numbers |= {
            "inputs_apart": row_stride(initial.inputs),
            "breaks_apart": int(len(initial.break_offsets) > 2),
        }
        self._instance.run_many(
            self._run, numbers, input_arrays, output_arrays, (signals, self._curves), self._fresh
        )
        r.histories[:, first:last], r.metrics[:, first:last] = (
            output_arrays["kept"],
            output_arrays["figures"],
        )
        r.steps_done[first:last], r.nonfinite_states[first:last], r.status[first:last] = (
            output_arrays["reached"],
            output_arrays["bad"],
            output_arrays["status"],
        )
