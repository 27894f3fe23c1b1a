"""Run: time histories with names and units, and the sentence that says how the run ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.errors import RunError, did_you_mean, optional_package
from bellcrank.files.choose import write_record
from bellcrank.files.record import Channel, Record


class NoChannel(RunError, KeyError):
    """A channel that a run does not have."""

    __str__ = Exception.__str__


@dataclass(frozen=True)
class Residuals:
    """What is left of constraints in the recorded steps, equation units: a column per row, of positions g, of speeds v."""

    time: np.ndarray
    g: np.ndarray
    v: np.ndarray
    positions: tuple[str, ...]
    speeds: tuple[str, ...]

    @property
    def position(self) -> np.ndarray:
        """The largest of each step."""
        return np.abs(self.g).max(axis=1, initial=0.0)

    @property
    def speed(self) -> np.ndarray:
        """The largest of each step."""
        return np.abs(self.v).max(axis=1, initial=0.0)

    @property
    def largest(self) -> tuple[float, float]:
        """Of all recorded steps: of positions, of speeds."""
        return float(self.position.max(initial=0.0)), float(self.speed.max(initial=0.0))


@dataclass
class Run:
    """Result of a simulation. Channels are arrays in user units: `run["Ay"]`, `run.units["Ay"]`, `run.labels["Ay"]`."""

    name: str
    time: np.ndarray
    channels: dict[str, np.ndarray]
    units: dict[str, str]
    labels: dict[str, str]
    ended: str
    events: list[Any] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    generic: dict[str, str] = field(default_factory=dict)  # what kind of quantity a channel is, in words
    bodies: dict[str, str] = field(default_factory=dict)  # the body a channel belongs to
    find_residuals: Callable[[], Residuals] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def residuals(self) -> Residuals:
        """How well position and loop constraints are kept in the recorded steps; empty where the model has none."""
        if self.find_residuals is None:
            nothing = np.empty((len(self.time), 0))
            return Residuals(self.time, nothing, nothing, (), ())
        return self.find_residuals()

    def __getstate__(self) -> dict[str, Any]:
        """What is stored or sent elsewhere: residuals as numbers, since the program that finds them stays here."""
        state = dict(self.__dict__)
        if self.find_residuals is not None:
            state |= {"residuals": self.residuals, "find_residuals": None}
        return state

    def __getitem__(self, channel: Any) -> np.ndarray:
        name = str(channel)
        if name == "t":
            return self.time
        if name not in self.channels:
            by_case = {k.lower(): k for k in self.channels}
            if name.lower() in by_case:
                return self.channels[by_case[name.lower()]]
            raise NoChannel(
                f"no channel '{name}'.{did_you_mean(name, self.channels)} Channels: {', '.join(self.channels)}"
            )
        return self.channels[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.channels)

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        return f"Run({self.name!r}: {len(self.time)} samples of {len(self.channels)} channels; {self.ended})"

    def to_pandas(self) -> Any:
        """A DataFrame over time (needs pandas)."""
        pandas = optional_package("pandas", "files")
        frame = pandas.DataFrame(self.channels, index=pandas.Index(self.time, name="t"))
        frame.attrs["units"] = dict(self.units)
        return frame

    def to_xarray(self) -> Any:
        """A Dataset over time with units and labels as attributes (needs xarray)."""
        xarray = optional_package("xarray", "files")
        data = {
            name: ("t", values, {"units": self.units.get(name, ""), "long_name": self.labels.get(name, name)})
            for name, values in self.channels.items()
        }
        return xarray.Dataset(data, coords={"t": ("t", self.time, {"units": "s"})}, attrs={"title": self.name})

    def save(self, path: str | Path, binary: bool = False, classic: bool = False) -> Path:
        """Writes all channels with full precision, in the format of the ending: .csv, .erd, .parquet, .nc ...

        `binary` and `classic` are layouts of ERD files: 64-bit samples beside the header, or the 32-bit ones of 1990.
        """
        if not isinstance(path, str | Path):
            raise RunError(f"cannot save to {path!r}: a path is needed")
        return write_record(path, self.record(), binary=binary, classic=classic)

    def record(self) -> Record:
        """The channels as files hold them."""
        channels = tuple(
            Channel(
                name, values, *(words.get(name, "") for words in (self.units, self.labels, self.generic, self.bodies))
            )
            for name, values in self.channels.items()
        )
        history = (
            [f"Simulated with Bellcrank, {self.settings['method']}, step {self.settings['step']!r} s"]
            if self.settings
            else []
        )
        return Record(self.name, self.time, channels, (*history, f"The run: {self.ended}"))

    def plot(self, *channels: str, against: str | None = None, path: str | Path | None = None, **options: Any) -> Any:
        """Draws channels over time, one panel per unit; saves a picture when a path is given. Returns the figure."""
        from bellcrank.run.draw import draw

        return draw([self], list(channels), against=against, path=path, **options)
