"""Look-ups in Fortran: `subroutine name(z[, r], v)`."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.codegen.fortran.line_wrapping import wrap_statement
from bellcrank.codegen.fortran.printer import FortranPrinter
from bellcrank.codegen.fortran.runtime_files import fill_runtime_file, real_literal
from bellcrank.codegen.fortran.tables import number_rows
from bellcrank.codegen.lookup import LookupSyntax, lookup_filling
from bellcrank.program.grid_lookup import GridLookup

_SAY = LookupSyntax(
    entry="{}({})",
    first=1,
    real=real_literal,
    within="{x} >= {least} .and. {x} <= {most}",
    both=" .and. &\n  ",
    beyond="{own} = min(max({x}, {low}), {high})\n"
    "{excess} = {x} - {own}\n"
    "{inside} = merge(0.0_dp, 1.0_dp, {x} < {own} .or. {x} > {own})",
    cell="{x}_cell = min(max(int(({own} - ({low}))*{per}), 0), {last})\n{place} = {own} - "
    "({low}) - {x}_cell*{step}",
    printer=FortranPrinter,
)


def fortran_lookup(name: str, f: GridLookup, value_indices: Sequence[int]) -> str:
    """The routine; values that are not wanted are 0."""
    filling = lookup_filling(name, f, value_indices, _SAY)
    argument_names = filling.pieces["GIVEN"].split(", ")
    results = [
        line for i, text in filling.shown.items() for line in wrap_statement(f"v({i + 1}) = {text}")
    ]
    return fill_runtime_file(
        "lookup.f90",
        filling.pieces,
        WIDTH=str(filling.rows.shape[1]),
        REALS=", ".join(
            [*filling.marks, *([f"{x}_in" for x in argument_names] if f.beyond else [])]
        ),
        INTEGERS=", ".join(f"{x}_cell" for x in argument_names),
        CELLS="\n".join(number_rows("cells", filling.rows)),
        DECLARED="\n".join(filling.printer.declarations()),
        OUTSIDE="" if f.beyond else fill_runtime_file("lookup_outside.f90", filling.pieces),
        RESULTS="\n".join(results),
    )
