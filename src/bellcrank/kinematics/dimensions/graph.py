"""The graph of all formulas: nodes, and how the dimension of each is related to those of its parts.

In:  operators and functions with their parts, one at a time, from `reading`. Out: a `Graph` of `Node`s and `Root`s.
There are two relations: parts that are alike (terms of a sum) and factors of a product. `solution` lets what is known
travel along them, `conflicts` finds where they do not hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bellcrank.expr.function_table import FUNCTIONS, kinds
from bellcrank.kinematics.dimensions.algebra import settled
from bellcrank.units import ANGLE, TIME, Dimension
from bellcrank.units import ONE as PURE

UNIT = Fraction(1)
FREE = ("number", "any")  # nodes that may stand for any quantity, and so neither learn nor report

KINDS = {"A": ANGLE, "1": PURE}  # in the dimension rules of the function table
VECTOR_RULES = {
    "angle": "? -> A", "direction": "? -> 1", "dir": "? -> 1", "magnitude": "x -> x", "mag": "x -> x", "norm": "x -> x",
    "nominal": "x -> x", "project": "x, ? -> x", "dplane": "x, ? -> x",
}  # fmt: skip
RULES = {f.name: f.kinds for f in FUNCTIONS.values()} | {name: kinds(rule) for name, rule in VECTOR_RULES.items()}
ARGUMENT = {name: KINDS[taken[0]] for name, (taken, _) in RULES.items() if taken[0] in KINDS}
POWERS = {"dot": (UNIT, UNIT), "cross": (UNIT, UNIT), "dxdt": (UNIT,), "partial": (UNIT, -UNIT)}


@dataclass(eq=False, slots=True)
class Node:
    """One place of a formula.

    `op`: number, known, scalar (parameter or variable), name (a definition), sum, product, neg, call, any (a value of
    unknown kind). All `alike` nodes have one dimension, the node's own if `joined`. `factors` are its parts with
    their powers, numbers apart: it is `loose` if there are any, and `turns` if pi is among them, which may be an angle.
    A dimension is `firm` if no number that multiplies stands between it and what is declared.
    """

    op: str
    where: str
    name: str
    parts: tuple[Node, ...]
    alike: tuple[Node, ...] = ()
    joined: bool = False
    factors: tuple[tuple[Node, Fraction], ...] = ()
    powers: tuple[Fraction, ...] = ()  # of all parts of a product; signs of the terms of a sum
    loose: bool = False
    turns: bool = False
    value: Fraction | None = None  # of a number
    dimension: Dimension | None = None
    firm: bool = False
    source: str = ""  # where the dimension of a scalar was found

    def join(self, terms: tuple[Node, ...]) -> None:
        """All these parts and the node itself have one dimension."""
        self.alike, self.joined = terms, True

    def has(self, firm: bool) -> bool:
        """Whether the dimension is known, and if `firm` known for sure."""
        return self.dimension is not None and (self.firm or not firm)

    def learn(self, dimension: Dimension, firm: bool, location: str) -> bool:
        """Takes a dimension found at that place; whether it is news."""
        if self.op in FREE or self.has(firm):
            return False
        if self.op == "scalar":
            dimension, self.source = settled(dimension), location
        self.dimension, self.firm = dimension, firm
        return True


@dataclass(frozen=True)
class Root:
    """A formula: the place, words for the parameters in it, `what` of the place it gives and the dimension needed."""

    node: Node
    where: str
    words: str
    what: str = ""
    needed: Dimension | None = None
    strict: bool = False  # the need was declared for this formula, so that even a bare state must meet it


class Graph:
    """All nodes in the order they were made. `where` is the place of the formula that is being read."""

    def __init__(self) -> None:
        self.where = ""
        self.nodes: list[Node] = []
        self.roots: list[Root] = []

    def node(self, op: str, name: str = "", operands: Iterable[Node] = ()) -> Node:
        """A node of which nothing is known yet."""
        node = Node(op, self.where, name, tuple(operands))
        self.nodes.append(node)
        return node

    def known(self, name: str, dimension: Dimension) -> Node:
        """A value whose dimension is a fact."""
        node = self.node("known", name)
        node.dimension, node.firm, node.turns = dimension, True, name == "pi"
        return node

    def number(self, value: Fraction | int | None) -> Node:
        """A number; None for one whose value does not matter."""
        node = self.node("number", _shown(value))
        node.value = None if value is None else Fraction(value)
        return node

    def negative(self, part: Node) -> Node:
        """-part"""
        if part.op == "number":
            return self.number(None if part.value is None else -part.value)
        node = self.node("neg", "", (part,))
        node.join(node.parts)
        return node

    def sum(self, terms: Sequence[tuple[Node, Fraction]]) -> Node:
        """The sum of terms, each with its sign."""
        if all(p.op == "number" for p, _ in terms):
            values = [p.value * sign for p, sign in terms if p.value is not None]
            return self.number(sum(values, Fraction(0)) if len(values) == len(terms) else None)
        node = self.node("sum", "", (p for p, _ in terms))
        node.join(node.parts)
        node.powers = tuple(sign for _, sign in terms)
        return node

    def product(self, factors: Sequence[tuple[Node, Fraction]]) -> Node:
        """The product of factors, each with its power."""
        if all(p.op == "number" for p, _ in factors):
            return self.number(_constant(factors))
        node = self.node("product", "", (p for p, _ in factors))
        node.powers = tuple(x for _, x in factors)
        node.factors = tuple((p, x) for p, x in factors if p.op != "number" and x)
        reciprocal = factors[0][0].value == 1 and factors[-1][1] < 0  # 1/x: the 1 is only there to write it
        node.loose = any(p.op == "number" for p, _ in factors[1 if reciprocal else 0 :])
        node.turns = any(p.turns for p in node.parts)
        return node

    def power(self, base: Node, exponent: Node) -> Node:
        """base**exponent: a product of one factor if the exponent is a number."""
        if exponent.op == "number" and exponent.value is not None:
            return self.product([(base, exponent.value)])
        exponent.learn(PURE, True, self.where)
        return self.node("any", "pow", (base, exponent))

    def function(self, name: str, arguments: Sequence[Node]) -> Node:
        """A function of the model language, a user function or a table."""
        if name == "pow":
            return self.power(*arguments)
        node = self.node("call", name, arguments)
        if name in POWERS:
            node.factors = tuple((p, x) for p, x in zip(arguments, POWERS[name]) if p.op != "number")
            if name == "dxdt":
                node.factors += ((self.known("t", TIME), -UNIT),)
        elif name in RULES:
            self._apply(RULES[name], node)
        else:
            node.op = "any"  # a user function or a table
        return node

    def _apply(self, rule: tuple[tuple[str, ...], str], node: Node) -> None:
        """The relations by a rule such as "x, x -> 1": kinds of the arguments, the last one for all further ones."""
        argument_kinds, result_kind = rule
        kinds = [argument_kinds[min(i, len(argument_kinds) - 1)] for i in range(len(node.parts))]
        for part, kind in zip(node.parts, kinds, strict=True):
            if kind in KINDS:
                part.learn(KINDS[kind], True, self.where)
        same_kind = tuple(p for p, kind in zip(node.parts, kinds, strict=True) if kind == "x")
        if result_kind == "x":
            node.join(same_kind)
        elif result_kind in KINDS:
            node.dimension, node.firm, node.alike = KINDS[result_kind], True, same_kind
        else:
            power = Fraction(result_kind.removeprefix("x**(").removesuffix(")"))
            node.factors = tuple((p, power) for p in same_kind if p.op != "number")


def postorder(roots: Iterable[Node]) -> Iterator[Node]:
    """Every node once, after its parts."""
    visited: set[Node] = set()
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


def _constant(factors: Iterable[tuple[Node, Fraction]]) -> Fraction | None:
    """The value of a product of numbers, as far as an exponent may need it."""
    result = UNIT
    for part, power in factors:
        if part.value is None or power.denominator != 1 or abs(power) > 9 or (part.value == 0 and power < 0):
            return None
        result *= part.value**power.numerator
    return result


def _shown(value: Fraction | int | None) -> str:
    try:
        return "a number" if value is None else f"{float(value):g}"
    except OverflowError:
        return "a large number"
