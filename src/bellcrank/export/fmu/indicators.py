"""Event indicators of a unit: numbers that change their sign where the rates may jump.

In:  a `Program`. Out: a `Section` whose results are the differences of what is compared in the rates, and arguments of
sign(). What only bends there, min(), max() and abs(), has none.
"""

from __future__ import annotations

from bellcrank.expr import Expr, Func, Number, postorder
from bellcrank.expr.function_table import COMPARISONS
from bellcrank.program.program import Program
from bellcrank.program.statements import Section, needed, statement_expressions


def indicators_of(program: Program) -> Section:
    """The indicators, each once, in the order in which the rates come upon them."""
    statements = program.derivatives.statements
    roots = [e for s in statements for e in statement_expressions(s)]
    found: dict[Expr, None] = {}
    for node in postorder([*roots, *program.derivatives.results]):
        if isinstance(node, Func) and node.function is None and (node.name in COMPARISONS or node.name == "sign"):
            x = node.args[0] if node.name == "sign" else node.args[0] - node.args[1]
            if not isinstance(x, Number) and x not in found and -x not in found:
                found[x] = None
    return needed(Section((), tuple(found)), statements)
