"""Tables in C: static arrays and one small function for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.emit.names import comment, identifier
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
    pieces = spline_pieces(t) if len(t.axes) == 1 else surface_pieces(t)
    return [*lines, _array(f"pieces_{number}", pieces.ravel().tolist()), ""]


def _array(name: str, values: Sequence[float]) -> str:
    rows = [", ".join(repr(float(v)) for v in values[i : i + 8]) for i in range(0, len(values), 8)]
    return f"static const real {name}[{len(values)}] = {{\n    " + ",\n    ".join(rows) + "};"


def _function(t: Table, name: str, number: int) -> list[str]:
    if len(t.axes) == 1:
        call = f"spline_value({len(t.axes[0])}, points_{number}x, pieces_{number}, {t.derivative[0]}, x)"
        return [f"static real {name}(real x)", "{", f"    return {call};", "}", ""]
    (nx, ny), (dx, dy) = (len(a) for a in t.axes), t.derivative
    call = f"surface_value({nx}, points_{number}x, {ny}, points_{number}y, pieces_{number}, {dx}, {dy}, x, y)"
    return [f"static real {name}(real x, real y)", "{", f"    return {call};", "}", ""]


def spline_pieces(t: Table) -> np.ndarray:
    """Coefficients of the cubic pieces of a table of one argument, lowest power first: (pieces, 4)."""
    c = t._spline_1.c  # highest power first: (powers, pieces)
    pieces = np.zeros((c.shape[1], 4))
    pieces[:, : c.shape[0]] = c[::-1].T
    return pieces


def surface_pieces(t: Table) -> np.ndarray:
    """Coefficients of the bicubic pieces of a table of two arguments over cells of unit size: (cells x, cells y, 4, 4)."""
    n = t.order + 1
    nodes = np.linspace(0.0, 1.0, n)
    inverse = np.linalg.inv(np.vander(nodes, increasing=True))
    x, y = (np.array(a) for a in t.axes)
    points_x, points_y = (a[:-1, None] + np.diff(a)[:, None] * nodes for a in (x, y))
    original = Table(t.name, t.axes, t.values, t.order, (0, 0))
    values = original._spline_2(points_x.ravel(), points_y.ravel(), grid=True)
    values = values.reshape(len(x) - 1, n, len(y) - 1, n)
    pieces = np.zeros((len(x) - 1, len(y) - 1, 4, 4))
    pieces[:, :, :n, :n] = np.einsum("ai,xiyj,bj->xyab", inverse, values, inverse)
    return pieces
