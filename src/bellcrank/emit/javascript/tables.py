"""Tables in JavaScript: one function for each; tables over the same points share their arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bellcrank.emit.javascript.runtime_files import real
from bellcrank.emit.pieces import table_pieces
from bellcrank.expr.table import Table


def table_functions(tables: Sequence[Table], names: Mapping[Any, str]) -> list[str]:
    """Lines that define the functions."""
    lines: list[str] = []
    arrays: dict[tuple[Any, ...], int] = {}
    for t in tables:
        key = (t.axes, t.values, t.order)
        if key not in arrays:
            k = arrays[key] = len(arrays)
            held = {f"{letter}_{k}": list(axis) for letter, axis in zip("xy", t.axes, strict=False)}
            held[f"pieces_{k}"] = table_pieces(t)
            lines += [f"const {name} = {numbers(values)};" for name, values in held.items()]
        k, letters = arrays[key], "xy"[: len(t.axes)]
        called = ("spline_value", "surface_value")[len(t.axes) - 1]
        given = ", ".join([*(f"{letter}_{k}" for letter in letters), f"pieces_{k}", *map(str, t.derivative), *letters])
        lines.append(f"const {names[t]} = ({', '.join(letters)}) => {called}({given});")
    return lines


def numbers(values: Iterable[float]) -> str:
    """An array of numbers."""
    return f"[{','.join(map(real, values))}]"


def number_rows(rows: Iterable[Iterable[float]]) -> str:
    """An array of rows of numbers, several to a line."""
    return ",\n".join(map(numbers, rows))
