"""Runs given out to a team, without processes: sizes of tasks, deaths of workers, what a cluster
answers."""

import logging
import sys
from types import SimpleNamespace

import pytest

import bellcrank as bc
from bellcrank.study import dask_team, executor
from bellcrank.study.dask_team import DaskTeam
from bellcrank.study.executor import StudyExecutor, TaskOutcome
from bellcrank.study.store import RecordWriter, StudyStore


class Team:
    """Ends tasks in order. Workers die in runs that are `deadly`; a task comes to `most` runs, or
    is `lost`."""

    def __init__(self, store, threads=3, deadly=(), most=100, lost=()):
        self.store, self.threads, self.deadly, self.most, self.lost = (
            store,
            threads,
            deadly,
            most,
            lost,
        )
        self.tasks = []

    def submit(self, task):
        job, runs, folder, token, seconds = task
        assert (job["name"], folder, token, seconds) == (
            "study",
            str(self.store.folder),
            self.store.token,
            1.0,
        )
        self.tasks.append([key for key, _ in runs])
        return len(self.tasks) - 1

    def finished_tasks(self, tasks):
        task, records = min(tasks), []
        if task in self.lost:
            yield task, TaskOutcome()
            return
        for key in self.tasks[task][: self.most]:
            if key in self.deadly:
                with RecordWriter(self.store.folder) as writer:
                    for record in records:
                        writer.append(record)
                yield task, TaskOutcome(worker_died=True)
                return
            records.append(
                {
                    "key": key,
                    "metrics": {"x": 1.0},
                    "ended": "finished",
                    "notes": [],
                    "seconds": 0.1,
                }
            )
        yield task, TaskOutcome((False, records))

    def check_workers(self, progress):
        pass


def given_out(tmp_path, count, **options):
    """The team after all runs, what was reported of each in order, and what is kept."""
    told = []
    with StudyStore(tmp_path) as store:
        team = Team(store, **options)
        StudyExecutor(team, JOB, store, told.append).run_all(
            [(f"r{i}", {"k": i}) for i in range(count)]
        )
        return team, told, store.records()


JOB = {"name": "study", "metrics": [["x", "final", ["q"], 0.0, None]], "run": {}}


