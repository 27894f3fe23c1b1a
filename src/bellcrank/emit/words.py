"""What comments of generated source say about names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Words:
    """Labels and units, by the name of a symbol, or by `output_key` of an output."""

    label: Mapping[str, str] = field(default_factory=dict)
    unit: Mapping[str, str] = field(default_factory=dict)


NO_WORDS = Words()


def output_key(name: str) -> str:
    """The key of an output, which may be called as a parameter is."""
    return f"output {name}"
