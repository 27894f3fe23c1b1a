"""The joint of a body: what the body does relative to its parent, and all that the stages ask of
it.

A kind of joint is a `Joint` (motion, kinematical equations, starting values, words) and, unless
translate= and rotate= of a body describe it, a `JointRecord` that is given as joint=. Kinematics
and dynamics know no kinds but plain joints and those given by functions: a new one is a file next
to this one, and its numerical counterpart in `verify`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from bellcrank.core.units import Dimension
from bellcrank.model.joints.labels import BodyLabels, StateLabel
from bellcrank.symbolic.expr import Expr, Symbol
from bellcrank.symbolic.vector.basis import Frame, Mat3, Vec3, Vector
from bellcrank.symbolic.vector.derivation_workspace import DerivationWorkspace

Speeds = Mapping[
    Symbol, Expr
]  # what constraints make of speeds; one that is not listed stands for itself


class LazyVelocity:
    """The velocity of an origin, from that of the parent's. It is long in long chains, where most
    models never use it: so it is found when it is first asked for."""

    def __init__(
        self, rule: Callable[[Vector], Vector], parent: LazyVelocity | None = None
    ) -> None:
        self._rule, self._parent = rule, parent
        self._found: Vector | None = None

    def evaluate(self) -> Vector:
        """The velocity; those of the bodies below first, by a loop, as chains may be long."""
        pending: list[LazyVelocity] = []
        velocity: LazyVelocity | None = self
        while velocity is not None and velocity._found is None:
            pending.append(velocity)
            velocity = velocity._parent
        v = Vector({}) if velocity is None or velocity._found is None else velocity._found
        for entry in reversed(pending):
            v = entry._found = entry._rule(v)
        return v


@dataclass(frozen=True)
class FrameMotion:
    """The motion of a body: its frame, angular velocity, origin from the fixed one, and velocity of
    the origin."""

    frame: Frame
    w: Vector
    origin: Vector
    velocity: LazyVelocity

    @property
    def v(self) -> Vector:
        return self.velocity.evaluate()


class MotionFunctions(Protocol):
    """Functions that move bodies and are not written out as expressions."""

    def with_drawn_values(self, e: Expr) -> Expr:
        """e with all values of the functions at zero coordinates as numbers."""


@dataclass(frozen=True)
class JointGlyph:
    """What a picture shows of a joint: directions of the parent that it slides along, axes of the
    body that it turns about, and the number of its angles."""

    slides: tuple[Vec3, ...]
    axes: tuple[Vec3, ...]
    angles: int


@dataclass(frozen=True)
class Joint:
    """What all joints have: coordinates, speeds, and the pose of the body in its parent A with all
    coordinates at zero:
    `C` is R_AB, `at` its origin. Methods that a kind does not replace say what is true of most."""

    q: tuple[Symbol, ...]
    u: tuple[Symbol, ...]
    C: Mat3
    at: Vec3

    # why articulated bodies cannot take this joint; "" if a kind says that they can
    by_recursion: ClassVar[str] = (
        "models with a joint of a kind that the recursion over articulated bodies does not know"
    )
    functions: ClassVar[MotionFunctions | None] = None  # that its motion depends on
    guided: ClassVar[bool] = False  # by a linkage, whose hard points show it?

    # ---- motion

    def place(
        self, name: str, parent: FrameMotion, speed: Speeds, work: DerivationWorkspace
    ) -> FrameMotion:
        """Pose and velocities of the body `name`."""
        raise NotImplementedError

    def rates(
        self, parent: FrameMotion, motion: FrameMotion, speed: Speeds, work: DerivationWorkspace
    ) -> dict[Symbol, Expr]:
        """The kinematical equations: q' in terms of the speeds."""
        return {q: speed.get(u, u) for q, u in zip(self.q, self.u, strict=True)}

    def seen_from(self, rotate: Callable[[Vec3], Vec3]) -> Joint | None:
        """The joint with what is given in the parent's axes in those of another frame, in which
        `rotate` gives a vector of numbers; None where something is no number."""
        return None

    # ---- speeds and composite bodies

    def fixes(self, mass: Expr, cm: Vec3) -> bool:
        """Does a mass centre of the body stay where it is in the parent?"""
        return False

    def with_speeds(self, point: Vec3, on_ground: bool) -> Joint:
        """The joint with its speeds chosen; absolute ones are those of `point`, the composite mass
        centre."""
        return self

    def relative_axes(self, base: Frame, frame: Frame) -> Iterator[tuple[Symbol, Vector, bool]]:
        """Every relative speed with its direction, and whether it turns the body."""
        return iter(())

    def turns(self, u: Symbol) -> bool:
        """Is it a speed of rotation?"""
        raise NotImplementedError

    @property
    def free_components(self) -> set[int]:
        """Components of force (0 to 2) and moment (3 to 5) on the body's axes that the joint
        carries in no position."""
        return set()

    # ---- coordinates

    @property
    def slide_coordinates(self) -> tuple[Symbol, ...]:
        """Coordinates that are distances between points."""
        return ()

    @property
    def start(self) -> dict[Symbol, int]:
        """Coordinates that are not zero where the body stands as it was drawn."""
        return {}

    def norms(self, name: str) -> list[tuple[str, Expr]]:
        """Constraints of its own coordinates, with a text that names the body."""
        return []

    @property
    def lock(self) -> tuple[Symbol, float] | None:
        """The angle at whose value, or half turns from it, the rates of coordinates are not
        determined (gimbal lock); None if that is nowhere."""
        return None

    def left(
        self, name: str, states: Mapping[str, float], h: float, inputs: Mapping[str, float]
    ) -> str:
        """Why a step of h leaves what the joint allows, "" if it does not; `inputs` are parameters,
        inputs and time."""
        return ""

    def passed(self, name: str, history: Callable[[str], Any]) -> list[str]:
        """Ends that a run left, as messages; `history` gives a coordinate by name, in equation
        units."""
        return []

    @property
    def last_turn(self) -> tuple[Symbol, int, list[Sequence[Symbol]]] | None:
        """The last of three angles, the body axis it turns about, and groups of three speeds along
        axes of the body; None for other joints."""
        return None

    # ---- words and pictures

    @property
    def look(self) -> JointGlyph | None:
        """The rails and pins that show it; None where none do."""
        return None

    def coordinate_words(self, c: BodyLabels) -> Iterator[tuple[Symbol, StateLabel]]:
        raise NotImplementedError

    def speed_words(self, c: BodyLabels) -> Iterator[tuple[Symbol, StateLabel]]:
        raise NotImplementedError

    @property
    def text(self) -> str:
        """What it leaves free, in a few letters."""
        raise NotImplementedError


