"""Where a run with a method that chooses its steps has rows and must stop, and what error it is allowed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from .tuning import CONTROL, PLANS, STEPS


def output_times(t_start: float, t_end: float, step: float, every: int, begins: float) -> np.ndarray:
    """All from where a run begins that counts its steps from t_start."""
    span = (t_end - t_start) * (1 - PLANS.at_end)
    times = np.append(t_start + np.arange(0.0, span, step * every), t_end)
    later = times[times > begins + STEPS.gap * step]
    return np.array([begins, *later]) if len(later) else np.array([begins, t_end])


def ends_of_stretches(breaks: Iterable[float], times: np.ndarray) -> list[float]:
    """Ends of the stretches to be integrated; breaks that nearly coincide are one, the later."""
    t_start, t_end = float(times[0]), float(times[-1])
    near = CONTROL.near_breaks * max(t_end - t_start, abs(t_start), abs(t_end))
    ends = [*(b for b in sorted(breaks) if t_start + near < b < t_end - near), t_end]
    return [*(b for b, following in pairwise(ends) if following - b > near), t_end]


def usual_tolerance(rtol: float, unit_sizes: np.ndarray) -> np.ndarray:
    """The absolute tolerance of each state, if none is told: a share of the relative one, of 1 m, 1 rad, 1 m/s ..."""
    return np.asarray(CONTROL.absolute * rtol * unit_sizes)


def caps_of(growths: Sequence[str], lengths: Iterable[float], metre: float, y: Iterable[float]) -> list[float]:
    """Sizes of the states in equation units above which the error allowed does not grow with them: one turn where they
    grow by turns, and the largest length of the model where they grow along a way."""
    known = [abs(float(x)) for x in lengths]
    known += [abs(float(v)) for v, how in zip(y, growths, strict=True) if how == "way"]
    caps = {"turn": 2 * math.pi, "way": max(known, default=0.0) or metre}
    return [caps.get(how, math.inf) for how in growths]
