"""Inputs over time: steps, ramps, sines, chirps, sampled signals. Values in user units, time in s."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.errors import RunError
from bellcrank.expr.table import Table


@dataclass(frozen=True)
class Signal:
    """A function of time with its rate; `breaks` are times at which it is not smooth."""

    name: str
    value: Callable[[float], float]
    rate: Callable[[float], float] | None = None
    breaks: tuple[float, ...] = ()

    def __call__(self, t: float) -> float:
        return self.value(t)


def step(at: float = 0.0, height: float = 1.0, before: float = 0.0) -> Signal:
    """`before` until t = at, then `before + height`."""
    return Signal("step", lambda t: before + (height if t >= at else 0.0), None, (at,))


def ramp(start: float = 0.0, slope: float = 1.0, end: float = math.inf) -> Signal:
    """Zero until `start`, then rising by `slope` per second until `end`, then constant."""
    return Signal(
        "ramp",
        lambda t: slope * (min(max(t, start), end) - start),
        lambda t: slope if start <= t < end else 0.0,
        tuple(x for x in (start, end) if math.isfinite(x)),
    )


def sine(amplitude: float = 1.0, frequency: float = 1.0, phase: float = 0.0, start: float = 0.0) -> Signal:
    """amplitude * sin(2 pi frequency (t - start) + phase) from `start` on; frequency in Hz, phase in rad."""
    w = 2 * math.pi * frequency
    return Signal(
        "sine",
        lambda t: amplitude * math.sin(w * (t - start) + phase) if t >= start else 0.0,
        lambda t: amplitude * w * math.cos(w * (t - start) + phase) if t >= start else 0.0,
        (start,),
    )


def chirp(amplitude: float = 1.0, f0: float = 0.1, f1: float = 10.0, duration: float = 10.0, start: float = 0.0) -> Signal:
    """A sine whose frequency grows linearly from f0 to f1 (Hz) within `duration`, and stays at f1 after it."""
    k = (f1 - f0) / duration

    def phase(t: float) -> float:
        s = max(t - start, 0.0)
        inside = min(s, duration)
        return 2 * math.pi * (f0 * inside + 0.5 * k * inside * inside + f1 * (s - inside))

    def rate(t: float) -> float:
        if t < start:
            return 0.0
        return amplitude * 2 * math.pi * (f0 + k * min(t - start, duration)) * math.cos(phase(t))

    return Signal("chirp", lambda t: amplitude * math.sin(phase(t)) if t >= start else 0.0, rate, (start,))


def sampled(times: Sequence[float], values: Sequence[float], name: str = "input") -> Signal:
    """Straight lines between samples; asked outside its times it is an error."""
    x, y = np.asarray(times, float), np.asarray(values, float)
    if x.ndim != 1 or x.shape != y.shape or len(x) < 2 or np.any(np.diff(x) <= 0):
        raise RunError(f"input '{name}': times must increase and match the values (got {x.shape} and {y.shape})")
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
        raise RunError(f"input '{name}' holds values that are not finite numbers")
    slack = 1e-9 * max(abs(x[-1]), 1.0)

    def value(t: float) -> float:
        if t < x[0] - slack or t > x[-1] + slack:
            raise RunError(f"input '{name}' covers t = {x[0]:g} to {x[-1]:g} s, but is needed at t = {t:g} s")
        return float(np.interp(t, x, y))

    def rate(t: float) -> float:
        i = min(max(int(np.searchsorted(x, t, side="right")) - 1, 0), len(x) - 2)
        return float((y[i + 1] - y[i]) / (x[i + 1] - x[i]))

    return Signal("samples", value, rate, ())


def as_signal(given: Any, name: str) -> Signal:
    """A signal for what a user gives: number, callable, table, or (times, values)."""
    if isinstance(given, Signal):
        return given
    if isinstance(given, Table):
        slope = given.partial(0, ()).function if given.differentiable else None  # type: ignore[attr-defined]
        return Signal("table", given.value, slope.value if slope else None)
    if isinstance(given, int | float | np.floating | np.integer):
        constant = float(given)
        if not math.isfinite(constant):
            raise RunError(f"input '{name}' is {constant}, not a finite number")
        return Signal("constant", lambda t: constant, lambda t: 0.0)
    if callable(given):
        return Signal("function", given)
    if isinstance(given, tuple | list) and len(given) == 2:
        return sampled(given[0], given[1], name)
    if isinstance(given, np.ndarray) and given.ndim == 2 and 2 in given.shape:
        pair = given if given.shape[0] == 2 else given.T
        return sampled(pair[0], pair[1], name)
    raise RunError(
        f"input '{name}' is {given!r}; give a number, a function of time, bc.step/ramp/sine/chirp, a table, or (times, values)"
    )
