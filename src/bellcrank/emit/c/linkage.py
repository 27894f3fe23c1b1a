"""A function given by equations in C: `void name(double z[, double r], double *values)`, for the `c` of an external
routine, which needs nothing but the head of a program; and files with many poses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bellcrank.emit.c.printer import CPrinter
from bellcrank.emit.c.runtime_files import head, runtime
from bellcrank.emit.c.tables import number_rows
from bellcrank.emit.linkage import Wording, implicit_names, implicit_pieces
from bellcrank.emit.number import DOUBLE
from bellcrank.emit.straight import straight_lines
from bellcrank.expr import Expr, Symbol
from bellcrank.numeric.tuning import IMPLICIT
from bellcrank.program.implicit import Implicit

_SAY = Wording(
    first=0,
    real=repr,
    state="s[{}]",
    rates="y{}[{}]",
    solved="g[{}]",
    add="s[{}] += {};",
    turn="implicit_turn(s + {}, {});",
    normal="implicit_normal(s + {});",
    hold="s[{}] = {} + {}*{};",
    first_rate="y[j][{}] = g[{}];",
    known="if (j == {}) y[j][{}] = {};",
    second_rate="out[{}] = solved[{}];",
    second="""s[k] += r*(v*from[3*n + k] + t*to[3*n + k] + r/2.0*(v*from[4*n + k] + t*to[4*n + k]
    + r/3.0*(v*from[5*n + k] + t*to[5*n + k])));""",
)


def c_implicit(name: str, f: Implicit) -> str:
    """The routine and those it calls."""
    pieces = implicit_pieces(name, f, _SAY)
    own, rows, names = pieces["NAME"], len(f.residual), implicit_names(f, _SAY)
    given = pieces["GIVEN"].split(", ")
    taken = f"const double *s, {', '.join(f'double {x}' for x in given)}"
    rates = [f"y{j}" for j in range(len(given))]
    silent = _silent("s", *given)
    equations = {f"g[{i}]": -e for i, e in enumerate(f.residual)}
    equations |= {f"J[{i * rows + j}]": e for i, row in enumerate(f.slopes) for j, e in enumerate(row)}
    by_input = [silent]
    for j, right in enumerate(f.by_input):
        inner = [*_statements({f"g[{i}]": e for i, e in enumerate(right)}, names), "return;"]
        by_input += [f"if (j == {j}) {{", *(f"    {line}" for line in inner), "}"]
    bias = {f"g[{j * rows + i}]": e for j, pair in enumerate(f.bias) for i, e in enumerate(pair)}
    listed = ", ".join(f"const double *{y}" for y in rates)
    return runtime(
        "implicit.c",
        pieces,
        SOLVE=runtime("implicit_solve.c", SMALL=repr(IMPLICIT.small)),
        START=number_rows(f"{own}_start", f.start),
        EQUATIONS=_function(f"{own}_rows({taken}, double *g, double *J)", [silent, *_statements(equations, names)]),
        BY_INPUT=_function(f"{own}_by_input({taken}, int j, double *g)", by_input),
        BIAS=_function(
            f"{own}_bias({taken}, {listed}, double *g)", [_silent("s", *given, *rates), *_statements(bias, names)]
        ),
        ARGUMENTS=", ".join(f"double {x}" for x in given),
        RATES=", ".join(f"y[{j}]" for j in range(len(given))),
    )


def _function(head: str, lines: Sequence[str]) -> str:
    return "\n".join([f"static void {head}", "{", *(f"    {line}" for line in lines), "}", ""])


def _silent(*names: str) -> str:
    return " ".join(f"(void){x};" for x in names)


def _statements(results: Mapping[str, Expr], names: Mapping[Symbol, str]) -> list[str]:
    lines, shown = straight_lines(CPrinter(names, {}, {}), list(results.values()))
    return [*lines, *(f"{target} = {text};" for target, text in zip(results, shown, strict=True))]


def poses_source(parts: Sequence[str], calls: Sequence[str], second: bool, width: int) -> str:
    """A C file with `poses(n, z, r, out)`: many poses, `width` numbers for each. `parts` are functions, `calls`
    statements that fill `v` from `z[i]` (and `r[i]`)."""
    return runtime(
        "poses.c",
        HEAD=head(DOUBLE),
        PARTS="\n".join(parts),
        UNUSED="" if second else "(void)r;",
        WIDTH=str(width),
        CALLS="\n".join(calls),
    )


def values_source(name: str, symbols: Sequence[Symbol], results: Sequence[Expr]) -> str:
    """C of straight-line results over an array of values: `void name(const double *s, double *out)`."""
    names = {x: f"s[{i}]" for i, x in enumerate(symbols)}
    lines = _statements({f"out[{i}]": e for i, e in enumerate(results)}, names)
    return _function(f"{name}(const double *s, double *out)", [_silent("s"), *lines])
