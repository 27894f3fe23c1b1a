"""Numbers that may depend on others: `2*zeta*sqrt(k*m)`, read from text and computed, never
executed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.name_lookup import find_name
from bellcrank.core.units import Unit, parse_quantity, unit_system
from bellcrank.mechanics.interface.formula_units import FormulaTerm, FormulaUnits, units_by_name
from bellcrank.mechanics.interface.interface import Interface
from bellcrank.symbolic.expr.formula_parser import (
    SyntaxNode,
    evaluate_syntax,
    parse_formula,
    postorder_syntax,
)
from bellcrank.symbolic.expr.function_table import CALLED, OPERATORS

BINARY: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b if b else math.nan,
    **{operator: f.value for operator, f in OPERATORS.items()},
}


def names_in_formula(text: str) -> set[str]:
    """The names that a formula uses. A formula that cannot be read is an error with its place."""
    names: set[str] = set()
    if parse_quantity(text) is not None:
        return names
    for node in postorder_syntax(parse_formula(text)):
        if node.op == "name" and node.args[0] != "pi":
            names.add(str(node.args[0]))
        elif node.op == "call":
            _find_function(node)
        elif node.op == "unit":
            raise node.error_at_node("a number is expected here, not a unit vector")
    return names


def _find_function(node: SyntaxNode) -> Callable[..., float]:
    name = str(node.args[0]).lower()
    if name not in CALLED:
        raise node.error_at_node(
            f"no function '{name}'.{did_you_mean(name, CALLED)} Functions: {', '.join(CALLED)}."
        )
    if not CALLED[name].accepts_count(len(node.children)):
        raise node.error_at_node(CALLED[name].argument_count_message(len(node.children)))
    return CALLED[name].value


class CircularDefinition(ModelError):
    """Formulas that need each other."""


class FormulaValues:
    """Values by name; those given as text are computed from the others when they are asked for.
    `interface`: that of the model whose quantities they are, in its user units."""

    def __init__(
        self, values: Mapping[str, float | str], interface: Interface | None = None
    ) -> None:
        self._given = dict(values)
        self._system = unit_system("SI" if interface is None else interface.units)
        self._units = {} if interface is None else units_by_name(interface)
        self._found: dict[str, float] = {}
        self._open: list[str] = []

    def __getitem__(self, name: str) -> float:
        key = find_name(name, self._given) or name
        if key not in self._found:
            if key not in self._given:
                raise ModelError(
                    f"no value is given for '{name}'.{did_you_mean(name, self._given)}"
                )
            if key in self._open:
                circle = " -> ".join([*self._open[self._open.index(key) :], key])
                raise CircularDefinition(f"formulas go in a circle: {circle}")
            self._open.append(key)
            known = find_name(key, self._units)
            self._found[key] = self._value(self._given[key], name, known or key)
            self._open.pop()
        return self._found[key]

    def number(self, source: float | str, label: str, target: str = "") -> float:
        """The value of a number or of a formula, in the unit of the quantity that takes it; it must
        be finite."""
        return self._value(source, label, find_name(target, self._units) or "")

    def _value(self, source: float | str, label: str, target: str) -> float:
        """The value for a quantity of the model, or for a name of the study, which gets the unit of
        its formula."""
        if isinstance(source, str):
            term = self._converted_formula(source, target)
            if target and target not in self._units and isinstance(term.unit, Unit):
                self._units[target] = term.unit
            value = float(evaluate_syntax(term.syntax, self._evaluate_node))
        else:
            value = float(source)
        if not math.isfinite(value):
            raise ModelError(f"{label}: {source} is {value}, not a finite number")
        return value

    def _converted_formula(self, source: str, target: str) -> FormulaTerm:
        for name in names_in_formula(source):
            self[name]  # its unit is known then
        units = FormulaUnits(self._units, self._system)
        syntax = parse_formula(source)
        if target in self._units:
            return units.term_in(syntax, self._units[target], target)
        return units.shown_term(syntax)

    def _evaluate_node(self, node: SyntaxNode, values: list[Any]) -> float:
        if node.op == "number":
            return float(node.args[0])
        if node.op == "name":
            return math.pi if node.args[0] == "pi" else self[str(node.args[0])]
        if node.op == "neg":
            return -values[0]
        if node.op == "call":
            return float(_find_function(node)(*values))
        if node.op not in BINARY:
            raise node.error_at_node("a number is expected here")
        try:
            return float(BINARY[node.op](*values))
        except OverflowError:
            return math.inf
