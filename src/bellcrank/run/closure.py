"""Closed loops of a simulation: their constraints as functions, and what keeps them closed in a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from bellcrank.backend.protocol import Calls
from bellcrank.backend.start import Input
from bellcrank.expr import evaluate
from bellcrank.numeric.branch import Keeper
from bellcrank.numeric.course import At
from bellcrank.numeric.projection import Closure, RegularCorrection, steadiness
from bellcrank.numeric.sides import Sides
from bellcrank.numeric.tuning import ASSEMBLY, LOOPS
from bellcrank.run.values import known_symbols


def closure_of(model: Calls, p: Sequence[float], signals: Sequence[Input]) -> Closure | None:
    """The constraints of closed loops as a function of time and state; None without loops."""
    program = model.program
    loops = program.loops
    if loops is None:
        return None
    c = model.constants(p)

    def function(t: float, q: list[float], u: list[float]) -> list[float]:
        return model.values("closure", t, q, u, p, c, [i.function(t) for i in signals])

    def sides(t: float, q: list[float], u: list[float]) -> list[float]:
        return model.values("sides", t, q, u, p, c, [i.function(t) for i in signals])

    n_q, n_u = len(program.coordinates), len(program.speeds)
    drawn = Sides(sides, loops.sided) if loops.sides else None
    return Closure(loops.names, loops.positions, n_q, n_u, function, loops.scales, sides=drawn)


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

    def values(section: str, t: float, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        w = [*(i.function(t) for i in signals), *held.tolist()]
        return np.array(model.values(section, t, q.tolist(), u.tolist(), p, c, w))

    def singular_rates(t: float, y: np.ndarray) -> np.ndarray:
        return values("singular_rates", t, y[:n_q], y[n_q:])

    loops = model.program.loops
    correction = None
    if loops is not None and loops.correction is not None:
        moved, scales = loops.correction, np.array(loops.correction.pivot_scales)
        by_q, by_u = (partial(values, name) for name in ("correct_q", "correct_u"))
        correction = RegularCorrection(list(moved.q), list(moved.u), by_q, by_u, scales)
    w = [*(i.function(0.0) for i in signals), *held.tolist()]
    weights = inertia_weights(model, y, p, w)
    return Keeper(replace(closure, weights=weights, correction=correction), singular_rates, staged)


def inertia_weights(
    model: Calls, y: np.ndarray, p: Sequence[float], w: Sequence[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Inverse inertias of coordinates and speeds at a state: corrections move what is light."""
    program = model.program
    assert program.loops is not None
    n_q = len(program.coordinates)
    known = known_symbols(program, 0.0, y[:n_q], y[n_q:], p, w)
    inertia = np.array(evaluate([row[-1] for row in program.loops.M], known))
    largest = float(inertia.max(initial=0.0)) or 1.0
    w_u = 1.0 / np.maximum(inertia, ASSEMBLY.light * largest)
    c = model.constants(p)

    def moved(u: np.ndarray) -> np.ndarray:
        return np.array(model.values("singular_rates", 0.0, y[:n_q].tolist(), u.tolist(), p, c, w)[:n_q])

    still = moved(np.zeros(len(w_u)))
    S = np.array([moved(unit) - still for unit in np.eye(len(w_u))]).T
    w_q = np.square(S) @ w_u
    return np.where(w_q > 0, w_q, float(w_u.min())), w_u
