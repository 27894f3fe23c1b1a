"""A checked description: bodies with their joints resolved to constants and symbols.

In:  a `Description` (see `records`). Out: `Mechanism`, frozen data for kinematics and dynamics. Formulas of forces,
constraints and outputs are still syntax here: their meaning needs velocities, which `kinematics` provides.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bellcrank.expr import ZERO, Expr, Symbol
from bellcrank.model.guide import Guided
from bellcrank.vector.basis import Mat3, Vec3

if TYPE_CHECKING:
    from bellcrank.model.records import Description


@dataclass(frozen=True)
class Body:
    """One rigid body and the joint that carries it.

    `slides` are directions in the parent's axes; `axes` the rotation axes in the body's own (0, 1 or 3, unit vectors);
    `C` is R_AB with all coordinates at zero, A the parent. A body is `free_rotation` when its rotational speeds are
    absolute (three rotations), `free_translation` when its translational speeds are components of the absolute
    velocity of `speed_point` along the body axes listed in `speed_axes` (Sayers 1990, section 8.1.6).
    """

    index: int
    name: str
    label: str
    parent: int
    mass: Expr
    inertia: Mat3
    cm: Vec3
    joint_at: Vec3
    slides: tuple[Vec3, ...]
    axes: tuple[Vec3, ...]
    euler: bool
    C: Mat3
    q_t: tuple[Symbol, ...]
    q_r: tuple[Symbol, ...]
    u_t: tuple[Symbol, ...]
    u_r: tuple[Symbol, ...]
    free_translation: bool = False
    free_rotation: bool = False
    speed_axes: tuple[int, ...] = ()
    speed_point: Vec3 = (ZERO, ZERO, ZERO)
    composite_mass: Expr = ZERO
    composite_cm: Vec3 = (ZERO, ZERO, ZERO)
    fixed_cm: bool = False
    rotor: bool = False
    guide: Guided | None = None  # a joint given by functions instead of slides and axes

    @property
    def coordinates(self) -> tuple[Symbol, ...]:
        return (*self.q_t, *self.q_r, *(self.guide.q if self.guide else ()))

    @property
    def speeds(self) -> tuple[Symbol, ...]:
        return (*self.u_t, *self.u_r, *(self.guide.u if self.guide else ()))


@dataclass(frozen=True)
class Mechanism:
    """The bodies in depth-first order, with everything else of the description beside them."""

    name: str
    bodies: tuple[Body, ...]
    description: Description
    orders: dict[str, int] = field(default_factory=dict)
    threshold: int = 2
    states: tuple[Symbol, ...] = ()
    """States of the user's own, which stand behind the coordinates of the bodies."""

    @property
    def guided(self) -> bool:
        """Has it joints given by functions?"""
        return any(b.guide for b in self.bodies)

    @property
    def coordinates(self) -> tuple[Symbol, ...]:
        return (*(q for b in self.bodies for q in b.coordinates), *self.states)

    @property
    def speeds(self) -> tuple[Symbol, ...]:
        return tuple(u for b in self.bodies for u in b.speeds)
