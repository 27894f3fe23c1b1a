"""Worker processes on this machine, which take tasks and answer through pipes: nobody else can
reach them.

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

from bellcrank.core.errors import RunError
from bellcrank.study.executor import TICK, TaskOutcome
from bellcrank.study.worker_process import DONE, READY

IN_VAIN = 10  # processes that may die one after another while no run gets done


def available_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class WorkerProcess:
    """A process, the task it has, and a thread that puts its answers into a queue; None when it has
    died."""

    def __init__(
        self, answers: queue.SimpleQueue[tuple[WorkerProcess, Any]], log: IO[bytes]
    ) -> None:
        self.task: int | None = None
        self.ready = False
        new_group = (
            {"start_new_session": True} if os.name == "posix" else {}
        )  # Ctrl-C is ours to handle
        self.process = subprocess.Popen(  # type: ignore[call-overload]
            [sys.executable, "-P", "-c", _worker_program()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=_worker_environment(),
            **new_group,
        )
        self._listener = threading.Thread(target=self._listen, args=(answers,), daemon=True)
        self._listener.start()

    def _listen(self, answers: queue.SimpleQueue[tuple[WorkerProcess, Any]]) -> None:
        with (
            suppress(EOFError, OSError, ValueError, pickle.UnpicklingError),
            self.process.stdout as stream,
        ):
            while True:
                answers.put((self, pickle.load(stream)))
        answers.put((self, None))

    def send_task(self, number: int, task: tuple[Any, ...]) -> None:
        self.task = number
        with suppress(OSError):  # it has died, which its thread reports
            pickle.dump(task, self.process.stdin)
            self.process.stdin.flush()

    def close(self) -> None:
        """A closed pipe makes the process end."""
        with suppress(OSError):
            self.process.stdin.close()

    def stop_process(self) -> int:
        """Waits for the end of the process, which is killed if it does not come; returns its exit
        code."""
        self.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._listener.join(5)
        return int(self.process.returncode)


class LocalTeam:
    """A team of worker processes. `log` gets what they print."""

    def __init__(self, number: int, log: IO[bytes]) -> None:
        self.threads, self.log, self.deaths = number, log, 0
        self._answers: queue.SimpleQueue[tuple[WorkerProcess, Any]] = queue.SimpleQueue()
        self._waiting: deque[tuple[int, tuple[Any, ...]]] = deque()
        self._numbers = count()
        self.running: list[WorkerProcess] = []
        for _ in range(number):  # one by one: an interrupt leaves those that are known
            self.running.append(WorkerProcess(self._answers, log))

    def submit(self, task: tuple[Any, ...]) -> int:
        number = next(self._numbers)
        self._waiting.append((number, task))
        self._send_tasks()
        return number

    def _send_tasks(self) -> None:
        for worker in self.running:
            if self._waiting and worker.ready and worker.task is None:
                worker.send_task(*self._waiting.popleft())

    def finished_tasks(self, _tasks: Iterable[int]) -> Iterator[tuple[int, TaskOutcome]]:
        """Tasks that have ended, at most one; none after a while."""
        try:
            worker, answer = self._answers.get(timeout=TICK)
        except queue.Empty:
            return
        number, worker.task = worker.task, None
        if answer is None:
            self._replace_worker(worker)
        elif answer[0] == READY:
            worker.ready = True
        elif answer[0] != DONE:
            raise RunError(answer[1])
        self._send_tasks()
        if number is not None:
            yield (
                number,
                TaskOutcome(worker_died=True) if answer is None else TaskOutcome(answer[1]),
            )

    def _replace_worker(self, worker: WorkerProcess) -> None:
        code = worker.stop_process()
        self.deaths += 1
        if self.deaths > IN_VAIN:
            raise RunError(
                f"{self.deaths} worker processes died one after another (exit code {code}); "
                f"their messages are in {self.log.name}"
            )
        self.running[self.running.index(worker)] = WorkerProcess(self._answers, self.log)

    def check_workers(self, progress: bool) -> None:
        """`progress`: runs were done since the last call."""
        if progress:
            self.deaths = 0

    def stop_workers(self) -> None:
        for worker in self.running:
            worker.close()
        for worker in self.running:
            worker.stop_process()


def _worker_program() -> str:
    """What a worker runs: with our module path, but for the working directory."""
    working_folder, package_folder = os.getcwd(), str(Path(__file__).parents[2])
    path = [p for p in sys.path if p and os.path.abspath(p) != working_folder]
    if package_folder not in path:
        path.append(package_folder)
    return (
        f"import sys; sys.path[:] = {path!r}; from bellcrank.study.worker_process import main; "
        f"main()"
    )


def _worker_environment() -> dict[str, str]:
    working_folder, paths = os.getcwd(), os.environ.get("PYTHONPATH", "").split(os.pathsep)
    path = os.pathsep.join(p for p in paths if p and os.path.abspath(p) != working_folder)
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1", **one}


@contextmanager
def local_team(workers: int | None, folder: Path) -> Iterator[LocalTeam]:
    """A team of processes on this machine."""
    with (folder / "workers.log").open("ab") as log:
        team = LocalTeam(workers or available_cores(), log)
        try:
            yield team
        finally:
            team.stop_workers()
    if Path(log.name).stat().st_size == 0:
        Path(log.name).unlink()
