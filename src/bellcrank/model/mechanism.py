"""A checked description: bodies with their joints resolved to constants and symbols.

In:  a `Description` (see `records`). Out: `Mechanism`, frozen data for kinematics and dynamics.
Formulas of forces, constraints and outputs are still syntax here: their meaning needs velocities,
which `kinematics` provides.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from bellcrank.model.joints.joint import Joint
from bellcrank.model.records import Description
from bellcrank.symbolic.expr import ZERO, Expr, Symbol
from bellcrank.symbolic.vector.basis import NULL, Mat3, Vec3


@dataclass(frozen=True)
class Body:
    """One rigid body and the joint that carries it. `composite_cm` is the mass centre of the body
    with all whose mass centres are fixed in it (Sayers 1990, section 8.1.4)."""

    index: int
    name: str
    label: str
    parent: int
    mass: Expr
    inertia: Mat3
    cm: Vec3
    joint: Joint
    composite_cm: Vec3 = NULL
    armature: Expr = ZERO  # that resists the one speed of the joint

    @property
    def coordinates(self) -> tuple[Symbol, ...]:
        return self.joint.q

    @property
    def speeds(self) -> tuple[Symbol, ...]:
        return self.joint.u


@dataclass(frozen=True)
class Mechanism:
    """The bodies in depth-first order, with everything else of the description next to them."""

    name: str
    bodies: tuple[Body, ...]
    description: Description
    orders: dict[str, int] = field(default_factory=dict)
    threshold: int = 2
    states: tuple[Symbol, ...] = ()
    """States of the user's own, which stand behind the coordinates of the bodies."""

    @property
    def coordinates(self) -> tuple[Symbol, ...]:
        return (*(q for b in self.bodies for q in b.coordinates), *self.states)

    @property
    def speeds(self) -> tuple[Symbol, ...]:
        return tuple(u for b in self.bodies for u in b.speeds)

    @cached_property
    def gimbal_locks(self) -> tuple[tuple[Body, Symbol, int, float], ...]:
        """Every body that can be in gimbal lock, the angle that does it with its place between the
        other two, and its value there."""
        coordinate_index = {q: i for i, q in enumerate(self.coordinates)}
        return tuple(
            (b, angle, coordinate_index[angle], lock_value)
            for b in self.bodies
            if b.joint.lock
            for angle, lock_value in [b.joint.lock]
        )

    @property
    def nonzero_reference_values(self) -> dict[Symbol, int]:
        """Coordinates that are not zero where the bodies stand as they were drawn."""
        return {q: x for b in self.bodies for q, x in b.joint.start.items()}

    @cached_property
    def normalization_constraints(self) -> list[tuple[str, Expr]]:
        """What binds coordinates of one joint to each other: text, and what is zero."""
        return [norm for b in self.bodies for norm in b.joint.norms(b.name)]
