"""Files of Python that are the same for all models."""

from __future__ import annotations

from collections.abc import Mapping

from bellcrank.files.template import filled, template


def runtime(name: str, common: Mapping[str, str] | None = None, /, **pieces: str) -> str:
    """A file of the folder `runtime`, filled (.py.in: no Python before); pieces of `common` may be left over."""
    return filled(template("bellcrank.emit/python/runtime", name), pieces, common)
