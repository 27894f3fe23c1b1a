"""Inputs over time: steps, ramps, sines, chirps, sampled signals. Values in user units, time in s.

A kind of signal is a record of formulas in its numbers and the time t. Python, C and Fortran
compute them as they stand here; parameter files, studies and written programs take names and
numbers from the records. A new kind is a record and a function here.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from bellcrank.core.errors import RunError
from bellcrank.core.numeric.real_numbers import display_text, to_float, to_float_array
from bellcrank.core.numeric.tuning import INPUTS

__all__ = ["chirp", "constant", "pulse", "ramp", "sampled", "sine", "step"]
MOST_NUMBERS = 6  # of a kind, as compiled programs have room for
FUNCTIONS = {**vars(math), "min": min, "max": max}


@dataclass(frozen=True)
class SignalParameter:
    """A number of a signal, by name, with the unit it is given in: "" is that of the input."""

    name: str
    unit: str = ""
    positive: bool = False


@dataclass(frozen=True)
class SignalKind:
    """A kind of signal: its value, its rate and the rate of that ("": there is none), and the times
    at which it is not smooth.

    The formulas use the numbers by name, t, two_pi, `local_definitions` (names for parts of them,
    in order), + - * /, comparisons, `and`, x if y else z, and functions that the three languages
    share.
    """

    name: str
    numbers: tuple[SignalParameter, ...]
    value: str
    rate: str = ""
    second: str = ""
    local_definitions: tuple[tuple[str, str], ...] = ()
    breaks: tuple[str, ...] = ()

    @property
    def parameter_names(self) -> list[str]:
        return [n.name for n in self.numbers]

    @property
    def derivative_formulas(self) -> list[str]:
        """The formulas that there are: value, rate, second rate."""
        return [x for x in (self.value, self.rate, self.second) if x]

    @property
    def python_source(self) -> str:
        """Its text in Python: name(rate, t, numbers...), and name_breaks(numbers...)."""
        arguments = ", ".join(self.parameter_names)
        lines = [
            f"def {self.name}(rate, t, {arguments}):",
            *(f"    {name} = {x}" for name, x in self.local_definitions),
        ]
        for order, text in enumerate(self.derivative_formulas[1:], 1):
            lines += [f"    if rate == {order}:", f"        return {text}"]
        listed = ", ".join(self.breaks)
        lines += [
            f"    return {self.value}",
            "",
            "",
            f"def {self.name}_breaks({arguments}):",
            f"    return [{listed}]",
        ]
        return "\n".join([*lines, ""])

    @cached_property
    def compile_functions(self) -> tuple[Callable[..., float], Callable[..., list[float]]]:
        """Both as functions. The text is that of a record above, never a user's."""
        space: dict[str, Any] = {**FUNCTIONS, "two_pi": 2 * math.pi}
        exec(compile(self.python_source, f"<{self.name}>", "exec"), space)
        return space[self.name], space[f"{self.name}_breaks"]

    def make_signal(self, *values: Any) -> Signal:
        """The signal with its numbers."""
        checked_numbers = []
        for number, value in zip(self.numbers, values, strict=True):
            x = to_float(value)
            if x is None:
                raise RunError(f"{self.name}: {number.name}={display_text(value)} is not a number")
            checked_numbers.append(x)
            if number.positive and not checked_numbers[-1] > 0:
                raise RunError(
                    f"{self.name}: {number.name}={checked_numbers[-1]!r} must be positive"
                )
        value, breaks = self.compile_functions
        orders = [
            _function_of_time(value, order, checked_numbers)
            for order in range(len(self.derivative_formulas))
        ] + [None, None]
        assert orders[0] is not None
        kinks = tuple(x for x in breaks(*checked_numbers) if math.isfinite(x))
        numbers = tuple(checked_numbers)
        recipe = (_signal_of_kind, (self.name, numbers))
        return Signal(
            self.name, orders[0], orders[1], kinks, numbers, second=orders[2], made=recipe
        )


