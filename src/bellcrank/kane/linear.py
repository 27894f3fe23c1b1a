"""Linearised equations in symbols: small deviations from a state of the hand-led derivation.

M u' = f(q, u, t), q' = g(q, u, t) about (q0, u0) with accelerations u0':
M0 du' = K dq + C du, with K = df/dq - d(M u0')/dq and C = df/du; dq' = G dq + H du.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bellcrank.errors import ModelError
from bellcrank.expr import ONE, ZERO, Expr, Symbol, add, mul, partial, release, sub, substitute
from bellcrank.interface.interface import key_of
from bellcrank.kane.statement import Shown, latex_matrix
from bellcrank.kane.steps import Steps
from bellcrank.kane.system import kane_system

Matrix = list[list[Expr]]


@dataclass(frozen=True, repr=False)
class Linear(Shown):
    """M du' = K dq + C du and dq' = G dq + H du, rows in the order of `speeds` and `coordinates`."""

    coordinates: tuple[Symbol, ...]
    speeds: tuple[Symbol, ...]
    M: Matrix
    K: Matrix
    C: Matrix
    G: Matrix
    H: Matrix

    def __str__(self) -> str:
        lines = []
        for row, k, c in zip(self.M, self.K, self.C, strict=True):
            left = add(*(mul(x, Symbol(f"{u.name}'", "acceleration")) for x, u in zip(row, self.speeds, strict=True)))
            right = add(*map(mul, k, self.coordinates), *map(mul, c, self.speeds))
            lines.append(f"{left} = {right}")
        for q, g, h in zip(self.coordinates, self.G, self.H, strict=True):
            lines.append(f"{q}' = {add(*map(mul, g, self.coordinates), *map(mul, h, self.speeds))}")
        return "\n".join(lines)

    def latex(self) -> str:
        M, K, C, G, H = map(latex_matrix, (self.M, self.K, self.C, self.G, self.H))
        speeds = rf"{M} \, \delta\dot{{u}} = {K} \, \delta q + {C} \, \delta u"
        return rf"{speeds}, \quad \delta\dot{{q}} = {G} \, \delta q + {H} \, \delta u"


def linearized(d: Steps, at: Mapping[Any, Any]) -> Linear:
    """The linearised equations about a state; values of states and accelerations (u1') that are not given are zero."""
    system = kane_system(d)
    q, u = d.scalars.coordinates, system.speeds
    udot = system.accelerations
    by_name = {key_of(s): s for s in (*q, *u, *udot)}
    point: dict[Expr, Expr] = dict.fromkeys((*q, *u, *udot), ZERO)
    for four in d.euler.values():
        point[four[0]] = ONE
    for key, value in at.items():
        if key_of(key) not in by_name:
            listed = ", ".join(s.name for s in by_name.values())
            raise ModelError(f"at={{'{key}': ...}}: no such state. States: {listed}.")
        point[by_name[key_of(key)]] = d.scalar(value)

    def here(e: Expr) -> Expr:
        return release(substitute(e, point))

    residual = [sub(f, add(*map(mul, row, udot))) for f, row in zip(system.f, system.M, strict=True)]

    def slopes(rows: list[Expr], by: list[Symbol]) -> Matrix:
        return [[here(partial(e, s)) for s in by] for e in rows]

    M = [[here(x) for x in row] for row in system.M]
    K, C, G, H = (slopes(rows, by) for rows in (residual, system.rates) for by in (q, u))
    return Linear(tuple(q), tuple(u), M, K, C, G, H)
