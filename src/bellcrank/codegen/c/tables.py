"""Tables in C: arrays of numbers, and one small function for each table.

Numbers stand in the text, or they are `data`: the text has room for points, whatever they are, and
who loads the compiled program sets them (`table_numbers`) before anything else is called.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from math import prod

import numpy as np

from bellcrank.codegen.c.split_source import HALF
from bellcrank.codegen.identifiers import comment_text, safe_identifier
from bellcrank.codegen.table_coefficients import table_coefficients
from bellcrank.symbolic.expr.table import Table

SET = ("set_tables", "set_tables_2")  # sets the numbers of a library, or of each half of it


@dataclass(frozen=True)
class TableFunctions:
    """`names` of the functions by table, and their `text`."""

    names: dict[Table, str]
    text: list[str]


@dataclass(frozen=True)
class TableNumbers:
    """Of all tables of a program: how many points each axis has; points and pieces, in the room
    there is for them."""

    sizes: np.ndarray
    numbers: np.ndarray

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.sizes.tobytes() + self.numbers.tobytes()).hexdigest()


@dataclass(frozen=True)
class _TableArrays:
    """How C says how many points the axes of a table have, where these are, and where its pieces
    are."""

    sizes: list[str]
    points: list[str]
    pieces: str


def table_functions(tables: Sequence[Table], data: bool = False) -> TableFunctions:
    """A function for every table; a table and its derivatives share their arrays."""
    base_tables = [*dict.fromkeys(t.given for t in tables)]
    text = _common_array_declarations(base_tables) if data and base_tables else []
    arrays = dict(
        zip(
            base_tables,
            _slices_of_common_arrays(base_tables)
            if data
            else map(_own_arrays, base_tables, count(1)),
            strict=True,
        )
    )
    names: dict[Table, str] = {}
    for t in base_tables if not data else ():
        text += _table_definition(t, arrays[t])
    for t in tables:
        names[t] = f"table_{safe_identifier(t.name, [n[6:] for n in names.values()])}"
        text += _table_function(t, names[t], arrays[t.given])
    return TableFunctions(names, text)


def table_numbers(tables: Sequence[Table]) -> TableNumbers:
    """What a program is given whose tables are data."""
    base_tables = [*dict.fromkeys(t.given for t in tables)]
    numbers, offset = np.zeros(sum(sum(_capacity(t)) for t in base_tables)), 0
    for t in base_tables:
        for values, capacity in zip((*t.axes, table_coefficients(t)), _capacity(t), strict=True):
            numbers[offset : offset + len(values)] = values
            offset += capacity
    return TableNumbers(
        np.array([len(a) for t in base_tables for a in t.axes], dtype=np.int64), numbers
    )


# ---- numbers as data


def _capacity(t: Table) -> list[int]:
    """How many numbers there is room for: points of each axis, and pieces."""
    return [*t.room, 4 ** len(t.axes) * prod(n - 1 for n in t.room)]


def _slices_of_common_arrays(base_tables: Sequence[Table]) -> list[_TableArrays]:
    """Parts of the arrays of all numbers."""
    arrays, size, offset = list[_TableArrays](), 0, 0
    for t in base_tables:
        pointers = []
        for capacity in _capacity(t):
            pointers.append(f"table_numbers + {offset}")
            offset += capacity
        n = len(t.axes)
        arrays.append(
            _TableArrays([f"table_sizes[{size + i}]" for i in range(n)], pointers[:n], pointers[n])
        )
        size += n
    return arrays


def _common_array_declarations(base_tables: Sequence[Table]) -> list[str]:
    """Arrays of all numbers, and the function that sets them, in each half of a source."""
    return [
        f"static int64_t table_sizes[{sum(len(t.axes) for t in base_tables)}];",
        f"static real table_numbers[{sum(sum(_capacity(t)) for t in base_tables)}];",
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


def _own_arrays(t: Table, number: int) -> _TableArrays:
    """Arrays of a table."""
    points = [f"points_{number}{letter}" for letter in "xy"[: len(t.axes)]]
    return _TableArrays([str(len(a)) for a in t.axes], points, f"pieces_{number}")


def _table_definition(t: Table, arrays: _TableArrays) -> list[str]:
    lines = [
        f"/* table {comment_text(t.name)}: points and "
        f"{'cubic' if t.order == 3 else 'straight'} pieces */"
    ]
    for name, values in zip(
        (*arrays.points, arrays.pieces), (*t.axes, table_coefficients(t)), strict=True
    ):
        lines.append(number_list(name, [*map(float, values)], "real"))
    return [*lines, ""]


def _table_function(t: Table, name: str, arrays: _TableArrays) -> list[str]:
    letters = "xy"[: len(t.axes)]
    axes = [x for pair in zip(arrays.sizes, arrays.points, strict=True) for x in pair]
    evaluator = "spline_value" if len(t.axes) == 1 else "surface_value"
    call = f"{evaluator}({', '.join([*axes, arrays.pieces, *map(str, t.derivative), *letters])})"
    return [
        f"static real {name}({', '.join(f'real {letter}' for letter in letters)})",
        "{",
        f"    return {call};",
        "}",
        "",
    ]


def number_list(name: str, values: Sequence[float], kind: str) -> str:
    """An array of numbers, several to a line."""
    literals = [repr(x).replace("inf", "INFINITY") for x in values]
    rows = [", ".join(literals[i : i + 8]) for i in range(0, len(literals), 8)]
    return f"static const {kind} {name}[{len(values)}] = {{\n    " + ",\n    ".join(rows) + "};"
