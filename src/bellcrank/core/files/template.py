"""Files of text that are the same for all models, and what is put into them.

Places are written @NAME@. Each is filled with a piece as it stands, which is not searched again. A
place that stands alone on an indented line takes lines, each indented as it is, or none. Lines
between @IF NAME@ and @END@ stay if that piece is not empty, those after an @ELSE@ if it is. A place
without a piece and a piece without a place are mistakes of ours, and said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from textwrap import indent

from bellcrank.core.errors import InternalError

_PLACE = re.compile(r"^( +)@([A-Z][A-Z0-9_]*)@\n|@([A-Z][A-Z0-9_]*)@", re.MULTILINE)

_CHOICE = re.compile(
    r"^@IF ([A-Z][A-Z0-9_]*)@\n(.*?)(?:^@ELSE@\n(.*?))?^@END@\n", re.MULTILINE | re.DOTALL
)


@cache
def template_text(folder: str, name: str) -> str:
    """The text of a file; `folder` as "bellcrank.codegen/c/runtime": a package, and folders in
    it."""
    package, *inner = folder.split("/")
    return files(package).joinpath(*inner, name).read_text(encoding="utf-8")


def fill_template(
    text: str, fields: Mapping[str, str], common: Mapping[str, str] | None = None
) -> str:
    """A text with its places filled; pieces of `common` may be left over."""
    values = {**(common or {}), **fields}
    conditions = {name for name, _, _ in _CHOICE.findall(text)}
    selected = _CHOICE.sub(lambda found: found[2] if values.get(found[1]) else found[3] or "", text)
    for names, complaint in (
        (conditions.union(_field_names(selected)).difference(values), "nothing fills"),
        ({*fields}.difference(conditions, _field_names(text)), "there is no place for"),
    ):
        if names:
            start = text.strip().partition("\n")[0][:60]
            raise InternalError(
                f"{complaint} {', '.join(f'@{name}@' for name in sorted(names))} in the "
                f"template '{start}'"
            )

    def replace_field(match: re.Match[str]) -> str:
        margin, lines, part = match.groups()
        return (
            values[part]
            if part
            else indent(values[lines].rstrip("\n") + "\n", margin)
            if values[lines]
            else ""
        )

    return _PLACE.sub(replace_field, selected)


def _field_names(text: str) -> set[str]:
    return {lines or part for _, lines, part in _PLACE.findall(text)}
