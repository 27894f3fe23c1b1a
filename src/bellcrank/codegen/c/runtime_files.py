"""Files of C that are the same for all models, and the constants they are tuned by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bellcrank.codegen.number_type import NumberType
from bellcrank.core.files.template import fill_template, template_text
from bellcrank.core.numeric.tuning import constants


def fill_runtime_file(
    name: str, common: Mapping[str, str] | None = None, /, **replacements: str
) -> str:
    """A file of the folder `fill_runtime_file`, filled; pieces of `common` may be left over."""
    return fill_template(template_text("bellcrank.codegen/c/runtime", name), replacements, common)


def source_head(number: NumberType, local: bool = False) -> str:
    """What every file begins with; functions of one that is `local` are for the file that includes
    it."""
    return fill_runtime_file("head.c", MATH=number.header, LOCAL="yes" if local else "")


def sincos_source(number: NumberType, table: bool = True) -> str:
    """How sines and cosines are taken together; where vectors are short, by a `table`."""
    return fill_runtime_file(number.sines, {"TABLE": "yes" if table else ""})


def constant_definitions(group: Any, number: NumberType, prefix: str = "") -> str:
    """A part of the table of tuning constants in C."""
    lines = []
    for c in constants(group):
        name, value = prefix + c.name.upper(), c.value_for_rounding(number.relative_epsilon)
        if isinstance(c.value, int):
            text = f"enum {{ {name} = {value} }};"
        else:
            value_text = f"{value!r}{number.suffix}"
            text = (
                f"#define {name} {value_text}" if value >= 0 else f"#define {name} ({value_text})"
            )
        lines.append(f"{text:<31} /* {c.note} */\n")
    return "".join(lines)
