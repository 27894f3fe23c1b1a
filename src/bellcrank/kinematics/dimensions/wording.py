"""Wording: labels and generic names of states, parameters and channels.

In:  an `Analysis`, for states and outputs; the `Root`s of a solved `Graph`, for parameters and variables.
Out: words, as Sayers (1990) prints them in chapter 9 and Appendix C. `quantities` prefers the modeller's own labels.
"""

from __future__ import annotations

from collections.abc import Iterable

from bellcrank.expr import ZERO
from bellcrank.kinematics.analysis import Analysis
from bellcrank.kinematics.dimensions.algebra import MOMENT, SPEED, SPIN
from bellcrank.kinematics.dimensions.graph import Node, Root
from bellcrank.model.joints.words import Called, State, called
from bellcrank.model.mechanism import Body
from bellcrank.units import ACCELERATION, ANGLE, FORCE, LENGTH, MASS, TIME, Dimension

GENERIC = {
    LENGTH: "Translation", SPEED: "Translational Speed", ACCELERATION: "Translational Acceleration",
    ANGLE: "Rotation Angle", SPIN: "Angular Speed", ANGLE / TIME**2: "Angular Acceleration",
    FORCE: "Force", MOMENT: "Moment", MOMENT / TIME: "Power", MASS * SPEED: "Momentum",
    MOMENT * TIME: "Angular Momentum", MASS: "Mass", TIME: "Time",
}  # fmt: skip
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


def state_words(analysis: Analysis) -> dict[str, State]:
    """All coordinates, then all speeds, by symbol."""
    bodies = analysis.mechanism.bodies
    joints = []
    for b in bodies:
        parent = bodies[b.parent] if b.parent >= 0 else None
        base = called(parent.name, parent.label) if parent else "the inertial reference"
        place, frame = _joint_place(analysis, b, parent), parent.name if parent else "n"
        joints.append((b.joint, Called(b.name, called(b.name, b.label), frame, base, place)))
    found = [x for joint, names in joints for x in joint.coordinate_words(names)]
    found += [x for joint, names in joints for x in joint.speed_words(names)]
    return {symbol.name: state for symbol, state in found}


def state_labels(analysis: Analysis) -> dict[str, str]:
    """Short labels of coordinates and speeds, by symbol: "chassis x", "chassis yaw", "rod angle"."""
    words, found = state_words(analysis), dict[str, str]()
    vertical = analysis.mechanism.description.axes is not None
    for b in analysis.mechanism.bodies:
        short = b.label if b.label and len(b.label.split()) <= SHORT else b.name
        for listed in (b.coordinates, b.speeds):
            states = [words[s.name] for s in listed if s.name in words]
            turns = [x.axis for x in states if x.dimension in (ANGLE, SPIN)]
            named = vertical and sorted(turns) == ["1", "2", "3"]
            for s in listed:
                if s.name in words:
                    found[s.name] = f"{short} {_movement(words[s.name], len(turns) > 1, named)}"
    return found


def _movement(state: State, several: bool, named: bool) -> str:
    """What a coordinate or speed is of its body. `several`: rotations; `named`: about all axes of a vehicle."""
    letter = LETTERS.get(state.axis.removeprefix("-"), "")
    if state.dimension == LENGTH:
        return letter or ("travel" if state.generic == "Travel" else "position")
    if state.dimension == SPEED:
        return f"speed {letter}".strip()
    if state.dimension == ANGLE:
        if named:
            return TURNS[state.axis]
        return f"angle about {letter}" if several and letter else "angle"
    if state.dimension == SPIN:
        return f"angular speed about {letter}" if several and letter else "angular speed"
    return state.axis


def _joint_place(analysis: Analysis, b: Body, parent: Body | None) -> str:
    """The point of the parent from which a translation is counted."""
    if all(x is ZERO for x in b.joint.at):
        return f"{parent.name}0" if parent else "the fixed origin"
    if parent is not None and parent.cm == b.joint.at:
        return f"the center of mass of {parent.name}"
    here = (p.label for p in analysis.points.values() if p.body == b.parent and p.at == b.joint.at)
    return next(here, f"the attachment point for {called(b.name, b.label)}")


def scalar_words(roots: Iterable[Root]) -> dict[str, str]:
    """Words for parameters and variables, by the place where they are met first."""
    found: dict[str, str] = {}
    for root in roots:
        stack = [(root.node, "", False)]
        seen: set[Node] = set()
        while stack:
            node, word, negative = stack.pop()
            if node.op == "scalar":
                direct = f"negative {root.words}" if negative else root.words
                found.setdefault(node.name, f"{_word(node, word)} in {root.words}" if word else direct)
            elif node.op != "name" and node not in seen:  # a definition speaks for itself
                seen.add(node)
                inner = word if node.op == "neg" else _inner_word(node)
                stack.extend((p, inner, node.op == "neg" and not negative) for p in reversed(node.parts))
    return found


def _word(node: Node, word: str) -> str:
    if node.dimension is None:
        return word
    known = COEFFICIENTS | TERMS if word == "term" else COEFFICIENTS
    return known.get(node.dimension, word)


def _inner_word(node: Node) -> str:
    return {"sum": "term", "product": "coefficient"}.get(node.op) or f"argument to {node.name.upper()}"


def channel_name(label: str, dimension: Dimension | None) -> str:
    """The generic name of an output that has none of its own."""
    if dimension == MOMENT and "energy" in label.lower():
        return "Energy"
    return label if dimension is None else GENERIC.get(dimension, label)
