"""The rows of a study: table, files, tables over two names, plots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.errors import RunError, optional_package
from bellcrank.files import record as files
from bellcrank.files.choose import write_table
from bellcrank.files.html import heading, paragraph, table
from bellcrank.files.notebook import Shown
from bellcrank.study.draw import draw_all
from bellcrank.study.pivot import Pivot, best_of, pivot
from bellcrank.study.rows import Column, Row, Rows

SHOWN = 30  # rows in the table of a notebook


@dataclass(frozen=True)
class StudyResult(Rows, Shown):
    """All runs of a study. `result["sd"]` is a column as an array (nan where a run failed); `rows` are the runs.

    `made` runs were made now, `found` ones lay in `folder` already; `seconds` were spent in all of them together.
    `notes` are what there is to know.
    """

    folder: Path
    notes: tuple[str, ...]
    made: int
    found: int
    seconds: float

    @property
    def units(self) -> dict[str, str]:
        return {name: c.unit for name, c in self.columns.items()}

    @property
    def failed(self) -> list[Row]:
        return [row for row in self.rows if not row.finished]

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"StudyResult({self.name!r}: {len(self.rows)} rows, {len(self.failed)} failed)"

    def _ipython_key_completions_(self) -> list[str]:
        return [*self.columns]

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.columns:
            raise RunError(f"no column '{name}'. Columns: {', '.join(self.columns)}")
        found = [row.metrics.get(name, row.values.get(name)) for row in self.rows]
        if any(isinstance(x, str) for x in found):
            return np.array(found, dtype=object)
        return np.array([np.nan if x is None else float(x) for x in found])

    @property
    def heads(self) -> list[str]:
        """Names of all columns: part (if there are several), what varies, what is measured, how the run ended."""
        return [*(["part"] if len(self.definition.parts) > 1 else []), *self.columns, "ended"]

    def table(self) -> Iterator[list[Any]]:
        """The rows, in the order of `heads`; None where there is no value."""
        for row in self.rows:
            known: dict[str, Any] = {"part": row.part, **row.values, **row.metrics, "ended": row.ended}
            yield [known.get(name) for name in self.heads]

    def _told(self) -> list[str]:
        rows = [row for row, _ in zip(self.table(), range(SHOWN))]
        units = self.units
        heads = [f"{h} ({units[h]})" if units.get(h) else h for h in self.heads]
        words = [*self.notes, *([f"and {len(self) - SHOWN} more rows"] if len(self) > SHOWN else [])]
        return [heading(repr(self)), table(heads, rows, right=range(len(heads) - 1)), *map(paragraph, words)]

    def best(self, metric: str, how: str = "min") -> Row | None:
        """The run with the smallest (or largest) value of a metric."""
        return best_of(self.rows, metric, how)

    def to_pandas(self) -> Any:
        """A DataFrame, a row for each run (needs pandas)."""
        pandas = optional_package("pandas", "files")
        frame = pandas.DataFrame(list(self.table()), columns=self.heads)
        frame.attrs["units"] = self.units
        return frame

    def save(self, path: str | Path) -> Path:
        """Writes the rows with their units, in the format of the ending: .csv, .parquet ..."""
        rows = list(self.table())
        known = [(head, self.columns.get(head, Column("", ""))) for head in self.heads]
        columns = tuple(files.Column(n, [row[i] for row in rows], c.unit, c.label) for i, (n, c) in enumerate(known))
        return write_table(path, files.Table(self.name, columns))

    def tables(self) -> list[Pivot]:
        """The [[tables]] of the study."""
        return [pivot(self.rows, spec, self.units) for spec in self.definition.tables]

    def plot(self, folder: str | Path | None = None, ending: str = ".png") -> list[Path]:
        """Draws the [[plots]] of the study, or a picture of every metric over what varies; returns their paths."""
        return draw_all(self, Path(folder) if folder is not None else self.folder, ending)

    def as_dict(self) -> dict[str, Any]:
        """All figures, ready for JSON."""
        return {
            "study": self.name,
            "model": str(self.definition.model),
            "runs": {"rows": len(self.rows), "made": self.made, "found": self.found, "failed": len(self.failed)},
            "seconds": self.seconds,
            "folder": str(self.folder),
            "columns": {name: {"unit": c.unit, "label": c.label} for name, c in self.columns.items()},
            "rows": [dict(zip(self.heads, row, strict=True)) for row in self.table()],
            "tables": [t.as_dict() for t in self.tables()],
            "notes": list(self.notes),
        }
