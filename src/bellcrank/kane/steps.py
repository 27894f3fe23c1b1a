"""The steps of a derivation led by hand: every call answers with what it found.

Out: Kane's equations, F_r + F_r* = 0 (Kane & Levinson 1985). What follows from them is left to `derivation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bellcrank.errors import ModelError
from bellcrank.expr import Expr, Symbol
from bellcrank.expr.text import axis_number
from bellcrank.expr.walk import symbols
from bellcrank.kane import euler
from bellcrank.kane.contradictions import contradictions
from bellcrank.kane.declared import Declared
from bellcrank.kane.dynamics import Load
from bellcrank.kane.frames import DirectionCosines, Frame, connected, cosines, join
from bellcrank.kane.missing import MissingError, Need
from bellcrank.kane.motion import Point
from bellcrank.kane.speeds import constrained, solved_rates
from bellcrank.kane.statement import KaneStatement, Listed
from bellcrank.vector.basis import Mat3, Vector, axis_rotation


class Steps(Declared):
    """What has been said so far, and the questions that can be asked of it."""

    # ---- orientation

    def rotate(self, a: Frame | str, b: Frame | str, axis: int | str, angle: Any) -> DirectionCosines:
        """B is A turned by an angle (rad) about an axis that both share: "x", "y", "z" or 1, 2, 3."""
        number = axis_number(axis)
        if number is None:
            raise ModelError(f"axis={axis!r} must be 'x', 'y', 'z' or 1, 2, 3")
        angle = self.scalar(angle)
        return self._orient(a, b, axis_rotation(number - 1, angle), (number - 1, angle))

    def dircos(self, a: Frame | str, b: Frame | str, matrix: Sequence[Sequence[Any]] | None = None) -> DirectionCosines:
        """Direction cosines a_i . b_j: given as 3 x 3 array, or computed."""
        a, b = self.frame(a), self.frame(b)
        if matrix is not None:
            rows = [tuple(self.scalar(x) for x in row) for row in matrix]
            if len(rows) != 3 or any(len(row) != 3 for row in rows):
                raise ModelError("direction cosines are a 3 x 3 array")
            return self._orient(a, b, (rows[0], rows[1], rows[2]), None)  # type: ignore[arg-type]
        if not connected(a, b):
            raise MissingError([Need("orientation", a.name, b.name)])
        return DirectionCosines(a, b, cosines(a, b))

    def euler_parameters(self, a: Frame | str, b: Frame | str, names: Sequence[str] = ()) -> tuple[Symbol, ...]:
        """B in A by four new coordinates (e0, e1, e2, e3), e0 = cos(half angle); `euler_rates` gives their rates."""
        a, b = self.frame(a), self.frame(b)
        listed = list(names or (f"e{b.name}{i}" for i in range(4)))
        self.scalar_names.check(listed)
        self._require_apart(a, b)
        e = self.coordinates(*listed)
        self._orient(a, b, euler.rotation(e), None)
        self.euler[b] = e
        return e

    def euler_rates(self, a: Frame | str, b: Frame | str) -> tuple[Expr, ...]:
        """Sets and answers the rates of the Euler parameters of B in A, whose angular velocity must be given."""
        a, b = self.frame(a), self.frame(b)
        if b not in self.euler or b.parent is not a:
            raise ModelError(f"the orientation of {b} in {a} is not given by Euler parameters")
        if self.scalars.rates.keys() & set(self.euler[b]):
            raise ModelError(f"the rates of {self.euler[b][0]} ... are already defined")
        w = self.motion.given_w(b, a)
        parts = [self.scalars.tidy(x) for x in b.coordinates(w)]
        rates = euler.body_rates(self.euler[b], (parts[0], parts[1], parts[2]))
        for q, rate in zip(self.euler[b], rates, strict=True):
            self.scalars.set_rate(q, rate)
        return rates

    def _orient(self, a: Frame | str, b: Frame | str, R: Mat3, turn: tuple[int, Expr] | None) -> DirectionCosines:
        a, b = self.frame(a), self.frame(b)
        self._require_apart(a, b)
        before = [(f, vars(f) | {"_dots": dict(f._dots)}) for f in self.motion.frames]
        join(a, b, R, turn, self.motion.frames)
        self.motion.changed()
        try:
            self._refuse_contradictions()
        except ModelError:
            for f, was in before:
                vars(f).update(was)
            self.motion.changed()
            raise
        return DirectionCosines(a, b, R)

    def _refuse_contradictions(self) -> None:
        """Complains where what was given last contradicts what was given before."""
        for found in contradictions(self.motion, self.euler):
            raise ModelError(str(found))

    def _require_apart(self, a: Frame, b: Frame) -> None:
        if a is b:
            raise ModelError(f"{a} is given twice: an orientation is that of one frame in another")
        if connected(a, b):
            earlier = "\n".join(f"  {line}" for line in str(DirectionCosines(a, b, cosines(a, b))).splitlines())
            raise ModelError(f"the orientation of {b} in {a} is already defined:\n{earlier}")

    # ---- speeds

    def set_rate(self, q: Symbol | str, rate: Any) -> Expr:
        """The kinematical equation q' = rate, an expression in speeds, coordinates and time."""
        q = self.symbol(q)
        if q not in self.scalars.coordinates:
            raise ModelError(f"{q} is not a coordinate, so it has no kinematical equation")
        if q in self.scalars.rates:
            raise ModelError(f"{q}' is already defined: {q}' = {self.scalars.rates[q]}")
        value = self.scalar(rate)
        self.scalars.require_linear(value, f"{q}'")
        self._set_rates({q: value})
        return value

    def _set_rates(self, rates: Mapping[Symbol, Expr]) -> None:
        for q, rate in rates.items():
            self.scalars.set_rate(q, rate)
        try:
            self._refuse_contradictions()
        except ModelError:
            self.scalars.forget_rates(rates)
            raise

    def set_speeds(self, definitions: Mapping[Symbol | str, Any]) -> dict[Symbol, Expr]:
        """Speeds in any combination of rates ({u1: "phi'*cos(psi)", ...}); sets and answers the rates."""
        given = {self.symbol(u): self.scalar(e) for u, e in definitions.items()}
        rates = solved_rates(self.scalars, given)
        self._set_rates(rates)
        return rates

    def constrain(self, expression: Any, dependent: Symbol | str | None = None) -> Expr:
        """A constraint: what must be zero. One that is linear in the speeds makes a speed dependent, whose expression
        is the answer. Without `dependent` a speed is taken whose coefficient cannot vanish in motion; if there is none,
        all speeds stay, and the constraint is the answer. One of coordinates and time alone holds positions: all
        speeds stay, its rate is the answer."""
        residual, wanted = self.scalar(expression), None if dependent is None else self.symbol(dependent)
        (settled,) = self.scalars.resolve((residual,))
        kinds = {s.kind for s in symbols(settled)}
        if "coordinate" in kinds and not kinds & {"speed", "rate", "acceleration"}:
            if wanted is not None:
                raise ModelError(f"the constraint {residual} = 0 holds positions; it makes no speed dependent")
            if kinds & {"variable"}:
                raise ModelError(f"the constraint {residual} = 0 holds an input, whose time derivative is not known")
            self.configuration.append(residual)
            self.scalars.version += 1
            return self.scalars.rate(residual)
        removed = constrained(self.scalars, residual, wanted)
        if removed is None:
            self.unsolved.append(residual)
            self.scalars.version += 1
            return residual
        self.removed[removed.speed] = removed
        return removed.relation

    def rate(self, given: Any, frame: Frame | str | None = None) -> Any:
        """Time derivative of a scalar, or of a vector in a frame."""
        if isinstance(given, Vector):
            if frame is None:
                raise ModelError("the derivative of a vector needs the frame in which it is taken")
            return self.motion.derivative(given, self.frame(frame))
        return self.scalars.rate(self.scalar(given))

    # ---- motion

    def set_angular_velocity(self, b: Frame | str, a: Frame | str, value: Any) -> Vector:
        return self._set(self.motion.w, (self.frame(b), self.frame(a)), value, "angular velocity")

    def angular_velocity(self, b: Frame | str, a: Frame | str | None = None) -> Vector:
        """Angular velocity of B in A (default N): as given, added up, or from the rates of the orientation."""
        return self.motion.angular_velocity(self.frame(b), self._in(a))

    def set_angular_acceleration(self, b: Frame | str, a: Frame | str, value: Any) -> Vector:
        return self._set(self.motion.alf, (self.frame(b), self.frame(a)), value, "angular acceleration")

    def angular_acceleration(self, b: Frame | str, a: Frame | str | None = None) -> Vector:
        return self.motion.angular_acceleration(self.frame(b), self._in(a))

    def set_position(self, p: Point | str, q: Point | str, value: Any) -> Vector:
        """Position vector from P to Q."""
        return self._set(self.motion.p, (self.point(p), self.point(q)), value, "position")

    def position(self, p: Point | str, q: Point | str) -> Vector:
        return self.motion.position(self.point(p), self.point(q))

    def set_velocity(self, p: Point | str, a: Frame | str, value: Any) -> Vector:
        return self._set(self.motion.v, (self.point(p), self.frame(a)), value, "velocity")

    def velocity(self, p: Point | str, a: Frame | str | None = None) -> Vector:
        """Velocity of P in A (default N): as given, or from that of another point and the position from it."""
        return self.motion.velocity(self.point(p), self._in(a))

    def set_acceleration(self, p: Point | str, a: Frame | str, value: Any) -> Vector:
        return self._set(self.motion.a, (self.point(p), self.frame(a)), value, "acceleration")

    def acceleration(self, p: Point | str, a: Frame | str | None = None) -> Vector:
        return self.motion.acceleration(self.point(p), self._in(a))

    def v2pts(self, a: Frame | str, b: Frame | str, p: Point | str, q: Point | str) -> Vector:
        """Velocity of Q in A from that of P, both fixed in B; it is kept."""
        a, b, p, q = self.frame(a), self.frame(b), self.point(p), self.point(q)
        return self._set(self.motion.v, (q, a), lambda: self.motion.two_points(a, b, p, q), "velocity")

    def v1pt(self, a: Frame | str, b: Frame | str, p: Point | str, q: Point | str) -> Vector:
        """Velocity of Q in A, Q moving on B, in which P is fixed; it is kept."""
        a, b, p, q = self.frame(a), self.frame(b), self.point(p), self.point(q)
        return self._set(self.motion.v, (q, a), lambda: self.motion.one_point(a, b, p, q), "velocity")

    def a2pts(self, a: Frame | str, b: Frame | str, p: Point | str, q: Point | str) -> Vector:
        """Acceleration of Q in A from that of P, both fixed in B; it is kept."""
        a, b, p, q = self.frame(a), self.frame(b), self.point(p), self.point(q)
        return self._set(self.motion.a, (q, a), lambda: self.motion.two_points_acceleration(a, b, p, q), "acceleration")

    def a1pt(self, a: Frame | str, b: Frame | str, p: Point | str, q: Point | str) -> Vector:
        """Acceleration of Q in A, Q moving on B, in which P is fixed; it is kept."""
        a, b, p, q = self.frame(a), self.frame(b), self.point(p), self.point(q)
        return self._set(self.motion.a, (q, a), lambda: self.motion.one_point_acceleration(a, b, p, q), "acceleration")

    def express(self, v: Vector | str, frame: Frame | str) -> Vector:
        """The same vector along the axes of one frame."""
        return self.motion.express(self.vector(v), self.frame(frame))

    def dot(self, a: Vector | str, b: Vector | str) -> Expr:
        return self.motion.dot(self.vector(a), self.vector(b))

    def cross(self, a: Vector | str, b: Vector | str) -> Vector:
        return self.motion.cross(self.vector(a), self.vector(b))

    def _in(self, a: Frame | str | None) -> Frame:
        return self.newtonian if a is None else self.frame(a)

    def _set(self, table: dict[Any, Vector], key: tuple[Any, Any], value: Any, what: str) -> Vector:
        if key[0] is key[1]:
            raise ModelError(f"the {what} of {key[0]} in itself is zero and is not given")
        for pair in (key, key[::-1]):
            if pair in table:
                which = f"{pair[1]} from {pair[0]}" if what == "position" else f"{pair[0]} in {pair[1]}"
                raise ModelError(f"the {what} of {which} is already defined: {table[pair]}")
        table[key] = value() if callable(value) else self.vector(value)
        try:
            self._refuse_contradictions()
        except ModelError:
            del table[key]
            raise
        return table[key]

    # ---- dynamics

    def partial_velocities(self, p: Point | str) -> Listed:
        """Partial velocities of a point in N, one for each independent speed."""
        p = self.point(p)
        return Listed({f"v_{u}({p})": self.machine.partial_velocity(p, u) for u in self.scalars.moving})

    def partial_angular_velocities(self, b: Frame | str) -> Listed:
        """Partial angular velocities of a frame in N, one for each independent speed."""
        b = self.frame(b)
        return Listed({f"w_{u}({b})": self.machine.partial_angular_velocity(b, u) for u in self.scalars.moving})

    def force(self, p: Point | str, value: Any, by: Point | str | None = None) -> Vector:
        """A force on P; with `by`, the opposite acts on that point."""
        return self._load("force", self.point(p), value, None if by is None else self.point(by))

    def torque(self, b: Frame | str, value: Any, by: Frame | str | None = None) -> Vector:
        """A torque on B; with `by`, the opposite acts on that frame."""
        return self._load("torque", self.frame(b), value, None if by is None else self.frame(by))

    def gravity(self, g: Any) -> None:
        """The weight of every body and particle declared so far; `g` is the vector of gravitational acceleration."""
        field = self.vector(g)
        for p, mass in self.machine.heavy_points():
            self._load("force", p, field * mass, None)

    def _load(self, kind: str, on: Any, value: Any, by: Any) -> Vector:
        if on is by:
            raise ModelError(f"a {kind} that {on} exerts on itself does nothing")
        self.machine.loads.append(Load(kind, on, self.vector(value), by))
        self.scalars.version += 1
        return self.machine.loads[-1].value

    def fr(self) -> Listed:
        """Generalized active forces F_r."""
        if needs := self.machine.load_needs():
            raise MissingError(needs, "the generalized active forces")
        return Listed({f"F_{u}": self.machine.active(u) for u in self._all_speeds()})

    def frstar(self) -> Listed:
        """Generalized inertia forces F_r*."""
        if needs := self.machine.needs(accelerations=True):
            raise MissingError(needs, "the generalized inertia forces")
        torques = {b: self.machine.inertia_torque(b) for b in self.machine.turning_bodies()}
        return Listed({f"F*_{u}": self.machine.inertia(u, torques) for u in self._all_speeds()})

    def kane(self) -> KaneStatement:
        """Kane's equations F_r + F_r* = 0, one for each independent and auxiliary speed."""
        return KaneStatement(tuple(self._all_speeds()), self.fr().scalars(), self.frstar().scalars())

    def _all_speeds(self) -> list[Symbol]:
        if not self.scalars.speeds:
            raise ModelError("there are no generalized speeds yet: d.speeds('u1 u2')")
        return self.scalars.moving

    def kinetic_energy(self) -> Expr:
        return self.machine.kinetic_energy()

    def linear_momentum(self) -> Vector:
        return self.machine.linear_momentum()

    def angular_momentum(self, about: Point | str | None = None) -> Vector:
        """Angular momentum in N about a point, by default about the mass centre of the system."""
        return self.machine.angular_momentum(None if about is None else self.point(about))
