"""Many runs in WebAssembly: what one thread of them needs, with an instance of its own."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from bellcrank.backend.c_many import Beginnings, Results, Wanted, apart, block_of, fresh_arrays
from bellcrank.numeric.run_spec import Input

SHORT = 0.1  # s: calls that take less do more runs
MOST = 256  # runs in one call


class WasmDriver:
    """One thread's part of many runs, by way of a run of the program that is ready but has not begun."""

    def __init__(
        self, run: Any, initial: Beginnings, inputs: Sequence[Sequence[Input]], selection: Wanted, results: Results
    ) -> None:
        self._run, self._begin, self._wanted, self._results = run, initial, selection, results
        self._instance, self._count = run.calls.instance.another(), 1
        arrays = [a for each in inputs for x in each for a in (x.points, x.pieces) if a is not None]
        self._curves = {a.ctypes.data: a for a in arrays}
        block, rows = block_of(run)
        run.write_to(rows)
        program = run.calls.program
        self._numbers = {
            "n_states": initial.y.shape[1], "n_coordinates": len(program.coordinates),
            "n_constants": len(program.constants.statements), "width": run.width, "block": block,
            "n_kept": len(results.kept), "n_times": results.kept.shape[2], "n_figures": len(results.figures),
        }  # fmt: skip
        self._fresh = fresh_arrays(run)

    def go(self, first: int, last: int) -> None:
        """Runs from number `first` to before `last`, a few in each call, so that they can be stopped."""
        while first < last and not self._results.stop[0]:
            began, end = time.perf_counter(), min(first + self._count, last)
            self._some(first, end)
            took, first = time.perf_counter() - began, end
            self._count = min(2 * self._count, MOST) if took < SHORT else max(1, self._count // 2)

    def _some(self, first: int, last: int) -> None:
        initial, selection, r, n = self._begin, self._wanted, self._results, last - first
        run_arrays = {name: getattr(initial, name) for name in ("p", "y", "roots", "errors")}
        input_arrays = {name: x if len(x) == 1 else x[first:last] for name, x in run_arrays.items()}
        signals = initial.inputs if len(initial.inputs) == 1 else initial.inputs[first:last]
        breaks = initial.first_breaks if len(initial.first_breaks) == 2 else initial.first_breaks[first : last + 1]
        input_arrays |= {
            "breaks": initial.breaks, "first_breaks": breaks, "kept_columns": selection.kept[0],
            "kept_factors": selection.kept[1], "figure_kinds": selection.kinds, "figure_columns": selection.figures[0],
            "figure_factors": selection.figures[1], "figure_numbers": selection.numbers, "filters": selection.filters,
        }  # fmt: skip
        sample_arrays, end_arrays = (r.kept[:, first:last], r.figures[:, first:last]), (r.status, r.reached, r.bad)
        output_arrays = dict(zip(("kept", "figures"), (x.copy() for x in sample_arrays), strict=True))
        output_arrays |= dict(
            zip(("status", "reached", "bad"), (x[first:last].copy() for x in end_arrays), strict=True)
        )
        numbers = self._numbers | {"n": n, **{f"{name}_apart": apart(x) for name, x in run_arrays.items()}}
        numbers |= {"inputs_apart": apart(initial.inputs), "breaks_apart": int(len(initial.first_breaks) > 2)}
        self._instance.run_many(self._run, numbers, input_arrays, output_arrays, (signals, self._curves), self._fresh)
        r.kept[:, first:last], r.figures[:, first:last] = output_arrays["kept"], output_arrays["figures"]
        r.reached[first:last], r.bad[first:last], r.status[first:last] = (
            output_arrays["reached"],
            output_arrays["bad"],
            output_arrays["status"],
        )
