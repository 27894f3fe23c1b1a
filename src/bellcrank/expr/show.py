"""Expressions as text a parser reads back, and as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bellcrank.expr.node import Expr, Func, Held, Number, Product, Rational, Sum, Symbol
from bellcrank.expr.walk import postorder

# Binding strengths: how tightly the outermost operator of a piece of text holds together.
SUM, TERM, FACTOR, ATOM = 1, 2, 3, 4
COMPARISON = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}
Piece = tuple[str, int]


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
    if isinstance(value, int):
        return (str(value), ATOM if value >= 0 else SUM)
    approximate = repr(float(value))
    from fractions import Fraction

    if "e" not in approximate and Fraction(approximate) == value:
        return (approximate, ATOM if value >= 0 else SUM)
    return (f"{value.numerator}/{value.denominator}", TERM if value >= 0 else SUM)


def _piece(node: Expr, done: Mapping[Expr, Piece]) -> Piece:
    if isinstance(node, Number):
        return _number(node.value)
    if isinstance(node, Symbol):
        return node.name, ATOM
    if isinstance(node, Func):
        if node.name in COMPARISON:
            a, b = (_wrap(done[x], SUM) for x in node.args)
            return f"({a} {COMPARISON[node.name]} {b})", ATOM
        return f"{node.name}({', '.join(done[a][0] for a in node.args)})", ATOM
    if isinstance(node, Held):
        return done[node.definition]
    if isinstance(node, Sum):
        return _sum(node, done)
    assert isinstance(node, Product)
    return _product(node.coefficient, node.factors, done)


def _sum(node: Sum, done: Mapping[Expr, Piece]) -> Piece:
    pieces = []
    for core, c in node.terms:
        factors = () if isinstance(core, Number) else core.factors if isinstance(core, Product) else ((core, 1),)
        body = _product(abs(c), factors, done)
        sign = "-" if c < 0 else "+"
        pieces.append(f"{sign} {_wrap(body, TERM)}")
    joined = " ".join(pieces)
    return (joined[2:] if joined.startswith("+ ") else "-" + joined[2:]), SUM


def _product(coefficient: Rational, factors: tuple[tuple[Expr, Rational], ...], done: Mapping[Expr, Piece]) -> Piece:
    top: list[str] = []
    bottom: list[str] = []
    for base, exponent in factors:
        (top if exponent > 0 else bottom).append(_power(done[base], abs(exponent)))
    sign = "-" if coefficient < 0 else ""
    size = abs(coefficient)
    if isinstance(size, int) or not top or len(bottom) > 0:
        if size != 1 or not top:
            top.insert(0, _wrap(_number(size), FACTOR if top or bottom else TERM))
    else:
        if size.numerator != 1 or not top:
            number = _number(size)
            if number[1] == ATOM:
                top.insert(0, number[0])
            else:
                top.insert(0, str(size.numerator))
                bottom.insert(0, str(size.denominator))
        else:
            bottom.insert(0, str(size.denominator))
    body = "*".join(top)
    if bottom:
        body += "/" + (bottom[0] if len(bottom) == 1 else f"({'*'.join(bottom)})")
    if sign:
        return sign + body, SUM
    simple = len(top) == 1 and not bottom
    return body, (FACTOR if simple and "**" in body else ATOM if simple and len(factors) == 1 and size == 1 else TERM)


def _power(base: Piece, exponent: Rational) -> str:
    if exponent == 1:
        return _wrap(base, FACTOR)
    if exponent == 1 / 2:
        return f"sqrt({base[0]})"
    n = str(exponent) if isinstance(exponent, int) else f"({exponent.numerator}/{exponent.denominator})"
    return f"{_wrap(base, ATOM)}**{n}"


# ---------------------------------------------------------------------------------------------------------- LaTeX

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega pi"
).split()


def latex_name(name: str) -> str:
    """A symbol's name in LaTeX: theta_r1 is \\theta_{r1}, q(b, 2) is q_{b,2}."""
    indexed = re.fullmatch(r"(\w+)\((.*)\)", name)
    if indexed:
        head = {"up": r"\dot{u}", "qp": r"\dot{q}"}.get(indexed[1], latex_name(indexed[1]))
        inside = indexed[2].replace(" ", "").replace("_", r"\_")
        return f"{head}_{{{inside}}}"
    match = re.fullmatch(r"([A-Za-z]+?)_?(\d*(?:_\w+)?)", name)
    head, tail = (match[1], match[2].lstrip("_")) if match else (name, "")
    if "_" in head and not tail:
        head, _, tail = head.partition("_")
    if head.lower() in _GREEK:
        head = "\\" + head
    elif len(head) > 1:
        head = rf"\mathit{{{head}}}".replace("_", r"\_")
    tail = tail.replace("_", r"\_")
    return f"{head}_{{{tail}}}" if tail else head


