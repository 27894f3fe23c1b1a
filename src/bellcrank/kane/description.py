"""What a derivation carries for runs and readers: values, units, channels, defaults of runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bellcrank.errors import ModelError, did_you_mean
from bellcrank.expr import Expr
from bellcrank.model.records import RunRecord

RUN = ("t_end", "step", "method", "output_every", "initial", "inputs")


@dataclass
class Notes:
    """Values of constants and units by lower-case name; channels in order."""

    values: dict[str, float] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    channels: dict[str, Expr] = field(default_factory=dict)
    channel_words: dict[str, tuple[str, str]] = field(default_factory=dict)  # unit, label
    groups: list[str] = field(default_factory=list)
    run: RunRecord = field(default_factory=RunRecord)

    def set_run(self, options: dict[str, Any]) -> None:
        for name, value in options.items():
            if name not in RUN:
                raise ModelError(f"set_run({name}=...) is not known.{did_you_mean(name, RUN)} Known: {', '.join(RUN)}.")
            setattr(self.run, name, dict(value) if name in ("initial", "inputs") else value)
