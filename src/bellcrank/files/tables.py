"""Tables of channels: CSV, Parquet and NetCDF. All keep 64 bit; CSV writes 17 digits."""

from __future__ import annotations

import csv
import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.errors import RunError
from bellcrank.files.record import Channel, Record, guarded


def write_csv(path: str | Path, record: Record) -> Path:
    """A line of names, a line of units, then the samples; the first column is t in s."""
    path = Path(path)

    def work() -> None:
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(["t", *(c.name for c in record.channels)])
            writer.writerow(["s", *(c.unit for c in record.channels)])
            columns = [record.time.tolist(), *(c.values.tolist() for c in record.channels)]
            writer.writerows([repr(float(x)) for x in row] for row in zip(*columns, strict=True))

    guarded("write", path, work)
    return path


def read_csv(path: str | Path) -> Record:
    """Channels of a CSV file; the line of units may be missing."""
    path = Path(path)
    text = guarded("read", path, lambda: path.read_text(encoding="utf-8-sig"))
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


def write_parquet(path: str | Path, record: Record) -> Path:
    """A Parquet file; units and words are metadata of the columns (needs pyarrow)."""
    arrow, parquet = _package("pyarrow"), _package("pyarrow.parquet")
    path = Path(path)
    fields = [arrow.field("t", arrow.float64(), metadata={"unit": "s"})]
    fields += [arrow.field(c.name, arrow.float64(), metadata=_words(c)) for c in record.channels]
    words = {"title": record.title, "history": json.dumps(record.history)}
    arrays = [arrow.array(np.ascontiguousarray(a)) for a in (record.time, *(c.values for c in record.channels))]
    table = arrow.table(arrays, schema=arrow.schema(fields, metadata=words))
    guarded("write", path, lambda: parquet.write_table(table, str(path)))
    return path


def read_parquet(path: str | Path) -> Record:
    """Channels of a Parquet file (needs pyarrow)."""
    arrow, parquet = _package("pyarrow"), _package("pyarrow.parquet")
    path = Path(path)

    def work() -> Any:
        with path.open("rb") as stream:
            return parquet.read_table(stream)

    try:
        table = guarded("read", path, work)
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
    channels = tuple(
        Channel(n, v, *(meta[n].get(k, "") for k in ("unit", "label", "generic", "body")))
        for n, v in columns.items()
        if n != first
    )
    words = _decoded(table.schema.metadata)
    return Record(words.get("title", path.stem), columns[first], channels, _history(words.get("history", "")))


def write_netcdf(path: str | Path, record: Record) -> Path:
    """A NetCDF file (classic format, 64-bit numbers) with units and long names, as other programs expect them."""
    from scipy.io import netcdf_file

    path = Path(path)
    for c in record.channels:
        if "/" in c.name:
            raise RunError(
                f"cannot write {path}: the name of channel '{c.name}' holds '/', which NetCDF does not allow"
            )

    def work() -> None:
        with netcdf_file(str(path), "w") as f:
            f.title, f.history = _bytes(record.title), _bytes("\n".join(record.history))
            f.createDimension("t", len(record.time))
            axis = f.createVariable("t", "f8", ("t",))
            axis[:] = record.time
            axis.units = b"s"
            for c in record.channels:
                v = f.createVariable(c.name, "f8", ("t",))
                v[:] = c.values
                v.units, v.long_name, v.generic_name, v.body = map(_bytes, (c.unit, c.label, c.generic, c.body))

    guarded("write", path, work)
    return path


def read_netcdf(path: str | Path) -> Record:
    """Channels over the dimension t of a NetCDF file in classic format."""
    from scipy.io import netcdf_file

    path = Path(path)

    def work() -> Record:
        with path.open("rb"), netcdf_file(str(path), "r", mmap=False) as f:
            if "t" not in f.variables:
                raise RunError(f"{path} holds no variable t")
            channels = tuple(
                Channel(
                    name,
                    np.array(v[:], dtype=float),
                    *(_text(v, k) for k in ("units", "long_name", "generic_name", "body")),
                )
                for name, v in f.variables.items()
                if name != "t" and v.dimensions == ("t",)
            )
            history = tuple(h for h in _text(f, "history").split("\n") if h)
            return Record(_text(f, "title") or path.stem, np.array(f.variables["t"][:], dtype=float), channels, history)

    try:
        return guarded("read", path, work)
    except (TypeError, ValueError, IndexError, KeyError, MemoryError, OverflowError) as error:
        raise RunError(f"cannot read {path}: it is no NetCDF file in classic format ({error})") from None


def _bytes(text: str) -> bytes:
    return (text or " ").encode()  # an empty attribute cannot be stored


def _text(holder: Any, name: str) -> str:
    value = getattr(holder, name, b"")
    return value.decode("utf-8", "replace").strip() if isinstance(value, bytes) else str(value)


def _words(c: Channel) -> dict[str, str]:
    return {"unit": c.unit, "label": c.label, "generic": c.generic, "body": c.body}


def _decoded(metadata: dict[bytes, bytes] | None) -> dict[str, str]:
    return {k.decode("utf-8", "replace"): v.decode("utf-8", "replace") for k, v in (metadata or {}).items()}


def _history(text: str) -> tuple[str, ...]:
    try:
        return tuple(map(str, json.loads(text))) if text else ()
    except (ValueError, TypeError):
        return ()


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        what = name.partition(".")[0]
        raise RunError(f"Parquet files need the package {what}: pip install bellcrank[files]") from None
