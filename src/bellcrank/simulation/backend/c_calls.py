"""Calls of a compiled program: single evaluations, and user functions that are called back from
C."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.codegen.c.functions import C_NAMES
from bellcrank.core.numeric.run_spec import At, ProgramInput, RunSpec
from bellcrank.program.program import SimulationProgram
from bellcrank.simulation.backend.c_structures import (
    NO_EXTERNAL,
    External,
    Externals,
    array_address,
)
from bellcrank.simulation.backend.external import call_routine
from bellcrank.simulation.backend.interrupts import PythonCallbacks
from bellcrank.simulation.backend.libraries import LibraryVariants
from bellcrank.simulation.backend.protocol import Functions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bellcrank.simulation.backend.c_assembly import CAssembler, Spare
    from bellcrank.simulation.backend.c_runs import CRun, RunArrayLayout
    from bellcrank.simulation.backend.c_structures import DoubleArray, DoublePointer


@dataclass(frozen=True)
class CompiledProgram:
    """A program with its libraries. `python_functions`: place and number of arguments of routines
    that are not in it."""

    program: SimulationProgram
    variants: LibraryVariants
    python_functions: Sequence[tuple[int, int]]
    memory_size: int
    run: Callable[[CCalls, RunSpec], CRun]
    assembler: type[CAssembler] | None = None  # of closed loops
    array_cache: dict[str, tuple[Sequence[float], DoubleArray]] = field(
        default_factory=dict
    )  # arrays of the last parameters
    layouts: dict[type[CRun], RunArrayLayout] = field(
        default_factory=dict
    )  # of arrays, by kinds of runs

    @property
    def library(self) -> ctypes.CDLL:
        """That which is called now."""
        return self.variants.latest.current.loaded


class CCalls:
    """Calls of a compiled program with memories of their own; those that remember have
    `writable_phase`, set for each call."""

    name = "c"
    supports_events = True  # do runs look for events themselves?

    def __init__(self, compiled: CompiledProgram, functions: Functions) -> None:
        self.compiled, self.program, self.libraries = (
            compiled,
            compiled.program,
            compiled.variants.latest,
        )
        self._since = len(self.libraries.speeds) - 1
        self._called = [(functions[index], count) for index, count in compiled.python_functions]
        self._callback = External(self._external_callback) if self._called else NO_EXTERNAL
        self.memory = np.zeros(compiled.memory_size + 1)
        self.writable_phase = 0

    @cached_property
    def callbacks(self) -> PythonCallbacks:
        return PythonCallbacks()

    @cached_property
    def _evaluation_externals(self) -> Any:
        """Those of single evaluations."""
        return self.new_externals(self.memory)

    @property
    def library(self) -> ctypes.CDLL:
        """That which is called now; the next call may find another one."""
        return self.libraries.current.loaded

    @property
    def speeds(self) -> list[str]:
        """What the libraries were made for that were there since these calls began."""
        return self.libraries.speeds[self._since :]

    def workspace_size(self) -> int:
        """How many numbers adaptive methods need."""
        room = self.library.work_room
        room.restype = ctypes.c_int64
        return int(room())

    def add_run_time(self, seconds: float) -> None:
        """Counts the time of runs."""
        self.libraries.add_run_time(seconds)

    # ---- single evaluations

    def constants(self, p: Sequence[float]) -> list[float]:
        count = len(self.program.constants.statements)
        c = (ctypes.c_double * max(count, 1))()
        self.library.constants(_array(p), c)
        return list(c)[:count]

    def derivatives(self, *program_arguments: *At) -> tuple[list[float], list[float]]:
        n_q, n_u = len(self.program.coordinates), len(self.program.speeds)
        qd, ud = (ctypes.c_double * max(n_q, 1))(), (ctypes.c_double * max(n_u, 1))()
        self._evaluate("derivatives", program_arguments, qd, ud)
        return list(qd)[:n_q], list(ud)[:n_u]

    def outputs(self, *program_arguments: *At) -> list[float]:
        return self.values("outputs", *program_arguments)

    def values(self, section: str, *program_arguments: *At) -> list[float]:
        """Results of a section that stands for itself."""
        count = len(getattr(self.program, section).results)
        if not count:
            return []
        results = (ctypes.c_double * count)()
        self._evaluate(section, program_arguments, results)
        return list(results)

    def _evaluate(self, function: str, program_arguments: At, *results: DoubleArray) -> None:
        t, q, u, p, c, w = program_arguments
        self._evaluation_externals.live = self.writable_phase
        self._evaluation_externals.failed = 0
        c_arguments = (
            ctypes.c_double(t),
            _array(q),
            _array(u),
            self._cached_array("p", p),
            self._cached_array("c", c),
            _array(w),
            *results,
            ctypes.byref(self._evaluation_externals),
        )
        c_function = getattr(self.library, C_NAMES.get(function, function))
        if self._called:
            self.callbacks.call_c(lambda: c_function(*c_arguments))
        else:
            c_function(*c_arguments)

    def _cached_array(self, name: str, values: Sequence[float]) -> DoubleArray:
        """An array that is made again only if another list is given."""
        entry = self.compiled.array_cache.get(name)
        if entry is None or entry[0] is not values:
            entry = self.compiled.array_cache[name] = (values, _array(values))
        return entry[1]

    # ---- user functions

    def _external_callback(
        self, number: int, live: int, arguments: DoublePointer, values: DoublePointer
    ) -> int:
        function, count = self._called[number]
        return self.callbacks.run_guarded(call_routine, function, count, live, arguments, values)

    def new_externals(self, memory: NDArray[np.float64]) -> Any:
        """User functions with a memory of their own for those in C."""
        user_functions = Externals()
        user_functions.memory = array_address(memory)
        if self._called:
            user_functions.callback = self._callback
        return user_functions

    def new_run(self, spec: RunSpec) -> CRun:
        """A run that has not begun."""
        return self.compiled.run(self, spec)

    def new_assembler(
        self,
        p: Sequence[float],
        c: Sequence[float],
        inputs: Sequence[ProgramInput],
        spare: list[Spare] | None,
    ) -> CAssembler | None:
        """What closes loops at a start; None if there are none."""
        return (
            None
            if self.compiled.assembler is None
            else self.compiled.assembler(self, p, c, inputs, spare)
        )


def _array(values: Sequence[float]) -> DoubleArray:
    return (ctypes.c_double * max(len(values), 1))(*values)
