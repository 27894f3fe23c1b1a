"""Who does the runs: this process alone, or a team: processes of this machine, or a Dask cluster.

Tasks hold several runs and end after about a second; what a task did not come to is given out
again. Where a worker died in a task, what it had kept counts; the run it was in is given out again
with no other next to it, and if workers die in it again, it gets a row that reports it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from bellcrank.simulation.many.sample_plans import Value
from bellcrank.simulation.many.worker_threads import core_count
from bellcrank.study.job import Job
from bellcrank.study.runner import failed_record
from bellcrank.study.store import RecordWriter, StudyStore
from bellcrank.study.worker import do_task

SLICE = 1.0  # s of a task
MOST = 64  # runs of a task
AHEAD = 2  # tasks for each thread of a team, so that no worker waits
TICK = 1.0  # s between looks at a team

Run = tuple[str, Mapping[str, Value]]
Told = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class TaskOutcome:
    """How a task ended: with records, and whether they are kept in the folder; or its worker died;
    or it was lost."""

    result: tuple[bool, list[dict[str, Any]]] | None = None
    worker_died: bool = False


class WorkerTeam(Protocol):
    """Those who do tasks, each by a call of `do_task`."""

    threads: int

    def submit(self, task: tuple[Any, ...]) -> Any:
        """Gives out a task; returns what stands for it."""

    def finished_tasks(self, tasks: Iterable[Any]) -> Iterable[tuple[Any, TaskOutcome]]:
        """Some of the tasks that have ended, or none after a while."""

    def check_workers(self, progress: bool) -> None:
        """Called every now and then, with whether runs were done since the last call."""


def run_in_process(job: Job, runs: Sequence[Run], store: StudyStore, report: Told) -> None:
    """All runs in this process."""
    queue = deque(runs)
    while queue:
        batch = [queue.popleft() for _ in range(min(MOST, len(queue)))]
        _, records = do_task(job, batch, str(store.folder), store.token, SLICE, core_count())
        queue.extendleft(reversed(_runs_without_record(records, batch)))
        for record in records:
            report(record)


def _runs_without_record(records: Iterable[dict[str, Any]], runs: Iterable[Run]) -> list[Run]:
    """Runs that have no record."""
    finished_keys = {record["key"] for record in records}
    return [run for run in runs if run[0] not in finished_keys]


class StudyExecutor:
    """Gives out runs to a team until all are done."""

    def __init__(self, team: WorkerTeam, job: Job, store: StudyStore, report: Told) -> None:
        self.team, self.job, self.store = team, job, store
        self._report, self._reported, self._looked = report, False, 0.0
        self.pending_runs: deque[Run] = deque()
        self.suspects: deque[Run] = (
            deque()
        )  # in which workers may have died: each goes out with no other next to it
        self.alone = False  # is such a one out?
        self.running_tasks: dict[Any, list[Run]] = {}

    def report(self, record: dict[str, Any]) -> None:
        self._reported = True
        self._report(record)

    def run_all(self, runs: Sequence[Run]) -> None:
        """Until all runs are reported."""
        self.pending_runs.extend(runs)
        while self.pending_runs or self.suspects or self.running_tasks:
            self._check_team()
            self._submit_tasks()
            for task, outcome in self.team.finished_tasks(self.running_tasks):
                self._store_outcome(outcome, self.running_tasks.pop(task))

    def _check_team(self) -> None:
        time_now = time.monotonic()
        if time_now - self._looked >= TICK:
            self._looked = time_now
            self.team.check_workers(self._reported)
            self._reported = False

    def _submit_tasks(self) -> None:
        """Tasks for everybody, smaller towards the end so that all end together."""
        threads = max(self.team.threads, 1)
        self.alone = self.alone and bool(self.running_tasks)
        if self.suspects and not self.running_tasks:
            self.alone = True
            self._submit([self.suspects.popleft()])
        while (
            self.pending_runs
            and not self.suspects
            and not self.alone
            and len(self.running_tasks) < AHEAD * threads
        ):
            size = min(MOST, max(1, len(self.pending_runs) // (2 * AHEAD * threads)))
            self._submit(
                [self.pending_runs.popleft() for _ in range(min(size, len(self.pending_runs)))]
            )

    def _submit(self, runs: list[Run]) -> None:
        task = self.team.submit((self.job, runs, str(self.store.folder), self.store.token, SLICE))
        self.running_tasks[task] = runs

    def _store_outcome(self, outcome: TaskOutcome, runs: list[Run]) -> None:
        """Records of a task; what it did not come to goes back."""
        if outcome.worker_died:
            self._handle_worker_death(runs)
            return
        if outcome.result is None:
            self.pending_runs.extend(runs)
            return
        is_stored, records = outcome.result
        if not is_stored:
            with RecordWriter(self.store.folder, "-main") as writer:
                for record in records:
                    writer.append(record)
        for record in records:
            self.report(record)
        self.pending_runs.extendleft(reversed(_runs_without_record(records, runs)))

    def _handle_worker_death(self, runs: list[Run]) -> None:
        """Workers died with a task. They take its runs in order, so the first that is not kept is
        under suspicion.

        It killed them, or a task next to it did.
        """
        records = self.store.records()
        for key, _ in runs:
            if key in records:
                self.report(records[key])
        unfinished = [run for run in runs if run[0] not in records]
        if not self.alone:
            self.suspects.extend(unfinished[:1])
            self.pending_runs.extendleft(reversed(unfinished[1:]))
            return
        for key, values in unfinished:
            message = "the worker processes that tried this run died in it"
            record = {
                **failed_record(self.job, message),
                "key": key,
                "values": dict(values),
                "by": "",
            }
            with RecordWriter(self.store.folder, "-main") as writer:
                writer.append(record)
            self.report(record)
