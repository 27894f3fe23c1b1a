"""Distributions that a user gives in place of a number: drawn together, once for every run."""

from bellcrank.simulation.many.random import (
    log_uniform,
    normal,
    uniform,
)

__all__ = [
    "log_uniform",
    "normal",
    "uniform",
]


def __dir__() -> list[str]:
    return sorted(__all__)
