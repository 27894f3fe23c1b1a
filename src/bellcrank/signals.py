"""Inputs over time: steps, ramps, sines, chirps, sampled signals. Values in user units, time in
s."""

from bellcrank.core.signals import (
    chirp,
    constant,
    pulse,
    ramp,
    sampled,
    sine,
    step,
)

__all__ = [
    "chirp",
    "constant",
    "pulse",
    "ramp",
    "sampled",
    "sine",
    "step",
]


def __dir__() -> list[str]:
    return sorted(__all__)
