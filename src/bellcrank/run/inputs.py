"""Inputs over time: steps, ramps, sines, chirps, sampled signals. Values in user units, time in s."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.backend.c import Input
from bellcrank.emit.c.tables import spline_pieces
from bellcrank.errors import ModelError, ModelWarning, RunError
from bellcrank.expr.table import Table


@dataclass(frozen=True)
class Signal:
    """A function of time with its rate; `breaks` are times at which it is not smooth.

    `numbers`, or `points` and cubic `pieces`, say all about a signal that compiled code knows by its `name`; `covers` is
    the time for which a sampled one is known.
    """

    name: str
    value: Callable[[float], float]
    rate: Callable[[float], float] | None = None
    breaks: tuple[float, ...] = ()
    numbers: tuple[float, ...] = ()
    points: np.ndarray | None = None
    pieces: np.ndarray | None = None
    covers: tuple[float, float] = (-math.inf, math.inf)
    second: Callable[[float], float] | None = None  # the rate of the rate

    def __call__(self, t: float) -> float:
        return self.value(t)


def _numbers(signal: str, **given: Any) -> list[float]:
    """The numbers of a signal."""
    found = []
    for name, value in given.items():
        try:
            found.append(float(value))
        except (TypeError, ValueError):
            raise RunError(f"{signal}: {name}={value!r} is not a number") from None
    return found


def step(at: float = 0.0, height: float = 1.0, before: float = 0.0) -> Signal:
    """`before` until t = at, then `before + height`."""
    at, height, before = _numbers("step", at=at, height=height, before=before)
    return Signal("step", lambda t: before + (height if t >= at else 0.0), None, (at,), (at, height, before))


def ramp(start: float = 0.0, slope: float = 1.0, end: float = math.inf) -> Signal:
    """Zero until `start`, then rising by `slope` per second until `end`, then constant."""
    start, slope, end = _numbers("ramp", start=start, slope=slope, end=end)
    return Signal(
        "ramp",
        lambda t: slope * (min(max(t, start), end) - start),
        lambda t: slope if start <= t < end else 0.0,
        tuple(x for x in (start, end) if math.isfinite(x)),
        (start, slope, end),
    )


def sine(amplitude: float = 1.0, frequency: float = 1.0, phase: float = 0.0, start: float = 0.0) -> Signal:
    """amplitude * sin(2 pi frequency (t - start) + phase) from `start` on; frequency in Hz, phase in rad."""
    amplitude, frequency, phase, start = _numbers(
        "sine", amplitude=amplitude, frequency=frequency, phase=phase, start=start
    )
    w = 2 * math.pi * frequency
    return Signal(
        "sine",
        lambda t: amplitude * math.sin(w * (t - start) + phase) if t >= start else 0.0,
        lambda t: amplitude * w * math.cos(w * (t - start) + phase) if t >= start else 0.0,
        (start,),
        (amplitude, frequency, phase, start),
        second=lambda t: -amplitude * w * w * math.sin(w * (t - start) + phase) if t >= start else 0.0,
    )


def chirp(
    amplitude: float = 1.0, f0: float = 0.1, f1: float = 10.0, duration: float = 10.0, start: float = 0.0
) -> Signal:
    """A sine whose frequency grows linearly from f0 to f1 (Hz) within `duration`, and stays at f1 after it."""
    amplitude, f0, f1, duration, start = _numbers(
        "chirp", amplitude=amplitude, f0=f0, f1=f1, duration=duration, start=start
    )
    if not duration > 0:
        raise RunError(f"chirp: duration={duration!r} must be positive")
    k = (f1 - f0) / duration

    def phase(t: float) -> float:
        s = max(t - start, 0.0)
        inside = min(s, duration)
        return 2 * math.pi * (f0 * inside + 0.5 * k * inside * inside + f1 * (s - inside))

    def rate(t: float) -> float:
        if t < start:
            return 0.0
        return amplitude * 2 * math.pi * (f0 + k * min(t - start, duration)) * math.cos(phase(t))

    def second(t: float) -> float:
        if t < start:
            return 0.0
        w = 2 * math.pi * (f0 + k * min(t - start, duration))
        growth = 2 * math.pi * k if t - start < duration else 0.0
        return amplitude * (growth * math.cos(phase(t)) - w * w * math.sin(phase(t)))

    return Signal(
        "chirp",
        lambda t: amplitude * math.sin(phase(t)) if t >= start else 0.0,
        rate,
        (start, start + duration),
        (amplitude, f0, f1, duration, start),
        second=second,
    )


def sampled(times: Sequence[float], values: Sequence[float], name: str = "input") -> Signal:
    """Straight lines between samples; asked outside its times it is an error."""
    try:
        x, y = np.ascontiguousarray(times, dtype=float), np.ascontiguousarray(values, dtype=float)
    except (TypeError, ValueError):
        raise RunError(f"input '{name}': times and values must be numbers") from None
    if x.ndim != 1 or x.shape != y.shape or len(x) < 2 or np.any(np.diff(x) <= 0):
        raise RunError(f"input '{name}': times must increase and match the values (got {x.shape} and {y.shape})")
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
        raise RunError(f"input '{name}' holds values that are not finite numbers")
    slack = 1e-9 * max(abs(x[-1]), 1.0)
    covers = (float(x[0] - slack), float(x[-1] + slack))

    def value(t: float) -> float:
        if t < covers[0] or t > covers[1]:
            raise RunError(f"input '{name}' covers t = {x[0]:g} to {x[-1]:g} s, but is needed at t = {t:g} s")
        return float(np.interp(t, x, y))

    def rate(t: float) -> float:
        i = min(max(int(np.searchsorted(x, t, side="right")) - 1, 0), len(x) - 2)
        return float((y[i + 1] - y[i]) / (x[i + 1] - x[i]))

    pieces = np.zeros((len(x) - 1, 4))
    pieces[:, 0], pieces[:, 1] = y[:-1], np.diff(y) / np.diff(x)
    return Signal("pieces", value, rate, _kinks(x, pieces[:, 1]), (), x, pieces, covers)


def _kinks(x: np.ndarray, slopes: np.ndarray) -> tuple[float, ...]:
    """Points between straight lines at which the slope changes."""
    changes = np.abs(np.diff(slopes)) > 1e-9 * np.abs(slopes).max(initial=0.0)
    return tuple(x[1:-1][changes].tolist())


def breaks_of(inputs: Iterable[Input], t_end: float, steps: int) -> tuple[float, ...]:
    """Times in order at which steps are to be split. An input with more kinks than there are steps is taken as smooth."""
    found: set[float] = set()
    for i in inputs:
        inner = [b for b in i.breaks if 0 < b <= t_end]
        if len(inner) <= steps:
            found.update(inner)
    return tuple(sorted(found))


def pieces(points: np.ndarray, coefficients: np.ndarray) -> Signal:
    """Cubic pieces that begin at the points, lowest power first; outside it goes on with the end slope."""
    x, a = np.ascontiguousarray(points, dtype=float), np.ascontiguousarray(coefficients, dtype=float)

    def at(t: float, rate: bool) -> float:
        inside = min(max(t, float(x[0])), float(x[-1]))
        i = min(max(int(np.searchsorted(x, inside, side="right")) - 1, 0), len(x) - 2)
        s = inside - float(x[i])
        a0, a1, a2, a3 = a[i].tolist()
        slope: float = a1 + s * (2 * a2 + s * 3 * a3)
        value: float = a0 + s * (a1 + s * (a2 + s * a3)) + (t - inside) * slope
        return slope if rate else value

    return Signal("pieces", lambda t: at(t, False), lambda t: at(t, True), (), (), x, a)


def as_signal(given: Any, name: str) -> Signal:
    """A signal for what a user gives: number, callable, table, or (times, values)."""
    if isinstance(given, Signal):
        if any(math.isnan(x) for x in given.numbers):
            raise RunError(f"input '{name}': a number of its {given.name} is nan, not a number")
        return given
    if isinstance(given, Table):
        return _table(given, name)
    if isinstance(given, int | float | np.floating | np.integer):
        constant = float(given)
        if not math.isfinite(constant):
            raise RunError(f"input '{name}' is {constant}, not a finite number")
        return Signal("constant", lambda t: constant, lambda t: 0.0, (), (constant,), second=lambda t: 0.0)
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


def _table(given: Table, name: str) -> Signal:
    if len(given.axes) != 1:
        raise RunError(f"input '{name}' is a table of {len(given.axes)} arguments; time is the only one")
    slope = given.partial(0, ()).function if given.differentiable else None  # type: ignore[attr-defined]
    curve = slope.partial(0, ()).function if slope is not None and slope.differentiable and given.order > 1 else None
    second = curve.value if curve is not None else None
    if given.derivative != (0,):
        return Signal("function", given.value, slope.value if slope else None, second=second)
    points, pieces = np.ascontiguousarray(given.axes[0], dtype=float), np.ascontiguousarray(spline_pieces(given))
    kinks = _kinks(points, pieces[:, 1]) if given.order == 1 else ()
    return Signal("pieces", given.value, slope.value if slope else None, kinks, (), points, pieces, second=second)


def differentiated(name: str) -> tuple[str, int]:
    """The input behind a name such as dxdt(dxdt(z)), and how often it is differentiated."""
    times = 0
    while name.startswith("dxdt("):
        name, times = name[5:-1], times + 1
    return name, times


def as_input(signal: Signal, name: str, factor: float, times: int) -> Input:
    """The signal, differentiated as often as asked for, as an input of a program; `factor` leads to equation units."""
    source = (signal.value, signal.rate, signal.second)[times]
    if source is None:
        what = "its rate" if times == 1 else "the rate of its rate"
        raise ModelError(f"input '{name}' must be differentiable here: {what} is used; a {signal.name} has none")

    def value(t: float) -> float:
        try:
            x = float(source(t))
        except (TypeError, ValueError, ArithmeticError) as error:
            raise RunError(f"input '{name}' fails at t = {t:g} s: {type(error).__name__}: {error}") from error
        if not math.isfinite(x):
            raise RunError(f"input '{name}' is {x} at t = {t:g} s, not a finite number")
        return x * factor

    return Input(value, signal.name, signal.numbers, signal.points, signal.pieces, times, factor, signal.breaks)


def check_covers(signal: Signal, name: str, t_end: float) -> None:
    """A sampled signal must be known for the whole run; a table goes on with its end slopes, which is told."""
    first, last = signal.covers
    if math.isinf(last) and signal.points is not None:
        first, last = (float(signal.points[i]) for i in (0, -1))
        if first > 0 or last < t_end * (1 - 1e-9):
            warnings.warn(
                f"input '{name}' is a table for t = {first:g} to {last:g} s, but the run goes from 0 to {t_end:g} s: beyond its points it goes on with its end slope",
                ModelWarning,
                stacklevel=5,
            )
        return
    if first > 0 or last < t_end:
        assert signal.points is not None
        raise RunError(
            f"input '{name}' covers t = {signal.points[0]:g} to {signal.points[-1]:g} s, but the run goes from 0 to {t_end:g} s"
        )
