"""Tables in C: static arrays and one small function for each; arrays of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bellcrank.emit.names import comment, identifier
from bellcrank.emit.pieces import table_pieces
from bellcrank.expr.table import Table


@dataclass(frozen=True)
class TableFunctions:
    """`names` of the functions by table, and their `text`."""

    names: dict[Table, str]
    text: list[str]


def table_functions(tables: Sequence[Table]) -> TableFunctions:
    """A function for every table; tables over the same points share their arrays."""
    names: dict[Table, str] = {}
    text: list[str] = []
    arrays: dict[tuple[Any, ...], int] = {}
    for t in tables:
        key = (t.axes, t.values, t.order)
        if key not in arrays:
            arrays[key] = len(arrays) + 1
            text += _arrays(t, arrays[key])
        number = arrays[key]
        names[t] = f"table_{identifier(t.name, [n[6:] for n in names.values()])}"
        text += _function(t, names[t], number)
    return TableFunctions(names, text)


def _arrays(t: Table, number: int) -> list[str]:
    lines = [f"/* table {comment(t.name)}: points and {'cubic' if t.order == 3 else 'straight'} pieces */"]
    letters = "xy"[: len(t.axes)]
    for letter, axis in zip(letters, t.axes, strict=True):
        lines.append(_array(f"points_{number}{letter}", axis))
    return [*lines, _array(f"pieces_{number}", table_pieces(t)), ""]


def _array(name: str, values: Sequence[float]) -> str:
    return number_list(name, [*map(float, values)], "real")


def _function(t: Table, name: str, number: int) -> list[str]:
    if len(t.axes) == 1:
        call = f"spline_value({len(t.axes[0])}, points_{number}x, pieces_{number}, {t.derivative[0]}, x)"
        return [f"static real {name}(real x)", "{", f"    return {call};", "}", ""]
    (nx, ny), (dx, dy) = (len(a) for a in t.axes), t.derivative
    call = f"surface_value({nx}, points_{number}x, {ny}, points_{number}y, pieces_{number}, {dx}, {dy}, x, y)"
    return [f"static real {name}(real x, real y)", "{", f"    return {call};", "}", ""]


def number_list(name: str, values: Sequence[float], kind: str) -> str:
    """An array of numbers, several to a line."""
    shown = [repr(x).replace("inf", "INFINITY") for x in values]
    rows = [", ".join(shown[i : i + 8]) for i in range(0, len(shown), 8)]
    return f"static const {kind} {name}[{len(values)}] = {{\n    " + ",\n    ".join(rows) + "};"
