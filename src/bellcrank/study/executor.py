"""Who does the runs: this process alone, or a team: processes of this machine, or a Dask cluster.

Tasks hold several runs and end after about a second; what a task did not come to is given out again. Where a worker
died in a task, what it had kept counts; the run it was in is given out again with no other next to it, and if workers
die in it again, it gets a row that reports it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from bellcrank.many.cores import core_count
from bellcrank.many.sampling import Value
from bellcrank.study.job import Job
from bellcrank.study.runner import failed
from bellcrank.study.store import Store, Writer
from bellcrank.study.worker import work

SLICE = 1.0  # s of a task
MOST = 64  # runs of a task
AHEAD = 2  # tasks for each thread of a team, so that no worker waits
TICK = 1.0  # s between looks at a team

Run = tuple[str, Mapping[str, Value]]
Told = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Outcome:
    """How a task ended: with records, and whether they are kept in the folder; or its worker died; or it was lost."""

    result: tuple[bool, list[dict[str, Any]]] | None = None
    died: bool = False


class Team(Protocol):
    """Those who do tasks, each by a call of `work`."""

    threads: int

    def submit(self, task: tuple[Any, ...]) -> Any:
        """Gives out a task; returns what stands for it."""

    def done(self, tasks: Iterable[Any]) -> Iterable[tuple[Any, Outcome]]:
        """Some of the tasks that have ended, or none after a while."""

    def look_after(self, progress: bool) -> None:
        """Called every now and then, with whether runs were done since the last call."""


def alone(job: Job, runs: Sequence[Run], store: Store, report: Told) -> None:
    """All runs in this process."""
    queue = deque(runs)
    while queue:
        batch = [queue.popleft() for _ in range(min(MOST, len(queue)))]
        _, records = work(job, batch, str(store.folder), store.token, SLICE, core_count())
        queue.extendleft(reversed(_not_in(records, batch)))
        for record in records:
            report(record)


def _not_in(records: Iterable[dict[str, Any]], runs: Iterable[Run]) -> list[Run]:
    """Runs that have no record."""
    finished_keys = {record["key"] for record in records}
    return [run for run in runs if run[0] not in finished_keys]


class Executor:
    """Gives out runs to a team until all are done."""

    def __init__(self, team: Team, job: Job, store: Store, report: Told) -> None:
        self.team, self.job, self.store = team, job, store
        self._report, self._reported, self._looked = report, False, 0.0
        self.left: deque[Run] = deque()
        self.suspects: deque[Run] = deque()  # in which workers may have died: each goes out with no other next to it
        self.alone = False  # is such a one out?
        self.out: dict[Any, list[Run]] = {}

    def report(self, record: dict[str, Any]) -> None:
        self._reported = True
        self._report(record)

    def do(self, runs: Sequence[Run]) -> None:
        """Until all runs are reported."""
        self.left.extend(runs)
        while self.left or self.suspects or self.out:
            self._look()
            self._give()
            for task, outcome in self.team.done(self.out):
                self._take(outcome, self.out.pop(task))

    def _look(self) -> None:
        time_now = time.monotonic()
        if time_now - self._looked >= TICK:
            self._looked = time_now
            self.team.look_after(self._reported)
            self._reported = False

    def _give(self) -> None:
        """Tasks for everybody, smaller towards the end so that all end together."""
        threads = max(self.team.threads, 1)
        self.alone = self.alone and bool(self.out)
        if self.suspects and not self.out:
            self.alone = True
            self._submit([self.suspects.popleft()])
        while self.left and not self.suspects and not self.alone and len(self.out) < AHEAD * threads:
            size = min(MOST, max(1, len(self.left) // (2 * AHEAD * threads)))
            self._submit([self.left.popleft() for _ in range(min(size, len(self.left)))])

    def _submit(self, runs: list[Run]) -> None:
        task = self.team.submit((self.job, runs, str(self.store.folder), self.store.token, SLICE))
        self.out[task] = runs

    def _take(self, outcome: Outcome, runs: list[Run]) -> None:
        """Records of a task; what it did not come to goes back."""
        if outcome.died:
            self._deadly(runs)
            return
        if outcome.result is None:
            self.left.extend(runs)
            return
        is_stored, records = outcome.result
        if not is_stored:
            with Writer(self.store.folder, "-main") as writer:
                for record in records:
                    writer.add(record)
        for record in records:
            self.report(record)
        self.left.extendleft(reversed(_not_in(records, runs)))

    def _deadly(self, runs: list[Run]) -> None:
        """Workers died with a task. They take its runs in order, so the first that is not kept is under suspicion.

        It killed them, or a task next to it did.
        """
        records = self.store.records()
        for key, _ in runs:
            if key in records:
                self.report(records[key])
        unfinished = [run for run in runs if run[0] not in records]
        if not self.alone:
            self.suspects.extend(unfinished[:1])
            self.left.extendleft(reversed(unfinished[1:]))
            return
        for key, values in unfinished:
            message = "the worker processes that tried this run died in it"
            record = {**failed(self.job, message), "key": key, "values": dict(values), "by": ""}
            with Writer(self.store.folder, "-main") as writer:
                writer.add(record)
            self.report(record)
