"""The checker: what reads the constants of a description and collects every problem found on the
way.

In:  a `Description`. Out: vectors, directions and constants as expressions; names of bodies as
indices. `drafts` are the bodies as far as they are resolved (see `bodies`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from bellcrank.core.errors import ModelError, did_you_mean
from bellcrank.core.numeric.tuning import RANKS
from bellcrank.model.joints.rotation import JointRotation
from bellcrank.model.owner import check_owner
from bellcrank.model.records import BodyRecord, Description
from bellcrank.model.scope import FormulaScope, referenced_name
from bellcrank.symbolic.expr import MINUS_ONE, ONE, ZERO, Expr, div, evaluate, free_symbols, sqrt
from bellcrank.symbolic.expr.formula_parser import axis_number
from bellcrank.symbolic.vector.basis import (
    IDENTITY,
    NULL,
    ZEROS,
    Mat3,
    Vec3,
    add3,
    dot3,
    matvec,
    neg3,
    transpose,
)

AXIS = "an axis is 'x', 'y' or 'z' (or 1, 2, 3), or three components"


@dataclass
class BodyDraft:
    """A body on the way to being resolved; `slides` and `axes` as they were given, until they are
    directions."""

    record: BodyRecord
    parent: int
    slides: tuple[Vec3, ...] = ()
    axes: tuple[Vec3, ...] = ()
    rotation: type[JointRotation] = JointRotation
    C: Mat3 = IDENTITY
    joint_at: Vec3 = NULL
    cm: Vec3 = NULL
    mass: Expr = ZERO
    inertia: Mat3 = ZEROS
    armature: Expr = ZERO
    R_N: Mat3 = IDENTITY  # nominal orientation and origin
    p_N: Vec3 = NULL
    children: list[int] = field(default_factory=list)

    @property
    def message_label(self) -> str:
        return f"body '{self.record.name}'"


class DescriptionChecker:
    """Collects problems while resolving a description."""

    def __init__(self, description: Description) -> None:
        self.description = description
        self.problems = list(description.problems)
        self.scope = FormulaScope(description)
        self.scope.kept = {}
        self.index: dict[str, int] = {}
        self.drafts: list[BodyDraft] = []

    def add_problem(self, location: str, text: str) -> None:
        self.problems.append(f"{location}: {text}")

    @contextmanager
    def collect_problems(self, location: str = "") -> Iterator[None]:
        """A block whose errors become problems."""
        try:
            yield
        except ModelError as error:
            message = "\n".join(error.problems)
            self.problems.append(f"{location}: {message}" if location else message)

    def body_index(self, reference: Any, location: str, option: str) -> int | None:
        """Index of a body given by object or name; -1 is the inertial body."""
        if reference is None:
            return -1
        name = referenced_name(reference)
        if not isinstance(name, str):
            self.add_problem(location, f"{option} must be a body or its name, not {reference!r}.")
            return None
        if name == "n":
            return -1
        with self.collect_problems(f"{location}: {option}"):
            check_owner(name, self.description, "body")
        if name not in self.index:
            names = [b.name for b in self.description.bodies if f"body '{b.name}'" != location]
            message = (
                f"no body has that name.{did_you_mean(name, names)} Bodies: "
                f"{', '.join(['n (the ground)', *names])}."
            )
            self.add_problem(location, f"{option} '{name}' does not exist: {message}")
            return None
        return self.index[name]

    def read_constant(self, value: Any, location: str, option: str) -> Expr:
        expression: Expr = ZERO
        with self.collect_problems(f"{location}: {option}"):
            e = self.scope.to_scalar(value)
            if not e.constant:
                moving = ", ".join(s.name for s in free_symbols(e) if not s.constant)
                advice = "give a number or a formula of parameters"
                steps = (
                    "; a value that changes in steps is a parameter that an event sets "
                    "(bc.event, action=)"
                )
                raise ModelError(f"{e} must be constant, but {moving} varies: {advice}{steps}.")
            expression = e
        return expression

    def read_vector(self, components: Any, location: str, option: str) -> Vec3:
        if (
            isinstance(components, str)
            or not hasattr(components, "__len__")
            or getattr(components, "ndim", 1) != 1
            or len(components) != 3
        ):
            self.add_problem(location, f"{option}={components!r} must have 3 components.")
            return NULL
        x, y, z = (self.read_constant(x, location, option) for x in components)
        return without_rounding((x, y, z))

    def read_direction(self, axis: Any, location: str, option: str) -> Vec3 | None:
        """Unit vector of a coordinate axis or of three constant components."""
        if (number := axis_number(axis)) is not None:
            return IDENTITY[number - 1]
        if (
            isinstance(axis, int | float | str)
            or not hasattr(axis, "__len__")
            or getattr(axis, "ndim", 1) == 0
        ):
            self.add_problem(location, f"{option}: {axis!r} is not an axis; {AXIS}.")
            return None
        v = self.read_vector(axis, location, option)
        size = dot3(v, v)
        if size is ZERO or size.fingerprint == 0:
            self.add_problem(
                location, f"{option}={tuple(axis)!r} has no direction: all components are zero."
            )
            return None
        return normalized(v, size)

    def transform_coordinates(
        self, v: Vec3, coordinates_of: Any, R: Mat3, p: Vec3, location: str
    ) -> Vec3:
        """Coordinates given in another body's nominal axes, in those of (R, p)."""
        if coordinates_of is None:
            return v
        index = self.body_index(coordinates_of, location, "coordinates_of")
        if index is None:
            return v
        R_C, p_C = self.nominal_pose(index)
        return matvec(transpose(R), add3(p_C, matvec(R_C, v), neg3(p)))

    def nominal_pose(self, index: int) -> tuple[Mat3, Vec3]:
        """Orientation and origin of a body with all coordinates at zero; those of the ground for
        -1."""
        return (self.drafts[index].R_N, self.drafts[index].p_N) if index >= 0 else (IDENTITY, NULL)


def without_rounding(v: Vec3) -> Vec3:
    """Components without those that are rounding compared with the others, as rotations in floating
    point leave them."""
    if any(free_symbols(x) for x in v):
        return v
    sizes = [abs(x) for x in evaluate(v, {})]
    x, y, z = (ZERO if a <= RANKS.digits * max(sizes) else x for x, a in zip(v, sizes, strict=True))
    return x, y, z


def normalized(v: Vec3, square: Expr) -> Vec3:
    """v divided by its length, whose square is given; what is rounding is none: components next to
    others, a length next to 1."""
    if not any(free_symbols(x) for x in v):
        v = without_rounding(v)
        if sum(x is not ZERO for x in v) == 1:  # along an axis
            x, y, z = (
                x if x is ZERO else ONE if evaluate([x], {})[0] > 0 else MINUS_ONE for x in v
            )
            return x, y, z
        square = dot3(v, v)
        if abs(evaluate([square], {})[0] - 1.0) <= RANKS.digits:
            return v
    if square.fingerprint == 1:
        return v
    length = sqrt(square)
    return div(v[0], length), div(v[1], length), div(v[2], length)
