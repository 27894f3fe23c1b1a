"""Expressions as MathML (presentation), which browsers show without help."""

from __future__ import annotations

from html import escape

from bellcrank.expr.node import Expr, Rational
from bellcrank.expr.show import ATOM, GREEK, Piece, Writer, name_parts

_GREEK = {name: chr(0x3B1 + i) for i, name in enumerate(GREEK)}
_GREEK |= {name.capitalize(): chr(0x391 + i) for i, name in enumerate(GREEK)}


def mathml(root: Expr) -> str:
    """The inside of a <math> element."""
    return _MathML().write(root)


def math_element(*elements: str) -> str:
    """A whole formula from its parts."""
    return f'<math displaystyle="true">{row(*elements)}</math>'


def row(*elements: str) -> str:
    return f"<mrow>{''.join(elements)}</mrow>"


def math_name(name: str, dot: bool = False) -> str:
    """A symbol's name: theta_r1 is θ with the index r1, q(b, 2) is q with the index b,2; `dot` marks its rate."""
    head, index, rate = name_parts(name)
    element = f"<mi>{escape(_GREEK.get(head, head))}</mi>"
    if dot or rate:
        element = f'<mover accent="true">{element}<mo>˙</mo></mover>'
    return f"<msub>{element}<mtext>{escape(index)}</mtext></msub>" if index else element


def equation(left: str, right: Expr) -> str:
    """left = right as a whole formula."""
    return math_element(left, "<mo>=</mo>", mathml(right))


class _MathML(Writer):
    COLUMN, FLAT = "mathml", False
    PARENTHESES, GROUP = row("<mo>(</mo>%s<mo>)</mo>"), row("%s")
    NUMBER, NEGATIVE = "<mn>%s</mn>", row("<mo>-</mo>%s")
    SIGNS = {True: "<mo>-</mo>%s", False: "<mo>+</mo>%s"}
    FIRST = SIGNS | {False: "%s"}
    TIMES, FRACTION, ROOT = "<mo>&#x2062;</mo>", "<mfrac>%s%s</mfrac>", "<msqrt>%s</msqrt>"
    POWER, COMMA, COMPARISON = "<msup>%s%s</msup>", "<mo>,</mo>", row("%s<mo>%s</mo>%s")
    CALL = row(f"<mi>%s</mi><mo>&#x2061;</mo>{PARENTHESES}")

    def symbol(self, name: str) -> str:
        return math_name(name)

    def head(self, name: str) -> str:
        return escape(name)

    def decimal(self, digits: str) -> Piece:
        mantissa, _, exponent = digits.partition("e")
        power = f"<mo>·</mo><msup><mn>10</mn><mn>{exponent and int(exponent)}</mn></msup>"
        return row(self.NUMBER % mantissa, power) if exponent else self.NUMBER % digits, ATOM

    def exponent(self, value: Rational) -> str:
        return self.NUMBER % value if isinstance(value, int) else self.GROUP % self._number(value)[0]
