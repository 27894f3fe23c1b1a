"""Runs and parameters read back from files."""

from __future__ import annotations

from pathlib import Path

from bellcrank.files.choose import read_record
from bellcrank.files.parsfile import ParsFile, read_parsfile
from bellcrank.run.result import Run

ENDED = "The run: "


def read(path: str | Path) -> Run | ParsFile:
    """What a file holds: a run (.csv, .erd, .parquet, .nc ...) or the lines of a parameter file (.par, .echo)."""
    if Path(path).suffix.lower() in (".par", ".echo"):
        return read_parsfile(path)
    return read_run(path)


def read_run(path: str | Path) -> Run:
    """The channels of a file as a run."""
    record = read_record(path)
    ended = [h.removeprefix(ENDED) for h in record.history if h.startswith(ENDED)]
    return Run(
        record.title,
        record.time,
        {c.name: c.values for c in record.channels},
        {c.name: c.unit for c in record.channels},
        {c.name: c.label or c.name for c in record.channels},
        ended[0] if ended else "read from a file",
        generic={c.name: c.generic for c in record.channels},
        bodies={c.name: c.body for c in record.channels},
    )
