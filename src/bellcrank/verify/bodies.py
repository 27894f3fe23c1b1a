"""Bodies of a description as numbers, and their motion.

In:  a description and values of its parameters (equation units). Out: `ReferenceMechanism`: joints,
masses and the meaning of every coordinate and speed; `ReferenceMotion`: orientation, position and
velocities of all bodies in inertial axes, as jets. Which composite mass centre a speed belongs to
is a matter of form, not of the present values: it is decided once with arbitrary values
(`ReferenceStructure`), so that a length that happens to be zero does not change the speeds. Sayers
(1990), sections 8.1.3 to 8.1.6 and 8.2.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bellcrank.core.units import unit_system
from bellcrank.model.records import BodyRecord, Description, PointRecord
from bellcrank.verify import jets
from bellcrank.verify.formulas import CannotEvaluate, ParameterValues, ScalarEvaluator, name_behind
from bellcrank.verify.jets import Jet, JetBatch, Value, constant_term
from bellcrank.verify.reference_joints import (
    GROUND,
    ZERO,
    E,
    JointReading,
    MovingPose,
    ReferenceJoint,
    ReferencePlainJoint,
    make_reference_joint,
    reference_rotation_about,
)


@dataclass(frozen=True)
class ReferenceStructure:
    """What does not depend on the values of parameters."""

    next_reference: (
        bool  # the default reference axis lies along the rotation axis, so the next one is taken
    )
    fixed: bool  # the composite mass centre is fixed in the parent
    speed_axes: (
        tuple[int, ...] | None
    )  # body axes of absolute translational speeds; None: relative speeds


Structures = dict[str, ReferenceStructure]  # by names of bodies


@dataclass(frozen=True)
class ReferenceBody:
    """One body with its joint."""

    index: int
    name: str
    parent: int
    joint: ReferenceJoint
    cm: Value
    mass: Value
    inertia: Value
    q: slice
    u: slice
    armature: Value


LOCKED = 0.1  # of the volume that three rotation axes span: less is near gimbal lock
Led = tuple[
    Value, Value
]  # what is given from outside to the functions that move a body, and its rate
Place = tuple[int, Value]  # a body and coordinates in it


class ReferenceMechanism:
    """All bodies, parents first, children in order of entry; -1 is the ground."""

    def __init__(
        self,
        description: Description,
        parameters: ParameterValues,
        structure: Structures | None = None,
    ) -> None:
        self.description, self.parameters, self.structure = description, parameters, structure
        self.scalars = ScalarEvaluator(description, parameters)
        self.need_rates: set[Any] = set()  # formulas whose values depend on rates, as met so far
        self.led: dict[int, Led] = {}
        self.fixed: dict[
            str, Value
        ] = {}  # definitions that follow from parameters alone, as met so far
        self.index: dict[str, int] = {}
        self.q_names: list[str] = []
        self.u_names: list[str] = []
        self._drawn: dict[int, tuple[Value, Value]] = {
            -1: (E, ZERO)
        }  # nominal orientations and origins
        self._found: Structures = {}
        self._next_reference: list[bool] = []
        self.bodies = [self._add_body(r) for r in self._topological_order(description.bodies)]
        self._set_composite_centers()
        self.own = slice(
            len(self.q_names), len(self.q_names) + len(description.states)
        )  # states of the user's own
        self.q_names += [z.name for z in description.states]

    @classmethod
    def from_description(
        cls, description: Description, parameters: ParameterValues
    ) -> ReferenceMechanism:
        """The machine with the given values; its structure is found with arbitrary ones."""
        return cls(description, parameters, cls(description, ParameterValues())._found)

    def with_parameter_jet(self, name: str) -> ReferenceMechanism:
        """The same machine with one parameter as a jet that grows at unit rate."""
        values = ParameterValues(self.parameters)
        values[name] = Jet([self.parameters[name], 1.0])  # type: ignore[assignment]
        return ReferenceMechanism(self.description, values, self.structure)

    # ---- reading the records

    @staticmethod
    def _topological_order(records: list[BodyRecord]) -> list[BodyRecord]:
        children: dict[str, list[BodyRecord]] = {}
        for r in records:
            children.setdefault("n" if r.parent is None else name_behind(r.parent), []).append(r)
        order: list[BodyRecord] = []
        stack = list(reversed(children.get("n", [])))
        while stack:
            order.append(stack.pop())
            stack.extend(reversed(children.get(order[-1].name, [])))
        return order

    def _add_body(self, r: BodyRecord) -> ReferenceBody:
        index = len(self.index)
        parent = self.body_index(r.parent)
        self.index[r.name] = index
        slides = tuple(self._unit_axis(a) for a in _as_axis_list(r.translate))
        euler = isinstance(r.rotate, str) and r.rotate not in ("x", "y", "z")
        rotate_axes = [] if euler else _as_axis_list(r.rotate)
        bare = not rotate_axes and not euler and r.rotation_axis is not None
        axes = tuple(self._unit_axis(a) for a in ([r.rotation_axis] if bare else rotate_axes))
        C, next_reference = self._nominal_rotation(r, axes)
        R_A, p_A = self._drawn[parent]
        joint_at = self._to_body_coordinates(r.joint_at, r.coordinates_of, parent)
        self._drawn[index] = R_A @ C, p_A + R_A @ joint_at
        joint: ReferenceJoint = ReferencePlainJoint(slides, axes, euler, C, joint_at)
        if r.joint is not None:
            metre = float(
                unit_system(self.description.units).parse_unit("m").to_equation_units(1.0)
            )
            reading = JointReading(joint_at, metre, self._unit_axis, self.scalars.evaluate)
            joint = make_reference_joint(r.joint, reading)
        q = slice(len(self.q_names), len(self.q_names) + joint.n_q)
        u = slice(len(self.u_names), len(self.u_names) + joint.n_u)
        self.q_names += _reference_state_names("q", r.name, joint.n_q)
        self.u_names += _reference_state_names("u", r.name, joint.n_u)
        self._next_reference.append(next_reference)
        cm = self._to_body_coordinates(r.cm, r.coordinates_of, index)
        mass = (
            self.scalars.scalar_by_name(f"{r.name}m")
            if r.mass is None
            else self.scalars.evaluate(r.mass)
        )
        return ReferenceBody(
            index,
            r.name,
            parent,
            joint,
            cm,
            mass,
            self._inertia(r),
            q,
            u,
            self.scalars.evaluate(r.armature),
        )

    def body_index(self, handle: Any) -> int:
        """The place of a body by its handle or name; None is the ground."""
        name = "n" if handle is None else name_behind(handle)
        if name != "n" and name not in self.index:
            raise CannotEvaluate(f"no body has the name '{name}'")
        return self.index.get(name, -1)

    def _unit_axis(self, axis: Any) -> Value:
        """Unit vector of an axis by number or name, or of three components."""
        if isinstance(axis, int):
            return E[axis - 1]
        if isinstance(axis, str):
            return E["xyz".index(axis.strip())]
        v = self.scalars.triple(axis)
        return v / jets.norm(v)

    def _inertia(self, r: BodyRecord) -> Value:
        inertia = r.inertia
        if inertia is None:
            entries = [f"{r.name}i{min(i, j)}{max(i, j)}" for i in (1, 2, 3) for j in (1, 2, 3)]
            flat = [self.scalars.scalar_by_name(e) for e in entries]
            return jets.stack_jets([jets.stack_jets(flat[i : i + 3]) for i in (0, 3, 6)])
        if np.ndim(inertia) == 0:  # zero
            return np.zeros((3, 3))
        if all(np.ndim(row) == 0 for row in inertia):
            moments = [self.scalars.evaluate(x) for x in inertia]
            return jets.stack_jets([m * e for m, e in zip(moments, E, strict=True)])
        return jets.stack_jets([self.scalars.triple(row) for row in inertia])

    def _to_body_coordinates(self, coordinates: Any, coordinates_of: Any, body: int) -> Value:
        """Coordinates in a body; with `coordinates_of` they are given along its nominal axes, from
        its origin."""
        v = self.scalars.triple(coordinates)
        if coordinates_of is None:
            return v
        (R, p), (R_C, p_C) = self._drawn[body], self._drawn[self.body_index(coordinates_of)]
        return R.T @ (p_C + R_C @ v - p)

    def _nominal_rotation(self, r: BodyRecord, axes: tuple[Value, ...]) -> tuple[Value, bool]:
        """R_AB at zero coordinates: body axis k along `rotation_axis`, the next one as near the
        reference as can be."""
        if r.orientation is not None:
            return self._rotation_matrix(r.orientation), False
        if r.rotation_axis is None and r.reference_axis is None:
            return E, False
        first = axes[0] if axes else E[2]
        k = _reference_coordinate_axis(jets.constant_term(first))
        axis = first if r.rotation_axis is None else self._unit_axis(r.rotation_axis)
        if k is None:  # an axis that is no axis of the new body stands alone: both frames agree
            return E, False
        i, j = (k + 1) % 3, (k + 2) % 3
        uses_next = self.structure[r.name].next_reference if self.structure else None
        reference: Value = E[i]
        if r.reference_axis is not None:
            reference, uses_next = self._unit_axis(r.reference_axis), False
        elif uses_next is None:
            uses_next = bool(np.linalg.norm(np.cross(jets.constant_term(axis), E[i])) < 1e-9)
        if uses_next:
            reference = E[j]
        columns: list[Value] = [None, None, None]
        b_j = jets.cross(axis, reference)
        columns[k], columns[j] = axis, b_j / jets.norm(b_j)
        columns[i] = jets.cross(columns[j], axis)
        return jets.stack_jets(columns).T, bool(uses_next)

    def _rotation_matrix(self, rotation: Any) -> Value:
        """R_AB of a matrix, or of turns one after another."""
        if len(rotation) == 3 and all(np.ndim(row) > 0 and len(row) == 3 for row in rotation):
            R = jets.stack_jets([self.scalars.triple(row) for row in rotation])
            if isinstance(R, Jet):
                return R
            U, _, Vt = np.linalg.svd(R)
            return U @ Vt
        R = E
        is_sequence = np.ndim(rotation[0]) == 1 and len(rotation[0]) == 2
        for axis, angle in rotation if is_sequence else [rotation]:
            R = R @ reference_rotation_about(self._unit_axis(axis), self.scalars.evaluate(angle))
        return R

    # ---- composite bodies, and the point whose velocity the speeds describe

    def _set_composite_centers(self) -> None:
        total: dict[int, tuple[Value, Value]] = {}  # composite mass and mass centre
        for b in reversed(self.bodies):
            mass, moment = b.mass, b.cm * b.mass
            for child in self.bodies:
                if child.parent == b.index and self._found[child.name].fixed:
                    m, c = total[child.index]
                    mass, moment = mass + m, moment + (child.joint.at + child.joint.C @ c) * m
            massless = bool(np.all(jets.constant_term(mass) == 0))
            cm = ZERO if massless else moment / mass
            total[b.index] = mass, cm
            key, joint = b.name, b.joint
            structure = self.structure[key] if self.structure else None
            if structure is None:
                fixed = joint.fixes_mass_center(massless, jets.constant_term(cm))
                structure = ReferenceStructure(
                    self._next_reference[b.index], fixed, joint.speed_axes(b.parent < 0)
                )
            self._found[key] = structure
            joint.absolute, joint.speed_point = (
                structure.speed_axes,
                ZERO if structure.speed_axes is None else cm,
            )

    # ---- points and motions

    def point_of_record(self, record: PointRecord) -> Place:
        """Body and coordinates in it of a point of the description."""
        body = self.body_index(record.body)
        return body, self._to_body_coordinates(record.at, record.coordinates_of, body)

    # ---- joints given by functions

    def state_indices(self, b: ReferenceBody, letter: str = "q") -> list[int]:
        """Places of the coordinates (or speeds) that move a body."""
        if b.joint.follows is None:
            state_range: slice = getattr(b, letter)
            return list(range(state_range.start, state_range.stop))
        bodies = [self.bodies[self.index[name]] for name, _ in b.joint.follows]
        return [
            getattr(leader, letter).start + i
            for leader, (_, i) in zip(bodies, b.joint.follows, strict=True)
        ]

    def joint_arguments(self, b: ReferenceBody, q: np.ndarray) -> list[Value]:
        """What moves a body: coordinates, and what is given from outside."""
        led = [self.led.get(b.index, (0.0, 0.0))[0]] if b.joint.given is not None else []
        return [*(q[i] for i in self.state_indices(b)), *led]

    def state_scales(self, letter: str, length: float) -> np.ndarray:
        """What counts as one for every coordinate ("q") or speed ("u") of a joint: a radian, or the
        given length."""
        scales = np.ones(len(getattr(self, f"{letter}_names")))
        for b in self.bodies:
            start = getattr(b, letter).start
            scales[start : start + b.joint.lengths] = length
        return scales

    @cached_property
    def coordinate_reach(self) -> dict[int, float]:
        """How far the coordinates that move guided bodies may be from zero, half of what the
        functions allow."""
        return {
            i: x
            for b in self.bodies
            for i, x in zip(self.state_indices(b), b.joint.coordinate_reach(), strict=False)
        }

    def with_prescribed_values(self, scalars: ScalarEvaluator) -> ReferenceMechanism:
        """The same machine at an instant: what moves its bodies from outside has the values of
        these scalars."""
        values = {
            b.index: scalars.evaluate(b.joint.given)
            for b in self.bodies
            if b.joint.given is not None
        }
        return self._with_prescribed(
            {
                i: (r, jets.jet_time_derivative(r) if isinstance(r, Jet) else 0.0)
                for i, r in values.items()
            }
        )

    def _with_prescribed(self, led: dict[int, Led]) -> ReferenceMechanism:
        if not led:
            return self
        machine = copy.copy(self)
        machine.led = led
        return machine

    @property
    def without_second_rates(self) -> ReferenceMechanism:
        """The same machine, in which what leads it has a value and a rate, but no change of
        these."""
        return self._with_prescribed(
            {i: (_drop_rates(r), _drop_rates(rate)) for i, (r, rate) in self.led.items()}
        )

    @property
    def with_prescribed_at_rest(self) -> ReferenceMechanism:
        """The same machine, in which what leads it stands still."""
        return self._with_prescribed({i: (_drop_rates(r), 0.0) for i, (r, _) in self.led.items()})

    @property
    def is_prescribed_moving(self) -> bool:
        """Does anything move it from outside?"""
        return any(np.any(constant_term(rate) != 0.0) for _, rate in self.led.values())

    def motion(self, q: Value, u: Value) -> ReferenceMotion:
        """Orientation, position and velocities for coordinates and speeds as they are given."""
        return ReferenceMotion(self if isinstance(q, Jet) else self.without_second_rates, q, u)

    @cached_property
    def nominal_motion(self) -> ReferenceMotion:
        """The motion of nothing moved: everything stands as it was drawn."""
        unmoved = copy.copy(self)
        unmoved.led = {}
        return ReferenceMotion(unmoved, self.nominal_q, np.zeros(len(self.u_names)))

    @cached_property
    def with_random_parameters(self) -> ReferenceMechanism:
        """The same machine with arbitrary values of the parameters."""
        return ReferenceMechanism(self.description, ParameterValues(), self.structure)

    @cached_property
    def nominal_q(self) -> np.ndarray:
        """All coordinates zero; Euler parameters (1, 0, 0, 0)."""
        q = np.zeros(len(self.q_names))
        for b in self.bodies:
            b.joint.set_reference_values(q[b.q])
        return q

    def motion_with_rates(self, q: np.ndarray, u: Jet) -> ReferenceMotion:
        """The motion that starts at q with speeds u: the rates of q follow, one order after the
        other.

        Those of user-defined states are left open (not a number): formulas that need them find
        them.
        """
        c, jet_type = np.full((len(u) + 1, *q.shape), np.nan), type(u)
        c[0] = q
        for b in self.bodies:
            if b.joint.has_trivial_rates:
                c[1:, b.q] = u.c[:, b.u] / np.arange(1, len(u) + 1).reshape(-1, *(1,) * q.ndim)
        for n in range(1, len(u) + 1) if self._quasi_speed_bodies else ():
            motion = ReferenceMotion(
                self, jet_type(c[:n]), jet_type(u.c[:n]), self._quasi_speed_carriers
            )
            for b in self._quasi_speed_bodies:
                c[n, b.q] = (
                    jets.coefficients(
                        jets.stack_jets(motion.coordinate_derivatives(b)),
                        n,
                        jet_type is jets.JetBatch,
                    )[n - 1]
                    / n
                )
        return ReferenceMotion(self, jet_type(c), u)

    @cached_property
    def _quasi_speed_bodies(self) -> list[ReferenceBody]:
        """Bodies whose rates of coordinates are not their speeds."""
        return [b for b in self.bodies if not b.joint.has_trivial_rates]

    @cached_property
    def _quasi_speed_carriers(self) -> list[ReferenceBody]:
        """These, and all that carry them, in order."""
        carriers: set[int] = set()
        for b in reversed(self.bodies):
            if b.index in carriers or not b.joint.has_trivial_rates:
                carriers |= {b.index, b.parent}
        return [b for b in self.bodies if b.index in carriers]


class ReferenceMotion:
    """Of all bodies, or of some with those that carry them; -1: the ground. Columns of speeds are
    several motions at once, and so are those of velocities."""

    def __init__(
        self,
        machine: ReferenceMechanism,
        q: Value,
        u: Value,
        bodies: Sequence[ReferenceBody] | None = None,
    ) -> None:
        self.machine, self.q, self.u = machine, q, u
        n_columns = None if isinstance(u, Jet) or u.ndim == 1 else u.shape[1]
        zero_velocity = ZERO if n_columns is None else np.zeros((3, n_columns))
        self.of: dict[int, MovingPose] = {
            -1: GROUND if n_columns is None else MovingPose(E, ZERO, zero_velocity, zero_velocity)
        }
        for b in machine.bodies if bodies is None else bodies:
            z, rates = q[b.q], u[b.u]
            if b.joint.follows is not None:
                z, rates = (
                    [q[i] for i in machine.state_indices(b)],
                    [u[i] for i in machine.state_indices(b, "u")],
                )
            if b.joint.given is not None:
                led = machine.led.get(b.index, (0.0, 0.0))
                z, rates = (
                    [*z, led[0]],
                    [*rates, led[1] if n_columns is None else np.full(n_columns, led[1])],
                )
            self.of[b.index] = b.joint.motion(z, rates, self.of[b.parent])
        self.R, self.p, self.w, self.v = (
            {i: getattr(pose, x) for i, pose in self.of.items()} for x in "Rpwv"
        )

    def column(self, i: int) -> ReferenceMotion:
        """One of several motions."""
        return self._copy_with(
            self.u[:, i],
            *({b: x[:, i] for b, x in velocities.items()} for velocities in (self.w, self.v)),
        )

    def combine_columns(self, weights: np.ndarray) -> ReferenceMotion:
        """Sums of several motions, one for each column of weights."""
        return self._copy_with(
            self.u @ weights,
            *({b: x @ weights for b, x in velocities.items()} for velocities in (self.w, self.v)),
        )

    def _copy_with(
        self, u: np.ndarray, w: dict[int, Value], v: dict[int, Value]
    ) -> ReferenceMotion:
        motion = copy.copy(self)
        motion.u, motion.w, motion.v = u, w, v
        motion.of = {b: MovingPose(self.R[b], self.p[b], w[b], v[b]) for b in self.of}
        return motion

    def split_states(
        self, machines: Sequence[ReferenceMechanism], motions: int = 0
    ) -> list[ReferenceMotion]:
        """The motions of several states, each with the machine of its own; several motions in each,
        if so many follow one another, all states in each."""
        split_motions = [copy.copy(self) for _ in machines]
        is_constant, count = len(self.q) == 1, len(machines)

        def parts(x: Value, moving: bool) -> Sequence[Any]:
            if not isinstance(x, Jet):
                constant = (
                    np.repeat(x[:, None], motions, axis=1)
                    if moving and motions and x.ndim == 1
                    else x
                )
                return [constant] * count
            c = np.broadcast_to(x.c, (*x.c.shape[:-1], count * max(motions, 1)))
            c = c.reshape(*c.shape[:-1], -1, count) if moving and motions else c[..., None, :count]
            arrays = np.ascontiguousarray(np.moveaxis(c, -1, 0))
            arrays = arrays if moving and motions else arrays[..., 0]
            return list(arrays[:, 0]) if is_constant else [Jet(y) for y in arrays]

        for name, moving in (("q", False), ("u", True)):
            for motion, x in zip(split_motions, parts(getattr(self, name), moving), strict=True):
                setattr(motion, name, x)
        for name, moving in (("R", False), ("p", False), ("w", True), ("v", True)):
            columns = {b: parts(x, moving) for b, x in getattr(self, name).items()}
            for i, motion in enumerate(split_motions):
                setattr(motion, name, {b: column[i] for b, column in columns.items()})
        for machine, motion in zip(machines, split_motions, strict=True):
            motion.machine = machine.without_second_rates if is_constant else machine
            motion.of = {
                b: MovingPose(motion.R[b], motion.p[b], motion.w[b], motion.v[b]) for b in self.of
            }
        return split_motions

    def position(self, body: int, offset: Value) -> Value:
        return self.p[body] + self.R[body] @ offset

    def relative_position(self, p: Place, r: Place) -> Value:
        """From r to p."""
        return self.position(*p) - self.position(*r)

    def velocity(self, body: int, offset: Value) -> Value:
        return self.v[body] + jets.cross(self.w[body], self.R[body] @ offset)

    def coordinate_rates(self) -> Value:
        """q' of the bodies that produces these velocities, joint by joint."""
        rates: list[Value] = []
        for b in self.machine.bodies:
            rates += self.coordinate_derivatives(b)
        return jets.stack_jets(rates) if rates else np.zeros(0)

    def coordinate_derivatives(self, b: ReferenceBody) -> list[Value]:
        """q' of one body."""
        return b.joint.rates(self.q[b.q], self.u[b.u], self.of[b.parent], self.of[b.index])

    def gimbal_locked_bodies(self) -> list[str]:
        """Bodies in gimbal lock, or near it: their angles do not determine how they turn."""
        return [
            b.name
            for b in self.machine.bodies
            if not b.joint.gimbal_lock_distance(self.q[b.q]) > LOCKED
        ]


