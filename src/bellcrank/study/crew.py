"""Who does the runs: this process alone, processes of this machine, or any Dask cluster.

Tasks hold several runs and end after about a second; what a task did not come to is given out again. A task whose worker dies is repeated by Dask, which leaves
out what its worker had kept. If it kills workers again and again its runs are given out one by one, and the one that does it gets
a row that says so.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from bellcrank.errors import RunError
from bellcrank.study.job import Job, measures_of
from bellcrank.study.sampling import Value
from bellcrank.study.store import Store, Writer
from bellcrank.study.worker import work

SLICE = 1.0  # s of a task
MOST = 64  # runs of a task
AHEAD = 2  # tasks for each thread of the cluster, so that no worker waits
CONNECT = 5.0  # s to reach a scheduler
WORKERS = 30.0  # s to wait for workers
TICK = 1.0  # s between looks at the cluster

Run = tuple[str, Mapping[str, Value]]
Told = Callable[[dict[str, Any]], None]


def has_dask() -> bool:
    return importlib.util.find_spec("distributed") is not None


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def alone(job: Job, runs: Sequence[Run], store: Store, tell: Told) -> None:
    """All runs in this process."""
    left = deque(runs)
    while left:
        _, records = work(job, list(islice(left, MOST)), str(store.folder), store.token, SLICE)
        for record in records:
            left.popleft()
            tell(record)


@contextmanager
def local(workers: int | None) -> Iterator[Any]:
    """A client of worker processes on this machine, reached through the loopback interface alone."""
    _need_dask()
    import dask
    from distributed import Client, LocalCluster

    quiet = {"distributed.worker.daemon": True, "distributed.comm.timeouts.connect": "30s"}
    with dask.config.set(quiet):
        try:
            cluster = LocalCluster(
                n_workers=workers or cores(), threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None,
                worker_dashboard_address=None, silence_logs=logging.CRITICAL,
            )  # fmt: skip
        except (OSError, RuntimeError, TimeoutError) as error:
            raise RunError(f"the worker processes cannot be started: {error}") from None
        with cluster, Client(cluster) as client:
            yield client


@contextmanager
def remote(address: str, timeout: float = CONNECT) -> Iterator[Any]:
    """A client of the scheduler at an address such as tcp://10.0.0.5:8786."""
    _need_dask()
    from distributed import Client

    with _silent():
        try:
            client = Client(address, timeout=timeout, set_as_default=False)
        except (OSError, ValueError, TypeError, RuntimeError, ImportError) as error:
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise RunError(
                f"no Dask scheduler answers at {address} within {timeout:g} s ({why}); start one with `dask scheduler`, and give its address, such as tcp://127.0.0.1:8786"
            ) from None
        try:
            yield client
        finally:
            client.close(timeout=2)


def _need_dask() -> None:
    if not has_dask():
        raise RunError("this needs the packages dask and distributed: pip install 'bellcrank[study]'")


@contextmanager
def _silent() -> Iterator[None]:
    """What Dask has to say about connections is said by us."""
    logger = logging.getLogger("distributed")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


class Crew:
    """Gives out runs to the workers of a client until all are done."""

    def __init__(self, client: Any, job: Job, store: Store, tell: Told, patience: float = WORKERS) -> None:
        self.client, self.job, self.store, self.tell, self.patience = client, job, store, tell, patience
        self.left: deque[Run] = deque()
        self.single: deque[Run] = deque()  # of tasks that killed workers: each alone
        self.out: dict[Any, list[Run]] = {}
        self.idle_since: float | None = None

    def do(self, runs: Sequence[Run]) -> None:
        from distributed import wait

        self.left.extend(runs)
        try:
            while self.left or self.single or self.out:
                self._give()
                try:
                    done = wait(list(self.out), timeout=TICK, return_when="FIRST_COMPLETED").done if self.out else ()
                except TimeoutError:
                    done = ()
                for future in done:
                    self._take(future, self.out.pop(future))
                if self.client.status != "running":
                    raise self._gone()
        except RunError:
            raise
        except (OSError, RuntimeError) as error:
            if self.client.status == "running":
                raise
            raise self._gone() from error

    def _gone(self) -> RunError:
        return RunError(
            f"the Dask scheduler went away; what is done lies in {self.store.folder}, and the same command goes on from there"
        )

    def _threads(self) -> int:
        try:
            found = sum(self.client.nthreads().values())
        except (OSError, TimeoutError):
            found = 0
        now = time.monotonic()
        if found:
            self.idle_since = None
        elif self.idle_since is None:
            self.idle_since = now
        elif now - self.idle_since > self.patience and self.client.status == "running":
            raise RunError(
                f"the Dask scheduler at {self.client.scheduler.address} has had no workers for {self.patience:g} s; start some with `dask worker`"
            )
        return found

    def _give(self) -> None:
        """Tasks for everybody, smaller towards the end so that all end together."""
        threads = max(self._threads(), 1)
        while (self.left or self.single) and len(self.out) < AHEAD * threads:
            if self.single:
                runs = [self.single.popleft()]
            else:
                size = min(MOST, max(1, len(self.left) // (2 * AHEAD * threads)))
                runs = [self.left.popleft() for _ in range(min(size, len(self.left)))]
            future = self.client.submit(
                work, self.job, runs, str(self.store.folder), self.store.token, SLICE, pure=False
            )
            self.out[future] = runs

    def _take(self, future: Any, runs: list[Run]) -> None:
        """Records of a task; what it did not come to goes back."""
        from distributed import KilledWorker

        if future.status == "finished":
            kept, records = future.result()
            if not kept:
                with Writer(self.store.folder, "-main") as writer:
                    for record in records:
                        writer.add(record)
            for record in records:
                self.tell(record)
            done = {record["key"] for record in records}
            self.left.extendleft(reversed([run for run in runs if run[0] not in done]))
            return
        error = future.exception() if future.status == "error" else None
        if isinstance(error, KilledWorker):
            self._deadly(runs)
        elif error is not None:
            raise RunError(_words(error)) from None
        else:  # cancelled or lost: the scheduler has forgotten it
            if self.client.status != "running":
                raise self._gone()
            self.left.extend(runs)

    def _deadly(self, runs: list[Run]) -> None:
        kept = self.store.records()
        for key, values in runs:
            if key in kept:
                self.tell(kept[key])
            elif len(runs) > 1:
                self.single.append((key, values))
            else:
                sentence = "the processes that tried this run died in it, several times"
                record = {
                    "key": key, "values": dict(values), "measures": {m.name: None for m in measures_of(self.job)}, "ended": sentence,
                    "notes": [], "seconds": 0.0, "by": "",
                }  # fmt: skip
                with Writer(self.store.folder, "-main") as writer:
                    writer.add(record)
                self.tell(record)


def _words(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f"the workers cannot import {error.name}: Bellcrank of the same version must be installed where they run"
    if isinstance(error, RunError):
        return str(error)
    return f"a task failed: {type(error).__name__}: {error}"
