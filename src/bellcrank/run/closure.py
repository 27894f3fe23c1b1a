"""Closed loops of a simulation: their constraints as functions, and what keeps them closed in a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bellcrank.backend.model import Calls
from bellcrank.backend.start import Input
from bellcrank.expr import Expr, Symbol, evaluate
from bellcrank.numeric.branch import Keeper
from bellcrank.numeric.course import At
from bellcrank.numeric.projection import Closure, RegularCorrection, steadiness
from bellcrank.numeric.tuning import LOOPS


def closure_of(model: Calls, p: Sequence[float], signals: Sequence[Input]) -> Closure | None:
    """The constraints of closed loops as a function of time and state; None without loops."""
    program = model.program
    loops = program.loops
    if loops is None:
        return None
    c = model.constants(p)

    def function(t: float, q: list[float], u: list[float]) -> list[float]:
        return model.values("closure", t, q, u, p, c, [i.function(t) for i in signals])

    n_q, n_u = len(program.coordinates), len(program.speeds)
    return Closure(loops.names, loops.positions, n_q, n_u, function, loops.scales)


def rates_near_singular(model: Calls, at: At) -> list[float] | None:
    """Rates of all states without a choice of speeds, where that of the equations fails or nearly so; else None."""
    loops = model.program.loops
    if loops is None:
        return None
    *rates, ratio = model.values("singular_rates", *at)
    shape = len(loops.names), len(model.program.speeds)
    J = np.array(model.values("closure", *at)[-shape[0] * shape[1] :]).reshape(shape)
    return rates if min(ratio, steadiness(J, loops.scales)) < LOOPS.near else None


def keeper_of(
    closure: Closure,
    model: Calls,
    y: np.ndarray,
    p: Sequence[float],
    signals: Sequence[Input],
    kept: np.ndarray | None = None,
    staged: bool = False,
) -> Keeper:
    """What keeps loops closed in a run that starts at y; `kept`: values of external routines that follow the inputs;
    `staged`: are loops closed at every stage of a step?"""
    held = np.zeros(len(model.program.inputs) - len(signals)) if kept is None else kept
    c, n_q = model.constants(p), closure.n_q

    def singular_rates(t: float, y: np.ndarray) -> np.ndarray:
        return np.array(model.values("singular_rates", *at(t, y[:n_q], y[n_q:])))

    def at(t: float, q: np.ndarray, u: np.ndarray) -> At:
        return t, q.tolist(), u.tolist(), p, c, [*(i.function(t) for i in signals), *held.tolist()]

    loops = model.program.loops
    correction = None
    if loops is not None and loops.correction is not None:
        correction = RegularCorrection(
            list(loops.correction.q),
            list(loops.correction.u),
            lambda t, q, u: np.array(model.values("correct_q", *at(t, q, u))),
            lambda t, q, u: np.array(model.values("correct_u", *at(t, q, u))),
            np.array(loops.correction.pivot_scales),
        )
    w = [*(i.function(0.0) for i in signals), *held.tolist()]
    return Keeper(
        replace(closure, weights=inertia_weights(model, y, p, w), correction=correction), singular_rates, staged
    )


def inertia_weights(
    model: Calls, y: np.ndarray, p: Sequence[float], w: Sequence[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Inverse inertias of coordinates and speeds at a state: corrections move what is light."""
    program = model.program
    assert program.loops is not None
    n_q = len(program.coordinates)
    known: dict[Expr, float] = {Symbol("t", "time"): 0.0}
    for symbols, numbers in (
        (program.coordinates, y[:n_q]),
        (program.speeds, y[n_q:]),
        (program.parameters, p),
        (program.inputs, w),
    ):
        known.update(zip(symbols, map(float, numbers), strict=True))
    inertia = np.array(evaluate([row[-1] for row in program.loops.M], known))
    largest = float(inertia.max(initial=0.0)) or 1.0
    w_u = 1.0 / np.maximum(inertia, 1e-3 * largest)
    c = model.constants(p)

    def moved(u: np.ndarray) -> np.ndarray:
        return np.array(model.values("singular_rates", 0.0, y[:n_q].tolist(), u.tolist(), p, c, w)[:n_q])

    still = moved(np.zeros(len(w_u)))
    S = np.array([moved(unit) - still for unit in np.eye(len(w_u))]).T
    w_q = np.square(S) @ w_u
    return np.where(w_q > 0, w_q, float(w_u.min())), w_u
