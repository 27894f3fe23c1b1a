"""Tables a person reads, and the same as CSV."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bellcrank.files.csv_table import write_lines
from bellcrank.files.record import guarded
from bellcrank.interface.interface import place_of


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


def headed(names: Iterable[str], units: Iterable[str]) -> list[str]:
    """Heads of columns with their units."""
    return [f"{n} ({u})" if u else n for n, u in zip(names, units, strict=True)]


def shown(value: float, digits: int) -> str:
    """A number with so many digits; what is left of an iteration to zero is zero, what there is none of a dash."""
    if math.isnan(value):
        return "-"
    return f"{value:.{digits}g}" if abs(value) > 1e-13 else "0"


def motion_line(motion: str) -> list[str]:
    """The line that says at which motion an analysis was made, if that is known."""
    return [f"  motion: {motion}"] if motion else []


def column_of(name: Any, listed: Sequence[str], what: str) -> int:
    """Where a name stands in a list, however it is spelled."""
    place = place_of(name, listed)
    if place is None:
        raise KeyError(f"no {what} '{name}'. {what.capitalize()}s: {', '.join(listed)}")
    return place


def per(unit: str, other: str) -> str:
    """The unit of a slope."""
    if other in ("", "1", "-"):
        return unit
    below = f"({other})" if any(c in other for c in "*/- ") else other
    return f"{unit or '1'}/{below}"
