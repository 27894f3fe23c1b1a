"""Files of Python that are the same for all models, and the constants they are tuned by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bellcrank.files.template import filled, template
from bellcrank.numeric.tuning import constants


def runtime(name: str, common: Mapping[str, str] | None = None, /, **replacements: str) -> str:
    """A file of the folder `runtime`, filled (.py.in: no Python before); pieces of `common` may be left over."""
    return filled(template("bellcrank.emit/python/runtime", name), replacements, common)


def definitions(group: Any) -> str:
    """A part of the table of tuning constants in Python."""
    return "".join(f"{c.name.upper()} = {c.value!r}  # {c.note}\n" for c in constants(group))
