"""Inputs of a run: what a user gives for each as a signal, and signals as inputs of a program, in equation units."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bellcrank.emit.pieces import spline_pieces
from bellcrank.errors import ModelError, RunError, warn
from bellcrank.expr.table import Table
from bellcrank.numeric.real import displayed, real
from bellcrank.numeric.run_spec import Input
from bellcrank.numeric.tuning import INPUTS
from bellcrank.signals import KINDS, Signal, constant, kinks, sampled


def as_signal(given: Any, name: str) -> Signal:
    """A signal for what a user gives: number, callable, table, or (times, values)."""
    if isinstance(given, Signal):
        if any(math.isnan(x) for x in given.numbers):
            raise RunError(f"input '{name}': a number of its {given.name} is nan, not a number")
        return given
    if isinstance(given, Table):
        return _table(given, name)
    value = None if callable(given) else real(given)
    if value is not None:
        if not math.isfinite(value):
            raise RunError(f"input '{name}' is {value}, not a finite number")
        return constant(value)
    if callable(given):
        return Signal("function", given)
    if isinstance(given, tuple | list) and len(given) == 2:
        return sampled(given[0], given[1], name)
    if isinstance(given, np.ndarray) and given.ndim == 2 and 2 in given.shape:
        pair = given if given.shape[0] == 2 else given.T
        return sampled(pair[0], pair[1], name)
    kinds = "/".join(kind for kind in KINDS if kind != "constant")
    shown = f"an array of shape {given.shape}" if isinstance(given, np.ndarray) else displayed(given)
    raise RunError(
        f"input '{name}' is {shown}; give a number, a function of time, bc.{kinds}, a table, or (times, values)"
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
    bends = kinks(points, pieces[:, 1]) if given.order == 1 else ()
    return Signal("pieces", given.value, slope.value if slope else None, bends, (), points, pieces, second=second)


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


def covering(signal: Signal, name: str, span: tuple[float, float]) -> Signal:
    """The signal, which must be known for the whole run. One that ends at most a sample before the run holds its last
    value; a table is extrapolated by its end slopes. Both give a warning."""
    (t_start, t_end), (first, last) = span, signal.covers
    run = f"the run goes from {t_start:g} to {t_end:g} s"
    if math.isinf(last) and signal.points is not None:
        first, last = (float(signal.points[i]) for i in (0, -1))
        if first > t_start or last < t_end - INPUTS.known * (t_end - t_start):
            message = f"input '{name}' is a table for t = {first:g} to {last:g} s, but {run}"
            warn(f"{message}: outside its points it continues with its end slope")
        return signal
    if first > t_start or last < t_end:
        assert signal.points is not None
        if first <= t_start and signal.made is not None:
            x, y = signal.made[1][:2]
            if t_end - x[-1] <= (x[-1] - x[-2]) * (1 + INPUTS.known):
                warn(f"input '{name}' ends at t = {x[-1]:g} s, {run}: its last value, {y[-1]:g}, is held")
                return sampled([*x, t_end], [*y, y[-1]], name)
        raise RunError(f"input '{name}' covers t = {signal.points[0]:g} to {signal.points[-1]:g} s, but {run}")
    return signal
