"""Tables a person reads, and the same as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bellcrank.errors import RunError


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
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(head)
            writer.writerows([_cell(x) for x in row] for row in rows)
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror or error}") from None
    return path


def _cell(x: Any) -> str:
    return x if isinstance(x, str) else repr(x.item() if hasattr(x, "item") else x)


def per(unit: str, other: str) -> str:
    """The unit of a slope."""
    if other in ("", "1", "-"):
        return unit
    below = f"({other})" if any(c in other for c in "*/- ") else other
    return f"{unit or '1'}/{below}"
