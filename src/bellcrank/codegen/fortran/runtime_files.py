"""Files of Fortran that are the same for all models; numbers as literals."""

from __future__ import annotations

from collections.abc import Mapping

from bellcrank.core.files.template import fill_template, template_text


def fill_runtime_file(
    name: str, common: Mapping[str, str] | None = None, /, **replacements: str
) -> str:
    """A file of the folder `fill_runtime_file`, filled; pieces of `common` may be left over."""
    return fill_template(
        template_text("bellcrank.codegen/fortran/runtime", name), replacements, common
    )


def real_literal(value: float) -> str:
    """A number as a literal."""
    return f"{float(value)!r}_dp"
