"""Wording: labels and generic names of states, parameters and channels.

In:  an `KinematicAnalysis`, for states and outputs; the `FormulaRoot`s of a solved `Graph`, for
parameters and variables. Out: words, as Sayers (1990) prints them in chapter 9 and Appendix C.
`quantities` prefers the modeller's own labels.
"""

from __future__ import annotations

from collections.abc import Iterable

from bellcrank.core.units import ACCELERATION, ANGLE, FORCE, LENGTH, MASS, TIME, Dimension
from bellcrank.mechanics.kinematics.analysis import KinematicAnalysis
from bellcrank.mechanics.kinematics.dimensions.algebra import MOMENT, SPEED, SPIN
from bellcrank.mechanics.kinematics.dimensions.graph import DimensionNode, FormulaRoot
from bellcrank.model.joints.labels import BodyLabels, StateLabel, body_label
from bellcrank.model.mechanism import Body
from bellcrank.symbolic.expr import ZERO

GENERIC = {
    LENGTH: "Translation",
    SPEED: "Translational Speed",
    ACCELERATION: "Translational Acceleration",
    ANGLE: "Rotation Angle",
    SPIN: "Angular Speed",
    ANGLE / TIME**2: "Angular Acceleration",
    FORCE: "Force",
    MOMENT: "Moment",
    MOMENT / TIME: "Power",
    MASS * SPEED: "Momentum",
    MOMENT * TIME: "Angular Momentum",
    MASS: "Mass",
    TIME: "Time",
}
"""Generic names of channels, by dimension (Sayers 1990, Appendix C)."""

COEFFICIENTS = {
    **dict.fromkeys((FORCE / LENGTH, MOMENT / ANGLE), "stiffness coefficient"),
    **dict.fromkeys((FORCE / SPEED, MOMENT / SPIN), "damping coefficient"),
    ANGLE: "angle",
}
TERMS = {SPEED: "speed", SPIN: "angular speed", FORCE: "force", MOMENT: "moment", TIME: "time"}
"""Words for what is added to others of its kind."""


LETTERS, TURNS = {"1": "x", "2": "y", "3": "z"}, {"1": "roll", "2": "pitch", "3": "yaw"}  # by axes
SHORT = 4  # words of a label of a body that stand in those of its states


def state_words(analysis: KinematicAnalysis) -> dict[str, StateLabel]:
    """All coordinates, then all speeds, by symbol."""
    bodies = analysis.mechanism.bodies
    joints = []
    for b in bodies:
        parent = bodies[b.parent] if b.parent >= 0 else None
        base = body_label(parent.name, parent.label) if parent else "the inertial reference"
        joint_label, frame = _joint_origin_text(analysis, b, parent), parent.name if parent else "n"
        joints.append(
            (b.joint, BodyLabels(b.name, body_label(b.name, b.label), frame, base, joint_label))
        )
    symbol_states = [x for joint, names in joints for x in joint.coordinate_words(names)]
    symbol_states += [x for joint, names in joints for x in joint.speed_words(names)]
    return {symbol.name: state for symbol, state in symbol_states}


def state_labels(analysis: KinematicAnalysis) -> dict[str, str]:
    """Short labels of coordinates and speeds, by symbol: "chassis x", "chassis yaw", "rod
    angle"."""
    descriptions, labels = state_words(analysis), dict[str, str]()
    vertical = analysis.mechanism.description.axes is not None
    for b in analysis.mechanism.bodies:
        short = b.label if b.label and len(b.label.split()) <= SHORT else b.name
        for symbols in (b.coordinates, b.speeds):
            states = [descriptions[s.name] for s in symbols if s.name in descriptions]
            rotation_axes = [x.axis for x in states if x.dimension in (ANGLE, SPIN)]
            has_all_axes = vertical and sorted(rotation_axes) == ["1", "2", "3"]
            for s in symbols:
                if s.name in descriptions:
                    has_several_axes = len(rotation_axes) > 1
                    noun = _motion_noun(descriptions[s.name], has_several_axes, has_all_axes)
                    labels[s.name] = f"{short} {noun}"
    return labels


def _motion_noun(state: StateLabel, several: bool, has_all_axes: bool) -> str:
    """What a coordinate or speed is of its body. `several`: rotations; `has_all_axes`: about all
    axes of a vehicle."""
    letter = LETTERS.get(state.axis.removeprefix("-"), "")
    if state.dimension == LENGTH:
        return letter or ("travel" if state.generic == "Travel" else "position")
    if state.dimension == SPEED:
        return f"speed {letter}".strip()
    if state.dimension == ANGLE:
        if has_all_axes:
            return TURNS[state.axis]
        return f"angle about {letter}" if several and letter else "angle"
    if state.dimension == SPIN:
        return f"angular speed about {letter}" if several and letter else "angular speed"
    return state.axis


def _joint_origin_text(analysis: KinematicAnalysis, b: Body, parent: Body | None) -> str:
    """The point of the parent from which a translation is counted."""
    if all(x is ZERO for x in b.joint.at):
        return f"{parent.name}0" if parent else "the fixed origin"
    if parent is not None and parent.cm == b.joint.at:
        return f"the center of mass of {parent.name}"
    point_labels = (
        p.label
        for p in analysis.points.values()
        if p.body == b.parent and p.coordinates == b.joint.at
    )
    return next(point_labels, f"the attachment point for {body_label(b.name, b.label)}")


def scalar_words(roots: Iterable[FormulaRoot]) -> dict[str, str]:
    """Words for parameters and variables, by the place where they are met first."""
    labels: dict[str, str] = {}
    for root in roots:
        stack = [(root.node, "", False)]
        visited: set[DimensionNode] = set()
        while stack:
            node, word, negative = stack.pop()
            if node.op == "scalar":
                direct = f"negative {root.words}" if negative else root.words
                labels.setdefault(
                    node.name, f"{_quantity_noun(node, word)} in {root.words}" if word else direct
                )
            elif node.op != "name" and node not in visited:  # a definition speaks for itself
                visited.add(node)
                inner = word if node.op == "neg" else _inner_word(node)
                stack.extend(
                    (p, inner, node.op == "neg" and not negative) for p in reversed(node.parts)
                )
    return labels


def _quantity_noun(node: DimensionNode, word: str) -> str:
    if node.dimension is None:
        return word
    phrases = COEFFICIENTS | TERMS if word == "term" else COEFFICIENTS
    return phrases.get(node.dimension, word)


def _inner_word(node: DimensionNode) -> str:
    return {"sum": "term", "product": "coefficient"}.get(
        node.op
    ) or f"argument to {node.name.upper()}"


def channel_name(label: str, dimension: Dimension | None) -> str:
    """The generic name of an output that has none of its own."""
    if dimension == MOMENT and "energy" in label.lower():
        return "Energy"
    return label if dimension is None else GENERIC.get(dimension, label)
