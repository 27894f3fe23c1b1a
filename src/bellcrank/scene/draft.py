"""The draft of a scene: marks and items of a picture, lengths still expressions of parameters.

Each stands for an `Item` or a mark of the scene; `default` chooses them, `build` gives them
numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from bellcrank.core.files.stl import Mesh
from bellcrank.mechanics.kinematics.poses import AttachedPart
from bellcrank.mechanics.kinematics.results import KinematicAnalysis
from bellcrank.model.loads.load import BodyPoint
from bellcrank.symbolic.expr import Expr
from bellcrank.symbolic.vector.basis import IDENTITY, NULL, Vec3, neg3

PALETTE = ("#3b6ea5", "#c8553d", "#4f8a5b", "#8a6bb1", "#c98b2b", "#3d8f95", "#a94f7a", "#6f6a3f")
GREY, DARK, PALE, STEEL = "#8b8f94", "#2f3338", "#b9bec4", "#5f6a75"
ROD, BALL, PIN, RAIL, THIN = 0.016, 0.034, 0.024, 0.007, 0.004  # sizes as fractions of the reach
COIL = (0.03, 0.008)
TYRE = "#24272b"


@dataclass(frozen=True)
class ReachFraction:
    """A length as a fraction of the reach of the mechanism."""

    of_reach: float


@dataclass(frozen=True)
class DistanceFraction:
    """A length as a fraction of the distance of the item's first two marks."""

    of_length: float


Length = Expr | ReachFraction | DistanceFraction


@dataclass(frozen=True)
class DraftItem:
    """An `Item` before lengths are numbers; `axis` is the direction of its third axis in the body
    of its mark."""

    kind: str
    marks: tuple[int, ...]
    size: tuple[Length, ...]
    color: str
    role: str
    label: str = ""
    axis: Vec3 = IDENTITY[2]
    mesh: Mesh | None = None
    along: ForceLine | None = None  # drawn only if a force acts along the line of its points
    opacity: float = 1.0


@dataclass(frozen=True)
class ForceLine:
    """Along a force between two points: what it measures, and the square of their distance, as
    drawn."""

    measured: Expr
    square: Expr


@dataclass(frozen=True)
class InertiaBox:
    """A body without anything to connect: a box with its mass and moments of inertia, if it has
    such."""

    mark: int
    mass: Expr
    moments: Vec3
    color: str
    label: str


@dataclass
class SceneDraft:
    """Marks and items; `parts` are links of suspensions, which follow the bodies among the
    poses."""

    analysis: KinematicAnalysis
    marks: list[tuple[int, Vec3]] = field(default_factory=list)
    items: list[DraftItem] = field(default_factory=list)
    bulks: list[InertiaBox] = field(default_factory=list)
    parts: list[AttachedPart] = field(default_factory=list)
    _known: dict[tuple[int, Vec3], int] = field(default_factory=dict)

    def add_mark(self, body: int, at: Vec3 = NULL) -> int:
        """The number of a mark, which is made if it is new."""
        key = (body, at)
        if key not in self._known:
            self._known[key] = len(self.marks)
            self.marks.append(key)
        return self._known[key]

    def mark_at_point(self, p: BodyPoint) -> int:
        return self.add_mark(p.body, p.coordinates)

    def mark_coordinates(self) -> list[Expr]:
        """Where marks are in their bodies, three for each."""
        return [x for _, position in self.marks for x in position]

    def parameter_expressions(self) -> list[Expr]:
        """All that follows from the parameters, in the order in which `build` takes the numbers."""
        expressions = self.mark_coordinates()
        for item in self.items:
            expressions += [*(x for x in item.size if isinstance(x, Expr)), *item.axis]
            expressions += (
                [item.along.measured, item.along.square] if item.along is not None else []
            )
        for bulk in self.bulks:
            expressions += [bulk.mass, *bulk.moments]
        expressions += [
            x
            for _, direction in (*self.rotation_axes, *self.translation_directions)
            for x in direction
        ]
        return [*expressions, *self.up_direction]

    @cached_property
    def rotation_axes(self) -> list[tuple[int, Vec3]]:
        """The axes of all joints that turn about one, with the bodies in which they are fixed."""
        joint_views = [(b, b.joint.look) for b in self.analysis.mechanism.bodies]
        return [
            (b.index, axis)
            for b, x in joint_views
            if x is not None and x.angles == 1
            for axis in x.axes
        ]

    @cached_property
    def translation_directions(self) -> list[tuple[int, Vec3]]:
        """The directions of all that slides, with the bodies in which they are fixed."""
        joint_views = [(b, b.joint.look) for b in self.analysis.mechanism.bodies]
        return [(b.parent, v) for b, x in joint_views if x is not None for v in x.slides]

    @property
    def has_rolling_body(self) -> bool:
        """Does something free to move along a plane roll or slide as constraints of its speeds
        say?"""
        joint_views = [b.joint.look for b in self.analysis.mechanism.bodies if b.parent < 0]
        free = any(x is not None and len(x.slides) > 1 for x in joint_views)
        rows = self.analysis.loops.rows if self.analysis.loops is not None else self.analysis.solved
        return free and any(row.g is None for row in rows)

    @cached_property
    def is_spatial(self) -> bool:
        """Does some joint move in more than a plane?"""
        joint_views = [b.joint.look for b in self.analysis.mechanism.bodies]
        return any(x is None or x.angles > 1 for x in joint_views)

    @cached_property
    def up_direction(self) -> Vec3:
        """Away from the weight; by the axes of the description where nothing weighs."""
        weight_direction = self.analysis.kinematics.frames[-1].coordinates(self.analysis.gravity)
        if self.analysis.gravity and all(x.constant for x in weight_direction):
            return neg3(weight_direction)
        sae = str(self.analysis.mechanism.description.axes).lower().startswith("sae")
        return neg3(IDENTITY[2]) if sae else IDENTITY[2]

    def add_item(
        self,
        kind: str,
        marks: Sequence[int],
        size: Sequence[Length],
        color: str,
        role: str,
        label: str = "",
        axis: Vec3 = IDENTITY[2],
        mesh: Mesh | None = None,
        along: ForceLine | None = None,
        opacity: float = 1.0,
    ) -> None:
        self.items.append(
            DraftItem(
                kind, tuple(marks), tuple(size), color, role, label, axis, mesh, along, opacity
            )
        )
