"""What programs with closed loops contain in addition to the state derivatives: redundant equations, and corrections
onto the constraints.

In:  a `Subject` and states. Out: lines of the report. M, f and q' of M u' = f + J' lambda against the description; J,
v and g against those that keep the loops closed, gamma against accelerations of the description. A correction must
leave of a small violation of the positions what is of second order in it, and of one of the speeds nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from bellcrank.run.dae_methods import Redundant
from bellcrank.verify.power import Partials, accelerations
from bellcrank.verify.report import Line
from bellcrank.verify.slopes import SLOPE, STEP
from bellcrank.verify.states import EQUATION, RESIDUAL, Worst, rates_error
from bellcrank.verify.subject import UNUSABLE, Sample, Subject
from bellcrank.verify.taylor import difference

VIOLATIONS = (1e-3, 1e-4, 1e-5)  # of positions, in radians or sizes of the machine
ORDER = 1.6  # at least, by which the correction of positions must reduce them
OPENED = 0.1  # by which loops are opened to see slopes that vanish where they are closed
CLOSED = 1e-13  # of what counts as one: nothing is left


def lines_of_redundant(subject: Subject, samples: Sequence[Sample]) -> list[Line]:
    """Without loops there are none; corrections are looked at where a run would make them."""
    if not subject.loops:
        return []
    system, order, speeds, sides = Worst(), math.inf, Worst(), Worst()
    correction = subject.eom.program.loops and subject.eom.program.loops.correction
    try:
        for s in samples:
            system.note(system_error(subject, s))
            if subject.eom.program.sides.results:
                sides.note(sides_error(subject, s))
            if correction and subject.steady(s):
                order = min(order, order_of_correction(subject, s))
                speeds.note(correction_error(subject, s))
    except UNUSABLE as error:
        return [Line("redundant equations", math.nan, EQUATION, note=str(error))]
    lines = [Line("redundant equations", system.value, EQUATION)]
    if not math.isnan(sides.value):
        lines.append(Line("slopes of the sides of axes", sides.value, SLOPE))
    if correction and not math.isnan(speeds.value):
        lines += [
            Line("order of the correction of positions", order, ORDER, True),
            Line("correction of speeds", speeds.value, RESIDUAL),
        ]
    return lines


def system_error(subject: Subject, s: Sample) -> float:
    """The largest error of M, f, gamma, J, g, v and q', each as a fraction of its terms."""
    arguments = subject.at(s)
    model = subject.loaded.python.calls()
    redundant = Redundant(model)
    n = redundant.numbers(arguments)
    evaluation = subject.evaluation(s)
    partials, zero = Partials(evaluation, s.q), np.zeros(len(s.u))
    rest_motion = evaluation.motion(s.q, s.u, zero)
    M, f, size = partials.mass_matrix(), partials.left(rest_motion), partials.sizes(rest_motion)
    inertia = np.sqrt(np.diag(M))
    v, J = redundant.rows(arguments)
    udot, unit = accelerations(evaluation, s.q, s.u), evaluation.units("u")
    g = np.array(model.values("closure", *arguments))[: redundant.n_g][: redundant.paired]
    rows = np.abs(J) @ unit
    typical_size = rows * max(float(np.abs(udot / unit).max(initial=0.0)), evaluation.rate(s.u) ** 2)
    errors = [
        _share(n.M - M, np.outer(inertia, inertia)),
        _share(n.f - f, size),
        _share(n.gamma - J @ udot, typical_size),
        _share(n.J - J, rows[:, None] / unit),
        _share(n.v - v, rows * evaluation.rate(s.u)),
        _share(n.g[: redundant.paired] - g, rows[: redundant.paired]),
        rates_error(evaluation, s, n.qd),
        rates_error(evaluation, s, np.array(model.values("coordinate_rates", *arguments))),
    ]
    return float(np.max(errors))


def sides_error(subject: Subject, s: Sample) -> float:
    """Slopes of how far axes point as drawn, against differences, away from where they do; and whether they do here."""
    loops = subject.eom.program.loops
    assert loops is not None
    n_q, count, sizes = len(s.q), len(loops.sides), subject.sizes("q")
    q = s.q + OPENED * sizes * np.random.default_rng(4).uniform(-1, 1, n_q)

    def sides(q: np.ndarray) -> np.ndarray:
        return subject.section("sides", Sample(s.time, q, s.u, s.inputs))

    derivatives = sides(q)[count:].reshape(count, n_q) * sizes

    def slope(direction: np.ndarray) -> np.ndarray:
        return difference(lambda h: sides(q + h * direction)[:count], STEP)

    expected = [slope(direction) for direction in np.diag(sizes)]
    as_drawn = np.abs(sides(s.q)[:count] - 1.0).max(initial=0.0)
    return max(float(as_drawn), float(np.abs(derivatives - np.array(expected).T).max(initial=0.0)))


def order_of_correction(subject: Subject, s: Sample) -> float:
    """The power of a violation that a correction leaves of it; infinite where nothing is left."""
    loops = subject.eom.program.loops
    assert loops is not None and loops.correction is not None
    rng, sizes = np.random.default_rng(2), subject.sizes("q")
    direction, indices = rng.uniform(-1, 1, len(s.q)), list(loops.correction.q)
    remainders = []
    for violation in VIOLATIONS:
        q = s.q + violation * sizes * direction
        q[indices] -= subject.section("correct_q", Sample(s.time, q, s.u, s.inputs))
        flat = subject.section("closure", Sample(s.time, q, s.u, s.inputs))
        m, n_q = len(loops.positions), len(s.q)
        G = flat[m : m + m * n_q].reshape(m, n_q)
        remainders.append(_share(flat[:m], np.abs(G) @ sizes))
    above = [x for x in remainders if not x < CLOSED]
    return min((math.log10(a / b) for a, b in pairwise(above)), default=math.inf if len(above) < 2 else 0.0)


def correction_error(subject: Subject, s: Sample) -> float:
    """What a correction leaves of wrong speeds, as a fraction of the terms of the constraints."""
    loops = subject.eom.program.loops
    assert loops is not None and loops.correction is not None
    unit = subject.sizes("u")
    u, indices = s.u + unit * np.random.default_rng(3).uniform(-1, 1, len(s.u)), list(loops.correction.u)
    u[indices] -= subject.section("correct_u", Sample(s.time, s.q, u, s.inputs))[: len(indices)]
    flat = subject.section("closure", Sample(s.time, s.q, u, s.inputs))
    rows = len(loops.names)
    J = flat[-rows * len(u) :].reshape(rows, len(u))
    v = flat[-rows * (len(u) + 1) : -rows * len(u)]
    return _share(v, np.abs(J) @ np.maximum(np.abs(u), unit))


def _share(error: np.ndarray, size: np.ndarray) -> float:
    """The largest error as a fraction of sizes; where nothing counts as one, of the largest of them."""
    floor = 1e-6 * float(np.max(size, initial=0.0)) or 1.0
    return float(np.max(np.abs(error) / np.maximum(size, floor), initial=0.0))
