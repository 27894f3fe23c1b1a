"""The format of a file by its ending."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bellcrank.core.errors import RunError
from bellcrank.core.files import csv_table, erd, json_text, matlab, mdf, netcdf, parquet
from bellcrank.core.files.atomic import AtomicWrite
from bellcrank.core.files.file_format import FileFormat
from bellcrank.core.files.record import (
    FileContents,
    Record,
    Table,
    check_channel_names,
    clean_texts,
    report_io_errors,
    to_time_record,
)
from bellcrank.core.files.text_files import reject_device, reject_pipe

_ALL = (csv_table, erd, parquet, netcdf, matlab, mdf, json_text)
FORMATS = {m.FORMAT.ending: m.FORMAT for m in _ALL}
"""Of channels over time, by ending."""
TABLES = {ending: f for ending, f in FORMATS.items() if f.write_table is not None}
_TEXTS = (".csv", ".erd", ".json")
"""Of the rows of a study."""


def write_record(path: str | Path, record: Record, **layouts: bool) -> Path:
    """Writes a record in the format of the path's ending; `layouts` are those of the format, true
    where wanted."""
    path = Path(path)
    entry = _format_of(path, "save to")
    layouts_wanted = {name: True for name, value in layouts.items() if value}
    if foreign := [name for name in layouts_wanted if name not in entry.options]:
        owner = next(f for f in FORMATS.values() if foreign[0] in f.options)
        raise RunError(
            f"{' and '.join(foreign)} is a layout of {owner.name} files, '{path.name}' is "
            f"another one"
        )
    report_io_errors(
        "write",
        path,
        lambda: _write_atomically(entry.write, path, clean_texts(record, path), **layouts_wanted),
    )
    return path


def write_table(path: str | Path, table: Table) -> Path:
    """Writes a table in the format of the path's ending; makes the folder where it is missing."""
    path = Path(path)
    write: Any = _format_of(path, "save to", TABLES).write_table
    report_io_errors("write", path, lambda: path.parent.mkdir(parents=True, exist_ok=True))
    report_io_errors("write", path, lambda: _write_atomically(write, path, table))
    return path


def _write_atomically(
    write: Callable[..., None], path: Path, *arguments: Any, **layouts: bool
) -> None:
    with AtomicWrite() as partial_files:
        write(partial_files, path, *arguments, **layouts)


def read_record(path: str | Path) -> Record:
    """The channels over time of a file in the format of its ending."""
    return to_time_record(read_contents(path), path)


def read_contents(path: str | Path) -> FileContents:
    """All columns of a file in the format of its ending, whether over time or not."""
    path = Path(path)
    entry = _format_of(path, "read")
    _reject_stream(path)
    return check_channel_names(report_io_errors("read", path, lambda: entry.read(path)), path)


def read_groups(path: str | Path) -> list[FileContents]:
    """The same by groups of channels over their own times; most formats have one."""
    path = Path(path)
    groups = _format_of(path, "read").read_groups
    if groups is None:
        return [read_contents(path)]
    _reject_stream(path)
    return [
        check_channel_names(contents, path)
        for contents in report_io_errors("read", path, lambda: groups(path))
    ]


def _reject_stream(path: Path) -> None:
    """Rejects what is no file; text may come from a device, as far as it is not too long."""
    (reject_pipe if path.suffix.lower() in _TEXTS else reject_device)(path)


def _format_of(path: Path, action: str, formats: dict[str, FileFormat] = FORMATS) -> FileFormat:
    entry = formats.get(path.suffix.lower())
    if entry is None:
        *other_endings, last = formats
        raise RunError(
            f"cannot {action} '{path.name}': known file extensions are "
            f"{', '.join(other_endings)} and {last}"
        )
    if entry.package and find_spec(entry.package) is None:
        raise RunError(
            f"{entry.name} files need the package {entry.package}: pip install "
            f"bellcrank[{entry.extra}]"
        )
    return entry
