"""Constraint forces and moments, of joints and of loops, as expressions in states and
accelerations.

Every body's motion asks for a force and a moment; what loads do not provide, constraints do.
Multipliers of loops and speed constraints follow from the generalized forces that belong to the
dependent speeds (Kane & Levinson 1985, section 4.9); the joint of a body carries what is then
missing on the body and all that hang on it. A position constraint written as a formula of
coordinates is read as drives in the joints of these coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from bellcrank.mechanics.kinematics.body_motion import build_kinematics
from bellcrank.mechanics.kinematics.constraint_rows import ConstraintRow, with_partials
from bellcrank.mechanics.kinematics.dependent_accelerations import solve_rows
from bellcrank.mechanics.kinematics.integrals import angular_momentum
from bellcrank.mechanics.kinematics.language import FormulaLanguage
from bellcrank.mechanics.kinematics.loop_joints import LoopRow
from bellcrank.mechanics.kinematics.results import KinematicAnalysis, OutputChannel
from bellcrank.model.joints.joint import LazyVelocity
from bellcrank.model.loads.load import BodyPoint
from bellcrank.model.mechanism import Body
from bellcrank.symbolic.expr import (
    MINUS_ONE,
    ONE,
    TWO,
    ZERO,
    Expr,
    Symbol,
    add,
    derivative,
    mul,
    neg,
    partial,
    sub,
)
from bellcrank.symbolic.expr.node import PRIME
from bellcrank.symbolic.expr.traversal import find_symbols
from bellcrank.symbolic.vector.basis import UnitVector, Vector, as_vector, cross, dot

INDETERMINATE = "indeterminate: least-norm split among redundant joints"


class ReactionOutputs:
    """Reactions of one analysed model."""

    def __init__(self, analysis: KinematicAnalysis, language: FormulaLanguage) -> None:
        self.analysis = analysis
        self.k, self.work = analysis.kinematics, analysis.kinematics.work
        self.plain = (
            build_kinematics(analysis.mechanism) if analysis.removed else self.k
        )  # no speed replaced
        self.language = (
            FormulaLanguage(language, self.plain, analysis.points, {})
            if analysis.removed
            else language
        )
        self.bodies = analysis.mechanism.bodies
        self.body_of = {id(frame): i for i, frame in self.k.frames.items()}
        loops = analysis.loops
        used_rows = loops.used_rows if loops else analysis.solved
        self.rows = [with_partials(r, analysis.mechanism.speeds) for r in used_rows]
        self.pivots = list(loops.pivots) if loops else [r.speed for r in analysis.removed]
        self.missing = [self._unbalanced_wrench(i) for i in range(len(self.bodies))]
        self.multipliers = self._multipliers()
        analysis.multipliers = tuple(self.multipliers)
        spare = [*analysis.spare, *((r for r in loops.rows if r not in used_rows) if loops else ())]
        self.spare = [
            with_partials(r, analysis.mechanism.speeds)
            for r in spare
            if isinstance(r.source, LoopRow)
        ]  # redundant: what they carry is open

    def outputs(self) -> list[OutputChannel]:
        """Forces and moments on every body from its joint, and of every loop; multipliers of other
        constraints."""
        joints = [self._joint_reaction(b.index) for b in self.bodies]
        rows = [r for r in (*self.rows, *self.spare) if isinstance(r.source, LoopRow)]
        joints += [self._loop_reaction(loop) for loop in dict.fromkeys(r.source.loop for r in rows)]
        outputs = [
            x
            for joint, (values, open_ones) in zip(
                joints, self._minimum_norm_values(joints), strict=True
            )
            for x in _component_outputs(joint.name, joint.words, values, open_ones)
        ]
        for i, row in enumerate(self.rows):
            if not isinstance(row.source, LoopRow):
                label = f"multiplier of {row.name}"
                outputs.append(
                    OutputChannel(
                        f"lambda{i + 1}", label, self.multipliers[i], self._multiplier_units(row)
                    )
                )
        if marked := [x.name for x in outputs if INDETERMINATE in x.label]:
            note = (
                f"redundant joints leave reactions indeterminate: {', '.join(marked)}. The "
                f"values given are those of"
                " least norm (sum of squares of forces and moments of all joints)"
            )
            self.analysis.notes[:] = [
                x for x in self.analysis.notes if not x.startswith("redundant joints leave")
            ]
            self.analysis.notes.append(note)
        return outputs

    def _multiplier_units(self, row: ConstraintRow) -> str | None:
        """A torque or force where the constraint holds a speed itself, as u(crank) - W; unknown
        otherwise."""
        driven = [u for u, a in row.partials if a in (ONE, MINUS_ONE)]
        is_rotation = [b.joint.turns(u) for u in driven[:1] for b in self.bodies if u in b.joint.u]
        return ("F*L" if is_rotation[0] else "F") if is_rotation else None

    # ---- what constraints have to provide

    def _unbalanced_wrench(self, index: int) -> tuple[Vector, Vector]:
        """Force, and moment about the mass centre, that a body's motion asks for and loads do not
        provide."""
        k, b = self.k, self.bodies[index]
        cm = BodyPoint("", index, b.cm)
        force = (k.derivative(k.velocity(cm)) - self.analysis.gravity) * b.mass
        moment = k.derivative(angular_momentum(k, index))
        for load in self.analysis.loads:
            acting = load.direction * load.magnitude
            for body, sign, point in load.action_and_reaction:
                if body != index:
                    continue
                if load.is_moment:
                    moment = moment - acting * sign
                elif point is not None:
                    force = force - acting * sign
                    moment = moment - cross(k.position(point) - k.position(cm), acting * sign)
        for driven_body in self.bodies:
            if driven_body.armature is not ZERO and index in (
                driven_body.index,
                driven_body.parent,
            ):
                rotor_force, rotor_moment = self._geared_rotor_wrench(driven_body)
                sign = 1 if driven_body.index == index else -1
                force = force - rotor_force * sign
                moment = (
                    moment
                    - (
                        rotor_moment
                        + cross(k.origin[driven_body.index] - k.position(cm), rotor_force)
                    )
                    * sign
                )
        return force, moment

    def _geared_rotor_wrench(self, b: Body) -> tuple[Vector, Vector]:
        """Force through its origin, and moment, on a body whose joint is driven by a rotor behind a
        gear."""
        k = self.k
        ((u, axis, is_rotation),) = b.joint.relative_axes(k.frames[b.parent], k.frames[b.index])
        rate = derivative(k.speed.get(u, u), k.symbol_derivative)
        load = axis * mul(MINUS_ONE, b.armature, rate)
        return (Vector({}), load) if is_rotation else (load, Vector({}))

    def _multipliers(self) -> list[Expr]:
        """J' lambda = h for the dependent speeds, rows and speeds in the order of their
        elimination."""
        rows = [
            {i: a for i, row in enumerate(self.rows) for u, a in row.partials if u is s}
            for s in self.pivots
        ]
        right_side = [self._unbalanced_generalized_force(s) for s in self.pivots]
        return solve_rows(rows, right_side, range(len(rows)), self.work)[0]

    def _unbalanced_generalized_force(self, s: Symbol) -> Expr:
        """The generalized force that is missing for a speed."""
        terms: list[Expr] = []
        for components, speeds, index, kind in self._motions:
            if s in speeds:
                partials = [partial(x, s) for x in components]
                if any(x is not ZERO for x in partials):
                    load_components = self.k.frames[index].coordinates(self.missing[index][kind])
                    terms += [mul(a, x) for a, x in zip(partials, load_components, strict=True)]
        return self.work.bind(add(*terms)) if terms else ZERO

    @cached_property
    def _motions(self) -> list[tuple[Sequence[Expr], set[Symbol], int, int]]:
        """Velocities of mass centres and angular velocities in axes of the body, with the symbols
        in them, and which of the two of which body."""
        motions: list[tuple[Sequence[Expr], set[Symbol], int, int]] = []
        for b in self.bodies:
            velocity = self.plain.velocity(BodyPoint("", b.index, b.cm))
            for kind, motion in enumerate((velocity, self.plain.w[b.index])):
                components = self.plain.frames[b.index].coordinates(motion)
                motions.append((components, set(find_symbols(components)), b.index, kind))
        return motions

    # ---- channels

    def _joint_reaction(self, index: int) -> _JointReaction:
        """Force and moment on a body from its parent, about its origin, along its axes."""
        k, b = self.k, self.bodies[index]
        below = self._outboard_bodies(index)
        origin = k.origin[index]
        force, moment = Vector({}), Vector({})
        for i in below:
            F, M = self.missing[i]
            force += F
            moment = moment + M + cross(k.position(BodyPoint("", i, self.bodies[i].cm)) - origin, F)
        axes = k.frames[index].axes
        provided_loads = self._constraint_contribution(index, below)
        values = [dot(v, e) for v in (force, moment) for e in axes]
        values = [
            self.work.bind(sub(x, provided))
            for x, provided in zip(values, provided_loads, strict=True)
        ]
        free = self._free_components(index)

        def effect(row: ConstraintRow) -> list[Expr]:
            virtual_work = self._constraint_virtual_motion(row, index, below) or [ZERO] * 6
            return [ZERO if i in free else neg(x) for i, x in enumerate(virtual_work)]

        components = [ZERO if i in free else x for i, x in enumerate(values)]
        return _JointReaction(
            b.name, f"on {b.label or b.name} from its parent, at its joint", components, effect
        )

    def _free_components(self, index: int) -> set[int]:
        """The components that a joint cannot carry, unless a constraint drives it."""
        b = self.bodies[index]
        driven = {u for row in self.rows if row.source is None for u, _ in row.partials}
        return b.joint.free_components if driven.isdisjoint(b.speeds) else set()

    def _outboard_bodies(self, index: int) -> dict[int, None]:
        """A body and all that hang on it, in order."""
        below = {index: None}
        for b in self.bodies:
            if b.parent in below:
                below[b.index] = None
        return below

    def _constraint_contribution(self, index: int, below: Collection[int]) -> list[Expr]:
        """What loops and speed constraints provide along and about the axes of a joint,
        elsewhere."""
        provided_loads = [ZERO] * 6
        for row, multiplier in zip(self.rows, self.multipliers, strict=True):
            if (virtual_work := self._constraint_virtual_motion(row, index, below)) is None:
                continue
            provided_loads = [
                x if a is ZERO else add(x, mul(multiplier, a))
                for x, a in zip(provided_loads, virtual_work, strict=True)
            ]
        return provided_loads

    def _constraint_virtual_motion(
        self, row: ConstraintRow, index: int, below: Collection[int]
    ) -> list[Expr] | None:
        """How a constraint changes with small moves of all below a joint; None for one that drives
        joints."""
        if row.source is None:
            return None
        if isinstance(row.source, LoopRow):
            return self._virtual_loop(row.source, index, below)
        return self._virtual_formula(row.source, index, below)

    def _virtual_loop(self, row: LoopRow, index: int, below: Collection[int]) -> list[Expr]:
        """How a loop's equation changes with small moves of all below a joint: three along axes,
        three about."""
        if not any(i in below for i in self._bodies_of(row)):
            return [ZERO] * 6
        axes = [as_vector(e) for e in self.k.frames[index].axes]
        return [
            self._loop_row_variation(row, index, below, e, turning)
            for turning in (False, True)
            for e in axes
        ]

    def _loop_row_variation(
        self, row: LoopRow, index: int, below: Collection[int], axis: Vector, turning: bool
    ) -> Expr:
        k = self.k

        def moved(p: BodyPoint) -> Vector:
            if p.body not in below:
                return Vector({})
            return cross(axis, k.position(p) - k.origin[index]) if turning else axis

        def rotate_fixed_vector(v: Vector, body: int | None) -> Vector:
            """The change of a vector fixed in a body; without one, in those that its unit vectors
            belong to."""
            if not turning:
                return Vector({})
            if body is not None:
                return cross(axis, v) if body in below else Vector({})
            return cross(axis, self._fixed_in(below, v, row))

        if row.turns and row.b is not None:
            return add(
                dot(rotate_fixed_vector(row.a, row.p.body), row.b),
                dot(row.a, rotate_fixed_vector(row.b, row.r.body)),
            )
        relative_shift = moved(row.p) - moved(row.r)
        if row.b is None:
            return mul(TWO, dot(row.a, relative_shift))
        return add(
            dot(relative_shift, row.b),
            dot(row.a, rotate_fixed_vector(row.b, None if row.directed else row.r.body)),
        )

    def _bodies_of(self, row: LoopRow) -> set[int]:
        """The bodies that a loop's equation is about: those of its points and of the direction that
        was given."""
        unit_vectors = row.b.terms if row.directed and row.b is not None else ()
        return {row.p.body, row.r.body, *(self._unit_vector_body(e, row) for e in unit_vectors)}

    def _fixed_in(self, bodies: Collection[int], v: Vector, row: LoopRow) -> Vector:
        """The part of a vector whose unit vectors belong to these bodies."""
        return Vector(
            {e: c for e, c in v.terms.items() if self._unit_vector_body(e, row) in bodies}
        )

    def _unit_vector_body(self, e: UnitVector, row: LoopRow) -> int:
        """The body of a unit vector. One that several bodies share, as they do not turn against
        each other about it, belongs to that of a point of the loop, if it is one of them."""
        frame_body = self.body_of.get(id(e.frame), -1)
        return next((i for i in (row.p.body, row.r.body) if e in self.k.frames[i].axes), frame_body)

    def _virtual_formula(self, formula: Any, index: int, below: Collection[int]) -> list[Expr]:
        """The same for a speed constraint, whose formula is read once more with auxiliary speeds of
        these bodies."""
        k = self.plain
        extra = [Symbol(f"auxiliary {i}", "speed") for i in range(6)]
        axes = k.frames[index].axes
        slide = Vector(dict(zip(axes, extra[:3], strict=True)))
        rotation = Vector(dict(zip(axes, extra[3:], strict=True)))
        w = {**k.w, **{i: k.w[i] + rotation for i in below}}

        def moved(i: int) -> LazyVelocity:
            arm = k.origin[i] - k.origin[index]
            return LazyVelocity(lambda v: v + slide + cross(rotation, arm), k.v_origin[i])

        v = {i: moved(i) for i in below}
        moving = replace(k, w=w, v_origin={**k.v_origin, **v})
        value = FormulaLanguage(self.language, moving, self.analysis.points, {}).to_scalar(formula)
        return [partial(value, a) for a in extra]

    def _loop_reaction(self, name: str) -> _JointReaction:
        """Force and moment of a loop on the body of its first point, about that point, along that
        body's axes."""
        loop_rows = [
            r.source
            for r in (*self.rows, *self.spare)
            if isinstance(r.source, LoopRow) and r.source.loop == name
        ]
        body = loop_rows[0].p.body
        axes = self.k.frames[body].axes

        def effect(row: ConstraintRow) -> list[Expr]:
            if not isinstance(row.source, LoopRow) or row.source.loop != name:
                return [ZERO] * 6
            return [dot(v, e) for v in self._multiplier_wrench(row.source, body) for e in axes]

        values = [ZERO] * 6
        for row, multiplier in zip(self.rows, self.multipliers, strict=True):
            values = [
                x if a is ZERO else add(x, mul(multiplier, a))
                for x, a in zip(values, effect(row), strict=True)
            ]
        return _JointReaction(
            name,
            f"of {name} on the body of its first point",
            [self.work.bind(x) for x in values],
            effect,
        )

    def _multiplier_wrench(self, row: LoopRow, body: int) -> tuple[Vector, Vector]:
        """Force and moment on the body of the first point of a loop for a multiplier of one."""
        if row.turns and row.b is not None:
            return Vector({}), cross(row.a, row.b)
        if row.b is None:
            return row.a * 2, Vector({})
        # a force along what turns with this body acts at the other end
        return row.b, cross(self._fixed_in([body], row.b, row), row.a) if row.directed else Vector(
            {}
        )

    # ---- redundant joints

    def _minimum_norm_values(
        self, joints: Sequence[_JointReaction]
    ) -> list[tuple[list[Expr], set[int]]]:
        """Values of joints, and which of them redundant joints leave open.

        Of all values that give the same motion, those whose forces and moments have the least sum
        of squares are taken.
        """
        load_changes = [self._redundant_variation(row, joints) for row in self.spare]
        load_changes = [load_changes[i] for i in _independent_reaction_rows(load_changes)]
        values = [x for joint in joints for x in joint.values]
        right_side = [neg(self._bound_dot(load_change, values)) for load_change in load_changes]
        if any(x is not ZERO for x in right_side):
            rows = [
                {i: self._bound_dot(x, y) for i, y in enumerate(load_changes)} for x in load_changes
            ]
            redundant_loads = solve_rows(rows, right_side, range(len(load_changes)), self.work)[0]
            for z, load_change in zip(redundant_loads, load_changes, strict=True):
                values = [add(x, mul(z, a)) for x, a in zip(values, load_change, strict=True)]
            values = [self.work.bind(x) for x in values]
        open_ones = {
            i for load_change in load_changes for i, a in enumerate(load_change) if a.fingerprint
        }
        joint_indices = [range(6 * j, 6 * j + 6) for j in range(len(joints))]
        return [
            ([values[i] for i in indices], {i % 6 for i in indices if i in open_ones})
            for indices in joint_indices
        ]

    def _bound_dot(self, a: Sequence[Expr], b: Sequence[Expr]) -> Expr:
        return self.work.bind(add(ZERO, *(mul(x, y) for x, y in zip(a, b, strict=True))))

    def _redundant_variation(
        self, row: ConstraintRow, joints: Sequence[_JointReaction]
    ) -> list[Expr]:
        """How all reactions change with what a redundant constraint carries, if the motion stays as
        it is."""
        multiplier_changes: list[Expr] = []
        if row_partials := dict(row.partials):
            lines = [
                {i: a for i, r in enumerate(self.rows) for u, a in r.partials if u is s}
                for s in self.pivots
            ]
            right_side = [row_partials.get(s, ZERO) for s in self.pivots]
            multiplier_changes = solve_rows(lines, right_side, range(len(lines)), self.work)[0]
        load_change = [x for joint in joints for x in joint.effect(row)]
        for r, c in zip(self.rows, multiplier_changes, strict=False):
            if c is not ZERO:
                row_effect = [x for joint in joints for x in joint.effect(r)]
                load_change = [
                    sub(x, mul(c, a)) for x, a in zip(load_change, row_effect, strict=True)
                ]
        return [self.work.bind(x) for x in load_change]


