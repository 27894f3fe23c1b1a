"""Reading: one formula, as text or made in Python, to nodes of the graph.

In:  a formula with its place and what is needed there. Out: its `FormulaRoot` in the
`DimensionGraph`, and the node of every name. Names are looked up as in `model.scope`. Which
formulas a model has is left to `formulas`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from bellcrank.core.units import LENGTH, TIME, Dimension, unit_system
from bellcrank.core.units import ONE as PURE
from bellcrank.mechanics.kinematics.dimensions.algebra import SPEED, SPIN
from bellcrank.mechanics.kinematics.dimensions.graph import (
    UNIT,
    DimensionGraph,
    DimensionNode,
    FormulaRoot,
)
from bellcrank.model.formula import to_syntax
from bellcrank.model.mechanism import Mechanism
from bellcrank.symbolic.expr import (
    Expr,
    Func,
    NamedSubexpression,
    Number,
    Product,
    Sum,
    Symbol,
    postorder,
)
from bellcrank.symbolic.expr.formula_parser import SyntaxNode, evaluate_syntax, syntax_to_text
from bellcrank.symbolic.expr.function_table import OPERATORS

VECTORS = {"pos": LENGTH, "vel": SPEED, "rot": SPIN}


class FormulaGraphReader:
    """Reads formulas into its `graph`; `states` and `given` are the known dimensions, by name."""

    def __init__(
        self, mechanism: Mechanism, states: dict[str, Dimension], declared: dict[str, Dimension]
    ) -> None:
        d = mechanism.description
        self.graph = DimensionGraph()
        self.units = unit_system(d.units)
        self.mechanism, self.states, self.given = mechanism, states, declared
        self.bodies = {b.name: b for b in mechanism.bodies}
        self.loads = {f.name: f.dimension for f in d.forces}
        self.returned = {name for e in d.externals if not e.sets_parameters for name in e.returns}
        self.scalars: dict[str, DimensionNode] = {}
        self.definitions = {name: self.graph.new_node("name", name) for name in d.definitions}
        self._dummies: Mapping[str, Dimension] = {}
        self._expressions: dict[Expr, DimensionNode] = {}

    def read_formula(
        self,
        value: Any,
        location: str,
        label: str,
        property_name: str = "",
        expected: Dimension | None = None,
        strict: bool = False,
        dummies: Mapping[str, Dimension] | None = None,
    ) -> DimensionNode | None:
        """Takes in a formula, see `FormulaRoot`; None for a plain number, which may be anything.

        `dummies` are names that have a meaning in this formula only.
        """
        if isinstance(value, int | float):
            return None
        self.graph.where, self._dummies = location, dummies or {}
        syntax = to_syntax(value)
        node = self._resolve_name(evaluate_syntax(syntax, self._visit_node))
        self.graph.roots.append(
            FormulaRoot(
                node, location, label, property_name, expected, strict or syntax.op == "quantity"
            )
        )
        if expected is not None:
            node.set_dimension(expected, True, location)
        return node

    def define(self, name: str, value: Any) -> None:
        """Takes in the formula behind a name."""
        node = self.read_formula(value, f"definition '{name}'", name)
        name_node = self.definitions[name]
        if node is None or node.op == "number":
            name_node.op = "number"
        else:
            name_node.parts = (node,)
            name_node.unify(name_node.parts)

    def read_alike(self, values: Iterable[Any], location: str, label: str) -> None:
        """Takes in components of a direction, whose length does not matter."""
        nodes = [self.read_formula(v, location, label) for v in values]
        self.graph.new_node("call").alike = tuple(n for n in nodes if n is not None)

    def read_rate(self, name: str, rate: Any, label: str) -> None:
        """Takes in the rate of a state."""
        rate_node = self.read_formula(rate, f"state '{name}'", f"rate of {label}", "rate")
        if rate_node is not None:
            self.graph.new_node("call").alike = (
                rate_node,
                self.graph.call_node("dxdt", [self.scalar_node(name)]),
            )

    def scalar_node(self, name: str) -> DimensionNode:
        """The parameter, variable or state of that name."""
        if name not in self.scalars:
            node = self.scalars[name] = self.graph.new_node("scalar", name)
            node.dimension, node.firm = self.given.get(name), name in self.given
        return self.scalars[name]

    # ---- formulas as text, or of vectors

    def _resolve_name(self, value: DimensionNode | SyntaxNode) -> DimensionNode:
        """The node of a name: looked up only where a scalar is meant, not in vel(p) or q(b)."""
        if isinstance(value, DimensionNode):
            return value
        if value.op != "name":
            return self.graph.new_node("any", syntax_to_text(value))
        name: str = value.args[0]
        if name in self._dummies:
            return self.graph.known_node(name, self._dummies[name])
        if name in ("t", "pi"):
            return self.graph.known_node(name, TIME if name == "t" else PURE)
        if name in self.definitions:
            return self.definitions[name]
        return self.graph.new_node("any", name) if name in self.returned else self.scalar_node(name)

    def _visit_node(self, node: SyntaxNode, operands: list[Any]) -> DimensionNode | SyntaxNode:
        match node.op:
            case "number":
                return self.graph.number_node(node.args[0])
            case "quantity":
                return self.graph.known_node(
                    syntax_to_text(node), self.units.parse_unit(node.args[1]).dimension
                )
            case "unit":
                return self.graph.known_node(syntax_to_text(node), PURE)
            case "value":
                return (
                    self._visit_expression(node.args[0]) if isinstance(node.args[0], Expr) else node
                )
            case "name":
                return node
            case "call":
                return self._visit_call(node, node.args[0].lower(), operands)
        a, *operands_right = (self._resolve_name(p) for p in operands)
        match node.op:
            case "neg":
                return self.graph.negated_node(a)
            case "+" | "-":
                return self.graph.sum_node(
                    [(a, UNIT), (operands_right[0], UNIT if node.op == "+" else -UNIT)]
                )
            case "*" | "/":
                return self.graph.product_node(
                    [(a, UNIT), (operands_right[0], UNIT if node.op == "*" else -UNIT)]
                )
            case "**":
                return self.graph.power_node(a, operands_right[0])
        return self.graph.call_node(OPERATORS[node.op].name, [a, *operands_right])

    def _visit_call(self, node: SyntaxNode, name: str, arguments: list[Any]) -> DimensionNode:
        if name in VECTORS:
            return self.graph.known_node(syntax_to_text(node), VECTORS[name])
        if name == "fm":
            return self.graph.known_node(
                syntax_to_text(node), self.loads[_object_name(arguments[0])]
            )
        if name in ("q", "u", "qp", "up"):
            kind = self.states[self._state_name(name[0], arguments)]
            return self.graph.known_node(
                syntax_to_text(node), kind if name in ("q", "u") else kind / TIME
            )
        return self.graph.call_node(name, [self._resolve_name(p) for p in arguments])

    def _state_name(self, letter: str, arguments: list[Any]) -> str:
        """The coordinate or speed that q(b), q(b, i), q(i), or u likewise, stand for."""
        owner = (
            self.mechanism
            if isinstance(arguments[0], DimensionNode)
            else self.bodies[_object_name(arguments[0])]
        )
        index = (
            arguments[-1].value
            if isinstance(arguments[-1], DimensionNode) and arguments[-1].value is not None
            else 1
        )
        return (owner.coordinates if letter == "q" else owner.speeds)[int(index) - 1].name

    # ---- expressions made in Python

    def _visit_expression(self, root: Expr) -> DimensionNode:
        nodes = self._expressions
        for e in postorder((root,)):
            if e not in nodes:
                nodes[e] = self._visit_expression_node(e, nodes)
        return nodes[root]

    def _visit_expression_node(self, e: Expr, nodes: dict[Expr, DimensionNode]) -> DimensionNode:
        if isinstance(e, Number):
            return self.graph.number_node(Fraction(e.value))
        if isinstance(e, Symbol):
            return self._visit_symbol(e, e.name)
        if isinstance(e, NamedSubexpression):
            return nodes[e.definition]
        if isinstance(e, Func):
            arguments = [nodes[a] for a in e.args]
            return (
                self.graph.call_node(e.name, arguments)
                if e.function is None
                else self.graph.new_node("any", e.name, arguments)
            )
        if isinstance(e, Sum):
            terms = (
                (self._scaled_product(c, [(nodes[core], UNIT)]), UNIT if c > 0 else -UNIT)
                for core, c in e.terms
            )
            return self.graph.sum_node(list(terms))
        assert isinstance(e, Product)
        size = self._scaled_product(
            e.coefficient, [(nodes[base], Fraction(x)) for base, x in e.factors]
        )
        return size if e.coefficient > 0 else self.graph.negated_node(size)

    def _scaled_product(
        self, coefficient: int | Fraction, factors: list[tuple[DimensionNode, Fraction]]
    ) -> DimensionNode:
        """The product of the factors and the size of the coefficient."""
        if abs(coefficient) != 1:
            factors = [(self.graph.number_node(abs(Fraction(coefficient))), UNIT), *factors]
        return (
            factors[0][0]
            if len(factors) == 1 and factors[0][1] == 1
            else self.graph.product_node(factors)
        )

    def _visit_symbol(self, s: Symbol, key: str) -> DimensionNode:
        match s.kind:
            case "parameter" | "variable":
                return self.scalar_node(s.name)
            case "coordinate" if key not in self.states:
                return self.scalar_node(s.name)
            case "coordinate" | "speed":
                return self.graph.known_node(s.name, self.states[key])
            case "acceleration":
                return self.graph.known_node(
                    s.name, self.states[key.replace("up(", "u(", 1)] / TIME
                )
            case "rate" if key.startswith("dxdt("):
                return self.graph.call_node("dxdt", [self.scalar_node(s.name[5:-1])])
            case "time" | "constant":
                return self.graph.known_node(s.name, TIME if s.kind == "time" else PURE)
        return self.graph.new_node("any", s.name)


def _object_name(reference: Any) -> str:
    """Name of a body or force: a name in a formula or a handle."""
    name = reference.args[0] if isinstance(reference, SyntaxNode) else reference
    return name if isinstance(name, str) else str(name.name)
