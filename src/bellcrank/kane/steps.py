"""The steps of a derivation led by hand: every call answers with what it found.

Out: Kane's equations, F_r + F_r* = 0 (Kane & Levinson 1985). What follows from them is left to
`derivation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.kane import euler
from bellcrank.kane.contradictions import find_contradictions
from bellcrank.kane.declarations import DeclaredNames
from bellcrank.kane.dynamics import KaneLoad
from bellcrank.kane.frames import (
    DirectionCosines,
    Frame,
    are_connected,
    direction_cosines,
    join_frames,
)
from bellcrank.kane.missing_quantities import MissingError, MissingQuantity
from bellcrank.kane.motion import Point
from bellcrank.kane.printed_results import KaneStatement, Listed
from bellcrank.kane.speeds import solve_motion_constraint, solved_rates
from bellcrank.symbolic.expr import Expr, Symbol
from bellcrank.symbolic.expr.formula_parser import axis_number
from bellcrank.symbolic.expr.traversal import free_symbols
from bellcrank.symbolic.vector.basis import Mat3, Vector, axis_rotation


class DerivationSteps(DeclaredNames):
    """What has been said so far, and the questions that can be asked of it."""

    # ---- orientation

    def rotate(
        self, a: Frame | str, b: Frame | str, axis: int | str, angle: Any
    ) -> DirectionCosines:
        """Define the orientation of B: A rotated about an axis that both share.

        Parameters
        ----------
        a, b : Frame or str
            The frames.
        axis : {1, 2, 3, "x", "y", "z"}
            The axis.
        angle : ScalarLike
            The angle in rad.

        Returns
        -------
        DirectionCosines
            The table of direction cosines.
        """
        number = axis_number(axis)
        if number is None:
            raise ModelError(f"axis={axis!r} must be 'x', 'y', 'z' or 1, 2, 3")
        angle = self.scalar(angle)
        return self._set_orientation(a, b, axis_rotation(number - 1, angle), (number - 1, angle))

    def dircos(
        self, a: Frame | str, b: Frame | str, matrix: Sequence[Sequence[Any]] | None = None
    ) -> DirectionCosines:
        """Define or compute direction cosines of two frames.

        Parameters
        ----------
        a, b : Frame or str
            The frames.
        matrix : 3 x 3 sequence, optional
            The cosines a_i . b_j, which define the orientation. Default: they are computed.

        Returns
        -------
        DirectionCosines
            The table.
        """
        a, b = self.frame(a), self.frame(b)
        if matrix is not None:
            rows = [tuple(self.scalar(x) for x in row) for row in matrix]
            if len(rows) != 3 or any(len(row) != 3 for row in rows):
                raise ModelError("direction cosines are a 3 x 3 array")
            return self._set_orientation(a, b, (rows[0], rows[1], rows[2]), None)  # type: ignore[arg-type]
        if not are_connected(a, b):
            raise MissingError([MissingQuantity("orientation", a.name, b.name)])
        return DirectionCosines(a, b, direction_cosines(a, b))

    def euler_parameters(
        self, a: Frame | str, b: Frame | str, names: Sequence[str] = ()
    ) -> tuple[Symbol, ...]:
        """Define the orientation of B in A by Euler parameters (e0, e1, e2, e3), e0 = cos(half
        angle).

        `euler_rates` gives their time derivatives.

        Parameters
        ----------
        a, b : Frame or str
            The frames.
        names : sequence of str, optional
            Names of the four coordinates. Default: eB0 to eB3 for a frame B.

        Returns
        -------
        tuple of Symbol
            The new coordinates.
        """
        a, b = self.frame(a), self.frame(b)
        listed = list(names or (f"e{b.name}{i}" for i in range(4)))
        self.scalar_names.check_names(listed)
        self._require_apart(a, b)
        e = self.coordinates(*listed)
        self._set_orientation(a, b, euler.euler_rotation_matrix(e), None)
        self.euler[b] = e
        return e

    def euler_rates(self, a: Frame | str, b: Frame | str) -> tuple[Expr, ...]:
        """Define the time derivatives of the Euler parameters of B in A by its angular velocity,
        which must be given.

        Parameters
        ----------
        a, b : Frame or str
            The frames.

        Returns
        -------
        tuple of Expr
            The time derivatives.
        """
        a, b = self.frame(a), self.frame(b)
        if b not in self.euler or b.parent is not a:
            raise ModelError(f"the orientation of {b} in {a} is not given by Euler parameters")
        if self.scalars.rates.keys() & set(self.euler[b]):
            raise ModelError(f"the rates of {self.euler[b][0]} ... are already defined")
        w = self.motion.given_w(b, a)
        components = [self.scalars.name_intermediate_terms(x) for x in b.coordinates(w)]
        rates = euler.body_rates(self.euler[b], (components[0], components[1], components[2]))
        for q, rate in zip(self.euler[b], rates, strict=True):
            self.scalars.set_rate(q, rate)
        return rates

    def _set_orientation(
        self, a: Frame | str, b: Frame | str, R: Mat3, rotation: tuple[int, Expr] | None
    ) -> DirectionCosines:
        a, b = self.frame(a), self.frame(b)
        self._require_apart(a, b)
        saved = [(f, vars(f) | {"_dots": dict(f._dots)}) for f in self.motion.frames]
        join_frames(a, b, R, rotation, self.motion.frames)
        self.motion.clear_cache()
        try:
            self._refuse_contradictions()
        except ModelError:
            for f, attributes in saved:
                vars(f).update(attributes)
            self.motion.clear_cache()
            raise
        return DirectionCosines(a, b, R)

    def _refuse_contradictions(self) -> None:
        """Complains where what was given last contradicts what was given before."""
        for contradiction in find_contradictions(self.motion, self.euler):
            raise ModelError(str(contradiction))

    def _require_apart(self, a: Frame, b: Frame) -> None:
        if a is b:
            raise ModelError(f"{a} is given twice: an orientation is that of one frame in another")
        if are_connected(a, b):
            earlier = "\n".join(
                f"  {line}"
                for line in str(DirectionCosines(a, b, direction_cosines(a, b))).splitlines()
            )
            raise ModelError(f"the orientation of {b} in {a} is already defined:\n{earlier}")

    # ---- speeds

    def set_rate(self, q: Symbol | str, rate: Any) -> Expr:
        """Define a kinematical differential equation q' = rate.

        Parameters
        ----------
        q : Symbol or str
            The coordinate.
        rate : ScalarLike
            An expression in speeds, coordinates and time.

        Returns
        -------
        Expr
            The rate.
        """
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
        """Define generalized speeds by combinations of the time derivatives of coordinates.

        Parameters
        ----------
        definitions : mapping
            Expressions by speed, such as {u1: "phi'*cos(psi)"}.

        Returns
        -------
        dict
            The time derivatives of the coordinates, solved from the definitions.
        """
        expressions = {self.symbol(u): self.scalar(e) for u, e in definitions.items()}
        rates = solved_rates(self.scalars, expressions)
        self._set_rates(rates)
        return rates

    def constrain(self, expression: Any, dependent: Symbol | str | None = None) -> Expr:
        """Add a constraint: an expression that must be zero.

        One that is linear in speeds makes a speed dependent. One of coordinates and time alone
        holds positions, and all speeds stay.

        Parameters
        ----------
        expression : ScalarLike
            What must be zero.
        dependent : Symbol or str, optional
            The dependent speed. Default: one whose coefficient cannot vanish in motion; if there is
            none, all speeds stay.

        Returns
        -------
        Expr
            The expression of the dependent speed; if all speeds stay, the constraint or its time
            derivative.
        """
        residual, dependent_speed = (
            self.scalar(expression),
            None if dependent is None else self.symbol(dependent),
        )
        (settled,) = self.scalars.resolve((residual,))
        kinds = {s.kind for s in free_symbols(settled)}
        if "coordinate" in kinds and not kinds & {"speed", "rate", "acceleration"}:
            if dependent_speed is not None:
                raise ModelError(
                    f"the constraint {residual} = 0 holds positions; it makes no speed dependent"
                )
            if kinds & {"variable"}:
                raise ModelError(
                    f"the constraint {residual} = 0 holds an input, whose time derivative "
                    f"is not known"
                )
            self.configuration.append(residual)
            self.scalars.version += 1
            return self.scalars.rate(residual)
        removed = solve_motion_constraint(self.scalars, residual, dependent_speed)
        if removed is None:
            self.unsolved.append(residual)
            self.scalars.version += 1
            return residual
        self.removed[removed.speed] = removed
        return removed.relation

    def rate(self, given: Any, frame: Frame | str | None = None) -> Any:
        """Differentiate with respect to time.

        Parameters
        ----------
        given : ScalarLike or VectorLike
            A scalar or a vector.
        frame : Frame or str, optional
            The frame in which a vector is differentiated.

        Returns
        -------
        Expr or Vector
            The time derivative.
        """
        if isinstance(given, Vector):
            if frame is None:
                raise ModelError("the derivative of a vector needs the frame in which it is taken")
            return self.motion.derivative(given, self.frame(frame))
        return self.scalars.rate(self.scalar(given))

    # ---- motion

    def set_angular_velocity(self, b: Frame | str, a: Frame | str, value: Any) -> Vector:
        """Define the angular velocity of a frame.

        Parameters
        ----------
        b, a : Frame or str
            Of B in A.
        value : VectorLike
            The angular velocity in rad/s.

        Returns
        -------
        Vector
            The same.
        """
        return self._store_given(
            self.motion.w, (self.frame(b), self.frame(a)), value, "angular velocity"
        )

    def angular_velocity(self, b: Frame | str, a: Frame | str | None = None) -> Vector:
        """Give the angular velocity of a frame: as it was defined, as a sum, or from the
        orientation.

        Parameters
        ----------
        b : Frame or str
            Frame B.
        a : Frame or str, optional
            Frame A. Default: N.

        Returns
        -------
        Vector
            The angular velocity of B in A in rad/s.
        """
        return self.motion.angular_velocity(self.frame(b), self._frame_or_newtonian(a))

    def set_angular_acceleration(self, b: Frame | str, a: Frame | str, value: Any) -> Vector:
        """Define the angular acceleration of a frame.

        Parameters
        ----------
        b, a : Frame or str
            Of B in A.
        value : VectorLike
            The angular acceleration in rad/s^2.

        Returns
        -------
        Vector
            The same.
        """
        return self._store_given(
            self.motion.alf, (self.frame(b), self.frame(a)), value, "angular acceleration"
        )

    def angular_acceleration(self, b: Frame | str, a: Frame | str | None = None) -> Vector:
        """Give the angular acceleration of a frame: as it was defined, or from the angular
        velocity.

        Parameters
        ----------
        b : Frame or str
            Frame B.
        a : Frame or str, optional
            Frame A. Default: N.

        Returns
        -------
        Vector
            The angular acceleration of B in A in rad/s^2.
        """
        return self.motion.angular_acceleration(self.frame(b), self._frame_or_newtonian(a))

    def set_position(self, p: Point | str, q: Point | str, value: Any) -> Vector:
        """Define the position vector from one point to another.

        Parameters
        ----------
        p, q : Point or str
            From P to Q.
        value : VectorLike
            The position vector.

        Returns
        -------
        Vector
            The same.
        """
        return self._store_given(self.motion.p, (self.point(p), self.point(q)), value, "position")

    def position(self, p: Point | str, q: Point | str) -> Vector:
        """Give the position vector from one point to another.

        Parameters
        ----------
        p, q : Point or str
            From P to Q.

        Returns
        -------
        Vector
            The position vector.
        """
        return self.motion.position(self.point(p), self.point(q))

    def set_velocity(self, p: Point | str, a: Frame | str, value: Any) -> Vector:
        """Define the velocity of a point.

        Parameters
        ----------
        p : Point or str
            The point.
        a : Frame or str
            The frame.
        value : VectorLike
            The velocity.

        Returns
        -------
        Vector
            The same.
        """
        return self._store_given(self.motion.v, (self.point(p), self.frame(a)), value, "velocity")

    def velocity(self, p: Point | str, a: Frame | str | None = None) -> Vector:
        """Give the velocity of a point: as it was defined, or from another point and the position
        from it.

        Parameters
        ----------
        p : Point or str
            The point.
        a : Frame or str, optional
            The frame. Default: N.

        Returns
        -------
        Vector
            The velocity.

        Raises
        ------
        MissingError
            If something is missing; the message lists it.
        """
        return self.motion.velocity(self.point(p), self._frame_or_newtonian(a))

    def set_acceleration(self, p: Point | str, a: Frame | str, value: Any) -> Vector:
        """Define the acceleration of a point.

        Parameters
        ----------
        p : Point or str
            The point.
        a : Frame or str
            The frame.
        value : VectorLike
            The acceleration.

        Returns
        -------
        Vector
            The same.
        """
        return self._store_given(
            self.motion.a, (self.point(p), self.frame(a)), value, "acceleration"
        )

    def acceleration(self, p: Point | str, a: Frame | str | None = None) -> Vector:
        """Give the acceleration of a point: as it was defined, or from the velocity.

        Parameters
        ----------
        p : Point or str
            The point.
        a : Frame or str, optional
            The frame. Default: N.

        Returns
        -------
        Vector
            The acceleration.
        """
        return self.motion.acceleration(self.point(p), self._frame_or_newtonian(a))

    def v2pts(self, a: Frame | str, b: Frame | str, p: Point | str, q: Point | str) -> Vector:
        """Compute the velocity of a point Q from that of P, both fixed in a frame B, and keep it.

        Parameters
        ----------
        a : Frame or str
            Frame A in which the velocity is taken.
        b : Frame or str
            Frame B.
        p, q : Point or str
            The points.

        Returns
        -------
        Vector
            The velocity of Q in A.
        """
        a, b, p, q = self.frame(a), self.frame(b), self.point(p), self.point(q)
        return self._store_given(
            self.motion.v, (q, a), lambda: self.motion.two_points(a, b, p, q), "velocity"
        )

    def v1pt(self, a: Frame | str, b: Frame | str, p: Point | str, q: Point | str) -> Vector:
        """Compute the velocity of a point Q that moves on a frame B, in which P is fixed, and keep
        it.

        Parameters
        ----------
        a : Frame or str
            Frame A in which the velocity is taken.
        b : Frame or str
            Frame B.
        p, q : Point or str
            P, fixed in B, and Q.

        Returns
        -------
        Vector
            The velocity of Q in A.
        """
        a, b, p, q = self.frame(a), self.frame(b), self.point(p), self.point(q)
        return self._store_given(
            self.motion.v, (q, a), lambda: self.motion.one_point(a, b, p, q), "velocity"
        )

    def a2pts(self, a: Frame | str, b: Frame | str, p: Point | str, q: Point | str) -> Vector:
        """Compute the acceleration of a point Q from that of P, both fixed in a frame B, and keep
        it.

        Parameters
        ----------
        a : Frame or str
            Frame A in which the acceleration is taken.
        b : Frame or str
            Frame B.
        p, q : Point or str
            The points.

        Returns
        -------
        Vector
            The acceleration of Q in A.
        """
        a, b, p, q = self.frame(a), self.frame(b), self.point(p), self.point(q)
        return self._store_given(
            self.motion.a,
            (q, a),
            lambda: self.motion.two_points_acceleration(a, b, p, q),
            "acceleration",
        )

    def a1pt(self, a: Frame | str, b: Frame | str, p: Point | str, q: Point | str) -> Vector:
        """Compute the acceleration of a point Q that moves on a frame B, in which P is fixed, and
        keep it.

        Parameters
        ----------
        a : Frame or str
            Frame A in which the acceleration is taken.
        b : Frame or str
            Frame B.
        p, q : Point or str
            P, fixed in B, and Q.

        Returns
        -------
        Vector
            The acceleration of Q in A.
        """
        a, b, p, q = self.frame(a), self.frame(b), self.point(p), self.point(q)
        return self._store_given(
            self.motion.a,
            (q, a),
            lambda: self.motion.one_point_acceleration(a, b, p, q),
            "acceleration",
        )

    def express(self, v: Vector | str, frame: Frame | str) -> Vector:
        """Express a vector along the axes of one frame.

        Parameters
        ----------
        v : Vector or str
            The vector.
        frame : Frame or str
            The frame.

        Returns
        -------
        Vector
            The same vector.
        """
        return self.motion.express(self.vector(v), self.frame(frame))

    def dot(self, a: Vector | str, b: Vector | str) -> Expr:
        """Compute a dot product.

        Parameters
        ----------
        a, b : Vector or str
            The vectors.

        Returns
        -------
        Expr
            a . b.
        """
        return self.motion.dot(self.vector(a), self.vector(b))

    def cross(self, a: Vector | str, b: Vector | str) -> Vector:
        """Compute a cross product.

        Parameters
        ----------
        a, b : Vector or str
            The vectors.

        Returns
        -------
        Vector
            a x b.
        """
        return self.motion.cross(self.vector(a), self.vector(b))

    def _frame_or_newtonian(self, a: Frame | str | None) -> Frame:
        return self.newtonian if a is None else self.frame(a)

    def _store_given(
        self, table: dict[Any, Vector], key: tuple[Any, Any], value: Any, quantity: str
    ) -> Vector:
        if key[0] is key[1]:
            raise ModelError(f"the {quantity} of {key[0]} in itself is zero and is not given")
        for pair in (key, key[::-1]):
            if pair in table:
                pair_text = (
                    f"{pair[1]} from {pair[0]}"
                    if quantity == "position"
                    else f"{pair[0]} in {pair[1]}"
                )
                raise ModelError(f"the {quantity} of {pair_text} is already defined: {table[pair]}")
        table[key] = value() if callable(value) else self.vector(value)
        try:
            self._refuse_contradictions()
        except ModelError:
            del table[key]
            raise
        return table[key]

    # ---- dynamics

    def partial_velocities(self, p: Point | str) -> Listed:
        """Compute the partial velocities of a point in N.

        Parameters
        ----------
        p : Point or str
            The point.

        Returns
        -------
        Listed
            One for each independent speed.
        """
        p = self.point(p)
        return Listed(
            {
                f"v_{u}({p})": self.machine.partial_velocity(p, u)
                for u in self.scalars.speeds_with_equations
            }
        )

    def partial_angular_velocities(self, b: Frame | str) -> Listed:
        """Compute the partial angular velocities of a frame in N.

        Parameters
        ----------
        b : Frame or str
            The frame.

        Returns
        -------
        Listed
            One for each independent speed.
        """
        b = self.frame(b)
        return Listed(
            {
                f"w_{u}({b})": self.machine.partial_angular_velocity(b, u)
                for u in self.scalars.speeds_with_equations
            }
        )

    def force(self, p: Point | str, value: Any, by: Point | str | None = None) -> Vector:
        """Apply a force to a point.

        Parameters
        ----------
        p : Point or str
            The point.
        value : VectorLike
            The force.
        by : Point or str, optional
            A point on which the opposite force acts. Default: none.

        Returns
        -------
        Vector
            The force.
        """
        return self._add_load("force", self.point(p), value, None if by is None else self.point(by))

    def torque(self, b: Frame | str, value: Any, by: Frame | str | None = None) -> Vector:
        """Apply a torque to a frame.

        Parameters
        ----------
        b : Frame or str
            The frame.
        value : VectorLike
            The torque.
        by : Frame or str, optional
            A frame on which the opposite torque acts. Default: none.

        Returns
        -------
        Vector
            The torque.
        """
        return self._add_load(
            "torque", self.frame(b), value, None if by is None else self.frame(by)
        )

    def gravity(self, g: Any) -> None:
        """Apply the weight of each body and particle declared so far.

        Parameters
        ----------
        g : VectorLike
            Gravitational acceleration.
        """
        field = self.vector(g)
        for p, mass in self.machine.heavy_points():
            self._add_load("force", p, field * mass, None)

    def _add_load(self, kind: str, target: Any, value: Any, reaction_on: Any) -> Vector:
        if target is reaction_on:
            raise ModelError(f"a {kind} that {target} exerts on itself does nothing")
        self.machine.loads.append(KaneLoad(kind, target, self.vector(value), reaction_on))
        self.scalars.version += 1
        return self.machine.loads[-1].value

    def fr(self) -> Listed:
        """Compute the generalized active forces F_r.

        Returns
        -------
        Listed
            One for each independent and auxiliary speed.
        """
        if missing := self.machine.missing_for_loads():
            raise MissingError(missing, "the generalized active forces")
        return Listed({f"F_{u}": self.machine.active_force(u) for u in self._all_speeds()})

    def frstar(self) -> Listed:
        """Compute the generalized inertia forces F_r*.

        Returns
        -------
        Listed
            One for each independent and auxiliary speed.
        """
        if missing := self.machine.missing_for_inertia(accelerations=True):
            raise MissingError(missing, "the generalized inertia forces")
        torques = {b: self.machine.inertia_torque(b) for b in self.machine.turning_bodies()}
        return Listed(
            {f"F*_{u}": self.machine.inertia_force(u, torques) for u in self._all_speeds()}
        )

    def kane(self) -> KaneStatement:
        """Write Kane's equations F_r + F_r* = 0.

        Returns
        -------
        KaneStatement
            One equation for each independent and auxiliary speed.
        """
        return KaneStatement(
            tuple(self._all_speeds()), self.fr().scalars(), self.frstar().scalars()
        )

    def _all_speeds(self) -> list[Symbol]:
        if not self.scalars.speeds:
            raise ModelError("there are no generalized speeds yet: d.speeds('u1 u2')")
        return self.scalars.speeds_with_equations

    def kinetic_energy(self) -> Expr:
        """Compute the kinetic energy of the system in N.

        Returns
        -------
        Expr
            The energy.
        """
        return self.machine.kinetic_energy()

    def linear_momentum(self) -> Vector:
        """Compute the linear momentum of the system in N.

        Returns
        -------
        Vector
            The momentum.
        """
        return self.machine.linear_momentum()

    def angular_momentum(self, about: Point | str | None = None) -> Vector:
        """Compute the angular momentum of the system in N.

        Parameters
        ----------
        about : Point or str, optional
            The point. Default: the mass centre of the system.

        Returns
        -------
        Vector
            The angular momentum.
        """
        return self.machine.angular_momentum(None if about is None else self.point(about))
