"""Scalar algebra: interned expressions, creators, calculus, text. No mechanics, nothing else of the
project."""

import bellcrank.symbolic.expr.operators  # noqa: F401  gives expressions their operators
from bellcrank.symbolic.expr.calculus import (
    constant_part,
    derivative,
    expand,
    gradient,
    nominal,
    partial,
)
from bellcrank.symbolic.expr.construct import (
    add,
    div,
    expression,
    mul,
    neg,
    power,
    small_threshold,
    sub,
)
from bellcrank.symbolic.expr.evaluate import evaluate
from bellcrank.symbolic.expr.functions import apply_builtin, cos, sin, sqrt
from bellcrank.symbolic.expr.node import (
    MINUS_ONE,
    ONE,
    PI,
    TWO,
    ZERO,
    Expr,
    Func,
    NamedSubexpression,
    Number,
    Product,
    Sum,
    Symbol,
)
from bellcrank.symbolic.expr.printing import to_latex
from bellcrank.symbolic.expr.serialization import dump_nodes, load_nodes
from bellcrank.symbolic.expr.sympy_exchange import from_sympy, to_sympy
from bellcrank.symbolic.expr.traversal import (
    as_atom,
    depends_on,
    free_symbols,
    inline_named,
    postorder,
    rewrite_nodes,
    substitute,
)

__all__ = [
    "MINUS_ONE",
    "ONE",
    "PI",
    "TWO",
    "ZERO",
    "Expr",
    "Func",
    "NamedSubexpression",
    "Number",
    "Product",
    "Sum",
    "Symbol",
    "add",
    "constant_part",
    "cos",
    "depends_on",
    "derivative",
    "div",
    "dump_nodes",
    "evaluate",
    "expand",
    "expression",
    "from_sympy",
    "apply_builtin",
    "gradient",
    "as_atom",
    "to_latex",
    "load_nodes",
    "mul",
    "neg",
    "nominal",
    "partial",
    "postorder",
    "power",
    "inline_named",
    "sin",
    "small_threshold",
    "sqrt",
    "sub",
    "substitute",
    "free_symbols",
    "to_sympy",
    "rewrite_nodes",
]
