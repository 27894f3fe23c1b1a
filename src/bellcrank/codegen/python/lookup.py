"""Look-ups in Python: `name(z[, r])` returns all values."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.codegen.lookup import LookupSyntax, lookup_filling
from bellcrank.codegen.python.printer import PythonPrinter
from bellcrank.codegen.python.runtime_files import fill_runtime_file
from bellcrank.codegen.python.tables import number_rows
from bellcrank.program.grid_lookup import GridLookup

_SAY = LookupSyntax(
    entry="{}[{}]",
    first=0,
    real=repr,
    within="{least} <= {x} <= {most}",
    both=" and ",
    beyond="{own} = min(max({x}, {low}), {high})\n{excess}, {inside} = {x} - {own}, float({x} == "
    "{own})",
    cell="{x}_cell = min(max(int(({own} - {low}) * {per}), 0), {last})\n{place} = {own} - {low} "
    "- {x}_cell * {step}",
    printer=PythonPrinter,
)


def python_lookup(name: str, f: GridLookup, value_indices: Sequence[int]) -> str:
    """The routine; values that are not wanted are 0."""
    filling = lookup_filling(name, f, value_indices, _SAY)
    return fill_runtime_file(
        "lookup.py.in",
        filling.pieces,
        CELLS=number_rows(filling.rows),
        OUTSIDE="" if f.beyond else fill_runtime_file("lookup_outside.py.in", filling.pieces),
        RESULTS="".join(f"{filling.shown.get(i, '0.0')}, " for i in range(len(f.values))).rstrip(),
    )
