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
        gradients = [channel_at(q, x, values, derivatives) for q in self.channels]
        channel_values = self._known(x, values)
        (residual, *partials) = evaluate([self.left, *(partial(self.left, s) for s in self.symbols)], channel_values)
        rows = [b * row / q.unit.factor for b, q, (_, row) in zip(partials, self.channels, gradients, strict=True)]
        return residual, np.sum(rows, axis=0)

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


def is_formula(value: Any) -> bool:
    """Is it text that computes something?"""
    return isinstance(value, str) and any(c in value for c in "+-*/")


def _aim(plant: Plant, target: Any, value: float) -> Aim:
    text = str(getattr(target, "name", target))
    quantity = plant.interface.get(target, CHANNELS)
    if quantity is not None or not is_formula(target):
        quantity = plant.find(target, CHANNELS, "target")
        plain = _symbol(quantity)
        return Aim(quantity.name, quantity.unit.text, value, (quantity,), plain, sub(plain, _number(value)))
    channels: dict[str, Quantity] = {}

    def meaning(node: Syntax, operands: list[Any]) -> Any:
        node_text = show(node) if node.op in ("name", "call") else ""
        channel = plant.interface.get(node_text, CHANNELS) if node_text else None
        if channel is not None:
            return _symbol(channels.setdefault(channel.key, channel))
        match node.op:
            case "number":
                return _number(node.args[0])
            case "name":
                return PI if node_text == "pi" else node
        unknown = next((p for p in operands if isinstance(p, Syntax)), None)
        if unknown is not None:
            plant.find(show(unknown), CHANNELS, f"target '{text}':")
        if node.op == "neg":
            return neg(operands[0])
        if node.op in CREATORS:
            return CREATORS[node.op](*operands)
        return function(str(node.args[0]).lower() if node.op == "call" else OPERATORS[node.op].name, *operands)

    syntax = parse(text)
    top = evaluate_syntax(syntax, meaning)
    if isinstance(top, Syntax) or not channels:
        plant.find(text, CHANNELS, "target")
    residual = sub(top, _number(value))
    if syntax.op == "/":  # a radius is infinite straight ahead; speed - radius*yaw rate is not
        above, below = (evaluate_syntax(c, meaning) for c in syntax.children)
        residual = sub(above, mul(_number(value), below))
    return Aim(text, "", value, tuple(channels.values()), top, residual)


def _number(value: float) -> Number:
    return Number(rational(value))