@dataclass(frozen=True)
class JointContext:
    """Where a joint is made: a body of a description that is being checked. Problems are collected,
    not raised.

    `metre` is one metre in the length unit of the equations. `scalar` reads a formula, `constant`
    one without states,
    `direction` an axis number or three constant components (as a unit vector); `states` are those
    of a body.
    """

    q: tuple[Symbol, ...]
    u: tuple[Symbol, ...]
    C: Mat3
    at: Vec3
    metre: Expr
    problem: Callable[[str], None]
    scalar: Callable[[Any], Expr]
    constant: Callable[[Any, str], Expr]
    direction: Callable[[Any, str], Vec3 | None]
    states: Callable[[str], tuple[list[Symbol], list[Symbol]]]


@runtime_checkable
class JointRecord(Protocol):
    """A joint as it is given: joint= of a body."""

    @property
    def coordinate_count(self) -> int:
        """How many coordinates and speeds it has of its own."""

    @property
    def carrier_kind(self) -> str:
        """What carries the body: a word that stands for this kind of joint."""

    def make_joint(self, site: JointContext) -> Joint: ...

    def given_formulas(self, body: str) -> Iterator[tuple[Any, str, str, Dimension]]:
        """What is given as formulas: each with words for it (`body` as messages call it), its
        option and dimension."""
