"""Derivatives of what stands outside the equations: tables know theirs, user functions are
differenced or held."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.codegen.c.finite_differences import c_difference
from bellcrank.core.errors import ModelError
from bellcrank.core.numeric.tuning import DIFFERENCES
from bellcrank.model.records import UserFunction
from bellcrank.symbolic.expr import ZERO, Expr, Func
from bellcrank.symbolic.expr.table import Table
from bellcrank.symbolic.expr.user_function_value import UserFunctionValue


@dataclass(frozen=True, eq=False)
class DerivativeOf(UserFunction):
    """The derivative of a user function by one argument, from central differences of the routine
    itself.

    Where that is known in C, its text calls it there."""

    base: UserFunction | None = None
    argument: int = 0

    @property
    def needs(self) -> UserFunction | None:
        return self.base


class UserFunctionDerivatives:
    """Derivatives of tables and user functions, and what had to be assumed on the way."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._made: dict[tuple[UserFunction, int], DerivativeOf] = {}

    def __call__(self, node: Func, index: int) -> Expr:
        try:  # tables and linkages know their own derivatives, these to the second order
            partial: Expr = node.function.partial(index, node.args)
            return partial
        except ModelError:
            if isinstance(node.function, Table):
                raise
        base: UserFunction = getattr(node.function, "external", node.function)
        if base.memory:
            self._add_note(
                f"the user function '{base.name}' has a memory: its values are held constant"
            )
            return ZERO
        subject = (
            "derivatives of the user function"
            if base.rule is None
            else "higher derivatives of the routine"
        )
        self._add_note(f"{subject} '{base.name}' are taken by differences")
        key = (base, index)
        if key not in self._made:
            name = f"{base.name}_by_{index + 1}"
            text = c_difference(base, name, index) if base.known_in("c") else None
            self._made[key] = DerivativeOf(
                name,
                base.arguments,
                base.returns,
                None,
                base.when,
                c=text,
                base=base,
                argument=index,
            )
        derivative = self._made[key]
        if node.function is base:
            return Func(derivative.name, node.args, derivative)
        # every value of a routine has a name of its own: equal names of equal arguments are one
        # function
        name = f"{derivative.name}.{node.function.index}"
        return Func(name, node.args, UserFunctionValue(derivative, node.function.index))

    def _add_note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def central_function_difference(function: Callable[..., Any], argument: int) -> Callable[..., Any]:
    """Central differences of fourth order of a routine by one of its arguments."""

    def evaluate_difference(*args: float) -> Any:
        h = DIFFERENCES.step * max(1.0, abs(args[argument]))

        def shifted_value(shift: float) -> np.ndarray:
            shifted = [a + shift if i == argument else a for i, a in enumerate(args)]
            return np.asarray(function(*shifted), dtype=float)

        value = (
            8 * (shifted_value(h) - shifted_value(-h))
            - (shifted_value(2 * h) - shifted_value(-2 * h))
        ) / (12 * h)
        return float(value) if value.ndim == 0 else tuple(value.tolist())

    return evaluate_difference
