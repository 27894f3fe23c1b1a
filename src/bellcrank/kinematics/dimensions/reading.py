"""Reading: one formula, as text or made in Python, to nodes of the graph.

In:  a formula with its place and what is needed there. Out: its `Root` in the `Graph`, and the node of every name.
Names are looked up as in `model.scope`. Which formulas a model has is left to `formulas`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from bellcrank.expr import Expr, Func, Held, Number, Product, Sum, Symbol, postorder
from bellcrank.expr.function_table import OPERATORS
from bellcrank.expr.text import Syntax, evaluate_syntax, show
from bellcrank.kinematics.dimensions.algebra import SPEED, SPIN
from bellcrank.kinematics.dimensions.graph import UNIT, Graph, Node, Root
from bellcrank.model.formula import to_syntax
from bellcrank.model.mechanism import Mechanism
from bellcrank.units import LENGTH, TIME, Dimension, unit_system
from bellcrank.units import ONE as PURE

VECTORS = {"pos": LENGTH, "vel": SPEED, "rot": SPIN}


class Reader:
    """Reads formulas into its `graph`; `states` and `given` are the known dimensions, by name."""

    def __init__(self, mechanism: Mechanism, states: dict[str, Dimension], declared: dict[str, Dimension]) -> None:
        d = mechanism.description
        self.graph = Graph()
        self.units = unit_system(d.units)
        self.mechanism, self.states, self.given = mechanism, states, declared
        self.bodies = {b.name: b for b in mechanism.bodies}
        self.loads = {f.name: f.dimension for f in d.forces}
        self.returned = {name for e in d.externals if not e.entered for name in e.returns}
        self.scalars: dict[str, Node] = {}
        self.definitions = {name: self.graph.node("name", name) for name in d.definitions}
        self._dummies: Mapping[str, Dimension] = {}
        self._expressions: dict[Expr, Node] = {}

    def read(
        self,
        value: Any,
        location: str,
        label: str,
        property_name: str = "",
        expected: Dimension | None = None,
        strict: bool = False,
        dummies: Mapping[str, Dimension] | None = None,
    ) -> Node | None:
        """Takes in a formula, see `Root`; None for a plain number, which may be anything.

        `dummies` are names that have a meaning in this formula only.
        """
        if isinstance(value, int | float):
            return None
        self.graph.where, self._dummies = location, dummies or {}
        syntax = to_syntax(value)
        node = self._settle(evaluate_syntax(syntax, self._meaning))
        self.graph.roots.append(Root(node, location, label, property_name, expected, strict or syntax.op == "quantity"))
        if expected is not None:
            node.learn(expected, True, location)
        return node

    def define(self, name: str, value: Any) -> None:
        """Takes in the formula behind a name."""
        node = self.read(value, f"definition '{name}'", name)
        name_node = self.definitions[name]
        if node is None or node.op == "number":
            name_node.op = "number"
        else:
            name_node.parts = (node,)
            name_node.join(name_node.parts)

    def read_alike(self, values: Iterable[Any], location: str, label: str) -> None:
        """Takes in components of a direction, whose length does not matter."""
        nodes = [self.read(v, location, label) for v in values]
        self.graph.node("call").alike = tuple(n for n in nodes if n is not None)

    def read_rate(self, name: str, rate: Any, label: str) -> None:
        """Takes in the rate of a state."""
        rate_node = self.read(rate, f"state '{name}'", f"rate of {label}", "rate")
        if rate_node is not None:
            self.graph.node("call").alike = (rate_node, self.graph.function("dxdt", [self.scalar(name)]))

    def scalar(self, name: str) -> Node:
        """The parameter, variable or state of that name."""
        if name not in self.scalars:
            node = self.scalars[name] = self.graph.node("scalar", name)
            node.dimension, node.firm = self.given.get(name), name in self.given
        return self.scalars[name]

    # ---- formulas as text, or of vectors

    def _settle(self, value: Node | Syntax) -> Node:
        """The node of a name: looked up only where a scalar is meant, not in vel(p) or q(b)."""
        if isinstance(value, Node):
            return value
        if value.op != "name":
            return self.graph.node("any", show(value))
        name: str = value.args[0]
        if name in self._dummies:
            return self.graph.known(name, self._dummies[name])
        if name in ("t", "pi"):
            return self.graph.known(name, TIME if name == "t" else PURE)
        if name in self.definitions:
            return self.definitions[name]
        return self.graph.node("any", name) if name in self.returned else self.scalar(name)

    def _meaning(self, node: Syntax, operands: list[Any]) -> Node | Syntax:
        match node.op:
            case "number":
                return self.graph.number(node.args[0])
            case "quantity":
                return self.graph.known(show(node), self.units.parse_unit(node.args[1]).dimension)
            case "unit":
                return self.graph.known(show(node), PURE)
            case "value":
                return self._expression(node.args[0]) if isinstance(node.args[0], Expr) else node
            case "name":
                return node
            case "call":
                return self._call(node, node.args[0].lower(), operands)
        a, *operands_right = (self._settle(p) for p in operands)
        match node.op:
            case "neg":
                return self.graph.negative(a)
            case "+" | "-":
                return self.graph.sum([(a, UNIT), (operands_right[0], UNIT if node.op == "+" else -UNIT)])
            case "*" | "/":
                return self.graph.product([(a, UNIT), (operands_right[0], UNIT if node.op == "*" else -UNIT)])
            case "**":
                return self.graph.power(a, operands_right[0])
        return self.graph.function(OPERATORS[node.op].name, [a, *operands_right])

    def _call(self, node: Syntax, name: str, arguments: list[Any]) -> Node:
        if name in VECTORS:
            return self.graph.known(show(node), VECTORS[name])
        if name == "fm":
            return self.graph.known(show(node), self.loads[_name(arguments[0])])
        if name in ("q", "u", "qp", "up"):
            kind = self.states[self._state(name[0], arguments)]
            return self.graph.known(show(node), kind if name in ("q", "u") else kind / TIME)
        return self.graph.function(name, [self._settle(p) for p in arguments])

    def _state(self, letter: str, arguments: list[Any]) -> str:
        """The coordinate or speed that q(b), q(b, i), q(i), or u likewise, stand for."""
        owner = self.mechanism if isinstance(arguments[0], Node) else self.bodies[_name(arguments[0])]
        index = arguments[-1].value if isinstance(arguments[-1], Node) and arguments[-1].value is not None else 1
        return (owner.coordinates if letter == "q" else owner.speeds)[int(index) - 1].name

    # ---- expressions made in Python

    def _expression(self, root: Expr) -> Node:
        nodes = self._expressions
        for e in postorder((root,)):
            if e not in nodes:
                nodes[e] = self._of_expression(e, nodes)
        return nodes[root]

    def _of_expression(self, e: Expr, nodes: dict[Expr, Node]) -> Node:
        if isinstance(e, Number):
            return self.graph.number(Fraction(e.value))
        if isinstance(e, Symbol):
            return self._symbol(e, e.name)
        if isinstance(e, Held):
            return nodes[e.definition]
        if isinstance(e, Func):
            arguments = [nodes[a] for a in e.args]
            return (
                self.graph.function(e.name, arguments)
                if e.function is None
                else self.graph.node("any", e.name, arguments)
            )
        if isinstance(e, Sum):
            terms = ((self._scaled(c, [(nodes[core], UNIT)]), UNIT if c > 0 else -UNIT) for core, c in e.terms)
            return self.graph.sum(list(terms))
        assert isinstance(e, Product)
        size = self._scaled(e.coefficient, [(nodes[base], Fraction(x)) for base, x in e.factors])
        return size if e.coefficient > 0 else self.graph.negative(size)

    def _scaled(self, coefficient: int | Fraction, factors: list[tuple[Node, Fraction]]) -> Node:
        """The product of the factors and the size of the coefficient."""
        if abs(coefficient) != 1:
            factors = [(self.graph.number(abs(Fraction(coefficient))), UNIT), *factors]
        return factors[0][0] if len(factors) == 1 and factors[0][1] == 1 else self.graph.product(factors)

    def _symbol(self, s: Symbol, key: str) -> Node:
        match s.kind:
            case "parameter" | "variable":
                return self.scalar(s.name)
            case "coordinate" if key not in self.states:
                return self.scalar(s.name)
            case "coordinate" | "speed":
                return self.graph.known(s.name, self.states[key])
            case "acceleration":
                return self.graph.known(s.name, self.states[key.replace("up(", "u(", 1)] / TIME)
            case "rate" if key.startswith("dxdt("):
                return self.graph.function("dxdt", [self.scalar(s.name[5:-1])])
            case "time" | "constant":
                return self.graph.known(s.name, TIME if s.kind == "time" else PURE)
        return self.graph.node("any", s.name)


def _name(reference: Any) -> str:
    """Name of a body or force: a name in a formula or a handle."""
    name = reference.args[0] if isinstance(reference, Syntax) else reference
    return name if isinstance(name, str) else str(name.name)
