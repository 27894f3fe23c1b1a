"""Closed loops of a program: assembled at the start, kept closed in a run."""

import dataclasses

import model
import numpy as np
import settings
from numeric.branch import Keeper
from numeric.elsewhere import from_elsewhere, reaches
from numeric.projection import CannotClose, Closure, RegularCorrection, Scales
from numeric.redundant import Sizes
from numeric.sides import Sides
from numeric.tuning import ASSEMBLY

N_Q, LOOPS = settings.N_Q, settings.LOOPS


def closure_of(e):
    """The constraints of the closed loops as a function of time and state."""

    def function(t, q, u):
        return e.of(model.closure, t, q, u)

    def sides(t, q, u):
        return e.of(model.sides, t, q, u)

    n_u = len(settings.STATES) - N_Q
    drawn = None if LOOPS["sided"] is None else Sides(sides, LOOPS["sided"])
    return Closure(LOOPS["names"], LOOPS["positions"], N_Q, n_u, function, Scales(**LOOPS["scales"]), sides=drawn)


def keeper_of(e, y, t=0.0, weights=None):
    """What keeps the loops closed in a run that starts at y: corrections move what is light; `weights`: if known."""

    sizes = Sizes(*LOOPS["sizes"])
    n_u = len(y) - N_Q

    def system(t, y):
        return sizes.split(e.call(model.system, t, y))

    def shift(t, y, x):
        """How coordinates change with speeds x: their rates are linear in them."""
        with_x, without = (e.of(model.coordinate_rates, t, y[:N_Q].tolist(), u) for u in (x.tolist(), [0.0] * n_u))
        return np.array(with_x) - np.array(without)

    correction = None
    if LOOPS["correction"] is not None:
        places_q, places_u, scales = LOOPS["correction"]
        correction = RegularCorrection(
            places_q,
            places_u,
            lambda t, q, u: np.array(e.of(model.correct_q, t, q.tolist(), u.tolist())),
            lambda t, q, u: np.array(e.of(model.correct_u, t, q.tolist(), u.tolist())),
            np.array(scales),
        )
    if weights is None:
        heavy = np.array(e.call(model.inertias, t, y))
        w_u = 1.0 / np.maximum(heavy, ASSEMBLY.light * (heavy.max() or 1.0))
        slopes = np.array([shift(t, y, x) for x in np.eye(n_u)]).T
        w_q = np.square(slopes) @ w_u
        weights = (np.where(w_q > 0, w_q, w_u.min()), w_u)
    return Keeper(dataclasses.replace(closure_of(e), weights=weights, correction=correction), system, shift)


def mended(e, t, y, kept):
    """A state on the constraints again, with some states as they are; dependent ones follow first, then all others."""
    closure, failed = closure_of(e), None
    may = np.array([j not in kept for j in range(len(y))])
    for free in (may & np.array(settings.FOLLOWS), may):
        try:
            return np.concatenate(closure.assemble(t, y[:N_Q], y[N_Q:], free[:N_Q], free[N_Q:], nudges=0))
        except CannotClose as error:
            failed = failed or error
    raise failed


def beside(closure, y, may):
    """The assembly nearest to y of those found from other starts, or None."""
    gap = float(np.abs(closure.evaluate(0.0, y[:N_Q], y[N_Q:])[0]).max(initial=0.0))

    def assembled(start):
        return closure.assemble(0.0, start, y[N_Q:], may[:N_Q], may[N_Q:], nudges=0)

    return from_elsewhere(assembled, y[:N_Q], may[:N_Q], reaches(np.array(LOOPS["slides"]), gap))


def assemble(e, y, given):
    """An initial state that closes the loops, and the values given that had to change: number, old and new.

    What is given is kept; if that cannot be, dependent coordinates are guesses only; then everything may move.
    """
    closure, free = closure_of(e), ~np.array(given)
    guessed = np.array(LOOPS["guessed"] + [False] * (len(y) - N_Q))
    failed = None
    for attempt, may in enumerate((free, free | guessed, np.ones(len(y), dtype=bool))):
        try:
            found = np.concatenate(closure.assemble(0.0, y[:N_Q], y[N_Q:], may[:N_Q], may[N_Q:]))
        except CannotClose as error:
            failed = failed or error
            other = beside(closure, y, may) if attempt != 1 else None
            if other is None:
                continue
            found = np.concatenate(other)
        moved = np.flatnonzero(np.array(given) & (np.abs(found - y) > ASSEMBLY.told)) if attempt else []
        return found, [(int(i), y[i], found[i]) for i in moved]
    raise failed
