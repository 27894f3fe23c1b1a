"""Samples of distributions.

They are drawn by SciPy's quasi-Monte Carlo engines: Latin hypercube (McKay, Beckman & Conover
1979), Sobol or Halton points, or independent ones; the same seed gives the same samples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.choices import Sampling, choice_values
from bellcrank.core.numeric.real_numbers import to_float

if TYPE_CHECKING:
    from numpy.typing import NDArray

Value = float | int | str | bool
HOW = choice_values(Sampling)
DISTRIBUTIONS: dict[str, str] = {
    "uniform": "[low, high]",
    "log-uniform": "[low, high], both positive",
    "normal": "[mean, standard deviation]",
    "integers": "[low, high], both included",
}


@dataclass(frozen=True)
class SamplePlan:
    """`count` samples of distributions, each a pair (kind, its two numbers), drawn by `sampling`
    from `seed`."""

    count: int
    seed: int
    sampling: str
    distributions: Mapping[str, tuple[str, tuple[float, float]]]


def distribution_problem(kind: str, pair: Any) -> str:
    """What is wrong with the two numbers of a distribution, in words; nothing if all is well."""
    is_valid = isinstance(pair, list | tuple) and len(pair) == 2
    is_valid = is_valid and all(
        (number := to_float(x)) is not None and math.isfinite(number) for x in pair
    )
    if is_valid:
        a, b = pair
        is_valid = b > 0 if kind == "normal" else a < b and (kind != "log-uniform" or a > 0)
        is_valid = is_valid and (
            kind != "integers" or all(isinstance(x, int | np.integer) for x in pair)
        )
    rule = "with a standard deviation above 0" if kind == "normal" else "low below high"
    return (
        ""
        if is_valid
        else f"{kind} = {pair!r} must be {DISTRIBUTIONS[kind]}, {rule}; both are finite numbers"
    )


def draw_samples(samples: SamplePlan) -> list[dict[str, Value]]:
    """The samples, one dictionary each."""
    columns = [column.tolist() for column in sample_columns(samples).values()]
    return [
        dict(zip(samples.distributions, row, strict=True)) for row in zip(*columns, strict=True)
    ]


def sample_columns(samples: SamplePlan) -> dict[str, np.ndarray]:
    """The samples of each distribution."""
    fractions = zip(samples.distributions.items(), _unit_cube_points(samples).T, strict=True)
    return {
        name: quantiles(kind, numbers, fraction) for (name, (kind, numbers)), fraction in fractions
    }


def _unit_cube_points(samples: SamplePlan) -> NDArray[np.float64]:
    """Points of the unit cube, a row each."""
    from scipy.stats import qmc

    size, rng = len(samples.distributions), np.random.default_rng(samples.seed)
    if samples.sampling == "random":
        return rng.random((samples.count, size))
    engines = {"latin-hypercube": qmc.LatinHypercube, "sobol": qmc.Sobol, "halton": qmc.Halton}
    engine = engines[samples.sampling](d=size, seed=rng)
    if samples.sampling == "sobol":  # balanced in powers of two only
        return np.asarray(engine.random_base2(math.ceil(math.log2(samples.count)))[: samples.count])
    return np.asarray(engine.random(samples.count))


def quantiles(kind: str, numbers: tuple[float, float], fraction: NDArray[np.float64]) -> np.ndarray:
    """Values of a distribution below which fractions of all lie."""
    a, b = numbers
    if kind == "uniform":
        return np.asarray(a + (b - a) * fraction)
    if kind == "log-uniform":
        return np.asarray(np.exp(math.log(a) + (math.log(b) - math.log(a)) * fraction))
    if kind == "normal":
        from scipy.stats import norm

        inside = np.clip(
            fraction, np.finfo(float).tiny, 1 - np.finfo(float).epsneg
        )  # 0 and 1 lie at infinity
        return np.asarray(a + b * norm.ppf(inside))
    return np.minimum(np.floor(a + (b - a + 1) * fraction), b).astype(int)
