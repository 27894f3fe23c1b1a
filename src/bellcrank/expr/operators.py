"""What Python's operators, str(), notebooks and pickles do with expressions. Importing `bellcrank.expr` installs it.

Nodes know nothing of how they are built or shown; the creators and the writers know the nodes. This is where they meet.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from bellcrank.expr.construct import add, div, mul, neg, power, sub
from bellcrank.expr.flat import dump, load_one
from bellcrank.expr.function_table import COMPARISONS
from bellcrank.expr.functions import function
from bellcrank.expr.node import Expr, operand
from bellcrank.expr.show import latex, text


def _install(name: str, create: Callable[[Expr, Expr], Expr], mirrored: bool = True) -> None:
    def operator(self: Expr, other: Any) -> Expr:
        return NotImplemented if (x := operand(other)) is None else create(self, x)

    def reverse(self: Expr, other: Any) -> Expr:
        return NotImplemented if (x := operand(other)) is None else create(x, self)

    setattr(Expr, f"__{name}__", operator)
    if mirrored:
        setattr(Expr, f"__r{name}__", reverse)


_BINARY: dict[str, Callable[[Expr, Expr], Expr]] = {"add": add, "sub": sub, "mul": mul, "truediv": div, "pow": power}
for _name, _create in _BINARY.items():
    _install(_name, _create)
for _name in COMPARISONS:
    _install(_name, partial(function, _name), mirrored=False)

_UNARY: dict[str, Callable[[Expr], Any]] = {
    "__neg__": neg,
    "__pos__": lambda self: self,
    "__abs__": lambda self: function("abs", self),
    "__str__": lambda self: text(self),
    "__repr__": lambda self: text(self),
    "_repr_latex_": lambda self: f"${latex(self)}$",
    "__reduce__": lambda self: (load_one, (dump([self]),)),
}
for _name, _does in _UNARY.items():
    setattr(Expr, _name, _does)
