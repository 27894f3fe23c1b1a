"""The rows of a study as data: what varied, what was measured, how each run ended."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.many.sampling import Value
from bellcrank.study.records import Definition

FINISHED = "finished"


@dataclass(frozen=True)
class Column:
    """Unit and words of a column."""

    unit: str
    label: str


@dataclass(frozen=True)
class Row:
    """One run: its part, its values, its metrics (None where it failed), and how it ended."""

    part: str
    values: dict[str, Value]
    metrics: dict[str, float | None]
    ended: str

    @property
    def finished(self) -> bool:
        return self.ended == FINISHED


@dataclass(frozen=True)
class Rows:
    """All rows with the study they belong to and the words of their columns."""

    definition: Definition
    columns: dict[str, Column]
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        return self.definition.name
