"""Solution of the graph: what is known travels through it both ways until nothing changes.

In:  the nodes of a `Graph`, some with a dimension. Out: the same nodes, with every dimension that
follows. A number that multiplies may stand for a quantity (`2*k`: a stiffness times a length), so
what is found through such a product counts last, is not `firm`, and is never called a conflict.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from bellcrank.core.units import Dimension
from bellcrank.mechanics.kinematics.dimensions.algebra import (
    common_dimension,
    multiply_power,
    product_dimension,
    without_angle,
)
from bellcrank.mechanics.kinematics.dimensions.graph import FREE, UNIT, DimensionNode


def propagate_dimensions(nodes: Iterable[DimensionNode]) -> None:
    """Lets what is known travel until nothing changes: first what is firm, then through numbers.

    A sum waits for all its terms as long as anything else moves, so that its use speaks before its
    parts: in (kroll - m*g*h)*roll, kroll is a moment per angle.
    """
    solution = _DimensionPropagation([n for n in nodes if n.alike or n.factors])
    for firm in (True, False):
        solution.mark_all_due()
        while solution.sweep(firm, False) or solution.sweep(firm, True):
            pass


class _DimensionPropagation:
    """Relations in order. One is looked at again only after there was news of a node in it: few
    are, in most sweeps."""

    def __init__(self, nodes: list[DimensionNode]) -> None:
        self._nodes = nodes
        self._users: dict[DimensionNode, list[int]] = {}
        for i, node in enumerate(nodes):
            for part in dict.fromkeys((node, *node.alike, *(p for p, _ in node.factors))):
                self._users.setdefault(part, []).append(i)
        self._due: tuple[bytearray, bytearray] = bytearray(), bytearray()

    def mark_all_due(self) -> None:
        """All relations are to be looked at, in sweeps that wait for all terms of a sum and in
        those that do not."""
        self._due = bytearray(b"\1" * len(self._nodes)), bytearray(b"\1" * len(self._nodes))

    def sweep(self, firm: bool, partial: bool) -> bool:
        """Looks at all relations there and back; reports whether that brought news."""
        due, nodes, has_news = self._due[partial], self._nodes, False
        for forward in (True, False):
            i = due.find(1) if forward else due.rfind(1)
            while i >= 0:
                due[i] = 0
                node = nodes[i]
                has_news |= (
                    self._propagate_product(node, firm)
                    if node.factors
                    else self._propagate_equal(node, firm, partial)
                )
                i = due.find(1, i + 1) if forward else due.rfind(1, 0, i)
        return has_news

    def _set_dimension(
        self, node: DimensionNode, dimension: Dimension, firm: bool, location: str
    ) -> bool:
        news = node.set_dimension(dimension, firm, location)
        if news:
            for i in self._users.get(node, ()):
                self._due[0][i] = self._due[1][i] = 1
        return news

    def _propagate_product(self, node: DimensionNode, firm: bool) -> bool:
        """A product of known factors is known; one unknown factor follows from the rest."""
        unknown = [factor for factor in node.factors if not factor[0].is_known(firm)]
        if (firm and node.loose) or len(unknown) > 1 or bool(unknown) != node.is_known(firm):
            return False
        if not unknown:
            return self._set_dimension(node, _product_of_factors(node.factors), firm, node.where)
        part, power = unknown[0]
        assert node.dimension is not None
        dimension = multiply_power(
            node.dimension, _product_of_factors(f for f in node.factors if f[0] is not part), -UNIT
        )
        if node.turns:
            dimension = without_angle(dimension)
        return self._set_dimension(
            part, dimension if power == 1 else dimension ** (1 / power), firm, node.where
        )

    def _propagate_equal(self, node: DimensionNode, firm: bool, partial: bool) -> bool:
        """Parts of one kind report the whole, the whole reports the parts, and if `partial` the
        parts report each other."""
        terms = [p for p in node.alike if p.op not in FREE]
        dimensions = [p.dimension for p in terms if p.dimension is not None and p.is_known(firm)]
        dimension = node.dimension if node.joined and node.is_known(firm) else None
        if dimension is None:
            if not dimensions or (len(dimensions) < len(terms) and not partial):
                return False
            dimension = common_dimension(dimensions)
        has_news = node.joined and self._set_dimension(node, dimension, firm, node.where)
        if len(dimensions) < len(terms):
            for term in terms:
                has_news |= self._set_dimension(term, dimension, firm, node.where)
        return has_news


def _product_of_factors(factors: Iterable[tuple[DimensionNode, Fraction]]) -> Dimension:
    return product_dimension((p.dimension, x) for p, x in factors)
