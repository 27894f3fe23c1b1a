"""Formulas of a description as numbers: the model language, read once more and evaluated at one
instant.

In:  the records of a description, values of parameters and inputs.
Out: numbers, as jets in time, so that dxdt() is at hand. What needs a motion of the bodies is left
to `mechanics`. Only the syntax of formulas and the records are shared with the derivation; every
meaning is given here anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np

from bellcrank.core.units import parse_quantity, unit_system
from bellcrank.model.records import Description, UserFunction
from bellcrank.symbolic.expr.formula_parser import SyntaxNode, parse_formula, postorder_syntax
from bellcrank.symbolic.expr.node import (
    Expr,
    Func,
    NamedSubexpression,
    Number,
    Product,
    Sum,
    Symbol,
)
from bellcrank.symbolic.expr.table import Table
from bellcrank.symbolic.expr.user_function_value import UserFunctionValue
from bellcrank.verify import jets
from bellcrank.verify.function_rules import CHOICES, FUNCTIONS, OPERATORS, Rule
from bellcrank.verify.jets import Jet, JetBatch, Value

ExternalRoutine = Callable[[UserFunction, list[float]], list[float]]


class CannotEvaluate(Exception):
    """A formula, or a state, for which the independent evaluation gives no number."""


@dataclass(frozen=True)
class FormulaName:
    """A name whose space (scalar, body, point, force) is decided by where it is used."""

    text: str


class ParameterValues(dict[str, float]):
    """Values of parameters by name. One that is not given has some value between 0.2 and 0.8: it
    cannot matter, or a check must find that it does."""

    def __missing__(self, name: str) -> float:
        return 0.2 + 0.6 * (crc32(name.encode()) % 10007) / 10007


@lru_cache(maxsize=4096)
def _parse_text(text: str) -> SyntaxNode:
    quantity = parse_quantity(text)
    return parse_formula(text) if quantity is None else SyntaxNode("quantity", quantity)


@lru_cache(maxsize=16384)  # formulas are evaluated at many states
def _postorder_rules(root: SyntaxNode) -> list[tuple[SyntaxNode, list[int], Any, Rule | None]]:
    """The nodes of a formula, parts before wholes, the places of the parts of each, what a leaf
    stands for, and the rule of an operator."""
    nodes = postorder_syntax(root)
    index = {node: i for i, node in enumerate(nodes)}
    return [
        (node, [index[part] for part in node.children], _leaf_value(node), OPERATORS.get(node.op))
        for node in nodes
    ]


def _leaf_value(node: SyntaxNode) -> Any:
    """What a node stands for wherever it is: a number, a name, or what Python put in; None of
    others."""
    match node.op:
        case "number":
            return np.float64(Fraction(node.args[0]))
        case "name":
            return FormulaName(node.args[0])
        case "value":
            value = node.args[0]
            if not isinstance(value, Expr):
                return value
            return np.float64(Fraction(value.value)) if isinstance(value, Number) else None
    return None


def to_syntax_node(source: Any) -> SyntaxNode:
    """Syntax of text, of a formula made with Python operators, of a number or of an expression."""
    if isinstance(source, str):
        return _parse_text(source)
    if isinstance(source, SyntaxNode):
        return source
    syntax = getattr(source, "syntax", None)
    return syntax if isinstance(syntax, SyntaxNode) else SyntaxNode("value", (source,))


def reference_state_key(name: str) -> str:
    """A name of a state as it is compared: no blanks."""
    return name.replace(" ", "")


def name_behind(handle: Any) -> str:
    """The name behind a handle, a name in a formula, or text."""
    name = (
        handle.text
        if isinstance(handle, FormulaName)
        else handle
        if isinstance(handle, str)
        else getattr(handle, "name", None)
    )
    if not isinstance(name, str):
        raise CannotEvaluate(f"{handle!r} names nothing")
    return name


class ScalarEvaluator:
    """Formulas without mechanics: parameters, inputs, time, definitions, tables, user functions."""

    def __init__(
        self,
        description: Description,
        parameters: ParameterValues,
        inputs: Mapping[str, Value] | None = None,
        time: Value = 0.0,
        external: ExternalRoutine | None = None,
        chosen: list[Any] | None = None,
        values_only: bool = False,
        fixed: dict[str, Value] | None = None,
    ) -> None:
        self.chosen = chosen  # the pieces that functions made of pieces were, one after another
        self.values_only = values_only  # all is a plain number, and no rate of anything is known
        self.description = description
        self.parameters = parameters
        self.inputs = dict(inputs or {})
        self.time = time
        self.external = external
        self.definitions = dict(description.definitions)
        self.tables = dict(description.tables)
        self.routines = {e.name: e for e in description.externals}
        self.returned = {
            r: (e, i)
            for e in description.externals
            if not e.sets_parameters
            for i, r in enumerate(e.returns)
        }
        self.states = {z.name: z for z in description.states}
        self.dummies: dict[str, Callable[[], Value]] = {}
        self._defined: dict[str, Value] = {}  # values of definitions in which no dummy occurs
        self.fixed = (
            {} if fixed is None else fixed
        )  # values of definitions that follow from parameters alone
        self._met_dummy = self._met_motion = False

    # ---- entry points

    def evaluate(self, formula: Any) -> Value:
        """A formula: a number or, with mechanics, a vector."""
        return self.resolve_name(self.evaluate_unresolved(to_syntax_node(formula)))

    def evaluate_unresolved(self, root: SyntaxNode) -> Any:
        """The meaning of a formula; that of a mere name is a name."""
        if not root.children:
            leaf = _leaf_value(root)
            return self.evaluate_node(root, []) if leaf is None else leaf
        results: list[Any] = []
        direct, settle = self.chosen is None, self.resolve_name
        for node, indices, leaf, rule in _postorder_rules(root):
            if leaf is not None:
                results.append(leaf)
            elif direct and rule is not None:  # most nodes
                results.append(
                    rule(
                        *[settle(x) if type(x := results[i]) is FormulaName else x for i in indices]
                    )
                )
            else:
                results.append(self.evaluate_node(node, [results[i] for i in indices]))
        return results[-1]

    def triple(self, components: Any) -> Value:
        """Three scalars as a vector."""
        return jets.stack_jets([self.evaluate(x) for x in components])

    def rate(self, x: Value) -> Value:
        """The time derivative, where it is known."""
        if self.values_only:
            raise jets.NoDerivative("a time derivative is needed here that is not known")
        return jets.jet_time_derivative(x)

    # ---- nodes

    def evaluate_node(self, node: SyntaxNode, operands: list[Any]) -> Any:
        match node.op:
            case "value":
                value = node.args[0]
                self._met_motion = True
                return self.expression(value) if isinstance(value, Expr) else value
            case "quantity":
                number, unit = node.args
                return np.float64(
                    unit_system(self.description.units).parse_unit(unit).to_equation_units(number)
                )
            case "unit":
                self._met_motion = True
                return self.unit_vector(*node.args)
            case "call":
                return self.call(node.args[0], node, operands)
        return self._function(OPERATORS, node.op, [self.resolve_name(p) for p in operands])

    def _function(self, rules: Mapping[str, Rule], name: str, args: list[Value]) -> Value:
        if self.chosen is not None and name in CHOICES:
            numbers = np.broadcast_arrays(*map(jets.constant_term, args))
            rule = CHOICES[name]
            self.chosen.append(
                [rule(*x) for x in zip(*(n.ravel().tolist() for n in numbers), strict=True)]
            )
        return rules[name](*args)

    def resolve_name(self, value: Any) -> Value:
        if not isinstance(value, FormulaName):
            return value
        if value.text == "t":
            self._met_motion = True
            return self.time
        return self.scalar_by_name(value.text)

    def scalar_by_name(self, name: str) -> Value:
        """A scalar by name, in the order in which names hide each other."""
        if name in self.dummies:
            self._met_dummy = self._met_motion = True
            return self.dummies[name]()
        if name == "pi":
            return math.pi
        if name in self.definitions:
            return self._definition(name)
        self._met_motion |= name in self.returned or name in self.inputs or name in self.states
        if name in self.returned:
            routine, index = self.returned[name]
            return self.call_user_function(routine, [self.evaluate(a) for a in routine.arguments])[
                index
            ]
        if name in self.inputs:
            return self.inputs[name]
        return self.user_state(name) if name in self.states else self.parameters[name]

    def _definition(self, name: str) -> Value:
        if self.chosen is None and name in self.fixed:
            return self.fixed[name]
        if name in self._defined:
            self._met_motion = True
            return self._defined[name]
        outer = self._met_dummy, self._met_motion
        self._met_dummy = self._met_motion = False
        value = self.evaluate(self.definitions[name])
        if not self._met_dummy:
            self._defined[name] = value
        if not self._met_motion and self.chosen is None:
            self.fixed[name] = value
        self._met_dummy |= outer[0]
        self._met_motion |= outer[1]
        return value

    def call(self, name: str, node: SyntaxNode, operands: list[Any]) -> Any:
        if name in self.tables:
            return evaluate_table(self.tables[name], [self.resolve_name(p) for p in operands])
        if name in self.routines and not self.routines[name].returns:
            self._met_motion = True
            return self.call_user_function(
                self.routines[name], [self.resolve_name(p) for p in operands]
            )[0]
        name = name.lower()
        if name in FUNCTIONS:
            return self._function(FUNCTIONS, name, [self.resolve_name(p) for p in operands])
        self._met_motion = True
        return self.mechanical(name, node, operands)

    def call_user_function(self, routine: UserFunction, arguments: list[Value]) -> list[Value]:
        """Values of a user function; their rates are not known."""
        if self.external is None:
            raise CannotEvaluate(f"external '{routine.name}' has no meaning in a constant")
        if jets.jet_class(*arguments, self.time) is JetBatch:
            columns = np.broadcast_arrays(
                jets.constant_term(self.time), *map(jets.constant_term, arguments)
            )[1:]
            count = np.size(jets.constant_term(self.time))
            samples = [self.external(routine, [float(x[i]) for x in columns]) for i in range(count)]
            return [JetBatch([x]) for x in zip(*samples, strict=True)]
        results = self.external(routine, [float(jets.constant_term(a)) for a in arguments])
        return [np.float64(x) if self.values_only else Jet([x]) for x in results]

    def mechanical(self, name: str, node: SyntaxNode, operands: list[Any]) -> Any:
        raise CannotEvaluate(f"{name}() has no meaning in a constant")

    def unit_vector(self, body: str, axis: int) -> Value:
        raise CannotEvaluate(f"[{body}{axis}] has no meaning in a constant")

    def state(self, symbol: Symbol) -> Value:
        raise CannotEvaluate(f"{symbol.name} has no meaning in a constant")

    def user_state(self, name: str) -> Value:
        raise CannotEvaluate(f"the state {name} has no meaning in a constant")

    # ---- expressions made in Python

    def expression(self, root: Expr) -> Value:
        """The value of an expression object, its parts first."""
        values: dict[Expr, Value] = {}
        stack = [root]
        while stack:
            node = stack[-1]
            missing = [p for p in node.parts if p not in values]
            if missing:
                stack.extend(missing)
                continue
            values[stack.pop()] = self._expression_node_value(node, values)
        return values[root]

    def _expression_node_value(self, node: Expr, values: dict[Expr, Value]) -> Value:
        match node:
            case Number():
                return np.float64(Fraction(node.value))
            case Symbol(kind="coordinate" | "speed"):
                return self.state(node)
            case Symbol():
                if node.kind == "time":
                    return self.time
                return (
                    self.parameters[node.name]
                    if node.kind == "parameter"
                    else self.scalar_by_name(node.name)
                )
            case NamedSubexpression():
                return values[node.definition]
            case Sum():
                return sum((values[core] * float(c) for core, c in node.terms), np.float64(0.0))
            case Product():
                powers = (
                    jets.power(values[base], float(exponent)) for base, exponent in node.factors
                )
                return math.prod(powers, start=np.float64(Fraction(node.coefficient)))
        assert isinstance(node, Func)
        args = [values[a] for a in node.args]
        match node.function:
            case None:
                return self._function(FUNCTIONS, node.name, args)
            case Table():
                return evaluate_table(node.function, args)
            case UserFunctionValue():
                return self.call_user_function(node.function.external, args)[node.function.index]
            case UserFunction():
                return self.call_user_function(node.function, args)[0]
        raise CannotEvaluate(f"the function {node.name}() is not known")


def evaluate_table(table: Table, args: list[Value]) -> Value:
    """Value of a table: straight lines or cubics; outside its ends the end slope (one argument) or
    end value (two)."""
    if len(table.axes) == 1:
        return _curve_value(table, args[0], table.derivative[0])
    return _surface_value(table, args, table.derivative)


@lru_cache(maxsize=256)
def _table_points(table: Table) -> tuple[np.ndarray, np.ndarray, Any]:
    """Points and values of a table with one argument, and its spline if it has one."""
    from scipy.interpolate import CubicSpline

    axis, values = np.array(table.axes[0]), np.array(table.values)
    return axis, values, CubicSpline(axis, values) if table.order == 3 else None


def _curve_value(table: Table, x: Value, n: int) -> Value:
    axis, values, spline = _table_points(table)

    def interpolate(z: Any, n: int) -> Any:
        inside = np.clip(z, axis[0], axis[-1])
        i = _interval_index(axis, inside)
        chord = (values[i + 1] - values[i]) / (axis[i + 1] - axis[i])
        slope = spline(inside, 1) if spline is not None else chord
        if n == 0:
            start = spline(inside) if spline is not None else values[i] + chord * (inside - axis[i])
            return start + slope * (z - inside)
        if n == 1:
            return slope
        return np.where(inside == z, spline(inside, n), 0.0) if spline is not None else 0.0 * z

    return jets.compose_function(
        x, lambda z: interpolate(z, n), lambda z: _curve_value(table, z, n + 1)
    )


def _interval_index(axis: np.ndarray, x: Any) -> Any:
    return np.clip(np.searchsorted(axis, x, side="right") - 1, 0, len(axis) - 2)


def _surface_value(table: Table, args: list[Value], n: tuple[int, ...]) -> Value:
    from scipy.interpolate import RectBivariateSpline

    if jets.jet_class(*args) is JetBatch:
        count = max(x.c.shape[-1] for x in args if isinstance(x, JetBatch))
        each = [
            [x.jet_of_state(i) if isinstance(x, JetBatch) else x for x in args]
            for i in range(count)
        ]
        return JetBatch(np.stack([_surface_value(table, x, n).c for x in each], axis=-1))
    axes = [np.array(a) for a in table.axes]
    spline = RectBivariateSpline(*axes, np.array(table.values), kx=table.order, ky=table.order)
    coordinates = [float(jets.constant_term(x)) for x in args]
    inside = [min(max(x, a[0]), a[-1]) for x, a in zip(coordinates, axes, strict=True)]
    if table.order == 1 and any(n):
        start = _bilinear_slope(axes, np.array(table.values), inside, n)
    else:
        start = float(spline.ev(*inside, dx=n[0], dy=n[1]))
    lengths = [len(x) for x in args if isinstance(x, Jet)]
    if not lengths or min(lengths) == 1:
        return Jet([start]) if lengths else start
    shorter = [Jet(x.c[:-1]) if isinstance(x, Jet) else x for x in args]
    slopes: Value = 0.0
    for i, x in enumerate(args):
        if coordinates[i] == inside[i]:
            step = tuple(k + (j == i) for j, k in enumerate(n))
            slopes = slopes + _surface_value(table, shorter, step) * jets.jet_time_derivative(x)
    return jets.integrate_jet(np.float64(start), slopes, min(lengths))


def _bilinear_slope(
    axes: list[np.ndarray], values: np.ndarray, point: list[float], n: tuple[int, ...]
) -> float:
    """First derivative of straight-line interpolation in the cell of the point; higher ones along
    one axis are zero."""
    if max(n) > 1:
        return 0.0
    weights, cell = [], []
    for axis, x, k in zip(axes, point, n, strict=True):
        i = _interval_index(axis, x)
        h = axis[i + 1] - axis[i]
        s = (x - axis[i]) / h
        weights.append(np.array([1 - s, s]) if k == 0 else np.array([-1.0, 1.0]) / h)
        cell.append(i)
    block = values[cell[0] : cell[0] + 2, cell[1] : cell[1] + 2]
    return float(weights[0] @ block @ weights[1])