def test_tasks_get_smaller_towards_the_end(tmp_path):
    """Two for each thread are out; each takes half of its fraction of what is left, but no more
    than 64."""
    team, told, kept = given_out(tmp_path, 2000)
    sizes = list(map(len, team.tasks))
    assert sorted(r["key"] for r in told) == sorted(kept) == sorted(f"r{i}" for i in range(2000))
    left = 2000
    for size in sizes:
        assert size == min(64, max(1, left // 12))
        left -= size
    assert sizes[0] == 64 and sizes[-12:] == [1] * 12
    assert [key for task in team.tasks for key in task] == [f"r{i}" for i in range(2000)]


def test_as_many_tasks_are_out_as_keep_everybody_busy(tmp_path):
    with StudyStore(tmp_path) as store:
        team = Team(store, threads=0)
        work = StudyExecutor(team, JOB, store, lambda record: None)
        work.pending_runs.extend((f"r{i}", {}) for i in range(100))
        work._submit_tasks()
        assert list(map(len, work.running_tasks.values())) == [25, 18]  # nobody yet: as for one
        team.threads = 3
        work._submit_tasks()
        assert list(map(len, work.running_tasks.values())) == [25, 18, 4, 4, 4, 3]
        work._submit_tasks()
        assert len(work.running_tasks) == 6


def test_what_a_task_did_not_come_to_is_next(tmp_path):
    team, told, _ = given_out(tmp_path, 40, threads=1, most=3)
    assert team.tasks[0] == [f"r{i}" for i in range(10)]
    assert team.tasks[2][:7] == [f"r{i}" for i in range(3, 10)]  # the second was out
    assert len(told) == 40 == len({r["key"] for r in told})


def test_a_task_that_was_lost_is_given_out_again(tmp_path):
    _, told, _ = given_out(tmp_path, 9, threads=1, lost=[0])
    assert [r["key"] for r in told] == ["r2", "r3", "r4", "r5", "r6", "r7", "r8", "r0", "r1"]


def test_a_run_in_which_workers_die_is_tried_alone_then_told(tmp_path):
    """What its task had kept counts, and the others are given out again, next to nobody under
    suspicion."""
    team, told, kept = given_out(tmp_path, 12, threads=1, deadly=["r1"])
    assert team.tasks[0] == ["r0", "r1", "r2"]
    alone = team.tasks.index(["r1"])
    assert [r["key"] for r in told[:2]] == ["r0", "r3"]  # the task next to it ended first
    assert [task for task in team.tasks if "r1" in task] == [["r0", "r1", "r2"], ["r1"]]
    assert team.tasks[alone + 1][0] == "r2"
    assert sorted(r["key"] for r in told) == sorted(kept) == sorted(f"r{i}" for i in range(12))
    failed = kept["r1"]
    assert failed["ended"] == "the worker processes that tried this run died in it"
    assert (failed["metrics"], failed["values"], failed["by"], failed["seconds"]) == (
        {"x": None},
        {"k": 1},
        "",
        0.0,
    )


def test_a_team_is_looked_at_every_second(tmp_path, monkeypatch):
    """It is reported whether runs were done since the last look."""
    now = iter([10.0, 10.9, 11.0, 11.5, 12.2])
    monkeypatch.setattr(executor.time, "monotonic", lambda: next(now))
    team = SimpleNamespace(looks=[])
    team.check_workers = team.looks.append
    work = StudyExecutor(team, JOB, None, lambda record: None)
    work._check_team()
    work.report({})
    for _ in range(4):
        work._check_team()
    assert team.looks == [False, True, False]


class Client:
    """A client of a scheduler with workers of so many threads."""

    status, scheduler = "running", SimpleNamespace(address="tcp://1.2.3.4:8786")

    def __init__(self, *threads):
        self.threads = threads

    def nthreads(self):
        return dict(enumerate(self.threads))

    def submit(self, function, *arguments, pure):
        return function.__name__, arguments, pure


def test_a_cluster_may_be_without_workers_for_half_a_minute(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(dask_team.time, "monotonic", lambda: now[0])
    client = Client(2, 3)
    team = DaskTeam(client, tmp_path)
    assert team.threads == 0
    now[0] = 150.0
    team.check_workers(False)
    assert team.threads == 5
    client.threads = ()
    now[0] = 179.9
    team.check_workers(False)
    assert team.threads == 0
    now[0] = 180.1
    with pytest.raises(bc.RunError, match=r"tcp://1\.2\.3\.4:8786 has had no workers for 30 s"):
        team.check_workers(False)
    assert team.submit(("job", "runs")) == ("do_task", ("job", "runs"), False)
    client.status = "closed"
    with pytest.raises(bc.RunError, match="went away; what is done is in"):
        team.check_workers(False)


def test_what_a_task_of_a_cluster_brings(monkeypatch):
    class Killed(Exception):
        pass

    monkeypatch.setitem(
        sys.modules, "distributed", SimpleNamespace(KilledWorker=Killed)
    )  # which takes long to import
    client = Client(1)
    team = DaskTeam(client, None)
    good = SimpleNamespace(status="finished", result=lambda timeout: (True, [timeout]))
    assert team._task_outcome(good) == TaskOutcome((True, [1.0]))
    assert team._task_outcome(
        SimpleNamespace(status="error", exception=lambda timeout: Killed())
    ) == TaskOutcome(worker_died=True)
    assert team._task_outcome(SimpleNamespace(status="lost")) == TaskOutcome()
    with pytest.raises(bc.RunError, match="a fault"):
        team._task_outcome(
            SimpleNamespace(status="error", exception=lambda timeout: bc.RunError("a fault"))
        )
    client.status = "closed"
    with pytest.raises(bc.RunError, match="went away"):
        team._task_outcome(SimpleNamespace(status="cancelled"))


def test_loggers_of_dask_are_silent_for_a_while(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace())
    own, other = logging.getLogger("distributed.test"), logging.getLogger("test.distributed")
    own.setLevel(logging.INFO)
    with dask_team._mute_dask():
        assert not own.isEnabledFor(logging.CRITICAL)
        assert other.isEnabledFor(logging.CRITICAL)
    assert own.level == logging.INFO
