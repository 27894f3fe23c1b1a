"""A small meaning for parsed formulas: names are symbols, functions are the built-in ones."""

from bellcrank.symbolic.expr import (
    PI,
    Func,
    Number,
    Symbol,
    add,
    apply_builtin,
    div,
    mul,
    neg,
    power,
)
from bellcrank.symbolic.expr.formula_parser import evaluate_syntax, parse_formula
from bellcrank.symbolic.expr.node import to_rational

COMPARISON = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


class Chain(list):
    """Terms of a sum that is still being read: a + b + c is one sum of three, as it was when
    printed."""


def settle(value):
    return add(*value) if isinstance(value, Chain) else value


def read(text, symbols=None, user=None):
    """The expression that a text stands for."""
    symbols, user = symbols or {}, user or {}

    def meaning(node, parts):
        if node.op in ("+", "-"):
            left = parts[0] if isinstance(parts[0], Chain) else Chain([parts[0]])
            right = settle(parts[1])
            left.append(right if node.op == "+" else neg(right))
            return left
        args = [settle(p) for p in parts]
        match node.op:
            case "number":
                return Number(to_rational(node.args[0]))
            case "name":
                return (
                    PI
                    if node.args[0] == "pi"
                    else symbols.get(node.args[0]) or Symbol(node.args[0])
                )
            case "neg":
                return neg(args[0])
            case "*":
                return mul(*args)
            case "/":
                return div(*args)
            case "**":
                return power(*args)
            case "call":
                name = node.args[0]
                return (
                    Func(name, tuple(args), user[name])
                    if name in user
                    else apply_builtin(name, *args)
                )
        return apply_builtin(COMPARISON[node.op], *args)

    return settle(evaluate_syntax(parse_formula(text), meaning))
