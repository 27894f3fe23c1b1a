"""A value of a routine that stands outside the equations, as a function in formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bellcrank.symbolic.expr.node import Expr

Rule = Callable[
    [int, Sequence[Expr]], Expr
]  # the partial derivative of a value by one of the arguments


@dataclass(frozen=True)
class UserFunctionValue:
    """The i-th value of a routine with several values.

    The `rule(i)` of the routine, if there is one, returns the partial derivatives of that value.
    """

    external: Any
    index: int

    varies = True

    @property
    def identity_key(self) -> str:
        """What distinguishes it from the other values of the routine."""
        return str(self.index)

    def partial(self, index: int, args: Sequence[Expr]) -> Expr:
        rule = self.external.rule
        slope: Expr = (
            self.external.partial(index, args) if rule is None else rule(self.index)(index, args)
        )
        return slope
