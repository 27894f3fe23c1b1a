"""Aims of a search: values that outputs, states, or formulas over them shall have (a radius:
speed/yaw_rate)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.analysis.jacobian_runner import Groups, channel_value_and_gradient
from bellcrank.analysis.plant import CHANNELS, AnalysisModel
from bellcrank.core.errors import ModelError
from bellcrank.mechanics.interface.formula_units import formula_units
from bellcrank.mechanics.interface.interface import Quantity
from bellcrank.simulation.run.argument_checks import require_finite
from bellcrank.symbolic.expr import ONE, PI, Expr, Number, Symbol, evaluate, mul, neg, partial, sub
from bellcrank.symbolic.expr.formula_parser import (
    SyntaxNode,
    evaluate_syntax,
    parse_formula,
    syntax_to_text,
)
from bellcrank.symbolic.expr.function_table import OPERATORS
from bellcrank.symbolic.expr.functions import CREATORS, apply_builtin
from bellcrank.symbolic.expr.node import to_rational

NO_NUMBER = (ArithmeticError, ValueError)


@dataclass(frozen=True)
class SearchTarget:
    """A value that a formula over channels shall have, in user units: `residual_formula` vanishes
    where it has it."""

    name: str
    unit: str
    value: float
    channels: tuple[Quantity, ...]
    formula: Expr
    residual_formula: Expr

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        return tuple(_channel_symbol(q) for q in self.channels)

    def residual_and_gradient(
        self, x: np.ndarray, values: Groups, derivatives: Groups
    ) -> tuple[float, np.ndarray]:
        """What is left to the value, and its derivatives by all columns."""
        gradients = [channel_value_and_gradient(q, x, values, derivatives) for q in self.channels]
        channel_values = self._channel_values(x, values)
        (residual, *partials) = evaluate(
            [self.residual_formula, *(partial(self.residual_formula, s) for s in self.symbols)],
            channel_values,
        )
        rows = [
            b * row / q.unit.factor
            for b, q, (_, row) in zip(partials, self.channels, gradients, strict=True)
        ]
        return residual, np.sum(rows, axis=0)

    def value_at(self, x: np.ndarray, values: Groups) -> float:
        """The formula's value, nan where it has none."""
        return self._evaluate(self.formula, x, values)

    def residual_at(self, x: np.ndarray, values: Groups) -> float:
        return self._evaluate(self.residual_formula, x, values)

    def _evaluate(self, e: Expr, x: np.ndarray, values: Groups) -> float:
        try:
            return evaluate([e], self._channel_values(x, values))[0]
        except NO_NUMBER:
            return float("nan")

    def _channel_values(self, x: np.ndarray, values: Groups) -> dict[Expr, float]:
        numbers = (
            values["outputs"][q.index] if q.kind == "output" else x[q.column - 1]
            for q in self.channels
        )
        return {
            _channel_symbol(q): float(v) / q.unit.factor
            for q, v in zip(self.channels, numbers, strict=True)
        }

    def label(self) -> str:
        return f"{self.name} = {self.value:.6g}{f' {self.unit}' if self.unit else ''}"


def _channel_symbol(q: Quantity) -> Symbol:
    return Symbol(f"channel {q.column}", "variable")


def read_targets(
    plant: AnalysisModel, targets: Mapping[Any, float | str] | None
) -> list[SearchTarget]:
    """The targets a user gives: by name of an output or state, or by a formula over them (user
    units)."""
    if targets is not None and not isinstance(targets, Mapping):
        raise ModelError(
            f"targets={targets!r} must be a dictionary {{output or state: value}}", plant.name
        )
    return [
        _make_target(plant, k, require_finite(v, f"the target {k}"))
        for k, v in (targets or {}).items()
    ]


def is_formula(value: Any) -> bool:
    """Is it text that computes something?"""
    return isinstance(value, str) and any(c in value for c in "+-*/")


def _make_target(plant: AnalysisModel, target: Any, value: float) -> SearchTarget:
    text = str(getattr(target, "name", target))
    quantity = plant.interface.find_or_none(target, CHANNELS)
    if quantity is not None or not is_formula(target):
        quantity = plant.find_quantity(target, CHANNELS, "target")
        plain = _channel_symbol(quantity)
        return SearchTarget(
            quantity.name,
            quantity.unit.text,
            value,
            (quantity,),
            plain,
            sub(plain, _exact_number(value)),
        )
    channels: dict[str, Quantity] = {}

    def visit_node(node: SyntaxNode, operands: list[Any]) -> Any:
        node_text = syntax_to_text(node) if node.op in ("name", "call") else ""
        channel = plant.interface.find_or_none(node_text, CHANNELS) if node_text else None
        if channel is not None:
            return _channel_symbol(channels.setdefault(channel.key, channel))
        match node.op:
            case "number":
                return _exact_number(node.args[0])
            case "name":
                return PI if node_text == "pi" else node
        unknown = next((p for p in operands if isinstance(p, SyntaxNode)), None)
        if unknown is not None:
            plant.find_quantity(syntax_to_text(unknown), CHANNELS, f"target '{text}':")
        if node.op == "neg":
            return neg(operands[0])
        if node.op in CREATORS:
            return CREATORS[node.op](*operands)
        return apply_builtin(
            str(node.args[0]).lower() if node.op == "call" else OPERATORS[node.op].name, *operands
        )

    syntax = parse_formula(text)
    formula = formula_units(plant.interface).shown_term(syntax).syntax
    top = evaluate_syntax(formula, visit_node)
    if isinstance(top, SyntaxNode) or not channels:
        plant.find_quantity(text, CHANNELS, "target")
    residual = sub(top, _exact_number(value))
    if syntax.op == "/":  # a radius is infinite straight ahead; speed - radius*yaw rate is not
        fraction = formula if formula.op == "/" else formula.children[0]  # without its conversion
        above, below = (evaluate_syntax(c, visit_node) for c in fraction.children)
        factor = ONE if fraction is formula else evaluate_syntax(formula.children[1], visit_node)
        residual = sub(mul(above, factor), mul(_exact_number(value), below))
    return SearchTarget(text, "", value, tuple(channels.values()), top, residual)


def _exact_number(value: float) -> Number:
    return Number(to_rational(value))
