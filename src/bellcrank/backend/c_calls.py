"""Calls of a compiled program: single evaluations, and user functions that are called back from C."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from bellcrank.backend.c_job import NO_EXTERNAL, External, Externals, address
from bellcrank.backend.external import call_routine
from bellcrank.backend.interrupts import CallsBack
from bellcrank.backend.libraries import Builds
from bellcrank.backend.protocol import Functions
from bellcrank.emit.c.functions import C_NAMES
from bellcrank.numeric.run_spec import At, Input, RunSpec
from bellcrank.program.program import Program


@dataclass(frozen=True)
class Compiled:
    """A program with its libraries. `called_back`: place and number of arguments of routines that are not in it."""

    program: Program
    builds: Builds
    called_back: Sequence[tuple[int, int]]
    memory_size: int
    run: Callable[[Any, RunSpec], Any]
    assembler: Callable[..., Any] | None = None  # of closed loops
    held: dict[str, tuple[Sequence[float], Any]] = field(default_factory=dict)  # arrays of the last parameters
    layouts: dict[type, Any] = field(default_factory=dict)  # of arrays, by kinds of runs

    @property
    def library(self) -> ctypes.CDLL:
        """That which is called now."""
        return self.builds.now.now.loaded


class CCalls:
    """Calls of a compiled program with memories of their own; those that remember have `live`, set for each call."""

    name = "c"
    watches = True  # do runs look for events themselves?

    def __init__(self, compiled: Compiled, functions: Functions) -> None:
        self.compiled, self.program, self.libraries = compiled, compiled.program, compiled.builds.now
        self._since = len(self.libraries.speeds) - 1
        self._called = [(functions[index], count) for index, count in compiled.called_back]
        self._callback = External(self._external) if self._called else NO_EXTERNAL
        self.memory = np.zeros(compiled.memory_size + 1)
        self.live = 0

    @cached_property
    def back(self) -> CallsBack:
        return CallsBack()

    @cached_property
    def _externals(self) -> Any:
        """Those of single evaluations."""
        return self.externals(self.memory)

    @property
    def library(self) -> ctypes.CDLL:
        """That which is called now; the next call may find another one."""
        return self.libraries.now.loaded

    @property
    def speeds(self) -> list[str]:
        """What the libraries were made for that were there since these calls began."""
        return self.libraries.speeds[self._since :]

    def work_room(self) -> int:
        """How many numbers adaptive methods need."""
        room = self.library.work_room
        room.restype = ctypes.c_int64
        return int(room())

    def took(self, seconds: float) -> None:
        """Counts the time of runs."""
        self.libraries.took(seconds)

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

    def _evaluate(self, function: str, program_arguments: At, *results: Any) -> None:
        t, q, u, p, c, w = program_arguments
        self._externals.live = self.live
        self._externals.failed = 0
        c_arguments = (
            ctypes.c_double(t), _array(q), _array(u), self._kept("p", p), self._kept("c", c), _array(w), *results,
            ctypes.byref(self._externals),
        )  # fmt: skip
        c_function = getattr(self.library, C_NAMES.get(function, function))
        if self._called:
            self.back.during(lambda: c_function(*c_arguments))
        else:
            c_function(*c_arguments)

    def _kept(self, name: str, values: Sequence[float]) -> Any:
        """An array that is made again only if another list is given."""
        entry = self.compiled.held.get(name)
        if entry is None or entry[0] is not values:
            entry = self.compiled.held[name] = (values, _array(values))
        return entry[1]

    # ---- user functions

    def _external(self, number: int, live: int, arguments: Any, values: Any) -> int:
        return self.back.guarded(call_routine, *self._called[number], live, arguments, values)

    def externals(self, memory: np.ndarray) -> Any:
        """User functions with a memory of their own for those in C."""
        user_functions = Externals()
        user_functions.memory = address(memory)
        if self._called:
            user_functions.callback = self._callback
        return user_functions

    def start(self, spec: RunSpec) -> Any:
        """A run that has not begun."""
        return self.compiled.run(self, spec)

    def assembler(
        self, p: Sequence[float], c: Sequence[float], inputs: Sequence[Input], spare: list[Any] | None
    ) -> Any:
        """What closes loops at a start; None if there are none."""
        return None if self.compiled.assembler is None else self.compiled.assembler(self, p, c, inputs, spare)


def _array(values: Sequence[float]) -> Any:
    return (ctypes.c_double * max(len(values), 1))(*values)
