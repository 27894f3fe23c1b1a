"""A function given by equations in Fortran: `subroutine name(z[, r], values)`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bellcrank.codegen.fortran.line_wrapping import wrap_statement
from bellcrank.codegen.fortran.printer import FortranPrinter
from bellcrank.codegen.fortran.runtime_files import fill_runtime_file, real_literal
from bellcrank.codegen.fortran.tables import number_rows
from bellcrank.codegen.linkage import ImplicitSyntax, implicit_names, implicit_template_values
from bellcrank.codegen.straight_line import straight_lines
from bellcrank.program.implicit_function import ImplicitFunction
from bellcrank.symbolic.expr import Expr

_SAY = ImplicitSyntax(
    first=1,
    real=real_literal,
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


def fortran_implicit(name: str, f: ImplicitFunction) -> str:
    """The routine and those it calls."""
    fields = implicit_template_values(name, f, _SAY)
    base_name, rows = fields["NAME"], len(f.residual)
    names = implicit_names(f, _SAY)
    inputs = {"s": f"({len(f.state)})"} | {s.name: "" for s in f.inputs}

    def routine(
        kind: str, returned: dict[str, str], results: dict[str, Expr], **extra_inputs: str
    ) -> str:
        printer = FortranPrinter(names)
        lines, value_texts = straight_lines(printer, list(results.values()))
        lines += [
            x
            for target, text in zip(results, value_texts, strict=True)
            for x in wrap_statement(f"{target} = {text}")
        ]
        return _linkage_subroutine(
            f"{base_name}_{kind}",
            {**inputs, **extra_inputs},
            returned,
            printer.declarations(),
            lines,
        )

    def column_entries(groups: Sequence[Sequence[Expr]]) -> dict[str, Expr]:
        return {
            f"g({i}, {j})": e for j, group in enumerate(groups, 1) for i, e in enumerate(group, 1)
        }

    equations = {f"g({i})": -e for i, e in enumerate(f.residual, 1)}
    equations |= {
        f"a({i}, {j})": e for i, row in enumerate(f.slopes, 1) for j, e in enumerate(row, 1)
    }
    rates = f"({f.unknowns}, {len(f.inputs)})"
    return fill_runtime_file(
        "implicit.f90",
        fields,
        EQUATIONS=routine("rows", {"g": f"({rows})", "a": f"({rows}, {rows})"}, equations),
        BY_INPUT=routine(
            "by_input", {"g": f"({rows}, {len(f.inputs)})"}, column_entries(f.by_input)
        ),
        BIAS=routine(
            "bias", {"g": f"({rows}, {f.input_pair_count})"}, column_entries(f.bias), y=rates
        ),
        MORE=", more(3*n)" if len(f.inputs) == 2 else "",
        START="\n".join(number_rows("start", f.start)),
    )


def _linkage_subroutine(
    name: str, inputs: dict[str, str], returned: dict[str, str], first: list[str], body: list[str]
) -> str:
    lines = [f"  subroutine {name}({', '.join([*inputs, *returned])})"]
    lines += [f"    real(dp), intent(in) :: {x}{size}" for x, size in inputs.items()]
    lines += [f"    real(dp), intent(out) :: {x}{size}" for x, size in returned.items()]
    lines += [f"    {line}" for line in first]
    for (
        x,
        size,
    ) in (
        inputs.items()
    ):  # an argument that is not used is named, so that the compiler need not wonder
        if not re.search(rf"\b{x}\b", "\n".join(body)):
            entry = f"{x}({', '.join('1' for _ in size.split(','))})" if size else x
            lines.append(f"    if ({entry} > huge(1.0_dp)) return ! not used")
    return "\n".join([*lines, *(f"    {line}" for line in body), f"  end subroutine {name}", ""])
