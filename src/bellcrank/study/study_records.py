"""What a study file says, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bellcrank.core.metrics.metric import Metric
from bellcrank.simulation.many.sample_plans import Value
from bellcrank.study.study_parts import StudyPart

Given = float | str  # a number, or a formula of other names


@dataclass(frozen=True)
class ModelSpec:
    """A vehicle of bc.vehicles or a model file, with arguments; `terrain` of a vehicle has its kind
    under "kind"."""

    vehicle: str | None = None
    file: Path | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    terrain: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        return str(self.vehicle) if self.file is None else self.file.name


@dataclass(frozen=True)
class OutputSpec:
    """A channel that the study adds to the model."""

    formula: str
    units: str | None = None
    label: str | None = None


@dataclass(frozen=True)
class TableSpec:
    """A metric over two names, the best over all others; `published_file`: a CSV file of published
    values; `source`: whose."""

    title: str
    value: str
    rows: str
    columns: str | None = None
    part: str | None = None
    where: Mapping[str, Value] = field(default_factory=dict)
    best: str = "min"
    published_file: Path | None = None
    source: str = ""


@dataclass(frozen=True)
class PlotSpec:
    """A metric over x: a line for each value of `lines`, or a map over x and y; the best over all
    others."""

    file: str
    value: str
    x: str
    y: str | None = None
    lines: str | None = None
    title: str = ""
    part: str | None = None
    where: Mapping[str, Value] = field(default_factory=dict)
    best: str = "min"


@dataclass(frozen=True)
class StudyDefinition:
    """A study."""

    name: str
    model: ModelSpec
    outputs: Mapping[str, OutputSpec]
    run: Mapping[str, Any]
    parameters: Mapping[str, Given]
    initial: Mapping[str, Given]
    inputs: Mapping[str, Any]
    parts: tuple[StudyPart, ...]
    metrics: Mapping[str, Metric]
    tables: tuple[TableSpec, ...] = ()
    plots: tuple[PlotSpec, ...] = ()
    guess: Mapping[str, Given] = field(default_factory=dict)

    @property
    def varied(self) -> list[str]:
        """Every name that varies in some part, in order."""
        return list(dict.fromkeys(name for part in self.parts for name in part.varied_names))
