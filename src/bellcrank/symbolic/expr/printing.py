"""Expressions as text a parser reads back, and as LaTeX; `NotationPrinter` is what these and MathML
have in common."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from bellcrank.symbolic.expr.construct import term_factors
from bellcrank.symbolic.expr.function_table import COMPARISONS, FUNCTIONS
from bellcrank.symbolic.expr.node import (
    Expr,
    Func,
    NamedSubexpression,
    Number,
    Product,
    Rational,
    Sum,
    Symbol,
    abs_rational,
)
from bellcrank.symbolic.expr.traversal import postorder

# Binding strengths: how tightly the outermost operator of a piece of text holds together.
SUM, TERM, FACTOR, ATOM = 1, 2, 3, 4
Piece = tuple[str, int]
Factors = tuple[tuple[Expr, Rational], ...]
_LARGEST_DIVISOR = 1000  # x/1000, but 0.0001*x
GREEK = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "lambda",
    "mu",
    "nu",
    "xi",
    "omicron",
    "pi",
    "rho",
    "_",
    "sigma",
    "tau",
    "upsilon",
    "phi",
    "chi",
    "psi",
    "omega",
]  # the place of the final sigma is empty


def to_text(root: Expr, names: Mapping[Expr, str] | None = None) -> str:
    """Readable text; `names` are used for the nodes they name."""
    return NotationPrinter(names).print_expression(root)


def to_latex(root: Expr, names: Mapping[Expr, str] | None = None) -> str:
    """LaTeX of an expression."""
    return _LatexPrinter(names).print_expression(root)


class NotationPrinter:
    """An expression put together from pieces by patterns: those of plain text. Other notations have
    their own."""

    # of the table of functions: how this notation writes them, if not by their names
    COLUMN = "operator"
    FLAT = True  # without bars and raised text, so that parentheses must show what belongs together
    PARENTHESES, GROUP, NUMBER, NEGATIVE = "(%s)", "%s", "%s", "-%s"
    SIGNS, FIRST = (
        {True: " - %s", False: " + %s"},
        {True: "-%s", False: "%s"},
    )  # of terms that are negative, or not
    TIMES, FRACTION, ROOT, POWER = "*", "%s/%s", "sqrt(%s)", "%s**%s"
    CALL, COMMA, COMPARISON = "%s(%s)", ", ", "(%s %s %s)"

    def __init__(self, names: Mapping[Expr, str] | None = None) -> None:
        self.names = names or {}

    def print_expression(self, root: Expr) -> str:
        fragments: dict[Expr, Piece] = {}
        for node in postorder((root,)):
            fragments[node] = (
                (self.names[node], ATOM)
                if node in self.names
                else self._print_node(node, fragments)
            )
        return fragments[root][0]

    def print_symbol(self, name: str) -> str:
        return name

    def print_function_name(self, name: str) -> str:
        """The name of a function, where it is called by its name."""
        return name

    def print_decimal(self, digits: str) -> Piece:
        """A positive number as Python writes it."""
        return self.NUMBER % digits, ATOM

    def print_exponent(self, value: Rational) -> str:
        return self._parenthesize((str(value), ATOM if isinstance(value, int) else TERM), ATOM)

    def _print_node(self, node: Expr, fragments: Mapping[Expr, Piece]) -> Piece:
        if isinstance(node, Number):
            return self._print_number(node.value)
        if isinstance(node, Symbol):
            return self.print_symbol(node.name), ATOM
        if isinstance(node, Func):
            return self._print_function(node, [fragments[a] for a in node.args])
        if isinstance(node, NamedSubexpression):
            return fragments[node.definition]
        if isinstance(node, Sum):
            return self._print_sum(node, fragments), SUM
        assert isinstance(node, Product)
        return self._print_product(node.coefficient, node.factors, fragments)

    def _parenthesize(self, fragment: Piece, min_strength: int) -> str:
        return fragment[0] if fragment[1] >= min_strength else self.PARENTHESES % fragment[0]

    def _print_number(self, value: Rational) -> Piece:
        above, below = abs(value.numerator), value.denominator
        digits = str(above) if below == 1 else _exact_decimal(abs_rational(value))
        body, strength = self.FRACTION % (self.NUMBER % above, self.NUMBER % below), TERM
        if digits is not None:
            body, strength = self.print_decimal(digits)
        return (self.NEGATIVE % body, SUM) if value < 0 else (body, strength)

    def _print_function(self, node: Func, args: list[Piece]) -> Piece:
        texts = [a[0] for a in args]
        notation = getattr(FUNCTIONS[node.name], self.COLUMN) if node.function is None else ""
        if node.function is None and node.name in COMPARISONS:
            return self.COMPARISON % (texts[0], notation, texts[1]), ATOM if self.FLAT else 0
        if node.function is None and node.name == "pow":
            exponent = self._parenthesize(args[1], ATOM) if self.FLAT else self.GROUP % texts[1]
            return self.POWER % (self._parenthesize(args[0], ATOM), exponent), FACTOR
        if "#1" in notation:
            return self.GROUP % notation.replace("#1", texts[0]), ATOM
        return self.CALL % (
            notation or self.print_function_name(node.name),
            self.COMMA.join(texts),
        ), ATOM

    def _print_sum(self, node: Sum, fragments: Mapping[Expr, Piece]) -> str:
        terms_text = ""
        for core, c in node.terms:
            if isinstance(
                core, Product
            ):  # its number stands in front; in the statements of a program, inside
                c = c * core.coefficient
            term = self._parenthesize(
                self._print_product(abs_rational(c), term_factors(core), fragments), TERM
            )
            terms_text += (self.SIGNS if terms_text else self.FIRST)[c < 0] % term
        return self.GROUP % terms_text

    def _print_product(
        self, coefficient: Rational, factors: Factors, fragments: Mapping[Expr, Piece]
    ) -> Piece:
        if not factors:
            return self._print_number(coefficient)
        top, bottom = (
            [(self.print_decimal(x)[0], ATOM)] if x else []
            for x in _coefficient_texts(abs_rational(coefficient))
        )
        for base, exponent in factors:
            (top if exponent > 0 else bottom).append(
                self._print_power(fragments[base], abs_rational(exponent))
            )
        body = self._join_factors(top)
        if bottom:
            below = self._join_factors(bottom, alone=True)
            below = self.PARENTHESES % below if self.FLAT and len(bottom) > 1 else below
            body = self.FRACTION % (
                self._join_factors(top, alone=True) if top else self.NUMBER % "1",
                below,
            )
        if coefficient < 0:
            return self.NEGATIVE % body, SUM
        return body, TERM if bottom or len(top) > 1 else FACTOR

    def _join_factors(self, factors: list[Piece], alone: bool = False) -> str:
        """Factors next to each other; a single one that stands alone above or below a bar needs no
        parentheses."""
        if alone and len(factors) == 1 and not self.FLAT:
            return self.GROUP % factors[0][0]
        return self.GROUP % self.TIMES.join(self._parenthesize(x, FACTOR) for x in factors)

    def _print_power(self, base: Piece, exponent: Rational) -> Piece:
        if exponent == 1:
            return base
        if exponent == 1 / 2:
            return self.ROOT % base[0], ATOM
        return self.POWER % (self._parenthesize(base, ATOM), self.print_exponent(exponent)), FACTOR


def _exact_decimal(value: Rational) -> str | None:
    """The decimal number that is exactly the value, if a short one is."""
    try:
        digits = repr(float(value))
        return digits if Fraction(digits) == value else None
    except (OverflowError, ValueError):
        return None


def _coefficient_texts(value: Rational) -> tuple[str, str]:
    """A positive number as text above and below a fraction bar, "" for 1: 3/4 is 0.75 above, 1/2 is
    2 below."""
    above, below = value.numerator, value.denominator
    decimal = (
        None if below == 1 or (above == 1 and below <= _LARGEST_DIVISOR) else _exact_decimal(value)
    )
    if decimal is not None:
        return decimal, ""
    return "" if above == 1 else str(above), "" if below == 1 else str(below)


def split_symbol_name(name: str) -> tuple[str, str, bool]:
    """Head and index of a symbol's name, and is it a rate? theta_r1: theta, r1; q(b, 2): q, "b,2";
    up(3): u', 3."""
    indexed = re.fullmatch(r"(\w+)\((.*)\)", name)
    if indexed:
        rate = indexed[1] in ("up", "qp")
        return indexed[1][0] if rate else indexed[1], indexed[2].replace(" ", ""), rate
    match = re.fullmatch(r"([A-Za-z]+)_?(\d*|(?<=_)\w+|\d+_\w+)", name)
    return (match[1], match[2], False) if match else (name, "", False)


