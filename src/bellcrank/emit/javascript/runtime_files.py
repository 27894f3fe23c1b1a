"""Files of JavaScript that are the same for all models."""

from __future__ import annotations

from collections.abc import Mapping

from bellcrank.files.template import filled, template

ROUTINE = "routine"  # the name of every external routine, each in a scope of its own


def runtime(name: str, common: Mapping[str, str] | None = None, /, **pieces: str) -> str:
    """A file of the folder `runtime`, filled; pieces of `common` may be left over."""
    return filled(template("bellcrank.emit/javascript/runtime", name), pieces, common)


def real(x: float) -> str:
    """The shortest text that is read back as the same number."""
    text = repr(float(x))
    return text[:-2] if text.endswith(".0") else text
