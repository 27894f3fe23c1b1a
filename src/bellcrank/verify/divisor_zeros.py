"""Zeros of what dependent speeds are divided by, looked for on lines between random states.

In:  how dependent speeds follow from the others, and a way to evaluate that. Out: a line of the
report, which fails if a speed grows without bound where a divisor vanishes; and states at the
zeros of pivots, for programs that must hold there too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from bellcrank.core.errors import BellcrankError
from bellcrank.kane.linear_solution import possible_poles
from bellcrank.mechanics.kinematics.body_motion import build_kinematics
from bellcrank.mechanics.kinematics.speed_constraints import DependentSpeed
from bellcrank.simulation.run.argument_checks import symbol_values
from bellcrank.symbolic.expr import Expr, Func, apply_builtin, evaluate, postorder
from bellcrank.verify.model_under_test import UNUSABLE, CheckSample, ModelUnderTest
from bellcrank.verify.report import CheckLine

# of the factors of dependent speeds, from an ordinary state to one near a zero of their divisor
MAX_FACTOR_GROWTH = 1e3
ZERO_DISTANCE = 1e-7  # of a line between two states
PAIRS, GRID, HALVINGS = 30, 25, 60
MAX_ZERO_STATES = 6  # states at zeros of one pivot

Value = Callable[[Sequence[Expr], np.ndarray], np.ndarray]  # of expressions at a position
Draw = Callable[[], np.ndarray]  # a position
NAME = "dependent speeds near zeros of divisors"


def check_divisors(
    removed: Sequence[DependentSpeed], rates: Iterable[Expr], value: Value, draw: Draw
) -> list[CheckLine]:
    """Do dependent speeds stay finite wherever the others are? No line, if nothing that may vanish
    divides them.

    What divides `rates` of coordinates in terms of all speeds is a pole of the coordinates, and
    does not count.
    """
    worst, note, looked = 1.0, "", False
    rate_divisors = set(_possible_divisors(rates))
    for r in removed:
        factors = [*r.coefficients.values(), r.rest]
        for divisor in (x for x in _possible_divisors(factors) if x not in rate_divisors):
            looked = True
            for q, step in _find_sign_changes([divisor], value, draw, 1):
                near_size = max(
                    _max_abs_value(value, factors, q + sign * ZERO_DISTANCE * step)
                    for sign in (-1, 1)
                )
                growth = near_size / (_max_abs_value(value, factors, q + step) or 1.0)
                if not growth <= worst:
                    worst, note = (
                        growth,
                        f"{r.speed} follows from {r.quoted_name} by division by {divisor}, "
                        f"which vanishes",
                    )
    return (
        [CheckLine(NAME, worst, MAX_FACTOR_GROWTH, note=note if worst > MAX_FACTOR_GROWTH else "")]
        if looked
        else []
    )


def check_model_divisors(subject: ModelUnderTest) -> list[CheckLine]:
    """The line for a described system."""
    analysis = subject.eom.analysis
    if not analysis.removed:
        return []
    rates = build_kinematics(analysis.mechanism).rates.values()
    return check_divisors(analysis.removed, rates, *_numeric_evaluator(subject))


def states_at_zero_divisors(subject: ModelUnderTest) -> list[CheckSample]:
    """States at which a pivot of speed constraints vanishes, in programs that keep all speeds as
    states."""
    loops = subject.eom.analysis.loops
    if loops is None or any(row.g is not None for row in loops.rows):
        return []
    samples = []
    value, draw = _numeric_evaluator(subject)
    for r in subject.eom.derived.dependent_speeds:
        if not r.is_always_solvable:
            for q, _ in _find_sign_changes([r.pivot], value, draw, MAX_ZERO_STATES):
                sample = subject.on_constraints(q)
                samples += [sample] if sample is not None else []
    return samples


def _possible_divisors(values: Iterable[Expr]) -> list[Expr]:
    """What values are divided by that may vanish, tangents included."""
    listed = list(values)
    tangents = [
        n.args[0]
        for n in postorder(listed)
        if isinstance(n, Func) and n.name == "tan" and not n.constant
    ]
    return list(
        dict.fromkeys([*possible_poles(listed), *(apply_builtin("cos", a) for a in tangents)])
    )


def _numeric_evaluator(subject: ModelUnderTest) -> tuple[Value, Draw]:
    arguments = subject.call_arguments(subject.draw_sample(1.0))

    def value(roots: Sequence[Expr], q: np.ndarray) -> np.ndarray:
        return np.array(
            evaluate(
                roots,
                symbol_values(
                    subject.eom.program, arguments[0], q, arguments[2], arguments[3], arguments[5]
                ),
            )
        )

    return value, lambda: subject.draw_sample(np.pi).q


def _max_abs_value(value: Value, roots: Sequence[Expr], q: np.ndarray) -> float:
    try:
        return float(np.abs(value(roots, q)).max(initial=0.0))
    except (*UNUSABLE, BellcrankError):
        return np.inf


def _find_sign_changes(
    roots: Sequence[Expr], value: Value, draw: Draw, max_count: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Positions at which a root changes sign, each with the line on which it was met."""
    zeros: list[tuple[np.ndarray, np.ndarray]] = []
    for _ in range(PAIRS):
        start, step = draw(), draw()
        step = step - start
        fractions = np.linspace(0.0, 1.0, GRID)
        try:
            signs = np.sign([value(roots, start + x * step)[0] for x in fractions])
        except (*UNUSABLE, BellcrankError):
            continue
        for i in np.flatnonzero(signs[:-1] * signs[1:] < 0)[:1]:
            low, high = fractions[i], fractions[i + 1]
            for _ in range(HALVINGS):
                middle = (low + high) / 2
                same_sign = np.sign(value(roots, start + middle * step)[0]) == signs[i]
                low, high = (middle, high) if same_sign else (low, middle)
            zeros.append((start + low * step, step))
        if len(zeros) == max_count:
            break
    return zeros
