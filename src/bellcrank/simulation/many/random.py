"""Distributions that a user gives in place of a number: drawn together, once for every run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.core.name_lookup import parse_call_text
from bellcrank.core.numeric.real_numbers import to_float
from bellcrank.simulation.many.sample_plans import DISTRIBUTIONS, distribution_problem

__all__ = ["log_uniform", "normal", "uniform"]


@dataclass(frozen=True)
class Spread:
    """A distribution: its kind, a key of `DISTRIBUTIONS`, and its two numbers."""

    kind: str
    numbers: tuple[float, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", tuple(map(_to_python_number, self.numbers)))
        if problem := distribution_problem(self.kind, self.numbers):
            raise ModelError(problem)


def _to_python_number(x: Any) -> Any:
    """A number of any kind as one of Python's; what is none stays."""
    number = None if isinstance(x, int) else to_float(x)
    return x if number is None else number


def uniform(low: float, high: float) -> Spread:
    """Describe a uniform distribution, for `simulate_many`.

    Parameters
    ----------
    low, high : float
        Limits, in the unit of what it is given for.

    Returns
    -------
    Spread
        The distribution.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.random.uniform(14e3, 20e3)
    Spread(kind='uniform', numbers=(14000.0, 20000.0))
    """
    return Spread("uniform", (low, high))


def log_uniform(low: float, high: float) -> Spread:
    """Describe a distribution whose logarithm is uniform, for `simulate_many`.

    Parameters
    ----------
    low, high : float
        Limits, positive, in the unit of what it is given for.

    Returns
    -------
    Spread
        The distribution.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.random.log_uniform(1.0, 100.0)
    Spread(kind='log-uniform', numbers=(1.0, 100.0))
    """
    return Spread("log-uniform", (low, high))


def normal(mean: float, deviation: float) -> Spread:
    """Describe a normal distribution, for `simulate_many`.

    Parameters
    ----------
    mean, deviation : float
        Mean and standard deviation, in the unit of what it is given for.

    Returns
    -------
    Spread
        The distribution.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.random.normal(1000.0, 80.0)
    Spread(kind='normal', numbers=(1000.0, 80.0))
    """
    return Spread("normal", (mean, deviation))


def parse_distribution(text: str) -> Spread:
    """uniform(1e4, 2e4), normal(5, 0.1), log_uniform(1, 100), integers(1, 4)."""
    call, forms = (
        parse_call_text(text),
        [f"{kind.replace('-', '_')}(a, b)" for kind in DISTRIBUTIONS],
    )
    kind = call[0].replace("_", "-") if call else ""
    if call is None or kind not in DISTRIBUTIONS or len(call[1]) != 2:
        raise ModelError(f"{text!r} is not a distribution; it is one of {', '.join(forms)}")
    read = int if kind == "integers" else float
    try:
        low, high = (read(x) for x in call[1])
    except ValueError:
        raise ModelError(f"{text!r}: {' and '.join(call[1])} must be numbers") from None
    return Spread(kind, (low, high))


def __dir__() -> list[str]:
    return sorted(__all__)
