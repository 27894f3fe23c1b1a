"""A compiled run that continues step by step, at the price of a call: what C reads and writes is
bound once."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bellcrank.simulation.backend.c_runs import AGAIN, BEGUN, CRun, RigidCRun
from bellcrank.simulation.backend.c_structures import InputSignal, array_address

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHORT = 64  # steps for which other threads wait
NEVER = 2**62  # rows: C records the last step of a call alone
BLOCK_SECONDS = 0.1  # between two looks at the keyboard
_VALUE = (
    InputSignal.a.offset // 8
)  # place of a signal's first number among the doubles of its structure


class CompiledStepDriver:
    """Steps of a run that was made ready. `row`: time, state, outputs and inputs of the state
    reached.

    `call(at, n)` takes up to SHORT steps and returns the status, where nothing is called back
    (`calls_python`).
    """

    accepts_constants: bool = True  # can inputs be given other values between steps?

    def __init__(self, run: CRun) -> None:
        self.run, self.job = run, run.job
        self.row = np.zeros(run.width)
        run.set_row_buffer(self.row)
        self.job.reached = run.steps_done
        self.job.every, self.job.t_end = NEVER, self.job.t_start
        self.call: Callable[[int, int], int]
        if run.shares_memory:
            run.calls.libraries.register(self)
            run.calls.libraries.expect_long_use()
        self.rebind_library()
        self.at = ctypes.addressof(self.job)
        self.calls_python = run.calls_python
        doubles = np.frombuffer(run.signals, dtype=float).reshape(len(run.signals), -1)
        self._values = doubles[:, _VALUE]

    def rebind_library(self) -> None:
        """Takes the function of the library that is there now."""
        if self.run.shares_memory:
            self.call = self.run.calls.libraries.current.take_steps
        else:
            self.call = lambda _, n: self.run.call_kernel("steps_on", n)

    @property
    def steps_done(self) -> int:
        """Steps taken, counted as the run counts them."""
        return int(self.job.reached)

    @property
    def is_up_to_date(self) -> bool:
        """Is the row that of the state with its present inputs?"""
        return bool(self.job.begun != AGAIN)

    def take_steps(self, n: int) -> int:
        """Takes n steps, 0: the start, or a state after inputs were set; the status."""
        if n <= SHORT:
            return int(self.run.call_c(lambda: self.call(self.at, n)))
        job, first, block = self.job, self.steps_done, SHORT
        while job.reached < first + n:
            job.first, job.filled = job.reached, 0
            job.total, job.last = first + n, min(job.first + block, first + n)
            began = time.perf_counter()
            if status := self.run.call_kernel("run"):
                return status
            block_factor = BLOCK_SECONDS / max(time.perf_counter() - began, 1e-9)
            block = max(1, int(block * min(block_factor, 8.0)))
        return 0

    def sync_status(self) -> None:
        """Notes how far the run came, and why it came no further."""
        self.run.update_status(self.job.status)

    def discard_failed_step(self) -> None:
        """Leaves the step that failed: the row is that of the last good state, as far as it can be
        found again."""
        job, status = self.job, self.job.status
        job.reached -= 1
        self.row[0], self.row[1 : 1 + len(self.run.state)] = job.t, self.run.state
        self.row[1 + len(self.run.state) :] = np.nan
        job.begun = AGAIN
        if not self.calls_python:
            self.call(self.at, 0)
        job.begun, job.status = BEGUN, status

    def recover_from_error(self) -> bool:
        """Steps were left by an error in Python. Can the run continue? Its row is then to be found
        again."""
        if self.job.status:
            self.discard_failed_step()
            return False
        self.job.begun = AGAIN
        return True

    def set_constant(self, indices: Sequence[int], value: float, reevaluate: bool = True) -> None:
        """Set constant inputs to a value; `reevaluate`: find the state derivatives and outputs
        again."""
        for index in indices:
            self._values[index] = value
        if reevaluate:
            self.job.begun = AGAIN

    def set_row(self, row: NDArray[np.float64], steps_done: int) -> None:
        """Takes the row that goes with what the run has taken over."""
        self.row[:], self.job.reached = row, steps_done

    def move_row_to(self, row: NDArray[np.float64]) -> None:
        """Keeps its row in such a place from now on."""
        if row is not self.row:
            row[:] = self.row
            self.row = row
            self.run.set_row_buffer(row)


class BatchStepDriver:
    """Several runs of one model that continue together; `rows`: those of their states, one for
    each."""

    def __init__(self, members: Sequence[CompiledStepDriver], rows: NDArray[np.float64]) -> None:
        self._jobs = np.zeros(len(members), dtype=np.uintp)
        self._members, self._libraries = list(members), members[0].run.calls.libraries
        self._libraries.register(self)
        self.rebind_library()
        for i, (member, row) in enumerate(zip(members, rows, strict=True)):
            self.replace_member(i, member, row)

    def rebind_library(self) -> None:
        """Takes the functions of the library that is there now."""
        library = self._libraries.current.loaded
        step, set_inputs = library.steps_of_all, library.set_of_all
        step.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
        step.restype = ctypes.c_int64
        set_inputs.argtypes = [
            ctypes.c_void_p,
            ctypes.c_int64,
            ctypes.c_int64,
            ctypes.c_void_p,
            ctypes.c_void_p,
        ]
        set_inputs.restype = None
        self._step, self._set = step, set_inputs

    def replace_member(self, i: int, member: CompiledStepDriver, row: NDArray[np.float64]) -> None:
        """Takes another run at a place."""
        self._members[i], self._jobs[i] = member, member.at
        member.move_row_to(row)

    def take_steps(self, n: int, first: int, last: int) -> int:
        """Takes n steps of the runs from number `first` to before `last`, 0: settles them; how many
        have failed."""
        return int(self._step(self._jobs[first:].ctypes.data, last - first, n))

    def set_constants(self, indices: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        """Gives other values to constant inputs, a row for each run."""
        self._set(
            array_address(self._jobs),
            len(self._jobs),
            len(indices),
            array_address(indices),
            array_address(values),
        )


class RigidStepDriver(CompiledStepDriver):
    """The same with rigid wheels, whose events are reported in between."""

    accepts_constants = False

    def __init__(self, run: RigidCRun) -> None:
        super().__init__(run)
        self.job.every = 1

    def take_steps(self, n: int) -> int:
        if not n:
            return super().take_steps(n)
        last = self.steps_done + n
        try:
            while self.run.steps_done < last:
                rows = self.run.advance(last)
                if len(rows):
                    self.row[:] = rows[-1]
                if self.run.status:
                    return self.run.status
        finally:
            self.job.rows = array_address(self.row)
        return 0

    def discard_failed_step(self) -> None:
        self.job.reached -= 1

    def set_row(self, row: NDArray[np.float64], steps_done: int) -> None:
        super().set_row(row, steps_done)
        self.run.steps_done = steps_done
