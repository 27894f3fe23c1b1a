"""Tables in Fortran: one function for each, with its numbers; arrays of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bellcrank.codegen.fortran.line_wrapping import wrap_statement
from bellcrank.codegen.fortran.runtime_files import real_literal
from bellcrank.codegen.identifiers import comment_text
from bellcrank.codegen.table_coefficients import table_coefficients
from bellcrank.symbolic.expr.table import Table


def table_function(name: str, t: Table) -> str:
    """A table as a function with its points and pieces."""
    letters = "xy"[: len(t.axes)]
    lines = [
        f"  ! table {comment_text(t.name)}: {'cubic' if t.order == 3 else 'straight'} pieces",
        f"  function {name}({', '.join(letters)}) result(value)",
        f"    real(dp), intent(in) :: {', '.join(letters)}",
        "    real(dp) :: value",
        "    integer :: i",
    ]
    arrays = {f"points_{letter}": list(axis) for letter, axis in zip(letters, t.axes, strict=True)}
    arrays["pieces"] = table_coefficients(t)
    for array, values in arrays.items():
        lines += _constant_array(array, values)
    if len(t.axes) == 1:
        call = f"spline_value(points_x, pieces, {t.derivative[0]}, x)"
    else:
        call = (
            f"surface_value(points_x, points_y, pieces, {t.derivative[0]}, {t.derivative[1]}, x, y)"
        )
    lines += [f"    value = {call}", f"  end function {name}", ""]
    if not any("(i)" in line or "i = 1" in line for line in lines):
        lines.remove("    integer :: i")
    return "\n".join(lines)


def _constant_array(name: str, values: Sequence[float]) -> list[str]:
    """A constant array; one that is longer than a statement may be is filled by DATA statements."""
    if len(values) <= 400:
        return [
            f"    real(dp), parameter :: {name}({len(values)}) = [ &",
            f"    {wrapped_fortran_numbers(values)}]",
        ]
    lines = [f"    real(dp), save :: {name}({len(values)})"]
    for start in range(0, len(values), 400):
        part = values[start : start + 400]
        lines.append(
            f"    data ({name}(i), i = {start + 1}, {start + len(part)}) / &\n    "
            f"{wrapped_fortran_numbers(part)}/"
        )
    return lines


def number_rows(name: str, rows: Iterable[Sequence[float]]) -> list[str]:
    """An array whose columns are rows of numbers; it uses an integer i."""
    lines = []
    for k, row in enumerate(rows, 1):
        lines += wrap_statement(
            f"data ({name}(i, {k}), i = 1, {len(row)}) / {', '.join(map(real_literal, row))}/"
        )
    return [f"real(dp), save :: {name}({len(row)}, {k})", *lines]


def wrapped_fortran_numbers(values: Sequence[float]) -> str:
    """Numbers of an array, several to a line."""
    literals = [real_literal(v) for v in values]
    rows = [", ".join(literals[i : i + 4]) for i in range(0, len(literals), 4)]
    return ", &\n    ".join(rows)
