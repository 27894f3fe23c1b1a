"""Many runs on all cores: threads that each drive a compiled program run after run, without Python
in between."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import Protocol

import numpy as np

from bellcrank.codegen.c.batch_driver import LEFT
from bellcrank.simulation.backend.c_batch import PENDING, BatchBuffers

LOOK_SECONDS = 0.1  # between two looks at progress and the keyboard
PARTS = 4  # into which a thread's fraction of what is left is divided, so that all end together
MOST = 4096  # runs that a thread takes at a time


class BatchWorker(Protocol):
    """One thread's part of many runs."""

    def run_range(self, first: int, last: int) -> None: ...


class PendingRuns:
    """The runs of a part that were left."""

    def __init__(self, part: BatchWorker, status: np.ndarray) -> None:
        self._part, self._status = part, status

    def run_range(self, first: int, last: int) -> None:
        for run in first + np.flatnonzero(self._status[first:last] == LEFT):
            self._part.run_range(int(run), int(run) + 1)


def core_count() -> int:
    """Cores that this process may use."""
    try:
        return max(len(os.sched_getaffinity(0)), 1)
    except AttributeError:
        return os.cpu_count() or 1


def run_on_threads(
    make_worker: Callable[[], BatchWorker],
    results: BatchBuffers,
    progress: Callable[[float], None] | None,
    group: int,
    max_threads: int | None = None,
) -> None:
    """Does all runs, in groups of at least `group` that are not divided, by at most so many
    threads, by default one for each core. What a thread raises is raised here."""
    n, lock, wake = len(results.status), Lock(), Event()
    threads = min(core_count() if max_threads is None else max_threads, -(-n // group))
    next_run, n_finished = 0, 0
    failed: list[BaseException] = []

    def next_range() -> tuple[int, int]:
        nonlocal next_run
        with lock:
            first = next_run
            size = min(-(-(n - first) // (PARTS * threads)), MOST)
            next_run = min(n, first + -(-size // group) * group)
            return first, next_run

    def work(part: BatchWorker | None) -> None:
        nonlocal n_finished
        try:
            part = make_worker() if part is None else part
            while not results.stop_request[0]:
                first, last = next_range()
                if first >= last:
                    break
                part.run_range(first, last)
        except BaseException as error:  # a thread has nobody above it
            failed.append(error)
            results.stop_request[0] = 1
        finally:
            with lock:
                n_finished += 1
            wake.set()

    first_worker = make_worker()  # what is wrong is reported before any thread begins
    workers = [
        Thread(target=work, args=(first_worker if i == 0 else None,), daemon=True)
        for i in range(threads)
    ]
    for thread in workers:
        thread.start()
    try:
        while n_finished < threads:
            wake.wait(LOOK_SECONDS)
            wake.clear()
            if progress is not None:
                progress(float(np.count_nonzero(results.status != PENDING)) / n)
    finally:
        if n_finished < threads:
            results.stop_request[0] = 1
        for thread in workers:
            thread.join()
    if failed:
        raise failed[0]
    if progress is not None:
        progress(1.0)
