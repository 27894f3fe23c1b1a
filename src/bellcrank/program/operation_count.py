"""Operations of straight-line code over the DAG: every distinct node is computed once, constants
are free.

The honest count: binary + and -, binary * (integer powers by repeated squaring), divisions,
function calls. The classic one follows Sayers (1990): any power or square root is one
multiplication; calls are sin, cos, atan2 and user functions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import add
from typing import Any

from bellcrank.symbolic.expr import Expr, Func, Number, Product, Sum, Symbol, postorder
from bellcrank.symbolic.expr.node import Rational
from bellcrank.symbolic.expr.traversal import STILL


@dataclass
class OperationCount:
    """Operations of one evaluation."""

    add: int = 0
    multiply: int = 0
    divide: int = 0
    function: int = 0
    muldiv_classic: int = 0
    calls_classic: int = 0

    def __add__(self, other: OperationCount) -> OperationCount:
        return OperationCount(*map(add, vars(self).values(), vars(other).values()))

    @property
    def total(self) -> int:
        return self.add + self.multiply + self.divide + self.function

    def as_dict(self, per_step: OperationCount | None = None) -> dict[str, Any]:
        """The keys of `operation_count`; work done once per step enters `classic` and `total` at a
        quarter."""
        step_count = per_step or OperationCount()
        return {
            **self._counts_by_name(),
            "total": self.total + math.ceil(step_count.total / 4),
            "per_step": {**step_count._counts_by_name(), "total": step_count.total},
            "classic": {
                "add": self.add + math.ceil(step_count.add / 4),
                "muldiv": self.muldiv_classic + math.ceil(step_count.muldiv_classic / 4),
                "calls": self.calls_classic + math.ceil(step_count.calls_classic / 4),
            },
        }

    def _counts_by_name(self) -> dict[str, int]:
        return {
            "add": self.add,
            "multiply": self.multiply,
            "divide": self.divide,
            "function": self.function,
        }


def power_multiplications(n: int) -> int:
    """Multiplications of x**n by repeated squaring."""
    return max(n.bit_length() - 1 + bin(n).count("1") - 1, 0)


def count_operations(roots: Iterable[Expr]) -> OperationCount:
    """Operations to compute all roots, constants known."""
    total = OperationCount()
    call_keys: set[tuple[Any, ...]] = set()
    for node in postorder(roots, known=STILL):
        _count_node(node, total, call_keys)
    return total


def _count_node(node: Expr, total: OperationCount, call_keys: set[tuple[Any, ...]]) -> None:
    if isinstance(node, Sum):
        moving = [(core, c) for core, c in node.terms if not core.constant]
        total.add += len(moving) - (len(moving) == len(node.terms))
        for core, c in moving:
            if abs(c) != 1 and not (
                isinstance(core, Product) and any(base.constant for base, _ in core.factors)
            ):
                total.multiply += 1
                total.muldiv_classic += 1
    elif isinstance(node, Product):
        moving_factors = [(base, x) for base, x in node.factors if not base.constant]
        _count_product(node, moving_factors, total, as_printed=False)
    elif isinstance(node, Func):
        # all values of a user function come by one call
        key = (
            (getattr(node.function, "external", node.function), node.args)
            if node.function is not None
            else (node,)
        )
        if key not in call_keys:
            call_keys.add(key)
            total.function += 1
            total.calls_classic += 1


def _count_product(
    node: Product, factors: Sequence[tuple[Expr, Rational]], total: OperationCount, as_printed: bool
) -> None:
    """The product of some factors; the others, and its number, make one constant."""
    top, bottom = int(abs(node.coefficient) != 1 or len(factors) < len(node.factors)), 0
    for _, exponent in factors:
        top, bottom = (top + 1, bottom) if exponent > 0 else (top, bottom + 1)
        if exponent not in (1, -1):
            total.muldiv_classic += 1
            if isinstance(exponent, int):
                total.multiply += power_multiplications(abs(exponent))
            else:
                total.function += 1
    products = max(top - 1, 0) + max(bottom - 1, 0)
    total.multiply += products
    total.divide += bottom > 0
    is_single_root = (
        top == 0
        and bottom == 1
        and (abs(factors[0][1]) != 1 if as_printed else not isinstance(factors[0][1], int))
    )
    total.muldiv_classic += products + (
        bottom > 0 and not is_single_root
    )  # one over a root is one operation


def count_expression(root: Expr) -> OperationCount:
    """Operations of one expression as printed: leaves are symbols, and what occurs twice is
    computed twice."""
    total = OperationCount()
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
            _count_product(node, node.factors, total, as_printed=True)
        else:
            total.function += 1
            total.calls_classic += 1
    return total
