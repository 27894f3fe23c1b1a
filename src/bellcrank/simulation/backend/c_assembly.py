"""Closed loops of a compiled program closed at a start, as `core/numeric/loop_constraints.py` does
it in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bellcrank.core.numeric.fixed_step_methods import DEFAULT
from bellcrank.core.numeric.loop_constraints import AssemblyError
from bellcrank.core.numeric.run_spec import FINISHED, ProgramInput, RunSpec, Weights
from bellcrank.core.numeric.tuning import ASSEMBLY
from bellcrank.simulation.backend.c_runs import LoopCRun
from bellcrank.simulation.backend.protocol import KernelCalls

if TYPE_CHECKING:
    from numpy.typing import NDArray

Spare = tuple[
    LoopCRun, Sequence[float], Sequence[float]
]  # a job, with the parameters and constants it has


class CAssembler:
    """Starts of runs with parameters, constants and inputs as they are given; for one thread at a
    time.

    Each is found in a job that is taken from `spare` and put back there, a list that threads may
    share; not where routines are called, whose jobs belong to one context.
    """

    def __init__(
        self,
        program_calls: KernelCalls,
        p: Sequence[float],
        c: Sequence[float],
        inputs: Sequence[ProgramInput],
        spare: list[Spare] | None = None,
    ) -> None:
        self._calls, self._given = program_calls, (p, c, inputs)
        is_private = (
            spare is None
            or program_calls.compiled.python_functions
            or program_calls.compiled.memory_size
        )
        self._spare: list[Spare] = [] if is_private or spare is None else spare

    def _acquire_job(self) -> LoopCRun:
        """A job with parameters, constants and inputs of these starts."""
        p, c, inputs = self._given
        try:
            run, its_p, its_c = self._spare.pop()
        except IndexError:
            pass
        else:
            if run.inputs is inputs:
                if its_p is not p or its_c is not c:
                    run.set_parameters(p, c)
                return run
        program = self._calls.program
        state = np.zeros(len(program.coordinates) + len(program.speeds))
        new_run = self._calls.new_run(
            RunSpec(1.0, 1.0, DEFAULT, state=state, p=p, c=c, inputs=inputs)
        )
        assert isinstance(new_run, LoopCRun)
        return new_run

    def _release_job(self, run: LoopCRun) -> None:
        """Leaves a job for the next start."""
        p, c, _ = self._given
        self._spare.append((run, p, c))

    def assemble(
        self,
        t: float,
        q: NDArray[np.float64],
        u: NDArray[np.float64],
        free_q: np.ndarray,
        free_u: np.ndarray,
        nudges: int | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A state on the constraints, changing only what is free; raises CannotClose where there is
        none."""
        y, free = (
            np.concatenate([q, u], dtype=float),
            np.concatenate([free_q, free_u], dtype=np.int32),
        )
        run = self._acquire_job()
        run.job.t = t
        row, residual, reverse = run.close_loops(
            y, free, ASSEMBLY.nudges if nudges is None else nudges
        )
        self._release_job(run)
        if row >= 0:
            loops = self._calls.program.loops
            assert loops is not None
            names = [*loops.positions, *(f"speeds of {name}" for name in loops.names)]
            raise AssemblyError(names[row], residual, reverse)
        return y[: len(q)], y[len(q) :]

    def weights(self, t: float, y: NDArray[np.float64]) -> Weights:
        """Inverse inertias of coordinates and speeds at a state: corrections move what is light."""
        run = self._acquire_job()
        run.set_state(t, y)
        inverse_inertias = _compute_weights(run)
        self._release_job(run)
        return inverse_inertias

    def project_onto_branch(
        self, t: float, y: NDArray[np.float64], weights: Weights
    ) -> NDArray[np.float64] | None:
        """A start brought onto a branch if it is in a singular configuration; None if it is
        singular and at rest."""
        run = self._acquire_job()
        run.set_state(t, y)
        run.set_weights(weights)
        state = _project_onto_branch(run)
        self._release_job(run)
        return state

    def weights_and_branch(
        self, t: float, y: NDArray[np.float64]
    ) -> tuple[Weights, NDArray[np.float64] | None]:
        """Both: the weights at a state, and the start by them."""
        run = self._acquire_job()
        run.set_state(t, y)
        weights_and_start = _compute_weights(run), _project_onto_branch(run)
        self._release_job(run)
        return weights_and_start


def _compute_weights(run: LoopCRun) -> Weights:
    """The weights at the state of a job, which takes them."""
    run.compute_weights()
    root_q, root_u = run.weight_roots
    return root_q * root_q, root_u * root_u


def _project_onto_branch(run: LoopCRun) -> NDArray[np.float64] | None:
    """The state of a job on its branch."""
    return run.state.copy() if run.project_onto_branch() == FINISHED else None
