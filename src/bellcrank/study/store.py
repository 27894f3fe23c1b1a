"""Runs on disk: lines of JSON in files that only grow, one file for each process that writes.

In:  the folder of a study. Out: every record that was written whole. A record survives the death of
the process that wrote it; a line that death cut short counts as not written. Files are locked
while somebody may write to them, so that a study that continues waits for what is left of an
earlier one.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from bellcrank.core.errors import RunError
from bellcrank.core.files.atomic import write_text
from bellcrank.core.files.locks import try_lock

RECORDS, STUDY, TOKEN = "runs", "study.json", "token"
SYNC = 0.5  # s, after which what was written is forced onto the disk
PATIENCE = 30.0  # s to wait for processes of an earlier start that are still writing
_PROCESS = uuid.uuid4().hex[:12]  # names the files of this process


def _try_lock(stream: IO[Any], wait: bool = False) -> bool:
    """Locks a file for this process; False if another one has it. Without locks, two studies are
    not distinguished."""
    return try_lock(stream.fileno(), wait) is not False


class RecordReader:
    """All records of a folder, read as they grow; a record that stands there twice counts once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[str, int] = {}
        self.records: dict[str, dict[str, Any]] = {}

    def read_new(self) -> dict[str, dict[str, Any]]:
        """Takes in what has been added."""
        for path in sorted((self.folder / RECORDS).glob("*.jsonl")):
            offset = self._read.get(path.name, 0)
            if path.stat().st_size <= offset:
                continue
            with path.open("rb") as stream:
                stream.seek(offset)
                new = stream.read()
            length = new.rfind(b"\n") + 1
            self._read[path.name] = offset + length
            for record in _complete_records(new[:length]):
                self.records.setdefault(record["key"], record)
        return self.records


def _complete_records(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.splitlines():
        try:
            record = json.loads(line.decode())
        except (
            ValueError,
            RecursionError,
        ):  # cut short and something else written behind it, or none of ours
            continue
        if _is_record(record):
            yield record


def _is_record(data: Any) -> bool:
    """Is this what a worker makes?"""
    if not isinstance(data, dict) or not isinstance(data.get("metrics"), dict):
        return False
    numbers = [data.get("seconds"), *(x for x in data["metrics"].values() if x is not None)]
    notes = data.get("notes", [])
    return (
        all(isinstance(x, int | float) and not isinstance(x, bool) for x in numbers)
        and all(isinstance(data.get(name), str) for name in ("key", "ended"))
        and isinstance(notes, list)
        and all(isinstance(x, str) for x in notes)
    )


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as stream:
        if stream.seek(0, os.SEEK_END) == 0:
            return True
        stream.seek(-1, os.SEEK_END)
        return stream.read() == b"\n"


class RecordWriter:
    """Appends records to the file of this process and thread. Use as a context."""

    def __init__(self, folder: Path, name: str = "") -> None:
        self.path = folder / RECORDS / f"{_PROCESS}{name}.jsonl"

    def __enter__(self) -> RecordWriter:
        self._stream = self.path.open("ab", buffering=0)
        _try_lock(self._stream, wait=True)
        if not _ends_with_newline(self.path):
            self._stream.write(b"\n")
        self._synced = time.monotonic()
        return self

    def append(self, record: Mapping[str, Any]) -> None:
        """One line in one piece, with the system when this returns; on the disk itself soon
        after."""
        self._stream.write(json.dumps(record, ensure_ascii=False, allow_nan=False).encode() + b"\n")
        if time.monotonic() - self._synced > SYNC:
            self._sync()

    def _sync(self) -> None:
        os.fsync(self._stream.fileno())
        self._synced = time.monotonic()

    def __exit__(self, *_: object) -> None:
        self._sync()
        self._stream.close()


class StudyStore:
    """The folder of a study, held by one process at a time. Use as a context."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()

    def __enter__(self) -> StudyStore:
        try:
            (self.folder / RECORDS).mkdir(parents=True, exist_ok=True)
            self._held = (self.folder / "lock").open("a")
        except OSError as error:
            raise RunError(
                f"the results cannot be kept in {self.folder}: {error.strerror or error}"
            ) from None
        if not _try_lock(self._held):
            self._held.close()
            raise RunError(
                f"another process runs a study in {self.folder}; wait for it, or choose "
                f"another folder"
            )
        try:
            self._wait_for_writers()
            write_text(self.folder / TOKEN, uuid.uuid4().hex, own=True)
        except BaseException:
            self._held.close()
            raise
        return self

    def _wait_for_writers(self) -> None:
        """Processes of a study that was killed may be about to end."""
        deadline = time.monotonic() + PATIENCE
        for path in (self.folder / RECORDS).glob("*.jsonl"):
            with path.open("rb") as stream:
                while not _try_lock(stream):
                    if time.monotonic() > deadline:
                        raise RunError(f"a process of an earlier start still writes to {path}")
                    time.sleep(0.05)

    def __exit__(self, *_: object) -> None:
        self._held.close()

    @property
    def token(self) -> str:
        """A word by which a worker can report that it sees this folder."""
        return (self.folder / TOKEN).read_text(encoding="utf-8")

    def records(self) -> dict[str, dict[str, Any]]:
        """All runs that are kept here, by key."""
        return RecordReader(self.folder).read_new()

    def clear(self) -> None:
        """Forgets all runs."""
        for path in (self.folder / RECORDS).glob("*.jsonl"):
            path.unlink()

    def remove_records(self, keys: Container[str]) -> None:
        """Forgets some runs, so that they are made again."""
        for path in (self.folder / RECORDS).glob("*.jsonl"):
            records = list(_complete_records(path.read_bytes()))
            retained = [r for r in records if r["key"] not in keys]
            if len(retained) < len(records):
                write_text(
                    path,
                    "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in retained),
                    own=True,
                )

    def previous_job(self) -> dict[str, Any] | None:
        """The study as it was when it was last started here."""
        try:
            job = json.loads((self.folder / STUDY).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        return job if isinstance(job, dict) else None

    def store_job(self, job: Mapping[str, Any]) -> None:
        """Remembers the study as it is."""
        previous = self.previous_job()
        if (self.folder / STUDY).exists() and (previous is None or "bellcrank" not in previous):
            raise RunError(
                f"{self.folder / STUDY} does not come from a study; choose another folder "
                f"for the results"
            )
        write_text(self.folder / STUDY, json.dumps(job, indent=1, ensure_ascii=False), own=True)


def read_token(folder: str | Path) -> str | None:
    """The word that lies in a folder; None where there is none, so on machines that do not share
    it."""
    try:
        return (Path(folder) / TOKEN).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def job_differences(old_job: Mapping[str, Any], new_job: Mapping[str, Any]) -> list[str]:
    """What differs between two forms of a study, in words."""
    a, b = dict(_flatten(old_job)), dict(_flatten(new_job))
    differences = []
    for name in dict.fromkeys((*a, *b)):
        if a.get(name) != b.get(name):
            old, new = (_short_json(x[name]) if name in x else "nothing" for x in (a, b))
            differences.append(f"{name}: {old} is now {new}")
    return differences


def _flatten(data: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(data, Mapping) and data:
        for key, value in data.items():
            yield from _flatten(value, f"{name}.{key}" if name else str(key))
    else:
        yield name, data


def _short_json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:37]}..."
