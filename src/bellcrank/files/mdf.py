"""MDF 4 files, a format of measurements (needs asammdf): one group of channels with units and labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.errors import RunError
from bellcrank.files.format import Format
from bellcrank.files.record import WORDS, Channel, Contents, Record
from bellcrank.files.whole import Parts

VERSION = "4.10"


def _write(partial_files: Parts, path: Path, record: Record) -> None:
    from io import BytesIO

    from asammdf import MDF, Signal

    signals = [
        Signal(
            samples=np.ascontiguousarray(c.values, dtype=float), timestamps=record.time, name=c.name, unit=c.unit,
            comment=_words(c),
        )
        for c in record.channels
    ]  # fmt: skip
    buffer = BytesIO()
    with MDF(version=VERSION) as file:
        file.header.comment = json.dumps({"title": record.title, "history": record.history})
        file.append(signals, comment=record.title, common_timebase=True)
        file.save(buffer, overwrite=True)
    partial_files.beside(path).write_bytes(buffer.getvalue())


def _words(c: Channel) -> str:
    """The label, which other programs show; and what else there is."""
    metadata = {k: getattr(c, k) for k in WORDS[2:] if getattr(c, k)}
    return f"{c.label} {json.dumps(metadata)}" if metadata else c.label


def _read(path: Path) -> Contents:
    """The first group of channels of numbers."""
    return _groups(path)[0]


def _groups(path: Path) -> list[Contents]:
    """All groups of channels of numbers, each over its own times."""
    from asammdf import MDF

    try:
        with path.open("rb") as stream, MDF(stream) as file:
            return _records(file, path)
    except RunError:
        raise
    except OSError:
        raise
    except Exception as error:  # the package raises errors of many kinds, its own among them
        raise RunError(f"cannot read {path}: it is no MDF file ({error})") from None


def _records(file: Any, path: Path) -> list[Contents]:
    title, history = _header(getattr(file.header, "description", "") or file.header.comment)
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
            label, words = _split(signal.comment)
            values = np.asarray(signal.samples, dtype=float)
            metadata = words.get("generic", ""), words.get("body", "")
            channels.append(Channel(channel.name, values, signal.unit or "", label, *metadata))
        if time is not None:
            records.append(Contents(title or path.stem, (Channel("t", time, "s"), *channels), history))
    if not records:
        raise RunError(f"{path} holds no channels of numbers")
    return records


def _split(comment: str) -> tuple[str, dict[str, str]]:
    label, brace, json_text = (comment or "").partition(" {")
    if brace:
        try:
            return label, {str(k): str(v) for k, v in json.loads("{" + json_text).items()}
        except ValueError:
            pass
    return comment or "", {}


def _header(comment: str) -> tuple[str, tuple[str, ...]]:
    try:
        words = json.loads(comment)
        return str(words["title"]), tuple(map(str, words["history"]))
    except (ValueError, TypeError, KeyError):
        return "", ()


FORMAT = Format("MDF 4", ".mf4", _write, _read, needs="asammdf", extra="mdf", groups=_groups)
