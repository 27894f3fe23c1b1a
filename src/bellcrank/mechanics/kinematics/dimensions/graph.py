"""The graph of all formulas: nodes, and how the dimension of each is related to those of its parts.

In:  operators and functions with their parts, one at a time, from `reading`. Out: a
`DimensionGraph` of `DimensionNode`s and `FormulaRoot`s. There are two relations: parts that are
alike (terms of a sum) and factors of a product. `solution` lets what is known travel along them,
`conflicts` finds where they do not hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bellcrank.core.units import ANGLE, TIME, Dimension
from bellcrank.core.units import ONE as PURE
from bellcrank.mechanics.kinematics.dimensions.algebra import normalize_angle
from bellcrank.symbolic.expr.function_table import FUNCTIONS, parse_dimension_rule

UNIT = Fraction(1)
FREE = ("number", "any")  # nodes that may stand for any quantity, and so neither learn nor report

KINDS = {"A": ANGLE, "1": PURE}  # in the dimension rules of the function table
VECTOR_RULES = {
    "angle": "? -> A",
    "direction": "? -> 1",
    "dir": "? -> 1",
    "magnitude": "x -> x",
    "mag": "x -> x",
    "norm": "x -> x",
    "nominal": "x -> x",
    "project": "x, ? -> x",
    "dplane": "x, ? -> x",
}
RULES = {f.name: f.dimension_kinds for f in FUNCTIONS.values()} | {
    name: parse_dimension_rule(rule) for name, rule in VECTOR_RULES.items()
}
ARGUMENT = {name: KINDS[taken[0]] for name, (taken, _) in RULES.items() if taken[0] in KINDS}
POWERS = {"dot": (UNIT, UNIT), "cross": (UNIT, UNIT), "dxdt": (UNIT,), "partial": (UNIT, -UNIT)}


@dataclass(eq=False, slots=True)
class DimensionNode:
    """One place of a formula.

    `op`: number, known, scalar (parameter or variable), name (a definition), sum, product, neg,
    call, any (a value of unknown kind). All `alike` nodes have one dimension, the node's own if
    `joined`. `factors` are its parts with their powers, numbers apart: it is `loose` if there are
    any, and `turns` if pi is among them, which may be an angle. A dimension is `firm` if no number
    that multiplies stands between it and what is declared.
    """

    op: str
    where: str
    name: str
    parts: tuple[DimensionNode, ...]
    alike: tuple[DimensionNode, ...] = ()
    joined: bool = False
    factors: tuple[tuple[DimensionNode, Fraction], ...] = ()
    powers: tuple[Fraction, ...] = ()  # of all parts of a product; signs of the terms of a sum
    loose: bool = False
    turns: bool = False
    value: Fraction | None = None  # of a number
    dimension: Dimension | None = None
    firm: bool = False
    source: str = ""  # where the dimension of a scalar was found

    def unify(self, terms: tuple[DimensionNode, ...]) -> None:
        """All these parts and the node itself have one dimension."""
        self.alike, self.joined = terms, True

    def is_known(self, firm: bool) -> bool:
        """Whether the dimension is known, and if `firm` known for sure."""
        return self.dimension is not None and (self.firm or not firm)

    def set_dimension(self, dimension: Dimension, firm: bool, location: str) -> bool:
        """Takes a dimension found at that place; whether it is news."""
        if self.op in FREE or self.is_known(firm):
            return False
        if self.op == "scalar":
            dimension, self.source = normalize_angle(dimension), location
        self.dimension, self.firm = dimension, firm
        return True


@dataclass(frozen=True)
class FormulaRoot:
    """A formula: the place, words for the parameters in it, `what` of the place it gives and the
    dimension needed."""

    node: DimensionNode
    where: str
    words: str
    what: str = ""
    needed: Dimension | None = None
    strict: bool = (
        False  # the need was declared for this formula, so that even a bare state must meet it
    )


class DimensionGraph:
    """All nodes in the order they were made. `where` is the place of the formula that is being
    read."""

    def __init__(self) -> None:
        self.where = ""
        self.nodes: list[DimensionNode] = []
        self.roots: list[FormulaRoot] = []

    def new_node(
        self, op: str, name: str = "", operands: Iterable[DimensionNode] = ()
    ) -> DimensionNode:
        """A node of which nothing is known yet."""
        node = DimensionNode(op, self.where, name, tuple(operands))
        self.nodes.append(node)
        return node

    def known_node(self, name: str, dimension: Dimension) -> DimensionNode:
        """A value whose dimension is a fact."""
        node = self.new_node("known", name)
        node.dimension, node.firm, node.turns = dimension, True, name == "pi"
        return node

    def number_node(self, value: Fraction | int | None) -> DimensionNode:
        """A number; None for one whose value does not matter."""
        node = self.new_node("number", _number_text(value))
        node.value = None if value is None else Fraction(value)
        return node

    def negated_node(self, part: DimensionNode) -> DimensionNode:
        """-part"""
        if part.op == "number":
            return self.number_node(None if part.value is None else -part.value)
        node = self.new_node("neg", "", (part,))
        node.unify(node.parts)
        return node

    def sum_node(self, terms: Sequence[tuple[DimensionNode, Fraction]]) -> DimensionNode:
        """The sum of terms, each with its sign."""
        if all(p.op == "number" for p, _ in terms):
            values = [p.value * sign for p, sign in terms if p.value is not None]
            return self.number_node(sum(values, Fraction(0)) if len(values) == len(terms) else None)
        node = self.new_node("sum", "", (p for p, _ in terms))
        node.unify(node.parts)
        node.powers = tuple(sign for _, sign in terms)
        return node

    def product_node(self, factors: Sequence[tuple[DimensionNode, Fraction]]) -> DimensionNode:
        """The product of factors, each with its power."""
        if all(p.op == "number" for p, _ in factors):
            return self.number_node(_constant_product(factors))
        node = self.new_node("product", "", (p for p, _ in factors))
        node.powers = tuple(x for _, x in factors)
        node.factors = tuple((p, x) for p, x in factors if p.op != "number" and x)
        reciprocal = (
            factors[0][0].value == 1 and factors[-1][1] < 0
        )  # 1/x: the 1 is only there to write it
        node.loose = any(p.op == "number" for p, _ in factors[1 if reciprocal else 0 :])
        node.turns = any(p.turns for p in node.parts)
        return node

    def power_node(self, base: DimensionNode, exponent: DimensionNode) -> DimensionNode:
        """base**exponent: a product of one factor if the exponent is a number."""
        if exponent.op == "number" and exponent.value is not None:
            return self.product_node([(base, exponent.value)])
        exponent.set_dimension(PURE, True, self.where)
        return self.new_node("any", "pow", (base, exponent))

    def call_node(self, name: str, arguments: Sequence[DimensionNode]) -> DimensionNode:
        """A function of the model language, a user function or a table."""
        if name == "pow":
            return self.power_node(*arguments)
        node = self.new_node("call", name, arguments)
        if name in POWERS:
            node.factors = tuple(
                (p, x) for p, x in zip(arguments, POWERS[name]) if p.op != "number"
            )
            if name == "dxdt":
                node.factors += ((self.known_node("t", TIME), -UNIT),)
        elif name in RULES:
            self._apply_rule(RULES[name], node)
        else:
            node.op = "any"  # a user function or a table
        return node

    def _apply_rule(self, rule: tuple[tuple[str, ...], str], node: DimensionNode) -> None:
        """The relations by a rule such as "x, x -> 1": kinds of the arguments, the last one for all
        further ones."""
        argument_kinds, result_kind = rule
        kinds = [argument_kinds[min(i, len(argument_kinds) - 1)] for i in range(len(node.parts))]
        for part, kind in zip(node.parts, kinds, strict=True):
            if kind in KINDS:
                part.set_dimension(KINDS[kind], True, self.where)
        same_kind = tuple(p for p, kind in zip(node.parts, kinds, strict=True) if kind == "x")
        if result_kind == "x":
            node.unify(same_kind)
        elif result_kind in KINDS:
            node.dimension, node.firm, node.alike = KINDS[result_kind], True, same_kind
        else:
            power = Fraction(result_kind.removeprefix("x**(").removesuffix(")"))
            node.factors = tuple((p, power) for p in same_kind if p.op != "number")


def postorder_dimensions(roots: Iterable[DimensionNode]) -> Iterator[DimensionNode]:
    """Every node once, after its parts."""
    visited: set[DimensionNode] = set()
    for root in roots:
        stack = [(root, False)]
        while stack:
            node, is_expanded = stack.pop()
            if is_expanded:
                yield node
            elif node not in visited:
                visited.add(node)
                stack.append((node, True))
                stack.extend((p, False) for p in reversed(node.parts))


def _constant_product(factors: Iterable[tuple[DimensionNode, Fraction]]) -> Fraction | None:
    """The value of a product of numbers, as far as an exponent may need it."""
    result = UNIT
    for part, power in factors:
        if (
            part.value is None
            or power.denominator != 1
            or abs(power) > 9
            or (part.value == 0 and power < 0)
        ):
            return None
        result *= part.value**power.numerator
    return result


def _number_text(value: Fraction | int | None) -> str:
    try:
        return "a number" if value is None else f"{float(value):g}"
    except OverflowError:
        return "a large number"
