"""Equations of a program as MathML: constants, intermediate results, rates of the states, outputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bellcrank.expr import Expr, Symbol
from bellcrank.expr.mathml import equation, math_element, math_name, mathml, row
from bellcrank.files.html import Raw, folded, shown
from bellcrank.program.program import Program
from bellcrank.program.statements import Assign, Call, Solve, Statement

OPEN = 150  # statements up to which a list is not folded


def program_equations(program: Program) -> list[str]:
    """All equations, in parts that can be folded."""
    n = len(program.coordinates)
    states = (*program.coordinates, *program.speeds)
    rates = list(zip(states, program.derivatives.results, strict=True))
    blocks: list[str] = []
    for title, listed, open_limit in (
        ("Constants: what follows from the parameters alone", program.constants.statements, 0),
        ("Intermediate results", program.derivatives.statements, OPEN),
    ):
        if listed:
            blocks.append(
                folded(f"{title} ({len(listed)})", _lines(map(_statement, listed)), len(listed) <= open_limit)
            )
    blocks.append(folded("Kinematical equations: rates of the coordinates", _rates(rates[:n]), True))
    blocks.append(folded("Dynamical equations: rates of the speeds", _rates(rates[n:]), True))
    if program.output_names:
        results = zip(program.output_names, program.outputs.results, strict=True)
        lines = [_statement(s) for s in program.outputs.statements]
        lines += [equation(f"<mtext>{shown(name)}</mtext>", value) for name, value in results]
        blocks.append(folded(f"Outputs ({len(program.output_names)})", _lines(lines), len(lines) <= OPEN))
    return blocks


def _rates(rates: Sequence[tuple[Symbol, Expr]]) -> str:
    return _lines(equation(math_name(s.name, dot=True), value) for s, value in rates)


def _lines(formulas: Iterable[str]) -> Raw:
    return Raw("\n".join(f'<div class="equation">{f}</div>' for f in formulas))


def _statement(s: Statement) -> str:
    if isinstance(s, Assign):
        return equation(math_name(s.target.name), s.value)
    if isinstance(s, Call):
        targets = [math_name(t.name) for t in s.targets if t is not None]
        listed = "<mo>,</mo>".join(mathml(a) for a in s.arguments)
        call = row(f"<mi>{shown(s.routine.name)}</mi>", "<mo>(</mo>", listed, "<mo>)</mo>")
        return math_element("<mo>,</mo>".join(targets), "<mo>=</mo>", call)
    if isinstance(s, Solve):
        unknown = _matrix([[math_name(t.name)] for t in s.targets])
        size = len(s.right)
        full = [[mathml(s.matrix[max(i, j)][min(i, j)]) for j in range(size)] for i in range(size)]
        return math_element(_matrix(full), unknown, "<mo>=</mo>", _matrix([[mathml(x)] for x in s.right]))
    return math_element("<mtext>accelerations on the null space of the constraints</mtext>")


def _matrix(rows: Sequence[Sequence[str]]) -> str:
    body = "".join("<mtr>" + "".join(f"<mtd>{x}</mtd>" for x in r) + "</mtr>" for r in rows)
    return row("<mo>[</mo>", f"<mtable>{body}</mtable>", "<mo>]</mo>")
