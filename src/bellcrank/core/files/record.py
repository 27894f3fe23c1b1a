"""Channels over time, and tables, as files hold them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from bellcrank.core.errors import BellcrankError, RunError
from bellcrank.core.files.text_files import to_one_line
from bellcrank.core.units import TIME, UNIT_SYSTEMS

T = TypeVar("T")
TIME_NAME = "t"  # of the first channel of a file
# texts of a channel next to its name and values: key in files, and attribute
TEXT_KEYS = {"unit": "unit", "label": "label", "generic": "generic_name", "body": "body"}


@dataclass(frozen=True)
class FileChannel:
    """One time history: values in `unit`, with the words a person reads and the body it belongs
    to."""

    name: str
    values: np.ndarray
    unit: str = ""
    label: str = ""
    generic_name: str = ""
    body: str = ""


@dataclass(frozen=True)
class Record:
    """Channels over the same `time` (s); `history` says in messages where they come from."""

    title: str
    time: np.ndarray
    channels: tuple[FileChannel, ...]
    history: tuple[str, ...] = ()


@dataclass(frozen=True)
class FileContents:
    """Channels as a file holds them, in its own units; the first is time if they are a record over
    time."""

    title: str
    channels: tuple[FileChannel, ...]
    history: tuple[str, ...] = ()
    omitted: tuple[str, ...] = ()
    """Names of columns that were not asked for."""


@dataclass(frozen=True)
class TableColumn:
    """One column of a table: numbers or words, None where there is no value."""

    name: str
    values: Sequence[Any]
    unit: str = ""
    label: str = ""


@dataclass(frozen=True)
class Table:
    """Columns of the same length."""

    title: str
    columns: tuple[TableColumn, ...]


def channel_texts(channel: FileChannel | TableColumn) -> dict[str, str]:
    """Return unit, label, generic name and body of a channel, as far as it has them, by their keys
    in files."""
    return {
        key: getattr(channel, name) for key, name in TEXT_KEYS.items() if hasattr(channel, name)
    }


def check_channel_names(contents: FileContents, path: str | Path) -> FileContents:
    """What a file holds, if every channel has a name that stands once, without control characters;
    with single blanks, as names are written."""
    names = [to_one_line(c.name) for c in contents.channels]
    for number, name in enumerate((c.name for c in contents.channels), 1):
        if not names[number - 1]:
            raise RunError(f"{path}: channel {number} has no name")
        if any(unicodedata.category(ch) in ("Cc", "Cs", "Zl", "Zp") for ch in name):
            raise RunError(
                f"{path}: the name {name!r} of channel {number} holds control characters"
            )
        if names[number - 1] in names[: number - 1]:
            raise RunError(f"{path}: the name {names[number - 1]!r} stands there twice")
    words = (map(to_one_line, channel_texts(c).values()) for c in contents.channels)
    channels = tuple(
        FileChannel(n, c.values, *w)
        for n, c, w in zip(names, contents.channels, words, strict=True)
    )
    history = tuple(map(to_one_line, contents.history))
    return replace(contents, title=to_one_line(contents.title), channels=channels, history=history)


def to_time_record(contents: FileContents, path: str | Path) -> Record:
    """The record of a file whose first channel is time: in seconds, whatever its unit; it may not
    decrease."""
    time, *channels = contents.channels
    seconds = time.values * _time_scale(time, path)
    not_finite = np.flatnonzero(~np.isfinite(seconds))
    if not_finite.size:
        raise RunError(
            f"{path}: time '{time.name}' is {time.values[not_finite[0]]} in sample "
            f"{not_finite[0] + 1}"
        )
    decreasing = np.flatnonzero(
        np.diff(seconds) < 0
    )  # samples before and after an event have the same time
    if decreasing.size:
        i = decreasing[0]
        raise RunError(
            f"{path}: time '{time.name}' decreases from {time.values[i]:g} in sample {i + 1} "
            f"to {time.values[i + 1]:g} in sample {i + 2}; time must increase"
        )
    return Record(contents.title, seconds, tuple(channels), contents.history)


def _time_scale(time: FileChannel, path: str | Path) -> float:
    """Seconds in one unit of a channel that should be time."""
    text = time.unit.strip().strip("[]()").replace("µ", "u").replace("μ", "u")
    if text in ("", "-"):
        word = time.name.strip().casefold()
        if word == "t" or word.startswith(("time", "sec")):
            return 1.0
        advice = "name it t or time, or give its unit (s, ms, min)"
        raise RunError(f"{path}: the first column must be time, but it is '{time.name}'; {advice}")
    factor = time_factor(text)
    if not factor:
        raise RunError(
            f"{path}: the first column must be time, but '{time.name}' is in '{text}', not "
            f"a unit of time"
        )
    return factor


def time_factor(text: str) -> float:
    """Seconds in a unit of time; 0 for text that is none."""
    try:
        unit = UNIT_SYSTEMS["mks"].parse_unit(text)
    except BellcrankError:
        return 0.0
    return unit.factor if unit.dimension == TIME else 0.0


def clean_texts(record: Record, path: str | Path) -> Record:
    """A record whose texts each fit on one line; an error if two names would be read back as
    one."""
    channels = tuple(
        FileChannel(to_one_line(c.name), c.values, *map(to_one_line, channel_texts(c).values()))
        for c in record.channels
    )
    first: dict[str, str] = {TIME_NAME: "time"}
    for c, original in zip(channels, record.channels, strict=True):
        if not c.name or c.name in first:
            reason = (
                f"would have the same name as {first[c.name]}" if c.name else "would have no name"
            )
            raise RunError(
                f"cannot write {path}: the channel {original.name!r} {reason} in a file; "
                f"give it another name"
            )
        first[c.name] = repr(original.name)
    history = tuple(map(to_one_line, record.history))
    return replace(record, title=to_one_line(record.title), channels=channels, history=history)


def short_names(names: Iterable[str], width: int = 8) -> list[str]:
    """Names of at most `width` characters without blanks, no two equal, whatever their capitals."""
    used_names: set[str] = set()
    result = []
    for name in names:
        base = "".join(name.split()) or "x"
        candidate, number = base[:width], 1
        while candidate.lower() in used_names:
            number += 1
            candidate = base[: width - len(str(number))] + str(number)
        used_names.add(candidate.lower())
        result.append(candidate)
    return result


def report_io_errors(action: str, path: Path, work: Callable[[], T]) -> T:
    """Does the work; a file that cannot be opened, read or written is reported as such."""
    try:
        return work()
    except OSError as error:
        raise RunError(f"cannot {action} {path}: {error.strerror or error}") from None
    except ValueError as error:
        if "null byte" not in str(error):
            raise
        raise RunError(f"cannot {action} {str(path)!r}: {error}") from None
