"""Files of text that are the same for all models, and what is put into them.

Places are written @NAME@. Each is filled with a piece as it stands, which is not searched again. A place that stands
alone on an indented line takes lines, each indented as it is, or none. A place without a piece and a piece without a
place are mistakes of ours, and said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from textwrap import indent

from bellcrank.errors import InternalError

_PLACE = re.compile(r"^( +)@([A-Z][A-Z0-9_]*)@\n|@([A-Z][A-Z0-9_]*)@", re.MULTILINE)


@cache
def template(folder: str, name: str) -> str:
    """The text of a file; `folder` as "bellcrank.emit/c/runtime": a package, and folders in it."""
    package, *inner = folder.split("/")
    return files(package).joinpath(*inner, name).read_text(encoding="utf-8")


def filled(text: str, pieces: Mapping[str, str], common: Mapping[str, str] | None = None) -> str:
    """A text with its places filled; pieces of `common` may be left over."""
    known = {**(common or {}), **pieces}
    places = {lines or part for _, lines, part in _PLACE.findall(text)}
    mistakes = {"nothing fills": places.difference(known), "there is no place for": {*pieces}.difference(places)}
    for what, wrong in mistakes.items():
        if wrong:
            start = text.strip().partition("\n")[0][:60]
            raise InternalError(f"{what} {', '.join(f'@{name}@' for name in sorted(wrong))} in the template '{start}'")

    def put(found: re.Match[str]) -> str:
        margin, lines, part = found.groups()
        return known[part] if part else indent(known[lines].rstrip("\n") + "\n", margin) if known[lines] else ""

    return _PLACE.sub(put, text)
