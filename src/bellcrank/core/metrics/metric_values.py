"""Values of metrics over sampled channels: each function takes times (s) and samples, which may be
unevenly apart.

Means are over time, by the trapezoidal rule. `kernel/many_rows.c` has the same definitions as
running updates. sd is the comfort metric of van Iwaarden (2003), section 7.2; the variation of a
load is the dynamic load coefficient.
"""

from __future__ import annotations

import math

import numpy as np

from bellcrank.core.metrics.frequency_weighting import apply_weighting


def mean(t: np.ndarray, x: np.ndarray) -> float:
    """The mean over time; of one sample, or of several at one time, the last."""
    span = float(t[-1] - t[0])
    return integral(t, x) / span if span > 0 else float(x[-1])


def integral(t: np.ndarray, x: np.ndarray) -> float:
    """The integral over time."""
    return float(np.sum(np.diff(t) * (x[1:] + x[:-1]) / 2))


def rms(t: np.ndarray, x: np.ndarray) -> float:
    """The root of the mean over time of the square."""
    return math.sqrt(mean(t, x * x))


def std(t: np.ndarray, x: np.ndarray) -> float:
    """The standard deviation: the root mean square of what differs from the mean over time."""
    return rms(t, x - mean(t, x))


def load_variation(t: np.ndarray, x: np.ndarray) -> float:
    """The standard deviation divided by the mean."""
    middle = mean(t, x)
    return std(t, x) / middle if middle != 0 else math.nan


def weighted_rms(t: np.ndarray, x: np.ndarray, weighting: str) -> float:
    """The root mean square of a weighted acceleration."""
    return rms(t, apply_weighting(t, x, weighting))


def peak(t: np.ndarray, x: np.ndarray) -> float:
    """The largest magnitude."""
    return float(np.abs(x).max())


def max_slope(t: np.ndarray, x: np.ndarray) -> float:
    """The largest magnitude of (x(t_n+1) - x(t_n))/(t_n+1 - t_n); a jump at one time is
    infinite."""
    if len(x) < 2:
        return math.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = np.diff(x)
        return float(np.where(difference == 0, 0.0, np.abs(difference / np.diff(t))).max())


def percentile(t: np.ndarray, x: np.ndarray, percent: float) -> float:
    """The value below which so many percent of the samples lie."""
    x = x[np.isfinite(x)]
    return float(np.percentile(x, percent)) if len(x) else math.nan


def crossing(t: np.ndarray, x: np.ndarray, level: float) -> float:
    """The time (s) at which a level is first crossed, up or down; straight between samples."""
    below = x < level
    for i in np.flatnonzero(below[1:] != below[:-1])[:1].tolist():
        return float(t[i] + (t[i + 1] - t[i]) * ((level - x[i]) / (x[i + 1] - x[i])))
    return math.nan


def time_without_load(t: np.ndarray, loads: np.ndarray) -> float:
    """How long no load of several is positive (s); a step in which that begins or ends counts
    half."""
    return integral(t, np.all(loads <= 0, axis=0).astype(float))
