"""MDF 4 files, a format of measurements (needs asammdf): one group of channels with units and
labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import RunError
from bellcrank.core.files.atomic import AtomicWrite
from bellcrank.core.files.file_format import FileFormat
from bellcrank.core.files.record import FileChannel, FileContents, Record, channel_texts

VERSION = "4.10"


def _write_mdf(partial_files: AtomicWrite, path: Path, record: Record) -> None:
    from io import BytesIO

    from asammdf import MDF, Signal

    signals = [
        Signal(
            samples=np.ascontiguousarray(c.values, dtype=float),
            timestamps=record.time,
            name=c.name,
            unit=c.unit,
            comment=_comment(c),
        )
        for c in record.channels
    ]
    buffer = BytesIO()
    with MDF(version=VERSION) as file:
        file.header.comment = json.dumps({"title": record.title, "history": record.history})
        file.append(signals, comment=record.title, common_timebase=True)
        file.save(buffer, overwrite=True)
    partial_files.path_for(path).write_bytes(buffer.getvalue())


def _comment(c: FileChannel) -> str:
    """The label, which other programs show; and what else there is."""
    metadata = {
        k: text for k, text in channel_texts(c).items() if text and k not in ("unit", "label")
    }
    return f"{c.label} {json.dumps(metadata)}" if metadata else c.label


def _read_mdf(path: Path) -> FileContents:
    """The first group of channels of numbers."""
    return _read_mdf_groups(path)[0]


def _read_mdf_groups(path: Path) -> list[FileContents]:
    """All groups of channels of numbers, each over its own times."""
    from asammdf import MDF

    try:
        with path.open("rb") as stream, MDF(stream) as file:
            return _group_records(file, path)
    except RunError:
        raise
    except OSError:
        raise
    except Exception as error:  # the package raises errors of many kinds, its own among them
        raise RunError(f"cannot read {path}: it is no MDF file ({error})") from None


def _group_records(file: Any, path: Path) -> list[FileContents]:
    title, history = _read_header(getattr(file.header, "description", "") or file.header.comment)
    records = []
    for index, group in enumerate(file.groups):
        channels, time = [], None
        for position, channel in enumerate(group.channels):
            if position == file.masters_db.get(index):
                continue
            signal = file.get(group=index, index=position)
            if signal.samples.ndim != 1 or signal.samples.dtype.kind not in "fiub":
                continue
            time = np.asarray(signal.timestamps, dtype=float)
            label, words = _split_comment(signal.comment)
            values = np.asarray(signal.samples, dtype=float)
            metadata = words.get("generic", ""), words.get("body", "")
            channels.append(FileChannel(channel.name, values, signal.unit or "", label, *metadata))
        if time is not None:
            records.append(
                FileContents(title or path.stem, (FileChannel("t", time, "s"), *channels), history)
            )
    if not records:
        raise RunError(f"{path} holds no channels of numbers")
    return records


def _split_comment(comment: str) -> tuple[str, dict[str, str]]:
    label, brace, json_text = (comment or "").partition(" {")
    if brace:
        try:
            return label, {str(k): str(v) for k, v in json.loads("{" + json_text).items()}
        except ValueError:
            pass
    return comment or "", {}


def _read_header(comment: str) -> tuple[str, tuple[str, ...]]:
    try:
        words = json.loads(comment)
        return str(words["title"]), tuple(map(str, words["history"]))
    except (ValueError, TypeError, KeyError):
        return "", ()


FORMAT = FileFormat(
    "MDF 4",
    ".mf4",
    _write_mdf,
    _read_mdf,
    package="asammdf",
    extra="mdf",
    read_groups=_read_mdf_groups,
)
