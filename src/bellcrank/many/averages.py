"""Means over time of sampled channels: mean, rms and standard deviation, each by the trapezoidal rule.

Studies, many runs (`kernel/many_rows.c` has the same in C) and manoeuvres use these definitions alone.
"""

from __future__ import annotations

import math

import numpy as np


def mean(t: np.ndarray, x: np.ndarray) -> float:
    """The mean over time; of one sample, or of several at one time, the last."""
    span = float(t[-1] - t[0])
    return float(np.sum(np.diff(t) * (x[1:] + x[:-1]) / 2)) / span if span > 0 else float(x[-1])


def rms(t: np.ndarray, x: np.ndarray) -> float:
    """The root of the mean over time of the square."""
    return math.sqrt(mean(t, x * x))


def std(t: np.ndarray, x: np.ndarray) -> float:
    """The standard deviation: the root mean square of what differs from the mean over time."""
    return rms(t, x - mean(t, x))