# -------------------------------------------------------------------------------------------- LaTeX

_CAPITAL = "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
_LETTERS = frozenset({*GREEK, *_CAPITAL.split()} - {"omicron", "_"})
_SPECIAL = {**{c: "\\" + c for c in "_#$%&{}"}, "\\": r"\backslash ", "^": r"\hat{}", "~": r"\sim "}


def latex_text(name: str) -> str:
    """A name with the characters that mean something in LaTeX made plain."""
    return "".join(_SPECIAL.get(c, c) for c in name)


def latex_name(name: str) -> str:
    """A symbol's name in LaTeX: theta_r1 is \\theta_{r1}, q(b, 2) is q_{b,2}, u1' has a dot."""
    if name.endswith("'"):
        head, index, suffix = latex_name(name[:-1]).partition("_{")
        return rf"\dot{{{head}}}{index}{suffix}"
    head, index, rate = split_symbol_name(name)
    if head in _LETTERS:
        head = "\\" + head
    elif len(head) != 1 or not head.isalnum():
        head = rf"\mathit{{{latex_text(head)}}}"
    head = rf"\dot{{{head}}}" if rate else head
    return f"{head}_{{{latex_text(index)}}}" if index else head


class _LatexPrinter(NotationPrinter):
    COLUMN, FLAT = "latex", False
    FIRST = {True: "- %s", False: "%s"}
    TIMES, FRACTION, ROOT, POWER = r" \, ", r"\frac{%s}{%s}", r"\sqrt{%s}", "{%s}^{%s}"
    PARENTHESES, CALL, COMPARISON = r"\left(%s\right)", r"%s\left(%s\right)", "%s %s %s"

    def print_symbol(self, name: str) -> str:
        return latex_name(name)

    def print_function_name(self, name: str) -> str:
        return rf"\operatorname{{{latex_text(name)}}}"

    def print_decimal(self, digits: str) -> Piece:
        mantissa, _, exponent = digits.partition("e")
        if not exponent:
            return digits, ATOM
        power = f"10^{{{int(exponent)}}}"
        return power if mantissa == "1" else rf"{mantissa} \cdot {power}", TERM

    def print_exponent(self, value: Rational) -> str:
        return str(value)
