"""The values of a study's runs: every combination of a grid, and samples of distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from bellcrank.many.sampling import Samples, Value, draw


@dataclass(frozen=True)
class Part:
    """A part of a study: every combination of `grid` with every sample."""

    name: str
    grid: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    samples: Samples | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """What varies."""
        return (*self.grid, *(self.samples.of if self.samples else ()))

    def runs(self) -> list[dict[str, Value]]:
        """The values of every run."""
        combinations = [dict(zip(self.grid, values, strict=True)) for values in product(*self.grid.values())]
        drawn = draw(self.samples) if self.samples else [{}]
        return [{**c, **d} for c in combinations for d in drawn]
