"""Constraint forces and moments, of joints and of loops, as expressions in states and accelerations.

Every body's motion asks for a force and a moment; what loads do not provide, constraints do. Multipliers of loops and
speed constraints follow from the generalized forces that belong to the dependent speeds (Kane & Levinson 1985,
section 4.9); the joint of a body carries what is then missing on the body and all that hang on it. A position
constraint written as a formula of coordinates is read as drives in the joints of these coordinates.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from bellcrank.expr import MINUS_ONE, TWO, ZERO, Expr, Symbol, add, derivative, mul, partial, sub
from bellcrank.kinematics.body_motion import Point, motion_of
from bellcrank.kinematics.eliminate import solve_rows
from bellcrank.kinematics.integrals import spin
from bellcrank.kinematics.language import Language
from bellcrank.kinematics.loop_joints import LoopRow
from bellcrank.kinematics.results import Analysis, Output
from bellcrank.kinematics.rows import with_slopes
from bellcrank.model.joints.joint import Velocity
from bellcrank.model.mechanism import Body
from bellcrank.vector.basis import UnitVector, Vector, cross, dot, vector


class Reactions:
    """Reactions of one analysed model."""

    def __init__(self, analysis: Analysis, language: Language) -> None:
        self.analysis = analysis
        self.k, self.work = analysis.kinematics, analysis.kinematics.work
        self.plain = motion_of(analysis.mechanism) if analysis.removed else self.k  # no speed replaced
        self.language = Language(language, self.plain, analysis.points, {}) if analysis.removed else language
        self.bodies = analysis.mechanism.bodies
        self.body_of = {id(frame): i for i, frame in self.k.frames.items()}
        loops = analysis.loops
        used = loops.used if loops else analysis.solved
        self.rows = [with_slopes(r, analysis.mechanism.speeds) for r in used]
        self.pivots = list(loops.pivots) if loops else [r.speed for r in analysis.removed]
        self.missing = [self._missing(i) for i in range(len(self.bodies))]
        self.multipliers = self._multipliers()
        analysis.multipliers = tuple(self.multipliers)

    def outputs(self) -> list[Output]:
        """Forces and moments on every body from its joint, and of every loop; multipliers of other constraints."""
        listed: list[Output] = []
        for b in self.bodies:
            listed += self._joint(b.index)
        named = dict.fromkeys(r.source.loop for r in self.rows if isinstance(r.source, LoopRow))
        for loop in named:
            listed += self._loop(loop)
        for i, row in enumerate(self.rows):
            if not isinstance(row.source, LoopRow):
                listed.append(Output(f"lambda{i + 1}", f"multiplier of {row.text}", self.multipliers[i]))
        return listed

    # ---- what constraints have to provide

    def _missing(self, index: int) -> tuple[Vector, Vector]:
        """Force, and moment about the mass centre, that a body's motion asks for and loads do not provide."""
        k, b = self.k, self.bodies[index]
        cm = Point("", index, b.cm)
        force = (k.derivative(k.velocity(cm)) - self.analysis.gravity) * b.mass
        moment = k.derivative(spin(k, index))
        for load in self.analysis.loads:
            acting = load.direction * load.magnitude
            for body, sign, at in ((load.body, 1, load.point), (load.against, -1, load.reaction or load.point)):
                if body != index:
                    continue
                if load.kind == "moment":
                    moment = moment - acting * sign
                elif at is not None:
                    force = force - acting * sign
                    moment = moment - cross(k.position(at) - k.position(cm), acting * sign)
        for other in self.bodies:
            if other.armature is not ZERO and index in (other.index, other.parent):
                push, turn = self._resisting(other)
                sign = 1 if other.index == index else -1
                force = force - push * sign
                moment = moment - (turn + cross(k.origin[other.index] - k.position(cm), push)) * sign
        return force, moment

    def _resisting(self, b: Body) -> tuple[Vector, Vector]:
        """Force through its origin, and moment, on a body whose joint is driven by a rotor behind a gear."""
        k = self.k
        ((u, axis, turns),) = b.joint.relative_axes(k.frames[b.parent], k.frames[b.index])
        rate = derivative(k.speed.get(u, u), k.rate_of)
        load = axis * mul(MINUS_ONE, b.armature, rate)
        return (Vector({}), load) if turns else (load, Vector({}))

    def _multipliers(self) -> list[Expr]:
        """J' lambda = h for the dependent speeds, rows and speeds in the order of their elimination."""
        rows = [{i: a for i, row in enumerate(self.rows) for u, a in row.slopes if u is s} for s in self.pivots]
        right = [self._generalized(s) for s in self.pivots]
        return solve_rows(rows, right, range(len(rows)), self.work)[0]

    def _generalized(self, s: Symbol) -> Expr:
        """The generalized force that is missing for a speed."""
        terms: list[Expr] = []
        for b in self.bodies:
            frames = self.plain.frames[b.index], self.k.frames[b.index]
            velocity = self.plain.velocity(Point("", b.index, b.cm))
            for motion, needed in zip((velocity, self.plain.w[b.index]), self.missing[b.index], strict=True):
                slopes = [partial(x, s) for x in frames[0].coordinates(motion)]
                if any(x is not ZERO for x in slopes):
                    parts = frames[1].coordinates(needed)
                    terms += [mul(a, x) for a, x in zip(slopes, parts, strict=True)]
        return self.work.hold(add(*terms)) if terms else ZERO

    # ---- channels

    def _joint(self, index: int) -> list[Output]:
        """Force and moment on a body from its parent, about its origin, along its axes."""
        k, b = self.k, self.bodies[index]
        below = self._hanging(index)
        origin = k.origin[index]
        force, moment = Vector({}), Vector({})
        for i in below:
            F, M = self.missing[i]
            force += F
            moment = moment + M + cross(k.position(Point("", i, self.bodies[i].cm)) - origin, F)
        axes = k.frames[index].axes
        shares = self._shares(index, below)
        values = [dot(v, e) for v in (force, moment) for e in axes]
        values = [self.work.hold(sub(x, share)) for x, share in zip(values, shares, strict=True)]
        kept = [ZERO if i in self._free(index) else x for i, x in enumerate(values)]
        return _channels(b.name, f"on {b.label or b.name} from its parent, at its joint", kept)

    def _free(self, index: int) -> set[int]:
        """The components that a joint cannot carry, unless a constraint drives it."""
        b = self.bodies[index]
        driven = {u for row in self.rows if row.source is None for u, _ in row.slopes}
        return b.joint.free_components if driven.isdisjoint(b.speeds) else set()

    def _hanging(self, index: int) -> list[int]:
        below = [index]
        for b in self.bodies:
            if b.parent in below and b.index not in below:
                below.append(b.index)
        return below

    def _shares(self, index: int, below: list[int]) -> list[Expr]:
        """What loops and speed constraints provide along and about the axes of a joint, beyond it."""
        shares = [ZERO] * 6
        for row, multiplier in zip(self.rows, self.multipliers, strict=True):
            if row.source is None:
                continue
            parts = self._virtual_loop(row.source, index, below) if isinstance(row.source, LoopRow) else None
            parts = parts or self._virtual_formula(row.source, index, below)
            shares = [add(x, mul(multiplier, a)) for x, a in zip(shares, parts, strict=True)]
        return shares

    def _virtual_loop(self, row: LoopRow, index: int, below: list[int]) -> list[Expr]:
        """How a loop's equation changes with small moves of all below a joint: three along axes, three about."""
        axes = [vector(e) for e in self.k.frames[index].axes]
        return [self._change(row, index, below, e, turning) for turning in (False, True) for e in axes]

    def _change(self, row: LoopRow, index: int, below: list[int], axis: Vector, turning: bool) -> Expr:
        k = self.k

        def moved(p: Point) -> Vector:
            if p.body not in below:
                return Vector({})
            return cross(axis, k.position(p) - k.origin[index]) if turning else axis

        def turned(v: Vector, body: int | None) -> Vector:
            """The change of a vector fixed in a body; without one, in those that its unit vectors belong to."""
            if not turning:
                return Vector({})
            if body is not None:
                return cross(axis, v) if body in below else Vector({})
            return cross(axis, self._fixed_in(below, v, row))

        if row.turns and row.b is not None:
            return add(dot(turned(row.a, row.p.body), row.b), dot(row.a, turned(row.b, row.r.body)))
        apart = moved(row.p) - moved(row.r)
        if row.b is None:
            return mul(TWO, dot(row.a, apart))
        return add(dot(apart, row.b), dot(row.a, turned(row.b, None if row.directed else row.r.body)))

    def _fixed_in(self, bodies: Collection[int], v: Vector, row: LoopRow) -> Vector:
        """The part of a vector whose unit vectors belong to these bodies. One that several bodies share, as they do not
        turn against each other about it, belongs to that of a point of the loop, if it is one of them."""

        def holder(e: UnitVector) -> int:
            own = self.body_of.get(id(e.frame), -1)
            return next((i for i in (row.p.body, row.r.body) if e in self.k.frames[i].axes), own)

        return Vector({e: c for e, c in v.terms.items() if holder(e) in bodies})

    def _virtual_formula(self, formula: Any, index: int, below: list[int]) -> list[Expr]:
        """The same for a speed constraint, whose formula is read once more with auxiliary speeds of these bodies."""
        k = self.plain
        extra = [Symbol(f"auxiliary {i}", "speed") for i in range(6)]
        axes = k.frames[index].axes
        slide = Vector(dict(zip(axes, extra[:3], strict=True)))
        turn = Vector(dict(zip(axes, extra[3:], strict=True)))
        w = {**k.w, **{i: k.w[i] + turn for i in below}}

        def moved(i: int) -> Velocity:
            arm = k.origin[i] - k.origin[index]
            return Velocity(lambda v: v + slide + cross(turn, arm), k.v_origin[i])

        v = {i: moved(i) for i in below}
        moving = replace(k, w=w, v_origin={**k.v_origin, **v})
        value = Language(self.language, moving, self.analysis.points, {}).scalar(formula)
        return [partial(value, a) for a in extra]

    def _loop(self, name: str) -> list[Output]:
        """Force and moment of a loop on the body of its first point, about that point, along that body's axes."""
        force, moment = Vector({}), Vector({})
        body = -1
        for row, multiplier in zip(self.rows, self.multipliers, strict=True):
            source = row.source
            if not isinstance(source, LoopRow) or source.loop != name:
                continue
            body = source.p.body
            if source.turns and source.b is not None:
                moment = moment + cross(source.a, source.b) * multiplier
                continue
            force = force + (source.a * 2 if source.b is None else source.b) * multiplier
            if (
                source.directed and source.b is not None
            ):  # a force along what turns with this body acts at the other end
                moment = moment + cross(self._fixed_in([body], source.b, source), source.a) * multiplier
        axes = self.k.frames[body].axes
        values = [self.work.hold(dot(v, e)) for v in (force, moment) for e in axes]
        return _channels(name, f"of {name} on the body of its first point", values)


def _channels(name: str, words: str, values: Sequence[Expr]) -> list[Output]:
    """Three components of a force and three of a moment; those that are always zero are left out."""
    listed = []
    for i, value in enumerate(values):
        letter, what, units = ("F", "force", "F") if i < 3 else ("M", "moment", "F*L")
        if value is not ZERO:
            listed.append(Output(f"{letter}{i % 3 + 1}({name})", f"{what} {words}, axis {i % 3 + 1}", value, units))
    return listed
