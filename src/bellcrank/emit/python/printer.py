"""Expressions and statements of a program in Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from bellcrank.emit.printer import ATOM, Piece, Printer
from bellcrank.expr import Expr, Func, Symbol
from bellcrank.expr.function_table import names_in
from bellcrank.program.routine import Routine
from bellcrank.program.statements import Assign, Call, Reduce, Statement, statement_targets


class PythonPrinter(Printer):
    """Text of expressions; `routines` are called by their places in f."""

    FUNCTIONS: ClassVar[Mapping[str, str]] = names_in("python")
    PI_TEXT = "3.141592653589793"

    def __init__(self, names: Mapping[Symbol, str], routines: Iterable[Routine] = ()) -> None:
        super().__init__(names)
        self.place = {routine: i for i, routine in enumerate(routines)}

    def choice(self, args: list[Piece]) -> Piece:
        return f"({args[1][0]} if {args[0][0]} else {args[2][0]})", ATOM

    def routine(self, node: Func, args: list[Piece]) -> Piece:
        return f"f[{self.place[node.function]}]({', '.join(a[0] for a in args)})", ATOM

    def statement(self, s: Statement) -> list[str]:
        """The lines of a statement; its targets get their names."""
        value = self._value(s)
        self.names.update({t: t.name for t in statement_targets(s)})
        if isinstance(s, Assign):
            return [f"{s.target.name} = {value}"]
        if isinstance(s, Call) and len(s.targets) == 1:
            return [f"{s.targets[0].name} = {value}" if s.targets[0] else value]
        return [f"{', '.join(t.name if t else '_' for t in s.targets)}{',' if len(s.targets) == 1 else ''} = {value}"]

    def _value(self, s: Statement) -> str:
        if isinstance(s, Assign):
            return self.expr(s.value)
        if isinstance(s, Call):
            return f"f[{self.place[s.routine]}]({', '.join(self.expr(a) for a in s.arguments)})"
        if isinstance(s, Reduce):
            k = s.scales
            numbers = [self._matrix(s.mass), self._row(s.force), self._matrix(s.rows), self._row(s.right)]
            numbers += [str(x) for x in (k.rank_v, list(k.rows), list(k.columns), k.usual)]
            return f"constrained_rates({', '.join(numbers)})"
        return f"linear_solve({self._matrix(s.matrix)}, {self._row(s.right)}).tolist()"

    def _row(self, values: Iterable[Expr]) -> str:
        return f"[{', '.join(self.expr(x) for x in values)}]"

    def _matrix(self, rows: Iterable[Iterable[Expr]]) -> str:
        return f"[{', '.join(self._row(row) for row in rows)}]"
