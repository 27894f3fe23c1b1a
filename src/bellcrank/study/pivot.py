"""A metric over two names: for each pair of values the best over all others, next to any published
value."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bellcrank.core.errors import RunError
from bellcrank.core.files.text_files import read_text
from bellcrank.simulation.many.sample_plans import Value
from bellcrank.study.study_records import PlotSpec, TableSpec
from bellcrank.study.study_rows import Row


@dataclass(frozen=True)
class PivotCell:
    """The best value, the other names at which it was found, and what was published, with where it
    was found."""

    value: float | None
    best_at: dict[str, Value]
    published: float | None = None
    published_at: dict[str, float] | None = None


@dataclass(frozen=True)
class Pivot:
    """A table: `cells[i][j]` belongs to row value i and column value j."""

    spec: TableSpec
    unit: str
    rows: tuple[Value, ...]
    columns: tuple[Value, ...]
    cells: tuple[tuple[PivotCell, ...], ...]

    @property
    def beside(self) -> bool:
        return any(c.published is not None for line in self.cells for c in line)

    @property
    def title(self) -> str:
        conditions = ", ".join(f"{n} = {value_label(v)}" for n, v in self.spec.where.items())
        unit = f" ({self.unit})" if self.unit else ""
        head = self.spec.title or self.spec.value + (f", {conditions}" if conditions else "")
        source = f"; next to it {self.spec.source}" if self.beside and self.spec.source else ""
        return f"{head}{unit}{source}"

    def lines(self) -> list[list[str]]:
        """Head and rows as text: value (where), next to it the published one."""
        corner = (
            self.spec.rows
            if self.spec.columns is None
            else f"{self.spec.rows} \\ {self.spec.columns}"
        )
        head = (
            [corner, *(value_label(c) for c in self.columns)]
            if self.spec.columns
            else [corner, self.spec.value]
        )
        rows = [
            [value_label(r), *(self._cell_text(c) for c in line)]
            for r, line in zip(self.rows, self.cells, strict=True)
        ]
        return [head, *rows]

    def _cell_text(self, c: PivotCell) -> str:
        if c.value is None:
            text = "-"
        else:
            text = f"{c.value:.4g}" + (
                f" ({', '.join(value_label(v) for v in c.best_at.values())})" if c.best_at else ""
            )
        if c.published is None:
            return text
        published_at = c.published_at or {}
        return f"{text} | {c.published:.4g}" + (
            f" ({', '.join(value_label(v) for v in published_at.values())})" if published_at else ""
        )

    def as_dict(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "unit": self.unit,
            "rows": {self.spec.rows: list(self.rows)},
            "columns": {self.spec.columns or "": list(self.columns)},
            "values": [[c.value for c in line] for line in self.cells],
            "at": [[c.best_at for c in line] for line in self.cells],
            "published": [[c.published for c in line] for line in self.cells]
            if self.beside
            else None,
        }


def value_label(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def values_equal(a: Any, b: Any) -> bool:
    if isinstance(a, int | float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    return bool(a == b)


def select_rows(rows: Iterable[Row], spec: TableSpec | PlotSpec) -> list[Row]:
    """The rows that a table or plot is about."""
    return [
        row
        for row in rows
        if (spec.part is None or row.part == spec.part)
        and all(
            name in row.values and values_equal(row.values[name], v)
            for name, v in spec.where.items()
        )
    ]


def best_row(rows: Sequence[Row], value: str, criterion: str) -> Row | None:
    measured = [row for row in rows if row.metrics.get(value) is not None]
    select = min if criterion == "min" else max
    return select(measured, key=lambda row: row.metrics[value] or 0.0) if measured else None


def group_table_rows(
    rows: Iterable[Row], names: Sequence[str]
) -> dict[tuple[Value, ...], list[Row]]:
    groups: dict[tuple[Value, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.values[n] for n in names), []).append(row)
    return groups


def make_pivot_table(rows: Iterable[Row], spec: TableSpec, units: Mapping[str, str]) -> Pivot:
    """The table of a specification."""
    names = [spec.rows, *([spec.columns] if spec.columns else [])]
    groups = group_table_rows(select_rows(rows, spec), names)
    heights = tuple(dict.fromkeys(key[0] for key in groups))
    widths = tuple(dict.fromkeys(key[1] for key in groups)) if spec.columns else ("",)
    published = (
        _read_published(spec.published_file, spec.value) if spec.published_file is not None else []
    )
    cells = []
    for r in heights:
        line = []
        for c in widths:
            key = (r, c) if spec.columns else (r,)
            best = best_row(groups.get(key, ()), spec.value, spec.best)
            other_names = (
                () if best is None else [n for n in best.values if n not in (*names, *spec.where)]
            )
            best_at = {n: best.values[n] for n in other_names} if best else {}
            published_row = _find_published(published, dict(zip(names, key, strict=True)), spec)
            published_at = (
                None
                if published_row is None
                else {n: published_row[n] for n in other_names if n in published_row}
            )
            value = None if best is None else best.metrics[spec.value]
            line.append(
                PivotCell(
                    value,
                    best_at,
                    None if published_row is None else published_row[spec.value],
                    published_at,
                )
            )
        cells.append(tuple(line))
    return Pivot(spec, units.get(spec.value, ""), heights, widths, tuple(cells))


def _read_published(path: Path, value: str) -> list[dict[str, Any]]:
    """Rows of a CSV file of published values: a column `part` if wanted, the names, the metric."""
    lines = [
        line for line in read_text(path).splitlines() if line.strip() and not line.startswith("#")
    ]
    rows = []
    for number, row in enumerate(csv.DictReader(lines), 2):
        if value not in row:
            raise RunError(
                f"{path}: there is no column '{value}'. Columns: {', '.join(map(str, row))}"
            )
        try:
            rows.append(
                {k: v if k == "part" else float(v) for k, v in row.items() if v not in (None, "")}
            )
        except (TypeError, ValueError):
            raise RunError(f"{path}, line {number}: only numbers are expected") from None
    return [row for row in rows if value in row]


def _find_published(
    published: Iterable[dict[str, Any]], cell_values: Mapping[str, Any], spec: TableSpec
) -> dict[str, Any] | None:
    for row in published:
        fixed = row.get("part", spec.part) == spec.part and all(
            values_equal(row.get(n, v), v) for n, v in spec.where.items()
        )
        if fixed and all(
            name in row and values_equal(row[name], v) for name, v in cell_values.items()
        ):
            return row
    return None
