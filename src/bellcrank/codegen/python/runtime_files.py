"""Files of Python that are the same for all models, and the constants they are tuned by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bellcrank.core.files.template import fill_template, template_text
from bellcrank.core.numeric.tuning import constants


def fill_runtime_file(
    name: str, common: Mapping[str, str] | None = None, /, **replacements: str
) -> str:
    """A file of the folder `fill_runtime_file`, filled (.py.in: no Python before); pieces of
    `common` may be left over."""
    return fill_template(
        template_text("bellcrank.codegen/python/runtime", name), replacements, common
    )


def constant_definitions(group: Any) -> str:
    """A part of the table of tuning constants in Python."""
    return "".join(f"{c.name.upper()} = {c.value!r}  # {c.note}\n" for c in constants(group))
