"""How a chain is solved: bodies placed one after another from the base, the rest of the joints as
closing rows.

In:  a `Chain`. Out: `SolutionPlan`: for every body the joint that places it (with its unknowns),
the rows that close the loops, and how the inputs enter. A body that no joint reaches is placed
freely. Rotations without a fixed axis are carried by Euler parameters and changed by small
rotations in base axes, so there is no singular attitude.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from bellcrank.linkage.chain import (
    BASE,
    JOINT_DOF,
    Chain,
    ChainInput,
    ChainJoint,
    HardPoint,
    Point,
    distance,
    unit_vector,
)
from bellcrank.linkage.vector_jets import (
    NULL,
    UNITS,
    Mat,
    Scalar,
    ScalarJet,
    Vec,
    VectorJet,
    add_jets3,
    constant_vector,
    cross_jets3,
    dot_product,
    euler_parameter_rates,
    is_zero_everywhere,
    matrix_product,
    matrix_times_vector,
    multiply,
    quaternion_matrix,
    rotation_about_axis,
    scale_jet3,
)
from bellcrank.program.implicit_function import StateUpdate
from bellcrank.symbolic.expr import Expr, cos, sin

Array = np.ndarray[Any, Any]

MIRROR = np.array([1.0, -1.0, 1.0])  # of places and directions; of rotations the opposite


@dataclass(frozen=True)
class JointStep:
    """One part of a placing joint: hinge, slide (about or along `axis`, drawn), ball or free."""

    kind: str
    axis: Point = (0.0, 0.0, 0.0)
    unknown: int = 0  # first of its unknowns
    place: int = 0  # first of its numbers in the state


@dataclass(frozen=True)
class BodyPlacement:
    """How a body is placed: from a parent, at a drawn point (the body's origin), by steps."""

    body: str
    parent: str
    origin: Point
    steps: tuple[JointStep, ...]


@dataclass(frozen=True)
class StateInput:
    """An input that is a number of the state: state = drawn + sign * input."""

    unknown: int
    place: int
    sign: float
    drawn: float


@dataclass
class BodyFrame:
    """Motion of a body: rotation, slopes and rates of the rotation, origin."""

    R: Mat
    turn: dict[int, Vec]
    w: tuple[Vec, ...]
    alpha: tuple[Vec, ...]
    origin: VectorJet
    drawn: Point


@dataclass
class SolutionPlan:
    """The solution plan of a chain. State: angles (rad), lengths (m), Euler parameters; unknowns:
    their rates."""

    chain: Chain
    placings: list[BodyPlacement]
    names: list[str]  # of the closing rows, without inputs
    closure_equations: list[Callable[[BodyFrames], list[ScalarJet]]]
    unknowns: int
    size: int  # of the state
    drawn: list[float]  # the state as drawn
    inputs: list[StateInput | None] = field(default_factory=list)  # None: a row of its own
    lengths: dict[str, float] = field(default_factory=dict)

    @property
    def free_unknowns(self) -> list[int]:
        """Unknowns that are solved for."""
        prescribed = {k.unknown for k in self.inputs if k is not None}
        return [i for i in range(self.unknowns) if i not in prescribed]

    @cached_property
    def state_updates(self) -> tuple[StateUpdate, ...]:
        """How the unknowns change the state."""
        updates = []
        for step in (s for placing in self.placings for s in placing.steps):
            k, s = step.unknown, step.place
            if step.kind == "free":
                updates += [StateUpdate("add", k + i, s + i) for i in range(3)]
                k, s = k + 3, s + 3
            updates.append(StateUpdate("add" if step.kind in ("hinge", "slide") else "turn", k, s))
        return tuple(updates)

    def mirror_signs(self, other: SolutionPlan) -> Array:
        """Signs that turn states of `other`, the plan of the mirror image (y changes sign), into
        states of this one."""
        signs = np.ones(self.size)
        for ours, theirs in zip(self.placings, other.placings, strict=True):
            for step, twin in zip(ours.steps, theirs.steps, strict=True):
                s = step.place
                if step.kind in ("hinge", "slide"):  # along the image of an axis, or against it
                    image = MIRROR if step.kind == "slide" else -MIRROR
                    signs[s] = np.sign(np.dot(image * twin.axis, step.axis))
                    continue
                if step.kind == "free":
                    signs[s : s + 3] = MIRROR
                    s += 3
                signs[s + 1 : s + 4] = -MIRROR
        return signs

    def state_rate(self, state: Array, rates: Array) -> Array:
        """Rates of the numbers of a state from those of the unknowns."""
        derivative = np.zeros_like(state)
        for u in self.state_updates:
            k, s = u.unknown, u.place
            if u.kind == "add":
                derivative[s] = rates[k]
            else:
                derivative[s : s + 4] = euler_parameter_rates(
                    state[s : s + 4], 0.5 * rates[k : k + 3]
                )
        return derivative

    def state_second_derivative(self, state: Array, rates: Array, seconds: Array) -> Array:
        """Second derivatives of the numbers of a state along one direction."""
        second_derivative, moving = self.state_rate(state, seconds), self.state_rate(state, rates)
        for u in self.state_updates:
            if u.kind == "turn":
                k, s = u.unknown, u.place
                second_derivative[s : s + 4] += euler_parameter_rates(
                    moving[s : s + 4], 0.5 * rates[k : k + 3]
                )
        return second_derivative


class BodyFrames:
    """All bodies of a plan at a state, with the motion along given directions."""

    def __init__(self, plan: SolutionPlan, state: Any, rates: Sequence[Any] = ()) -> None:
        self.plan = plan
        self._count = len(rates)
        null_vectors = (NULL,) * self._count
        self.frames = {
            BASE: BodyFrame(
                UNITS,
                {},
                null_vectors,
                null_vectors,
                VectorJet(NULL, {}, null_vectors, null_vectors),
                (0.0, 0.0, 0.0),
            )
        }
        for placing in plan.placings:
            self._place_body(placing, state, rates)

    def point(self, name: str) -> VectorJet:
        p = self.plan.chain.points[name]
        return self.point_drawn_at(p.body, p.at)

    def point_drawn_at(self, body: str, drawn: Point) -> VectorJet:
        """The point of a body that was drawn there."""
        frame = self.frames[body]
        offset = tuple(a - b for a, b in zip(drawn, frame.drawn, strict=True))
        if all(map(is_zero_everywhere, offset)):
            return frame.origin
        return frame.origin + self.direction(body, offset)  # type: ignore[arg-type]

    def direction(self, body: str, drawn: Point) -> VectorJet:
        """A vector fixed in a body."""
        return _body_fixed_vector(
            self.frames[body], matrix_times_vector(self.frames[body].R, constant_vector(drawn))
        )

    def _place_body(self, placing: BodyPlacement, state: Any, rates: Sequence[Any]) -> None:
        parent = self.frames[placing.parent]
        origin = self.point_drawn_at(placing.parent, placing.origin)
        frame = BodyFrame(
            parent.R, dict(parent.turn), parent.w, parent.alpha, origin, placing.origin
        )
        for step in placing.steps:
            k, s = step.unknown, step.place
            if step.kind in ("hinge", "slide"):
                apply_step = self._apply_hinge if step.kind == "hinge" else self._apply_slide
                apply_step(frame, step, state[s], [r[k] for r in rates])
            else:
                if step.kind == "free":
                    frame.origin = VectorJet(
                        (state[s], state[s + 1], state[s + 2]),
                        {k + i: UNITS[i] for i in range(3)},
                        tuple((r[k], r[k + 1], r[k + 2]) for r in rates),
                        (NULL,) * self._count,
                    )
                    k, s = k + 3, s + 3
                frame.R = quaternion_matrix(state[s : s + 4])
                frame.turn = {k + i: UNITS[i] for i in range(3)}
                frame.w = tuple((r[k], r[k + 1], r[k + 2]) for r in rates)
                frame.alpha = (NULL,) * self._count
        self.frames[placing.body] = frame

    def _apply_hinge(
        self, frame: BodyFrame, step: JointStep, angle: Scalar, rate: list[Scalar]
    ) -> None:
        a = matrix_times_vector(frame.R, constant_vector(step.axis))
        joint_rates = [scale_jet3(r, a) for r in rate]
        frame.alpha = tuple(
            add_jets3(b, cross_jets3(w, o))
            for b, w, o in zip(frame.alpha, frame.w, joint_rates, strict=True)
        )
        frame.w = tuple(add_jets3(w, o) for w, o in zip(frame.w, joint_rates, strict=True))
        frame.turn = {**frame.turn, step.unknown: a}
        frame.R = matrix_product(frame.R, rotation_about_axis(step.axis, *_cosine_and_sine(angle)))

    def _apply_slide(
        self, frame: BodyFrame, step: JointStep, s: Scalar, rate: list[Scalar]
    ) -> None:
        a = _body_fixed_vector(frame, matrix_times_vector(frame.R, constant_vector(step.axis)))
        slide_vector = VectorJet(
            scale_jet3(s, a.value),
            {**{k: scale_jet3(s, v) for k, v in a.partials.items()}, step.unknown: a.value},
            tuple(
                add_jets3(scale_jet3(s, w), scale_jet3(r, a.value))
                for w, r in zip(a.rate, rate, strict=True)
            ),
            tuple(
                add_jets3(scale_jet3(s, b), scale_jet3(multiply(2.0, r), w))
                for b, w, r in zip(a.bias, a.rate, rate, strict=True)
            ),
        )
        frame.origin = frame.origin + slide_vector


def _cosine_and_sine(angle: Scalar) -> tuple[Scalar, Scalar]:
    """Cosine and sine of an expression, a number or an array."""
    if isinstance(angle, Expr):
        return cos(angle), sin(angle)
    if isinstance(angle, float):
        return math.cos(angle), math.sin(angle)
    return np.cos(angle), np.sin(angle)


def _body_fixed_vector(frame: BodyFrame, r: Vec) -> VectorJet:
    """A vector that turns with a frame."""
    rate = tuple(cross_jets3(w, r) for w in frame.w)
    bias = tuple(
        add_jets3(cross_jets3(alpha, r), cross_jets3(w, v))
        for alpha, w, v in zip(frame.alpha, frame.w, rate, strict=True)
    )
    return VectorJet(r, {k: cross_jets3(t, r) for k, t in frame.turn.items()}, rate, bias)


# ---- making a plan


def make_plan(chain: Chain) -> SolutionPlan:
    """Chooses the placing joints and writes the closing rows."""
    plan = SolutionPlan(chain, [], [], [], 0, 0, [])
    rack = next((i for i in chain.inputs if i.kind == "rack"), None)
    unplaced_joints = list(chain.joints)
    todo, placed_bodies = list(chain.bodies), {BASE}
    while todo:
        joint = _next_joint(unplaced_joints, placed_bodies)
        if joint is None:
            body = chain.carrier if chain.carrier in todo else todo[0]
            _place_free(plan, body)
        else:
            body = joint.second if joint.first in placed_bodies else joint.first
            _place_by_joint(plan, joint, body, rack)
            unplaced_joints.remove(joint)
        placed_bodies.add(body)
        todo.remove(body)
    for joint in unplaced_joints:
        plan.names += [f"joint '{joint.name}'"] * (6 - JOINT_DOF[joint.kind])
        plan.closure_equations.append(_joint_equations(joint, chain.points[joint.at]))
    for rod in chain.rods:
        a, b = chain.place(rod.first), chain.place(rod.second)
        plan.lengths[rod.name] = rod.length if rod.length is not None else distance(a, b)
        plan.names.append(f"rod '{rod.name}'")
        plan.closure_equations.append(_rod_equation(rod.first, rod.second, plan.lengths[rod.name]))
    plan.inputs = [_state_input(plan, i) for i in chain.inputs]
    return plan


def _next_joint(joints: Sequence[ChainJoint], placed_bodies: set[str]) -> ChainJoint | None:
    """The joint with the fewest degrees of freedom that reaches a further body."""
    candidates = [
        j
        for j in joints
        if (j.first in placed_bodies) != (j.second in placed_bodies) and JOINT_DOF[j.kind] <= 3
    ]
    return min(candidates, key=lambda j: JOINT_DOF[j.kind], default=None)


def _place_free(plan: SolutionPlan, body: str) -> None:
    chain = plan.chain
    centre = chain.points[chain.wheel_centre]
    body_points = [p.at for p in chain.points.values() if p.body == body]
    origin = centre.at if centre.body == body else body_points[0]
    plan.placings.append(
        BodyPlacement(
            body, BASE, origin, (JointStep("free", unknown=plan.unknowns, place=plan.size),)
        )
    )
    plan.unknowns += 6
    plan.size += 7
    plan.drawn += [*origin, 1.0, 0.0, 0.0, 0.0]


def _place_by_joint(
    plan: SolutionPlan, joint: ChainJoint, body: str, rack: ChainInput | None
) -> None:
    parent = joint.first if body == joint.second else joint.second
    origin = plan.chain.place(joint.at)
    axis = None if joint.axis is None else unit_vector(joint.axis)
    if rack is not None and rack.body == body and joint.kind == "prismatic":
        axis = unit_vector(rack.axis)
    steps = []
    for kind, direction in _joint_steps(joint, axis, body):
        steps.append(JointStep(kind, direction, plan.unknowns, plan.size))
        plan.unknowns += 3 if kind == "ball" else 1
        plan.size += 4 if kind == "ball" else 1
        plan.drawn += [1.0, 0.0, 0.0, 0.0] if kind == "ball" else [0.0]
    plan.placings.append(BodyPlacement(body, parent, origin, tuple(steps)))


def _joint_steps(joint: ChainJoint, axis: Point | None, body: str) -> list[tuple[str, Point]]:
    """Hinges, slides and balls that a joint is made of, in order from the parent of `body`."""
    if joint.kind == "spherical":
        return [("ball", (0.0, 0.0, 0.0))]
    assert axis is not None
    if joint.kind == "universal":
        assert joint.axis_2 is not None
        axes = (axis, unit_vector(joint.axis_2))
        return [("hinge", x) for x in (axes if body == joint.second else axes[::-1])]
    if joint.kind == "planar":
        e1, e2 = perpendicular_axes(axis)
        return [("slide", e1), ("slide", e2), ("hinge", axis)]
    slides = [("slide", axis)] if joint.kind in ("prismatic", "cylindrical") else []
    return slides + ([("hinge", axis)] if joint.kind != "prismatic" else [])


def perpendicular_axes(axis: Point) -> tuple[Point, Point]:
    """Two unit vectors that make a right-handed triad with a unit vector: (e1, e2, axis)."""
    k = min(
        range(3), key=lambda i: abs(np.ravel(axis[i])[0])
    )  # of variants the first one chooses for all
    helper = tuple(1.0 if i == k else 0.0 for i in range(3))
    e1 = unit_vector(cross_jets3(helper, axis))  # type: ignore[arg-type]
    return e1, cross_jets3(axis, e1)


def _joint_equations(
    joint: ChainJoint, hard_point: HardPoint
) -> Callable[[BodyFrames], list[ScalarJet]]:
    i, j = joint.first, joint.second

    def gap(f: BodyFrames) -> VectorJet:
        return f.point_drawn_at(j, hard_point.at) - f.point_drawn_at(i, hard_point.at)

    def coincidence_rows(f: BodyFrames) -> list[ScalarJet]:
        g = gap(f)
        return [g.component(k) for k in range(3)]

    def rows(f: BodyFrames) -> list[ScalarJet]:
        if joint.kind == "spherical":
            return coincidence_rows(f)
        assert joint.axis is not None
        a = unit_vector(joint.axis)
        e1, e2 = perpendicular_axes(a)
        if joint.kind in ("inline", "inplane"):  # of a point alone, for any rotation
            return [
                dot_product(f.direction(i, e), gap(f))
                for e in ((e1, e2) if joint.kind == "inline" else (a,))
            ]
        square = [dot_product(f.direction(i, e), f.direction(j, a)) for e in (e1, e2)]
        match joint.kind:
            case "revolute":
                return [*coincidence_rows(f), *square]
            case "cylindrical":
                return [*(dot_product(f.direction(i, e), gap(f)) for e in (e1, e2)), *square]
            case "prismatic":
                rotation_lock = dot_product(f.direction(i, e1), f.direction(j, e2))
                return [
                    *(dot_product(f.direction(i, e), gap(f)) for e in (e1, e2)),
                    *square,
                    rotation_lock,
                ]
            case "planar":
                return [dot_product(f.direction(i, a), gap(f)), *square]
        assert joint.axis_2 is not None  # universal: the two directions keep their drawn angle
        b = unit_vector(joint.axis_2)
        cosine = sum(x * y for x, y in zip(a, b, strict=True))
        return [
            *coincidence_rows(f),
            dot_product(f.direction(i, a), f.direction(j, b)).scaled(1, -cosine),
        ]

    return rows


def _rod_equation(
    first: str, second: str, length: float
) -> Callable[[BodyFrames], list[ScalarJet]]:
    """(d.d - l^2)/(2 l): near the solution this is the error of the length."""

    def rows(f: BodyFrames) -> list[ScalarJet]:
        d = f.point(second) - f.point(first)
        return [dot_product(d, d).scaled(0.5 / length, -0.5 * length)]

    return rows


def _state_input(plan: SolutionPlan, chain_input: ChainInput) -> StateInput | None:
    """The number of the state that an input is, if there is one."""
    chain = plan.chain
    for placing in plan.placings:
        step = placing.steps[0]
        if (
            chain_input.kind == "rack"
            and placing.body == chain_input.body
            and step.kind == "slide"
            and len(placing.steps) == 1
        ):
            return StateInput(step.unknown, step.place, 1.0, 0.0)
        if chain_input.kind == "travel" and len(chain_input.points) > 1:
            continue
        if (
            chain_input.kind == "travel"
            and step.kind == "free"
            and chain.points[chain_input.points[0]].body == placing.body
        ):
            if placing.origin == chain.place(chain_input.points[0]):
                return StateInput(
                    step.unknown + 2, step.place + 2, float(chain.up), placing.origin[2]
                )
    return None


def input_equation(f: BodyFrames, chain_input: ChainInput) -> ScalarJet:
    """What an input prescribes, as a row: height of a point (m), sine of a line's slope, movement
    of a body (m)."""
    chain = f.plan.chain
    up_sign = chain.up
    if chain_input.kind == "travel":
        n = len(chain_input.points)
        total = f.point(chain_input.points[0])
        for name in chain_input.points[1:]:
            total = total + f.point(name)
        return total.component(2).scaled(
            up_sign / n if n > 1 else up_sign,
            -up_sign * sum(chain.place(p)[2] for p in chain_input.points) / n,
        )
    if chain_input.kind == "roll":
        a, b = (chain.place(p) for p in chain_input.points)
        line = f.point(chain_input.points[0]) - f.point(chain_input.points[1])
        return line.component(2).scaled(
            up_sign / distance(a, b), -up_sign * (a[2] - b[2]) / distance(a, b)
        )
    axis = unit_vector(chain_input.axis)
    drawn_point = next(p for p in chain.points.values() if p.body == chain_input.body).at
    body_point = f.point_drawn_at(chain_input.body, drawn_point)
    fixed = VectorJet(
        constant_vector(axis), {}, (NULL,) * len(body_point.rate), (NULL,) * len(body_point.bias)
    )
    return dot_product(fixed, body_point).scaled(
        1, -sum(x * y for x, y in zip(axis, drawn_point, strict=True))
    )
