"""Words for the states of a joint, as Sayers (1990) prints them in chapter 9 and Appendix C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from bellcrank.core.units import ANGLE, LENGTH, TIME, Dimension
from bellcrank.symbolic.expr import MINUS_ONE, ONE
from bellcrank.symbolic.vector.basis import Vec3

SPEED, SPIN = LENGTH / TIME, ANGLE / TIME


class StateLabel(NamedTuple):
    """What a coordinate or speed is."""

    dimension: Dimension
    generic: str
    label: str
    axis: str = ""  # as of `axis_word`, where it has one


@dataclass(frozen=True)
class BodyLabels:
    """How messages call a body and its parent: their names, or their labels with an article."""

    symbol: str
    body: str
    parent: str  # the parent's name as it was given, n for the ground
    base: str
    child_frame_motion: str  # the point of the parent from which a translation is counted


def body_label(name: str, label: str | None) -> str:
    """A body in a message: its label with an article, or its symbol."""
    if label is None or label == name:
        return name
    return label if label.lower().startswith("the ") else f"the {label}"


def axis_word(v: Vec3) -> str:
    """Number of a coordinate axis, with its sign, or the components of another axis."""
    for k in range(3):
        if v[k] in (ONE, MINUS_ONE):
            return f"{'-' if v[k] is MINUS_ONE else ''}{k + 1}"
    return f"({', '.join(map(str, v))})"


def direction_word(v: Vec3, frame: str) -> str:
    """A direction along the axes of a frame."""
    number = axis_word(v)
    if number.startswith("("):
        return f"{number} of {frame}"
    return f"{number[:-1]}[{frame}{number[-1]}]"
