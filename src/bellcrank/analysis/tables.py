"""Tables a person reads, and the same as CSV; results that have one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bellcrank.core.files import html
from bellcrank.core.files.csv_table import write_lines
from bellcrank.core.files.notebook_display import PlotDisplay
from bellcrank.core.files.record import report_io_errors
from bellcrank.core.files.text_files import align_columns
from bellcrank.mechanics.interface.interface import index_of_name

Cells = tuple[
    Sequence[str], Sequence[Sequence[str]], str
]  # of a table: heads, rows, < or > for each column


def aligned_table(head: Sequence[str], rows: Iterable[Sequence[str]], align: str) -> str:
    """Aligned columns under a head; `align` has < or > for each."""
    return align_columns([head, *rows], align)


def write_csv(path: str | Path, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    """Rows under a head; numbers with all their digits."""
    path = Path(path)
    report_io_errors("write", path, lambda: path.parent.mkdir(parents=True, exist_ok=True))
    report_io_errors("write", path, lambda: write_lines(path, [head], rows))
    return path


def column_heads(names: Iterable[str], units: Iterable[str]) -> list[str]:
    """Heads of columns with their units."""
    return [f"{n} ({u})" if u else n for n, u in zip(names, units, strict=True)]


def format_number(value: float, digits: int) -> str:
    """A number with so many digits; what is left of an iteration to zero is zero, what there is
    none of a dash."""
    if math.isnan(value):
        return "-"
    return f"{value:.{digits}g}" if abs(value) > 1e-13 else "0"


def motion_line(motion: str) -> list[str]:
    """The line that says at which motion an analysis was made, if that is known."""
    return [f"motion: {motion}"] if motion else []


def column_index(name: Any, names: Sequence[str], kind: str) -> int:
    """Where a name stands in a list, however it is spelled."""
    index = index_of_name(name, names)
    if index is None:
        raise KeyError(f"no {kind} '{name}'. {kind.capitalize()}s: {', '.join(names)}")
    return index


def derivative_unit(unit: str, divisor: str) -> str:
    """The unit of a derivative."""
    if divisor in ("", "1", "-"):
        return unit
    below = f"({divisor})" if any(c in divisor for c in "*/- ") else divisor
    return f"{unit or '1'}/{below}"


class TabularResult(PlotDisplay):
    """A result whose text is a table below a title. A kind of results says what is in it."""

    @property
    def _title(self) -> str:
        raise NotImplementedError

    def _table_cells(self) -> Cells:
        raise NotImplementedError

    def _lines_before_table(self) -> list[str]:
        """Lines between title and table."""
        return []

    def _lines_after_table(self) -> list[str]:
        """Lines below the table."""
        return []

    def __str__(self) -> str:
        intro, remarks = (
            [f"  {line}" for line in lines]
            for lines in (self._lines_before_table(), self._lines_after_table())
        )
        return "\n".join([self._title, *intro, aligned_table(*self._table_cells()), *remarks])

    def _html_parts(self) -> list[str]:
        head, rows, align = self._table_cells()
        cells = html.html_table(head, rows, [i for i, side in enumerate(align) if side == ">"])
        intro, remarks = (
            map(html.paragraph, lines)
            for lines in (self._lines_before_table(), self._lines_after_table())
        )
        return [html.heading(self._title), *intro, cells, *remarks]


class SavableTable(TabularResult):
    """A result with a table of numbers, which `save` writes."""

    def _table(self) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Heads with units, and rows."""
        raise NotImplementedError

    def _table_cells(self) -> Cells:
        head, rows = self._table()
        return head, [[format_number(x, 4) for x in row] for row in rows], ">" * len(head)

    @property
    def columns(self) -> tuple[str, ...]:
        """Heads of the columns of `rows`, with units."""
        return tuple(self._table()[0])

    def rows(self) -> list[Any]:
        """List the table that `save` writes.

        Returns
        -------
        list of list
            The rows, with a value for each of `columns`.
        """
        return [list(row) for row in self._table()[1]]

    def save(self, path: str | Path) -> Path:
        """Write the table as CSV: `columns`, then `rows`.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Path
            The file.
        """
        return write_csv(path, *self._table())
