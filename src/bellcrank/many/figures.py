"""Figures of runs that are found while they continue, so that no history need be kept: final, min, rms, percentile(95)
...

In:  what a user asks for. Out: `Figure` records. `kernel/many_rows.c` finds them in compiled runs, `found` for
histories that are there already.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.emit.c.many import FIGURES
from bellcrank.errors import ModelError, did_you_mean
from bellcrank.interface.interface import CHANNELS, Interface, Quantity
from bellcrank.many.averages import mean, rms
from bellcrank.many.random import called
from bellcrank.many.weighting import WEIGHTINGS, weighted

NUMBERED = ("percentile", "crossing")  # followed by a number: a share in percent, a level
SHOWN = (*(f for f in FIGURES if f not in NUMBERED), "percentile(95)", "crossing(0)")


@dataclass(frozen=True)
class Figure:
    """One number of every run: a `kind` of FIGURES, of a channel; `words` as the user wrote it."""

    channel: Quantity
    kind: str
    number: float
    words: str

    def found(self, t: np.ndarray, x: np.ndarray) -> float:
        """Its value for a history."""
        if not len(x):
            return math.nan
        if self.kind == "final":
            return float(x[-1])
        if self.kind == "percentile":
            x = x[np.isfinite(x)]
            return float(np.percentile(x, self.number)) if len(x) else math.nan
        if self.kind == "crossing":
            below = x < self.number
            for i in np.flatnonzero(below[1:] != below[:-1])[:1].tolist():
                return float(t[i] + (t[i + 1] - t[i]) * ((self.number - x[i]) / (x[i + 1] - x[i])))
            return math.nan
        if self.kind in WEIGHTINGS:
            x = weighted(t, x, self.kind)
        if self.kind in ("rms", *WEIGHTINGS):
            return rms(t, x)
        return mean(t, x) if self.kind == "mean" else float(np.min(x) if self.kind == "min" else np.max(x))


def read_figures(interface: Interface, given: Any, kept: Sequence[Quantity]) -> list[Figure]:
    """What `metrics=` asks for: figures by channel, or figures of all channels that are kept."""
    if given is None:
        return []
    by_channel = given if isinstance(given, Mapping) else {x.name: given for x in kept}
    if not by_channel:
        raise ModelError(f"metrics={given!r}: name channels too, with channels= or as metrics={{channel: [...]}}")
    result = []
    for name, words in by_channel.items():
        channel = channel_of(interface, name, "metrics=")
        for word in [words] if isinstance(words, str) else words if isinstance(words, Iterable) else [words]:
            result.append(_figure(channel, word))
    return result


def channel_of(interface: Interface, name: Any, what: str) -> Quantity:
    """A channel by its name."""
    found = interface.channel(name)
    return interface.find(name, CHANNELS, f"{what} channel") if found is None else found


def _figure(channel: Quantity, word: Any) -> Figure:
    return Figure(channel, *read_figure(word, f"metrics=: {word!r} of '{channel.name}'"))


def read_figure(word: Any, what: str) -> tuple[str, float, str]:
    """Kind, number and text of a figure as a user writes it; an error begins with `what`."""
    text = str(word).strip().lower()
    kind, numbers = called(text) or (text, ())
    if kind not in FIGURES or len(numbers) != (kind in NUMBERED):
        near = "" if kind in FIGURES else did_you_mean(kind, FIGURES)
        raise ModelError(f"{what} is not known.{near} It is one of {', '.join(SHOWN)}.")
    try:
        number = float(numbers[0]) if numbers else 0.0
    except ValueError:
        raise ModelError(f"{what}: {numbers[0]!r} is not a number") from None
    if not math.isfinite(number):
        raise ModelError(f"{what}: {number:g} is not a finite number")
    if kind == "percentile" and not 0 <= number <= 100:
        raise ModelError(f"{what}: {number:g} must be between 0 and 100")
    return kind, number, text
