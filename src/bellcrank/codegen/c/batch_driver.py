"""Many runs of a program in C: the driver that calls a compiled program run by run, the same for
all models."""

from __future__ import annotations

from bellcrank.core.metrics.frequency_weighting import POLES
from bellcrank.core.metrics.metric_kinds import KINDS
from bellcrank.kernel.text import Kernel

FIGURES = tuple(KINDS)
"""Metrics of a channel, found while a run continues, as compiled code counts them."""
NO_CONSTANTS, LEFT, STOPPED = 8, 9, 10
"""The status of a run whose constants are not finite, of one left to be done alone, and of one that
an event stopped: behind those of `run.c`."""


def figure_kinds() -> str:
    """Their numbers in C."""
    kinds = ", ".join(name.upper() for name in FIGURES)
    status_values = (
        f"NO_CONSTANTS = {NO_CONSTANTS}, LEFT = {LEFT}, STOPPED = {STOPPED}, POLES = {POLES}"
    )
    return f"enum {{ {kinds}, N_KINDS }};\nenum {{ {status_values} }};\n"


def driver() -> str:
    """The driver of runs one after another."""
    return Kernel({"HAS_MEMORY": 1}).take("many.c")
