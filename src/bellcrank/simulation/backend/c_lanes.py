"""Vectorised many runs of a compiled program, each in a lane of vectors."""

from __future__ import annotations

import ctypes
from typing import Any

from bellcrank.codegen.c.events import EmittedEvents
from bellcrank.codegen.c.kernel_tables import method_number
from bellcrank.codegen.c.lanes import lanes_source
from bellcrank.codegen.c.tables import table_numbers
from bellcrank.codegen.number_type import NumberType
from bellcrank.core.numeric.run_spec import RunSpec
from bellcrank.program.program import SimulationProgram
from bellcrank.simulation.backend.c_batch import (
    BatchBuffers,
    BatchInitialData,
    OutputSelection,
    check_batch_size,
    make_batch_struct,
)
from bellcrank.simulation.backend.compiler import Compiler, lanes_flags, load_from_source


class LaneLibrary:
    """A program compiled to run several runs in lanes, in some numbers; `count` says how many."""

    def __init__(
        self,
        program: SimulationProgram,
        compiler: Compiler,
        number: NumberType,
        events: EmittedEvents | None = None,
    ) -> None:
        is_generated = all(
            r.formulas is not None for r in program.externals
        )  # code of users is loaded once
        tables = table_numbers(program.tables) if program.tables and is_generated else None
        source = lanes_source(program, number=number, events=events, table_data=tables is not None)
        self.library = load_from_source(
            source, compiler, lanes_flags(compiler, len(source)), (), is_generated, tables
        )
        check_batch_size(self.library)
        self.library.lane_count.restype = ctypes.c_int64
        self.library.run_lanes.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
        self.library.run_lanes.restype = None
        self.count = int(self.library.lane_count())


class LaneDriver:
    """One thread's part of many runs."""

    def __init__(
        self,
        lanes: LaneLibrary,
        spec: RunSpec,
        initial: BatchInitialData,
        selection: OutputSelection,
        results: BatchBuffers,
    ) -> None:
        self._lanes = lanes
        self._batch, self._held = make_batch_struct(initial, selection, results)
        set_step_fields(self._batch, spec)

    def run_range(self, first: int, last: int) -> None:
        """Runs from number `first` to before `last`."""
        self._lanes.library.run_lanes(ctypes.byref(self._batch), first, last)


def set_step_fields(batch: Any, spec: RunSpec) -> None:
    """Reports a batch the steps of its runs."""
    batch.method, batch.total, batch.every = (
        method_number(spec.method),
        spec.n_steps,
        spec.output_every,
    )
    batch.h, batch.t_start, batch.t_end = spec.step, spec.t_start, spec.t_end
