"""Equations of a program in LaTeX."""

from __future__ import annotations

from bellcrank.program.program import SimulationProgram
from bellcrank.program.statements import AssignStatement
from bellcrank.symbolic.expr import Expr, to_latex


def program_latex(program: SimulationProgram) -> str:
    """Rates of all states, intermediate results named."""
    names: dict[Expr, str] = {}
    assignments = [
        s
        for s in (*program.constants.statements, *program.derivatives.statements)
        if isinstance(s, AssignStatement)
    ]
    lines = [f"{to_latex(s.target)} &= {to_latex(s.value, names)}" for s in assignments]
    for state, rate in zip(
        (*program.coordinates, *program.speeds), program.derivatives.results, strict=True
    ):
        lines.append(f"\\frac{{d}}{{dt}} {to_latex(state)} &= {to_latex(rate, names)}")
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"
