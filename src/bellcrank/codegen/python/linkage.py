"""A function given by equations in Python: `name(z[, r])` returns all values."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.codegen.linkage import ImplicitSyntax, implicit_names, implicit_template_values
from bellcrank.codegen.python.printer import PythonPrinter
from bellcrank.codegen.python.runtime_files import fill_runtime_file
from bellcrank.codegen.python.tables import number_rows
from bellcrank.codegen.straight_line import straight_lines
from bellcrank.core.numeric.tuning import IMPLICIT
from bellcrank.program.implicit_function import ImplicitFunction
from bellcrank.symbolic.expr import Expr

_SAY = ImplicitSyntax(
    first=0,
    real=repr,
    state="s[{}]",
    rates="y[{}][{}]",
    solved="g[{}]",
    add="s[{}] += {}",
    turn="implicit_turn(s, {}, {})",
    hold="s[{}] = {} + {} * {}",
    first_rate="y[j][{}] = g[{}]",
    known="if j == {}:\n    y[j][{}] = {}",
    second_rate="second[{}] = g[{}]",
    second="""c = [v * x + t * y for x, y in zip(a, b)]
s = [x + r * (c[k] + r / 2 * (c[k + n] + r / 3 * c[k + 2 * n])) for k, x in enumerate(s, 3 * n)]""",
)


def python_implicit(name: str, f: ImplicitFunction) -> str:
    """The routine and those it calls."""
    fields = implicit_template_values(name, f, _SAY)
    head = f"def {fields['NAME']}_{{}}(s, {fields['GIVEN']}{{}}):\n"

    def rows_function(kind: str, rows: Sequence[Sequence[Expr]], extra: str = "") -> str:
        lines, value_texts = straight_lines(
            PythonPrinter(implicit_names(f, _SAY)), [e for row in rows for e in row]
        )
        text_iterator = iter(value_texts)
        lists = [f"    [{', '.join(next(text_iterator) for _ in row)}]," for row in rows]
        return head.format(kind, extra) + "".join(
            f"    {line}\n" for line in [*lines, "return (", *lists, ")"]
        )

    return fill_runtime_file(
        "implicit.py.in",
        fields,
        SMALL=repr(IMPLICIT.small),
        START=number_rows(f.start),
        EQUATIONS=rows_function("rows", [[-e for e in f.residual], *f.slopes]),
        BY_INPUT=rows_function("by_input", f.by_input),
        BIAS=rows_function("bias", f.bias, ", y"),
    )
