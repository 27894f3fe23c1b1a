"""Tables in C: arrays of numbers, and one small function for each table.

Numbers stand in the text, or they are `data`: the text has room for points, whatever they are, and who loads the
compiled program sets them (`table_numbers`) before anything else is called.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from math import prod

import numpy as np

from bellcrank.emit.c.halves import HALF
from bellcrank.emit.names import comment, identifier
from bellcrank.emit.pieces import table_pieces
from bellcrank.expr.table import Table

SET = ("set_tables", "set_tables_2")  # sets the numbers of a library, or of each half of it


@dataclass(frozen=True)
class TableFunctions:
    """`names` of the functions by table, and their `text`."""

    names: dict[Table, str]
    text: list[str]


@dataclass(frozen=True)
class TableNumbers:
    """Of all tables of a program: how many points each axis has; points and pieces, in the room there is for them."""

    sizes: np.ndarray
    numbers: np.ndarray

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.sizes.tobytes() + self.numbers.tobytes()).hexdigest()


@dataclass(frozen=True)
class _Arrays:
    """How C says how many points the axes of a table have, where these are, and where its pieces are."""

    sizes: list[str]
    points: list[str]
    pieces: str


def table_functions(tables: Sequence[Table], data: bool = False) -> TableFunctions:
    """A function for every table; a table and its derivatives share their arrays."""
    base_tables = [*dict.fromkeys(t.given for t in tables)]
    text = _empty(base_tables) if data and base_tables else []
    arrays = dict(zip(base_tables, _within(base_tables) if data else map(_alone, base_tables, count(1)), strict=True))
    names: dict[Table, str] = {}
    for t in base_tables if not data else ():
        text += _written(t, arrays[t])
    for t in tables:
        names[t] = f"table_{identifier(t.name, [n[6:] for n in names.values()])}"
        text += _function(t, names[t], arrays[t.given])
    return TableFunctions(names, text)


def table_numbers(tables: Sequence[Table]) -> TableNumbers:
    """What a program is given whose tables are data."""
    base_tables = [*dict.fromkeys(t.given for t in tables)]
    numbers, offset = np.zeros(sum(sum(_room(t)) for t in base_tables)), 0
    for t in base_tables:
        for values, capacity in zip((*t.axes, table_pieces(t)), _room(t), strict=True):
            numbers[offset : offset + len(values)] = values
            offset += capacity
    return TableNumbers(np.array([len(a) for t in base_tables for a in t.axes], dtype=np.int64), numbers)


# ---- numbers as data


def _room(t: Table) -> list[int]:
    """How many numbers there is room for: points of each axis, and pieces."""
    return [*t.room, 4 ** len(t.axes) * prod(n - 1 for n in t.room)]


def _within(base_tables: Sequence[Table]) -> list[_Arrays]:
    """Parts of the arrays of all numbers."""
    arrays, size, offset = list[_Arrays](), 0, 0
    for t in base_tables:
        pointers = []
        for capacity in _room(t):
            pointers.append(f"table_numbers + {offset}")
            offset += capacity
        n = len(t.axes)
        arrays.append(_Arrays([f"table_sizes[{size + i}]" for i in range(n)], pointers[:n], pointers[n]))
        size += n
    return arrays


def _empty(base_tables: Sequence[Table]) -> list[str]:
    """Arrays of all numbers, and the function that sets them, in each half of a source."""
    return [
        f"static int64_t table_sizes[{sum(len(t.axes) for t in base_tables)}];",
        f"static real table_numbers[{sum(sum(_room(t)) for t in base_tables)}];",
        "",
        f"#if {HALF} == 2",
        f"#define {SET[0]} {SET[1]}",
        "#endif",
        f"EXPORT void {SET[0]}(const int64_t *sizes, const real *numbers)",
        "{",
        "    memcpy(table_sizes, sizes, sizeof table_sizes);",
        "    memcpy(table_numbers, numbers, sizeof table_numbers);",
        "}",
        "",
    ]


# ---- numbers in the text


def _alone(t: Table, number: int) -> _Arrays:
    """Arrays of a table."""
    points = [f"points_{number}{letter}" for letter in "xy"[: len(t.axes)]]
    return _Arrays([str(len(a)) for a in t.axes], points, f"pieces_{number}")


def _written(t: Table, arrays: _Arrays) -> list[str]:
    lines = [f"/* table {comment(t.name)}: points and {'cubic' if t.order == 3 else 'straight'} pieces */"]
    for name, values in zip((*arrays.points, arrays.pieces), (*t.axes, table_pieces(t)), strict=True):
        lines.append(number_list(name, [*map(float, values)], "real"))
    return [*lines, ""]


def _function(t: Table, name: str, arrays: _Arrays) -> list[str]:
    letters = "xy"[: len(t.axes)]
    axes = [x for pair in zip(arrays.sizes, arrays.points, strict=True) for x in pair]
    evaluator = "spline_value" if len(t.axes) == 1 else "surface_value"
    call = f"{evaluator}({', '.join([*axes, arrays.pieces, *map(str, t.derivative), *letters])})"
    return [
        f"static real {name}({', '.join(f'real {letter}' for letter in letters)})", "{", f"    return {call};", "}", "",
    ]  # fmt: skip


def number_list(name: str, values: Sequence[float], kind: str) -> str:
    """An array of numbers, several to a line."""
    literals = [repr(x).replace("inf", "INFINITY") for x in values]
    rows = [", ".join(literals[i : i + 8]) for i in range(0, len(literals), 8)]
    return f"static const {kind} {name}[{len(values)}] = {{\n    " + ",\n    ".join(rows) + "};"
