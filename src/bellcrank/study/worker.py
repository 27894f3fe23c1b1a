"""What a worker does: a few runs of a study, one after another, each kept on disk as it ends.

A worker derives and compiles a model once and keeps it; the compiled program comes from the cache
of its machine, where the first that needs it puts it. Where a worker sees the folder of the study,
it writes there itself, and omits runs that already lie there: then the death of a process costs the
run it was in and no other. Elsewhere results travel back when a task ends.
"""

from __future__ import annotations

import os
import socket
import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from bellcrank.core.errors import BellcrankError, ModelWarning, RunError
from bellcrank.core.version import __version__
from bellcrank.simulation.many.sample_plans import Value
from bellcrank.study.job import Job, apply_run_values, content_digest, variant_key
from bellcrank.study.runner import StudyRunner, build_model, failed_record
from bellcrank.study.store import RecordReader, RecordWriter, read_token

Runs = Sequence[tuple[str, Mapping[str, Value]]]  # key and values
KEPT = 8  # compiled models that a thread keeps
AT_ONCE = 0.2  # s of runs that go at once: what the death of a process costs

_own = threading.local()  # models are kept by thread, so that making one never waits for another


class _PreparedRun(NamedTuple):
    """A run with its settings; `batch_key`: runs with this may go at once."""

    key: str
    values: Mapping[str, Value]
    job: Job
    batch_key: str


def _prepare_run(job: Job, key: str, values: Mapping[str, Value]) -> _PreparedRun:
    run_job = apply_run_values(job, values)
    return _PreparedRun(
        key, values, run_job, content_digest([variant_key(run_job), run_job["run"]])
    )


def _cached_runner(job: Job) -> StudyRunner | str:
    """The model of a run, or the message that says why there is none."""
    models: OrderedDict[str, StudyRunner | str] = _own.__dict__.setdefault("models", OrderedDict())
    variant = variant_key(job)
    if variant not in models:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ModelWarning)  # reported when the study was read
                models[variant] = StudyRunner(
                    build_model(job).equations(), job["run"].get("backend")
                )
        except BellcrankError as error:
            models[variant] = str(error)
        except Exception as error:  # a fault: the other runs continue
            models[variant] = f"{type(error).__name__}: {error}"
        while len(models) > KEPT:
            models.popitem(last=False)
    models.move_to_end(variant)
    return models[variant]


def _run_records(runs: Sequence[_PreparedRun], threads: int) -> list[dict[str, Any]]:
    """Records of the first of some runs of one model: several at once where compiled code drives
    them."""
    runner = _cached_runner(runs[0].job)
    jobs = [run.job for run in runs]
    records = (
        runner.run_jobs(jobs, AT_ONCE, threads)
        if isinstance(runner, StudyRunner)
        else [failed_record(jobs[0], runner)]
    )
    pairs = zip(runs, records, strict=False)
    return [
        {"key": run.key, "values": dict(run.values), **record, "by": _worker_name()}
        for run, record in pairs
    ]


def _worker_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def do_task(
    job: Job, runs: Runs, folder: str, token: str, seconds: float, threads: int = 1
) -> tuple[bool, list[dict[str, Any]]]:
    """Records of the runs that are done within some seconds, at least one; and whether they lie in
    the folder."""
    if job["bellcrank"] != __version__:
        raise RunError(
            f"the worker {_worker_name()} has Bellcrank {__version__}, the study comes from "
            f"{job['bellcrank']}"
        )
    token_found = read_token(folder)
    if token_found is not None and token_found != token:
        return True, []  # the study was started again meanwhile: this task belongs to nobody
    records: list[dict[str, Any]] = []
    deadline = time.monotonic() + seconds
    with ExitStack() as stack:
        stored: Mapping[str, dict[str, Any]] = {}
        writer = None
        if token_found is not None:
            writer = stack.enter_context(RecordWriter(Path(folder), f"-{threading.get_ident()}"))
            stored = _record_reader(folder, token).read_new()
        records += [stored[key] for key, _ in runs if key in stored]
        pending = [_prepare_run(job, *run) for run in runs if run[0] not in stored]
        while pending:
            new_records = _run_records(
                [run for run in pending if run.batch_key == pending[0].batch_key], threads
            )
            finished_keys = {record["key"] for record in new_records}
            pending = [run for run in pending if run.key not in finished_keys]
            for record in new_records:
                if writer is not None:
                    writer.append(record)
            records += new_records
            if time.monotonic() > deadline:
                break
    return token_found is not None, records


def _record_reader(folder: str, token: str) -> RecordReader:
    """Of the records of one start of a study."""
    if getattr(_own, "tail", None) is None or _own.tail[0] != token:
        _own.tail = (token, RecordReader(Path(folder)))
    tail: RecordReader = _own.tail[1]
    return tail


def task_error_message(error: BaseException) -> str:
    """Why a task as a whole failed."""
    if isinstance(error, ModuleNotFoundError):
        return (
            f"the workers cannot import {error.name}: Bellcrank of the same version must be "
            f"installed where they run"
        )
    if isinstance(error, RunError):
        return str(error)
    return f"a task failed: {type(error).__name__}: {error}"
