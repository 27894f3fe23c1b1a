"""The base of all printers: precedence and the walk. A language states how it differs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from bellcrank.errors import InternalError, ModelError
from bellcrank.expr import Expr, Func, Number, Product, Sum, Symbol, postorder
from bellcrank.expr.function_table import COMPARISONS
from bellcrank.expr.node import PI, Rational, size

SUM, TERM, UNARY, ATOM = 1, 2, 3, 4
Piece = tuple[str, int]


class Printer:
    """Expressions over symbols as source text; `names` gives the text of every symbol."""

    FUNCTIONS: ClassVar[Mapping[str, str]] = {}
    PI_TEXT = "pi"

    def __init__(self, names: Mapping[Symbol, str]) -> None:
        self.names = dict(names)
        self.used_functions: set[str] = set()

    def called(self, name: str) -> str:
        """The name of a function in this language; it is noted that it is used."""
        self.used_functions.add(name)
        return self.FUNCTIONS[name]

    def expr(self, root: Expr, min_precedence: int = SUM) -> str:
        """Source text of an expression, in parentheses where it binds less than needed."""
        fragments: dict[Expr, Piece] = {}
        for node in postorder((root,)):
            fragments[node] = self.piece(node, fragments)
        return self.wrap(fragments[root], min_precedence)

    @staticmethod
    def wrap(fragment: Piece, min_precedence: int) -> str:
        return fragment[0] if fragment[1] >= min_precedence else f"({fragment[0]})"

    def piece(self, node: Expr, fragments: Mapping[Expr, Piece]) -> Piece:
        if isinstance(node, Symbol):
            return (self.PI_TEXT if node is PI else self.names[node]), ATOM
        if isinstance(node, Number):
            return self.number(node.value), (ATOM if node.value >= 0 else UNARY)
        if isinstance(node, Sum):
            return self.sum(node, fragments)
        if isinstance(node, Product):
            return self.product(node, fragments)
        if isinstance(node, Func):
            return self.function(node, [fragments[a] for a in node.args])
        raise InternalError(f"{type(node).__name__} reached the printer: the scheduler should have named it")

    def number(self, value: Rational) -> str:
        try:
            return repr(float(value))
        except OverflowError:
            raise ModelError("a number of the model is larger than 1.8e308, which no program can hold") from None

    def sum(self, node: Sum, fragments: Mapping[Expr, Piece]) -> Piece:
        text = ""
        for core, c in node.terms:
            body = fragments[core][0] if abs(c) == 1 else self.scaled(size(c), fragments[core])
            binding = fragments[core][1] if abs(c) == 1 else TERM
            negative = c < 0
            if binding == UNARY and body.startswith("-"):
                body, negative, binding = body[1:], not negative, TERM
            if binding < TERM:
                body = f"({body})"
            text += (" - " if negative else " + ") + body if text else ("-" if negative else "") + body
        return text, SUM

    def scaled(self, c: Rational, fragment: Piece) -> str:
        return f"{self.number(c)}*{self.wrap(fragment, TERM)}"

    def product(self, node: Product, fragments: Mapping[Expr, Piece]) -> Piece:
        top: list[str] = []
        bottom: list[str] = []
        scale = size(node.coefficient)
        if scale != 1:
            top.append(self.number(scale))
        for base, exponent in node.factors:
            root_argument = base if exponent == -1 / 2 else radicand(base) if exponent == -1 else None
            if root_argument is not None and (root := self.reciprocal_root(fragments[root_argument])):
                top.append(root)
                continue
            text = self.power(fragments[base], size(exponent))
            if exponent < -1 and "*" in text:  # x/(a*a), not x/a*a
                text = f"({text})"
            (top if exponent > 0 else bottom).append(text)
        body = "*".join(top) if top else self.number(1)
        if bottom:
            body += "/" + (bottom[0] if len(bottom) == 1 else f"({'*'.join(bottom)})")
        if node.coefficient < 0:
            return "-" + body, UNARY
        return body, (ATOM if len(top) == 1 and not bottom and body.isidentifier() else TERM)

    def power(self, base: Piece, exponent: Rational) -> str:
        """base ** exponent for a positive exponent."""
        if exponent == 1:
            return self.wrap(base, ATOM)
        if exponent == 1 / 2:
            return f"{self.called('sqrt')}({base[0]})"
        if isinstance(exponent, int):
            return self.integer_power(self.wrap(base, ATOM), exponent)
        return f"{self.called('pow')}({base[0]}, {self.number(exponent)})"

    def reciprocal_root(self, base: Piece) -> str:
        """1/sqrt(base) where it is a call of its own; nothing where it is a quotient."""
        return ""

    def integer_power(self, base: str, exponent: int) -> str:
        return (
            "*".join([base] * exponent) if exponent <= 3 else f"{self.called('pow')}({base}, {self.number(exponent)})"
        )

    def function(self, node: Func, args: list[Piece]) -> Piece:
        if node.function is not None:
            return self.routine(node, args)
        if node.name in COMPARISONS:
            return self.comparison(node.name, args)
        if node.name == "where":
            return self.choice(args)
        if node.name not in self.FUNCTIONS:
            raise InternalError(f"{node.name}() is not known to {type(self).__name__}")
        name, texts = self.called(node.name), [a[0] for a in args]
        return name.format(*texts) if "{" in name else f"{name}({', '.join(texts)})", ATOM

    def routine(self, node: Func, args: list[Piece]) -> Piece:
        raise InternalError(f"{node.name}() must be a statement in {type(self).__name__}")

    def comparison(self, name: str, args: list[Piece]) -> Piece:
        op = COMPARISONS[name].operator
        return f"({self.wrap(args[0], SUM)} {op} {self.wrap(args[1], SUM)})", ATOM

    def choice(self, args: list[Piece]) -> Piece:
        raise InternalError(f"{type(self).__name__} has no choice between two values")


def radicand(node: Expr) -> Expr | None:
    """Of what a node is the square root, if it is that alone."""
    if isinstance(node, Product) and node.coefficient == 1 and len(node.factors) == 1:
        ((base, exponent),) = node.factors
        return base if exponent == 1 / 2 else None
    return None
