"""Equations of a program in LaTeX."""

from __future__ import annotations

from bellcrank.expr import Expr, latex
from bellcrank.program.program import Program
from bellcrank.program.statements import Assign


def program_latex(program: Program) -> str:
    """Rates of all states, intermediate results named."""
    names: dict[Expr, str] = {}
    assignments = [s for s in (*program.constants.statements, *program.derivatives.statements) if isinstance(s, Assign)]
    lines = [f"{latex(s.target)} &= {latex(s.value, names)}" for s in assignments]
    for state, rate in zip((*program.coordinates, *program.speeds), program.derivatives.results, strict=True):
        lines.append(f"\\frac{{d}}{{dt}} {latex(state)} &= {latex(rate, names)}")
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"
