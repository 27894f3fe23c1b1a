"""Closed loops of a compiled program closed at a start, as `numeric/projection.py` does it in Python."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

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
    """Starts of runs with parameters, constants and inputs as they are given; for one thread at a time.

    Each is found in a job that is taken from `spare` and put back there, a list that threads may share; not where
    routines are called, whose jobs belong to one context.
    """

    def __init__(
        self,
        calls: CCalls,
        p: Sequence[float],
        c: Sequence[float],
        inputs: Sequence[Input],
        spare: list[LoopCRun] | None = None,
    ) -> None:
        self._calls, self._given = calls, (p, c, inputs)
        own = spare is None or calls.compiled.called_back or calls.compiled.memory_size
        self._spare: list[LoopCRun] = [] if own else spare  # type: ignore[assignment]

    def _taken(self) -> LoopCRun:
        """A job with parameters, constants and inputs of these starts."""
        p, c, inputs = self._given
        try:
            run = self._spare.pop()
        except IndexError:
            pass
        else:
            if run.inputs is inputs:
                run.set_given(p, c)
                return run
        program = self._calls.program
        state = np.zeros(len(program.coordinates) + len(program.speeds))
        return LoopCRun(self._calls, Start(Course(DEFAULT, 1.0, 1), state, p, c, inputs))

    def assemble(
        self, t: float, q: np.ndarray, u: np.ndarray, free_q: np.ndarray, free_u: np.ndarray, nudges: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """A state on the constraints, changing only what is free; raises CannotClose where there is none."""
        y, may = np.concatenate([q, u], dtype=float), np.concatenate([free_q, free_u], dtype=np.int32)
        run, residual, reverse = self._taken(), ctypes.c_double(), ctypes.c_int()
        run.fields.t = t
        given = (
            ctypes.byref(run.fields), ctypes.c_void_p(address(y)), ctypes.c_void_p(address(may)),
            ctypes.c_int(ASSEMBLY.nudges if nudges is None else nudges), ctypes.byref(residual), ctypes.byref(reverse),
        )  # fmt: skip
        row = run.in_c(lambda: run.calls.library.close_loops(*given))
        self._spare.append(run)
        if row >= 0:
            loops = self._calls.program.loops
            assert loops is not None
            names = [*loops.positions, *(f"speeds of {name}" for name in loops.names)]
            raise CannotClose(names[row], residual.value, bool(reverse.value))
        return y[: len(q)], y[len(q) :]

    def weights(self, t: float, y: np.ndarray) -> Weights:
        """Inverse inertias of coordinates and speeds at a state: corrections move what is light."""
        run, n_q = self._taken(), len(self._calls.program.coordinates)
        run.fields.t, roots = t, np.zeros(len(y) + 1)
        state, at = np.array(y, dtype=float), address(roots)
        places = ctypes.c_void_p(address(state)), ctypes.c_void_p(at), ctypes.c_void_p(at + n_q * roots.itemsize)
        run.in_c(lambda: run.calls.library.find_metric(ctypes.byref(run.fields), *places))
        self._spare.append(run)
        squares = roots * roots
        return squares[:n_q], squares[n_q:-1]

    def branch(self, t: float, y: np.ndarray, weights: Weights) -> np.ndarray | None:
        """A start brought onto a branch if it is in a singular position; None if it is singular and at rest."""
        run = self._taken()
        run.begin_beside(t, y, weights)
        status = run.in_c(lambda: run.calls.library.find_branch(ctypes.byref(run.fields)))
        found = run.state.copy() if status == FINISHED else None
        self._spare.append(run)
        return found
