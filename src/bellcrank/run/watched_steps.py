"""Steps of a model that has events, one after another: an event is located within its step and acts there, as in a run.

In:  a run made ready (`Going`) and what its stretches share. Out: `WatchedSteps`. What was set since the last step may
bring events about, too: they act when the next step begins.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bellcrank.backend.c_runs import RigidCRun
from bellcrank.backend.c_steps import BLOCK_SECONDS, SHORT, CSteps
from bellcrank.numeric.events import Book, Happened
from bellcrank.run.prepare import take_steps
from bellcrank.run.stretches import Stretch, Stretches
from bellcrank.run.values import Plan

ACTION_FAILED = -1  # a status: the action of an event cannot be taken, or events chatter
FEW = 1000  # steps of a plan that has no end


class Behind(NamedTuple):
    """What events have done so far; `values`: of their conditions before anything was set since the last step."""

    happened: Happened
    values: Any


class WatchedSteps:
    """Steps of `going`, a run that changes with every event that acts; as `CSteps`."""

    calls_back = is_settled = True
    going: Any  # the `Going` whose steps these are

    def __init__(self, stretches: Stretches, stretch: Stretch, row: np.ndarray | None, behind: Behind | None) -> None:
        self.stretches, self.stretch = stretches, stretch
        self.row = np.empty(0) if row is None else row
        self._first = row is None
        self._values = None if behind is None else behind.values
        watch, first = stretches.watch, stretch.plan.first
        stretches.book = Book(stretch.plan.step, np.inf)
        if behind is None:
            watch.begin(first, row, watch.at_zero(row))
        else:
            watch.begin(first, row, behind.happened.at_zero)
            watch.take(behind.happened, stretches.book)

    @property
    def reached(self) -> int:
        return self.going.prepared.run.reached

    def behind(self) -> Behind:
        """What another run takes over that goes on from here."""
        watch = self.stretches.watch
        values = watch.values(self.row) if self._values is None else self._values
        return Behind(watch.happened(self.stretches.book), values)

    def take(self, n: int) -> int:
        """Takes n steps, 0: the start; the status. An event that stops the run ends them there."""
        going, watch, last = self.going, self.stretches.watch, self.reached + n
        if n and self._values is not None:
            values, self._values = self._values, None
            if watch.jump(values, self.row):
                if going.prepared.remembered is not None:
                    going.prepared.remembered.mark()
                self._act(self.row[None, :])
        while not self.stretches.book.problem and watch.stopped is None:
            prepared = going.prepared._replace(total=last, first_row=self._first)
            rows, interrupted = take_steps(prepared, watch)
            self._first = False
            if interrupted:
                raise KeyboardInterrupt
            self.row = rows[-1].copy() if len(rows) else self.row
            if not self._act(rows) and watch.stopped is None:
                return ACTION_FAILED if self.stretches.book.problem else going.prepared.run.status
        if watch.stopped is not None and going.prepared.remembered is not None:
            going.prepared.remembered.undo()
        return ACTION_FAILED if self.stretches.book.problem else 0

    def _act(self, rows: np.ndarray) -> bool:
        """Lets events act at the last of some rows, if any are to. Does another stretch begin there?"""
        going, s = self.going, self.stretch
        endless = replace(s, plan=further(s.plan, self.reached))
        following = self.stretches.after(endless, going.evaluation, going.prepared, rows)
        if following is None:
            return False
        self.stretch, going.evaluation, going.prepared = following
        assert self.stretch.row is not None
        going.plan, self.row = self.stretch.plan, self.stretch.row
        going.origin = going.origin._replace(parameters=self.stretches.parameters)
        return True

    def ended(self) -> None:
        """Nothing is to be noted."""

    def uncount(self) -> None:
        self.going.prepared.run.reached -= 1

    def left(self) -> bool:
        return False


def further(plan: Plan, reached: int) -> Plan:
    """The plan with an end that lies beyond all steps taken."""
    return plan._replace(t_end=max(plan.t_end, plan.t_start + (reached + FEW) * plan.step))


class KernelSteps(CSteps):
    """Steps of a run whose events the kernel looks for. `going` is the `Going` whose steps these are."""

    going: Any

    def __init__(self, stretches: Stretches, run: Any, behind: Behind | None) -> None:
        super().__init__(run)
        self.plain = not isinstance(run, RigidCRun)
        self.stretches, watch = stretches, stretches.watch
        stretches.book = Book(run.course.step, np.inf)
        if behind is not None:
            assert stretches.watching is not None
            stretches.watching.restore(behind.values)
            watch.take(behind.happened, stretches.book)

    def behind(self) -> Behind:
        """What another run takes over that continues from here."""
        assert self.stretches.watching is not None
        return Behind(self.stretches.watch.happened(self.stretches.book), self.stretches.watching.saved())

    def take(self, n: int) -> int:
        """Takes n steps, 0: the start; the status. An event that stops the run ends them there."""
        last, block = self.reached + n, SHORT
        while True:
            began = time.perf_counter()
            status = self.run.call("steps_on", min(block, last - self.reached))
            if isinstance(self.run, RigidCRun):
                self.run.tell()
            over = self.stretches.happened(self.run)
            self._take_parameters()
            if self.stretches.book.problem:
                return ACTION_FAILED
            if status or over or self.reached >= last:
                return status
            share = BLOCK_SECONDS / max(time.perf_counter() - began, 1e-9)
            block = max(1, int(block * min(share, 8.0)))

    def _take_parameters(self) -> None:
        """Takes the parameters that events have set to what the run is known by."""
        stretches, going = self.stretches, self.going
        if not stretches.changed:
            return
        _, p, c = stretches.changed[-1]
        stretches.changed.clear()
        stretches.stretch, going.evaluation = stretches.with_parameters(
            stretches.stretch, going.evaluation, p, c, self.run
        )
        going.origin = going.origin._replace(parameters=stretches.parameters)
