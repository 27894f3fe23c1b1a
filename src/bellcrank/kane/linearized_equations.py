"""Linearised equations in symbols: small deviations from a state of the hand-led derivation.

M u' = f(q, u, w, t), q' = g(q, u, w, t) about (q0, u0) with accelerations u0' and inputs w0:
M0 du' = K dq + C du + B dw, with K = df/dq - d(M u0')/dq, C = df/du, B = df/dw - d(M u0')/dw;
dq' = G dq + H du + E dw.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bellcrank.core.errors import ModelError
from bellcrank.core.name_lookup import normalized_name
from bellcrank.kane.printed_results import PrintedResult, latex_matrix
from bellcrank.kane.steps import DerivationSteps
from bellcrank.kane.system import kane_system
from bellcrank.symbolic.expr import (
    ONE,
    ZERO,
    Expr,
    Symbol,
    add,
    inline_named,
    mul,
    partial,
    sub,
    substitute,
)
from bellcrank.symbolic.expr.simplify import simplify

Matrix = list[list[Expr]]


@dataclass(frozen=True, repr=False)
class Linear(PrintedResult):
    """Linear equations in symbols: M du' = K dq + C du + B dw, dq' = G dq + H du + E dw.

    Attributes
    ----------
    coordinates, speeds, inputs : tuple
        dq, du and dw in order.
    M, K, C, B, G, H, E : matrix of Expr
        The matrices.

    Examples
    --------
    >>> from bellcrank.kane import Derivation
    >>> d = Derivation("oscillator")
    >>> (x,), (u,), (k,), P = d.coordinates("x"), d.speeds("u"), d.constants("k"), d.particle("P")
    >>> rate, velocity = d.set_rate(x, u), d.set_velocity(P, "N", "u*N1")
    >>> force = d.force(P, "-k*x*N1")
    >>> d.linearize().K
    [[-k]]
    """

    coordinates: tuple[Symbol, ...]
    speeds: tuple[Symbol, ...]
    inputs: tuple[Symbol, ...]
    M: Matrix
    K: Matrix
    C: Matrix
    B: Matrix
    G: Matrix
    H: Matrix
    E: Matrix

    def __str__(self) -> str:
        lines = []
        for row, *matrix_rows in zip(self.M, self.K, self.C, self.B, strict=True):
            left_side = add(
                *(
                    mul(x, Symbol(f"{u.name}'", "acceleration"))
                    for x, u in zip(row, self.speeds, strict=True)
                )
            )
            lines.append(f"{left_side} = {self._deviation_sum(*matrix_rows)}")
        for q, *matrix_rows in zip(self.coordinates, self.G, self.H, self.E, strict=True):
            lines.append(f"{q}' = {self._deviation_sum(*matrix_rows)}")
        return "\n".join(lines)

    def _deviation_sum(self, *slopes: list[Expr]) -> Expr:
        deviations = [
            Symbol(f"delta_{w.name}", "variable") if w.constant else w for w in self.inputs
        ]
        columns = (self.coordinates, self.speeds, deviations)
        return add(
            *(
                mul(a, x)
                for row, variables in zip(slopes, columns, strict=True)
                for a, x in zip(row, variables, strict=True)
            )
        )

    def latex(self) -> str:
        """Write the equations in LaTeX.

        Returns
        -------
        str
            The text, for display mode.
        """

        def right_hand_side(*matrices: Matrix) -> str:
            pairs = zip(matrices, ("q", "u", "w"), strict=True)
            return " + ".join(rf"{latex_matrix(m)} \, \delta {x}" for m, x in pairs if m and m[0])

        speeds = (
            rf"{latex_matrix(self.M)} \, \delta\dot{{u}} = "
            rf"{right_hand_side(self.K, self.C, self.B)}"
        )
        return rf"{speeds}, \quad \delta\dot{{q}} = {right_hand_side(self.G, self.H, self.E)}"


def linearize_derivation(
    d: DerivationSteps, operating_values: Mapping[Any, Any], wrt: Iterable[Any] | None = None
) -> Linear:
    """The linearised equations about a state; values of states, inputs and accelerations (u1') that
    are not given are zero. `wrt`: those in B and E, constants among them if wanted (default: all
    inputs)."""
    if d.bound:
        numbers = "linearise them in numbers: d.equations().compile().linearize()"
        raise ModelError(f"constraints bind the states; {numbers}", d.name)
    system = kane_system(d)
    q, u = d.scalars.coordinates, system.speeds
    udot = system.accelerations
    w = list(d.scalars.inputs) if wrt is None else [_varied_symbol(d, x) for x in wrt]
    by_name = {normalized_name(s): s for s in (*q, *u, *udot, *d.scalars.inputs)}
    point: dict[Expr, Expr] = dict.fromkeys(by_name.values(), ZERO)
    for four in d.euler.values():
        point[four[0]] = ONE
    for key, value in operating_values.items():
        if normalized_name(key) not in by_name:
            listed = ", ".join(s.name for s in by_name.values())
            raise ModelError(f"at={{'{key}': ...}}: no such state or input. There are {listed}.")
        point[by_name[normalized_name(key)]] = d.scalar(value)

    def evaluate_at_point(e: Expr) -> Expr:
        return simplify(inline_named(substitute(e, point)))

    residual = [
        sub(f, add(*map(mul, row, udot))) for f, row in zip(system.f, system.M, strict=True)
    ]

    def jacobian_at_point(rows: list[Expr], variables: list[Symbol]) -> Matrix:
        return [[evaluate_at_point(partial(e, s)) for s in variables] for e in rows]

    M = [[evaluate_at_point(x) for x in row] for row in system.M]
    K, C, B, G, H, E = (
        jacobian_at_point(rows, by) for rows in (residual, system.rates) for by in (q, u, w)
    )
    return Linear(tuple(q), tuple(u), tuple(w), M, K, C, B, G, H, E)


def _varied_symbol(d: DerivationSteps, name: Any) -> Symbol:
    symbol = d.symbol(name)
    if symbol not in d.scalars.inputs and symbol not in d.scalars.constants:
        listed = ", ".join(s.name for s in (*d.scalars.inputs, *d.scalars.constants))
        raise ModelError(f"wrt={name!r} is neither an input nor a constant. There are {listed}.")
    return symbol
