"""Shipped linkages, made once: following the way of each takes some tenths of a second."""

import tomllib
from functools import cache
from pathlib import Path

from bellcrank.linkage import Linkage, shipped


@cache
def linkage(name):
    return Linkage.read(name)


def sheet(name):
    """The content of a shipped file, to be changed."""
    return tomllib.loads(Path(shipped(name)).read_text(encoding="utf-8"))