@dataclass(frozen=True)
class _JointReaction:
    """Force and moment of a joint, and how they change with the multiplier of a constraint."""

    name: str
    words: str
    values: list[Expr]
    effect: Callable[[ConstraintRow], list[Expr]]


def _independent_reaction_rows(rows: Sequence[Sequence[Expr]]) -> list[int]:
    """Rows that do not follow from those before them, in a general position."""
    reduced: list[tuple[int, list[int]]] = []
    independent = []
    for i, row in enumerate(rows):
        numbers = [a.fingerprint for a in row]
        for pivot, pivot_row in reduced:
            factor = numbers[pivot]
            numbers = [(x - factor * y) % PRIME for x, y in zip(numbers, pivot_row, strict=True)]
        pivot_column = next((j for j, x in enumerate(numbers) if x), None)
        if pivot_column is not None:
            inverse = pow(numbers[pivot_column], -1, PRIME)
            reduced.append((pivot_column, [x * inverse % PRIME for x in numbers]))
            independent.append(i)
    return independent


def _component_outputs(
    name: str, label_end: str, values: Sequence[Expr], open_ones: Collection[int]
) -> list[OutputChannel]:
    """Three components of a force and three of a moment; those that are always zero are omitted."""
    outputs = []
    for i, value in enumerate(values):
        letter, load_kind, units = ("F", "force", "F") if i < 3 else ("M", "moment", "F*L")
        if value is not ZERO:
            mark = f" ({INDETERMINATE})" if i in open_ones else ""
            label = f"{load_kind} {label_end}, axis {i % 3 + 1}{mark}"
            outputs.append(OutputChannel(f"{letter}{i % 3 + 1}({name})", label, value, units))
    return outputs
