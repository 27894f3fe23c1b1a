"""JSON files: text that every language reads, with names, units and words; numbers with 17 digits."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.errors import RunError
from bellcrank.files.format import Format
from bellcrank.files.record import WORDS, Channel, Column, Contents, Record, Table
from bellcrank.files.text import json_of, read_text
from bellcrank.files.whole import Parts


def _write(partial_files: Parts, path: Path, record: Record) -> None:
    time = Channel("t", record.time, "s", "Time", "Time")
    head = {"title": record.title, "history": record.history}
    _store(partial_files.beside(path), head, "channels", [(c, map(float, c.values)) for c in (time, *record.channels)])


def _write_table(partial_files: Parts, path: Path, table: Table) -> None:
    _store(partial_files.beside(path), {"title": table.title}, "columns", [(c, c.values) for c in table.columns])


def _store(
    path: Path, head: dict[str, Any], member: str, columns: Sequence[tuple[Channel | Column, Iterable[Any]]]
) -> None:
    """An object whose last member is a list of columns, one to a line."""
    lines = []
    for c, values in columns:
        words = {"name": c.name, **{k: getattr(c, k) for k in WORDS if hasattr(c, k)}}
        lines.append(f'{_text(words)[:-1]}, "values": [{", ".join(map(_value, values))}]}}')
    body = ",\n".join(lines)
    path.write_text(f'{_text(head)[:-1]}, "{member}": [\n{body}\n]}}\n', encoding="utf-8")


def _text(x: Any) -> str:
    return json.dumps(x, ensure_ascii=False)


def _value(x: Any) -> str:
    """JSON knows neither nan, which is null here, nor infinity, which is a number that is too large."""
    if isinstance(x, float) and not math.isfinite(x):
        return "null" if math.isnan(x) else "1e999" if x > 0 else "-1e999"
    return _text(x)


def _read(path: Path) -> Contents:
    document = json_of(read_text(path), path)
    try:
        columns = [_channel(c) for c in document["channels"]]
        history = tuple(map(str, document.get("history", ())))
        title = str(document.get("title", path.stem))
    except (TypeError, ValueError, KeyError, AttributeError):
        raise RunError(f"{path}: a list channels is expected, each with a name and a list of numbers, values") from None
    if not columns or columns[0].name != "t":
        raise RunError(f"{path}: the first channel must be t")
    for c in columns:
        if len(c.values) != len(columns[0].values):
            raise RunError(f"{path}: channel '{c.name}' has {len(c.values)} values, t {len(columns[0].values)}")
    return Contents(title, tuple(columns), history)


def _channel(c: dict[str, Any]) -> Channel:
    values = np.array([math.nan if x is None else float(x) for x in c["values"]])
    return Channel(str(c["name"]), values, *(str(c.get(k, "")) for k in WORDS))


FORMAT = Format("JSON", ".json", _write, _read, write_table=_write_table)
