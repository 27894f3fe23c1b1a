"""Metric: one number of a run, from its channels over time; and MetricKind, which makes them and
knows their value."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, RunError
from bellcrank.core.numeric.real_numbers import display_text, to_float

NEAR = 1e-9  # s by which a sample may lie outside the times of a metric


@dataclass(frozen=True)
class Metric:
    """One number of a run: a kind of metric of one or several channels.

    Made by the kinds, such as `bc.metrics.rms("az")`. Call it with a run to get its value.
    `simulate_many(metrics=)` and the metrics of a study take it as well.

    Parameters
    ----------
    kind : MetricKind
        What is computed.
    channels : tuple of str
        Names of the channels. The value of several is the largest of theirs (of `min`, the
        smallest); `airborne` is the time during which none of them is positive.
    number : float, optional
        The number of the kind: percent of a percentile, level of a crossing.
    start, end : float, optional
        First and last time in s. Default: the whole run.

    Examples
    --------
    >>> import bellcrank as bc
    >>> s = bc.System("mass")
    >>> mass = s.add_body("mass", translate="x", mass=2, inertia=0)
    >>> sim = s.equations().compile(backend="python")
    >>> run = sim.simulate(1.0, step=0.5, initial={"u(mass)": 3})
    >>> distance = bc.metrics.max("q(mass)")
    >>> distance(run), distance.unit(run.units["q(mass)"])
    (3.0, 'm')
    """

    kind: MetricKind
    channels: tuple[str, ...]
    number: float | None = None
    start: float = 0.0
    end: float = math.inf

    @property
    def text(self) -> str:
        """The kind as text: "rms", "percentile(95)"."""
        return self.kind.text(self.number)

    def __repr__(self) -> str:
        window = "" if self.whole else f" from {self.start:g} s to {self.end:g} s"
        return f"Metric({self.text} of {', '.join(self.channels)}{window})"

    @property
    def whole(self) -> bool:
        """Is it over the whole run?"""
        return self.start <= 0 and math.isinf(self.end)

    def __call__(self, run: Any) -> float:
        """Its value for a run, in the unit that `unit` names."""
        return self.value(run.time, [np.asarray(run[name]) for name in self.channels])

    def value(self, time: np.ndarray, samples: Sequence[np.ndarray]) -> float:
        """Compute it from samples.

        Parameters
        ----------
        time : ndarray
            Times of the samples in s.
        samples : sequence of ndarray
            Samples of its channels, in their order.

        Returns
        -------
        float
            The value, in the unit that `unit` names.

        Raises
        ------
        RunError
            If fewer than two samples lie between its times.
        """
        t, arrays = time, list(samples)
        if not self.whole:
            inside = (time >= self.start - NEAR) & (time <= self.end + NEAR)
            t, arrays = time[inside], [x[inside] for x in arrays]
        if len(t) < (1 if self.whole else 2):
            raise RunError(
                f"{self!r}: the run has {len(t)} samples between its times, which are too few"
            )
        return self.kind.value(t, arrays, self.number)

    def unit(self, unit: str) -> str:
        """Return its unit.

        Parameters
        ----------
        unit : str
            The unit of its channels.

        Returns
        -------
        str
            The unit of its value.
        """
        return self.kind.unit(unit)


@dataclass(frozen=True)
class MetricKind:
    """A kind of metric: call it with channels to get a `Metric`.

    Parameters
    ----------
    name : str
        Its name in text, such as "rms".
    definition : str
        What it is.
    of_one : callable
        The value from times (s), samples of a channel and, where the kind has one, its number.
    number : str, optional
        What its number means, such as "percent". Default: it has none.
    usual : float, optional
        The number if none is given.
    unit : callable, optional
        The unit of the value, from that of the channel. Default: the same.
    together : callable, optional
        The value of several channels from those of each. Default: the largest.
    joint : callable, optional
        The value from times and the samples of all channels, for kinds that are not made of those
        of each.

    Examples
    --------
    >>> import bellcrank as bc
    >>> bc.metrics.percentile("az", 95)
    Metric(percentile(95) of az)
    >>> bc.metrics.load_variation(["fl.tyre_load", "fr.tyre_load"], start=2.0, end=8.0)
    Metric(load_variation of fl.tyre_load, fr.tyre_load from 2 s to 8 s)
    """

    internals = ("check_number",)

    name: str
    definition: str
    of_one: Callable[..., float]
    number: str = ""
    usual: float = 0.0
    unit: Callable[[str], str] = str
    together: Callable[[Sequence[float]], float] = max
    joint: Callable[[np.ndarray, np.ndarray], float] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", f"{self.definition[0].upper()}{self.definition[1:]}.")

    def __repr__(self) -> str:
        return f"bc.metrics.{self.name}"

    def __call__(
        self,
        channels: str | Sequence[str],
        number: float | None = None,
        *,
        start: float = 0.0,
        end: float = math.inf,
    ) -> Metric:
        """Make a metric of one or several channels.

        Parameters
        ----------
        channels : str or sequence of str
            The channel, or several.
        number : float, optional
            Percent of a percentile, level of a crossing (unit of the channel). Default: 95 percent,
            level 0.
        start, end : float, optional
            First and last time in s. Default: the whole run.

        Returns
        -------
        Metric
            The metric.

        Raises
        ------
        ModelError
            If a channel is no name, or if the number or the times are wrong.
        """
        names = (channels,) if isinstance(channels, str) else channels
        if (
            not isinstance(names, Sequence)
            or not names
            or not all(isinstance(x, str) for x in names)
        ):
            raise ModelError(
                f"{self!r}: channels={channels!r:.60} must be the name of a channel or a "
                f"list of names"
            )
        first, last = to_float(start), to_float(end)
        if first is None or last is None or not (first < last and math.isfinite(first)):
            raise ModelError(
                f"{self!r}: start={display_text(start)} s must lie before end={display_text(end)} s"
            )
        return Metric(self, tuple(names), self.check_number(number, repr(self)), first, last)

    def check_number(self, number: float | None, label: str) -> float | None:
        """The number given, or the usual one; an error begins with `label`."""
        if not self.number:
            if number is not None:
                raise ModelError(f"{label} takes no number, given {display_text(number)}")
            return None
        value = self.usual if number is None else to_float(number)
        if value is None:
            raise ModelError(f"{label}: {self.number}={display_text(number)} is not a number")
        if not math.isfinite(value):
            raise ModelError(f"{label}: {value:g} is not a finite number")
        if self.number == "percent" and not 0 <= value <= 100:
            raise ModelError(f"{label}: {value:g} must be between 0 and 100")
        return value

    def text(self, number: float | None = None) -> str:
        """Return its name, with the number where it has one.

        Parameters
        ----------
        number : float, optional
            The number. Default: the usual one.

        Returns
        -------
        str
            Text such as "rms" or "percentile(95)".
        """
        if not self.number:
            return self.name
        return f"{self.name}({self.usual if number is None else number!r})".replace(".0)", ")")

    def value(
        self, t: np.ndarray, samples: Sequence[np.ndarray], number: float | None = None
    ) -> float:
        """Compute the value of one or several channels.

        Parameters
        ----------
        t : ndarray
            Times of the samples in s.
        samples : sequence of ndarray
            Samples of each channel.
        number : float, optional
            The number of the kind.

        Returns
        -------
        float
            The value.
        """
        if self.joint is not None:
            return self.joint(t, np.asarray(samples))
        arguments = (number,) if self.number else ()
        return self.together([self.of_one(t, x, *arguments) for x in samples])
