"""Headings under which a page lists parameters: parts of a vehicle by words of labels, else kinds
of quantity."""

from __future__ import annotations

import re

from bellcrank.mechanics.interface.interface import Quantity

PARTS = (
    ("tyres", r"tyres?"),
    ("brakes", r"brakes?|braking"),
    ("drive", r"drive|motor|gear|clutch|power"),
    ("steering", r"steering|column|rack|steer(?! by)"),
    ("driver", r"driver"),
    ("air", r"air|air-flow|lift|drag|aerodynamic|frontal"),
    ("front axle", r"front"),
    ("rear axle", r"rear"),
)  # the first that a label has
OTHER = "other"
KINDS = {
    (0, 1, 0): "masses",
    (2, 1, 0): "moments of inertia",
    (1, 0, 0): "lengths",
    (0, 0, 0): "numbers and angles",
    (0, 1, -2): "stiffness",
    (2, 1, -2): "torques and stiffness",
    (0, 1, -1): "damping",
    (2, 1, -1): "damping",
    (1, 1, -2): "forces",
}  # by exponents of length, mass and time


def parameter_heading(x: Quantity) -> str:
    """The heading of a parameter."""
    label = x.label.lower()
    for group, words in PARTS:
        if re.search(rf"\b(?:{words})\b", label) and label != x.name.lower():
            return group
    length, mass, time, _ = x.unit.dimension.exponents
    return (
        KINDS.get((int(length), int(mass), int(time)), OTHER)
        if x.unit.text not in ("", "?")
        else OTHER
    )
