"""Tables a person reads, and the same as CSV."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bellcrank.files.csv_table import write_lines
from bellcrank.files.record import guarded


def table(head: Sequence[str], rows: Iterable[Sequence[str]], align: str) -> str:
    """Aligned columns under a head; `align` has < or > for each."""
    lines = [list(head), *(list(r) for r in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(align))]
    shown = (
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(line, align, widths, strict=True))
        for line in lines
    )
    return "\n".join(f"  {line}".rstrip() for line in shown)


def write_csv(path: str | Path, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    """Rows under a head; numbers with all their digits."""
    path = Path(path)
    guarded("write", path, lambda: path.parent.mkdir(parents=True, exist_ok=True))
    guarded("write", path, lambda: write_lines(path, [head], rows))
    return path


def per(unit: str, other: str) -> str:
    """The unit of a slope."""
    if other in ("", "1", "-"):
        return unit
    below = f"({other})" if any(c in other for c in "*/- ") else other
    return f"{unit or '1'}/{below}"
