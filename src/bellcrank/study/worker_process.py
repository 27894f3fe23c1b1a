"""A worker process of this machine, started and watched over by `local`: tasks come in, answers go
out, by pipes.

It ends as soon as the process that started it ends, however that came about: its standard input is
then closed. A compiler that runs for it ends first, and what is left of a build is removed.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import threading
import time
from typing import IO, Any

READY, DONE, FAILED = "ready", "done", "failed"
UNWIND = 2.0  # s to end compilers and remove builds, before the process ends all the same


def main() -> None:
    signal.signal(signal.SIGTERM, _exit_on_signal)
    tasks: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
    task_stream, answers = (
        _take_over_stream(0, "rb", os.open(os.devnull, os.O_RDONLY)),
        _take_over_stream(1, "wb", os.dup(2)),
    )
    threading.Thread(target=_read_tasks, args=(task_stream, tasks), daemon=True).start()
    from bellcrank.study.worker import (
        do_task,
        task_error_message,
    )  # while the thread already listens

    _send_answer(answers, (READY, None))
    while True:
        task = tasks.get()
        try:
            answer = (DONE, do_task(*task))
        except Exception as error:
            answer = (FAILED, task_error_message(error))  # type: ignore[assignment]
        _send_answer(answers, answer)


def _take_over_stream(number: int, mode: str, instead: int) -> IO[bytes]:
    """Standard input or output for ourselves; what the code of a model reads or prints there goes
    elsewhere."""
    stream = os.fdopen(os.dup(number), mode)
    os.dup2(instead, number)
    os.close(instead)
    return stream


def _read_tasks(stream: IO[bytes], tasks: queue.SimpleQueue[tuple[Any, ...]]) -> None:
    try:
        while True:
            tasks.put(pickle.load(stream))
    except (EOFError, OSError, pickle.UnpicklingError):
        if hasattr(signal, "pthread_kill"):  # the main thread leaves its contexts as at Ctrl-C
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
            time.sleep(UNWIND)
        os._exit(0)


def _exit_on_signal(*_: object) -> None:
    """A second signal waits for what the first has begun."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(0)


def _send_answer(answers: IO[bytes], answer: tuple[str, Any]) -> None:
    pickle.dump(answer, answers)
    answers.flush()
