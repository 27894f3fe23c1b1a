"""Formulas of signals, which are written as Python has them, as text of C and Fortran: the same
operations in the same order."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from bellcrank.core.errors import InternalError

_OPERATORS = {ast.Add: ("+", 1), ast.Sub: ("-", 1), ast.Mult: ("*", 2), ast.Div: ("/", 2)}
_COMPARED = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


class SignalFormulaPrinter(ABC):
    """What the languages have in common; `names` are those of the language for the names in
    formulas."""

    AND: ClassVar[str]

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def text(self, formula: str) -> str:
        return self._expr(ast.parse(formula, mode="eval").body)[0]

    def _expr(self, e: ast.expr) -> tuple[str, int]:
        """Text, and how tightly it binds: 0 what needs parentheses everywhere, 1 sums, 2 products,
        3 the rest."""
        match e:
            case ast.Name(id=name):
                return self.names[name], 3
            case ast.Constant(value=int() | float() as value):
                return self.number(float(value)), 3
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return f"-{self._inner(inner, 2)}", 1
            case ast.BinOp(left=left, op=op, right=right):
                sign, binds = _OPERATORS[type(op)]
                space = " " if binds == 1 else ""
                first, second = self._inner(left, binds), self._inner(right, binds + 1)
                return f"{first}{space}{sign}{space}{second}", binds
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return f"{self._inner(left, 1)} {_COMPARED[type(op)]} {self._inner(right, 1)}", 0
            case ast.BoolOp(op=ast.And(), values=values):
                return f" {self.AND} ".join(self._expr(x)[0] for x in values), 0
            case ast.IfExp(test=test, body=body, orelse=other):
                return self.conditional(
                    self._expr(test)[0], self._expr(body)[0], self._expr(other)[0]
                )
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self.call(name, [self._expr(x)[0] for x in arguments])
        raise InternalError(f"a formula of a signal holds {ast.unparse(e)}, which is not printed")

    def _inner(self, e: ast.expr, binds: int) -> str:
        text, precedence = self._expr(e)
        return text if precedence >= binds else f"({text})"

    def number(self, value: float) -> str:
        return repr(value)

    @abstractmethod
    def conditional(self, test: str, yes: str, no: str) -> tuple[str, int]:
        """One of two values, as a test reports."""

    def call(self, name: str, arguments: list[str]) -> tuple[str, int]:
        return f"{name}({', '.join(arguments)})", 3


class CSignalPrinter(SignalFormulaPrinter):
    AND = "&&"

    def conditional(self, test: str, yes: str, no: str) -> tuple[str, int]:
        return f"{test} ? {yes} : {no}", 0

    def call(self, name: str, arguments: list[str]) -> tuple[str, int]:
        return super().call({"min": "fmin", "max": "fmax"}.get(name, name), arguments)


class FortranSignalPrinter(SignalFormulaPrinter):
    AND = ".and."

    def number(self, value: float) -> str:
        return f"{value!r}_dp"

    def conditional(self, test: str, yes: str, no: str) -> tuple[str, int]:
        return f"merge({yes}, {no}, {test})", 3
