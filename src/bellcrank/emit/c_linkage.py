"""Linkages in C: the Newton iteration of a function given by equations, and look-ups of tables of poses.

In:  an `Implicit`, or arrays of a table. Out: text for the `c` of an external routine, which needs nothing but the head of a program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bellcrank.emit.c import template
from bellcrank.emit.c_printer import CPrinter
from bellcrank.emit.names import identifier
from bellcrank.expr import Expr, Symbol
from bellcrank.program.implicit import Implicit
from bellcrank.program.program import Scheduler

Array = np.ndarray[Any, Any]


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
        template("implicit_solve.c"),
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
    text = template("implicit.c")
    for key, value in _fills(own, f, rows, given, arguments).items():
        text = text.replace(f"@{key}@", value)
    return "\n".join([*parts, text])


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


def _array(name: str, values: Array) -> str:
    rows = values.reshape(len(values), -1)
    body = ",\n".join("    {" + ", ".join(repr(float(x)) for x in row) + "}" for row in rows)
    return f"static const double {name}[{len(rows)}][{rows.shape[1]}] = {{\n{body}}};"


def pieces_source(name: str, low: float, high: float, step: float, coefficients: Array, R: Array, extend: bool) -> str:
    """C of the look-up in a table of one input: `void name(double z, double *values)`, 24 values."""
    own, powers = identifier(name), coefficients.shape[1]
    n = len(R)
    data = np.concatenate([coefficients.reshape(n, -1), R.reshape(n, -1)], axis=1)
    # Horner's rule for value and two derivatives by s
    horner = [f"f[c] = a[6*{powers - 1} + c]; d[c] = e[c] = 0.0;"]
    for k in reversed(range(powers - 1)):
        horner += ["e[c] = e[c]*s + 2.0*d[c];", "d[c] = d[c]*s + f[c];", f"f[c] = f[c]*s + a[6*{k} + c];"]
    body = "\n        ".join(horner)
    outside = (
        "const double inside = z < low ? low : z > high ? high : z, beyond = z - inside;"
        if extend
        else "const double inside = z, beyond = 0.0;"
    )
    guard = (
        ""
        if extend
        else "if (!(z >= low - slack && z <= high + slack)) { for (int k = 0; k < 24; k++) v[k] = NAN; return; }"
    )
    return f"""{template("pose_table.c")}
{_array(own + "_pieces", data)}

static inline void {own}(double z, double *v)
{{
    const double low = {low!r}, high = {high!r}, per = {1.0 / step!r}, slack = {1e-12 * (high - low)!r};
    (void)high; (void)slack;
    {guard}
    {outside}
    const double place = (inside - low)*per;
    const int i = place < 0.0 ? 0 : place < {n}.0 ? (int)place : {n - 1};
    const double s = place - i, *a = {own}_pieces[i];
    double f[6], d[6], e[6], shape[5], w[3];
    for (int c = 0; c < 6; c++) {{
        {body}
        d[c] *= per;
        e[c] *= per*per;
        if (beyond < 0.0 || beyond > 0.0) {{ f[c] += beyond*d[c]; e[c] = 0.0; }}
    }}
    pose_shapes(f[3]*f[3] + f[4]*f[4] + f[5]*f[5], shape);
    for (int k = 0; k < 3; k++) {{
        v[k] = f[k];
        v[12 + k] = d[k];
        v[18 + k] = e[k];
    }}
    pose_turn(a + {6 * powers}, f + 3, shape, v + 3);
    pose_spin(f + 3, d + 3, shape, w);
    pose_apply(a + {6 * powers}, w, v + 15);
    pose_spin_rate(f + 3, d + 3, e + 3, shape, w);
    pose_apply(a + {6 * powers}, w, v + 21);
}}
"""


def cells_source(
    name: str, lows: Sequence[float], highs: Sequence[float], steps: Sequence[float], coefficients: Array
) -> str:
    """C of the look-up in a bicubic table: `void name(double z, double r, double *values)`, 42 values."""
    own = identifier(name)
    nz, nr = coefficients.shape[:2]
    return f"""{template("pose_table.c")}
{_array(own + "_cells", coefficients.reshape(nz * nr, -1))}

