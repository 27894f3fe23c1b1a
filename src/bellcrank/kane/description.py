"""What a derivation carries for runs and readers: values, units, channels, defaults of runs."""

from __future__ import annotations

from dataclasses import dataclass, field

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
