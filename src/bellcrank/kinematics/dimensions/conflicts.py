"""Conflicts: where a solved graph contradicts itself or what is needed.

In:  the `Root`s of a solved `Graph`. Out: problems as messages, with the place and the part of the formula.
Only definite conflicts count: what was found through a number that multiplies is left open.
"""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.kinematics.dimensions.algebra import multiplied
from bellcrank.kinematics.dimensions.graph import ARGUMENT, Node, Root, postorder
from bellcrank.units import ANGLE, Dimension, UnitSystem
from bellcrank.units import ONE as PURE

LONGEST = 120
RANK = {"sum": 1, "neg": 1, "product": 2}


def conflicts(roots: Sequence[Root], system: UnitSystem) -> list[str]:
    """Sums of different quantities, and formulas that give another quantity than is needed.

    States and time by themselves may be arguments and magnitudes: in sin(t) and -q(b) a factor 1 is meant that
    nobody writes.
    """
    problems: list[str] = []
    own: dict[Node, Dimension | None] = {}
    named: dict[Node, bool] = {}
    for node in postorder(r.node for r in roots):
        named[node] = node.op == "scalar" or any(named[p] for p in node.parts)
        own[node] = _by_parts(node, own)
        clash = _clash(node, own)
        if clash is not None:
            verb = "adds" if node.op == "sum" else "compares"
            terms = ", ".join(
                f"{_text(p)} is {system.display(own[p] or PURE).text}{_origin(p, node.where, system)}" for p in clash
            )
            problems.append(f"{node.where}: {_text(node)} {verb} quantities of different units: {terms}")
            own[node] = None
        if node.op == "call" and node.name in ARGUMENT and named[node.parts[0]]:
            found = own[node.parts[0]]
            if found is not None and not found.same_kind(PURE):
                needed = "an angle" if ARGUMENT[node.name] is ANGLE else "a pure number"
                inside = f"the units of {_text(node.parts[0])} are {system.display(found).text}"
                problems.append(f"{node.where}: {_text(node)} needs {needed}, but {inside}")
    unmet = (_unmet(r, own[r.node], system) for r in roots if r.strict or named[r.node])
    return problems + [problem for problem in unmet if problem is not None]


def _by_parts(node: Node, own: dict[Node, Dimension | None]) -> Dimension | None:
    """What a node certainly is by its parts."""
    if node.factors:
        factors = [(own.get(p, p.dimension), x) for p, x in node.factors]  # the time in dxdt is no part
        return None if node.loose or any(d is None for d, _ in factors) else multiplied(factors)
    if node.joined:
        return next((d for d in map(own.__getitem__, node.alike) if d is not None), None)
    return node.dimension if node.firm else None


def _clash(node: Node, own: dict[Node, Dimension | None]) -> tuple[Node, Node] | None:
    """The first two parts that should be of one kind and are not."""
    known = [(p, d) for p in node.alike if (d := own[p]) is not None]
    return next(((known[0][0], p) for p, d in known if not d.same_kind(known[0][1])), None)


def _unmet(root: Root, found: Dimension | None, system: UnitSystem) -> str | None:
    if found is None or root.needed is None or found.same_kind(root.needed):
        return None
    own = f"{system.display(found).text}{_origin(root.node, root.where, system)}"
    units = f"the units of its {root.what} {_text(root.node)} are {own}"
    return f"{root.where}: {units}, but {system.display(root.needed).text} is needed"


def _origin(root: Node, where: str, system: UnitSystem) -> str:
    """Where the units of names in a formula were found, if elsewhere: that place may be the one at fault."""
    found = {n.name: n for n in postorder((root,)) if n.op == "scalar" and n.source not in ("", where)}
    if root.op == "scalar":
        return f" (by {root.source})" if found else ""
    listed = [
        f"{n.name} is {system.display(n.dimension or PURE).text} by {n.source}"
        for n in found.values()
        if n.dimension is not None
    ]
    return f" ({', '.join(listed[:3])})" if listed else ""


def _text(root: Node) -> str:
    """A node as a person would write it, cut where it gets long."""
    done: dict[Node, str] = {}
    for node in postorder((root,)):
        text = _piece(node, done)
        done[node] = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    return done[root]


def _piece(node: Node, done: dict[Node, str]) -> str:
    def inside(part: Node, rank: int) -> str:
        return f"({done[part]})" if RANK.get(part.op, 3) < rank else done[part]

    match node.op:
        case "sum":
            text = inside(node.parts[0], 1) if node.powers[0] > 0 else f"-{inside(node.parts[0], 2)}"
            rest = zip(node.parts[1:], node.powers[1:])
            return text + "".join(f" {'+' if sign > 0 else '-'} {inside(p, 2)}" for p, sign in rest)
        case "neg":
            return f"-{inside(node.parts[0], 2)}"
        case "product":
            text = ""
            for part, power in zip(node.parts, node.powers):
                n = abs(power) if text else power
                piece = inside(part, 2 if n == 1 and not text else 3)
                piece += "" if n == 1 else f"**{n}" if n.denominator == 1 and n > 0 else f"**({n})"
                text += f"{'' if not text else '/' if power < 0 else '*'}{piece}"
            return text
        case "call" | "any" if node.parts:
            return f"{node.name}({', '.join(done[p] for p in node.parts)})"
    return node.name
