"""Wording: labels and generic names of states, parameters and channels.

In:  an `Analysis`, for states and outputs; the `Root`s of a solved `Graph`, for parameters and variables.
Out: words, as Sayers (1990) prints them in chapter 9 and Appendix C. Labels of the modeller's own go before these, in `quantities`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from bellcrank.expr import MINUS_ONE, ONE, ZERO
from bellcrank.kinematics.analysis import Analysis
from bellcrank.kinematics.dimensions.algebra import MOMENT, SPEED, SPIN
from bellcrank.kinematics.dimensions.graph import Node, Root
from bellcrank.model.mechanism import Body
from bellcrank.units import ACCELERATION, ANGLE, FORCE, LENGTH, MASS, TIME, Dimension
from bellcrank.units import ONE as PURE
from bellcrank.vector.basis import Vec3

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
    FORCE / LENGTH: "stiffness coefficient",
    MOMENT / ANGLE: "stiffness coefficient",
    FORCE / SPEED: "damping coefficient",
    MOMENT / SPIN: "damping coefficient",
    ANGLE: "angle",
}


TERMS = {SPEED: "speed", SPIN: "angular speed", FORCE: "force", MOMENT: "moment", TIME: "time"}
"""Words for what is added to others of its kind."""


class State(NamedTuple):
    """What a coordinate or speed is."""

    dimension: Dimension
    generic: str
    label: str


def called(name: str, label: str | None) -> str:
    """A body in a sentence: its label with an article, or its symbol."""
    if label is None or label == name:
        return name.upper()
    return label if label.lower().startswith("the ") else f"the {label}"


def state_words(analysis: Analysis) -> dict[str, State]:
    """All coordinates, then all speeds, by symbol."""
    bodies = analysis.mechanism.bodies
    joints = []
    for b in bodies:
        parent = bodies[b.parent] if b.parent >= 0 else None
        joints.append((b, parent, _joint_place(analysis, b, parent)))
    return {symbol: state for words in (_coordinates, _speeds) for joint in joints for symbol, state in words(*joint)}


def _coordinates(b: Body, parent: Body | None, place: str) -> Iterator[tuple[str, State]]:
    symbol, body, frame = b.name.upper(), called(b.name, b.label), parent.name if parent else "n"
    for slide, q in zip(b.slides, b.q_t):
        words = f"Translation of {symbol}0 relative to {place} along {_direction(slide, frame)}"
        yield q.name, State(LENGTH, "Translation", words)
    base = called(parent.name, parent.label) if parent else "the inertial reference"
    for q, kind in zip(b.guide.q, b.guide.kinds) if b.guide else ():
        dimension, what = (LENGTH, "Travel") if kind == "length" else (ANGLE, "Roll")
        yield q.name, State(dimension, what, f"{what} of {body} relative to {base}")
    if b.euler:
        for i, q in enumerate(b.q_r):
            yield q.name, State(PURE, "Euler Parameter", f"Euler parameter e{i} of {body} relative to {base}")
        return
    chain = [frame.upper(), f"{symbol}pp", f"{symbol}p", symbol] if len(b.q_r) == 3 else [base, body]
    for axis, q, turned, fixed in zip(b.axes, b.q_r, chain[1:], chain):
        yield q.name, State(ANGLE, "Rotation", f"Rotation of {turned} relative to {fixed} about axis #{_axis(axis)}")


def _speeds(b: Body, parent: Body | None, place: str) -> Iterator[tuple[str, State]]:
    symbol, frame = b.name.upper(), parent.name if parent else "n"
    for u, kind in zip(b.guide.u, b.guide.kinds) if b.guide else ():
        if kind == "length":
            yield (
                u.name,
                State(SPEED, "Translational Speed", f"Speed of travel of {symbol} relative to {frame.upper()}"),
            )
        else:
            yield u.name, State(SPIN, "Angular Speed", f"Roll rate of {symbol} relative to {frame.upper()}")
    for i, u in enumerate(b.u_t):
        if b.free_translation:
            words = f"Abs. trans. speed of {symbol}* along axis {b.speed_axes[i] + 1}"
        else:
            along = _direction(b.slides[i], frame)
            words = f"Trans. speed of {symbol}0 relative to {place.removeprefix('the ')} along {along}"
        yield u.name, State(SPEED, "Translational Speed", words)
    for i, u in enumerate(b.u_r):
        if b.free_rotation:
            words = f"Abs. rotation of {symbol} about axis #{i + 1}"
        elif parent is None:
            words = f"Abs. rot. of {symbol}, axis {_axis(b.axes[i])}"
        else:
            words = f"Rot. of {symbol} relative to {frame.upper()}, axis {_axis(b.axes[i])}"
        yield u.name, State(SPIN, "Angular Speed", words)


def _joint_place(analysis: Analysis, b: Body, parent: Body | None) -> str:
    """The point of the parent from which a translation is counted."""
    if all(x is ZERO for x in b.joint_at):
        return f"{parent.name.upper()}0" if parent else "the fixed origin"
    if parent is not None and parent.cm == b.joint_at:
        return f"the center of mass of {parent.name.upper()}"
    here = (p.label for p in analysis.points.values() if p.body == b.parent and p.at == b.joint_at)
    return next(here, f"the attachment point for {called(b.name, b.label)}")


def _direction(v: Vec3, frame: str) -> str:
    number = _axis(v)
    if number.startswith("("):
        return f"{number} of {frame.upper()}"
    return f"{number[:-1]}[{frame}{number[-1]}]"


def _axis(v: Vec3) -> str:
    """Number of a coordinate axis, with its sign, or the components of another axis."""
    for k in range(3):
        if v[k] in (ONE, MINUS_ONE):
            return f"{'-' if v[k] is MINUS_ONE else ''}{k + 1}"
    return f"({', '.join(map(str, v))})"


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
                found.setdefault(node.name.lower(), f"{_word(node, word)} in {root.words}" if word else direct)
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
