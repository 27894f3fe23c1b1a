"""Formats of channels, with marks of those whose package may be absent."""

import importlib.util

import pytest

from bellcrank.core.files import format_choice


def marks(package):
    """Of tests with a package that may be absent; that of MDF takes long to load."""
    if not package:
        return ()
    absent = importlib.util.find_spec(package) is None
    there = pytest.mark.skipif(absent, reason=f"{package} is not installed")
    return (there, pytest.mark.campaign) if package == "asammdf" else there


FORMATS = [pytest.param(e, marks=marks(f.package)) for e, f in format_choice.FORMATS.items()]
