"""The base of all printers: precedence and the walk. A language states how it differs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from bellcrank.core.errors import InternalError, ModelError
from bellcrank.symbolic.expr import Expr, Func, Number, Product, Sum, Symbol, postorder
from bellcrank.symbolic.expr.function_table import COMPARISONS
from bellcrank.symbolic.expr.node import PI, Rational, abs_rational

SUM, TERM, UNARY, ATOM = 1, 2, 3, 4
Piece = tuple[str, int]


class CodePrinter:
    """Expressions over symbols as source text; `names` gives the text of every symbol."""

    FUNCTIONS: ClassVar[Mapping[str, str]] = {}
    PI_TEXT = "pi"

    def __init__(self, names: Mapping[Symbol, str]) -> None:
        self.names = dict(names)
        self.used_functions: set[str] = set()

    def function_name(self, name: str) -> str:
        """The name of a function in this language; it is noted that it is used."""
        self.used_functions.add(name)
        return self.FUNCTIONS[name]

    def print_expression(self, root: Expr, min_precedence: int = SUM) -> str:
        """Source text of an expression, in parentheses where it binds less than needed."""
        fragments: dict[Expr, Piece] = {}
        for node in postorder((root,)):
            fragments[node] = self.print_node(node, fragments)
        return self.parenthesize(fragments[root], min_precedence)

    @staticmethod
    def parenthesize(fragment: Piece, min_precedence: int) -> str:
        return fragment[0] if fragment[1] >= min_precedence else f"({fragment[0]})"

    def print_node(self, node: Expr, fragments: Mapping[Expr, Piece]) -> Piece:
        if isinstance(node, Symbol):
            return (self.PI_TEXT if node is PI else self.names[node]), ATOM
        if isinstance(node, Number):
            return self.print_number(node.value), (ATOM if node.value >= 0 else UNARY)
        if isinstance(node, Sum):
            return self.print_sum(node, fragments)
        if isinstance(node, Product):
            return self.print_product(node, fragments)
        if isinstance(node, Func):
            return self.print_function(node, [fragments[a] for a in node.args])
        raise InternalError(
            f"{type(node).__name__} reached the printer: the scheduler should have named it"
        )

    def print_number(self, value: Rational) -> str:
        try:
            return repr(float(value))
        except OverflowError:
            raise ModelError(
                "a number of the model is larger than 1.8e308, which no program can hold"
            ) from None

    def print_sum(self, node: Sum, fragments: Mapping[Expr, Piece]) -> Piece:
        text = ""
        for core, c in node.terms:
            body = (
                fragments[core][0]
                if abs(c) == 1
                else self.print_scaled(abs_rational(c), fragments[core])
            )
            binding = fragments[core][1] if abs(c) == 1 else TERM
            negative = c < 0
            if binding == UNARY and body.startswith("-"):
                body, negative, binding = body[1:], not negative, TERM
            if binding < TERM:
                body = f"({body})"
            text += (
                (" - " if negative else " + ") + body if text else ("-" if negative else "") + body
            )
        return text, SUM

    def print_scaled(self, c: Rational, fragment: Piece) -> str:
        return f"{self.print_number(c)}*{self.parenthesize(fragment, TERM)}"

    def print_product(self, node: Product, fragments: Mapping[Expr, Piece]) -> Piece:
        top: list[str] = []
        bottom: list[str] = []
        scale = abs_rational(node.coefficient)
        if scale != 1:
            top.append(self.print_number(scale))
        for base, exponent in node.factors:
            root_argument = (
                base if exponent == -1 / 2 else sqrt_argument(base) if exponent == -1 else None
            )
            if root_argument is not None and (
                root := self.reciprocal_root(fragments[root_argument])
            ):
                top.append(root)
                continue
            text = self.print_power(fragments[base], abs_rational(exponent))
            if exponent < -1 and "*" in text:  # x/(a*a), not x/a*a
                text = f"({text})"
            (top if exponent > 0 else bottom).append(text)
        body = "*".join(top) if top else self.print_number(1)
        if bottom:
            body += "/" + (bottom[0] if len(bottom) == 1 else f"({'*'.join(bottom)})")
        if node.coefficient < 0:
            return "-" + body, UNARY
        return body, (ATOM if len(top) == 1 and not bottom and body.isidentifier() else TERM)

    def print_power(self, base: Piece, exponent: Rational) -> str:
        """base ** exponent for a positive exponent."""
        if exponent == 1:
            return self.parenthesize(base, ATOM)
        if exponent == 1 / 2:
            return f"{self.function_name('sqrt')}({base[0]})"
        if isinstance(exponent, int):
            return self.print_integer_power(self.parenthesize(base, ATOM), exponent)
        return f"{self.function_name('pow')}({base[0]}, {self.print_number(exponent)})"

    def reciprocal_root(self, base: Piece) -> str:
        """1/sqrt(base) where it is a call of its own; nothing where it is a quotient."""
        return ""

    def print_integer_power(self, base: str, exponent: int) -> str:
        return (
            "*".join([base] * exponent)
            if exponent <= 3
            else f"{self.function_name('pow')}({base}, {self.print_number(exponent)})"
        )

    def print_function(self, node: Func, args: list[Piece]) -> Piece:
        if node.function is not None:
            return self.print_routine_call(node, args)
        if node.name in COMPARISONS:
            return self.print_comparison(node.name, args)
        if node.name == "where":
            return self.print_conditional(args)
        if node.name not in self.FUNCTIONS:
            raise InternalError(f"{node.name}() is not known to {type(self).__name__}")
        name, texts = self.function_name(node.name), [a[0] for a in args]
        return name.format(*texts) if "{" in name else f"{name}({', '.join(texts)})", ATOM

    def print_routine_call(self, node: Func, args: list[Piece]) -> Piece:
        raise InternalError(f"{node.name}() must be a statement in {type(self).__name__}")

    def print_comparison(self, name: str, args: list[Piece]) -> Piece:
        op = COMPARISONS[name].operator
        return f"({self.parenthesize(args[0], SUM)} {op} {self.parenthesize(args[1], SUM)})", ATOM

    def print_conditional(self, args: list[Piece]) -> Piece:
        raise InternalError(f"{type(self).__name__} has no choice between two values")


def sqrt_argument(node: Expr) -> Expr | None:
    """Of what a node is the square root, if it is that alone."""
    if isinstance(node, Product) and node.coefficient == 1 and len(node.factors) == 1:
        ((base, exponent),) = node.factors
        return base if exponent == 1 / 2 else None
    return None
