"""Files of Fortran that are the same for all models."""

from __future__ import annotations

from bellcrank.files.template import filled, template


def runtime(name: str, **pieces: str) -> str:
    """A file of the folder `runtime`, filled."""
    return filled(template("bellcrank.emit/fortran/runtime", name), pieces)


def real(value: float) -> str:
    """A number as a literal."""
    return f"{value!r}_dp"
