"""Scalar algebra: interned expressions, creators, calculus, text. No mechanics, nothing else of the project."""

import bellcrank.expr.operators  # noqa: F401  gives expressions their operators
from bellcrank.expr.calculus import constant_part, derivative, expand, gradient, nominal, partial
from bellcrank.expr.construct import add, div, expression, mul, neg, power, small_threshold, sub
from bellcrank.expr.evaluate import evaluate
from bellcrank.expr.exchange import from_sympy, to_sympy
from bellcrank.expr.flat import dump, load
from bellcrank.expr.functions import cos, function, sin, sqrt
from bellcrank.expr.node import MINUS_ONE, ONE, PI, TWO, ZERO, Expr, Func, Held, Number, Product, Sum, Symbol
from bellcrank.expr.show import latex
from bellcrank.expr.walk import depends_on, hold, postorder, release, substitute, symbols, transform

__all__ = [
    "MINUS_ONE", "ONE", "PI", "TWO", "ZERO", "Expr", "Func", "Held", "Number", "Product", "Sum", "Symbol", "add",
    "constant_part", "cos", "depends_on", "derivative", "div", "dump", "evaluate", "expand", "expression",
    "from_sympy", "function", "gradient", "hold", "latex", "load", "mul", "neg", "nominal", "partial", "postorder",
    "power", "release", "sin", "small_threshold", "sqrt", "sub", "substitute", "symbols", "to_sympy", "transform",
]  # fmt: skip
