"""What Python's operators, str(), notebooks and pickles do with expressions. Importing
`bellcrank.symbolic.expr` installs it.

Nodes know nothing of how they are built or shown; the creators and the writers know the nodes. This
is where they meet.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from bellcrank.symbolic.expr.construct import add, div, mul, neg, power, sub
from bellcrank.symbolic.expr.function_table import COMPARISONS
from bellcrank.symbolic.expr.functions import apply_builtin
from bellcrank.symbolic.expr.node import Expr, try_expression
from bellcrank.symbolic.expr.printing import to_latex, to_text
from bellcrank.symbolic.expr.serialization import dump_nodes, load_one


def _install_operator(
    name: str, create: Callable[[Expr, Expr], Expr], mirrored: bool = True
) -> None:
    def apply_operator(self: Expr, other: Any) -> Expr:
        return NotImplemented if (x := try_expression(other)) is None else create(self, x)

    def apply_reversed(self: Expr, other: Any) -> Expr:
        return NotImplemented if (x := try_expression(other)) is None else create(x, self)

    setattr(Expr, f"__{name}__", apply_operator)
    if mirrored:
        setattr(Expr, f"__r{name}__", apply_reversed)


_BINARY: dict[str, Callable[[Expr, Expr], Expr]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "truediv": div,
    "pow": power,
}
for _name, _create in _BINARY.items():
    _install_operator(_name, _create)
for _name in COMPARISONS:
    _install_operator(_name, partial(apply_builtin, _name), mirrored=False)

_UNARY: dict[str, Callable[[Expr], Any]] = {
    "__neg__": neg,
    "__pos__": lambda self: self,
    "__abs__": lambda self: apply_builtin("abs", self),
    "__str__": lambda self: to_text(self),
    "__repr__": lambda self: to_text(self),
    "_repr_latex_": lambda self: f"${to_latex(self)}$",
    "__reduce__": lambda self: (load_one, (dump_nodes([self]),)),
}
for _name, _does in _UNARY.items():
    setattr(Expr, _name, _does)
