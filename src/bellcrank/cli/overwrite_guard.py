"""Files that a command writes: it replaces those that Bellcrank wrote, but never somebody's work.

A file is replaced if it is as Bellcrank wrote it: size and time are remembered in the folder
`written` of the cache. Every other file, one that was edited since, and one that the command itself
reads, stay unless `--overwrite` is given.
"""

from __future__ import annotations

import hashlib
import json
import os
from argparse import Namespace
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from bellcrank.cli.parser import CommandParser
from bellcrank.core.errors import RunError
from bellcrank.core.files.atomic import write_text
from bellcrank.simulation.backend.cache import cache_folder

OPTIONS = ("out", "plot", "echo", "table", "report")  # that name files to write
FOLDER = "written"
# stamps of a file: one that was killed may have remembered a file that did not take its place
STAMPS_PER_FILE = 2
MAX_RECORDS = 4000  # files that are remembered
OVERWRITE_HINT = "give another name, or --overwrite to replace it"


def add_overwrite(parser: CommandParser) -> None:
    """The option of all commands that write files."""
    option_names = {action.dest for action in parser._actions}
    if option_names.intersection(OPTIONS) and "overwrite" not in option_names:
        message = (
            "replace files that Bellcrank did not write, that were changed since, or that the "
            "command reads"
        )
        parser.group("output")("--overwrite", action="store_true", help=message)


class OverwriteGuard:
    """Says which files the command of some arguments may replace."""

    def __init__(self, args: Namespace) -> None:
        self._all = bool(getattr(args, "overwrite", False))
        values = vars(args)
        self._read = [
            Path(x)
            for k, v in values.items()
            if k not in OPTIONS
            for x in _text_values(v)
            if _is_file(x)
        ]
        self._asked = [
            Path(x) for k in OPTIONS if isinstance(x := values.get(k), str) and _is_file(x)
        ]

    def check_requested_files(self) -> None:
        """Looks at what the arguments name, before anything is computed."""
        for path in self._asked:
            self.check_writable(path)

    def check_writable(self, path: Path) -> None:
        if self._all or not _is_file(path):
            return
        if any(os.path.samefile(path, x) for x in self._read):
            raise RunError(f"cannot write {path}: this command reads it; {OVERWRITE_HINT}")
        if _file_stamp(path) not in _recorded_stamps(path):
            raise RunError(
                f"cannot write {path}: it exists, and not as Bellcrank wrote it; {OVERWRITE_HINT}"
            )

    def record_write(self, path: Path, part: Path) -> None:
        record = _stamp_file(path)
        if record is None:
            return
        with suppress(OSError):
            record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            stamps = [*_recorded_stamps(path), _file_stamp(part)][-STAMPS_PER_FILE:]
            write_text(record, json.dumps({"path": str(path), "stamps": stamps}), own=True)
            _prune_records(record.parent)


def _text_values(value: Any) -> Iterator[str]:
    """Texts among the values of an argument."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _text_values(inner)


def _is_file(path: str | Path) -> bool:
    try:
        return os.path.isfile(path)
    except ValueError:  # a zero character
        return False


def _file_stamp(path: Path) -> list[int]:
    status = os.stat(path)
    return [status.st_size, status.st_mtime_ns]


def _stamp_file(path: Path) -> Path | None:
    """Where is remembered how a file was written; None for a user without home."""
    folder = cache_folder()
    name = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:32]
    return None if folder is None else folder / FOLDER / name


def _recorded_stamps(path: Path) -> list[list[int]]:
    """Sizes and times that a file had when Bellcrank wrote it."""
    record = _stamp_file(path)
    try:
        return (
            list(json.loads(record.read_text(encoding="utf-8"))["stamps"])
            if record is not None
            else []
        )
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _prune_records(folder: Path) -> None:
    """Forgets the older half where there are too many."""
    records = os.listdir(folder)
    if len(records) > MAX_RECORDS:
        for path in sorted(map(folder.joinpath, records), key=os.path.getmtime)[: MAX_RECORDS // 2]:
            path.unlink(missing_ok=True)
