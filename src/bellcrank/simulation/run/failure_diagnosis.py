"""What a run that diverged most likely died of."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.core.errors import BellcrankError
from bellcrank.mechanics.kinematics.results import KinematicAnalysis
from bellcrank.model.loads.load import Load
from bellcrank.program import interpreter
from bellcrank.program.program import SimulationProgram
from bellcrank.program.statements import AssignStatement, CallStatement
from bellcrank.symbolic.expr import Expr, Func, Symbol, evaluate, expression, postorder, substitute
from bellcrank.symbolic.expr.printing import to_text
from bellcrank.symbolic.vector.basis import magnitude

_LONGEST = 120  # characters of a formula
_NO_VALUE = (ArithmeticError, BellcrankError, KeyError, TypeError, ValueError)


@dataclass(frozen=True)
class FailurePoint:
    """A program at a time, with the last good state."""

    program: SimulationProgram
    t: float
    q: Sequence[float]
    u: Sequence[float]
    parameters: Mapping[str, float]
    inputs: Sequence[float]
    user: Mapping[str, Callable[..., Any]]

    def evaluate_rates(self) -> tuple[list[float], Mapping[Expr, float]] | None:
        """Rates and all intermediate values; None where there are none."""
        try:
            constants = interpreter.evaluate_constants(
                self.program, [self.parameters[p.name] for p in self.program.parameters]
            )
            return interpreter.evaluate_derivatives(
                self.program, constants, self.t, self.q, self.u, self.inputs, self.user
            )
        except _NO_VALUE:
            return None


def zero_length_strut(point: FailurePoint, analysis: KinematicAnalysis) -> str:
    """The strut whose points meet, so that it has no direction; "" if there is none."""
    states = zip(
        (*point.program.coordinates, *point.program.speeds), (*point.q, *point.u), strict=True
    )
    inputs = zip((s.name for s in point.program.inputs), point.inputs, strict=False)
    names = {**point.parameters, **{s.name: v for s, v in states}, **dict(inputs), "t": point.t}
    for load in analysis.loads:
        if not load.along_points or load.point is None or load.other is None:
            continue
        separation = analysis.kinematics.position(load.point) - analysis.kinematics.position(
            load.other
        )
        try:
            length = evaluate((magnitude(separation),), names, point.user)[0]
        except _NO_VALUE:
            continue
        if length == 0:
            problem = (
                f"{load.kind} '{load.name}' has zero length at t = {point.t:.6g} s, so it has "
                f"no direction"
            )
            return (
                f"{problem}: start its ends apart, or use add_force along two or three axes in "
                f"its place"
            )
    return ""


def nonfinite_term(point: FailurePoint, loads: Sequence[Load]) -> str:
    """The formula, user function or load that is not finite at a time, for the last good state; ""
    if none is."""
    evaluation = point.evaluate_rates()
    if evaluation is None:
        return ""
    values, t = evaluation[1], point.t
    definition: dict[Expr, Expr] = {}
    for s in point.program.derivatives.statements:
        if isinstance(s, CallStatement):
            nonfinite = [
                values[x] for x in s.targets if x is not None and not math.isfinite(values[x])
            ]
            if nonfinite:
                return (
                    f"the user function '{s.routine.name}' returned {nonfinite[0]} at t = {t:.6g} s"
                )
        if not isinstance(s, AssignStatement):
            continue
        definition[s.target] = s.value
        if not math.isfinite(values[s.target]):
            label, value = to_text(s.value), s.value
            while (
                len(longer := to_text(expanded := substitute(value, definition))) <= _LONGEST
                and longer != label
            ):
                label, value = longer, expanded
            return f"likely term: {label}, which was {values[s.target]} at t = {t:.6g} s"
    for load in loads:
        size = _magnitude(load, point, values)
        if size is not None and not math.isfinite(size):
            return (
                f"likely term: the {load.kind} '{load.name}', whose magnitude was {size} at t = "
                f"{t:.6g} s"
            )
    return ""


def largest_term(point: FailurePoint, loads: Sequence[Load]) -> str:
    """The force or rate that is largest at the last good state; "" if nothing stands out."""
    evaluation = point.evaluate_rates()
    if evaluation is None:
        return ""
    worst, message = 0.0, ""
    for load in loads:
        value = _magnitude(load, point, evaluation[1])
        if value is not None and abs(value) > worst:
            worst = abs(value)
            message = (
                f"likely term: the {load.kind} '{load.name}', whose magnitude was {value:.3g} "
                f"one step before"
            )
    if message:
        return message
    speeds = [*zip((*point.program.coordinates, *point.program.speeds), evaluation[0], strict=True)]
    state, rate = max(speeds, key=lambda pair: abs(pair[1]))
    return f"the rate of {state.name} was {rate:.3g} one step before"


def most_changed_load(point: FailurePoint, loads: Sequence[Load], mode: np.ndarray) -> str:
    """The force or moment that changes most when the state moves along a mode; "" if none does."""
    y, n_q = np.array([*point.q, *point.u]), len(point.q)
    largest_changes: dict[str, float] = {}
    for part in (mode.real, mode.imag):
        if not np.abs(part).max() > 0:
            continue
        perturbation = 1e-5 * part / np.abs(part).max()
        perturbed = [
            replace(point, q=x[:n_q].tolist(), u=x[n_q:].tolist())
            for x in (y + perturbation, y - perturbation)
        ]
        evaluations = [
            (m, evaluation[1]) for m in perturbed if (evaluation := m.evaluate_rates()) is not None
        ]
        for load in loads:
            forward, backward = (
                (_magnitude(load, *k) for k in evaluations)
                if len(evaluations) == 2
                else (None, None)
            )
            if forward is not None and backward is not None:
                largest_changes[load.name] = max(
                    largest_changes.get(load.name, 0.0), abs(forward - backward)
                )
    if not largest_changes or not max(largest_changes.values()) > 0:
        return ""
    name = max(largest_changes, key=lambda n: largest_changes[n])
    kind = next(load.kind for load in loads if load.name == name)
    return f"likely the {kind} '{name}'"


def _magnitude(load: Load, point: FailurePoint, values: Mapping[Expr, float]) -> float | None:
    """Of a load at a moment with all intermediate values; None where it has none."""
    names = {
        **point.parameters,
        **{s.name: v for s, v in values.items() if isinstance(s, Symbol)},
        "t": point.t,
    }
    try:
        return float(
            evaluate((_inline_user_values(load.magnitude, names, point.user),), names, point.user)[
                0
            ]
        )
    except _NO_VALUE:
        return None


def _inline_user_values(
    magnitude: Expr, names: Mapping[str, float], user: Mapping[str, Callable[..., Any]]
) -> Expr:
    """A formula in which the values of user functions that return several are numbers."""
    replacements: dict[Expr, Expr] = {}
    for node in postorder((magnitude,)):
        index = getattr(node.function, "index", None) if isinstance(node, Func) else None
        if isinstance(node, Func) and isinstance(index, int) and node.name in user:
            arguments = evaluate([substitute(a, replacements) for a in node.args], names, user)
            replacements[node] = expression(float(user[node.name](*arguments)[index]))
    return substitute(magnitude, replacements) if replacements else magnitude
