"""Conflicts: where a solved graph contradicts itself or what is needed.

In:  the `FormulaRoot`s of a solved `Graph`. Out: problems as messages, with the place and the part
of the formula. Only definite conflicts count: what was found through a number that multiplies is
left open.
"""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.core.units import ANGLE, Dimension, UnitSystem
from bellcrank.core.units import ONE as PURE
from bellcrank.mechanics.kinematics.dimensions.algebra import product_dimension
from bellcrank.mechanics.kinematics.dimensions.graph import (
    ARGUMENT,
    DimensionNode,
    FormulaRoot,
    postorder_dimensions,
)

LONGEST = 120
RANK = {"sum": 1, "neg": 1, "product": 2}


def conflicts(roots: Sequence[FormulaRoot], system: UnitSystem) -> list[str]:
    """Sums of different quantities, and formulas that give another quantity than is needed.

    States and time by themselves may be arguments and magnitudes: in sin(t) and -q(b) a factor 1 is
    meant that nobody writes.
    """
    problems: list[str] = []
    dimensions: dict[DimensionNode, Dimension | None] = {}
    has_names: dict[DimensionNode, bool] = {}
    for node in postorder_dimensions(r.node for r in roots):
        has_names[node] = node.op == "scalar" or any(has_names[p] for p in node.parts)
        dimensions[node] = _dimension_from_parts(node, dimensions)
        clash = _first_conflict(node, dimensions)
        if clash is not None:
            verb = "adds" if node.op == "sum" else "compares"
            terms = ", ".join(
                f"{_node_text(p)} is "
                f"{system.user_unit(dimensions[p] or PURE).text}"
                f"{_unit_origin_note(p, node.where, system)}"
                for p in clash
            )
            problems.append(
                f"{node.where}: {_node_text(node)} {verb} quantities of different units: {terms}"
            )
            dimensions[node] = None
        if node.op == "call" and node.name in ARGUMENT and has_names[node.parts[0]]:
            argument_dimension = dimensions[node.parts[0]]
            if argument_dimension is not None and not argument_dimension.same_kind(PURE):
                expected = "an angle" if ARGUMENT[node.name] is ANGLE else "a pure number"
                argument_text = (
                    f"the units of {_node_text(node.parts[0])} are "
                    f"{system.user_unit(argument_dimension).text}"
                )
                problems.append(
                    f"{node.where}: {_node_text(node)} needs {expected}, but {argument_text}"
                )
    unmet_needs = (
        _unmet_requirement(r, dimensions[r.node], system)
        for r in roots
        if r.strict or has_names[r.node]
    )
    return problems + [problem for problem in unmet_needs if problem is not None]


def _dimension_from_parts(
    node: DimensionNode, dimensions: dict[DimensionNode, Dimension | None]
) -> Dimension | None:
    """What a node certainly is by its parts."""
    if node.factors:
        factors = [
            (dimensions.get(p, p.dimension), x) for p, x in node.factors
        ]  # the time in dxdt is no part
        return (
            None if node.loose or any(d is None for d, _ in factors) else product_dimension(factors)
        )
    if node.joined:
        return next((d for d in map(dimensions.__getitem__, node.alike) if d is not None), None)
    return node.dimension if node.firm else None


def _first_conflict(
    node: DimensionNode, dimensions: dict[DimensionNode, Dimension | None]
) -> tuple[DimensionNode, DimensionNode] | None:
    """The first two parts that should be of one kind and are not."""
    dimensioned = [(p, d) for p in node.alike if (d := dimensions[p]) is not None]
    return next(
        ((dimensioned[0][0], p) for p, d in dimensioned if not d.same_kind(dimensioned[0][1])), None
    )


def _unmet_requirement(
    root: FormulaRoot, dimension: Dimension | None, system: UnitSystem
) -> str | None:
    if dimension is None or root.needed is None or dimension.same_kind(root.needed):
        return None
    unit_text = (
        f"{system.user_unit(dimension).text}{_unit_origin_note(root.node, root.where, system)}"
    )
    units = f"the units of its {root.what} {_node_text(root.node)} are {unit_text}"
    return f"{root.where}: {units}, but {system.user_unit(root.needed).text} is needed"


def _unit_origin_note(root: DimensionNode, location: str, system: UnitSystem) -> str:
    """Where the units of names in a formula were found, if elsewhere: that place may be the one at
    fault."""
    scalars = {
        n.name: n
        for n in postorder_dimensions((root,))
        if n.op == "scalar" and n.source not in ("", location)
    }
    if root.op == "scalar":
        return f" (by {root.source})" if scalars else ""
    sources = [
        f"{n.name} is {system.user_unit(n.dimension or PURE).text} by {n.source}"
        for n in scalars.values()
        if n.dimension is not None
    ]
    return f" ({', '.join(sources[:3])})" if sources else ""


def _node_text(root: DimensionNode) -> str:
    """A node as a person would write it, cut where it gets long."""
    texts: dict[DimensionNode, str] = {}
    for node in postorder_dimensions((root,)):
        text = _format_node(node, texts)
        texts[node] = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    return texts[root]


def _format_node(node: DimensionNode, texts: dict[DimensionNode, str]) -> str:
    def parenthesize(part: DimensionNode, rank: int) -> str:
        return f"({texts[part]})" if RANK.get(part.op, 3) < rank else texts[part]

    match node.op:
        case "sum":
            text = (
                parenthesize(node.parts[0], 1)
                if node.powers[0] > 0
                else f"-{parenthesize(node.parts[0], 2)}"
            )
            signed_terms = zip(node.parts[1:], node.powers[1:])
            return text + "".join(
                f" {'+' if sign > 0 else '-'} {parenthesize(p, 2)}" for p, sign in signed_terms
            )
        case "neg":
            return f"-{parenthesize(node.parts[0], 2)}"
        case "product":
            text = ""
            for part, power in zip(node.parts, node.powers):
                n = abs(power) if text else power
                factor_text = parenthesize(part, 2 if n == 1 and not text else 3)
                factor_text += (
                    "" if n == 1 else f"**{n}" if n.denominator == 1 and n > 0 else f"**({n})"
                )
                text += f"{'' if not text else '/' if power < 0 else '*'}{factor_text}"
            return text
        case "call" | "any" if node.parts:
            return f"{node.name}({', '.join(texts[p] for p in node.parts)})"
    return node.name
