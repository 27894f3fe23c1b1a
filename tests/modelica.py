"""The grammar of unit expressions: Modelica Language Specification 3.6, section 19.1."""

import re

_TOKEN = re.compile(r"[A-Za-z_]+|\d+|[-+./()]")


def is_unit(text):
    """Does a text follow the grammar?

    unit-expression: unit-numerator ["/" unit-denominator]; unit-numerator: "1" | unit-factors | "("
    unit-expression ")"; unit-denominator: unit-factor | "(" unit-expression ")"; unit-factors:
    unit-factor ["." unit-factors]; unit-factor: unit-operand [unit-exponent]; unit-exponent: ["+" |
    "-"] integer.
    """
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != text or not tokens:
        return False
    rest = _expression(tokens)
    return rest is not None and not rest


def _expression(tokens):
    rest = _numerator(tokens)
    if rest and rest[0] == "/":
        rest = (_parenthesized if rest[1:2] == ["("] else _factor)(rest[1:])
    return rest


def _numerator(tokens):
    if tokens[:1] == ["1"]:
        return tokens[1:]
    if tokens[:1] == ["("]:
        return _parenthesized(tokens)
    rest = _factor(tokens)
    while rest and rest[0] == ".":
        rest = _factor(rest[1:])
    return rest


def _parenthesized(tokens):
    rest = _expression(tokens[1:])
    return rest[1:] if rest and rest[0] == ")" else None


def _factor(tokens):
    if not tokens or not re.fullmatch(r"[A-Za-z_]+", tokens[0]):
        return None
    rest = tokens[1:]
    if rest[:1] in (["+"], ["-"]):
        return rest[2:] if len(rest) > 1 and rest[1].isdigit() else None
    return rest[1:] if rest[:1] and rest[0].isdigit() else rest
