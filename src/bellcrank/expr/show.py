"""Expressions as text a parser reads back, and as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from bellcrank.expr.construct import factors_of
from bellcrank.expr.function_table import COMPARISONS, FUNCTIONS
from bellcrank.expr.node import Expr, Func, Held, Number, Product, Rational, Sum, Symbol, size
from bellcrank.expr.walk import postorder

# Binding strengths: how tightly the outermost operator of a piece of text holds together.
SUM, TERM, FACTOR, ATOM = 1, 2, 3, 4
Piece = tuple[str, int]
Factors = tuple[tuple[Expr, Rational], ...]
_HALF = Fraction(1, 2)
_LARGEST_DIVISOR = 1000  # x/1000, but 0.0001*x


def text(root: Expr, names: Mapping[Expr, str] | None = None) -> str:
    """Readable text; `names` are used for the nodes they name."""
    names = names or {}
    done: dict[Expr, Piece] = {}
    for node in postorder((root,)):
        done[node] = (names[node], ATOM) if node in names else _piece(node, done)
    return done[root][0]


def _wrap(piece: Piece, needed: int) -> str:
    return piece[0] if piece[1] >= needed else f"({piece[0]})"


def _number(value: Rational) -> Piece:
    shown = str(value.numerator) if value.denominator == 1 else _decimal(value)
    if shown is not None:
        return (shown, ATOM if value >= 0 else SUM)
    return (f"{value.numerator}/{value.denominator}", TERM if value >= 0 else SUM)


def _decimal(value: Rational) -> str | None:
    """The decimal number that is exactly the value, if a short one is."""
    try:
        shown = repr(float(value))
        return shown if Fraction(shown) == value else None
    except (OverflowError, ValueError):
        return None


def _scale(value: Rational) -> tuple[str, str]:
    """A positive number as text above and below a fraction bar, "" for 1: 3/4 is 0.75 above, 1/2 is 2 below."""
    above, below = value.numerator, value.denominator
    decimal = None if below == 1 or (above == 1 and below <= _LARGEST_DIVISOR) else _decimal(value)
    if decimal is not None:
        return decimal, ""
    return "" if above == 1 else str(above), "" if below == 1 else str(below)


def _piece(node: Expr, done: Mapping[Expr, Piece]) -> Piece:
    if isinstance(node, Number):
        return _number(node.value)
    if isinstance(node, Symbol):
        return node.name, ATOM
    if isinstance(node, Func):
        if node.name in COMPARISONS:
            a, b = (done[x][0] for x in node.args)
            return f"({a} {COMPARISONS[node.name].operator} {b})", ATOM
        if node.name == "pow" and node.function is None:
            a, b = (_wrap(done[x], ATOM) for x in node.args)
            return f"{a}**{b}", FACTOR
        return f"{node.name}({', '.join(done[a][0] for a in node.args)})", ATOM
    if isinstance(node, Held):
        return done[node.definition]
    if isinstance(node, Sum):
        return _sum(node, done)
    assert isinstance(node, Product)
    return _product(node.coefficient, node.factors, done)


def _sum(node: Sum, done: Mapping[Expr, Piece]) -> Piece:
    pieces = []
    for core, c in _terms(node):
        sign = "-" if c < 0 else "+"
        pieces.append(f"{sign} {_wrap(_product(size(c), factors_of(core), done), TERM)}")
    joined = " ".join(pieces)
    return (joined[2:] if joined.startswith("+ ") else "-" + joined[2:]), SUM


def _terms(node: Sum) -> list[tuple[Expr, Rational]]:
    """Terms with the numbers of their products in front; in the statements of a program these stand inside."""
    return [(core, c * core.coefficient if isinstance(core, Product) else c) for core, c in node.terms]


def _product(coefficient: Rational, factors: Factors, done: Mapping[Expr, Piece]) -> Piece:
    if not factors:
        return _number(coefficient)
    above, below = _scale(size(coefficient))
    top = [above] if above else []
    bottom = [below] if below else []
    for base, exponent in factors:
        (top if exponent > 0 else bottom).append(_power(done[base], size(exponent)))
    body = "*".join(top) or "1"
    if bottom:
        body += "/" + (bottom[0] if len(bottom) == 1 else f"({'*'.join(bottom)})")
    if coefficient < 0:
        return "-" + body, SUM
    return body, TERM if bottom or len(top) > 1 else FACTOR


def _power(base: Piece, exponent: Rational) -> str:
    if exponent == 1:
        return _wrap(base, FACTOR)
    if exponent == _HALF:
        return f"sqrt({base[0]})"
    n = str(exponent) if isinstance(exponent, int) else f"({exponent.numerator}/{exponent.denominator})"
    return f"{_wrap(base, ATOM)}**{n}"


# ---------------------------------------------------------------------------------------------------------- LaTeX

_SMALL = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi"
_CAPITAL = "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
_LETTERS = frozenset(f"{_SMALL} omega {_CAPITAL}".split())
_SPECIAL = {**{c: "\\" + c for c in "_#$%&{}"}, "\\": r"\backslash ", "^": r"\hat{}", "~": r"\sim "}


def latex_text(name: str) -> str:
    """A name with the characters that mean something in LaTeX made plain."""
    return "".join(_SPECIAL.get(c, c) for c in name)


def latex_name(name: str) -> str:
    """A symbol's name in LaTeX: theta_r1 is \\theta_{r1}, q(b, 2) is q_{b,2}, u1' has a dot."""
    if name.endswith("'"):
        head, index, rest = latex_name(name[:-1]).partition("_{")
        return rf"\dot{{{head}}}{index}{rest}"
    indexed = re.fullmatch(r"(\w+)\((.*)\)", name)
    if indexed:
        head = {"up": r"\dot{u}", "qp": r"\dot{q}"}.get(indexed[1]) or _latex_head(indexed[1])
        return f"{head}_{{{latex_text(indexed[2].replace(' ', ''))}}}"
    match = re.fullmatch(r"([A-Za-z]+)_?(\d*|(?<=_)\w+|\d+_\w+)", name)
    if not match:
        return _latex_head(name)
    return f"{_latex_head(match[1])}_{{{latex_text(match[2])}}}" if match[2] else _latex_head(match[1])


def _latex_head(name: str) -> str:
    if name in _LETTERS:
        return "\\" + name
    return name if len(name) == 1 and name.isalnum() else rf"\mathit{{{latex_text(name)}}}"


def latex(root: Expr, names: Mapping[Expr, str] | None = None) -> str:
    """LaTeX of an expression."""
    names = names or {}
    done: dict[Expr, Piece] = {}
    for node in postorder((root,)):
        done[node] = (names[node], ATOM) if node in names else _latex_piece(node, done)
    return done[root][0]


def _latex_wrap(piece: Piece, needed: int) -> str:
    return piece[0] if piece[1] >= needed else rf"\left({piece[0]}\right)"


def _latex_decimal(shown: str) -> str:
    mantissa, _, exponent = shown.partition("e")
    if not exponent:
        return shown
    power = f"10^{{{int(exponent)}}}"
    return power if mantissa == "1" else rf"{mantissa} \cdot {power}"


def _latex_number(value: Rational) -> Piece:
    decimal = None if value.denominator == 1 else _decimal(size(value))
    if value.denominator == 1:
        shown, strength = str(abs(value)), ATOM
    elif decimal is not None:
        shown, strength = _latex_decimal(decimal), TERM if "e" in decimal else ATOM
    else:
        shown, strength = rf"\frac{{{abs(value.numerator)}}}{{{value.denominator}}}", TERM
    return ("-" + shown, SUM) if value < 0 else (shown, strength)


def _latex_piece(node: Expr, done: Mapping[Expr, Piece]) -> Piece:
    if isinstance(node, Number):
        return _latex_number(node.value)
    if isinstance(node, Symbol):
        return latex_name(node.name), ATOM
    if isinstance(node, Func):
        return _latex_function(node, done)
    if isinstance(node, Held):
        return done[node.definition]
    if isinstance(node, Sum):
        pieces = []
        for core, c in _terms(node):
            sign = "-" if c < 0 else "+"
            pieces.append(f"{sign} {_latex_wrap(_latex_product(size(c), factors_of(core), done), TERM)}")
        joined = " ".join(pieces)
        return (joined[2:] if joined.startswith("+ ") else joined), SUM
    assert isinstance(node, Product)
    return _latex_product(node.coefficient, node.factors, done)


def _latex_function(node: Func, done: Mapping[Expr, Piece]) -> Piece:
    args = [done[a][0] for a in node.args]
    known = FUNCTIONS[node.name].latex if node.function is None else ""
    if node.function is None:
        if node.name in COMPARISONS:
            return f"{args[0]} {known} {args[1]}", 0
        if node.name == "pow":
            return f"{{{_latex_wrap(done[node.args[0]], ATOM)}}}^{{{args[1]}}}", FACTOR
    if "#1" in known:
        return known.replace("#1", args[0]), ATOM
    head = known or rf"\operatorname{{{latex_text(node.name)}}}"
    return rf"{head}\left({', '.join(args)}\right)", ATOM


def _latex_product(coefficient: Rational, factors: Factors, done: Mapping[Expr, Piece]) -> Piece:
    if not factors:
        return _latex_number(coefficient)
    above, below = _scale(size(coefficient))
    tops = [(_latex_decimal(above), ATOM)] if above else []
    bottoms = [(below, ATOM)] if below else []
    for base, exponent in factors:
        (tops if exponent > 0 else bottoms).append(_latex_power(done[base], size(exponent)))
    top = _latex_juxtaposed(tops, alone=bool(bottoms)) or "1"
    body = rf"\frac{{{top}}}{{{_latex_juxtaposed(bottoms, alone=True)}}}" if bottoms else top
    if coefficient < 0:
        return "-" + body, SUM
    return body, TERM if bottoms or len(tops) > 1 else FACTOR


def _latex_juxtaposed(pieces: list[Piece], alone: bool) -> str:
    """Factors side by side; a single one that stands alone above or below a bar needs no parentheses."""
    if alone and len(pieces) == 1:
        return pieces[0][0]
    return r" \, ".join(_latex_wrap(piece, FACTOR) for piece in pieces)


def _latex_power(base: Piece, exponent: Rational) -> Piece:
    if exponent == 1:
        return base
    if exponent == _HALF:
        return rf"\sqrt{{{base[0]}}}", ATOM
    return f"{{{_latex_wrap(base, ATOM)}}}^{{{exponent}}}", FACTOR
