"""A load: what acts on a body and, in the opposite direction, on another; and all that the stages
ask of it.

A kind of load is a `LoadRecord` that reads itself. Units, kinematics, dynamics, pictures, reports
and checks know no kinds: a new one is a file next to this one and its method in
`model/describe/builder.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from bellcrank.core.units import FORCE, LENGTH, TIME, Dimension
from bellcrank.symbolic.expr import Expr
from bellcrank.symbolic.vector.basis import Vec3, Vector

MAGNITUDE_ARGUMENTS = (
    "x",
    "x0",
    "v",
)  # distance, its reference value and its rate in the magnitude of a force
Motion = dict[str, Callable[[], Expr]]


@dataclass(frozen=True)
class BodyPoint:
    """A point fixed in a body (-1: the ground); `coordinates` are its coordinates along the body's
    axes."""

    name: str
    body: int
    coordinates: Vec3
    label: str = ""


@dataclass(frozen=True)
class Load:
    """A force or moment: `magnitude` along `direction` on `body` (through `point`), the opposite on
    `against`.

    A moment has no point. The reaction of a load `along_points` acts through `reaction`, its other
    end, which lies on the same line; that of a force through the same point. Gravity acts on all
    bodies: its magnitude is an acceleration.
    """

    name: str
    label: str
    kind: str
    magnitude: Expr
    direction: Vector
    dimension: Dimension
    body: int = -1
    against: int = -1
    point: BodyPoint | None = None
    reaction: BodyPoint | None = None
    other: BodyPoint | None = None  # from which x and v of the magnitude are measured
    along_points: bool = False  # is its line that of its two points?
    look: str = ""  # the shape that shows it between its points: "coil" or "rod"; "" for none

    @property
    def is_moment(self) -> bool:
        return self.point is None

    @property
    def action_and_reaction(self) -> tuple[tuple[int, int, BodyPoint | None], ...]:
        """The body it acts on and the one it acts against: index, sign, point."""
        return (self.body, 1, self.point), (self.against, -1, self.reaction or self.point)

    def direction_text(self) -> str:
        """Its direction for a report."""
        text = str(self.direction)
        return (
            text
            if len(text) < 80
            else "along the line of its points"
            if self.along_points
            else "varies"
        )


class LoadContext(Protocol):
    """How formulas of a record become expressions, and how points move."""

    def body(self, reference: Any) -> int: ...

    def point(self, reference: Any) -> BodyPoint: ...

    def direction(self, value: Any) -> Vector:
        """A unit vector."""

    def relative_motion(self, p: BodyPoint, r: BodyPoint) -> tuple[Vector, Vector]:
        """The way from r to p, and its rate as seen from the ground."""

    def scalar(self, value: Any) -> Expr:
        """A formula without names of a motion."""

    def with_drawn_values(self, value: Expr) -> Expr:
        """The value with all coordinates zero."""

    def bind(self, value: Expr) -> Expr:
        """The value under a name of its own."""

    def magnitude(self, record: LoadRecord, motion: Motion) -> Expr:
        """That of a record, in whose formula names of a `motion` stand for it."""


@dataclass
class LoadRecord:
    """A load as it was given. `first` and `second` are points, or bodies of a moment."""

    name: str
    magnitude: Any
    direction: Any = None
    first: Any = None
    second: Any = None
    label: str | None = None
    dummies: tuple[str, str, str] = MAGNITUDE_ARGUMENTS

    kind: ClassVar[str]  # a word for it
    dimension: ClassVar[Dimension] = FORCE
    option: ClassVar[str] = "magnitude"  # by which its magnitude is given
    motion: ClassVar[tuple[Dimension, ...]] = (
        LENGTH,
        LENGTH,
        LENGTH / TIME,
    )  # of `dummies` in its magnitude
    along_points: ClassVar[bool] = False
    is_moment: ClassVar[bool] = False
    sense: ClassVar[int] = 1  # -1: a positive magnitude pulls its points together

    @property
    def message_label(self) -> str:
        """What messages call it."""
        return f"{self.kind} '{self.name}'"

    @property
    def point_sequence(self) -> tuple[Any, ...]:
        """The points of a force, one after another: it acts between each and the next."""
        return self.first, self.second

    def given_formulas(
        self,
    ) -> Iterator[tuple[Any, str, str, Dimension | None, dict[str, Dimension]]]:
        """What it holds: formula, label, the option that gives it, dimension that it must have, and
        names in it that are those of a motion."""
        label = self.label or self.name
        yield (
            self.magnitude,
            label,
            self.option,
            self.dimension,
            dict(zip(self.dummies, self.motion, strict=False)),
        )
        if self.direction is not None:
            yield self.direction, f"direction of {label}", "", None, {}

    def build_loads(self, reading: LoadContext) -> tuple[Load, ...]:
        """The loads it consists of, all of the same name and magnitude."""
        raise NotImplementedError
