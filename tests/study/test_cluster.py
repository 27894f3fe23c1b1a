"""Studies on real clusters of separate processes that are killed: nothing that was done is lost or
done again.

Runs leave marks when they start (marked.py), so that repetitions are counted by the runs
themselves. A run that had a record when something was killed must have exactly one mark for ever; a
run that was under way may have one more for each process that died in it.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

import bellcrank as bc
from bellcrank.study.store import RECORDS, RecordReader
from tests.processes import alive
from tests.study.studies import end, mass, started, toml

psutil = pytest.importorskip("psutil")
needs_dask = pytest.mark.skipif(
    find_spec("distributed") is None, reason="distributed is not installed"
)

WAIT = 120  # s after which a test gives up


def until(what, condition):
    limit = time.monotonic() + WAIT
    while not (found := condition()):
        assert time.monotonic() < limit, f"waited in vain for {what}"
        time.sleep(0.02)
    return found


def kept(folder):
    return {record["values"]["k"]: record for record in RecordReader(folder).read_new().values()}


def lines(folder):
    return sum(len(p.read_bytes().splitlines()) for p in (folder / RECORDS).glob("*.jsonl"))


def writers(folder):
    """The processes that made the runs that are kept."""
    return {
        int(record["by"].rpartition(":")[2])
        for record in RecordReader(folder).read_new().values()
        if record["by"]
    }


def start(file, folder, *options):
    command = [
        sys.executable,
        "-m",
        "bellcrank",
        "study",
        file,
        "--allow-outside",
        "--out",
        folder,
        "--no-plots",
        *options,
    ]
    return subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def seen(folder, marks):
    """How often the runs that are kept now have been started."""
    done = kept(folder)
    times = started(marks)
    return {k: times[k] for k in done}


def check(folder, marks, count, at_kills, deaths):
    """All runs are there and right, none is kept twice, and those that were kept at a kill were not
    started again after it."""
    found, times = kept(folder), started(marks)
    assert len(found) == lines(folder) == count
    assert all(r["metrics"]["end"] == pytest.approx(end(k), abs=1e-4) for k, r in found.items())
    assert set(times) == set(found)
    for at_kill in at_kills:
        assert {k: times[k] for k in at_kill} == at_kill
    assert sum(times.values()) <= count + deaths


def kill_main(study, folder, *options, after):
    """Starts a study, kills its main process with SIGKILL, and waits until its workers have ended
    too."""
    process = start(study, folder, *options)
    until("runs", lambda: (folder / RECORDS).exists() and len(kept(folder)) >= after)
    assert process.poll() is None
    children = [c.pid for c in psutil.Process(process.pid).children(recursive=True)]
    process.kill()
    process.communicate()
    until("the end of the workers", lambda: not any(alive(pid) for pid in children))


@pytest.mark.campaign
def test_killed_main_process_then_killed_worker(tmp_path):
    count, marks, folder = 60, tmp_path / "marks", tmp_path / "r"
    study = mass(marks, 0.03, grid={"k": [k + 0.25 for k in range(1, count + 1)]})
    file = tmp_path / "mass.toml"
    file.write_text(toml(study), encoding="utf-8")
    kill_main(file, folder, "--workers", "1", after=5)
    first, second, old = seen(folder, marks), {}, writers(folder)
    assert 5 <= len(first) < count
    assert set(first.values()) == {1}

    def kill_a_worker():
        (victim, *_) = until("a new worker", lambda: writers(folder) - old)
        second.update(seen(folder, marks))
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill_a_worker)
    killer.start()
    result = bc.Study.read(file, allow_outside=True).run(folder, workers=2)
    killer.join()
    assert set(first) < set(second)
    assert (result.found, result.made) == (len(first), count - len(first))
    assert not result.failed
    check(folder, marks, count, (first, second), deaths=2)


# ---- longer


@contextmanager
def cluster(folder, workers):
    """A Dask scheduler and workers, each a process started by Dask's own commands, without
    nannies."""
    running = []

    def dask(module, *options):
        command = [sys.executable, "-m", f"distributed.cli.{module}", *map(str, options)]
        running.append(
            subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder
            )
        )
        return running[-1]

    where = folder / "scheduler.json"
    try:
        scheduler = dask(
            "dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            0,
            "--no-dashboard",
            "--scheduler-file",
            where,
        )
        until("the scheduler", where.exists)
        options = (
            "--scheduler-file",
            where,
            "--no-nanny",
            "--nthreads",
            1,
            "--host",
            "127.0.0.1",
            "--no-dashboard",
        )
        yield scheduler, [dask("dask_worker", *options) for _ in range(workers)], dask, options
    finally:
        for process in running:
            process.kill()
            process.wait()


def address(folder):
    import json

    return json.loads((folder / "scheduler.json").read_text(encoding="utf-8"))["address"]


@needs_dask
@pytest.mark.campaign
def test_external_cluster_with_everything_killed_in_turn(tmp_path):
    count, marks, folder, file = 200, tmp_path / "marks", tmp_path / "r", tmp_path / "mass.toml"
    file.write_text(
        toml(mass(marks, 0.05, grid={"k": [k + 0.25 for k in range(1, count + 1)]})),
        encoding="utf-8",
    )
    with cluster(tmp_path, 2) as (scheduler, workers, dask, options):
        process = start(file, folder, "--scheduler", address(tmp_path))
        until("runs", lambda: (folder / RECORDS).exists() and len(kept(folder)) >= 20)
        process.kill()  # the workers live on, and end what they are at
        process.communicate()
        at_kills = [seen(folder, marks)]
        process = start(file, folder, "--scheduler", address(tmp_path))
        until("more runs", lambda: len(kept(folder)) >= 60)
        at_kills.append(seen(folder, marks))
        workers[0].kill()
        until("runs without it", lambda: len(kept(folder)) >= 100)
        dask("dask_worker", *options)  # another one joins
        until("runs with it", lambda: len(kept(folder)) >= 130)
        at_kills.append(seen(folder, marks))
        scheduler.kill()
        told = process.communicate(timeout=WAIT)[0]
        assert process.returncode == 1
        assert "the Dask scheduler went away" in told
        assert "Traceback" not in told
    result = bc.Study.read(file, allow_outside=True).run(folder, in_process=True)
    assert result.made + result.found == count
    check(folder, marks, count, at_kills, deaths=8)


@needs_dask
@pytest.mark.campaign
def test_a_scheduler_without_workers(tmp_path):
    with (
        cluster(tmp_path, 0),
        pytest.raises(
            bc.RunError, match="has had no workers for 2 s; start some with `dask worker`"
        ),
    ):
        bc.Study.read(mass()).run(tmp_path / "r", scheduler=address(tmp_path), patience=2)


@pytest.mark.campaign
def test_a_run_that_kills_its_workers_is_a_row(tmp_path):
    """k = 13 ends the process it runs in."""
    marks = tmp_path / "marks"
    result = bc.Study.read(mass(marks, grid={"k": [k / 2 for k in range(20, 40)]})).run(
        tmp_path / "r", workers=2
    )
    (row,) = result.failed
    assert row.values == {"k": 13.0}
    assert "the worker processes that tried this run died in it" in row.ended
    times = started(marks)
    assert times.pop(13.0) >= 2
    assert set(times.values()) == {1}


@pytest.mark.campaign
def test_workers_that_cannot_start(tmp_path, monkeypatch):
    monkeypatch.setattr("bellcrank.study.local_team.sys.executable", "/bin/false")
    with pytest.raises(
        bc.RunError, match=r"11 worker processes died one after another \(exit code 1\)"
    ):
        bc.Study.read(mass()).run(tmp_path / "r", workers=1)


@pytest.mark.campaign
def test_nobody_can_reach_the_processes_of_a_study(tmp_path):
    """Nothing listens: a scheduler on the loopback interface ran whatever any user of the machine
    submitted."""
    process = start(_file(tmp_path), tmp_path / "r", "--workers", "2")
    until("runs", lambda: (tmp_path / "r" / RECORDS).exists() and len(kept(tmp_path / "r")) >= 3)
    family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    reachable = [
        c
        for p in family
        for c in p.net_connections("all")
        if c.status == psutil.CONN_LISTEN or c.laddr
    ]
    process.kill()
    process.communicate()
    assert len(family) >= 3
    assert reachable == []


@pytest.mark.campaign
def test_interrupted_by_a_person(tmp_path):
    process = start(_file(tmp_path), tmp_path / "r", "--workers", "2")
    until("runs", lambda: (tmp_path / "r" / RECORDS).exists() and len(kept(tmp_path / "r")) >= 3)
    children = [c.pid for c in psutil.Process(process.pid).children(recursive=True)]
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=WAIT)[0]
    assert process.returncode == 130
    assert "the same command continues from there" in told
    assert "Traceback" not in told
    assert not any(alive(pid) for pid in children)


def _file(tmp_path):
    file = tmp_path / "mass.toml"
    file.write_text(
        toml(mass(tmp_path / "marks", 0.05, grid={"k": [k + 0.25 for k in range(200)]})),
        encoding="utf-8",
    )
    return file
