"""Newton-Euler body by body: the loads that joints transmit, and what is left of them where joints
are free.

In:  an `ReferenceEvaluation`, a state and the accelerations that a derived program claims. Out: a
residual for every speed of the tree. From the tips to the ground every joint must transmit what
its body, and all that it carries, needs to accelerate. A joint cannot push along its own degree of
freedom: there the transmitted load must vanish, or be the load of constraints, J' lambda with some
lambda. Where a model gives reactions as outputs, they are put on the bodies as loads, and every
body must then obey Newton and Euler by itself. Featherstone, Rigid Body Dynamics Algorithms
(2008), section 5.3 (recursive Newton-Euler), run with all joints open.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from bellcrank.model.records import LoopRecord
from bellcrank.verify import jets
from bellcrank.verify.bodies import ReferenceMotion
from bellcrank.verify.kane_residual import KaneResidual
from bellcrank.verify.reference_evaluation import (
    ReferenceEvaluation,
    inertia_forces,
    inertia_size,
    mass_centre,
)

RANK_TOLERANCE = 1e-9  # of the largest singular value of the rows of constraints
SCALE_FLOOR = 1e-3  # of the largest term of all equations: smaller ones count as this


def newton_euler(
    evaluation: ReferenceEvaluation,
    q: np.ndarray,
    u: np.ndarray,
    udot: np.ndarray,
    exact: np.ndarray,
) -> KaneResidual:
    """What is left of the load of every joint along its degrees of freedom, next to the largest
    term in it, which is taken with `exact` accelerations of the evaluation."""
    loads, _ = transmitted_wrenches(evaluation, evaluation.motion(q, u, udot))
    _, sizes = transmitted_wrenches(evaluation, evaluation.motion(q, u, exact))
    twists = unit_twists(evaluation, q)
    residuals, largest = np.zeros(len(twists)), np.zeros(len(twists))
    for b in evaluation.machine.bodies:
        relative_twist = twists[:, b.index] - (twists[:, b.parent] if b.parent >= 0 else 0.0)
        residuals += relative_twist @ loads[b.index]
        term_sizes = np.abs(relative_twist).reshape(-1, 2, 3).max(axis=2) * sizes[b.index]
        largest = np.maximum(largest, term_sizes.max(axis=1))
    rows = _constraint_jacobian(evaluation, q)
    if rows is None:
        return KaneResidual(residuals, largest)
    floor = np.maximum(largest, SCALE_FLOOR * largest.max(initial=0.0))
    return KaneResidual(
        _without_constraint_loads(residuals, np.where(floor > 0, floor, 1.0), rows), floor
    )


Rates = np.ndarray  # or coordinates, of all states


def reactions_error(
    evaluation: ReferenceEvaluation, q: Rates, u: Rates, udot: Rates, channels: Mapping[str, float]
) -> float:
    """What is left of Newton-Euler of single bodies under their loads and the reactions claimed, by
    the largest term.

    Channels F1(b) ... M3(b): on body b from its parent, about its origin, along its axes; with the
    name of a loop: on the body of its first point, about that point. What is not there is zero.
    """
    motion = evaluation.motion(q, u, udot)
    formulas = evaluation.mechanics_evaluator(motion)
    residuals, sizes = required_wrenches(evaluation, motion)
    # on which body, against which, name, axes, where
    reactions = [
        (b.index, b.parent, b.name, motion.R[b.index], motion.p[b.index])
        for b in evaluation.machine.bodies
    ]
    for record in evaluation.machine.description.loops:
        p, r = formulas.point(record.first), formulas.point(record.second)
        reactions.append((p[0], r[0], loop_name(record), motion.R[p[0]], motion.position(*p)))
    for loaded_body, other_body, name, R, point in reactions:
        components = [channels.get(f"{x}{i}({name})", 0.0) for x in "FM" for i in (1, 2, 3)]
        F, M = (jets.constant_term(R) @ part for part in np.array(components).reshape(2, 3))
        load = np.concatenate([F, np.cross(jets.constant_term(point), F) + M])
        for body, sign in ((loaded_body, 1.0), (other_body, -1.0)):
            if body >= 0:
                residuals[body] -= sign * load
                sizes[body] = np.maximum(sizes[body], (np.linalg.norm(F), np.linalg.norm(load[3:])))
    for record in evaluation.machine.description.loops:
        for body, moment in _turning_of_directions(evaluation, motion, record, channels):
            residuals[body, 3:] -= moment
    largest = sizes.max(axis=0, initial=0.0)
    sizes = np.maximum(sizes, SCALE_FLOOR * largest)
    worst = np.abs(residuals) / np.repeat(np.where(sizes > 0, sizes, 1.0), 3, axis=1)
    return float(worst.max(initial=0.0))


def _turning_of_directions(
    evaluation: ReferenceEvaluation,
    motion: ReferenceMotion,
    record: LoopRecord,
    channels: Mapping[str, float],
) -> Iterator[tuple[int, np.ndarray]]:
    """Bodies and moments on them from directions that a third body holds, which no channel of the
    loop reports.

    The forces along such a direction act at the two points and are not in one line: that body bears
    their moment.
    """
    formulas = evaluation.mechanics_evaluator(motion)
    p, r = formulas.point(record.first), formulas.point(record.second)
    if not record.directions:
        return
    components = [channels.get(f"F{i}({loop_name(record)})", 0.0) for i in (1, 2, 3)]
    B = np.column_stack([jets.constant_term(formulas.evaluate(d)) for d in record.directions])
    along = np.linalg.lstsq(B, jets.constant_term(motion.R[p[0]]) @ components, rcond=None)[0]
    a = jets.constant_term(motion.relative_position(p, r))
    for direction, multiplier in zip(record.directions, along, strict=True):
        for body, part in _direction_parts(evaluation, motion, direction):
            rate = np.cross(jets.constant_term(motion.w[body]), part)
            holder = min(
                motion.w,
                key=lambda c: _relative_rotation_rate(part, rate, motion.w[c], c in (p[0], r[0])),
            )
            if holder not in (p[0], r[0]):
                moment = multiplier * np.cross(a, part)
                yield from (
                    (loaded_body, sign * moment)
                    for loaded_body, sign in ((r[0], 1.0), (holder, -1.0))
                    if loaded_body >= 0
                )


def _direction_parts(
    evaluation: ReferenceEvaluation, motion: ReferenceMotion, direction: Any
) -> Iterator[tuple[int, np.ndarray]]:
    """Bodies whose axes a direction is made of, and the part of it that turns with each: found by
    turning it alone."""
    frozen = copy.copy(motion)
    fixed = {i: jets.constant_term(R) for i, R in motion.R.items()}

    def rate(R: Mapping[int, Any]) -> np.ndarray:
        frozen.R = {**fixed, **R}
        b = evaluation.mechanics_evaluator(frozen).evaluate(direction)
        return b.c[1] if isinstance(b, jets.Jet) and len(b) > 1 else np.zeros(3)

    unturned = rate({})
    for i, R in fixed.items():
        J = np.column_stack(
            [rate({i: jets.Jet([R, np.cross(e, R.T).T])}) - unturned for e in np.eye(3)]
        )
        part = np.array([J[1, 2] - J[2, 1], J[2, 0] - J[0, 2], J[0, 1] - J[1, 0]]) / 2
        if part.any():
            yield i, part


def _relative_rotation_rate(
    b: np.ndarray, rate: np.ndarray, w: jets.Value, preferred: bool
) -> tuple[float, bool]:
    """How fast a vector turns in a body with angular velocity w; of those that turn alike, the
    preferred one first."""
    return float(
        np.round(np.linalg.norm(rate - np.cross(jets.constant_term(w), b)), 9)
    ), not preferred


def loop_name(record: LoopRecord) -> str:
    first, second = (str(getattr(p, "name", p)) for p in (record.first, record.second))
    return record.label or f"{first} to {second}"


def required_wrenches(
    evaluation: ReferenceEvaluation, motion: ReferenceMotion
) -> tuple[np.ndarray, np.ndarray]:
    """(force, moment about the inertial origin) that bodies need in addition to their loads, and
    the sizes of their terms."""
    machine = evaluation.machine
    g = evaluation.mechanics_evaluator(motion).gravity()
    loads, sizes = np.zeros((len(machine.bodies), 6)), np.zeros((len(machine.bodies), 2))
    for b, (F, T) in zip(machine.bodies, evaluation.all_loads(motion), strict=True):
        ma, H_rate = inertia_forces(motion, b)
        W = jets.constant_term(b.mass) * g
        cm = mass_centre(motion, b)
        missing_force = ma - F - W
        loads[b.index] = np.concatenate([missing_force, np.cross(cm, missing_force) + H_rate - T])
        force = max(float(np.linalg.norm(x)) for x in (ma, F, W))
        turning, arm = (float(np.linalg.norm(x)) for x in (T, cm))
        sizes[b.index] = force, max(turning, inertia_size(motion, b), force * arm)
    return loads, sizes


def transmitted_wrenches(
    evaluation: ReferenceEvaluation, motion: ReferenceMotion
) -> tuple[np.ndarray, np.ndarray]:
    """(force, moment about the inertial origin) that joints transmit to their bodies, and the sizes
    of their terms."""
    loads, sizes = required_wrenches(evaluation, motion)
    for b in reversed(evaluation.machine.bodies):
        if b.parent >= 0:
            loads[b.parent] += loads[b.index]
            sizes[b.parent] = np.maximum(sizes[b.parent], sizes[b.index])
    return loads, sizes


def unit_twists(evaluation: ReferenceEvaluation, q: np.ndarray) -> np.ndarray:
    """For each speed alone at one: (velocity of what passes the inertial origin, angular velocity)
    of every body."""
    machine, motions = evaluation.machine, evaluation.unit_motions(q)
    twists = np.zeros((len(machine.u_names), len(machine.bodies), 6))
    for b in machine.bodies:
        w, v, p = (x[b.index] for x in (motions.w, motions.v, motions.p))
        twists[:, b.index, :3], twists[:, b.index, 3:] = (v - jets.cross(w, p)).T, w.T
    return twists


def _constraint_jacobian(evaluation: ReferenceEvaluation, q: np.ndarray) -> np.ndarray | None:
    """Slopes of all constraints by the speeds of the tree."""
    if evaluation.closed is not None:
        slopes = evaluation.closed.jacobian(q)
        return slopes.J / slopes.sizes[:, None]
    return evaluation.constraint_slopes(q)[1] if evaluation.bound else None


def _without_constraint_loads(loads: np.ndarray, weight: np.ndarray, J: np.ndarray) -> np.ndarray:
    """What constraints cannot supply, in the best case."""
    A = (J / weight).T
    multipliers = np.linalg.lstsq(A, loads / weight, rcond=RANK_TOLERANCE)[0]
    remainder: np.ndarray = weight * (loads / weight - A @ multipliers)
    return remainder
