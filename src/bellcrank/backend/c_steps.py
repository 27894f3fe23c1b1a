"""A compiled run that continues step by step, at the price of a call: what C reads and writes is bound once."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence

import numpy as np

from bellcrank.backend.c_job import InputSignal, address
from bellcrank.backend.c_runs import AGAIN, BEGUN, CRun, RigidCRun

SHORT = 64  # steps for which other threads wait
NEVER = 2**62  # rows: C records the last step of a call alone
BLOCK_SECONDS = 0.1  # between two looks at the keyboard
_VALUE = InputSignal.a.offset // 8  # place of a signal's first number among the doubles of its structure


class CSteps:
    """Steps of a run that was made ready. `row`: time, state, outputs and inputs of the state reached.

    `call(at, n)` takes up to SHORT steps and returns the status, where nothing is called back (`calls_back`).
    """

    plain: bool = True  # can inputs be given other values between steps?

    def __init__(self, run: CRun) -> None:
        self.run, self.job = run, run.fields
        self.row = np.zeros(run.width)
        run.write_to(self.row)
        self.job.reached = run.reached
        self.job.every, self.job.t_end = NEVER, self.job.t_start
        self.call: Callable[[int, int], int]
        if run.in_process:
            run.calls.libraries.tell(self)
            run.calls.libraries.expect_long_use()
        self.follow()
        self.at = ctypes.addressof(self.job)
        self.calls_back = run.calls_back
        doubles = np.frombuffer(run.signals, dtype=float).reshape(len(run.signals), -1)
        self._values = doubles[:, _VALUE]

    def follow(self) -> None:
        """Takes the function of the library that is there now."""
        if self.run.in_process:
            self.call = self.run.calls.libraries.now.steps_on
        else:
            self.call = lambda _, n: self.run.call("steps_on", n)

    @property
    def reached(self) -> int:
        """Steps taken, counted as the run counts them."""
        return int(self.job.reached)

    @property
    def is_settled(self) -> bool:
        """Is the row that of the state with its present inputs?"""
        return bool(self.job.begun != AGAIN)

    def take(self, n: int) -> int:
        """Takes n steps, 0: the start, or a state after inputs were set; the status."""
        if n <= SHORT:
            return int(self.run.in_c(lambda: self.call(self.at, n)))
        job, first, block = self.job, self.reached, SHORT
        while job.reached < first + n:
            job.first, job.filled = job.reached, 0
            job.total, job.last = first + n, min(job.first + block, first + n)
            began = time.perf_counter()
            if status := self.run.call("run"):
                return status
            block_factor = BLOCK_SECONDS / max(time.perf_counter() - began, 1e-9)
            block = max(1, int(block * min(block_factor, 8.0)))
        return 0

    def ended(self) -> None:
        """Notes how far the run came, and why it came no further."""
        self.run.ended(self.job.status)

    def uncount(self) -> None:
        """Leaves the step that failed: the row is that of the last good state, as far as it can be found again."""
        job, status = self.job, self.job.status
        job.reached -= 1
        self.row[0], self.row[1 : 1 + len(self.run.state)] = job.t, self.run.state
        self.row[1 + len(self.run.state) :] = np.nan
        job.begun = AGAIN
        if not self.calls_back:
            self.call(self.at, 0)
        job.begun, job.status = BEGUN, status

    def left(self) -> bool:
        """Steps were left by an error in Python. Can the run continue? Its row is then to be found again."""
        if self.job.status:
            self.uncount()
            return False
        self.job.begun = AGAIN
        return True

    def set_constant(self, indices: Sequence[int], value: float, reevaluate: bool = True) -> None:
        """Set constant inputs to a value; `reevaluate`: find the state derivatives and outputs again."""
        for index in indices:
            self._values[index] = value
        if reevaluate:
            self.job.begun = AGAIN

    def put(self, row: np.ndarray, steps_done: int) -> None:
        """Takes the row that goes with what the run has taken over."""
        self.row[:], self.job.reached = row, steps_done

    def lie_in(self, row: np.ndarray) -> None:
        """Keeps its row in such a place from now on."""
        if row is not self.row:
            row[:] = self.row
            self.row = row
            self.run.write_to(row)


class StepsOfAll:
    """Several runs of one model that continue together; `rows`: those of their states, one for each."""

    def __init__(self, members: Sequence[CSteps], rows: np.ndarray) -> None:
        self._jobs = np.zeros(len(members), dtype=np.uintp)
        self._members, self._libraries = list(members), members[0].run.calls.libraries
        self._libraries.tell(self)
        self.follow()
        for i, (member, row) in enumerate(zip(members, rows, strict=True)):
            self.replace(i, member, row)

    def follow(self) -> None:
        """Takes the functions of the library that is there now."""
        library = self._libraries.now.loaded
        step, set_inputs = library.steps_of_all, library.set_of_all
        step.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
        step.restype = ctypes.c_int64
        set_inputs.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
        set_inputs.restype = None
        self._step, self._set = step, set_inputs

    def replace(self, i: int, member: CSteps, row: np.ndarray) -> None:
        """Takes another run at a place."""
        self._members[i], self._jobs[i] = member, member.at
        member.lie_in(row)

    def take(self, n: int, first: int, last: int) -> int:
        """Takes n steps of the runs from number `first` to before `last`, 0: settles them; how many have failed."""
        return int(self._step(self._jobs[first:].ctypes.data, last - first, n))

    def set(self, indices: np.ndarray, values: np.ndarray) -> None:
        """Gives other values to constant inputs, a row for each run."""
        self._set(address(self._jobs), len(self._jobs), len(indices), address(indices), address(values))


class RigidCSteps(CSteps):
    """The same with rigid wheels, whose events are reported in between."""

    plain = False

    def __init__(self, run: RigidCRun) -> None:
        super().__init__(run)
        self.job.every = 1

    def take(self, n: int) -> int:
        if not n:
            return super().take(n)
        last = self.reached + n
        try:
            while self.run.reached < last:
                rows = self.run.advance(last)
                if len(rows):
                    self.row[:] = rows[-1]
                if self.run.status:
                    return self.run.status
        finally:
            self.job.rows = address(self.row)
        return 0

    def uncount(self) -> None:
        self.job.reached -= 1

    def put(self, row: np.ndarray, steps_done: int) -> None:
        super().put(row, steps_done)
        self.run.reached = steps_done
