"""Inputs of a run: what a user gives for each as a signal, and signals as inputs of a program, in
equation units."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bellcrank.codegen.table_coefficients import spline_coefficients
from bellcrank.core.errors import ModelError, RunError, issue_warning
from bellcrank.core.numeric.real_numbers import display_text, to_float
from bellcrank.core.numeric.run_spec import ProgramInput
from bellcrank.core.numeric.tuning import INPUTS
from bellcrank.core.signals import SIGNAL_KINDS, Signal, constant, sampled, slope_discontinuities
from bellcrank.symbolic.expr.table import Table


def to_signal(source: Any, name: str) -> Signal:
    """A signal for what a user gives: number, callable, table, or (times, values)."""
    if isinstance(source, Signal):
        if any(math.isnan(x) for x in source.numbers):
            raise RunError(f"input '{name}': a number of its {source.name} is nan, not a number")
        return source
    if isinstance(source, Table):
        return _signal_from_table(source, name)
    value = None if callable(source) else to_float(source)
    if value is not None:
        if not math.isfinite(value):
            raise RunError(f"input '{name}' is {value}, not a finite number")
        return constant(value)
    if callable(source):
        return Signal("function", source)
    if isinstance(source, tuple | list) and len(source) == 2:
        return sampled(source[0], source[1], name)
    if isinstance(source, np.ndarray) and source.ndim == 2 and 2 in source.shape:
        pair = source if source.shape[0] == 2 else source.T
        return sampled(pair[0], pair[1], name)
    kinds = "/".join(kind for kind in SIGNAL_KINDS if kind != "constant")
    description = (
        f"an array of shape {source.shape}"
        if isinstance(source, np.ndarray)
        else display_text(source)
    )
    raise RunError(
        f"input '{name}' is {description}; give a number, a function of time, bc.{kinds}, a "
        f"table, or (times, values)"
    )


def _signal_from_table(table: Table, name: str) -> Signal:
    if len(table.axes) != 1:
        raise RunError(
            f"input '{name}' is a table of {len(table.axes)} arguments; time is the only one"
        )
    slope = table.partial(0, ()).function if table.differentiable else None  # type: ignore[attr-defined]
    curve = (
        slope.partial(0, ()).function
        if slope is not None and slope.differentiable and table.order > 1
        else None
    )
    second = curve.value if curve is not None else None
    if table.derivative != (0,):
        return Signal("function", table.value, slope.value if slope else None, second=second)
    points, segments = (
        np.ascontiguousarray(table.axes[0], dtype=float),
        np.ascontiguousarray(spline_coefficients(table)),
    )
    bends = slope_discontinuities(points, segments[:, 1]) if table.order == 1 else ()
    return Signal(
        "pieces",
        table.value,
        slope.value if slope else None,
        bends,
        (),
        points,
        segments,
        second=second,
    )


def to_program_input(signal: Signal, name: str, factor: float, times: int) -> ProgramInput:
    """The signal, differentiated as often as asked for, as an input of a program; `factor` leads to
    equation units."""
    source = (signal.value, signal.rate, signal.second)[times]
    if source is None:
        missing = "its rate" if times == 1 else "the rate of its rate"
        raise ModelError(
            f"input '{name}' must be differentiable here: {missing} is used; a "
            f"{signal.name} has none"
        )

    def value(t: float) -> float:
        try:
            x = float(source(t))
        except (TypeError, ValueError, ArithmeticError) as error:
            raise RunError(
                f"input '{name}' fails at t = {t:g} s: {type(error).__name__}: {error}"
            ) from error
        if not math.isfinite(x):
            raise RunError(f"input '{name}' is {x} at t = {t:g} s, not a finite number")
        return x * factor

    return ProgramInput(
        value,
        signal.name,
        signal.numbers,
        signal.points,
        signal.pieces,
        times,
        factor,
        signal.breaks,
    )


def extend_to_span(signal: Signal, name: str, span: tuple[float, float]) -> Signal:
    """The signal, which must be known for the whole run. One that ends at most a sample before the
    run holds its last value; a table is extrapolated by its end slopes. Both give a warning."""
    (t_start, t_end), (first, last) = span, signal.covers
    run = f"the run goes from {t_start:g} to {t_end:g} s"
    if math.isinf(last) and signal.points is not None:
        first, last = (float(signal.points[i]) for i in (0, -1))
        if first > t_start or last < t_end - INPUTS.known * (t_end - t_start):
            message = f"input '{name}' is a table for t = {first:g} to {last:g} s, but {run}"
            issue_warning(f"{message}: outside its points it continues with its end slope")
        return signal
    if first > t_start or last < t_end:
        assert signal.points is not None
        if first <= t_start and signal.made is not None:
            x, y = signal.made[1][:2]
            if t_end - x[-1] <= (x[-1] - x[-2]) * (1 + INPUTS.known):
                issue_warning(
                    f"input '{name}' ends at t = {x[-1]:g} s, {run}: its last value, "
                    f"{y[-1]:g}, is held"
                )
                return sampled([*x, t_end], [*y, y[-1]], name)
        raise RunError(
            f"input '{name}' covers t = {signal.points[0]:g} to {signal.points[-1]:g} s, but {run}"
        )
    return signal
