"""The format of a file by its ending."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bellcrank.errors import RunError
from bellcrank.files.erd import read_erd, write_erd
from bellcrank.files.record import Record
from bellcrank.files.tables import read_csv, read_netcdf, read_parquet, write_csv, write_netcdf, write_parquet

WRITERS: dict[str, Callable[..., Path]] = {
    ".csv": write_csv, ".erd": write_erd, ".parquet": write_parquet, ".nc": write_netcdf,
}  # fmt: skip
READERS: dict[str, Callable[[Path], Record]] = {
    ".csv": read_csv, ".erd": read_erd, ".parquet": read_parquet, ".nc": read_netcdf,
}  # fmt: skip


def write_record(path: str | Path, record: Record, **options: Any) -> Path:
    """Writes a record in the format of the path's ending; `binary` and `classic` are options of ERD files."""
    path = Path(path)
    writer = _found(WRITERS, path, "save to")
    given = {k: v for k, v in options.items() if v}
    if given and path.suffix.lower() != ".erd":
        raise RunError(f"{' and '.join(given)} is a layout of ERD files, '{path.name}' is another one")
    return writer(path, record, **given)


def read_record(path: str | Path) -> Record:
    """The record of a file in the format of its ending."""
    path = Path(path)
    return _found(READERS, path, "read")(path)


def _found(table: dict[str, Any], path: Path, what: str) -> Any:
    if path.suffix.lower() not in table:
        known = list(table)
        raise RunError(f"cannot {what} '{path.name}': known endings are {', '.join(known[:-1])} and {known[-1]}")
    return table[path.suffix.lower()]
