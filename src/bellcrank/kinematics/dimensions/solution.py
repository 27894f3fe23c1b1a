"""Solution of the graph: what is known travels through it both ways until nothing changes.

In:  the nodes of a `Graph`, some with a dimension. Out: the same nodes, with every dimension that follows.
A number that multiplies may stand for a quantity (`2*k`: a stiffness times a length), so what is found through such a
product counts last, is not `firm`, and is never called a conflict.
"""

from __future__ import annotations

from collections.abc import Iterable

from bellcrank.kinematics.dimensions.algebra import common, multiplied, times, without_angle
from bellcrank.kinematics.dimensions.graph import FREE, UNIT, Node


def solve(nodes: Iterable[Node]) -> None:
    """Lets what is known travel until nothing changes: first what is firm, then through numbers.

    A sum waits for all its terms as long as anything else moves, so that its use speaks before its parts: in
    (kroll - m*g*h)*roll, kroll is a moment per angle.
    """
    open_nodes = [n for n in nodes if n.alike or n.factors]
    for firm in (True, False):
        changed = True
        while changed:
            open_nodes = [n for n in open_nodes if not _finished(n)]
            changed = _sweep(open_nodes, firm, False) or _sweep(open_nodes, firm, True)


def _finished(node: Node) -> bool:
    parts = node.alike or [p for p, _ in node.factors]
    return (node.firm or not (node.joined or node.factors)) and all(p.firm or p.op in FREE for p in parts)


def _sweep(nodes: list[Node], firm: bool, partial: bool) -> bool:
    changed = False
    for node in (*nodes, *reversed(nodes)):
        changed |= _relate_factors(node, firm) if node.factors else _relate_alike(node, firm, partial)
    return changed


def _relate_factors(node: Node, firm: bool) -> bool:
    """A product of known factors is known; one unknown factor follows from the rest."""
    unknown = [factor for factor in node.factors if not factor[0].has(firm)]
    if (firm and node.loose) or len(unknown) > 1 or bool(unknown) != node.has(firm):
        return False
    if not unknown:
        return node.learn(multiplied((p.dimension, x) for p, x in node.factors), firm, node.where)
    part, power = unknown[0]
    assert node.dimension is not None
    others = multiplied((p.dimension, x) for p, x in node.factors if p is not part)
    rest = times(node.dimension, others, -UNIT)
    if node.turns:
        rest = without_angle(rest)
    return part.learn(rest if power == 1 else rest ** (1 / power), firm, node.where)


def _relate_alike(node: Node, firm: bool, partial: bool) -> bool:
    """Parts of one kind report the whole, the whole reports the parts, and if `partial` the parts report each other."""
    parts = [p for p in node.alike if p.op not in FREE]
    known = [p.dimension for p in parts if p.dimension is not None and p.has(firm)]
    dimension = node.dimension if node.joined and node.has(firm) else None
    if dimension is None:
        if not known or (len(known) < len(parts) and not partial):
            return False
        dimension = common(known)
    changed = node.joined and node.learn(dimension, firm, node.where)
    if len(known) < len(parts):
        for part in parts:
            changed |= part.learn(dimension, firm, node.where)
    return changed
