"""The values of a study's runs: every combination of a grid, and samples of distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from bellcrank.simulation.many.sample_plans import SamplePlan, Value, draw_samples


@dataclass(frozen=True)
class StudyPart:
    """A part of a study: every combination of `grid` with every sample."""

    name: str
    grid: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    samples: SamplePlan | None = None

    @property
    def varied_names(self) -> tuple[str, ...]:
        """What varies."""
        return (*self.grid, *(self.samples.distributions if self.samples else ()))

    def run_values(self) -> list[dict[str, Value]]:
        """The values of every run."""
        combinations = [
            dict(zip(self.grid, values, strict=True)) for values in product(*self.grid.values())
        ]
        drawn = draw_samples(self.samples) if self.samples else [{}]
        return [{**c, **d} for c in combinations for d in drawn]
