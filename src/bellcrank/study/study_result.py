"""The rows of a study: table, files, tables over two names, plots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.core.errors import RunError, optional_package
from bellcrank.core.files import record as files
from bellcrank.core.files.format_choice import write_table
from bellcrank.core.files.html import heading, html_table, paragraph
from bellcrank.core.files.notebook_display import NotebookDisplay
from bellcrank.study.pivot import Pivot, best_row, make_pivot_table
from bellcrank.study.study_plots import draw_all_plots
from bellcrank.study.study_rows import Row, StudyColumn, StudyRows

SHOWN = 30  # rows in the table of a notebook


@dataclass(frozen=True)
class StudyResult(StudyRows, NotebookDisplay):
    """Results of a study: `result["sd"]` is a column as an array, nan where a run failed.

    Attributes
    ----------
    definition : Definition
        Content of the study file.
    columns : dict
        Unit and label of each column.
    rows : tuple of Row
        The runs; `failed` lists those that failed.
    folder : Path
        Folder of the results.
    notes : tuple of str
        Remarks.
    made, found : int
        Number of runs that were done now, and that were in the folder already.
    seconds : float
        Time of all runs together in s.

    Examples
    --------
    >>> import tempfile
    >>> import bellcrank as bc
    >>> plan = {"name": "travel", "model": {"file": "quarter_car.py"}, "run": {"t_end": 1}}
    >>> plan["grid"] = {"k": [2e4, 3e4]}
    >>> plan["metrics"] = {"most": {"kind": "max", "of": "az"}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = bc.Study.read(plan, "examples").run(folder, in_process=True)
    >>> result
    StudyResult('travel': 2 rows, 0 failed)
    >>> result.best("most").values
    {'k': 20000.0}
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
        suffix = f", the first: {self.failed[0].ended}" if self.failed else ""
        return (
            f"StudyResult({self.name!r}: {len(self.rows)} rows, {len(self.failed)} failed{suffix})"
        )

    def _ipython_key_completions_(self) -> list[str]:
        return [*self.columns]

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.columns:
            raise RunError(f"no column '{name}'. Columns: {', '.join(self.columns)}")
        values = [row.metrics.get(name, row.values.get(name)) for row in self.rows]
        if any(isinstance(x, str) for x in values):
            return np.array(values, dtype=object)
        return np.array([np.nan if x is None else float(x) for x in values])

    @property
    def heads(self) -> list[str]:
        """Names of all columns: part (if there are several), what varies, what is measured, how the
        run ended."""
        return [*(["part"] if len(self.definition.parts) > 1 else []), *self.columns, "ended"]

    def table(self) -> Iterator[list[Any]]:
        """List the rows in the order of `heads`.

        Returns
        -------
        iterator of list
            Values of each row, None where there is none.
        """
        for row in self.rows:
            values_by_column: dict[str, Any] = {
                "part": row.part,
                **row.values,
                **row.metrics,
                "ended": row.ended,
            }
            yield [values_by_column.get(name) for name in self.heads]

    def _html_parts(self) -> list[str]:
        rows = [row for row, _ in zip(self.table(), range(SHOWN))]
        units = self.units
        heads = [f"{h} ({units[h]})" if units.get(h) else h for h in self.heads]
        remarks = [
            *self.notes,
            *([f"and {len(self) - SHOWN} more rows"] if len(self) > SHOWN else []),
        ]
        return [
            heading(repr(self)),
            html_table(heads, rows, right=range(len(heads) - 1)),
            *map(paragraph, remarks),
        ]

    def best(self, metric: str, how: str = "min") -> Row | None:
        """Find the best run.

        Parameters
        ----------
        metric : str
            The metric.
        how : {"min", "max"}, default "min"
            Whether the smallest or the largest value is best.

        Returns
        -------
        Row or None
            The run; None if there is none with a value.
        """
        return best_row(self.rows, metric, how)

    def to_pandas(self) -> Any:
        """Convert the rows to pandas.

        Returns
        -------
        pandas.DataFrame
            A row for each run.

        Raises
        ------
        RunError
            If pandas is not installed.
        """
        pandas = optional_package("pandas", "files")
        frame = pandas.DataFrame(list(self.table()), columns=self.heads)
        frame.attrs["units"] = self.units
        return frame

    def save(self, path: str | Path) -> Path:
        """Write the rows with their units.

        Parameters
        ----------
        path : str or Path
            The file: .csv, .parquet or .json.

        Returns
        -------
        Path
            The file.
        """
        rows = list(self.table())
        head_columns = [(head, self.columns.get(head, StudyColumn("", ""))) for head in self.heads]
        columns = tuple(
            files.TableColumn(n, [row[i] for row in rows], c.unit, c.label)
            for i, (n, c) in enumerate(head_columns)
        )
        return write_table(path, files.Table(self.name, columns))

    def tables(self) -> list[Pivot]:
        """Compute the [[tables]] of the study.

        Returns
        -------
        list of Pivot
            Tables over two names.
        """
        return [make_pivot_table(self.rows, spec, self.units) for spec in self.definition.tables]

    def plot(self, folder: str | Path | None = None, ending: str = ".png") -> list[Path]:
        """Draw the [[plots]] of the study, or each metric over what varies.

        Parameters
        ----------
        folder : str or Path, optional
            Folder of the pictures. Default: that of the results.
        ending : str, default ".png"
            Format.

        Returns
        -------
        list of Path
            The files.
        """
        return draw_all_plots(self, Path(folder) if folder is not None else self.folder, ending)

    def as_dict(self) -> dict[str, Any]:
        """Collect all results, ready for JSON.

        Returns
        -------
        dict
            Rows, columns, tables and notes.
        """
        return {
            "study": self.name,
            "model": str(self.definition.model),
            "runs": {
                "rows": len(self.rows),
                "made": self.made,
                "found": self.found,
                "failed": len(self.failed),
            },
            "seconds": self.seconds,
            "folder": str(self.folder),
            "columns": {
                name: {"unit": c.unit, "label": c.label} for name, c in self.columns.items()
            },
            "rows": [dict(zip(self.heads, row, strict=True)) for row in self.table()],
            "tables": [t.as_dict() for t in self.tables()],
            "notes": list(self.notes),
        }
