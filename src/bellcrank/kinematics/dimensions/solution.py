"""Solution of the graph: what is known travels through it both ways until nothing changes.

In:  the nodes of a `Graph`, some with a dimension. Out: the same nodes, with every dimension that follows.
A number that multiplies may stand for a quantity (`2*k`: a stiffness times a length), so what is found through such a
product counts last, is not `firm`, and is never called a conflict.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from bellcrank.kinematics.dimensions.algebra import common, multiplied, times, without_angle
from bellcrank.kinematics.dimensions.graph import FREE, UNIT, Node
from bellcrank.units import Dimension


def solve(nodes: Iterable[Node]) -> None:
    """Lets what is known travel until nothing changes: first what is firm, then through numbers.

    A sum waits for all its terms as long as anything else moves, so that its use speaks before its parts: in
    (kroll - m*g*h)*roll, kroll is a moment per angle.
    """
    solution = _Solution([n for n in nodes if n.alike or n.factors])
    for firm in (True, False):
        solution.begin()
        while solution.sweep(firm, False) or solution.sweep(firm, True):
            pass


class _Solution:
    """Relations in order. One is looked at again only after there was news of a node in it: few are, in most sweeps."""

    def __init__(self, nodes: list[Node]) -> None:
        self._nodes = nodes
        self._users: dict[Node, list[int]] = {}
        for i, node in enumerate(nodes):
            for part in dict.fromkeys((node, *node.alike, *(p for p, _ in node.factors))):
                self._users.setdefault(part, []).append(i)
        self._due: tuple[bytearray, bytearray] = bytearray(), bytearray()

    def begin(self) -> None:
        """All relations are to be looked at, in sweeps that wait for all terms of a sum and in those that do not."""
        self._due = bytearray(b"\1" * len(self._nodes)), bytearray(b"\1" * len(self._nodes))

    def sweep(self, firm: bool, partial: bool) -> bool:
        """Looks at all relations there and back; reports whether that brought news."""
        due, nodes, has_news = self._due[partial], self._nodes, False
        for forward in (True, False):
            i = due.find(1) if forward else due.rfind(1)
            while i >= 0:
                due[i] = 0
                node = nodes[i]
                has_news |= self._factors(node, firm) if node.factors else self._alike(node, firm, partial)
                i = due.find(1, i + 1) if forward else due.rfind(1, 0, i)
        return has_news

    def _learn(self, node: Node, dimension: Dimension, firm: bool, location: str) -> bool:
        news = node.learn(dimension, firm, location)
        if news:
            for i in self._users.get(node, ()):
                self._due[0][i] = self._due[1][i] = 1
        return news

    def _factors(self, node: Node, firm: bool) -> bool:
        """A product of known factors is known; one unknown factor follows from the rest."""
        unknown = [factor for factor in node.factors if not factor[0].has(firm)]
        if (firm and node.loose) or len(unknown) > 1 or bool(unknown) != node.has(firm):
            return False
        if not unknown:
            return self._learn(node, _dimension(node.factors), firm, node.where)
        part, power = unknown[0]
        assert node.dimension is not None
        dimension = times(node.dimension, _dimension(f for f in node.factors if f[0] is not part), -UNIT)
        if node.turns:
            dimension = without_angle(dimension)
        return self._learn(part, dimension if power == 1 else dimension ** (1 / power), firm, node.where)

    def _alike(self, node: Node, firm: bool, partial: bool) -> bool:
        """Parts of one kind report the whole, the whole reports the parts, and if `partial` the parts report each
        other."""
        terms = [p for p in node.alike if p.op not in FREE]
        dimensions = [p.dimension for p in terms if p.dimension is not None and p.has(firm)]
        dimension = node.dimension if node.joined and node.has(firm) else None
        if dimension is None:
            if not dimensions or (len(dimensions) < len(terms) and not partial):
                return False
            dimension = common(dimensions)
        has_news = node.joined and self._learn(node, dimension, firm, node.where)
        if len(dimensions) < len(terms):
            for term in terms:
                has_news |= self._learn(term, dimension, firm, node.where)
        return has_news


def _dimension(factors: Iterable[tuple[Node, Fraction]]) -> Dimension:
    return multiplied((p.dimension, x) for p, x in factors)