def latex(root: Expr, names: Mapping[Expr, str] | None = None) -> str:
    """LaTeX of an expression."""
    names = names or {}
    done: dict[Expr, Piece] = {}
    for node in postorder((root,)):
        done[node] = (names[node], ATOM) if node in names else _latex_piece(node, done)
    return done[root][0]


def _latex_wrap(piece: Piece, needed: int) -> str:
    return piece[0] if piece[1] >= needed else rf"\left({piece[0]}\right)"


def _latex_number(value: Rational) -> str:
    if isinstance(value, int):
        return str(value)
    shown = _number(value)
    return shown[0] if shown[1] == ATOM else rf"\frac{{{value.numerator}}}{{{value.denominator}}}"


def _latex_piece(node: Expr, done: Mapping[Expr, Piece]) -> Piece:
    if isinstance(node, Number):
        sign = "-" if node.value < 0 else ""
        return sign + _latex_number(abs(node.value)), ATOM if node.value >= 0 else SUM
    if isinstance(node, Symbol):
        return latex_name(node.name), ATOM
    if isinstance(node, Func):
        if node.name in COMPARISON:
            symbol = {"lt": "<", "le": r"\le", "gt": ">", "ge": r"\ge"}[node.name]
            return f"{done[node.args[0]][0]} {symbol} {done[node.args[1]][0]}", SUM
        if node.name == "abs":
            return rf"\left|{done[node.args[0]][0]}\right|", ATOM
        known = {"asin": r"\arcsin", "acos": r"\arccos", "atan": r"\arctan"}
        plain = {"sin", "cos", "tan", "exp", "log", "min", "max"}
        head = known.get(node.name) or ("\\" + node.name if node.name in plain else rf"\operatorname{{{node.name}}}".replace("_", r"\_"))
        return rf"{head}\left({', '.join(done[a][0] for a in node.args)}\right)", ATOM
    if isinstance(node, Held):
        return done[node.definition]
    if isinstance(node, Sum):
        pieces = []
        for core, c in node.terms:
            factors = () if isinstance(core, Number) else core.factors if isinstance(core, Product) else ((core, 1),)
            pieces.append(("- " if c < 0 else "+ ") + _latex_wrap(_latex_product(abs(c), factors, done), TERM))
        joined = " ".join(pieces)
        return (joined[2:] if joined.startswith("+ ") else joined), SUM
    assert isinstance(node, Product)
    return _latex_product(node.coefficient, node.factors, done)


def _latex_product(coefficient: Rational, factors: tuple[tuple[Expr, Rational], ...], done: Mapping[Expr, Piece]) -> Piece:
    top: list[str] = []
    bottom: list[str] = []
    for base, exponent in factors:
        piece, n = done[base], abs(exponent)
        if n == 1:
            shown = _latex_wrap(piece, FACTOR)
        elif n == 1 / 2:
            shown = rf"\sqrt{{{piece[0]}}}"
        else:
            shown = f"{{{_latex_wrap(piece, ATOM)}}}^{{{n}}}"
        (top if exponent > 0 else bottom).append(shown)
    size = abs(coefficient)
    if size != 1 or not top:
        top.insert(0, _latex_number(size))
    body = r" \, ".join(top)
    if bottom:
        body = "\\frac{" + body + "}{" + r" \, ".join(bottom) + "}"
    return ("-" + body, SUM) if coefficient < 0 else (body, TERM if len(top) > 1 or bottom else FACTOR)
