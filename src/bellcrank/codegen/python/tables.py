"""Tables in Python: what makes one of its numbers; arrays of numbers."""

from __future__ import annotations

from collections.abc import Iterable

from bellcrank.codegen.table_coefficients import table_coefficients
from bellcrank.symbolic.expr.table import Table


def table_function(t: Table) -> str:
    """A table as a function with its points and pieces (`runtime/spline.py`,
    `runtime/surface.py`)."""
    axes = ", ".join(repr(list(a)) for a in t.axes)
    kind = "Spline" if len(t.axes) == 1 else "Surface"
    return f"{kind}({axes}, {table_coefficients(t)!r}, {', '.join(map(str, t.derivative))})"


def number_rows(rows: Iterable[Iterable[float]]) -> str:
    """Entries of a tuple of rows of numbers."""
    return "\n".join(f"({', '.join(repr(float(x)) for x in row)},)," for row in rows)
