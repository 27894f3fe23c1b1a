"""Closed loops of a compiled program closed at a start, as `numeric/projection.py` does it in Python."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from bellcrank.backend.c_calls import CCalls
from bellcrank.backend.c_job import address
from bellcrank.backend.c_runs import LoopCRun
from bellcrank.backend.start import FINISHED, Input, Start, Weights
from bellcrank.numeric.course import Course
from bellcrank.numeric.methods import DEFAULT
from bellcrank.numeric.projection import CannotClose
from bellcrank.numeric.tuning import ASSEMBLY


class CAssembler:
    """Starts of runs with parameters, constants and inputs as they are given; for one thread at a time."""

    def __init__(self, calls: CCalls, p: Sequence[float], c: Sequence[float], inputs: Sequence[Input]) -> None:
        self._calls, self._given = calls, (p, c, inputs)

    @cached_property
    def _run(self) -> LoopCRun:
        program = self._calls.program
        state = np.zeros(len(program.coordinates) + len(program.speeds))
        return LoopCRun(self._calls, Start(Course(DEFAULT, 1.0, 1), state, *self._given))

    def assemble(
        self, t: float, q: np.ndarray, u: np.ndarray, free_q: np.ndarray, free_u: np.ndarray, nudges: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """A state on the constraints, changing only what is free; raises CannotClose where there is none."""
        y, may = np.concatenate([q, u], dtype=float), np.concatenate([free_q, free_u], dtype=np.int32)
        job, residual, reverse = self._run.fields, ctypes.c_double(), ctypes.c_int()
        job.t = t
        given = (
            ctypes.byref(job), ctypes.c_void_p(y.ctypes.data), ctypes.c_void_p(may.ctypes.data),
            ctypes.c_int(ASSEMBLY.nudges if nudges is None else nudges), ctypes.byref(residual), ctypes.byref(reverse),
        )  # fmt: skip
        row = self._run.in_c(lambda: self._calls.library.close_loops(*given))
        if row >= 0:
            loops = self._calls.program.loops
            assert loops is not None
            names = [*loops.positions, *(f"speeds of {name}" for name in loops.names)]
            raise CannotClose(names[row], residual.value, bool(reverse.value))
        return y[: len(q)], y[len(q) :]

    def weights(self, t: float, y: np.ndarray) -> Weights:
        """Inverse inertias of coordinates and speeds at a state: corrections move what is light."""
        job, n_q = self._run.fields, len(self._calls.program.coordinates)
        job.t, roots = t, np.zeros(len(y) + 1)
        state = np.array(y, dtype=float)
        places = [address(roots), address(roots) + n_q * roots.itemsize]
        given = ctypes.byref(job), ctypes.c_void_p(address(state)), *map(ctypes.c_void_p, places)
        self._run.in_c(lambda: self._calls.library.find_metric(*given))
        return roots[:n_q] ** 2, roots[n_q:-1] ** 2

    def branch(self, t: float, y: np.ndarray, weights: Weights) -> np.ndarray | None:
        """A start brought onto a branch if it is in a singular position; None if it is singular and at rest."""
        run = self._run
        run.begin_beside(t, y, weights)
        status = run.in_c(lambda: self._calls.library.find_branch(ctypes.byref(run.fields)))
        return run.state.copy() if status == FINISHED else None
