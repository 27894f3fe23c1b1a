"""Expressions as MathML (presentation), which browsers show without help."""

from __future__ import annotations

from html import escape

from bellcrank.symbolic.expr.node import Expr, Rational
from bellcrank.symbolic.expr.printing import ATOM, GREEK, NotationPrinter, Piece, split_symbol_name

_GREEK = {name: chr(0x3B1 + i) for i, name in enumerate(GREEK)}
_GREEK |= {name.capitalize(): chr(0x391 + i) for i, name in enumerate(GREEK)}


def to_mathml(root: Expr) -> str:
    """The inside of a <math> element."""
    return _MathMLPrinter().print_expression(root)


def math_element(*elements: str) -> str:
    """A whole formula from its parts."""
    return f'<math displaystyle="true">{mrow(*elements)}</math>'


def mrow(*elements: str) -> str:
    return f"<mrow>{''.join(elements)}</mrow>"


def math_name(name: str, dot: bool = False) -> str:
    """A symbol's name: theta_r1 is θ with the index r1, q(b, 2) is q with the index b,2; `dot`
    marks its rate."""
    head, index, rate = split_symbol_name(name)
    element = f"<mi>{escape(_GREEK.get(head, head))}</mi>"
    if dot or rate:
        element = f'<mover accent="true">{element}<mo>˙</mo></mover>'
    return f"<msub>{element}<mtext>{escape(index)}</mtext></msub>" if index else element


def equation_mathml(left: str, right: Expr) -> str:
    """left = right as a whole formula."""
    return math_element(left, "<mo>=</mo>", to_mathml(right))


class _MathMLPrinter(NotationPrinter):
    COLUMN, FLAT = "mathml", False
    PARENTHESES, GROUP = mrow("<mo>(</mo>%s<mo>)</mo>"), mrow("%s")
    NUMBER, NEGATIVE = "<mn>%s</mn>", mrow("<mo>-</mo>%s")
    SIGNS = {True: "<mo>-</mo>%s", False: "<mo>+</mo>%s"}
    FIRST = SIGNS | {False: "%s"}
    TIMES, FRACTION, ROOT = "<mo>&#x2062;</mo>", "<mfrac>%s%s</mfrac>", "<msqrt>%s</msqrt>"
    POWER, COMMA, COMPARISON = "<msup>%s%s</msup>", "<mo>,</mo>", mrow("%s<mo>%s</mo>%s")
    CALL = mrow(f"<mi>%s</mi><mo>&#x2061;</mo>{PARENTHESES}")

    def print_symbol(self, name: str) -> str:
        return math_name(name)

    def print_function_name(self, name: str) -> str:
        return escape(name)

    def print_decimal(self, digits: str) -> Piece:
        mantissa, _, exponent = digits.partition("e")
        power = f"<mo>·</mo><msup><mn>10</mn><mn>{exponent and int(exponent)}</mn></msup>"
        return mrow(self.NUMBER % mantissa, power) if exponent else self.NUMBER % digits, ATOM

    def print_exponent(self, value: Rational) -> str:
        return (
            self.NUMBER % value
            if isinstance(value, int)
            else self.GROUP % self._print_number(value)[0]
        )