def _signal_of_kind(name: str, numbers: tuple[float, ...]) -> Signal:
    return SIGNAL_KINDS[name].make_signal(*numbers)


def _function_of_time(
    value: Callable[..., float], order: int, numbers: Sequence[float]
) -> Callable[[float], float] | None:
    return lambda t: value(order, t, *numbers)


@dataclass(frozen=True)
class Signal:
    """A function of time with its rate; `breaks` are times at which it is not smooth.

    `numbers`, or `points` and cubic `piecewise_cubic`, say all about a signal that compiled code
    knows by its `name`;
    `covers` is the time for which a sampled one is known.
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
    made: tuple[Callable[..., Signal], tuple[Any, ...]] | None = None
    """The function and arguments that make the same signal in another process."""

    def __reduce__(self) -> Any:
        return self.made or (Signal, tuple(getattr(self, f.name) for f in fields(self)))

    def __call__(self, t: float) -> float:
        return self.value(t)


_START = SignalParameter("start", "s")
SIGNAL_KINDS = {
    k.name: k
    for k in (
        SignalKind("constant", (SignalParameter("value"),), "value", "0.0", "0.0"),
        SignalKind(
            "step",
            (SignalParameter("at", "s"), SignalParameter("height"), SignalParameter("before")),
            "before + (height if t >= at else 0.0)",
            breaks=("at",),
        ),
        SignalKind(
            "ramp",
            (_START, SignalParameter("slope", "1/s"), SignalParameter("end", "s")),
            "slope*(min(max(t, start), max(start, end)) - start)",
            "slope if t >= start and t < end else 0.0",
            breaks=("start", "end"),
        ),
        SignalKind(
            "sine",
            (
                SignalParameter("amplitude"),
                SignalParameter("frequency", "Hz"),
                SignalParameter("phase", "rad"),
                _START,
            ),
            "0.0 if t < start else amplitude*sin(turned)",
            "0.0 if t < start else amplitude*w*cos(turned)",
            "0.0 if t < start else -w*w*amplitude*sin(turned)",
            local_definitions=(("w", "two_pi*frequency"), ("turned", "w*(t - start) + phase")),
            breaks=("start",),
        ),
        SignalKind(
            "chirp",
            (
                SignalParameter("amplitude"),
                SignalParameter("f0", "Hz"),
                SignalParameter("f1", "Hz"),
                SignalParameter("duration", "s", True),
                _START,
            ),
            "0.0 if t < start else amplitude*sin(turned)",
            "0.0 if t < start else amplitude*w*cos(turned)",
            "0.0 if t < start else amplitude*(growth*cos(turned) - w*w*sin(turned))",
            local_definitions=(
                ("passed", "max(t - start, 0.0)"),
                ("inside", "min(passed, duration)"),
                ("k", "(f1 - f0)/duration"),
                ("turned", "two_pi*(f0*inside + 0.5*k*inside*inside + f1*(passed - inside))"),
                ("w", "two_pi*(f0 + k*inside)"),
                ("growth", "two_pi*k if passed < duration else 0.0"),
            ),
            breaks=("start", "start + duration"),
        ),
        SignalKind(
            "pulse",
            (_START, SignalParameter("width", "s", True), SignalParameter("height")),
            "height*(0.5 - 0.5*cos(w*passed)) if passed > 0.0 and passed < width else 0.0",
            "0.5*height*w*sin(w*passed) if passed > 0.0 and passed < width else 0.0",
            "0.5*height*w*w*cos(w*passed) if passed > 0.0 and passed < width else 0.0",
            local_definitions=(("w", "two_pi/width"), ("passed", "t - start")),
            breaks=("start", "start + width"),
        ),
    )
}


def positive_numbers() -> list[tuple[SignalKind, int, str]]:
    """The numbers that must be positive: kind, place among its numbers, name."""
    return [
        (k, i, n.name) for k in SIGNAL_KINDS.values() for i, n in enumerate(k.numbers) if n.positive
    ]


def step(at: float = 0.0, height: float = 1.0, before: float = 0.0) -> Signal:
    """Make a step.

    Parameters
    ----------
    at : float, default 0.0
        Time of the step in s.
    height : float, default 1.0
        Height, in the unit of the input.
    before : float, default 0.0
        Value before the step, in the unit of the input.

    Returns
    -------
    Signal
        A function of time.

    Examples
    --------
    >>> import bellcrank as bc
    >>> f = bc.signals.step(at=1, height=5)
    >>> f(0.5), f(1)
    (0.0, 5.0)
    """
    return SIGNAL_KINDS["step"].make_signal(at, height, before)


def ramp(start: float = 0.0, slope: float = 1.0, end: float = math.inf) -> Signal:
    """Make a ramp: zero, then a constant rate, then constant.

    Parameters
    ----------
    start : float, default 0.0
        Time in s at which it begins to rise.
    slope : float, default 1.0
        Rate, in the unit of the input per s.
    end : float, default inf
        Time in s at which it stops rising.

    Returns
    -------
    Signal
        A function of time.

    Raises
    ------
    RunError
        If `end` is before `start`.

    Examples
    --------
    >>> import bellcrank as bc
    >>> f = bc.signals.ramp(start=1, slope=2, end=3)
    >>> f(2), f(5)
    (2.0, 4.0)
    """
    signal = SIGNAL_KINDS["ramp"].make_signal(start, slope, end)
    if signal.numbers[2] < signal.numbers[0]:
        raise RunError(f"ramp: end={end!r} s is before start={start!r} s")
    return signal


def sine(
    amplitude: float = 1.0, frequency: float = 1.0, phase: float = 0.0, start: float = 0.0
) -> Signal:
    """Make a sine: amplitude * sin(2 pi frequency (t - start) + phase), zero before `start`.

    Parameters
    ----------
    amplitude : float, default 1.0
        Amplitude, in the unit of the input.
    frequency : float, default 1.0
        Frequency in Hz.
    phase : float, default 0.0
        Phase in rad.
    start : float, default 0.0
        Begin in s.

    Returns
    -------
    Signal
        A function of time.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.signals.sine(amplitude=2, frequency=0.25)(1.0)
    2.0
    """
    return SIGNAL_KINDS["sine"].make_signal(amplitude, frequency, phase, start)


def chirp(
    amplitude: float = 1.0,
    f0: float = 0.1,
    f1: float = 10.0,
    duration: float = 10.0,
    start: float = 0.0,
) -> Signal:
    """Make a sine whose frequency changes linearly; after `duration` it stays at `f1`.

    Parameters
    ----------
    amplitude : float, default 1.0
        Amplitude, in the unit of the input.
    f0, f1 : float, default 0.1 and 10.0
        First and last frequency in Hz.
    duration : float, default 10.0
        Time of the change in s.
    start : float, default 0.0
        Begin in s.

    Returns
    -------
    Signal
        A function of time.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.signals.chirp(amplitude=2, f0=0, f1=1, duration=1)(0.0)
    0.0
    """
    return SIGNAL_KINDS["chirp"].make_signal(amplitude, f0, f1, duration, start)


def pulse(start: float = 0.0, width: float = 1.0, height: float = 1.0) -> Signal:
    """Make one smooth pulse: height (1 - cos)/2.

    Parameters
    ----------
    start : float, default 0.0
        Begin in s.
    width : float, default 1.0
        Duration in s.
    height : float, default 1.0
        Height, in the unit of the input.

    Returns
    -------
    Signal
        A function of time.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.signals.pulse(width=2, height=3)(1.0)
    3.0
    """
    return SIGNAL_KINDS["pulse"].make_signal(start, width, height)


def constant(value: float) -> Signal:
    """Make a constant signal.

    Parameters
    ----------
    value : float
        Its value, in the unit of the input.

    Returns
    -------
    Signal
        A function of time.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.signals.constant(3)(10.0)
    3.0
    """
    return SIGNAL_KINDS["constant"].make_signal(value)


def signal_by_kind(kind: str, **numbers: float) -> Signal:
    """A signal by the name of its kind, with the defaults of its function for what is not given."""
    signal: Signal = globals()[SIGNAL_KINDS[kind].name](**numbers)
    return signal


def sampled(times: Sequence[float], values: Sequence[float], name: str = "input") -> Signal:
    """Make a signal of samples, with straight lines between them.

    Parameters
    ----------
    times : sequence of float
        Times in s, increasing.
    values : sequence of float
        Values, in the unit of the input.
    name : str, default "input"
        Name in messages.

    Returns
    -------
    Signal
        A function of time. Outside the times it raises RunError.

    Raises
    ------
    RunError
        If the times do not increase or do not match the values.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.signals.sampled([0, 1, 2], [0, 10, 0])(0.5)
    5.0
    """
    x, y = to_float_array(times), to_float_array(values)
    if x is None or y is None:
        raise RunError(
            f"input '{name}': {'times' if x is None else 'values'} must be real numbers, "
            f"none of them masked"
        )
    if x.ndim != 1 or x.shape != y.shape or len(x) < 2 or np.any(np.diff(x) <= 0):
        raise RunError(
            f"input '{name}': times must increase and match the values (got {x.shape} and "
            f"{y.shape})"
        )
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
        raise RunError(f"input '{name}' holds values that are not finite numbers")
    slack = 1e-9 * max(abs(x[-1]), 1.0)
    covers = (float(x[0] - slack), float(x[-1] + slack))

    def value(t: float) -> float:
        if t < covers[0] or t > covers[1]:
            raise RunError(
                f"input '{name}' covers t = {x[0]:g} to {x[-1]:g} s, but is needed at t = {t:g} s"
            )
        return float(np.interp(t, x, y))

    def rate(t: float) -> float:
        i = min(max(int(np.searchsorted(x, t, side="right")) - 1, 0), len(x) - 2)
        return float((y[i + 1] - y[i]) / (x[i + 1] - x[i]))

    coefficients = np.zeros((len(x) - 1, 4))
    coefficients[:, 0], coefficients[:, 1] = y[:-1], np.diff(y) / np.diff(x)
    recipe = (sampled, (x, y, name))
    return Signal(
        "pieces",
        value,
        rate,
        slope_discontinuities(x, coefficients[:, 1]),
        (),
        x,
        coefficients,
        covers,
        made=recipe,
    )


def copy_input(value: Any) -> Any:
    """What a caller gives for an input, without arrays and lists that the caller may change
    afterwards."""
    return copy.deepcopy(value) if isinstance(value, tuple | list | np.ndarray) else value


def slope_discontinuities(x: np.ndarray, slopes: np.ndarray) -> tuple[float, ...]:
    """Points between straight lines at which the slope changes."""
    is_kink = np.abs(np.diff(slopes)) > INPUTS.kink * np.abs(slopes).max(initial=0.0)
    return tuple(x[1:-1][is_kink].tolist())


def piecewise_cubic(points: np.ndarray, coefficients: np.ndarray) -> Signal:
    """Cubic pieces that begin at the points, lowest power first; outside it continues with the end
    slope."""
    x, a = (
        np.ascontiguousarray(points, dtype=float),
        np.ascontiguousarray(coefficients, dtype=float),
    )

    def evaluate_at(t: float, rate: bool) -> float:
        inside = min(max(t, float(x[0])), float(x[-1]))
        i = min(max(int(np.searchsorted(x, inside, side="right")) - 1, 0), len(x) - 2)
        s = inside - float(x[i])
        a0, a1, a2, a3 = a[i].tolist()
        slope: float = a1 + s * (2 * a2 + s * 3 * a3)
        value: float = a0 + s * (a1 + s * (a2 + s * a3)) + (t - inside) * slope
        return slope if rate else value

    return Signal(
        "pieces",
        lambda t: evaluate_at(t, False),
        lambda t: evaluate_at(t, True),
        (),
        (),
        x,
        a,
        made=(piecewise_cubic, (x, a)),
    )


def __dir__() -> list[str]:
    return sorted(__all__)
