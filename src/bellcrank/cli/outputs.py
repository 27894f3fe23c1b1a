"""Files that a command writes: it replaces those that Bellcrank wrote, but never somebody's work.

A file is replaced if it is as Bellcrank wrote it: size and time are remembered in the folder `written` of the cache.
Every other file, one that was edited since, and one that the command itself reads, stay unless `--overwrite` is given.
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

from bellcrank.backend.cache import cache_folder
from bellcrank.cli.parser import CommandParser
from bellcrank.errors import RunError
from bellcrank.files.whole import write_text

OPTIONS = ("out", "plot", "echo", "table", "report")  # that name files to write
FOLDER = "written"
KEPT = 2  # stamps of a file: one that was killed may have remembered a file that did not take its place
MOST = 4000  # files that are remembered
HOW = "give another name, or --overwrite to replace it"


def add_overwrite(parser: CommandParser) -> None:
    """The option of all commands that write files."""
    known = {action.dest for action in parser._actions}
    if known.intersection(OPTIONS) and "overwrite" not in known:
        message = "replace files that Bellcrank did not write, that were changed since, or that the command reads"
        parser.group("output")("--overwrite", action="store_true", help=message)


class Outputs:
    """Says which files the command of some arguments may replace."""

    def __init__(self, args: Namespace) -> None:
        self._all = bool(getattr(args, "overwrite", False))
        given = vars(args)
        self._read = [Path(x) for k, v in given.items() if k not in OPTIONS for x in _texts(v) if _is_file(x)]
        self._asked = [Path(x) for k in OPTIONS if isinstance(x := given.get(k), str) and _is_file(x)]

    def check_asked(self) -> None:
        """Looks at what the arguments name, before anything is computed."""
        for path in self._asked:
            self.check(path)

    def check(self, place: Path) -> None:
        if self._all or not _is_file(place):
            return
        if any(os.path.samefile(place, x) for x in self._read):
            raise RunError(f"cannot write {place}: this command reads it; {HOW}")
        if _stamp(place) not in _noted(place):
            raise RunError(f"cannot write {place}: it exists, and not as Bellcrank wrote it; {HOW}")

    def note(self, place: Path, part: Path) -> None:
        record = _record(place)
        if record is None:
            return
        with suppress(OSError):
            record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            stamps = [*_noted(place), _stamp(part)][-KEPT:]
            write_text(record, json.dumps({"path": str(place), "stamps": stamps}), own=True)
            _sweep(record.parent)


def _texts(value: Any) -> Iterator[str]:
    """Texts among the values of an argument."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _is_file(path: str | Path) -> bool:
    try:
        return os.path.isfile(path)
    except ValueError:  # a zero character
        return False


def _stamp(path: Path) -> list[int]:
    found = os.stat(path)
    return [found.st_size, found.st_mtime_ns]


def _record(place: Path) -> Path | None:
    """Where is remembered how a file was written; None for a user without home."""
    folder = cache_folder()
    name = hashlib.sha256(os.fsencode(os.path.realpath(place))).hexdigest()[:32]
    return None if folder is None else folder / FOLDER / name


def _noted(place: Path) -> list[list[int]]:
    """Sizes and times that a file had when Bellcrank wrote it."""
    record = _record(place)
    try:
        return list(json.loads(record.read_text(encoding="utf-8"))["stamps"]) if record is not None else []
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _sweep(folder: Path) -> None:
    """Forgets the older half where there are too many."""
    found = os.listdir(folder)
    if len(found) > MOST:
        for path in sorted(map(folder.joinpath, found), key=os.path.getmtime)[: MOST // 2]:
            path.unlink(missing_ok=True)
