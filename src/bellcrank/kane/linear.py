"""Linearised equations in symbols: small deviations from a state of the hand-led derivation.

M u' = f(q, u, t), q' = g(q, u, t) about (q0, u0) with accelerations u0':
M0 du' = K dq + C du, with K = df/dq - d(M u0')/dq and C = df/du; dq' = G dq + H du.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bellcrank.errors import ModelError
from bellcrank.expr import ONE, ZERO, Expr, Symbol, add, latex, mul, partial, release, sub, substitute
from bellcrank.interface.interface import key_of
from bellcrank.kane.steps import Steps
from bellcrank.kane.system import kane_system

Matrix = list[list[Expr]]


@dataclass(frozen=True)
class Linear:
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

    __repr__ = __str__

    def latex(self) -> str:
        def matrix(m: Matrix) -> str:
            body = r" \\ ".join(" & ".join(latex(x) for x in row) for row in m)
            return rf"\begin{{bmatrix}} {body} \end{{bmatrix}}"

        return (
            rf"{matrix(self.M)} \, \delta\dot{{u}} = {matrix(self.K)} \, \delta q + {matrix(self.C)} \, \delta u,"
            r" \quad "
            rf"\delta\dot{{q}} = {matrix(self.G)} \, \delta q + {matrix(self.H)} \, \delta u"
        )

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"


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
            raise ModelError(
                f"at={{'{key}': ...}}: no such state. States: {', '.join(s.name for s in by_name.values())}."
            )
        point[by_name[key_of(key)]] = d.scalar(value)

    def here(e: Expr) -> Expr:
        return release(substitute(e, point))

    inertia = [add(*(mul(x, a) for x, a in zip(row, udot, strict=True))) for row in system.M]
    residual = [sub(f, m) for f, m in zip(system.f, inertia, strict=True)]

    def slopes(rows: list[Expr], by: list[Symbol]) -> Matrix:
        return [[here(partial(e, s)) for s in by] for e in rows]

    M = [[here(x) for x in row] for row in system.M]
    return Linear(
        tuple(q),
        tuple(u),
        M,
        slopes(residual, q),
        slopes(residual, u),
        slopes(system.rates, q),
        slopes(system.rates, u),
    )
