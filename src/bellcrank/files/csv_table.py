"""CSV files: a line of names, a line of units, then numbers with 17 digits."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.errors import RunError
from bellcrank.files.format import Format
from bellcrank.files.record import Channel, Record, Table
from bellcrank.files.text import read_text
from bellcrank.files.whole import Parts


def _write_csv(parts: Parts, path: Path, record: Record) -> None:
    """The first column is t in s."""
    columns = [map(float, values) for values in (record.time, *(c.values for c in record.channels))]
    names, units = ["t", *(c.name for c in record.channels)], ["s", *(c.unit for c in record.channels)]
    _write_lines(parts.beside(path), [names, units], zip(*columns, strict=True))


def _write_table(parts: Parts, path: Path, table: Table) -> None:
    names, units = [c.name for c in table.columns], [c.unit for c in table.columns]
    _write_lines(parts.beside(path), [names, units], zip(*(c.values for c in table.columns), strict=True))


def write_lines(path: Path, heads: Iterable[Sequence[str]], rows: Iterable[Iterable[Any]]) -> None:
    """A file with lines of words, then rows; numbers with all their digits, nothing where there is no value."""
    with Parts() as parts:
        _write_lines(parts.beside(path), heads, rows)


def _write_lines(path: Path, heads: Iterable[Sequence[str]], rows: Iterable[Iterable[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerows(heads)
        writer.writerows([_cell(x) for x in row] for row in rows)


def _cell(x: Any) -> str:
    return "" if x is None else repr(float(x)) if isinstance(x, float) else str(x)


def read_csv(path: Path) -> Record:
    """Channels of a CSV file; the line of units may be missing."""
    text = read_text(path)
    try:
        rows = [row for row in csv.reader(text.splitlines()) if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise RunError(f"cannot read {path}: {error}") from None
    if not rows:
        raise RunError(f"{path}: a line of names is expected")
    names = [cell.strip() for cell in rows[0]]
    repeated = {n for n in names if names.count(n) > 1}
    if repeated:
        raise RunError(f"{path}, line 1: the name {sorted(repeated)[0]!r} stands there twice")
    units = [cell.strip() for cell in rows[1]] if len(rows) > 1 and not _number(rows[1][0]) else None
    start = 1 if units is None else 2
    data = np.empty((len(rows) - start, len(names)))
    for i, row in enumerate(rows[start:]):
        if len(row) != len(names):
            raise RunError(f"{path}, line {i + start + 1}: {len(names)} numbers are expected, {len(row)} found")
        for j, cell in enumerate(row):
            if not _number(cell):
                raise RunError(f"{path}, line {i + start + 1}, column '{names[j]}': {cell!r} is not a number")
            data[i, j] = float(cell)
    shown = dict(zip(names, units or [], strict=False))
    channels = tuple(Channel(n, data[:, j], shown.get(n, "")) for j, n in enumerate(names) if j > 0)
    return Record(path.stem, data[:, 0], channels)


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


FORMAT = Format("CSV", ".csv", _write_csv, read_csv, write_table=_write_table)
