"""Derivatives in the generated program against differences of what it computes.

In:  a `ModelUnderTest` and states. Out: lines of the report. The slopes of constraints, which the
program carries as formulas of their own, against differences of the constraints; the rates of
positions against speeds; the slopes of all rates of the states, taken through every statement of
the program by Taylor arithmetic (`jets`), against differences of the rates that the compiled model
returns.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from bellcrank.symbolic.expr import Symbol
from bellcrank.verify import jets
from bellcrank.verify.jets import Jet
from bellcrank.verify.model_under_test import UNUSABLE, CheckSample, ModelUnderTest
from bellcrank.verify.report import CheckLine
from bellcrank.verify.taylor import (
    NonsmoothRoutine,
    TaylorInterpreter,
    central_difference,
    converged_difference,
)

JACOBIAN_TOLERANCE = 1e-7  # of the largest slope of a row
STEP = 1e-2  # of differences of sixth order, in radians or sizes of the machine


# ---- constraints


def check_constraint_jacobians(
    subject: ModelUnderTest, samples: Iterable[CheckSample]
) -> list[CheckLine]:
    """G = dg/dq and J = dv/du of the closed loops, and that v is the rate of g."""
    if not subject.loops:
        return []
    worst = {"positions": 0.0, "speeds": 0.0, "rate": 0.0}
    note = ""
    for s in samples:
        try:
            errors = constraint_errors(subject, s)
        except UNUSABLE as error:
            errors, note = dict.fromkeys(worst, math.nan), str(error)
        for name, value in errors.items():
            worst[name] = float(np.maximum(worst[name], value))  # which keeps nan
    return [
        CheckLine(
            "Jacobian of positions against differences",
            worst["positions"],
            JACOBIAN_TOLERANCE,
            note=note,
        ),
        CheckLine("Jacobian of speeds against differences", worst["speeds"], JACOBIAN_TOLERANCE),
        CheckLine(
            "speeds of constraints are rates of positions", worst["rate"], JACOBIAN_TOLERANCE
        ),
    ]


def constraint_errors(subject: ModelUnderTest, s: CheckSample) -> dict[str, float]:
    """Relative errors of G, of J, and of v = G q' + dg/dt."""
    loops = subject.eom.program.loops
    assert loops is not None
    n_q, n_u, m, rows = len(s.q), len(s.u), len(loops.positions), len(loops.names)

    def parts(t: float, q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, ...]:
        flat = np.array(subject.closure(CheckSample(t, q, u, s.inputs)))
        g, G, v = flat[:m], flat[m : m + m * n_q], flat[m + m * n_q : m + m * n_q + rows]
        return g, G.reshape(m, n_q), v, flat[m + m * n_q + rows :].reshape(rows, n_u)

    steps_q, steps_u = (STEP * subject.state_scales(letter) for letter in "qu")
    _, G, v, J = parts(s.time, s.q, s.u)

    def slope_q(i: int) -> np.ndarray:
        return central_difference(
            lambda h: parts(s.time, s.q + h * np.eye(n_q)[i], s.u)[0], steps_q[i]
        )

    def slope_u(i: int) -> np.ndarray:
        return central_difference(
            lambda h: parts(s.time, s.q, s.u + h * np.eye(n_u)[i])[2], steps_u[i]
        )

    by_q = np.array([slope_q(i) for i in range(n_q)]).reshape(n_q, m).T
    by_u = np.array([slope_u(i) for i in range(n_u)]).reshape(n_u, rows).T
    errors = {
        "positions": _row_error(G * steps_q, by_q * steps_q),
        "speeds": _row_error(J * steps_u, by_u * steps_u),
    }
    # inputs stand still here, so their part of the rate is omitted on both sides: it enters v as
    # dxdt(input)
    by_time = central_difference(lambda h: parts(s.time + h, s.q, s.u)[0], STEP)
    qdot = subject.rates(s)[0]
    errors["rate"] = 0.0
    if not any(x.kind == "rate" for x in subject.eom.program.inputs):
        rate = G @ qdot + by_time
        for i, j in _match_rows(loops.positions, loops.names):
            size = max(
                np.abs(G[i] * steps_q).max(initial=0.0)
                / STEP
                * max(1.0, np.abs(qdot / steps_q * STEP).max()),
                abs(by_time[i]),
            )
            errors["rate"] = max(errors["rate"], abs(rate[i] - v[j]) / (size or 1.0))
    return errors


