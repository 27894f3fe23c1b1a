"""The system M u' = f that Kane's equations stand for, read off the residuals F_r + F_r*.

M is what the user's own velocities and accelerations say; if it is not symmetric, they contradict
each other, and the culprit is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bellcrank.core.errors import ModelError
from bellcrank.kane.contradictions import find_contradictions
from bellcrank.kane.equality import are_equal
from bellcrank.kane.linear_form import linear_form
from bellcrank.kane.linear_solution import solve_linear
from bellcrank.kane.missing_quantities import MissingError, MissingQuantity
from bellcrank.kane.steps import DerivationSteps
from bellcrank.symbolic.expr import (
    ONE,
    ZERO,
    Expr,
    NamedSubexpression,
    Symbol,
    add,
    mul,
    neg,
    partial,
    substitute,
)
from bellcrank.symbolic.expr.traversal import free_symbols

REAL = (
    "parameter",
    "constant",
    "coordinate",
    "speed",
    "time",
    "variable",
)  # kinds of symbols a program may hold


@dataclass(frozen=True)
class KaneSystem:
    """M u' = f over states and constants; `reactions` (in q, u, u') are what auxiliary speeds bring
    to light."""

    speeds: list[Symbol]
    M: list[list[Expr]]
    f: list[Expr]
    reactions: dict[Symbol, Expr]
    rates: list[Expr]  # of the coordinates

    @property
    def accelerations(self) -> list[Symbol]:
        return [Symbol(f"{u.name}'", "acceleration") for u in self.speeds]


def kane_system(d: DerivationSteps) -> KaneSystem:
    """M and f from the residuals F_r + F_r* = 0."""
    s = d.scalars
    missing = [MissingQuantity("rate", q.name) for q in s.coordinates if q not in s.rates]
    if missing:
        raise MissingError(missing, "the equations of motion")
    statement = d.kane()
    residuals = dict(zip(statement.speeds, s.resolve(statement.residuals.values()), strict=True))
    speeds = s.independent_speeds
    accelerations = [s.acceleration(u) for u in speeds]
    rows = [residuals[u] for u in speeds]
    for u, row in zip(speeds, rows, strict=True):
        if acting := [x.name for x in s.unknown if x in free_symbols(row)]:
            reason = "a force that an auxiliary speed measures must do no work in the real motion"
            raise ModelError(f"{', '.join(acting)} acts in the equation of {u}: {reason}", d.name)
    M, f = [], []
    for u, row in zip(speeds, rows, strict=True):
        form = linear_form(row, accelerations)
        if form is None:
            raise ModelError(
                f"the equation of {u} is not linear in the accelerations: {row}", d.name
            )
        M.append([neg(form[0].get(a, ZERO)) for a in accelerations])
        f.append(form[1])
    _check_symbols_known(d, [*f, *(x for row in M for x in row)])
    _require_symmetric(d, speeds, M)
    reactions = _solve_reactions(d, {u: residuals[u] for u in s.auxiliary})
    rates = _stabilized_rates(d, s.resolve(s.rates[q] for q in s.coordinates))
    _check_symbols_known(d, rates)
    return KaneSystem(speeds, M, f, reactions, rates)


def _solve_reactions(d: DerivationSteps, residuals: Mapping[Symbol, Expr]) -> dict[Symbol, Expr]:
    """The unknown components, from the equations of the auxiliary speeds."""
    unknowns = d.scalars.unknown
    if not unknowns:
        return {}
    rows = [{x: partial(e, x) for x in unknowns} for e in residuals.values()]
    for x in unknowns:
        if all(row[x].fingerprint == 0 for row in rows):
            remedy = (
                "give d.force or d.torque with it, on a point or body whose velocity holds its "
                "auxiliary speed"
            )
            raise ModelError(
                f"{x} does not enter the equation of any auxiliary speed: {remedy}", d.name
            )
    zero: dict[Expr, Expr] = dict.fromkeys(unknowns, ZERO)
    rhs = [neg(substitute(e, zero)) for e in residuals.values()]
    return solve_linear(
        rows,
        rhs,
        unknowns,
        "the auxiliary speeds do not determine the components they should measure",
    )


def _check_symbols_known(d: DerivationSteps, roots: Iterable[Expr]) -> None:
    for s in free_symbols(*roots):
        if s.kind not in REAL:
            reason = (
                "has no definition yet"
                if s.kind in ("control", "defined")
                else f"is left over ({s.kind})"
            )
            raise ModelError(f"{s.name} stands in the equations of motion but {reason}", d.name)


def _require_symmetric(d: DerivationSteps, speeds: Sequence[Symbol], M: list[list[Expr]]) -> None:
    for i in range(len(M)):
        for j in range(i):
            if not are_equal(M[i][j], M[j][i]):
                u, v = speeds[i], speeds[j]
                message = (
                    f"{v}' in the equation of {u} and {u}' in that of {v} have different "
                    f"coefficients"
                )
                raise ModelError(
                    f"the mass matrix is not symmetric: {message}.{_contradiction_message(d)}",
                    d.name,
                )


def _contradiction_message(d: DerivationSteps) -> str:
    """Which of the givens contradict each other."""
    messages = [str(x) for x in find_contradictions(d.motion, d.euler)]
    return (
        " " + "; ".join(messages)
        if messages
        else " A given acceleration does not belong to its velocity."
    )


def _stabilized_rates(d: DerivationSteps, rates: list[Expr]) -> list[Expr]:
    """Rates of the coordinates; those of Euler parameters get (1 - e.e) e: it keeps their size at
    1, turns nothing."""
    rate_of = dict(zip(d.scalars.coordinates, rates, strict=True))
    for four in d.euler.values():
        lack = NamedSubexpression(add(ONE, *(neg(mul(e, e)) for e in four)))
        rate_of |= {e: add(rate_of[e], mul(lack, e)) for e in four}
    return list(rate_of.values())
