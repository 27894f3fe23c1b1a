"""Expressions and statements of a program in Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from bellcrank.codegen.printer import ATOM, CodePrinter, Piece
from bellcrank.program.routine import CallableRoutine
from bellcrank.program.statements import (
    AssignStatement,
    CallStatement,
    NullSpaceSolve,
    Statement,
    statement_targets,
)
from bellcrank.symbolic.expr import Expr, Func, Symbol
from bellcrank.symbolic.expr.function_table import function_names_in


class PythonPrinter(CodePrinter):
    """Text of expressions; `routines` are called by their places in f."""

    FUNCTIONS: ClassVar[Mapping[str, str]] = function_names_in("python")
    PI_TEXT = "3.141592653589793"

    def __init__(
        self, names: Mapping[Symbol, str], routines: Iterable[CallableRoutine] = ()
    ) -> None:
        super().__init__(names)
        self.place = {routine: i for i, routine in enumerate(routines)}

    def print_conditional(self, args: list[Piece]) -> Piece:
        return f"({args[1][0]} if {args[0][0]} else {args[2][0]})", ATOM

    def print_routine_call(self, node: Func, args: list[Piece]) -> Piece:
        return f"f[{self.place[node.function]}]({', '.join(a[0] for a in args)})", ATOM

    def print_statement(self, s: Statement) -> list[str]:
        """The lines of a statement; its targets get their names."""
        value = self._right_side(s)
        self.names.update({t: t.name for t in statement_targets(s)})
        if isinstance(s, AssignStatement):
            return [f"{s.target.name} = {value}"]
        if isinstance(s, CallStatement) and len(s.targets) == 1:
            return [f"{s.targets[0].name} = {value}" if s.targets[0] else value]
        targets = ", ".join(t.name if t else "_" for t in s.targets)
        comma = "," if len(s.targets) == 1 else ""
        return [f"{targets}{comma} = {value}"]

    def _right_side(self, s: Statement) -> str:
        if isinstance(s, AssignStatement):
            return self.print_expression(s.value)
        if isinstance(s, CallStatement):
            arguments = ", ".join(self.print_expression(a) for a in s.arguments)
            return f"f[{self.place[s.routine]}]({arguments})"
        if isinstance(s, NullSpaceSolve):
            k = s.scales
            numbers = [
                self._matrix_literal(s.mass),
                self._list_literal(s.force),
                self._matrix_literal(s.rows),
                self._list_literal(s.right),
            ]
            numbers += [
                str(x) for x in (k.rank_v, list(k.rows), list(k.columns), k.regular_pivot_ratio)
            ]
            return f"constrained_rates({', '.join(numbers)})"
        return (
            f"linear_solve({self._matrix_literal(s.matrix)}, "
            f"{self._list_literal(s.right)}).tolist()"
        )

    def _list_literal(self, values: Iterable[Expr]) -> str:
        return f"[{', '.join(self.print_expression(x) for x in values)}]"

    def _matrix_literal(self, rows: Iterable[Iterable[Expr]]) -> str:
        return f"[{', '.join(self._list_literal(row) for row in rows)}]"
