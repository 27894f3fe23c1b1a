"""Rates of coordinates: what speeds mean, against what a derived program claims.

In:  an `Evaluation`, a state and the q' that a program claims. Out: the largest error, as a fraction of terms.
"""

from __future__ import annotations

import numpy as np

from bellcrank.verify import jets
from bellcrank.verify.jets import Jet
from bellcrank.verify.numeric import Evaluation, rate_of
from bellcrank.verify.scales import varied

FLOOR = 1e-3  # of the usual rate of a coordinate: smaller sums of terms count as this


def kinematic_error(evaluation: Evaluation, q: np.ndarray, u: np.ndarray, qdot: np.ndarray) -> float:
    """How far the claimed q' are from what the speeds mean, as the fraction of the sum of the magnitudes of the terms
    of each; and how far origins and axes of bodies that move so are from it, as the fraction of the velocities."""
    full = evaluation.speeds(q, u)
    rate = evaluation.rate(full)
    joints = evaluation.machine.own.start
    rest, *unit = evaluation.coordinate_rates(q)
    B = np.stack([x - rest for x in unit], axis=1) if unit else np.zeros((joints, 0))
    size = np.maximum(np.abs(rest) + np.abs(B) @ np.abs(full), FLOOR * rate * evaluation.units("q")[:joints])
    errors = [(np.abs(qdot[:joints] - rest - B @ full) / size).max(initial=0.0)]
    claimed = evaluation.machine.motion(Jet([q, qdot]), Jet([full]))
    moved, meant = [], []
    for b in evaluation.machine.bodies:
        R, w = jets.value(claimed.R[b.index]), jets.value(claimed.w[b.index])
        moved.append((rate_of(claimed.p[b.index]), rate_of(claimed.R[b.index])))
        meant.append((jets.value(claimed.v[b.index]), np.cross(w, R, axisb=0, axisc=0)))
    for i, usual in enumerate((rate * evaluation.length, rate)):  # origins, axes
        x, y = np.array([m[i] for m in moved]), np.array([m[i] for m in meant])
        errors.append(np.abs(x - y).max(initial=0.0) / max(usual, np.abs(y).max(initial=0.0)))
    return float(np.max(errors))


def own_error(evaluation: Evaluation, q: np.ndarray, u: np.ndarray, qdot: np.ndarray) -> float:
    """The largest error of the rates of user-defined states, as a fraction of the rate or of what it varies by."""
    meant = evaluation.own_rates(q, u)
    size = np.maximum(np.abs(meant), varied(evaluation, evaluation.own_rates, q, u))
    claimed = qdot[evaluation.machine.own]
    return float((np.abs(claimed - meant) / np.where(size > 0, size, 1.0)).max(initial=0.0))
