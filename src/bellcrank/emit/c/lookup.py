"""Look-ups in C: `void name(double z[, double r], double *v)`."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.emit.c.printer import CPrinter
from bellcrank.emit.c.runtime_files import runtime
from bellcrank.emit.c.tables import number_rows
from bellcrank.emit.lookup import Wording, lookup_filling
from bellcrank.program.lookup import Lookup

WORDING = Wording(
    entry="{}[{}]",
    first=0,
    real=repr,
    within="{x} >= {least} && {x} <= {most}",
    both=" && ",
    beyond="const double {own} = {x} < {low} ? {low} : {x} > {high} ? {high} : {x};\n"
    "const double {beyond} = {x} - {own};\n"
    "const double {inside} = {x} < {own} || {x} > {own} ? 0.0 : 1.0;",
    cell="const double {x}_from = {own} - ({low});\n"
    "const int {x}_cell = {x}_from > 0.0 ? {x}_from*{per} < {cells}.0 ? (int)({x}_from*{per}) : {last} : 0;\n"
    "const double {place} = {x}_from - {x}_cell*{step};",
    printer=lambda names: CPrinter(names, {}, {}),
)


def c_lookup(name: str, f: Lookup, wanted: Sequence[int]) -> str:
    """The routine, which sets those of the values that are wanted."""
    filling = lookup_filling(name, f, wanted, WORDING)
    return runtime(
        "lookup.c",
        filling.pieces,
        CELLS=number_rows(f"{filling.pieces['NAME']}_cells", filling.rows),
        ARGUMENTS=", ".join(f"double {x}" for x in filling.pieces["GIVEN"].split(", ")),
        OUTSIDE="" if f.beyond else runtime("lookup_outside.c", filling.pieces),
        UNUSED=" ".join(f"(void){x};" for x in ("a", *filling.marks)),
        RESULTS="\n".join(f"v[{i}] = {text};" for i, text in filling.shown.items()),
    )
