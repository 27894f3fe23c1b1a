"""Worker processes on this machine, for a scheduler in this process; all listen on the loopback interface alone."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from bellcrank.errors import RunError

HOST = "127.0.0.1"
IN_VAIN = 10  # processes that may die one after another while no run gets done
TRIES = 1  # further workers that Dask gives a task to whose worker died


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Processes:
    """Worker processes; those that die are started again. `log` gets what they say."""

    def __init__(self, address: str, count: int, log: IO[bytes]) -> None:
        self.address, self.log = address, log
        self.running = [self._start() for _ in range(count)]
        self.deaths = 0

    def _start(self) -> subprocess.Popen[bytes]:
        path = os.pathsep.join(p for p in sys.path if p)
        env = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "bellcrank.study.process", self.address]
        new_group = {"start_new_session": True} if os.name == "posix" else {}  # Ctrl-C is ours to handle
        return subprocess.Popen(  # type: ignore[call-overload]
            command, stdin=subprocess.PIPE, stdout=self.log, stderr=self.log, env=env, **new_group
        )

    def look_after(self, progress: bool) -> None:
        """Starts again what died; `progress`: runs were done since the last look."""
        if progress:
            self.deaths = 0
        for i, process in enumerate(self.running):
            if process.poll() is not None:
                self.deaths += 1
                if self.deaths > IN_VAIN:
                    raise RunError(
                        f"{self.deaths} worker processes died one after another (exit code {process.returncode}); "
                        f"what they said is in {self.log.name}"
                    )
                self._close(process)
                self.running[i] = self._start()

    def end(self) -> None:
        """Closed pipes tell the processes to end; those that do not are killed."""
        for process in self.running:
            self._close(process)
        for process in self.running:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    @staticmethod
    def _close(process: subprocess.Popen[bytes]) -> None:
        if process.stdin is not None:
            process.stdin.close()


@contextmanager
def silent() -> Iterator[None]:
    """What Dask has to say about connections that break is said by us."""
    import distributed  # noqa: F401  which sets the levels of its loggers

    loggers = [logging.getLogger(n) for n in list(logging.root.manager.loggerDict) if n.split(".")[0] == "distributed"]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


@contextmanager
def local(workers: int | None, folder: Path) -> Iterator[tuple[Any, Processes]]:
    """A client and the worker processes it has."""
    import dask
    from distributed import Client, LocalCluster

    settings = {"distributed.scheduler.allowed-failures": TRIES}
    with silent(), dask.config.set(settings), (folder / "workers.log").open("ab") as log:
        try:
            cluster = LocalCluster(
                n_workers=0, processes=True, host=HOST, dashboard_address=f"{HOST}:0", silence_logs=logging.CRITICAL
            )
        except (OSError, RuntimeError, TimeoutError) as error:
            raise RunError(f"the scheduler cannot be started: {error}") from None
        with cluster, Client(cluster, set_as_default=False) as client:
            processes = Processes(cluster.scheduler_address, workers or cores(), log)
            try:
                yield client, processes
            finally:
                processes.end()
    if Path(log.name).stat().st_size == 0:
        Path(log.name).unlink()
