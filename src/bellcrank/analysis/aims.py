"""Aims of a search: values that outputs, states, or formulas over them shall have (a radius: speed/yaw_rate)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.analysis.jacobian_runner import Groups, channel_at
from bellcrank.analysis.plant import CHANNELS, Plant
from bellcrank.errors import ModelError
from bellcrank.expr import PI, Expr, Number, Symbol, evaluate, mul, neg, partial, sub
from bellcrank.expr.function_table import OPERATORS
from bellcrank.expr.functions import CREATORS, function
from bellcrank.expr.node import rational
from bellcrank.expr.text import Syntax, evaluate_syntax, parse, show
from bellcrank.interface.interface import Quantity
from bellcrank.run.values import finite

NO_NUMBER = (ArithmeticError, ValueError)


@dataclass(frozen=True)
class Aim:
    """A value that a formula over channels shall have, in user units: `left` vanishes where it has it."""

    name: str
    unit: str
    value: float
    channels: tuple[Quantity, ...]
    formula: Expr
    left: Expr

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        return tuple(_symbol(q) for q in self.channels)

    def at(self, x: np.ndarray, values: Groups, derivatives: Groups) -> tuple[float, np.ndarray]:
        """What is left to the value, and its derivatives by all columns."""
        found = [channel_at(q, x, values, derivatives) for q in self.channels]
        known = self._known(x, values)
        (left, *by) = evaluate([self.left, *(partial(self.left, s) for s in self.symbols)], known)
        rows = [b * row / q.unit.factor for b, q, (_, row) in zip(by, self.channels, found, strict=True)]
        return left, np.sum(rows, axis=0)

    def value_at(self, x: np.ndarray, values: Groups) -> float:
        """The formula's value, nan where it has none."""
        return self._number(self.formula, x, values)

    def left_at(self, x: np.ndarray, values: Groups) -> float:
        return self._number(self.left, x, values)

    def _number(self, e: Expr, x: np.ndarray, values: Groups) -> float:
        try:
            return evaluate([e], self._known(x, values))[0]
        except NO_NUMBER:
            return float("nan")

    def _known(self, x: np.ndarray, values: Groups) -> dict[Expr, float]:
        numbers = (values["outputs"][q.place] if q.kind == "output" else x[q.column - 1] for q in self.channels)
        return {_symbol(q): float(v) / q.unit.factor for q, v in zip(self.channels, numbers, strict=True)}

    def words(self) -> str:
        return f"{self.name} = {self.value:.6g}{f' {self.unit}' if self.unit else ''}"


def _symbol(q: Quantity) -> Symbol:
    return Symbol(f"channel {q.column}", "variable")


def aims_of(plant: Plant, targets: Mapping[Any, float | str] | None) -> list[Aim]:
    """The targets a user gives: by name of an output or state, or by a formula over them (user units)."""
    if targets is not None and not isinstance(targets, Mapping):
        raise ModelError(f"targets={targets!r} must be a dictionary {{output or state: value}}", plant.name)
    return [_aim(plant, k, finite(v, f"the target {k}")) for k, v in (targets or {}).items()]


def is_formula(given: Any) -> bool:
    """Is it text that computes something?"""
    return isinstance(given, str) and any(c in given for c in "+-*/")


def _aim(plant: Plant, given: Any, value: float) -> Aim:
    text = str(getattr(given, "name", given))
    quantity = plant.interface.get(given, CHANNELS)
    if quantity is not None or not is_formula(given):
        quantity = plant.find(given, CHANNELS, "target")
        plain = _symbol(quantity)
        return Aim(quantity.name, quantity.unit.text, value, (quantity,), plain, sub(plain, _number(value)))
    used: dict[str, Quantity] = {}

    def meaning(node: Syntax, parts: list[Any]) -> Any:
        shown = show(node) if node.op in ("name", "call") else ""
        channel = plant.interface.get(shown, CHANNELS) if shown else None
        if channel is not None:
            return _symbol(used.setdefault(channel.key, channel))
        match node.op:
            case "number":
                return _number(node.args[0])
            case "name":
                return PI if shown == "pi" else node
        unknown = next((p for p in parts if isinstance(p, Syntax)), None)
        if unknown is not None:
            plant.find(show(unknown), CHANNELS, f"target '{text}':")
        if node.op == "neg":
            return neg(parts[0])
        if node.op in CREATORS:
            return CREATORS[node.op](*parts)
        return function(str(node.args[0]).lower() if node.op == "call" else OPERATORS[node.op].name, *parts)

    syntax = parse(text)
    top = evaluate_syntax(syntax, meaning)
    if isinstance(top, Syntax) or not used:
        plant.find(text, CHANNELS, "target")
    left = sub(top, _number(value))
    if syntax.op == "/":  # a radius is infinite straight ahead; speed - radius*yaw rate is not
        above, below = (evaluate_syntax(c, meaning) for c in syntax.children)
        left = sub(above, mul(_number(value), below))
    return Aim(text, "", value, tuple(used.values()), top, left)


def _number(value: float) -> Number:
    return Number(rational(value))