static inline void {own}(double z, double r, double *v)
{{
    static const double identity[9] = {{1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};
    const double pz = {1.0 / steps[0]!r}, pr = {1.0 / steps[1]!r};
    const double x = (z - ({lows[0]!r}))*pz, y = (r - ({lows[1]!r}))*pr;
    if (!(x >= -1e-9 && x <= {nz} + 1e-9 && y >= -1e-9 && y <= {nr} + 1e-9)) {{
        for (int k = 0; k < 42; k++)
            v[k] = NAN;
        return;
    }}
    const int i = x < 0.0 ? 0 : x < {nz}.0 ? (int)x : {nz - 1}, j = y < 0.0 ? 0 : y < {nr}.0 ? (int)y : {nr - 1};
    const double s = x - i, t = y - j, *a = {own}_cells[i*{nr} + j];
    double f[6], fz[6], fr[6], zz[6], zr[6], rr[6], shape[5];
    for (int c = 0; c < 6; c++) {{
        double g[4], h[4], m[4]; /* along r: value, slope, second derivative, by power of s */
        for (int k = 0; k < 4; k++) {{
            const double *b = a + 24*k + c;
            g[k] = b[0] + t*(b[6] + t*(b[12] + t*b[18]));
            h[k] = (b[6] + t*(2.0*b[12] + 3.0*t*b[18]))*pr;
            m[k] = (2.0*b[12] + 6.0*t*b[18])*pr*pr;
        }}
        f[c] = g[0] + s*(g[1] + s*(g[2] + s*g[3]));
        fz[c] = (g[1] + s*(2.0*g[2] + 3.0*s*g[3]))*pz;
        zz[c] = (2.0*g[2] + 6.0*s*g[3])*pz*pz;
        fr[c] = h[0] + s*(h[1] + s*(h[2] + s*h[3]));
        zr[c] = (h[1] + s*(2.0*h[2] + 3.0*s*h[3]))*pz;
        rr[c] = m[0] + s*(m[1] + s*(m[2] + s*m[3]));
    }}
    const double *p = f + 3;
    double both[3], sum[3];
    pose_shapes(p[0]*p[0] + p[1]*p[1] + p[2]*p[2], shape);
    pose_turn(identity, p, shape, v + 3);
    pose_spin(p, fz + 3, shape, v + 18);
    pose_spin(p, fr + 3, shape, v + 21);
    pose_spin_rate(p, fz + 3, zz + 3, shape, v + 33);
    pose_spin_rate(p, fr + 3, rr + 3, shape, v + 36);
    for (int k = 0; k < 3; k++) {{
        v[k] = f[k];
        v[12 + k] = fz[k];
        v[15 + k] = fr[k];
        v[24 + k] = zz[k];
        v[27 + k] = rr[k];
        v[30 + k] = zr[k];
        both[k] = fz[3 + k] + fr[3 + k];
        sum[k] = zz[3 + k] + 2.0*zr[3 + k] + rr[3 + k];
    }}
    double w[3];
    pose_spin_rate(p, both, sum, shape, w);
    for (int k = 0; k < 3; k++)
        v[39 + k] = 0.5*(w[k] - v[33 + k] - v[36 + k]);
}}
"""


def poses_source(parts: Sequence[str], calls: Sequence[str], second: bool, width: int) -> str:
    """A C file with `poses(n, z, r, out)`: many poses, `width` numbers for each. `parts` are functions, `calls` statements that
    fill `v` from `z[i]` (and `r[i]`)."""
    loop = [f"        {call}" for call in calls]
    head = "EXPORT void poses(int64_t n, const double *z, const double *r, double *out)"
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
    return "\n".join([template("head.c"), *parts, head, *body, ""])


def values_source(name: str, symbols: Sequence[Symbol], results: Sequence[Expr]) -> str:
    """C of straight-line results over an array of values: `void name(const double *s, double *out)`."""
    names = {x: f"s[{i}]" for i, x in enumerate(symbols)}
    listed = [(f"out[{i}]", e) for i, e in enumerate(results)]
    return "\n".join(_body(f"static void {name}(const double *s, double *out)", listed, names, ["s"]))
