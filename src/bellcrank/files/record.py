"""Channels over time, and tables, as files hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from bellcrank.errors import RunError
from bellcrank.files.text import one_line

T = TypeVar("T")
WORDS = ("unit", "label", "generic", "body")  # of a channel, beside its name and values


@dataclass(frozen=True)
class Channel:
    """One time history: values in `unit`, with the words a person reads and the body it belongs to."""

    name: str
    values: np.ndarray
    unit: str = ""
    label: str = ""
    generic: str = ""
    body: str = ""


@dataclass(frozen=True)
class Record:
    """Channels over the same `time` (s); `history` says in sentences where they come from."""

    title: str
    time: np.ndarray
    channels: tuple[Channel, ...]
    history: tuple[str, ...] = ()


@dataclass(frozen=True)
class Column:
    """One column of a table: numbers or words, None where there is no value."""

    name: str
    values: Sequence[Any]
    unit: str = ""
    label: str = ""


@dataclass(frozen=True)
class Table:
    """Columns of the same length."""

    title: str
    columns: tuple[Column, ...]


def cleaned(record: Record) -> Record:
    """A record whose words each fit on one line."""
    channels = tuple(
        Channel(one_line(c.name), c.values, *(one_line(getattr(c, k)) for k in WORDS)) for c in record.channels
    )
    history = tuple(map(one_line, record.history))
    return replace(record, title=one_line(record.title), channels=channels, history=history)


def short_names(names: Iterable[str], width: int = 8) -> list[str]:
    """Names of at most `width` characters without blanks, no two equal, whatever their capitals."""
    taken: set[str] = set()
    result = []
    for name in names:
        base = "".join(name.split()) or "x"
        chosen, number = base[:width], 1
        while chosen.lower() in taken:
            number += 1
            chosen = base[: width - len(str(number))] + str(number)
        taken.add(chosen.lower())
        result.append(chosen)
    return result


def guarded(action: str, path: Path, work: Callable[[], T]) -> T:
    """Does the work; a file that cannot be opened, read or written is told as such."""
    try:
        return work()
    except OSError as error:
        raise RunError(f"cannot {action} {path}: {error.strerror or error}") from None
    except ValueError as error:
        if "null byte" not in str(error):
            raise
        raise RunError(f"cannot {action} {str(path)!r}: {error}") from None
