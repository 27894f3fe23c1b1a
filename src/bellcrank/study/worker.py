"""What a worker does: a few runs of a study, one after another, each kept on disk as it ends.

A worker derives and compiles a model once and keeps it; the compiled program comes from the cache of its machine,
where the first that needs it puts it. Where a worker sees the folder of the study, it writes there itself, and omits
runs that already lie there: then the death of a process costs the run it was in and no other. Elsewhere results
travel back when a task ends.
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

from bellcrank.errors import BellcrankError, ModelWarning, RunError
from bellcrank.many.sampling import Value
from bellcrank.study.job import Job, digest, settled, variant_of
from bellcrank.study.runner import Runner, build, failed
from bellcrank.study.store import Tail, Writer, token_at
from bellcrank.version import __version__

Runs = Sequence[tuple[str, Mapping[str, Value]]]  # key and values
KEPT = 8  # compiled models that a thread keeps
AT_ONCE = 0.2  # s of runs that go at once: what the death of a process costs

_own = threading.local()  # models are kept by thread, so that making one never waits for another


class _Settled(NamedTuple):
    """A run with its settings; `alike`: runs with this may go at once."""

    key: str
    values: Mapping[str, Value]
    job: Job
    alike: str


def _settled(job: Job, key: str, values: Mapping[str, Value]) -> _Settled:
    run_job = settled(job, values)
    return _Settled(key, values, run_job, digest([variant_of(run_job), run_job["run"]]))


def _runner(job: Job) -> Runner | str:
    """The model of a run, or the message that says why there is none."""
    models: OrderedDict[str, Runner | str] = _own.__dict__.setdefault("models", OrderedDict())
    variant = variant_of(job)
    if variant not in models:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ModelWarning)  # reported when the study was read
                models[variant] = Runner(build(job).equations(), job["run"].get("backend"))
        except BellcrankError as error:
            models[variant] = str(error)
        except Exception as error:  # a fault: the other runs continue
            models[variant] = f"{type(error).__name__}: {error}"
        while len(models) > KEPT:
            models.popitem(last=False)
    models.move_to_end(variant)
    return models[variant]


def _records(runs: Sequence[_Settled], threads: int) -> list[dict[str, Any]]:
    """Records of the first of some runs of one model: several at once where compiled code drives them."""
    runner = _runner(runs[0].job)
    jobs = [run.job for run in runs]
    records = runner.run_some(jobs, AT_ONCE, threads) if isinstance(runner, Runner) else [failed(jobs[0], runner)]
    pairs = zip(runs, records, strict=False)
    return [{"key": run.key, "values": dict(run.values), **record, "by": _place()} for run, record in pairs]


def _place() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def work(
    job: Job, runs: Runs, folder: str, token: str, seconds: float, threads: int = 1
) -> tuple[bool, list[dict[str, Any]]]:
    """Records of the runs that are done within some seconds, at least one; and whether they lie in the folder."""
    if job["bellcrank"] != __version__:
        raise RunError(f"the worker {_place()} has Bellcrank {__version__}, the study comes from {job['bellcrank']}")
    token_found = token_at(folder)
    if token_found is not None and token_found != token:
        return True, []  # the study was started again meanwhile: this task belongs to nobody
    records: list[dict[str, Any]] = []
    deadline = time.monotonic() + seconds
    with ExitStack() as stack:
        stored: Mapping[str, dict[str, Any]] = {}
        writer = None
        if token_found is not None:
            writer = stack.enter_context(Writer(Path(folder), f"-{threading.get_ident()}"))
            stored = _tail(folder, token).read()
        records += [stored[key] for key, _ in runs if key in stored]
        pending = [_settled(job, *run) for run in runs if run[0] not in stored]
        while pending:
            new_records = _records([run for run in pending if run.alike == pending[0].alike], threads)
            finished_keys = {record["key"] for record in new_records}
            pending = [run for run in pending if run.key not in finished_keys]
            for record in new_records:
                if writer is not None:
                    writer.add(record)
            records += new_records
            if time.monotonic() > deadline:
                break
    return token_found is not None, records


def _tail(folder: str, token: str) -> Tail:
    """Of the records of one start of a study."""
    if getattr(_own, "tail", None) is None or _own.tail[0] != token:
        _own.tail = (token, Tail(Path(folder)))
    tail: Tail = _own.tail[1]
    return tail


def words(error: BaseException) -> str:
    """Why a task as a whole failed."""
    if isinstance(error, ModuleNotFoundError):
        return f"the workers cannot import {error.name}: Bellcrank of the same version must be installed where they run"
    if isinstance(error, RunError):
        return str(error)
    return f"a task failed: {type(error).__name__}: {error}"
