"""A load: what acts on a body and, in the opposite direction, on another; and all that the stages ask of it.

A kind of load is a `LoadRecord` that reads itself. Kinematics, dynamics, pictures and reports know no kinds: a new one
is a file next to this one and its numerical twin in `verify`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from bellcrank.expr import Expr
from bellcrank.units import FORCE, LENGTH, TIME, Dimension
from bellcrank.vector.basis import Vec3, Vector

MOTION = ("x", "x0", "v")  # distance, its reference value and its rate in the magnitude of a force
Motion = dict[str, Callable[[], Expr]]


@dataclass(frozen=True)
class Point:
    """A point fixed in a body (-1: the ground); `at` are its coordinates along the body's axes."""

    name: str
    body: int
    at: Vec3
    label: str = ""


@dataclass(frozen=True)
class Load:
    """A force or moment: `magnitude` along `direction` on `body` (through `point`), the opposite on `against`.

    A moment has no point. The reaction of a load `along_points` acts through `reaction`, its other end, which lies on
    the same line; that of a force through the same point.
    """

    name: str
    label: str
    kind: str
    magnitude: Expr
    direction: Vector
    body: int
    against: int
    point: Point | None = None
    reaction: Point | None = None
    other: Point | None = None  # from which x and v of the magnitude are measured
    along_points: bool = False  # is its line that of its two points?

    @property
    def is_moment(self) -> bool:
        return self.point is None

    @property
    def dimension(self) -> Dimension:
        return FORCE * LENGTH if self.is_moment else FORCE


class Reading(Protocol):
    """How formulas of a record become expressions, and how points move."""

    def body(self, given: Any) -> int: ...

    def point(self, given: Any) -> Point: ...

    def direction(self, given: Any) -> Vector:
        """A unit vector."""

    def between(self, p: Point, r: Point) -> tuple[Vector, Vector]:
        """The way from r to p, and its rate as seen from the ground."""

    def nominal(self, value: Expr) -> Expr:
        """The value with all coordinates zero."""

    def hold(self, value: Expr) -> Expr:
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
    dummies: tuple[str, str, str] = MOTION

    kind: ClassVar[str]  # a word for it
    dimension: ClassVar[Dimension] = FORCE
    motion: ClassVar[tuple[Dimension, ...]] = (LENGTH, LENGTH, LENGTH / TIME)  # of `dummies` in its magnitude
    along_points: ClassVar[bool] = False
    is_moment: ClassVar[bool] = False

    def read(self, reading: Reading) -> Load:
        raise NotImplementedError
