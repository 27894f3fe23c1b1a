"""Expressions as MathML (presentation), which browsers show without help."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape

from bellcrank.expr.construct import factors_of
from bellcrank.expr.function_table import COMPARISONS, FUNCTIONS
from bellcrank.expr.node import Expr, Func, Held, Number, Product, Rational, Sum, Symbol, size
from bellcrank.expr.show import _HALF, ATOM, FACTOR, SUM, TERM, Factors, Piece, _decimal, _scale, _terms
from bellcrank.expr.walk import postorder

_ALPHABET = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho _ sigma tau upsilon "
    "phi chi psi omega"
)
_GREEK = {name: chr(0x3B1 + i) for i, name in enumerate(_ALPHABET.split())}
_GREEK |= {name.capitalize(): chr(0x391 + i) for i, name in enumerate(_ALPHABET.split())}
APPLY, TIMES = "<mo>&#x2061;</mo>", "<mo>&#x2062;</mo>"


def mathml(root: Expr) -> str:
    """The inside of a <math> element."""
    done: dict[Expr, Piece] = {}
    for node in postorder((root,)):
        done[node] = _piece(node, done)
    return done[root][0]


def math_element(*parts: str) -> str:
    """A whole formula from its parts."""
    return f'<math displaystyle="true">{row(*parts)}</math>'


def row(*parts: str) -> str:
    return f"<mrow>{''.join(parts)}</mrow>"


def math_name(name: str, dot: bool = False) -> str:
    """A symbol's name: theta_r1 is θ with the index r1, q(b, 2) is q with the index b,2; `dot` marks its rate."""
    indexed = re.fullmatch(r"(\w+)\((.*)\)", name)
    if indexed:
        head, index = indexed[1], indexed[2].replace(" ", "")
        if head in ("up", "qp"):
            head, dot = head[0], True
    else:
        match = re.fullmatch(r"([A-Za-z]+)_?(\d*|(?<=_)\w+|\d+_\w+)", name)
        head, index = (match[1], match[2]) if match else (name, "")
    shown = f"<mi>{escape(_GREEK.get(head, head))}</mi>"
    if dot:
        shown = f'<mover accent="true">{shown}<mo>˙</mo></mover>'
    return f"<msub>{shown}<mtext>{escape(index)}</mtext></msub>" if index else shown


def equation(left: str, right: Expr) -> str:
    """left = right as a whole formula."""
    return math_element(left, "<mo>=</mo>", mathml(right))


def _wrap(piece: Piece, needed: int) -> str:
    return piece[0] if piece[1] >= needed else row("<mo>(</mo>", piece[0], "<mo>)</mo>")


def _number(value: Rational) -> Piece:
    shown = str(size(value)) if value.denominator == 1 else _decimal(size(value))
    if shown is None:
        body, strength = f"<mfrac><mn>{abs(value.numerator)}</mn><mn>{value.denominator}</mn></mfrac>", TERM
    else:
        body, strength = _plain_number(shown), ATOM
    return (row("<mo>-</mo>", body), SUM) if value < 0 else (body, strength)


def _plain_number(shown: str) -> str:
    mantissa, _, exponent = shown.partition("e")
    if not exponent:
        return f"<mn>{shown}</mn>"
    power = f"<msup><mn>10</mn><mn>{int(exponent)}</mn></msup>"
    return row(f"<mn>{mantissa}</mn>", "<mo>·</mo>", power)


def _piece(node: Expr, done: Mapping[Expr, Piece]) -> Piece:
    if isinstance(node, Number):
        return _number(node.value)
    if isinstance(node, Symbol):
        return math_name(node.name), ATOM
    if isinstance(node, Func):
        return _function(node, done)
    if isinstance(node, Held):
        return done[node.definition]
    if isinstance(node, Sum):
        return _sum(node, done)
    assert isinstance(node, Product)
    return _product(node.coefficient, node.factors, done)


def _sum(node: Sum, done: Mapping[Expr, Piece]) -> Piece:
    parts: list[str] = []
    for core, c in _terms(node):
        if parts or c < 0:
            parts.append("<mo>-</mo>" if c < 0 else "<mo>+</mo>")
        parts.append(_wrap(_product(size(c), factors_of(core), done), TERM))
    return row(*parts), SUM


def _function(node: Func, done: Mapping[Expr, Piece]) -> Piece:
    args = [done[a] for a in node.args]
    known = FUNCTIONS[node.name].mathml if node.function is None else ""
    if node.function is None:
        if node.name in COMPARISONS:
            return row(args[0][0], f"<mo>{known}</mo>", args[1][0]), 0
        if node.name == "pow":
            return f"<msup>{_wrap(args[0], ATOM)}{row(args[1][0])}</msup>", FACTOR
    if "#1" in known:
        return row(known.replace("#1", args[0][0])), ATOM
    listed = "<mo>,</mo>".join(a[0] for a in args)
    return row(f"<mi>{known or escape(node.name)}</mi>", APPLY, row("<mo>(</mo>", listed, "<mo>)</mo>")), ATOM


def _product(coefficient: Rational, factors: Factors, done: Mapping[Expr, Piece]) -> Piece:
    if not factors:
        return _number(coefficient)
    above, below = _scale(size(coefficient))
    tops: list[Piece] = [(_plain_number(above), ATOM)] if above else []
    bottoms: list[Piece] = [(_plain_number(below), ATOM)] if below else []
    for base, exponent in factors:
        (tops if exponent > 0 else bottoms).append(_power(done[base], size(exponent)))
    body = _beside(tops, alone=bool(bottoms)) or "<mn>1</mn>"
    if bottoms:
        body = f"<mfrac>{body}{_beside(bottoms, alone=True)}</mfrac>"
    if coefficient < 0:
        return row("<mo>-</mo>", body), SUM
    return body, TERM if bottoms or len(tops) > 1 else FACTOR


def _beside(pieces: Sequence[Piece], alone: bool) -> str:
    """Factors side by side; a single one above or below a bar needs no parentheses."""
    if alone and len(pieces) == 1:
        return row(pieces[0][0])
    return row(TIMES.join(_wrap(p, FACTOR) for p in pieces)) if pieces else ""


def _power(base: Piece, exponent: Rational) -> Piece:
    if exponent == 1:
        return base
    if exponent == _HALF:
        return f"<msqrt>{base[0]}</msqrt>", ATOM
    shown = f"<mn>{exponent}</mn>" if isinstance(exponent, int) else row(_number(exponent)[0])
    return f"<msup>{_wrap(base, ATOM)}{shown}</msup>", FACTOR
