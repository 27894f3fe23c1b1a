"""Equations of a program as MathML: constants, intermediate results, rates of the states,
outputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bellcrank.core.files.html import HtmlText, cell_html, details
from bellcrank.program.program import SimulationProgram
from bellcrank.program.statements import AssignStatement, CallStatement, SolveStatement, Statement
from bellcrank.symbolic.expr import Expr, Symbol
from bellcrank.symbolic.expr.mathml import equation_mathml, math_element, math_name, mrow, to_mathml

MAX_UNFOLDED_STATEMENTS = 150  # statements up to which a list is not folded


def program_equations(program: SimulationProgram) -> list[str]:
    """All equations, in parts that can be folded."""
    n = len(program.coordinates)
    states = (*program.coordinates, *program.speeds)
    rates = list(zip(states, program.derivatives.results, strict=True))
    blocks: list[str] = []
    for title, listed, open_limit in (
        ("Constants: what follows from the parameters alone", program.constants.statements, 0),
        ("Intermediate results", program.derivatives.statements, MAX_UNFOLDED_STATEMENTS),
    ):
        if listed:
            blocks.append(
                details(
                    f"{title} ({len(listed)})",
                    _equation_lines(map(_statement_mathml, listed)),
                    len(listed) <= open_limit,
                )
            )
    blocks.append(
        details("Kinematical equations: rates of the coordinates", _rate_equations(rates[:n]), True)
    )
    blocks.append(
        details("Dynamical equations: rates of the speeds", _rate_equations(rates[n:]), True)
    )
    if program.output_names:
        results = zip(program.output_names, program.outputs.results, strict=True)
        lines = [_statement_mathml(s) for s in program.outputs.statements]
        lines += [
            equation_mathml(f"<mtext>{cell_html(name)}</mtext>", value) for name, value in results
        ]
        blocks.append(
            details(
                f"Outputs ({len(program.output_names)})",
                _equation_lines(lines),
                len(lines) <= MAX_UNFOLDED_STATEMENTS,
            )
        )
    return blocks


def _rate_equations(rates: Sequence[tuple[Symbol, Expr]]) -> str:
    return _equation_lines(
        equation_mathml(math_name(s.name, dot=True), value) for s, value in rates
    )


def _equation_lines(formulas: Iterable[str]) -> HtmlText:
    return HtmlText("\n".join(f'<div class="equation">{f}</div>' for f in formulas))


def _statement_mathml(s: Statement) -> str:
    if isinstance(s, AssignStatement):
        return equation_mathml(math_name(s.target.name), s.value)
    if isinstance(s, CallStatement):
        targets = [math_name(t.name) for t in s.targets if t is not None]
        listed = "<mo>,</mo>".join(to_mathml(a) for a in s.arguments)
        call = mrow(f"<mi>{cell_html(s.routine.name)}</mi>", "<mo>(</mo>", listed, "<mo>)</mo>")
        return math_element("<mo>,</mo>".join(targets), "<mo>=</mo>", call)
    if isinstance(s, SolveStatement):
        unknown = _matrix_mathml([[math_name(t.name)] for t in s.targets])
        size = len(s.right)
        full = [
            [to_mathml(s.matrix[max(i, j)][min(i, j)]) for j in range(size)] for i in range(size)
        ]
        return math_element(
            _matrix_mathml(full),
            unknown,
            "<mo>=</mo>",
            _matrix_mathml([[to_mathml(x)] for x in s.right]),
        )
    return math_element("<mtext>accelerations on the null space of the constraints</mtext>")


def _matrix_mathml(rows: Sequence[Sequence[str]]) -> str:
    body = "".join("<mtr>" + "".join(f"<mtd>{x}</mtd>" for x in r) + "</mtr>" for r in rows)
    return mrow("<mo>[</mo>", f"<mtable>{body}</mtable>", "<mo>]</mo>")
