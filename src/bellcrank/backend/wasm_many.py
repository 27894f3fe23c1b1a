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
        self, run: Any, begin: Beginnings, inputs: Sequence[Sequence[Input]], wanted: Wanted, results: Results
    ) -> None:
        self._run, self._begin, self._wanted, self._results = run, begin, wanted, results
        self._instance, self._count = run.calls.instance.another(), 1
        arrays = [a for each in inputs for x in each for a in (x.points, x.pieces) if a is not None]
        self._curves = {a.ctypes.data: a for a in arrays}
        block, rows = block_of(run)
        run.write_to(rows)
        program = run.calls.program
        self._numbers = {
            "n_states": begin.y.shape[1], "n_coordinates": len(program.coordinates),
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
        begin, wanted, r, n = self._begin, self._wanted, self._results, last - first
        own = {name: getattr(begin, name) for name in ("p", "y", "roots", "errors")}
        given = {name: x if len(x) == 1 else x[first:last] for name, x in own.items()}
        signals = begin.inputs if len(begin.inputs) == 1 else begin.inputs[first:last]
        breaks = begin.first_breaks if len(begin.first_breaks) == 2 else begin.first_breaks[first : last + 1]
        given |= {
            "breaks": begin.breaks, "first_breaks": breaks, "kept_columns": wanted.kept[0],
            "kept_factors": wanted.kept[1], "figure_kinds": wanted.kinds, "figure_columns": wanted.figures[0],
            "figure_factors": wanted.figures[1], "figure_numbers": wanted.numbers, "filters": wanted.filters,
        }  # fmt: skip
        kept, each = (r.kept[:, first:last], r.figures[:, first:last]), (r.status, r.reached, r.bad)
        found = dict(zip(("kept", "figures"), (x.copy() for x in kept), strict=True))
        found |= dict(zip(("status", "reached", "bad"), (x[first:last].copy() for x in each), strict=True))
        numbers = self._numbers | {"n": n, **{f"{name}_apart": apart(x) for name, x in own.items()}}
        numbers |= {"inputs_apart": apart(begin.inputs), "breaks_apart": int(len(begin.first_breaks) > 2)}
        self._instance.run_many(self._run, numbers, given, found, (signals, self._curves), self._fresh)
        r.kept[:, first:last], r.figures[:, first:last] = found["kept"], found["figures"]
        r.reached[first:last], r.bad[first:last], r.status[first:last] = found["reached"], found["bad"], found["status"]
