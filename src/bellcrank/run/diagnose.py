"""What a run that diverged most likely died of."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bellcrank.errors import BellcrankError
from bellcrank.expr import Expr, Symbol, evaluate, substitute
from bellcrank.expr.show import text
from bellcrank.kinematics.analysis import Load
from bellcrank.program import interpret
from bellcrank.program.program import Assign, Program

_LONGEST = 120  # characters of a formula


def likely_term(
    program: Program,
    loads: Sequence[Load],
    t: float,
    q: Sequence[float],
    u: Sequence[float],
    parameters: Mapping[str, float],
    inputs: Sequence[float],
    user: Mapping[str, Callable[..., Any]],
) -> str:
    """The formula, force or rate that is not finite, or largest, at the last good state; "" if nothing stands out."""
    try:
        known = interpret.constants(program, [parameters[p.name] for p in program.parameters])
        rates, values = interpret.derivatives(program, known, t, q, u, inputs, user)
    except (ArithmeticError, BellcrankError, KeyError, TypeError, ValueError):
        return ""
    if found := _broken_statement(program, values):
        return found
    names = {**parameters, **{s.name: v for s, v in values.items() if isinstance(s, Symbol)}, "t": t}
    if found := _largest_load(loads, names, user):
        return found
    speeds = [*zip((*program.coordinates, *program.speeds), rates, strict=True)]
    state, rate = max(speeds, key=lambda pair: abs(pair[1]))
    return f"the rate of {state.name} was {rate:.3g} one step before"


def _broken_statement(program: Program, values: Mapping[Expr, float]) -> str:
    definition: dict[Expr, Expr] = {}
    for s in program.derivatives.statements:
        if not isinstance(s, Assign):
            continue
        definition[s.target] = s.value
        if not math.isfinite(values[s.target]):
            shown = text(s.value)
            while len(longer := text(expanded := substitute(s.value, definition))) <= _LONGEST and longer != shown:
                shown, s = longer, Assign(s.target, expanded)
            return f"likely term: {shown}, which was {values[s.target]} one step before"
    return ""


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
