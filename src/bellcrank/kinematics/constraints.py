"""Speed constraints: linear in the speeds, solved for one speed each, in symbols.

Sayers (1990), section 8.3: each constraint removes one speed; the replacement is put into all earlier ones. A constraint that
is already satisfied is ignored and noted.
"""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.errors import ModelError
from bellcrank.expr import (
    ZERO,
    Expr,
    Symbol,
    add,
    constant_part,
    depends_on,
    div,
    mul,
    neg,
    partial,
    sub,
    substitute,
    symbols,
)


@dataclass(frozen=True)
class Removed:
    """A dependent speed: speed = value, value linear in the independent speeds."""

    speed: Symbol
    value: Expr
    text: str


def solve_speed_constraint(
    residual: Expr, known: list[Removed], speeds: list[Symbol], wanted: Symbol | None, text: str
) -> Removed | None:
    """The speed a constraint removes and its replacement; None when the constraint holds already."""
    values: dict[Expr, Expr] = {r.speed: r.value for r in known}
    residual = substitute(residual, values) if values else residual
    if residual.fingerprint == 0:
        return None
    present = {s for s in symbols(residual) if s.kind == "speed"}
    slopes = {u: partial(residual, u) for u in speeds if u in present}
    slopes = {u: a for u, a in slopes.items() if a.fingerprint != 0}
    if not slopes:
        raise ModelError(f"the constraint {text} contradicts earlier ones: it asks that {residual} = 0")
    for u, a in slopes.items():
        if depends_on(a, lambda s: s.kind == "speed"):
            raise ModelError(f"the constraint {text} is not linear in the speeds: its slope for {u} is {a}")
    chosen = _choose(slopes, speeds, wanted, text)
    slope = slopes[chosen]
    rest = sub(residual, add(*(mul(a, u) for u, a in slopes.items())))
    rest = ZERO if rest.fingerprint == 0 else substitute(residual, dict.fromkeys(slopes, ZERO))
    terms = [neg(div(mul(a, u), slope)) for u, a in slopes.items() if u is not chosen]
    return Removed(chosen, add(neg(div(rest, slope)), *terms), text)


def _choose(slopes: dict[Symbol, Expr], speeds: list[Symbol], wanted: Symbol | None, text: str) -> Symbol:
    """Which speed to remove: a constant slope if there is one, the highest index among equals."""
    if wanted is not None:
        if wanted not in slopes:
            raise ModelError(f"the constraint {text} cannot be solved for {wanted}: it does not occur there")
        return wanted
    order = {u: i for i, u in enumerate(speeds)}
    regular = [u for u, a in slopes.items() if constant_part(a).fingerprint != 0]
    if not regular:
        regular = list(slopes)
    constant = [u for u in regular if slopes[u].constant]
    return max(constant or regular, key=lambda u: order[u])


def replace_everywhere(known: list[Removed], new: Removed) -> list[Removed]:
    """Earlier replacements with the new one put in, and the new one."""
    values: dict[Expr, Expr] = {new.speed: new.value}
    return [*(Removed(r.speed, substitute(r.value, values), r.text) for r in known), new]
