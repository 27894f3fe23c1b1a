"""Parquet files: columns with 64 bit; units and words are metadata of the columns (needs
pyarrow)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
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
    channel_texts,
)


def _write_parquet(partial_files: AtomicWrite, path: Path, record: Record) -> None:
    import pyarrow as arrow

    time = FileChannel("t", record.time, "s")
    fields = [(c.name, arrow.float64(), channel_texts(c)) for c in (time, *record.channels)]
    arrays = [arrow.array(np.ascontiguousarray(c.values)) for c in (time, *record.channels)]
    words = {"title": record.title, "history": json.dumps(record.history)}
    _write_arrow_table(partial_files.path_for(path), fields, arrays, words)


def _write_parquet_table(partial_files: AtomicWrite, path: Path, table: Table) -> None:
    import pyarrow as arrow

    fields, arrays = [], []
    for c in table.columns:
        words = any(isinstance(x, str) for x in c.values)
        kind = arrow.string() if words else arrow.float64()
        values = [x if x is None else str(x) if words else float(x) for x in c.values]
        fields.append((c.name, kind, {"unit": c.unit, "label": c.label}))
        arrays.append(arrow.array(values, type=kind))
    _write_arrow_table(partial_files.path_for(path), fields, arrays, {"title": table.title})


def _write_arrow_table(
    path: Path, fields: Iterable[tuple[Any, ...]], arrays: list[Any], words: Mapping[str, str]
) -> None:
    import pyarrow as arrow
    from pyarrow import parquet

    schema = arrow.schema(
        [arrow.field(name, kind, metadata=m) for name, kind, m in fields], metadata=words
    )
    parquet.write_table(arrow.table(arrays, schema=schema), str(path))


def _read_parquet(path: Path) -> FileContents:
    import pyarrow as arrow
    from pyarrow import parquet

    try:
        with path.open("rb") as stream:
            return _contents_of(parquet.read_table(stream), path)
    except (arrow.ArrowException, UnicodeDecodeError) as error:
        raise RunError(f"cannot read {path}: {str(error).splitlines()[0]}") from None


def _contents_of(table: Any, path: Path) -> FileContents:
    """What a table of pyarrow holds; a damaged one decodes its names and numbers only here."""
    columns: dict[str, np.ndarray] = {}
    for name in table.column_names:
        try:
            columns[name] = np.asarray(table[name].to_numpy(), dtype=float)
        except (TypeError, ValueError):
            raise RunError(f"{path}: column '{name}' does not hold numbers") from None
    if not columns:
        raise RunError(f"{path} has no columns")
    first = "t" if "t" in columns else next(iter(columns))
    meta = {f.name: _decode_metadata(f.metadata) for f in table.schema}
    names = [first, *(n for n in columns if n != first)]
    channels = tuple(
        FileChannel(n, columns[n], *(meta[n].get(k, "") for k in TEXT_KEYS)) for n in names
    )
    words = _decode_metadata(table.schema.metadata)
    return FileContents(
        words.get("title", path.stem), channels, _decode_history(words.get("history", ""))
    )


def _decode_metadata(metadata: dict[bytes, bytes] | None) -> dict[str, str]:
    return {
        k.decode("utf-8", "replace"): v.decode("utf-8", "replace")
        for k, v in (metadata or {}).items()
    }


def _decode_history(text: str) -> tuple[str, ...]:
    try:
        return tuple(map(str, json.loads(text))) if text else ()
    except (ValueError, TypeError):
        return ()


FORMAT = FileFormat(
    "Parquet",
    ".parquet",
    _write_parquet,
    _read_parquet,
    write_table=_write_parquet_table,
    package="pyarrow",
)
