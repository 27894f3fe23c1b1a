"""Linkages in C: the Newton iteration of a function given by equations.

In:  an `Implicit`. Out: text for the `c` of an external routine, which needs nothing but the head of a program.
"""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.emit.c.printer import CPrinter
from bellcrank.emit.c.runtime_files import head, runtime
from bellcrank.emit.names import identifier
from bellcrank.emit.number import DOUBLE
from bellcrank.expr import Expr, Symbol
from bellcrank.numeric.tuning import IMPLICIT
from bellcrank.program.implicit import Implicit
from bellcrank.program.scheduler import Scheduler


def implicit_source(name: str, function: Implicit) -> str:
    """C of a function given by equations, `void name(double z[, double r], double *values)`."""
    f, own = function, identifier(name)
    n, rows = len(f.inputs), len(f.residual)
    given = ", ".join(s.name for s in f.inputs)
    arguments = ", ".join(f"double {s.name}" for s in f.inputs)
    start = [
        [*a, *b, *c] for a, b, c in zip(f.start, f.start_slope, f.start_second or [()] * len(f.start), strict=True)
    ]
    width = len(start[0])
    names: dict[Symbol, str] = {s: f"s[{i}]" for i, s in enumerate(f.state)}
    names |= {s: s.name for s in f.inputs}
    names |= {s: f"y{j}[{k}]" for j, group in enumerate(f.rates) for k, s in enumerate(group)}
    rates = ", ".join(f"const double *y{j}" for j in range(n))
    parts = [
        runtime("implicit_solve.c", SMALL=repr(IMPLICIT.small)),
        f"static const double {own}_start[{len(start)}][{width}] = {{",
        *(f"    {{{', '.join(repr(float(x)) for x in row)}}}," for row in start),
        "};",
        *_body(
            f"static void {own}_rows(const double *s, {arguments}, double *g, double *J)",
            [*((f"g[{i}]", -e) for i, e in enumerate(f.residual)),
             *((f"J[{i * rows + j}]", e) for i, row in enumerate(f.slopes) for j, e in enumerate(row))],
            names, ["s", *given.split(", ")],
        ),
        *_by_input(own, f, arguments, names, given),
        *_body(
            f"static void {own}_bias(const double *s, {arguments}, {rates}, double *g)",
            [(f"g[{j * rows + i}]", e) for j, pair in enumerate(f.bias) for i, e in enumerate(pair)],
            names, ["s", *given.split(", "), *(f"y{j}" for j in range(n))],
        ),
    ]  # fmt: skip
    return "\n".join([*parts, runtime("implicit.c", **_fills(own, f, rows, given, arguments))])


def _fills(own: str, f: Implicit, rows: int, given: str, arguments: str) -> dict[str, str]:
    place = {u: i for i, u in enumerate(f.free)}
    per = (len(f.start) - 1) / (f.high - f.low)

    def change(u: int) -> str:
        return f"g[{place[u]}]" if u in place else "0.0"

    updates, normal = [], []
    for u in f.updates:
        if u.kind == "turn":
            updates.append(
                f"implicit_turn(s + {u.place}, {change(u.unknown)}, {change(u.unknown + 1)}, {change(u.unknown + 2)});"
            )
            normal.append(f"implicit_turn(s + {u.place}, 0.0, 0.0, 0.0);")
        elif u.unknown in place:
            updates.append(f"s[{u.place}] += {change(u.unknown)};")
    inputs = given.split(", ")
    held = [f"s[{p.place}] = {p.drawn!r} + {p.sign!r}*{inputs[p.given]};" for p in f.prescribed]
    first = [f"y[j][{u}] = g[{i}];" for u, i in place.items()]
    first += [f"if (j == {p.given}) y[j][{p.unknown}] = {p.sign!r};" for p in f.prescribed]
    return {
        "TURNS": str(IMPLICIT.turns),
        "SETTLED": repr(IMPLICIT.settled),
        "NAME": own,
        "ID": own,
        "ARGUMENTS": arguments,
        "INPUTS_LIST": given,
        "RATES_LIST": ", ".join(f"y[{j}]" for j in range(len(inputs))),
        "SIZE": str(len(f.state)),
        "ROWS": str(rows),
        "UNKNOWNS": str(f.unknowns),
        "INPUTS": str(len(inputs)),
        "PAIRS": str(f.pairs),
        "VALUES": str(f.values),
        "LOW": repr(f.low),
        "PER": repr(per),
        "LAST": str(len(f.start) - 1),
        "SECOND": f" + r*(from[{2 * len(f.state)} + k]*(1.0 - t) + to[{2 * len(f.state)} + k]*t)"
        if f.start_second
        else "",
        "PRESCRIBED": "\n        ".join(held),
        "NORMAL": "\n        ".join(normal),
        "UPDATES": "\n            ".join(updates),
        "FIRST": "\n        ".join(first),
        "SCATTER": "\n        ".join(f"out[{u}] = right[j*{rows} + {i}];" for u, i in place.items()),
    }


def _by_input(own: str, f: Implicit, arguments: str, names: dict[Symbol, str], given: str) -> list[str]:
    lines = [f"static void {own}_by_input(const double *s, {arguments}, int j, double *g)", "{"]
    used = ["s", *given.split(", ")]
    lines.append("    " + " ".join(f"(void){u};" for u in used))
    for j, right in enumerate(f.by_input):
        lines.append(f"    if (j == {j}) {{")
        lines += [f"        {line}" for line in _statements([(f"g[{i}]", e) for i, e in enumerate(right)], names)]
        lines += ["        return;", "    }"]
    return [*lines, "}", ""]


def _body(head: str, results: Sequence[tuple[str, Expr]], names: dict[Symbol, str], used: Sequence[str]) -> list[str]:
    silent = " ".join(f"(void){u};" for u in used)
    return [head, "{", f"    {silent}", *(f"    {line}" for line in _statements(results, names)), "}", ""]


def _statements(results: Sequence[tuple[str, Expr]], names: dict[Symbol, str]) -> list[str]:
    """Straight-line code of some results, shared parts named once."""
    plan = Scheduler([e for _, e in results])
    lowered = [plan.lower(e) for _, e in results]
    printer = CPrinter(dict(names), {}, {})
    lines = [line for s in [*plan.constants, *plan.statements] for line in printer.step(s)]
    return [*lines, *(f"{target} = {printer.expr(e)};" for (target, _), e in zip(results, lowered, strict=True))]


def poses_source(parts: Sequence[str], calls: Sequence[str], second: bool, width: int) -> str:
    """A C file with `poses(n, z, r, out)`: many poses, `width` numbers for each. `parts` are functions, `calls` statements that
    fill `v` from `z[i]` (and `r[i]`)."""
    loop = [f"        {call}" for call in calls]
    signature = "EXPORT void poses(int64_t n, const double *z, const double *r, double *out)"
    silent = [] if second else ["    (void)r;"]
    body = [
        "{",
        *silent,
        "    for (int64_t i = 0; i < n; i++) {",
        f"        double *v = out + {width}*i;",
        *loop,
        "    }",
        "}",
    ]
    return "\n".join([head(DOUBLE), *parts, signature, *body, ""])


def values_source(name: str, symbols: Sequence[Symbol], results: Sequence[Expr]) -> str:
    """C of straight-line results over an array of values: `void name(const double *s, double *out)`."""
    names = {x: f"s[{i}]" for i, x in enumerate(symbols)}
    listed = [(f"out[{i}]", e) for i, e in enumerate(results)]
    return "\n".join(_body(f"static void {name}(const double *s, double *out)", listed, names, ["s"]))
