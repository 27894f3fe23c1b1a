"""Kane's equations by hand: bodies, loads, generalized forces, energy and momentum.

Kane & Levinson, Dynamics: Theory and Applications (1985), chapters 3 to 5: F_r is the sum over
points of v_r . R and over bodies of w_r . T; F_r* the sum of v_r . (-m a) and w_r . (-I . alpha - w
x I . w); F_r + F_r* = 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from bellcrank.core.errors import ModelError
from bellcrank.kane.equality import are_equal
from bellcrank.kane.frames import Frame
from bellcrank.kane.missing_quantities import MissingError, MissingQuantity, run_steps
from bellcrank.kane.motion import NOTHING, KaneMotion, Point
from bellcrank.symbolic.expr import (
    ONE,
    ZERO,
    Expr,
    Number,
    Symbol,
    add,
    derivative,
    div,
    expand,
    mul,
    neg,
    sub,
    substitute,
)
from bellcrank.symbolic.vector.basis import Mat3, Vector, cross, dot

HALF = div(ONE, Number(2))


class Body(Frame):
    """A rigid body: a frame with mass and inertia. `Derivation.body` makes one.

    Attributes
    ----------
    name : str
        Name.
    cm : Point
        Mass centre.
    mass : Expr
        Mass.
    inertia : 3 x 3 tuple of Expr
        Central inertia along its axes.

    Examples
    --------
    >>> from bellcrank.kane import Derivation
    >>> A = Derivation("pendulum").body("A")
    >>> A.mass, A.cm.name
    (mA, 'Ao')
    """

    def __init__(self, name: str, cm: Point, mass: Expr, inertia: Mat3) -> None:
        super().__init__(name)
        self.cm, self.mass, self.inertia = cm, mass, inertia

    def spin(self, w: Vector) -> Vector:
        """Multiply the central inertia by a vector.

        Parameters
        ----------
        w : Vector
            Such as the angular velocity.

        Returns
        -------
        Vector
            I . w.
        """
        return self.times(self.inertia, w)


@dataclass(frozen=True)
class KaneLoad:
    """A force on a point or a torque on a frame, and the opposite on `by` if that is given."""

    kind: str
    on: Point | Frame
    value: Vector
    by: Point | Frame | None = None


@dataclass
class MassSystem:
    """What has mass, and what acts on it."""

    motion: KaneMotion
    newtonian: Frame
    bodies: list[Body] = field(default_factory=list)
    masses: dict[Point, Expr] = field(default_factory=dict)  # particles
    loads: list[KaneLoad] = field(default_factory=list)

    # ---- partial velocities

    def partial_velocity(self, p: Point, u: Symbol) -> Vector:
        return self._speed_coefficient(
            self.motion.velocity(p, self.newtonian), u, f"the velocity of {p}"
        )

    def partial_angular_velocity(self, b: Frame, u: Symbol) -> Vector:
        return self._speed_coefficient(
            self.motion.angular_velocity(b, self.newtonian), u, f"the angular velocity of {b}"
        )

    def _speed_coefficient(self, v: Vector, u: Symbol, label: str) -> Vector:
        """The coefficient of a speed in a motion that is linear in the speeds."""
        coefficient = self.motion.scalars.partial_vector(v, u)
        if any(self.motion.scalars.depends_on_speeds(c) for c in coefficient.terms.values()):
            raise ModelError(f"{label} is not linear in the generalized speeds: {v}")
        return coefficient

    # ---- generalized forces

    def active_force(self, u: Symbol) -> Expr:
        """F_r, the generalized active force for a speed."""
        terms = []
        for load in self.loads:
            terms.append(self.motion.dot(self._partial_velocity_of(load.on, u), load.value))
            if load.by is not None:
                terms.append(
                    neg(self.motion.dot(self._partial_velocity_of(load.by, u), load.value))
                )
        return self.motion.scalars.without_auxiliary_speeds(add(*terms)) if terms else ZERO

    def _partial_velocity_of(self, subject: Point | Frame, u: Symbol) -> Vector:
        if subject is self.newtonian:
            return NOTHING
        if isinstance(subject, Frame):
            return self.partial_angular_velocity(subject, u)
        return self.partial_velocity(subject, u)

    def inertia_torque(self, b: Body) -> Vector:
        """T* = -I . alpha - w x I . w of a body."""
        m, n = self.motion, self.newtonian
        rotation = (m.angular_velocity(b, n), m.angular_acceleration(b, n))
        w, alf = (b.vector(m.components(x, b)) for x in rotation)
        return m.scalars.tidy_vector(-b.spin(alf) - cross(w, b.spin(w)))

    def inertia_force(self, u: Symbol, torques: dict[Body, Vector]) -> Expr:
        """F_r*, the generalized inertia force for a speed; `torques` are the inertia torques of
        turning bodies."""
        m, n = self.motion, self.newtonian
        terms = []
        for p, mass in self.heavy_points():
            terms.append(neg(mul(mass, m.dot(self.partial_velocity(p, u), m.acceleration(p, n)))))
        for b, torque in torques.items():
            terms.append(m.dot(self.partial_angular_velocity(b, u), torque))
        return (
            m.scalars.name_intermediate_terms(m.scalars.without_auxiliary_speeds(add(*terms)))
            if terms
            else ZERO
        )

    def heavy_points(self) -> list[tuple[Point, Expr]]:
        listed = [(b.cm, b.mass) for b in self.bodies if b.mass is not ZERO]
        return listed + [(p, mass) for p, mass in self.masses.items() if mass is not ZERO]

    def turning_bodies(self) -> list[Body]:
        return [b for b in self.bodies if any(x is not ZERO for row in b.inertia for x in row)]

    def missing_for_inertia(self, accelerations: bool) -> list[MissingQuantity]:
        """What is missing for the inertia forces (or energy, without accelerations), all at
        once."""
        m, n, kinds = self.motion, self.newtonian, 1 + accelerations
        steps = [
            partial(motion_of, p, n)
            for p, _ in self.heavy_points()
            for motion_of in (m.velocity, m.acceleration)[:kinds]
        ]
        angular_motions = (m.angular_velocity, m.angular_acceleration)[:kinds]
        return run_steps(
            [
                *steps,
                *(
                    partial(motion_of, b, n)
                    for b in self.turning_bodies()
                    for motion_of in angular_motions
                ),
            ]
        )[1]

    def missing_for_loads(self) -> list[MissingQuantity]:
        """What is missing for the active forces."""
        m, n = self.motion, self.newtonian
        subjects = [
            on for load in self.loads for on in (load.on, load.by) if on is not None and on is not n
        ]
        angular_velocity, velocity = m.angular_velocity, m.velocity
        return run_steps(
            partial(angular_velocity, x, n) if isinstance(x, Frame) else partial(velocity, x, n)
            for x in subjects
        )[1]

    # ---- energy and momentum

    def kinetic_parts(self) -> list[Expr]:
        """m v.v + w.I.w of every body and m v.v of every particle: twice their kinetic energies."""
        if missing := self.missing_for_inertia(accelerations=False):
            raise MissingError(missing, "the kinetic energy")
        m, n = self.motion, self.newtonian
        energies = []
        for b in self.bodies:
            terms = []
            if b.mass is not ZERO:
                v = m.velocity(b.cm, n)
                terms.append(mul(b.mass, m.dot(v, v)))
            if b in self.turning_bodies():
                w = b.vector(m.components(m.angular_velocity(b, n), b))
                terms.append(dot(w, b.spin(w)))
            if terms:
                energies.append(add(*terms))
        for p, mass in self.masses.items():
            v = m.velocity(p, n)
            energies.append(mul(mass, m.dot(v, v)))
        return energies

    def kinetic_energy(self) -> Expr:
        return mul(HALF, add(*self.kinetic_parts()))

    def split_by_degree(self, e: Expr) -> tuple[Expr, Expr, Expr]:
        """The parts of a quadratic expression that are of degree 0, 1 and 2 in the independent
        speeds.

        By Euler's theorem the sum of u de/du is K1 + 2 K2. Where nothing is of degree 0 and 1, e is
        the last part.
        """
        s = self.motion.scalars
        (resolved,) = s.resolve((e,))
        constant_part = substitute(resolved, dict.fromkeys(s.independent_speeds, ZERO))
        moving = sub(resolved, constant_part)
        scaled = derivative(resolved, lambda x: x if x in s.independent_speeds else ZERO)
        first = sub(mul(Number(2), moving), scaled)
        constant_part, first = (ZERO if are_equal(x, ZERO) else x for x in (constant_part, first))
        if constant_part is ZERO and first is ZERO:
            return ZERO, ZERO, e
        return constant_part, expand(first), expand(sub(moving, first))

    def linear_momentum(self) -> Vector:
        momenta = (
            self.motion.velocity(p, self.newtonian) * mass for p, mass in self.heavy_points()
        )
        return sum(momenta, NOTHING)

    def angular_momentum(self, about: Point | None = None) -> Vector:
        """Angular momentum in N about a point: the sum of p x m v and I . w. Default: the mass
        centre of the system."""
        m, n = self.motion, self.newtonian
        heavy = self.heavy_points()
        if not heavy and not self.bodies:
            return NOTHING
        base = about or (heavy[0][0] if heavy else self.bodies[0].cm)
        arms = [m.position(base, p) for p, _ in heavy]
        if about is None:
            total = add(*(mass for _, mass in heavy))
            centre = sum(
                (arm * div(mass, total) for arm, (_, mass) in zip(arms, heavy, strict=True)),
                NOTHING,
            )
            arms = [arm - centre for arm in arms]
        momenta = [
            m.cross(arm, m.velocity(p, n) * mass)
            for arm, (p, mass) in zip(arms, heavy, strict=True)
        ]
        for b in self.turning_bodies():
            momenta.append(b.spin(b.vector(m.components(m.angular_velocity(b, n), b))))
        return sum(momenta, NOTHING)