def _drop_rates(x: Value) -> Value:
    return x if isinstance(x, JetBatch) else constant_term(x)


def presolve_linkages(states: Iterable[tuple[ReferenceMechanism, np.ndarray]]) -> None:
    """Solves the linkages of many states at once; the motions of each may be asked for later."""
    requests: dict[int, tuple[ReferenceJoint, list[tuple[float, ...]]]] = {}
    for machine, q in states:
        for b in machine.bodies:
            values = tuple(float(constant_term(x)) for x in machine.joint_arguments(b, q))
            requests.setdefault(id(b.joint), (b.joint, []))[1].append(values)
    for joint, arguments in requests.values():
        joint.presolve(arguments)


def _as_axis_list(axes: Any) -> list[Any]:
    """A bare axis, one vector, or several axes, as a list."""
    if isinstance(axes, int) or (isinstance(axes, str) and axes in ("x", "y", "z")):
        return [axes]
    if isinstance(axes, str):
        raise CannotEvaluate(f"{axes!r} is no axis")
    entries = [] if axes is None else list(axes)
    numbers = [isinstance(a, int | str) and a in (1, 2, 3, "x", "y", "z") for a in entries]
    vectors = [hasattr(a, "__len__") and not isinstance(a, str) for a in entries]
    if len(entries) == 3 and not all(n or v for n, v in zip(numbers, vectors, strict=True)):
        return [tuple(entries)]
    return entries


def _reference_coordinate_axis(v: np.ndarray) -> int | None:
    return next((k for k in range(3) if v[k] == 1.0), None)


def _reference_state_names(letter: str, body: str, count: int) -> list[str]:
    return (
        [f"{letter}({body})"] if count == 1 else [f"{letter}({body},{i + 1})" for i in range(count)]
    )
