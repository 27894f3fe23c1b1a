"""NetCDF files (classic format, 64-bit numbers) with units and long names, as other programs expect
them."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import RunError
from bellcrank.core.files.atomic import AtomicWrite
from bellcrank.core.files.file_format import FileFormat
from bellcrank.core.files.record import FileChannel, FileContents, Record


def _write_netcdf(partial_files: AtomicWrite, path: Path, record: Record) -> None:
    from scipy.io import netcdf_file

    for c in record.channels:
        if "/" in c.name:
            reason = (
                f"the name of channel '{c.name}' holds '/', which NetCDF does not allow; give "
                f"it another name"
            )
            raise RunError(f"cannot write {path}: {reason}")
    with netcdf_file(str(partial_files.path_for(path)), "w") as f:
        f.title, f.history = (
            _attribute_bytes(record.title),
            _attribute_bytes("\n".join(record.history)),
        )
        f.createDimension("t", len(record.time))
        axis = f.createVariable("t", "f8", ("t",))
        axis[:] = record.time
        axis.units = b"s"
        for c in record.channels:
            v = f.createVariable(_encode_name(c.name), "f8", ("t",))
            v[:] = c.values
            v.units, v.long_name, v.generic_name, v.body = map(
                _attribute_bytes, (c.unit, c.label, c.generic_name, c.body)
            )


def _read_netcdf(path: Path) -> FileContents:
    """Channels over the dimension t."""
    from scipy.io import netcdf_file

    try:
        with path.open("rb"), netcdf_file(str(path), "r", mmap=False) as f:
            return _record_of_file(f, path)
    except (TypeError, ValueError, IndexError, KeyError, MemoryError, OverflowError) as error:
        raise RunError(
            f"cannot read {path}: it is no NetCDF file in classic format ({error})"
        ) from None


def _record_of_file(f: Any, path: Path) -> FileContents:
    if "t" not in f.variables:
        raise RunError(f"{path} holds no variable t")
    words = ("units", "long_name", "generic_name", "body")
    variables = [
        ("t", f.variables["t"]),
        *((n, v) for n, v in f.variables.items() if n != "t" and v.dimensions == ("t",)),
    ]
    channels = tuple(
        FileChannel(
            _decode_name(n), np.array(v[:], dtype=float), *(_attribute_text(v, k) for k in words)
        )
        for n, v in variables
    )
    history = tuple(h for h in _attribute_text(f, "history").split("\n") if h)
    return FileContents(_attribute_text(f, "title") or path.stem, channels, history)


def _encode_name(name: str) -> str:
    """A name as SciPy, which writes Latin 1, puts it into a file as UTF-8, which the format asks
    for."""
    return unicodedata.normalize("NFC", name).encode().decode("latin-1")


def _decode_name(stored: str) -> str:
    """A name from a file of ours, or one that holds Latin 1."""
    try:
        return stored.encode("latin-1").decode()
    except UnicodeDecodeError:
        return stored


def _attribute_bytes(text: str) -> bytes:
    return (text or " ").encode()  # an empty attribute cannot be stored


def _attribute_text(holder: Any, name: str) -> str:
    value = getattr(holder, name, b"")
    return value.decode("utf-8", "replace").strip() if isinstance(value, bytes) else str(value)


FORMAT = FileFormat("NetCDF", ".nc", _write_netcdf, _read_netcdf)