def _row_error(actual: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference in a row, against its largest entry; rows that are all rounding count
    little."""
    size = np.abs(expected).max(axis=1, initial=0.0)
    size = np.maximum(size, 1e-3 * size.max(initial=0.0))
    return float(
        (np.abs(actual - expected).max(axis=1, initial=0.0) / np.where(size > 0, size, 1.0)).max(
            initial=0.0
        )
    )


def _match_rows(positions: Sequence[str], names: Sequence[str]) -> list[tuple[int, int]]:
    """Rows of g next to rows of v of the same name, in order."""
    pairs, start = [], 0
    for i, name in enumerate(positions):
        if name in names[start:]:
            start = names.index(name, start)
            pairs.append((i, start))
            start += 1
    return pairs


# ---- rates of the states


def check_rhs_jacobian(
    subject: ModelUnderTest, samples: Iterable[CheckSample], seed: int
) -> list[CheckLine]:
    """Slopes of all rates along random directions, by Taylor arithmetic and by differences."""
    name = "Jacobian of the rates against differences"
    rng = np.random.default_rng(seed)
    worst = 0.0
    sizes = np.concatenate([subject.state_scales(letter) for letter in "qu"])
    n, kinks = len(subject.eom.coordinates), 0
    try:
        regular = [s for s in samples if subject.uses_own_equations(s)]
    except UNUSABLE as error:
        return [CheckLine(name, math.nan, JACOBIAN_TOLERANCE, note=str(error))]
    for s in regular:
        x, d = np.concatenate([s.q, s.u]), sizes * rng.uniform(-1, 1, len(sizes))

        def evaluate_shifted(
            h: float, x: np.ndarray = x, d: np.ndarray = d, s: CheckSample = s
        ) -> np.ndarray:
            y = x + h * d
            return subject.plain_rates(CheckSample(s.time, y[:n], y[n:], s.inputs))

        try:
            exact = rate_slopes(subject, s, d)
            estimate, uncertainty = converged_difference(evaluate_shifted, STEP / 2)
        except NonsmoothRoutine:
            kinks += 1
            continue
        except UNUSABLE as error:
            return [CheckLine(name, math.nan, JACOBIAN_TOLERANCE, note=str(error))]
        if (
            not uncertainty <= JACOBIAN_TOLERANCE / 4
        ):  # differences say nothing about the formulas here
            kinks += 1
            continue
        size = max(np.abs(exact).max(initial=0.0), np.abs(estimate).max(initial=0.0)) or 1.0
        worst = max(worst, float(np.abs(exact - estimate).max(initial=0.0) / size))
    states = len(regular)
    note = (
        f"the rates have a kink at {kinks} of {states} states, which do not count" if kinks else ""
    )
    note = note or ("" if states else "a run would not use these equations at any of the states")
    return [
        CheckLine(name, "not evaluated", note=note)
        if kinks == states
        else CheckLine(name, worst, JACOBIAN_TOLERANCE, note=note)
    ]


def rate_slopes(subject: ModelUnderTest, s: CheckSample, direction: np.ndarray) -> np.ndarray:
    """The slopes of all rates along a direction of the state, through the statements of the
    program."""
    program = subject.eom.program
    *_, p, _, w = subject.call_arguments(s)
    taylor = TaylorInterpreter(program, subject.loaded.functions)
    taylor.set_values(program.parameters, p)
    taylor.run_section(program.constants)
    n_inputs = len(program.given_inputs)
    taylor.set_values((Symbol("t", "time"), *program.inputs[:n_inputs]), (s.time, *w[:n_inputs]))
    x = [Jet(pair) for pair in zip((*s.q, *s.u), direction, strict=True)]
    taylor.set_values((*program.coordinates, *program.speeds), x)
    for section in (
        program.start,
        program.update,
    ):  # what user functions keep, as at the start of a run
        taylor.run_section(section)
        taylor.set_values(
            program.inputs[n_inputs : n_inputs + len(section.results)],
            taylor.evaluate(section.results),
        )
        n_inputs += len(section.results)
    taylor.run_section(program.derivatives)
    results = taylor.evaluate(program.derivatives.results)
    return np.array([jets.coefficients(r, 2)[1] for r in results])
