"""Files of C that are the same for all models, and the constants they are tuned by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bellcrank.emit.number import Number
from bellcrank.files.template import filled, template
from bellcrank.numeric.tuning import constants


def runtime(name: str, common: Mapping[str, str] | None = None, /, **replacements: str) -> str:
    """A file of the folder `runtime`, filled; pieces of `common` may be left over."""
    return filled(template("bellcrank.emit/c/runtime", name), replacements, common)


def head(number: Number, local: bool = False) -> str:
    """What every file begins with; functions of one that is `local` are for the file that includes it."""
    return runtime("head.c", MATH=number.header, LOCAL="yes" if local else "")


def sines(number: Number, table: bool = True) -> str:
    """How sines and cosines are taken together; where vectors are short, by a `table`."""
    return runtime(number.sines, {"TABLE": "yes" if table else ""})


def definitions(group: Any, number: Number, prefix: str = "") -> str:
    """A part of the table of tuning constants in C."""
    lines = []
    for c in constants(group):
        name, value = prefix + c.name.upper(), c.at(number.rounding)
        if isinstance(c.value, int):
            text = f"enum {{ {name} = {value} }};"
        else:
            value_text = f"{value!r}{number.suffix}"
            text = f"#define {name} {value_text}" if value >= 0 else f"#define {name} ({value_text})"
        lines.append(f"{text:<31} /* {c.note} */\n")
    return "".join(lines)
