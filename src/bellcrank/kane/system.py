"""The system M u' = f that Kane's equations stand for, read off the residuals F_r + F_r*.

M is what the user's own velocities and accelerations say; if it is not symmetric, they contradict each other, and the
culprit is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bellcrank.errors import ModelError
from bellcrank.expr import ONE, ZERO, Expr, Held, Symbol, add, depends_on, mul, neg, partial, substitute
from bellcrank.expr.walk import symbols
from bellcrank.kane.linear_form import linear_form
from bellcrank.kane.missing import Need, missing
from bellcrank.kane.same import same_value
from bellcrank.kane.speeds import eliminate
from bellcrank.kane.steps import Steps
from bellcrank.vector.basis import Vector, dot

REAL = ("parameter", "constant", "coordinate", "speed", "time", "variable")  # kinds of symbols a program may hold


@dataclass(frozen=True)
class KaneSystem:
    """M u' = f over states and constants, and the components that auxiliary speeds bring into evidence (in q, u,
    u')."""

    speeds: list[Symbol]
    M: list[list[Expr]]
    f: list[Expr]
    reactions: dict[Symbol, Expr]
    rates: list[Expr]  # of the coordinates

    @property
    def accelerations(self) -> list[Symbol]:
        return [Symbol(f"{u.name}'", "acceleration") for u in self.speeds]


def kane_system(d: Steps) -> KaneSystem:
    """M and f from the residuals F_r + F_r* = 0."""
    s = d.scalars
    needs = [Need("rate", q.name) for q in s.coordinates if q not in s.rates]
    if needs:
        raise missing(needs, "the equations of motion")
    statement = d.kane()
    residuals = dict(zip(statement.speeds, s.resolve(statement.residuals.values()), strict=True))
    speeds = s.independent
    accelerations = [s.acceleration(u) for u in speeds]
    rows = [residuals[u] for u in speeds]
    for u, row in zip(speeds, rows, strict=True):
        bad = [x.name for x in s.unknown if depends_on(row, lambda y, x=x: y is x)]  # type: ignore[misc]
        if bad:
            raise ModelError(
                f"{', '.join(bad)} acts in the equation of {u}: a force that an auxiliary speed measures must do no"
                " work in the real motion",
                d.name,
            )
    M, f = [], []
    for u, row in zip(speeds, rows, strict=True):
        form = linear_form(row, accelerations)
        if form is None:
            raise ModelError(f"the equation of {u} is not linear in the accelerations: {row}", d.name)
        M.append([neg(form[0].get(a, ZERO)) for a in accelerations])
        f.append(form[1])
    _require_known(d, [*f, *(x for row in M for x in row)])
    _require_symmetric(d, speeds, M)
    reactions = _reactions(d, {u: residuals[u] for u in s.auxiliary})
    rates = _with_unit_size(d, s.resolve(s.rates[q] for q in s.coordinates))
    _require_known(d, rates)
    return KaneSystem(speeds, M, f, reactions, rates)


def _reactions(d: Steps, residuals: Mapping[Symbol, Expr]) -> dict[Symbol, Expr]:
    """The unknown components, from the equations of the auxiliary speeds."""
    unknowns = d.scalars.unknown
    if not unknowns:
        return {}
    rows = [{x: partial(e, x) for x in unknowns} for e in residuals.values()]
    for x in unknowns:
        if all(row[x].fingerprint == 0 for row in rows):
            raise ModelError(
                f"{x} does not enter the equation of any auxiliary speed: give d.force or d.torque with it, on a point"
                " or body whose velocity holds its auxiliary speed",
                d.name,
            )
    zero: dict[Expr, Expr] = dict.fromkeys(unknowns, ZERO)
    right = [neg(substitute(e, zero)) for e in residuals.values()]
    return eliminate(rows, right, unknowns, "the auxiliary speeds do not determine the components they should measure")


def _require_known(d: Steps, roots: Iterable[Expr]) -> None:
    for s in symbols(*roots):
        if s.kind not in REAL:
            why = "has no definition yet" if s.kind in ("control", "defined") else f"is left over ({s.kind})"
            raise ModelError(f"{s.name} stands in the equations of motion but {why}", d.name)


def _require_symmetric(d: Steps, speeds: Sequence[Symbol], M: list[list[Expr]]) -> None:
    for i in range(len(M)):
        for j in range(i):
            if not same_value(M[i][j], M[j][i]):
                raise ModelError(
                    f"the mass matrix is not symmetric: {speeds[j]}' in the equation of {speeds[i]} and {speeds[i]}'"
                    f" in that of {speeds[j]} have different coefficients.{_contradictions(d)}",
                    d.name,
                )


def _contradictions(d: Steps) -> str:
    """Which of the given accelerations is not the derivative of its velocity."""
    found = []
    m, n = d.motion, d.newtonian
    for (p, f), a in m.a.items():
        if f is n and (p, n) in m.v and not same_vector(d, a, m.derivative(m.v[p, n], n)):
            found.append(f"the acceleration given for {p} is not the derivative of its velocity")
    for (b, f), alf in m.alf.items():
        if f is n and (b, n) in m.w and not same_vector(d, alf, m.derivative(m.w[b, n], n)):
            found.append(f"the angular acceleration given for {b} is not the derivative of its angular velocity")
    return " " + "; ".join(found) if found else " A given acceleration does not belong to its velocity."


def same_vector(d: Steps, a: Vector, b: Vector) -> bool:
    """Are two vectors equal, as functions?"""
    parts = d.scalars.resolve(dot(e, a - b) for e in d.newtonian.axes)
    return all(same_value(x, ZERO) for x in parts)


def _with_unit_size(d: Steps, rates: list[Expr]) -> list[Expr]:
    """Rates of the coordinates; those of Euler parameters get (1 - e.e) e, which keeps their size at 1 and turns
    nothing."""
    s = d.scalars
    place = {q: i for i, q in enumerate(s.coordinates)}
    result = list(rates)
    for four in d.euler.values():
        lack = Held(add(ONE, *(neg(mul(e, e)) for e in four)))
        for e in four:
            result[place[e]] = add(result[place[e]], mul(lack, e))
    return result
