"""The values of a study's runs: every combination of a grid, and samples of distributions.

Samples are drawn by SciPy's quasi-Monte Carlo engines: Latin hypercube (McKay, Beckman & Conover 1979), Sobol or
Halton points, or independent ones; the same seed gives the same samples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

Value = float | int | str | bool
HOW = ("latin-hypercube", "sobol", "halton", "random")
DISTRIBUTIONS: dict[str, str] = {
    "uniform": "[low, high]",
    "log-uniform": "[low, high], both positive",
    "normal": "[mean, standard deviation]",
    "integers": "[low, high], both included",
}


@dataclass(frozen=True)
class Samples:
    """`count` samples of distributions, each a pair (kind, its two numbers), drawn by `how` from `seed`."""

    count: int
    seed: int
    how: str
    of: Mapping[str, tuple[str, tuple[float, float]]]


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


def draw(samples: Samples) -> list[dict[str, Value]]:
    """The samples, one dictionary each."""
    shares = zip(samples.of.values(), _shares(samples).T, strict=True)
    columns = [_values(kind, numbers, share) for (kind, numbers), share in shares]
    return [dict(zip(samples.of, row, strict=True)) for row in zip(*columns, strict=True)]


def _shares(samples: Samples) -> np.ndarray:
    """Points of the unit cube, a row each."""
    from scipy.stats import qmc

    size, rng = len(samples.of), np.random.default_rng(samples.seed)
    if samples.how == "random":
        return rng.random((samples.count, size))
    engines: Any = {"latin-hypercube": qmc.LatinHypercube, "sobol": qmc.Sobol, "halton": qmc.Halton}
    engine = engines[samples.how](d=size, seed=rng)
    if samples.how == "sobol":  # balanced in powers of two only
        return np.asarray(engine.random_base2(math.ceil(math.log2(samples.count)))[: samples.count])
    return np.asarray(engine.random(samples.count))


def _values(kind: str, numbers: tuple[float, float], share: np.ndarray) -> list[Value]:
    from scipy.stats import norm

    a, b = numbers
    if kind == "uniform":
        return list((a + (b - a) * share).tolist())
    if kind == "log-uniform":
        return list(np.exp(math.log(a) + (math.log(b) - math.log(a)) * share).tolist())
    if kind == "normal":
        inside = np.clip(share, np.finfo(float).tiny, 1 - np.finfo(float).epsneg)  # 0 and 1 lie at infinity
        return list((a + b * norm.ppf(inside)).tolist())
    return [int(x) for x in np.minimum(np.floor(a + (b - a + 1) * share), b)]
