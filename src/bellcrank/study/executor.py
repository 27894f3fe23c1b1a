"""Who does the runs: this process alone, processes of this machine, or any Dask cluster.

Tasks hold several runs and end after about a second; what a task did not come to is given out again. A task whose
worker dies is repeated by Dask, which leaves out what its worker had kept. If it kills workers again and again its
runs are given out one by one, and the one that does it gets a row that says so.
"""

from __future__ import annotations

import importlib.util
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from bellcrank.errors import RunError
from bellcrank.many.cores import core_count
from bellcrank.many.sampling import Value
from bellcrank.study.job import Job
from bellcrank.study.local import silent
from bellcrank.study.runner import failed
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


def alone(job: Job, runs: Sequence[Run], store: Store, tell: Told) -> None:
    """All runs in this process."""
    left = deque(runs)
    while left:
        some = [left.popleft() for _ in range(min(MOST, len(left)))]
        _, records = work(job, some, str(store.folder), store.token, SLICE, core_count())
        left.extendleft(reversed(_not_in(records, some)))
        for record in records:
            tell(record)


def _not_in(records: Iterable[dict[str, Any]], runs: Iterable[Run]) -> list[Run]:
    """Runs that have no record."""
    done = {record["key"] for record in records}
    return [run for run in runs if run[0] not in done]


@contextmanager
def remote(address: str, timeout: float = CONNECT) -> Iterator[Any]:
    """A client of the scheduler at an address such as tcp://10.0.0.5:8786."""
    from distributed import Client

    with silent():
        try:
            client = Client(address, timeout=timeout, set_as_default=False)
        except (OSError, ValueError, TypeError, RuntimeError, ImportError) as error:
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise RunError(
                f"no Dask scheduler answers at {address} within {timeout:g} s ({why}); start one with `dask "
                "scheduler`, and give its address, such as tcp://127.0.0.1:8786"
            ) from None
        try:
            yield client
        finally:
            client.close(timeout=2)


def need_dask() -> None:
    if not has_dask():
        raise RunError("this needs the packages dask and distributed: pip install 'bellcrank[study]'")


class Executor:
    """Gives out runs to the workers of a client until all are done.

    `look_after` is called now and then with whether runs were done meanwhile; `patience`: s without workers.
    """

    def __init__(
        self,
        client: Any,
        job: Job,
        store: Store,
        tell: Told,
        patience: float = WORKERS,
        look_after: Callable[[bool], None] | None = None,
    ) -> None:
        self.client, self.job, self.store, self.patience, self.look_after = client, job, store, patience, look_after
        self._tell, self._told = tell, False
        self.left: deque[Run] = deque()
        self.suspects: deque[Run] = (
            deque()
        )  # runs in which workers may have died: each goes out with no other beside it
        self.alone = False  # is such a one out?
        self.out: dict[Any, list[Run]] = {}
        self.threads, self.idle_since, self._looked = 0, time.monotonic(), 0.0

    def tell(self, record: dict[str, Any]) -> None:
        self._told = True
        self._tell(record)

    def do(self, runs: Sequence[Run]) -> None:
        """Until all runs are told."""
        self.left.extend(runs)
        try:
            while self.left or self.suspects or self.out:
                self._look()
                self._give()
                for future in self._wait():
                    self._take(future, self.out.pop(future))
        except (OSError, RuntimeError, CancelledError) as error:
            if self.client.status == "running" and not isinstance(error, CancelledError):
                raise
            raise self._gone() from None

    def _wait(self) -> Iterable[Any]:
        """Tasks that are done, or none after a while."""
        from distributed import wait

        try:
            with self.client.as_current():
                return list(wait(list(self.out), timeout=TICK, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            return ()

    def _gone(self) -> RunError:
        done = f"what is done lies in {self.store.folder}, and the same command goes on from there"
        return RunError(f"the Dask scheduler went away; {done}")

    def _look(self) -> None:
        """Every now and then: is everybody there?"""
        now = time.monotonic()
        if now - self._looked < TICK:
            return
        self._looked = now
        if self.client.status != "running":
            raise self._gone()
        if self.look_after is not None:
            self.look_after(self._told)
            self._told = False
        self.threads = sum(self.client.nthreads().values())
        if self.threads:
            self.idle_since = now
        elif now - self.idle_since > self.patience:
            told = f"has had no workers for {self.patience:g} s; start some with `dask worker`"
            raise RunError(f"the Dask scheduler at {self.client.scheduler.address} {told}")

    def _give(self) -> None:
        """Tasks for everybody, smaller towards the end so that all end together."""
        threads = max(self.threads, 1)
        self.alone = self.alone and bool(self.out)
        if self.suspects and not self.out:
            self.alone = True
            self._submit([self.suspects.popleft()])
        while self.left and not self.suspects and not self.alone and len(self.out) < AHEAD * threads:
            size = min(MOST, max(1, len(self.left) // (2 * AHEAD * threads)))
            self._submit([self.left.popleft() for _ in range(min(size, len(self.left)))])

    def _submit(self, runs: list[Run]) -> None:
        folder, token = str(self.store.folder), self.store.token
        self.out[self.client.submit(work, self.job, runs, folder, token, SLICE, pure=False)] = runs

    def _take(self, future: Any, runs: list[Run]) -> None:
        """Records of a task; what it did not come to goes back."""
        from distributed import KilledWorker

        if future.status == "finished":
            try:
                kept, records = future.result(timeout=TICK)
            except TimeoutError:  # its worker died with the records: Dask will have them made, or found, again
                self.out[future] = runs
                return
            if not kept:
                with Writer(self.store.folder, "-main") as writer:
                    for record in records:
                        writer.add(record)
            for record in records:
                self.tell(record)
            self.left.extendleft(reversed(_not_in(records, runs)))
            return
        error = future.exception(timeout=TICK) if future.status == "error" else None
        if isinstance(error, KilledWorker):
            self._deadly(runs)
        elif error is not None:
            raise RunError(_words(error)) from None
        else:  # cancelled or lost: the scheduler has forgotten it
            if self.client.status != "running":
                raise self._gone()
            self.left.extend(runs)

    def _deadly(self, runs: list[Run]) -> None:
        """Workers died with a task. They take its runs in order, so the first that is not kept is under suspicion.

        It killed them, or a task that was beside it did.
        """
        kept = self.store.records()
        for key, _ in runs:
            if key in kept:
                self.tell(kept[key])
        rest = [run for run in runs if run[0] not in kept]
        if not self.alone:
            self.suspects.extend(rest[:1])
            self.left.extendleft(reversed(rest[1:]))
            return
        for key, values in rest:
            ended = "the worker processes that tried this run died in it"
            record = {**failed(self.job, ended), "key": key, "values": dict(values), "by": ""}
            with Writer(self.store.folder, "-main") as writer:
                writer.add(record)
            self.tell(record)


def _words(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f"the workers cannot import {error.name}: Bellcrank of the same version must be installed where they run"
    if isinstance(error, RunError):
        return str(error)
    return f"a task failed: {type(error).__name__}: {error}"
