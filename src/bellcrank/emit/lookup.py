"""Look-ups (`program.lookup`) in C, Python and Fortran: the cell, the place in it, the values that are wanted.

The routine is `void name(double z[, double r], double *v)` in C, a function that returns all values in Python (those
not wanted are 0), and `subroutine name(z[, r], v)` in Fortran.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bellcrank.emit.c.printer import CPrinter
from bellcrank.emit.fortran.printer import FortranPrinter, wrapped
from bellcrank.emit.names import identifier
from bellcrank.emit.python.source import PythonPrinter
from bellcrank.expr import Expr, Symbol
from bellcrank.program.lookup import Lookup
from bellcrank.program.scheduler import Scheduler
from bellcrank.program.statements import Statement

ARGUMENTS = ("z", "r")
SLACK = 1e-9  # of a cell, by which an argument may lie outside


def lookup_source(language: str, name: str, f: Lookup, wanted: Sequence[int]) -> str:
    """The routine in "c", "python" or "fortran"."""
    return {"c": _c, "python": _python, "fortran": _fortran}[language](identifier(name), f, wanted)


def _planned(values: Sequence[Expr]) -> tuple[list[Statement], list[Expr]]:
    plan = Scheduler(values)
    lowered = [plan.lower(v) for v in values]
    return [*plan.constants, *plan.statements], lowered


def _named(f: Lookup, used: Sequence[int], entry: str, first: int = 0) -> dict[Symbol, str]:
    """Names of the numbers of a cell, and of the place in it."""
    names = {f.numbers[k]: entry.format(i) for i, k in enumerate(used, first)}
    return names | {s: s.name for s in (*f.places, *f.beyond, *f.inside)}


def _c(name: str, f: Lookup, wanted: Sequence[int]) -> str:
    used, values = f.cut(wanted)
    steps, lowered = _planned(values)
    printer = CPrinter(_named(f, used, "a[{}]"), {}, {})
    body = [line for s in steps for line in printer.step(s)]
    given = ARGUMENTS[: len(f.lows)]
    rows = ",\n".join("    {" + ", ".join(repr(float(x)) for x in row) + "}" for row in f.rows[:, used])
    lines = [
        f"static const double {name}_cells[{len(f.rows)}][{max(len(used), 1)}] = {{\n{rows or '    {0.0}'}}};",
        "",
        f"static inline void {name}({', '.join(f'double {x}' for x in given)}, double *v)",
        "{",
    ]
    outside = [
        f"!({x} >= {low - SLACK * step!r} && {x} <= {high + SLACK * step!r})"
        for x, low, high, step in zip(given, f.lows, f.highs, f.steps, strict=True)
    ]
    if not f.beyond:
        lines += [
            f"    if ({' || '.join(outside)}) {{",
            f"        for (int k = 0; k < {len(f.values)}; k++)",
            "            v[k] = NAN;",
            "        return;",
            "    }",
        ]
    index = []
    for k, (x, low, high, step, n) in enumerate(zip(given, f.lows, f.highs, f.steps, f.cells, strict=True)):
        place, own = f.places[k].name, x
        if f.beyond:
            own = f"{x}_in"
            lines.append(f"    const double {own} = {x} < {low!r} ? {low!r} : {x} > {high!r} ? {high!r} : {x};")
            lines.append(f"    const double {f.beyond[k].name} = {x} - {own};")
            lines.append(f"    const double {f.inside[k].name} = {x} < {own} || {x} > {own} ? 0.0 : 1.0;")
        lines.append(f"    const double {x}_from = {own} - ({low!r});")
        lines.append(
            f"    const int {x}_cell = {x}_from > 0.0 ? {x}_from*{1 / step!r} < {n}.0 ? (int)({x}_from*{1 / step!r}) "
            f": {n - 1} : 0;"
        )
        lines.append(f"    const double {place} = {x}_from - {x}_cell*{step!r};")
        index.append(f"{x}_cell")
    where = index[0] if len(index) == 1 else f"{index[0]}*{f.cells[1]} + {index[1]}"
    lines.append(f"    const double *a = {name}_cells[{where}];")
    marks = [s.name for s in (*f.places, *f.beyond, *f.inside)]
    lines.append("    " + " ".join(f"(void){x};" for x in ("a", *marks)))
    lines += [f"    {line}" for line in body]
    lines += [f"    v[{i}] = {printer.expr(e)};" for i, e in zip(wanted, lowered, strict=True)]
    return "\n".join([*lines, "}", ""])


def _python(name: str, f: Lookup, wanted: Sequence[int]) -> str:
    used, values = f.cut(wanted)
    steps, lowered = _planned(values)
    printer = PythonPrinter(_named(f, used, "a[{}]"), ())
    body = [line for s in steps for line in printer.statement(s)]
    given = ARGUMENTS[: len(f.lows)]
    rows = ",\n".join("    (" + ", ".join(repr(float(x)) for x in row) + ",)" for row in f.rows[:, used])
    lines = [f"{name}_cells = (\n{rows},\n)", "", "", f"def {name}({', '.join(given)}):"]
    ends = list(zip(given, f.lows, f.highs, f.steps, f.cells, f.places, strict=True))
    if not f.beyond:
        inside = " and ".join(
            f"{low - SLACK * step!r} <= {x} <= {high + SLACK * step!r}" for x, low, high, step, _, _ in ends
        )
        lines += [f"    if not ({inside}):", f"        return (math.nan,) * {len(f.values)}"]
    for k, (x, low, high, step, n, place) in enumerate(ends):
        own = x
        if f.beyond:
            own = f"{x}_in"
            lines += [
                f"    {own} = min(max({x}, {low!r}), {high!r})",
                f"    {f.beyond[k].name}, {f.inside[k].name} = {x} - {own}, float({x} == {own})",
            ]
        lines += [
            f"    {x}_cell = min(max(int(({own} - {low!r}) * {1 / step!r}), 0), {n - 1})",
            f"    {place.name} = {own} - {low!r} - {x}_cell * {step!r}",
        ]
    where = "z_cell" if len(given) == 1 else f"z_cell * {f.cells[1]} + r_cell"
    lines.append(f"    a = {name}_cells[{where}]")
    lines += [f"    {line}" for line in body]
    shown = {i: printer.expr(e) for i, e in zip(wanted, lowered, strict=True)}
    lines.append(f"    return ({', '.join(shown.get(i, '0.0') for i in range(len(f.values)))},)")
    return "\n".join([*lines, ""])


def _fortran(name: str, f: Lookup, wanted: Sequence[int]) -> str:
    used, values = f.cut(wanted)
    steps, lowered = _planned(values)
    printer = FortranPrinter(_named(f, used, "a({})", 1), {}, {}, {})
    body = [line for s in steps for line in printer.statement(s)]
    results = [
        line for i, e in zip(wanted, lowered, strict=True) for line in wrapped(f"v({i + 1}) = {printer.expr(e)}")
    ]
    given = ARGUMENTS[: len(f.lows)]
    width = max(len(used), 1)
    marks = [s.name for s in (*f.places, *f.beyond, *f.inside)]
    inner = [f"{x}_in" for x in given] if f.beyond else []
    lines = [
        f"  subroutine {name}({', '.join(given)}, v)",
        *([] if f.beyond else ["    use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan"]),
        f"    real(dp), intent(in) :: {', '.join(given)}",
        f"    real(dp), intent(out) :: v({len(f.values)})",
        f"    real(dp) :: a({width}), {', '.join([*marks, *inner])}",
        f"    integer :: i, {', '.join(f'{x}_cell' for x in given)}",
        f"    real(dp), save :: cells({width}, {len(f.rows)})",
    ]
    if printer.declared:
        lines += [f"    {line}" for line in wrapped(f"real(dp) :: {', '.join(dict.fromkeys(printer.declared))}")]
    for k, row in enumerate(f.rows[:, used] if used else np.zeros((len(f.rows), 1)), 1):
        text = f"data (cells(i, {k}), i = 1, {width}) / {', '.join(f'{float(x)!r}_dp' for x in row)}/"
        lines += [f"    {line}" for line in wrapped(text)]
    lines.append("    v = 0.0_dp")
    ends = list(zip(given, f.lows, f.highs, f.steps, f.cells, f.places, strict=True))
    if not f.beyond:
        for x, low, high, step, _, _ in ends:
            lines += [
                f"    if (.not. ({x} >= {low - SLACK * step!r}_dp .and. {x} <= {high + SLACK * step!r}_dp)) then",
                "      v = ieee_value(1.0_dp, ieee_quiet_nan)",
                "      return",
                "    end if",
            ]
    for k, (x, low, high, step, n, place) in enumerate(ends):
        own = x
        if f.beyond:
            own = f"{x}_in"
            lines += [
                f"    {own} = min(max({x}, {low!r}_dp), {high!r}_dp)",
                f"    {f.beyond[k].name} = {x} - {own}",
                f"    {f.inside[k].name} = merge(0.0_dp, 1.0_dp, {x} < {own} .or. {x} > {own})",
            ]
        lines += [
            f"    {x}_cell = min(max(int(({own} - ({low!r}_dp))*{1 / step!r}_dp), 0), {n - 1})",
            f"    {place.name} = {own} - ({low!r}_dp) - {x}_cell*{step!r}_dp",
        ]
    where = "z_cell + 1" if len(given) == 1 else f"z_cell*{f.cells[1]} + r_cell + 1"
    lines.append(f"    a = cells(:, {where})")
    lines += [f"    {line}" for line in [*body, *results]]
    return "\n".join([*lines, f"  end subroutine {name}", ""])
