"""Files of Fortran that are the same for all models; numbers as literals."""

from __future__ import annotations

from collections.abc import Mapping

from bellcrank.files.template import filled, template


def runtime(name: str, common: Mapping[str, str] | None = None, /, **replacements: str) -> str:
    """A file of the folder `runtime`, filled; pieces of `common` may be left over."""
    return filled(template("bellcrank.emit/fortran/runtime", name), replacements, common)


def real(value: float) -> str:
    """A number as a literal."""
    return f"{float(value)!r}_dp"
