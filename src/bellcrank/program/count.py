"""Operations of straight-line code over the DAG: every distinct node is computed once, constants are free.

The honest count: binary + and -, binary * (integer powers by repeated squaring), divisions, function calls. The
classic one follows Sayers (1990): any power or square root is one multiplication; calls are sin, cos, atan2 and
external routines.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bellcrank.expr import Expr, Func, Number, Product, Sum, Symbol, postorder
from bellcrank.expr.function_table import FUNCTIONS
from bellcrank.expr.node import Rational
from bellcrank.expr.walk import STILL


@dataclass
class Count:
    """Operations of one evaluation."""

    add: int = 0
    multiply: int = 0
    divide: int = 0
    function: int = 0
    muldiv_classic: int = 0
    calls_classic: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(*(a + b for a, b in zip(self._values(), other._values(), strict=True)))

    def _values(self) -> tuple[int, ...]:
        return self.add, self.multiply, self.divide, self.function, self.muldiv_classic, self.calls_classic

    @property
    def total(self) -> int:
        return self.add + self.multiply + self.divide + self.function

    def as_dict(self, per_step: Count | None = None) -> dict[str, Any]:
        """The keys of `operation_count`; work done once per step enters `classic` and `total` at a quarter."""
        once = per_step or Count()
        return {
            **self._named(),
            "total": self.total + math.ceil(once.total / 4),
            "per_step": {**once._named(), "total": once.total},
            "classic": {
                "add": self.add + math.ceil(once.add / 4),
                "muldiv": self.muldiv_classic + math.ceil(once.muldiv_classic / 4),
                "calls": self.calls_classic + math.ceil(once.calls_classic / 4),
            },
        }

    def _named(self) -> dict[str, int]:
        return {"add": self.add, "multiply": self.multiply, "divide": self.divide, "function": self.function}


def powering(n: int) -> int:
    """Multiplications of x**n by repeated squaring."""
    return max(n.bit_length() - 1 + bin(n).count("1") - 1, 0)


def count(roots: Iterable[Expr]) -> Count:
    """Operations to compute all roots, constants known."""
    total = Count()
    called: set[tuple[Any, ...]] = set()
    for node in postorder(roots, known=STILL):
        _count_node(node, total, called)
    return total


def _count_node(node: Expr, total: Count, called: set[tuple[Any, ...]]) -> None:
    if isinstance(node, Sum):
        moving = [(core, c) for core, c in node.terms if not core.constant]
        still = len(moving) < len(node.terms)
        total.add += len(moving) - 1 + still
        scaled = sum(abs(c) != 1 and not isinstance(core, Product) for core, c in moving)
        total.multiply += scaled
        total.muldiv_classic += scaled
        for core, c in moving:
            if abs(c) != 1 and isinstance(core, Product) and not has_constant(core.factors):
                total.multiply += 1
                total.muldiv_classic += 1
    elif isinstance(node, Product):
        _count_product(node, total)
    elif isinstance(node, Func):
        if node.function is None:
            total.function += FUNCTIONS[node.name].calls
            total.calls_classic += FUNCTIONS[node.name].calls
        else:
            key = (getattr(node.function, "external", node.function), node.args)
            if key not in called:
                called.add(key)
                total.function += 1
                total.calls_classic += 1


def has_constant(factors: tuple[tuple[Expr, Rational], ...]) -> bool:
    return any(base.constant for base, _ in factors)


def _count_product(node: Product, total: Count) -> None:
    top = bottom = 0
    for base, exponent in node.factors:
        if base.constant:
            continue
        size = abs(exponent)
        if isinstance(size, int):
            if size > 1:
                total.multiply += powering(size)
                total.muldiv_classic += 1
        else:
            total.function += 1
            total.muldiv_classic += 1
        if exponent > 0:
            top += 1
        else:
            bottom += 1
    scaled = abs(node.coefficient) != 1 or has_constant(node.factors)
    over = top + scaled
    multiply = max(over - 1, 0) + max(bottom - 1, 0)
    divide = 1 if bottom else 0
    total.multiply += multiply
    total.divide += divide
    only_root = bottom == 1 and over == 0 and any(not isinstance(x, int) for _, x in node.factors)
    total.muldiv_classic += multiply + (0 if only_root else divide)


def count_expression(root: Expr) -> Count:
    """Operations of one expression as printed: leaves are symbols, and what occurs twice is computed twice."""
    total = Count()
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Symbol | Number):
            continue
        stack.extend(node.parts)
        if isinstance(node, Sum):
            total.add += len(node.terms) - 1
            scaled = sum(abs(c) != 1 for _, c in node.terms)
            total.multiply += scaled
            total.muldiv_classic += scaled
        elif isinstance(node, Product):
            _count_printed_product(node, total)
        else:
            total.function += 1
            total.calls_classic += 1
    return total


def _count_printed_product(node: Product, total: Count) -> None:
    top = int(abs(node.coefficient) != 1)
    bottom = 0
    for _, exponent in node.factors:
        size = abs(exponent)
        if not isinstance(size, int):
            total.function += 1
            total.muldiv_classic += 1
        elif size > 1:
            total.multiply += powering(size)
            total.muldiv_classic += 1
        top, bottom = (top + 1, bottom) if exponent > 0 else (top, bottom + 1)
    products = max(top - 1, 0) + max(bottom - 1, 0)
    total.multiply += products
    total.divide += bottom > 0
    one_over_root = top == 0 and bottom == 1 and abs(node.factors[0][1]) != 1
    total.muldiv_classic += products + (bottom > 0 and not one_over_root)
