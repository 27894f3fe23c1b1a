"""Parquet files: columns with 64 bit; units and words are metadata of the columns (needs pyarrow)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.errors import RunError
from bellcrank.files.format import Format
from bellcrank.files.record import WORDS, Channel, Contents, Record, Table
from bellcrank.files.whole import Parts


def _write(partial_files: Parts, path: Path, record: Record) -> None:
    import pyarrow as arrow

    time = Channel("t", record.time, "s")
    fields = [(c.name, arrow.float64(), {k: getattr(c, k) for k in WORDS}) for c in (time, *record.channels)]
    arrays = [arrow.array(np.ascontiguousarray(c.values)) for c in (time, *record.channels)]
    words = {"title": record.title, "history": json.dumps(record.history)}
    _store(partial_files.beside(path), fields, arrays, words)


def _write_table(partial_files: Parts, path: Path, table: Table) -> None:
    import pyarrow as arrow

    fields, arrays = [], []
    for c in table.columns:
        words = any(isinstance(x, str) for x in c.values)
        kind = arrow.string() if words else arrow.float64()
        values = [x if x is None else str(x) if words else float(x) for x in c.values]
        fields.append((c.name, kind, {"unit": c.unit, "label": c.label}))
        arrays.append(arrow.array(values, type=kind))
    _store(partial_files.beside(path), fields, arrays, {"title": table.title})


def _store(path: Path, fields: Iterable[tuple[Any, ...]], arrays: list[Any], words: Mapping[str, str]) -> None:
    import pyarrow as arrow
    from pyarrow import parquet

    schema = arrow.schema([arrow.field(name, kind, metadata=m) for name, kind, m in fields], metadata=words)
    parquet.write_table(arrow.table(arrays, schema=schema), str(path))


def _read(path: Path) -> Contents:
    import pyarrow as arrow
    from pyarrow import parquet

    try:
        with path.open("rb") as stream:
            table = parquet.read_table(stream)
    except arrow.ArrowException as error:
        raise RunError(f"cannot read {path}: {str(error).splitlines()[0]}") from None
    columns: dict[str, np.ndarray] = {}
    for name in table.column_names:
        try:
            columns[name] = np.asarray(table[name].to_numpy(), dtype=float)
        except (TypeError, ValueError):
            raise RunError(f"{path}: column '{name}' does not hold numbers") from None
    if not columns:
        raise RunError(f"{path} has no columns")
    first = "t" if "t" in columns else next(iter(columns))
    meta = {f.name: _decoded(f.metadata) for f in table.schema}
    names = [first, *(n for n in columns if n != first)]
    channels = tuple(Channel(n, columns[n], *(meta[n].get(k, "") for k in WORDS)) for n in names)
    words = _decoded(table.schema.metadata)
    return Contents(words.get("title", path.stem), channels, _history(words.get("history", "")))


def _decoded(metadata: dict[bytes, bytes] | None) -> dict[str, str]:
    return {k.decode("utf-8", "replace"): v.decode("utf-8", "replace") for k, v in (metadata or {}).items()}


def _history(text: str) -> tuple[str, ...]:
    try:
        return tuple(map(str, json.loads(text))) if text else ()
    except (ValueError, TypeError):
        return ()


FORMAT = Format("Parquet", ".parquet", _write, _read, write_table=_write_table, needs="pyarrow")
