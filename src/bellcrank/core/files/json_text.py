"""JSON files: text that every language reads, with names, units and words; numbers with 17
digits."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import RunError
from bellcrank.core.files.atomic import AtomicWrite
from bellcrank.core.files.file_format import FileFormat
from bellcrank.core.files.record import (
    TEXT_KEYS,
    FileChannel,
    FileContents,
    Record,
    Table,
    TableColumn,
    channel_texts,
)
from bellcrank.core.files.text_files import parse_json, read_text
from bellcrank.core.numeric.real_numbers import display_text, to_float


def _write_json(partial_files: AtomicWrite, path: Path, record: Record) -> None:
    time = FileChannel("t", record.time, "s", "Time", "Time")
    head = {"title": record.title, "history": record.history}
    _write_columns(
        partial_files.path_for(path),
        head,
        "channels",
        [(c, map(float, c.values)) for c in (time, *record.channels)],
    )


def _write_json_table(partial_files: AtomicWrite, path: Path, table: Table) -> None:
    _write_columns(
        partial_files.path_for(path),
        {"title": table.title},
        "columns",
        [(c, c.values) for c in table.columns],
    )


def _write_columns(
    path: Path,
    head: dict[str, Any],
    member: str,
    columns: Sequence[tuple[FileChannel | TableColumn, Iterable[Any]]],
) -> None:
    """An object whose last member is a list of columns, one to a line."""
    lines = []
    for c, values in columns:
        words = {"name": c.name, **channel_texts(c)}
        lines.append(
            f'{_json_text(words)[:-1]}, "values": [{", ".join(map(_json_value, values))}]}}'
        )
    body = ",\n".join(lines)
    path.write_text(f'{_json_text(head)[:-1]}, "{member}": [\n{body}\n]}}\n', encoding="utf-8")


def _json_text(x: Any) -> str:
    return json.dumps(x, ensure_ascii=False)


def _json_value(x: Any) -> str:
    """JSON knows neither nan, which is null here, nor infinity, which is a number that is too
    large."""
    if isinstance(x, float) and not math.isfinite(x):
        return "null" if math.isnan(x) else "1e999" if x > 0 else "-1e999"
    return _json_text(x)


def _read_json(path: Path) -> FileContents:
    document = parse_json(read_text(path), path)
    try:
        columns = [_channel_of_object(c) for c in document["channels"]]
        history = tuple(map(str, document.get("history", ())))
        title = str(document.get("title", path.stem))
    except _NoNumberError as error:
        raise RunError(f"{path}: {error}") from None
    except (TypeError, ValueError, KeyError, AttributeError):
        raise RunError(
            f"{path}: a list channels is expected, each with a name and a list of numbers, values"
        ) from None
    if not columns or columns[0].name != "t":
        raise RunError(f"{path}: the first channel must be t")
    for c in columns:
        if len(c.values) != len(columns[0].values):
            raise RunError(
                f"{path}: channel '{c.name}' has {len(c.values)} values, t {len(columns[0].values)}"
            )
    return FileContents(title, tuple(columns), history)


def _channel_of_object(c: dict[str, Any]) -> FileChannel:
    if not isinstance(c["values"], list):
        raise TypeError
    values = np.array(
        [math.nan if x is None else _channel_number(x, c["name"]) for x in c["values"]]
    )
    return FileChannel(str(c["name"]), values, *(str(c.get(k, "")) for k in TEXT_KEYS))


def _channel_number(element: Any, channel: str) -> float:
    """A number of JSON: text and truth values are none."""
    number = to_float(element)
    if number is None:
        raise _NoNumberError(f"channel {channel!r:.60} holds {display_text(element)}, not a number")
    return number


class _NoNumberError(Exception):
    """A value of a channel is no number."""


FORMAT = FileFormat("JSON", ".json", _write_json, _read_json, write_table=_write_json_table)
