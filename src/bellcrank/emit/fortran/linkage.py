"""A function given by equations in Fortran: `subroutine name(z[, r], values)`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bellcrank.emit.fortran.lines import wrapped
from bellcrank.emit.fortran.printer import FortranPrinter
from bellcrank.emit.fortran.runtime_files import real, runtime
from bellcrank.emit.fortran.tables import number_rows
from bellcrank.emit.linkage import Wording, implicit_names, implicit_pieces
from bellcrank.emit.straight import straight_lines
from bellcrank.expr import Expr
from bellcrank.program.implicit import Implicit

_SAY = Wording(
    first=1,
    real=real,
    state="s({})",
    rates="y({1}, {0})",
    solved="g({})",
    add="s({0}) = s({0}) + {1}",
    turn="call implicit_turn(s({0}:{0} + 3), {1})",
    hold="s({}) = {} + ({})*{}",
    first_rate="y({}, j) = g({})",
    known="if (j == {}) y({}, j) = {}",
    second_rate="values(k + {}) = g({})",
    second="""more = v*start(3*n + 1:6*n, i) + t*start(3*n + 1:6*n, i + 1)
s = s + r*(more(:n) + r/2*(more(n + 1:2*n) + r/3*more(2*n + 1:)))""",
)


def fortran_implicit(name: str, f: Implicit) -> str:
    """The routine and those it calls."""
    fields = implicit_pieces(name, f, _SAY)
    base_name, rows = fields["NAME"], len(f.residual)
    names = implicit_names(f, _SAY)
    inputs = {"s": f"({len(f.state)})"} | {s.name: "" for s in f.inputs}

    def routine(kind: str, returned: dict[str, str], results: dict[str, Expr], **extra_inputs: str) -> str:
        printer = FortranPrinter(names)
        lines, value_texts = straight_lines(printer, list(results.values()))
        lines += [x for target, text in zip(results, value_texts, strict=True) for x in wrapped(f"{target} = {text}")]
        return _routine(f"{base_name}_{kind}", {**inputs, **extra_inputs}, returned, printer.declarations(), lines)

    def by_columns(groups: Sequence[Sequence[Expr]]) -> dict[str, Expr]:
        return {f"g({i}, {j})": e for j, group in enumerate(groups, 1) for i, e in enumerate(group, 1)}

    equations = {f"g({i})": -e for i, e in enumerate(f.residual, 1)}
    equations |= {f"a({i}, {j})": e for i, row in enumerate(f.slopes, 1) for j, e in enumerate(row, 1)}
    rates = f"({f.unknowns}, {len(f.inputs)})"
    return runtime(
        "implicit.f90",
        fields,
        EQUATIONS=routine("rows", {"g": f"({rows})", "a": f"({rows}, {rows})"}, equations),
        BY_INPUT=routine("by_input", {"g": f"({rows}, {len(f.inputs)})"}, by_columns(f.by_input)),
        BIAS=routine("bias", {"g": f"({rows}, {f.pairs})"}, by_columns(f.bias), y=rates),
        MORE=", more(3*n)" if len(f.inputs) == 2 else "",
        START="\n".join(number_rows("start", f.start)),
    )


def _routine(name: str, inputs: dict[str, str], returned: dict[str, str], first: list[str], body: list[str]) -> str:
    lines = [f"  subroutine {name}({', '.join([*inputs, *returned])})"]
    lines += [f"    real(dp), intent(in) :: {x}{size}" for x, size in inputs.items()]
    lines += [f"    real(dp), intent(out) :: {x}{size}" for x, size in returned.items()]
    lines += [f"    {line}" for line in first]
    for x, size in inputs.items():  # an argument that is not used is named, so that the compiler need not wonder
        if not re.search(rf"\b{x}\b", "\n".join(body)):
            entry = f"{x}({', '.join('1' for _ in size.split(','))})" if size else x
            lines.append(f"    if ({entry} > huge(1.0_dp)) return ! not used")
    return "\n".join([*lines, *(f"    {line}" for line in body), f"  end subroutine {name}", ""])
