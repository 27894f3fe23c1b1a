"""Time histories by name, in user units: what files hold of a run and pictures show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.errors import RunError, did_you_mean


class NoChannel(RunError, KeyError):
    """A channel that a run does not have."""

    __str__ = Exception.__str__


@dataclass
class Channels:
    """Arrays over `time`, each with its unit and the words a person reads; `ended` tells how the run ended."""

    name: str
    time: np.ndarray
    channels: dict[str, np.ndarray]
    units: dict[str, str]
    labels: dict[str, str]
    ended: str

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
