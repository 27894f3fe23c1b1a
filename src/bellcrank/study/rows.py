"""The rows of a study as data: one for each run, with what its columns mean."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.study.records import Definition
from bellcrank.study.sampling import Value

FINISHED = "finished"


@dataclass(frozen=True)
class Column:
    """Unit and words of a column."""

    unit: str
    label: str


@dataclass(frozen=True)
class Row:
    """One run: its part, its values, its measures (None where it failed), and how it ended."""

    part: str
    values: dict[str, Value]
    measures: dict[str, float | None]
    ended: str

    @property
    def finished(self) -> bool:
        return self.ended == FINISHED


@dataclass(frozen=True)
class Rows:
    """All rows of a study."""

    definition: Definition
    columns: dict[str, Column]
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def units(self) -> dict[str, str]:
        return {name: c.unit for name, c in self.columns.items()}
