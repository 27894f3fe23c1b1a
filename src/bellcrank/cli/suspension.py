"""The suspension that a command was given."""

from __future__ import annotations

from pathlib import Path

from bellcrank.linkage import Linkage, load, shipped


def loaded(name: str) -> Linkage:
    """A file of hard points, or one that comes with Bellcrank."""
    known = name in shipped() or (not Path(name).exists() and not Path(name).suffix)
    return load(shipped(name) if known and not Path(name).exists() else name)
