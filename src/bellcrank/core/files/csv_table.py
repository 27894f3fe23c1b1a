"""CSV files: a line of names, a line of units, one of labels where they are asked for, then numbers
with 17 digits."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import RunError
from bellcrank.core.files.atomic import AtomicWrite
from bellcrank.core.files.file_format import FileFormat
from bellcrank.core.files.record import FileChannel, FileContents, Record, Table
from bellcrank.core.files.text_files import read_text

_UNIT = re.compile(r"(.*\S)\s*\[([^\[\]]*)\]")  # name [unit]
_SEPARATOR_LINE = re.compile(r"\A\s*sep=[,;\t]\r?\n", re.IGNORECASE)
_QUOTED = re.compile('"[^"]*"')
SEPARATORS = ",;\t"
TIME_LABEL = "time"


def _write_csv(
    partial_files: AtomicWrite, path: Path, record: Record, labels: bool = False
) -> None:
    """The first column is t in s; `labels` stand in a third line."""
    columns = [map(float, values) for values in (record.time, *(c.values for c in record.channels))]
    names, units = (
        ["t", *(c.name for c in record.channels)],
        ["s", *(c.unit for c in record.channels)],
    )
    heads = [names, units, [TIME_LABEL, *(c.label or c.name for c in record.channels)]]
    _write_lines(
        partial_files.path_for(path), heads if labels else heads[:2], zip(*columns, strict=True)
    )


def _write_csv_table(partial_files: AtomicWrite, path: Path, table: Table) -> None:
    names, units = [c.name for c in table.columns], [c.unit for c in table.columns]
    _write_lines(
        partial_files.path_for(path),
        [names, units],
        zip(*(c.values for c in table.columns), strict=True),
    )


def write_lines(path: Path, heads: Iterable[Sequence[str]], rows: Iterable[Iterable[Any]]) -> None:
    """A file with lines of words, then rows; numbers with all their digits, nothing where there is
    no value."""
    with AtomicWrite() as partial_files:
        _write_lines(partial_files.path_for(path), heads, rows)


def _write_lines(path: Path, heads: Iterable[Sequence[str]], rows: Iterable[Iterable[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        stream.writelines(",".join(map(_quoted_cell, words)) + "\r\n" for words in heads)
        csv.writer(stream).writerows([_cell_text(x) for x in row] for row in rows)


def _quoted_cell(text: str) -> str:
    """A name or a unit; in quotation marks if a reader could take some of it for what separates
    cells."""
    return '"' + text.replace('"', '""') + '"' if {*text} & {*SEPARATORS, '"', "\r", "\n"} else text


def _cell_text(x: Any) -> str:
    return "" if x is None else repr(float(x)) if isinstance(x, float) else str(x)


def read_csv(path: str | Path, is_wanted: Callable[[str], bool] | None = None) -> FileContents:
    """Columns of a text file with a line of names, perhaps one of units and one of labels, and
    lines of numbers.

    Cells are separated by commas, semicolons or tabs, whichever the line of names has most of;
    between semicolons or tabs, numbers may have a decimal comma. Units may stand in brackets, in a
    line of their own or behind the names (`time [s]`). A first line `sep=;` and a separator at the
    end of every line, as spreadsheets write them, have no meaning. Empty cells are NaN, except in
    the first column. This one is always read; of the others, those whose names are `is_wanted`.
    """
    path = Path(path)
    text = _SEPARATOR_LINE.sub("\n", read_text(path))  # lines keep their numbers
    delimiter = max(SEPARATORS, key=_QUOTED.sub("", text.lstrip().partition("\n")[0]).count)
    try:
        cells = list(csv.reader(text.splitlines(), delimiter=delimiter))
    except csv.Error as error:
        raise RunError(f"cannot read {path}: {error}") from None
    rows = [(line, row) for line, row in enumerate(cells, 1) if any(cell.strip() for cell in row)]
    if not rows:
        raise RunError(f"{path} is empty: a line of names and lines of numbers are needed")
    if all(len(row) == len(rows[0][1]) > 1 and not row[-1].strip() for _, row in rows):
        rows = [(line, row[:-1]) for line, row in rows]
    names, units, start = *_names_and_units(rows[0][1]), 1
    if (
        len(rows) > 1 and _parse_cell(rows[1][1][0], delimiter) is None
    ):  # brackets are then part of the names
        names, units, start = (
            [c.strip() for c in rows[0][1]],
            [c.strip().strip("[]()") for c in rows[1][1]],
            2,
        )
        if len(units) > len(names):  # a line break between units and numbers may be missing
            reason = f"{len(units)} units are given, but line {rows[0][0]} has {len(names)} names"
            raise RunError(f"{path}, line {rows[1][0]}: {reason}")
    labels: Sequence[str] = ()
    if (
        start == 2
        and len(rows) > 2
        and len(rows[2][1]) == len(names)
        and rows[2][1][0].strip() == TIME_LABEL
    ):
        labels, start = [c.strip() for c in rows[2][1]], 3
    repeated = {n for n in names if names.count(n) > 1}
    if repeated:
        raise RunError(
            f"{path}, line {rows[0][0]}: the name {sorted(repeated)[0]!r} stands there twice"
        )
    columns = [j for j, name in enumerate(names) if j == 0 or is_wanted is None or is_wanted(name)]
    data = np.empty((len(columns), len(rows) - start))
    for i, (line, row) in enumerate(rows[start:]):
        if len(row) != len(names):
            raise RunError(
                f"{path}, line {line}: {len(names)} numbers are expected, {len(row)} found"
            )
        for k, j in enumerate(columns):
            value = _parse_cell(row[j], delimiter) if j == 0 or row[j].strip() else math.nan
            if value is None:
                raise RunError(
                    f"{path}, line {line}, column '{names[j]}': {row[j]!r} is not a number"
                )
            data[k, i] = value
    unit_of = dict(zip(names, units, strict=False))
    words = dict(zip(names, labels, strict=False))
    channels = tuple(
        FileChannel(n, data[k], unit_of.get(n, ""), words.get(n, ""))
        for k, n in enumerate(names[j] for j in columns)
    )
    return FileContents(
        path.stem, channels, omitted=tuple(n for j, n in enumerate(names) if j not in columns)
    )


def _names_and_units(row: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names of columns, and their units where they stand in square brackets behind the names."""
    matches = [_UNIT.fullmatch(cell.strip()) for cell in row]
    return [m[1] if m else cell.strip() for m, cell in zip(matches, row)], [
        m[2] if m else "" for m in matches
    ]


def _parse_cell(text: str, delimiter: str = ",") -> float | None:
    """The number in a cell; None where there is none. Underscores and digits of other scripts make
    no number."""
    text = text.strip()
    if delimiter != "," and text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    try:
        return float(text) if text.isascii() and "_" not in text else None
    except ValueError:
        return None


FORMAT = FileFormat(
    "CSV", ".csv", _write_csv, read_csv, options=("labels",), write_table=_write_csv_table
)
