"""Files of Fortran that are the same for all models, and the constants they are tuned by."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bellcrank.files.template import filled, template
from bellcrank.numeric.tuning import constants


def runtime(name: str, common: Mapping[str, str] | None = None, /, **pieces: str) -> str:
    """A file of the folder `runtime`, filled; pieces of `common` may be left over."""
    return filled(template("bellcrank.emit/fortran/runtime", name), pieces, common)


def real(value: float) -> str:
    """A number as a literal."""
    return f"{float(value)!r}_dp"


def definitions(group: Any, text: str | None = None, prefix: str = "tuned_") -> str:
    """A part of the table of tuning constants as parameters: tuned_NAME; those that a text uses, if it is given."""
    lines = []
    for c in constants(group):
        if text is not None and not re.search(rf"\b{prefix}{c.name}\b", text):
            continue
        kind, value = ("integer", c.value) if isinstance(c.value, int) else ("real(dp)", real(c.value))
        lines += [f"  ! {c.note}", f"  {kind}, parameter :: {prefix}{c.name} = {value}"]
    return "".join(f"{line}\n" for line in lines)
