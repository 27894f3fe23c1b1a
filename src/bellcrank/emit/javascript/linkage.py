"""A function given by equations in JavaScript: `routine(z[, r], values)` stores its values at the address `values`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from bellcrank.emit.javascript.printer import JavaScriptPrinter
from bellcrank.emit.javascript.runtime_files import ROUTINE, real, runtime
from bellcrank.emit.javascript.tables import number_rows
from bellcrank.emit.linkage import Wording, implicit_names, implicit_pieces
from bellcrank.emit.straight import straight_lines
from bellcrank.expr import Expr
from bellcrank.program.implicit import Implicit

_START = re.compile(rf"const {ROUTINE}_start = \[\n(.*?)\n\];", re.DOTALL)

_SAY = Wording(
    first=0,
    real=real,
    state="s[{}]",
    rates="y[{}][{}]",
    solved="g[{}]",
    add="s[{}] += {};",
    turn="implicit_turn(s, {}, {});",
    hold="s[{}] = {} + {}*{};",
    first_rate="y[j][{}] = g[{}];",
    known="if (j === {}) y[j][{}] = {};",
    second_rate="m[out + {}] = g[{}];",
    second="""s[k] += r*(v*from[3*n + k] + t*to[3*n + k] + r/2*(v*from[4*n + k] + t*to[4*n + k]
  + r/3*(v*from[5*n + k] + t*to[5*n + k])));""",
)


def javascript_implicit(f: Implicit) -> str:
    """The routine and those it calls."""
    pieces = implicit_pieces(ROUTINE, f, _SAY)

    def function(kind: str, rows: Sequence[Sequence[Expr]], extra: str = "") -> str:
        lines, shown = straight_lines(JavaScriptPrinter(implicit_names(f, _SAY)), [e for row in rows for e in row])
        left = iter(shown)
        lists = [f"    [{', '.join(next(left) for _ in row)}]," for row in rows]
        head = f"function {pieces['NAME']}_{kind}(s, {pieces['GIVEN']}{extra}) {{"
        return "\n".join([head, *(f"  {line}" for line in lines), "  return [", *lists, "  ];", "}"])

    return runtime(
        "implicit.js",
        pieces,
        START=number_rows(f.start),
        EQUATIONS=function("rows", [[-e for e in f.residual], *f.slopes]),
        BY_INPUT=function("by_input", f.by_input),
        BIAS=function("bias", f.bias, ", y"),
    )


def starts_beside(texts: Sequence[str]) -> tuple[str, list[str]]:
    """The starts of several routines, row beside row, and the texts that take them from there.

    Suspensions of the left and the right have the same digits: side by side, a packed page holds them once.
    """
    tables = [found[1].split(",\n") if (found := _START.search(text)) else [] for text in texts]
    rows = ",\n".join(f"[{','.join(x.strip() for x in row)}]" for row in zip_longest(*tables, fillvalue="null"))
    taken = [
        _START.sub(f"const {ROUTINE}_start = starts.map(x => x[{k}]).filter(Boolean);", text)
        for k, text in enumerate(texts)
    ]
    return f"const starts = [\n{rows}\n];" if rows else "", taken
