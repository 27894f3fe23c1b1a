"""Expressions and results in JavaScript: those of routines that a program calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from bellcrank.emit.javascript.runtime_files import real
from bellcrank.emit.printer import ATOM, Piece, Printer
from bellcrank.expr.function_table import names_in
from bellcrank.expr.node import Rational
from bellcrank.program.statements import Assign, Statement


class JavaScriptPrinter(Printer):
    """Text with functions of Math."""

    FUNCTIONS: ClassVar[Mapping[str, str]] = names_in("javascript")
    PI_TEXT = real(3.141592653589793)

    def number(self, value: Rational) -> str:
        return real(float(super().number(value)))

    def choice(self, args: list[Piece]) -> Piece:
        condition = args[0][0] if args[0][0].startswith("(") else f"{args[0][0]} !== 0"
        return f"({condition} ? {args[1][0]} : {args[2][0]})", ATOM

    def statement(self, s: Statement) -> list[str]:
        """The line of a result, which gets its name."""
        assert isinstance(s, Assign)  # routines call no others
        line = f"const {s.target.name} = {self.expr(s.value)};"
        self.names[s.target] = s.target.name
        return [line]
