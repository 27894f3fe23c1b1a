"""Measures: one number for a run, from the time histories of one or several channels.

sd is the comfort measure of van Iwaarden (2003), section 7.2; W_k and W_d those of ISO 2631-1:1997, 6.1; the
variation of the tyre load is the dynamic load coefficient, the standard deviation of the load divided by its mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bellcrank.errors import RunError
from bellcrank.many.averages import mean, rms, std
from bellcrank.many.weighting import weighted

Arrays = Sequence[np.ndarray]


@dataclass(frozen=True)
class Kind:
    """A kind of measure: words, its value for one channel, how values of several are put together, its unit."""

    words: str
    of_one: Callable[[np.ndarray, np.ndarray], float] | None
    together: Callable[[Sequence[float]], float]
    unit: Callable[[str], str]


@dataclass(frozen=True)
class Measure:
    """A measure of a study: `kind` of `channels` between two times (s)."""

    name: str
    kind: str
    channels: tuple[str, ...]
    start: float = 0.0
    end: float = float("inf")

    def value(self, time: np.ndarray, channels: Arrays) -> float:
        """The measure of a run."""
        inside = (time >= self.start - 1e-9) & (time <= self.end + 1e-9)
        t, arrays = time[inside], [x[inside] for x in channels]
        if len(t) < 2:
            raise RunError(f"measure '{self.name}': the run has no two samples between its times")
        if self.kind == "airborne":
            return _time_without_load(t, arrays)
        kind = KINDS[self.kind]
        assert kind.of_one is not None
        return kind.together([kind.of_one(t, x) for x in arrays])

    def unit(self, unit: str) -> str:
        """Its unit, from that of its channels."""
        return KINDS[self.kind].unit(unit)


def steepest(t: np.ndarray, x: np.ndarray) -> float:
    """The largest size of (x(t_n+1) - x(t_n))/dt."""
    return float(np.abs(np.diff(x) / np.diff(t)).max())


def load_variation(t: np.ndarray, x: np.ndarray) -> float:
    middle = mean(t, x)
    return std(t, x) / middle if middle != 0 else float("nan")


def _time_without_load(t: np.ndarray, loads: Arrays) -> float:
    """How long all loads are zero; a step in which the loads begin or end counts half."""
    free = np.all([x <= 0 for x in loads], axis=0).astype(float)
    return float(np.sum(np.diff(t) * (free[1:] + free[:-1]) / 2))


def _same(unit: str) -> str:
    return unit


def _per_second(unit: str) -> str:
    head, slash, below = unit.rpartition("/")
    return f"{head}/s2" if slash and below == "s" else f"{unit or '1'}/s"


KINDS: dict[str, Kind] = {
    "sd": Kind("largest change of a velocity per time, step by step", steepest, max, _per_second),
    "rms": Kind("root mean square", rms, max, _same),
    "wk": Kind("root mean square of an acceleration weighted by W_k", lambda t, x: rms(t, weighted(t, x)), max, _same),
    "wd": Kind("the same by W_d", lambda t, x: rms(t, weighted(t, x, "wd")), max, _same),
    "load_variation": Kind("standard deviation of a load divided by its mean", load_variation, max, lambda _: "1"),
    "travel": Kind("largest minus smallest", lambda t, x: float(np.ptp(x)), max, _same),
    "airborne": Kind("time during which all loads are zero", None, max, lambda _: "s"),
    "peak": Kind("largest size", lambda t, x: float(np.abs(x).max()), max, _same),
    "max": Kind("largest value", lambda t, x: float(x.max()), max, _same),
    "min": Kind("smallest value", lambda t, x: float(x.min()), min, _same),
    "mean": Kind("mean over time", mean, max, _same),
    "final": Kind("last value", lambda t, x: float(x[-1]), max, _same),
}
