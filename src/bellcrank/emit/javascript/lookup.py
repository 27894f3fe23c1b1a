"""Look-ups in JavaScript: `routine(z[, r], v)` stores its values at the address v."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.emit.javascript.printer import JavaScriptPrinter
from bellcrank.emit.javascript.runtime_files import ROUTINE, real, runtime
from bellcrank.emit.javascript.tables import number_rows
from bellcrank.emit.lookup import Wording, lookup_filling
from bellcrank.program.lookup import Lookup

_SAY = Wording(
    entry="{}[{}]",
    first=0,
    real=real,
    within="{x} >= {least} && {x} <= {most}",
    both=" && ",
    beyond="const {own} = {x} < {low} ? {low} : {x} > {high} ? {high} : {x};\n"
    "const {beyond} = {x} - {own}, {inside} = {x} < {own} || {x} > {own} ? 0 : 1;",
    cell="const {x}_from = {own} - {low}, {x}_cell = Math.min(Math.max(Math.trunc({x}_from*{per}) || 0, 0), {last});\n"
    "const {place} = {x}_from - {x}_cell*{step};",
    printer=JavaScriptPrinter,
)


def javascript_lookup(f: Lookup, wanted: Sequence[int]) -> str:
    """The routine, which sets those of the values that are wanted."""
    filling = lookup_filling(ROUTINE, f, wanted, _SAY)
    return runtime(
        "lookup.js",
        filling.pieces,
        CELLS=number_rows(filling.rows),
        OUTSIDE="" if f.beyond else runtime("lookup_outside.js", filling.pieces),
        RESULTS="\n".join(f"m[v + {i}] = {text};" for i, text in filling.shown.items()),
    )
