"""Vectorised many runs of a compiled program, each in a lane of vectors."""

from __future__ import annotations

import ctypes
from typing import Any

from bellcrank.backend.c_many import Beginnings, Results, Wanted, batch_of, check_batch
from bellcrank.backend.compiler import Compiler, lanes_flags, load_source
from bellcrank.emit.c.events import EventsText
from bellcrank.emit.c.lanes import lanes_source
from bellcrank.emit.c.methods import method_number
from bellcrank.emit.c.tables import table_numbers
from bellcrank.emit.number import Number
from bellcrank.numeric.run_spec import RunSpec
from bellcrank.program.program import Program


class Lanes:
    """A program compiled to run several runs in lanes, in some numbers; `count` says how many."""

    def __init__(self, program: Program, compiler: Compiler, number: Number, events: EventsText | None = None) -> None:
        is_generated = all(r.formulas is not None for r in program.externals)  # code of users is loaded once
        tables = table_numbers(program.tables) if program.tables and is_generated else None
        source = lanes_source(program, number=number, events=events, table_data=tables is not None)
        self.library = load_source(source, compiler, lanes_flags(compiler, len(source)), (), is_generated, tables)
        check_batch(self.library)
        self.library.lane_count.restype = ctypes.c_int64
        self.library.run_lanes.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
        self.library.run_lanes.restype = None
        self.count = int(self.library.lane_count())


class LaneDriver:
    """One thread's part of many runs."""

    def __init__(self, lanes: Lanes, spec: RunSpec, initial: Beginnings, selection: Wanted, results: Results) -> None:
        self._lanes = lanes
        self._batch, self._held = batch_of(initial, selection, results)
        set_steps(self._batch, spec)

    def go(self, first: int, last: int) -> None:
        """Runs from number `first` to before `last`."""
        self._lanes.library.run_lanes(ctypes.byref(self._batch), first, last)


def set_steps(batch: Any, spec: RunSpec) -> None:
    """Reports a batch the steps of its runs."""
    batch.method, batch.total, batch.every = method_number(spec.method), spec.steps, spec.every
    batch.h, batch.t_start, batch.t_end = spec.step, spec.t_start, spec.t_end
