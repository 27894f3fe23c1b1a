"""The rows of a study as data: what varied, what was measured, how each run ended."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.simulation.many.sample_plans import Value
from bellcrank.study.study_records import StudyDefinition

FINISHED = "finished"


@dataclass(frozen=True)
class StudyColumn:
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
class StudyRows:
    """All rows with the study they belong to and the words of their columns."""

    definition: StudyDefinition
    columns: dict[str, StudyColumn]
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        return self.definition.name
