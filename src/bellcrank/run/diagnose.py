"""What a run that diverged most likely died of."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.errors import BellcrankError
from bellcrank.expr import Expr, Func, Symbol, evaluate, expression, postorder, substitute
from bellcrank.expr.show import text
from bellcrank.kinematics.analysis import Load
from bellcrank.program import interpret
from bellcrank.program.program import Program
from bellcrank.program.statements import Assign, Call

_LONGEST = 120  # characters of a formula
_NO_VALUE = (ArithmeticError, BellcrankError, KeyError, TypeError, ValueError)


@dataclass(frozen=True)
class Moment:
    """A program at a time, with the last good state."""

    program: Program
    t: float
    q: Sequence[float]
    u: Sequence[float]
    parameters: Mapping[str, float]
    inputs: Sequence[float]
    user: Mapping[str, Callable[..., Any]]

    def evaluated(self) -> tuple[list[float], Mapping[Expr, float]] | None:
        """Rates and all intermediate values; None where there are none."""
        try:
            known = interpret.constants(self.program, [self.parameters[p.name] for p in self.program.parameters])
            return interpret.derivatives(self.program, known, self.t, self.q, self.u, self.inputs, self.user)
        except _NO_VALUE:
            return None


def broken_term(at: Moment) -> str:
    """The formula or external routine that is not finite at a time, for the last good state; "" if there is none."""
    found = at.evaluated()
    if found is None:
        return ""
    values, t = found[1], at.t
    definition: dict[Expr, Expr] = {}
    for s in at.program.derivatives.statements:
        if isinstance(s, Call):
            bad = [values[x] for x in s.targets if x is not None and not math.isfinite(values[x])]
            if bad:
                return f"the external routine '{s.routine.name}' returned {bad[0]} at t = {t:.6g} s"
        if not isinstance(s, Assign):
            continue
        definition[s.target] = s.value
        if not math.isfinite(values[s.target]):
            shown, value = text(s.value), s.value
            while len(longer := text(expanded := substitute(value, definition))) <= _LONGEST and longer != shown:
                shown, value = longer, expanded
            return f"likely term: {shown}, which was {values[s.target]} at t = {t:.6g} s"
    return ""


def likely_term(at: Moment, loads: Sequence[Load]) -> str:
    """The force or rate that is largest, or not finite, at the last good state; "" if nothing stands out."""
    evaluated = at.evaluated()
    if evaluated is None:
        return ""
    rates, values = evaluated
    names = {**at.parameters, **{s.name: v for s, v in values.items() if isinstance(s, Symbol)}, "t": at.t}
    if found := _largest_load(loads, names, at.user):
        return found
    speeds = [*zip((*at.program.coordinates, *at.program.speeds), rates, strict=True)]
    state, rate = max(speeds, key=lambda pair: abs(pair[1]))
    return f"the rate of {state.name} was {rate:.3g} one step before"


def _largest_load(loads: Sequence[Load], names: Mapping[str, float], user: Mapping[str, Callable[..., Any]]) -> str:
    worst: tuple[float, str] = (0.0, "")
    for load in loads:
        try:
            value = evaluate((load.magnitude,), names, user)[0]
        except (ArithmeticError, BellcrankError, TypeError, ValueError):
            continue
        size = abs(value) if math.isfinite(value) else math.inf
        if size > worst[0]:
            worst = (
                size,
                f"likely term: the {load.kind} '{load.name}', whose magnitude was {value:.3g} one step before",
            )
    return worst[1]


def changes_of_loads(
    program: Program,
    loads: Sequence[Load],
    at: tuple[float, np.ndarray, np.ndarray],
    parameters: Mapping[str, float],
    inputs: Sequence[float],
    user: Mapping[str, Callable[..., Any]],
    mode: np.ndarray,
) -> str:
    """The force or moment that changes most when the state moves along a mode; "" if none does."""
    t, y, n_q = at[0], np.concatenate(at[1:]), len(at[1])
    most: dict[str, float] = {}
    for part in (mode.real, mode.imag):
        if not np.abs(part).max() > 0:
            continue
        push = 1e-5 * part / np.abs(part).max()
        sizes = [_magnitudes(program, loads, t, y + s * push, n_q, parameters, inputs, user) for s in (1, -1)]
        for load in loads:
            if load.name in sizes[0] and load.name in sizes[1]:
                change = abs(sizes[0][load.name] - sizes[1][load.name])
                most[load.name] = max(most.get(load.name, 0.0), change)
    if not most or not max(most.values()) > 0:
        return ""
    name = max(most, key=lambda n: most[n])
    kind = next(load.kind for load in loads if load.name == name)
    return f"likely the {kind} '{name}'"


def _magnitudes(
    program: Program,
    loads: Sequence[Load],
    t: float,
    y: np.ndarray,
    n_q: int,
    parameters: Mapping[str, float],
    inputs: Sequence[float],
    user: Mapping[str, Callable[..., Any]],
) -> dict[str, float]:
    try:
        known = interpret.constants(program, [parameters[p.name] for p in program.parameters])
        _, values = interpret.derivatives(program, known, t, y[:n_q].tolist(), y[n_q:].tolist(), inputs, user)
    except _NO_VALUE:
        return {}
    names = {**parameters, **{s.name: v for s, v in values.items() if isinstance(s, Symbol)}, "t": t}
    found = {}
    for load in loads:
        try:
            found[load.name] = float(evaluate((_plain(load.magnitude, names, user),), names, user)[0])
        except (ArithmeticError, BellcrankError, KeyError, TypeError, ValueError):
            continue
    return found


def _plain(magnitude: Expr, names: Mapping[str, float], user: Mapping[str, Callable[..., Any]]) -> Expr:
    """A formula in which the values of external routines that return several are numbers."""
    known: dict[Expr, Expr] = {}
    for node in postorder((magnitude,)):
        index = getattr(node.function, "index", None) if isinstance(node, Func) else None
        if isinstance(node, Func) and isinstance(index, int) and node.name in user:
            arguments = evaluate([substitute(a, known) for a in node.args], names, user)
            known[node] = expression(float(user[node.name](*arguments)[index]))
    return substitute(magnitude, known) if known else magnitude
