"""Worker processes on this machine, which take tasks and answer through pipes: nobody else can reach them.

They import nothing from the working directory, and those that die are started again.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import IO, Any

from bellcrank.errors import RunError
from bellcrank.study.executor import TICK, Outcome
from bellcrank.study.process import DONE, READY

IN_VAIN = 10  # processes that may die one after another while no run gets done


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Worker:
    """A process, the task it has, and a thread that puts its answers into a queue; None when it has died."""

    def __init__(self, answers: queue.SimpleQueue[tuple[Worker, Any]], log: IO[bytes]) -> None:
        self.task: int | None = None
        self.ready = False
        new_group = {"start_new_session": True} if os.name == "posix" else {}  # Ctrl-C is ours to handle
        self.process = subprocess.Popen(  # type: ignore[call-overload]
            [sys.executable, "-P", "-c", _program()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=_environment(), **new_group,
        )  # fmt: skip
        self._listener = threading.Thread(target=self._listen, args=(answers,), daemon=True)
        self._listener.start()

    def _listen(self, answers: queue.SimpleQueue[tuple[Worker, Any]]) -> None:
        with suppress(EOFError, OSError, ValueError, pickle.UnpicklingError), self.process.stdout as stream:
            while True:
                answers.put((self, pickle.load(stream)))
        answers.put((self, None))

    def give(self, number: int, task: tuple[Any, ...]) -> None:
        self.task = number
        with suppress(OSError):  # it has died, which its thread reports
            pickle.dump(task, self.process.stdin)
            self.process.stdin.flush()

    def close(self) -> None:
        """A closed pipe makes the process end."""
        with suppress(OSError):
            self.process.stdin.close()

    def end(self) -> int:
        """Waits for the end of the process, which is killed if it does not come; returns its exit code."""
        self.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._listener.join(5)
        return int(self.process.returncode)


class Processes:
    """A team of worker processes. `log` gets what they print."""

    def __init__(self, number: int, log: IO[bytes]) -> None:
        self.threads, self.log, self.deaths = number, log, 0
        self._answers: queue.SimpleQueue[tuple[Worker, Any]] = queue.SimpleQueue()
        self._waiting: deque[tuple[int, tuple[Any, ...]]] = deque()
        self._numbers = count()
        self.running: list[Worker] = []
        for _ in range(number):  # one by one: an interrupt leaves those that are known
            self.running.append(Worker(self._answers, log))

    def submit(self, task: tuple[Any, ...]) -> int:
        number = next(self._numbers)
        self._waiting.append((number, task))
        self._give()
        return number

    def _give(self) -> None:
        for worker in self.running:
            if self._waiting and worker.ready and worker.task is None:
                worker.give(*self._waiting.popleft())

    def done(self, _tasks: Iterable[int]) -> Iterator[tuple[int, Outcome]]:
        """Tasks that have ended, at most one; none after a while."""
        try:
            worker, answer = self._answers.get(timeout=TICK)
        except queue.Empty:
            return
        number, worker.task = worker.task, None
        if answer is None:
            self._replace(worker)
        elif answer[0] == READY:
            worker.ready = True
        elif answer[0] != DONE:
            raise RunError(answer[1])
        self._give()
        if number is not None:
            yield number, Outcome(died=True) if answer is None else Outcome(answer[1])

    def _replace(self, worker: Worker) -> None:
        code = worker.end()
        self.deaths += 1
        if self.deaths > IN_VAIN:
            raise RunError(
                f"{self.deaths} worker processes died one after another (exit code {code}); "
                f"their messages are in {self.log.name}"
            )
        self.running[self.running.index(worker)] = Worker(self._answers, self.log)

    def look_after(self, progress: bool) -> None:
        """`progress`: runs were done since the last call."""
        if progress:
            self.deaths = 0

    def end(self) -> None:
        for worker in self.running:
            worker.close()
        for worker in self.running:
            worker.end()


def _program() -> str:
    """What a worker runs: with our module path, but for the working directory."""
    working_folder, package_folder = os.getcwd(), str(Path(__file__).parents[2])
    path = [p for p in sys.path if p and os.path.abspath(p) != working_folder]
    if package_folder not in path:
        path.append(package_folder)
    return f"import sys; sys.path[:] = {path!r}; from bellcrank.study.process import main; main()"


def _environment() -> dict[str, str]:
    working_folder, paths = os.getcwd(), os.environ.get("PYTHONPATH", "").split(os.pathsep)
    path = os.pathsep.join(p for p in paths if p and os.path.abspath(p) != working_folder)
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1", **one}


@contextmanager
def local(workers: int | None, folder: Path) -> Iterator[Processes]:
    """A team of processes on this machine."""
    with (folder / "workers.log").open("ab") as log:
        team = Processes(workers or cores(), log)
        try:
            yield team
        finally:
            team.end()
    if Path(log.name).stat().st_size == 0:
        Path(log.name).unlink()
