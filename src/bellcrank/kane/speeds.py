"""Generalized speeds: in any combination of rates, and made dependent by motion constraints."""

from __future__ import annotations

from collections.abc import Mapping

from bellcrank.core.errors import ModelError
from bellcrank.kane.linear_solution import Row, solve_linear
from bellcrank.kane.scalars import DerivationScalars
from bellcrank.mechanics.kinematics.speed_constraints import DependentSpeed, solve_speed_constraint
from bellcrank.symbolic.expr import ZERO, Expr, Symbol, depends_on, sub, substitute
from bellcrank.symbolic.expr.traversal import free_symbols


def solved_rates(
    scalars: DerivationScalars, definitions: Mapping[Symbol, Expr]
) -> dict[Symbol, Expr]:
    """q' from definitions of speeds u = (linear in q'), without other poles than those of the
    coordinates."""
    for u in definitions:
        if u not in scalars.speeds:
            raise ModelError(f"{u} is not a generalized speed")
    by_rate = {scalars.rate_symbol(q): q for q in scalars.coordinates if q not in scalars.rates}
    rates_used = {s for e in definitions.values() for s in free_symbols(e) if s in by_rate}
    unknowns = [r for r in by_rate if r in rates_used]
    if len(unknowns) != len(definitions):
        listed = ", ".join(r.name for r in unknowns) or "no rate of a coordinate without one"
        mismatch = f"but the definitions hold {listed}: as many rates as speeds are needed"
        raise ModelError(f"{len(definitions)} speeds are defined, {mismatch}")
    rows = [_rate_coefficients(scalars, u, e, unknowns) for u, e in definitions.items()]
    rhs = [sub(u, substitute(e, dict.fromkeys(unknowns, ZERO))) for u, e in definitions.items()]
    complaint = "the definitions of the speeds are not independent: they do not determine the rates"
    solution = solve_linear(rows, rhs, unknowns, complaint)
    return {by_rate[r]: value for r, value in solution.items()}


def _rate_coefficients(
    scalars: DerivationScalars, u: Symbol, e: Expr, unknowns: list[Symbol]
) -> Row:
    slopes = {r: scalars.partial(e, r) for r in unknowns}
    for r, a in slopes.items():
        if depends_on(a, lambda s: s in unknowns):
            raise ModelError(f"the definition {u} = {e} is not linear in {r}")
    return slopes


def solve_motion_constraint(
    scalars: DerivationScalars, residual: Expr, speed: Symbol | None
) -> DependentSpeed | None:
    """Solves a motion constraint for one speed, which becomes a defined quantity, as does its rate.
    None if no speed is wanted, and every coefficient may vanish in motion."""
    (settled,) = scalars.resolve((residual,))
    free = scalars.independent_speeds
    removed = solve_speed_constraint(settled, [], list(free), speed, f"'{residual} = 0'")
    if removed is None:
        raise ModelError(f"the constraint {residual} = 0 is satisfied already")
    if len(free) == 1:
        raise ModelError(f"the constraint {residual} = 0 leaves no independent speed")
    if speed is None and not removed.is_always_solvable:
        return None
    scalars.define(removed.speed, removed.relation)
    scalars.define(scalars.acceleration(removed.speed), scalars.rate(removed.relation))
    return removed
