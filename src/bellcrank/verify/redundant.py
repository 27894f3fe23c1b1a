"""What programs with closed loops contain in addition to the state derivatives: redundant
equations, and corrections onto the constraints.

In:  a `ModelUnderTest` and states. Out: lines of the report. M, f and q' of M u' = f + J' lambda
against the description; J, v and g against those that keep the loops closed, gamma against
accelerations of the description. A correction must leave of a small violation of the positions
what is of second order in it, and of one of the speeds nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from bellcrank.simulation.run.dae_methods import RedundantEquations
from bellcrank.verify.jacobian_check import JACOBIAN_TOLERANCE, STEP
from bellcrank.verify.kane_residual import PartialVelocityMotions, accelerations
from bellcrank.verify.model_under_test import UNUSABLE, CheckSample, ModelUnderTest
from bellcrank.verify.report import CheckLine
from bellcrank.verify.state_checks import EQUATION, RESIDUAL, MaxError, rates_error
from bellcrank.verify.taylor import central_difference

VIOLATIONS = (1e-3, 1e-4, 1e-5)  # of positions, in radians or sizes of the machine
ORDER = 1.6  # at least, by which the correction of positions must reduce them
LOOP_OPENING = 0.1  # by which loops are opened to see slopes that vanish where they are closed
CLOSED_TOLERANCE = 1e-13  # of what counts as one: nothing is left


def check_redundant_equations(
    subject: ModelUnderTest, samples: Sequence[CheckSample]
) -> list[CheckLine]:
    """Without loops there are none; corrections are looked at where a run would make them."""
    if not subject.loops:
        return []
    system, order, speeds, sides = MaxError(), math.inf, MaxError(), MaxError()
    correction = subject.eom.program.loops and subject.eom.program.loops.correction
    try:
        for s in samples:
            system.update(system_error(subject, s))
            if subject.eom.program.sides.results:
                sides.update(sides_error(subject, s))
            if correction and subject.uses_own_equations(s):
                order = min(order, projection_order(subject, s))
                speeds.update(correction_error(subject, s))
    except UNUSABLE as error:
        return [CheckLine("redundant equations", math.nan, EQUATION, note=str(error))]
    lines = [CheckLine("redundant equations", system.value, EQUATION)]
    if not math.isnan(sides.value):
        lines.append(CheckLine("slopes of the sides of axes", sides.value, JACOBIAN_TOLERANCE))
    if correction and not math.isnan(speeds.value):
        lines += [
            CheckLine("order of the correction of positions", order, ORDER, True),
            CheckLine("correction of speeds", speeds.value, RESIDUAL),
        ]
    return lines


def system_error(subject: ModelUnderTest, s: CheckSample) -> float:
    """The largest error of M, f, gamma, J, g, v and q', each as a fraction of its terms."""
    arguments = subject.call_arguments(s)
    model = subject.loaded.python_model.new_calls()
    redundant = RedundantEquations(model)
    n = redundant.evaluate_system(arguments)
    evaluation = subject.evaluation(s)
    partials, zero = PartialVelocityMotions(evaluation, s.q), np.zeros(len(s.u))
    rest_motion = evaluation.motion(s.q, s.u, zero)
    M, f, size = (
        partials.mass_matrix(),
        partials.power_residuals(rest_motion),
        partials.power_scales(rest_motion),
    )
    inertia = np.sqrt(np.diag(M))
    v, J = redundant.evaluate_constraints(arguments)
    udot, unit = accelerations(evaluation, s.q, s.u), evaluation.state_scales("u")
    g = np.array(model.values("closure", *arguments))[: redundant.n_g][: redundant.paired_row_count]
    rows = np.abs(J) @ unit
    typical_size = rows * max(
        float(np.abs(udot / unit).max(initial=0.0)), evaluation.largest_scaled_speed(s.u) ** 2
    )
    errors = [
        _max_scaled_error(n.M - M, np.outer(inertia, inertia)),
        _max_scaled_error(n.f - f, size),
        _max_scaled_error(n.gamma - J @ udot, typical_size),
        _max_scaled_error(n.J - J, rows[:, None] / unit),
        _max_scaled_error(n.v - v, rows * evaluation.largest_scaled_speed(s.u)),
        _max_scaled_error(
            n.g[: redundant.paired_row_count] - g, rows[: redundant.paired_row_count]
        ),
        rates_error(evaluation, s, n.qd),
        rates_error(evaluation, s, np.array(model.values("coordinate_rates", *arguments))),
    ]
    return float(np.max(errors))


