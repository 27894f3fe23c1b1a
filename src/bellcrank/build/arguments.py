"""What programs are called with: a time and state with parameters, and the course of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# t, q, u, p, c, w: time, coordinates, speeds, parameters, constants that follow from them, inputs; all in equation units
At = tuple[float, Sequence[float], Sequence[float], Sequence[float], Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class Course:
    """`total` steps of one length (s) with a fixed-step method; every n-th is recorded, and the last of all."""

    method: str
    step: float
    total: int
    every: int = 1
