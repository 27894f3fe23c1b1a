"""Compilers in the background: one at a time, at low priority, while models already run with what
was soon ready.

What was asked for last is made first: it is what is used at present. When the process ends, so does
the compiler.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable

from bellcrank.simulation.backend.processes import BackgroundProcess

ENDING_SECONDS = 10.0  # that the end of the process waits until nothing of a build is left

Task = Callable[[BackgroundProcess], None]


class BackgroundQueue:
    """Tasks that a thread does one after the other; it ends when there are none."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Task] = []
        self._thread: threading.Thread | None = None
        self._aside = BackgroundProcess()
        self._over = False

    def submit(self, task: Task) -> bool:
        """Has a task done, which raises nothing; False if that cannot be."""
        with self._lock:
            if self._over:
                return False
            self._waiting.append(task)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run_tasks, name="bellcrank compiles", daemon=True
                )
                try:
                    self._thread.start()
                except RuntimeError:  # no more threads, or the interpreter ends
                    self._thread = None
                    self._waiting.clear()
                    return False
        return True

    def _run_tasks(self) -> None:
        while True:
            with self._lock:
                if self._over or not self._waiting:
                    self._thread = None
                    return
                task, self._aside = self._waiting.pop(), BackgroundProcess()
            task(self._aside)

    def stop_all_tasks(self) -> None:
        """Ends what is under way and does nothing more."""
        with self._lock:
            self._over, thread = True, self._thread
            self._waiting.clear()
        if thread is not None:
            self._aside.terminate()
            thread.join(ENDING_SECONDS)


_of_process: dict[int, BackgroundQueue] = {}


def background_queue() -> BackgroundQueue:
    """That of this process: a thread does not live on in a process that was forked."""
    number = os.getpid()
    queue = _of_process.get(number)
    if queue is None:
        _of_process.clear()
        queue = _of_process.setdefault(number, BackgroundQueue())
        atexit.unregister(_stop_background_queue)
        atexit.register(
            _stop_background_queue
        )  # now: what is registered last is done first, before folders of the process are removed
    return queue


def _stop_background_queue() -> None:
    queue = _of_process.get(os.getpid())
    if queue is not None:
        queue.stop_all_tasks()
