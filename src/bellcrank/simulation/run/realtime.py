"""Steps in real time: how long each takes, and whether it is over before the next one is due.

In:  a function that takes one step. Out: `StepTiming`. The clock of the machine decides when a step
begins.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from bellcrank.core.errors import RunError

# ns before a step is due from which on nobody sleeps: a sleep may last longer than asked for
NAP = 300_000
PRIORITY = 50  # under SCHED_FIFO
EDGES = (
    0.0,
    1.0,
    2.0,
    5.0,
    10.0,
    20.0,
    50.0,
    100.0,
    200.0,
    500.0,
    1000.0,
    2000.0,
    5000.0,
    10000.0,
    np.inf,
)  # us


@dataclass(frozen=True)
class StepTiming:
    """Microseconds that steps took, and by how much they were over after the next was due
    (negative: before); `ended` reports why there were no more."""

    durations: np.ndarray
    lateness: np.ndarray
    ended: str = "finished"

    @property
    def n_missed(self) -> int:
        """Steps that were not over in time."""
        return int(np.count_nonzero(self.lateness > 0))

    def histogram(self) -> list[tuple[float, float, int]]:
        """From, to (us) and how many, without empty ends."""
        bin_counts = np.histogram(self.durations, bins=EDGES)[0].tolist()
        rows = [*zip(EDGES[:-1], EDGES[1:], bin_counts, strict=True)]
        full = [i for i, count in enumerate(bin_counts) if count]
        return rows[full[0] : full[-1] + 1] if full else []


def run_in_real_time(
    take_step: Callable[[], None],
    step: float,
    count: int,
    on_step: Callable[[int], None] | None = None,
) -> StepTiming:
    """Takes so many steps, one every `step` s, or as many as can be taken. One that is late is
    followed at once.

    `on_step` is called with the number of each finished step; its time is not counted.
    """
    took, late = np.zeros(count), np.zeros(count)
    clock, period = time.perf_counter_ns, round(step * 1e9)
    start = clock() + period
    for i in range(count):
        due = start + i * period
        wait = due - clock()
        if wait > NAP:
            time.sleep((wait - NAP) * 1e-9)
        while clock() < due:
            pass
        begin_time = clock()
        try:
            take_step()
        except RunError as error:
            return StepTiming(took[:i], late[:i], str(error))
        end_time = clock()
        took[i], late[i] = (end_time - begin_time) * 1e-3, (end_time - due - period) * 1e-3
        if on_step is not None:
            on_step(i + 1)
    return StepTiming(took, late)


@contextmanager
def real_time_priority() -> Iterator[str]:
    """While this lasts, this process goes before others where that is allowed, and no garbage is
    collected; how that went, in words."""
    collecting, old_policy = gc.isenabled(), None
    gc.collect()
    gc.disable()
    try:
        try:
            old_policy = os.sched_getscheduler(0), os.sched_getparam(0)
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
            description = f"SCHED_FIFO, priority {PRIORITY}"
        except AttributeError:
            description = "as any other process: this system has no SCHED_FIFO"
        except PermissionError:
            old_policy, description = (
                None,
                "as any other process: SCHED_FIFO is not allowed to this user",
            )
        yield description
    finally:
        if old_policy is not None:
            os.sched_setscheduler(0, *old_policy)
        if collecting:
            gc.enable()
