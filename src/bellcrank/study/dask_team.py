"""A Dask cluster that the user names by the address of its scheduler."""

from __future__ import annotations

import importlib.util
import logging
import time
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bellcrank.core.errors import RunError
from bellcrank.study.executor import TICK, TaskOutcome
from bellcrank.study.worker import do_task, task_error_message

CONNECT = 5.0  # s to reach a scheduler
WORKERS = 30.0  # s to wait for workers


@contextmanager
def dask_client(address: str, timeout: float = CONNECT) -> Iterator[Any]:
    """A client of the scheduler at an address such as tcp://10.0.0.5:8786."""
    if importlib.util.find_spec("distributed") is None:
        raise RunError(
            "this needs the packages dask and distributed: pip install 'bellcrank[study]'"
        )
    from distributed import Client

    with _mute_dask():
        try:
            client = Client(address, timeout=timeout, set_as_default=False)
        except (OSError, ValueError, TypeError, RuntimeError, ImportError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise RunError(
                f"no Dask scheduler answers at {address} within {timeout:g} s ({reason}); "
                f"start one with `dask "
                "scheduler`, and give its address, such as tcp://127.0.0.1:8786"
            ) from None
        try:
            yield client
        finally:
            client.close(timeout=2)


@contextmanager
def _mute_dask() -> Iterator[None]:
    """Dask's messages about connections that break are replaced by ours."""
    import distributed  # noqa: F401  which sets the levels of its loggers

    loggers = [
        logging.getLogger(n)
        for n in list(logging.root.manager.loggerDict)
        if n.split(".")[0] == "distributed"
    ]
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


class DaskTeam:
    """The workers of a client, as a team. `patience`: s without workers."""

    def __init__(self, client: Any, folder: Path, patience: float = WORKERS) -> None:
        self.client, self.folder, self.patience = client, folder, patience
        self.threads, self._idle_since = 0, time.monotonic()

    def submit(self, task: tuple[Any, ...]) -> Any:
        with self._report_lost_scheduler():
            return self.client.submit(do_task, *task, pure=False)

    def finished_tasks(self, tasks: Iterable[Any]) -> Iterator[tuple[Any, TaskOutcome]]:
        """Tasks that have ended; none after a while."""
        from distributed import wait

        with self._report_lost_scheduler():
            try:
                with self.client.as_current():
                    finished = wait(list(tasks), timeout=TICK, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                return
            for future in finished:
                if outcome := self._task_outcome(future):
                    yield future, outcome

    def _task_outcome(self, future: Any) -> TaskOutcome | None:
        from distributed import KilledWorker

        if future.status == "finished":
            try:
                return TaskOutcome(future.result(timeout=TICK))
            except (
                TimeoutError
            ):  # its worker died with the records: Dask will have them made, or found, again
                return None
        error = future.exception(timeout=TICK) if future.status == "error" else None
        if error is not None and not isinstance(error, KilledWorker):
            raise RunError(task_error_message(error)) from None
        if error is None and self.client.status != "running":
            raise self._lost_scheduler_error()
        return TaskOutcome(
            worker_died=error is not None
        )  # else cancelled or lost: the scheduler has forgotten it

    @contextmanager
    def _report_lost_scheduler(self) -> Iterator[None]:
        from distributed.comm import CommClosedError

        try:
            yield
        except (OSError, RuntimeError, CancelledError) as error:
            lost = isinstance(
                error, CancelledError | CommClosedError
            )  # the client may not have noticed yet
            if self.client.status == "running" and not lost:
                raise
            raise self._lost_scheduler_error() from None

    def _lost_scheduler_error(self) -> RunError:
        advice = f"what is done is in {self.folder}, and the same command continues from there"
        return RunError(f"the Dask scheduler went away; {advice}")

    def check_workers(self, _progress: bool) -> None:
        """Is everybody there?"""
        with self._report_lost_scheduler():
            time_now = time.monotonic()
            if self.client.status != "running":
                raise self._lost_scheduler_error()
            self.threads = sum(self.client.nthreads().values())
            if self.threads:
                self._idle_since = time_now
            elif time_now - self._idle_since > self.patience:
                problem = (
                    f"has had no workers for {self.patience:g} s; start some with `dask worker`"
                )
                raise RunError(f"the Dask scheduler at {self.client.scheduler.address} {problem}")
