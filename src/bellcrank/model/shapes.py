"""Shapes of bodies for pictures, read: lengths and places as expressions of parameters.

In:  the records of a description. Out: `Shape`s, frozen. No equation knows of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bellcrank.core.errors import did_you_mean
from bellcrank.core.files.stl import Mesh
from bellcrank.model.checker import DescriptionChecker
from bellcrank.model.records import ShapeRecord
from bellcrank.symbolic.expr import Expr
from bellcrank.symbolic.vector.basis import IDENTITY, NULL, Vec3

SIZE_COUNTS: Mapping[
    str, tuple[int, ...]
] = {  # kinds of shapes, and how many sizes each may be given
    "box": (0, 1, 3),
    "cylinder": (0, 2),
    "sphere": (0, 1),
    "line": (0, 1),
    "mesh": (0, 1),
    "wheel": (0, 2),
    "car": (3, 6),
    "utility": (3, 6),
    "van": (3, 6),
    "truck": (3, 6),
    "box_truck": (3, 6),
    "formula": (3, 6),
    "motorcycle": (3, 6),
}
COLORS: Mapping[str, str] = {
    "black": "#000000",
    "white": "#ffffff",
    "gray": "#808080",
    "grey": "#808080",
    "silver": "#c0c0c0",
    "red": "#d62728",
    "green": "#2ca02c",
    "blue": "#1f77b4",
    "orange": "#ff7f0e",
    "purple": "#9467bd",
    "brown": "#8c564b",
    "pink": "#e377c2",
    "olive": "#bcbd22",
    "cyan": "#17becf",
    "yellow": "#ffd92f",
    "navy": "#1b2a57",
    "teal": "#008080",
    "gold": "#d4a017",
}
_HEX = re.compile(r"#[0-9a-fA-F]{6}\Z")


@dataclass(frozen=True)
class Shape:
    """A shape fixed in a body (-1: the ground).

    `center`: its middle, of a line all its points, along the axes of the body; `axis`: the
    direction, in the body, of the third axis of the shape; `size`: lengths of a box, radius and
    length of a cylinder, radius of a sphere, thickness of a line, what the file of a mesh is
    multiplied with, radius and width of a wheel, length, width and height of a car and, if given,
    its wheelbase, wheel radius and front overhang; none: to be chosen.
    """

    kind: str
    body: int
    size: tuple[Expr, ...]
    center: tuple[Vec3, ...]
    axis: Vec3
    color: str
    label: str
    mesh: Mesh | None = None
    opacity: float = 1.0


def read_shape(
    record: ShapeRecord, checker: DescriptionChecker, body_indices: Mapping[str, int]
) -> Shape | None:
    """A shape; None where something is wrong, which the checker then knows. `body_indices`: bodies
    by name."""
    problem_count = len(checker.problems)
    location = f"shape '{record.label or record.kind}'"
    index = checker.body_index(record.body, location, "body")
    if record.kind not in SIZE_COUNTS:
        kinds = ", ".join(SIZE_COUNTS)
        checker.add_problem(
            location,
            f"kind '{record.kind}' is not known.{did_you_mean(record.kind, SIZE_COUNTS)} "
            f"Kinds: {kinds}.",
        )
        return None
    size = tuple(checker.read_constant(x, location, "size") for x in as_size_tuple(record.size))
    if len(size) not in SIZE_COUNTS[record.kind]:
        counts_text = " or ".join(str(n) for n in SIZE_COUNTS[record.kind] if n)
        checker.add_problem(
            location, f"size={record.size!r} of a {record.kind} must have {counts_text} numbers."
        )
    points = record.at if record.kind == "line" else [record.at]
    if record.kind == "line" and (not isinstance(points, tuple | list) or len(points) < 2):
        checker.add_problem(
            location,
            f"at={record.at!r} of a line must be two points or more, three components each.",
        )
        points = ()
    positions = tuple(checker.read_vector(p, location, "at") for p in points)
    axis = (
        IDENTITY[2]
        if record.axis is None
        else checker.read_direction(record.axis, location, "axis") or NULL
    )
    color = _hex_color(record.color)
    if color is None:
        checker.add_problem(
            location,
            f"color={record.color!r} is not known: '#rrggbb', or one of {', '.join(COLORS)}.",
        )
    opacity = record.opacity
    if not isinstance(opacity, int | float) or isinstance(opacity, bool) or not 0 < opacity <= 1:
        checker.add_problem(location, f"opacity={opacity!r} must be a number above 0 and up to 1.")
    if index is None or len(checker.problems) > problem_count:
        return None
    body = body_indices[checker.drafts[index].record.name] if index >= 0 else -1
    return Shape(
        record.kind,
        body,
        size,
        positions,
        axis,
        color or "",
        record.label or "",
        record.mesh,
        float(opacity),
    )


def as_size_tuple(size: Any) -> tuple[Any, ...]:
    """Sizes as they are given: none, one or several."""
    if size is None:
        return ()
    return (
        tuple(size) if isinstance(size, tuple | list) or getattr(size, "ndim", 0) != 0 else (size,)
    )


def _hex_color(color: Any) -> str | None:
    """As #rrggbb; "" if none is given, None if it is not known."""
    if color is None:
        return ""
    text = str(color).strip().lower()
    return COLORS.get(text) or (text if _HEX.match(text) else None)