def sides_error(subject: ModelUnderTest, s: CheckSample) -> float:
    """Slopes of how far axes point as drawn, against differences, away from where they do; and
    whether they do here."""
    loops = subject.eom.program.loops
    assert loops is not None
    n_q, count, sizes = len(s.q), len(loops.sides), subject.state_scales("q")
    q = s.q + LOOP_OPENING * sizes * np.random.default_rng(4).uniform(-1, 1, n_q)

    def sides(q: np.ndarray) -> np.ndarray:
        return subject.function_values("sides", CheckSample(s.time, q, s.u, s.inputs))

    derivatives = sides(q)[count:].reshape(count, n_q) * sizes

    def slope(direction: np.ndarray) -> np.ndarray:
        return central_difference(lambda h: sides(q + h * direction)[:count], STEP)

    expected = [slope(direction) for direction in np.diag(sizes)]
    as_drawn = np.abs(sides(s.q)[:count] - 1.0).max(initial=0.0)
    return max(float(as_drawn), float(np.abs(derivatives - np.array(expected).T).max(initial=0.0)))


def projection_order(subject: ModelUnderTest, s: CheckSample) -> float:
    """The power of a violation that a correction leaves of it; infinite where nothing is left."""
    loops = subject.eom.program.loops
    assert loops is not None and loops.correction is not None
    rng, sizes = np.random.default_rng(2), subject.state_scales("q")
    direction, indices = rng.uniform(-1, 1, len(s.q)), list(loops.correction.q)
    remainders = []
    for violation in VIOLATIONS:
        q = s.q + violation * sizes * direction
        q[indices] -= subject.function_values("correct_q", CheckSample(s.time, q, s.u, s.inputs))
        flat = subject.function_values("closure", CheckSample(s.time, q, s.u, s.inputs))
        m, n_q = len(loops.positions), len(s.q)
        G = flat[m : m + m * n_q].reshape(m, n_q)
        remainders.append(_max_scaled_error(flat[:m], np.abs(G) @ sizes))
    above = [x for x in remainders if not x < CLOSED_TOLERANCE]
    return min(
        (math.log10(a / b) for a, b in pairwise(above)), default=math.inf if len(above) < 2 else 0.0
    )


def correction_error(subject: ModelUnderTest, s: CheckSample) -> float:
    """What a correction leaves of wrong speeds, as a fraction of the terms of the constraints."""
    loops = subject.eom.program.loops
    assert loops is not None and loops.correction is not None
    unit = subject.state_scales("u")
    u, indices = (
        s.u + unit * np.random.default_rng(3).uniform(-1, 1, len(s.u)),
        list(loops.correction.u),
    )
    u[indices] -= subject.function_values("correct_u", CheckSample(s.time, s.q, u, s.inputs))[
        : len(indices)
    ]
    flat = subject.function_values("closure", CheckSample(s.time, s.q, u, s.inputs))
    rows = len(loops.names)
    J = flat[-rows * len(u) :].reshape(rows, len(u))
    v = flat[-rows * (len(u) + 1) : -rows * len(u)]
    return _max_scaled_error(v, np.abs(J) @ np.maximum(np.abs(u), unit))


def _max_scaled_error(error: np.ndarray, size: np.ndarray) -> float:
    """The largest error as a fraction of sizes; where nothing counts as one, of the largest of
    them."""
    floor = 1e-6 * float(np.max(size, initial=0.0)) or 1.0
    return float(np.max(np.abs(error) / np.maximum(size, floor), initial=0.0))
