"""Bodies that spin about an axis of symmetry: steady motions in which speeds along turning axes are
not constant.

Speeds of a body with three rotations are along its own axes, so those of a top in steady precession
turn with its spin. Where the model does not change when the last angle is advanced and the speeds
are turned back by as much, the motion relative to a frame that does not spin is dynamics of its
own: x' - q3' G x, G the generator of that turn. Its equilibria are the steady motions, its
eigenvalues their stability. The last angle itself is cyclic there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bellcrank.analysis.jacobian_runner import Groups, JacobianEvaluation
from bellcrank.analysis.plant import AnalysisModel
from bellcrank.analysis.point import EvaluationPoint
from bellcrank.simulation.run.stepping import NO_VALUE

PROBES, NEAR, SHIFT, SAME = 3, 0.1, 0.7, 1e-9


@dataclass(frozen=True)
class SymmetricSpin:
    """The coordinate that spins, and G: speeds by speeds."""

    coordinate: int
    G: np.ndarray


def symmetric_spins(plant: AnalysisModel, point: EvaluationPoint) -> tuple[SymmetricSpin, ...]:
    """Spins about axes of symmetry of a model with these parameters and inputs."""
    symmetric_spins: tuple[SymmetricSpin, ...] = plant.cached(
        ("spins", point.p, point.w), lambda: tuple(_find_spins(plant, point))
    )
    return symmetric_spins


def _find_spins(plant: AnalysisModel, point: EvaluationPoint) -> list[SymmetricSpin]:
    if plant.loaded.program.loops is not None:
        return []
    return [s for s in _candidate_spins(plant) if _is_symmetric(plant, point, s)]


def _candidate_spins(plant: AnalysisModel) -> list[SymmetricSpin]:
    """The last of three angles of every body whose speeds are all states."""
    positions = {q.name: q.index for q in plant.interface.coordinates}
    speeds = {u.name: u.index for u in plant.interface.speeds}
    names = {s.name for s in plant.derived.analysis.mechanism.coordinates}
    candidates = []
    for body in plant.derived.analysis.mechanism.bodies:
        rotation = body.joint.last_turn
        if rotation is None:
            continue
        angle, k, groups = rotation
        angle_name = angle.name
        if (
            angle_name not in names
            or angle_name not in positions
            or any(u.name not in speeds for g in groups for u in g)
        ):
            continue
        G = np.zeros((len(speeds), len(speeds)))
        for group in groups:
            i, j = (speeds[group[(k + n) % 3].name] for n in (1, 2))
            G[i, j], G[j, i] = 1.0, -1.0
        candidates.append(SymmetricSpin(positions[angle_name], G))
    return candidates


def _is_symmetric(plant: AnalysisModel, point: EvaluationPoint, spin: SymmetricSpin) -> bool:
    """Do rates turn with the speeds when the angle is advanced? Tried at states near a point."""
    from scipy.linalg import expm

    rotation, rng, n = expm(SHIFT * spin.G), np.random.default_rng(3), len(point.q)
    for _ in range(PROBES):
        q, u = point.q + NEAR * rng.uniform(-1, 1, n), point.u + rng.uniform(-1, 1, len(point.u))
        shifted = q.copy()
        shifted[spin.coordinate] += SHIFT
        rates, shifted_rates = (
            _state_derivatives(plant, point, q, u),
            _state_derivatives(plant, point, shifted, rotation @ u),
        )
        expected = np.concatenate([rates[:n], rotation @ rates[n:]])
        if not np.all(np.abs(shifted_rates - expected) <= SAME * np.abs(rates).max(initial=1.0)):
            return False
    return True


def _state_derivatives(
    plant: AnalysisModel, point: EvaluationPoint, q: np.ndarray, u: np.ndarray
) -> np.ndarray:
    loaded, p = plant.loaded, list(point.p)
    try:
        qdot, udot = loaded.model.new_calls().derivatives(
            point.t, q.tolist(), u.tolist(), p, loaded.constants(p), list(point.w)
        )
    except NO_VALUE:
        return np.full(len(q) + len(u), np.nan)
    return np.array([*qdot, *udot])


class RotatingFrameModel:
    """Values and Jacobians of a model seen from frames that do not spin with its bodies."""

    def __init__(
        self,
        evaluation: JacobianEvaluation,
        plant: AnalysisModel,
        body_spins: Sequence[SymmetricSpin],
    ) -> None:
        self.find, self.spins, self.columns, self.notes = (
            evaluation,
            body_spins,
            evaluation.columns,
            evaluation.notes,
        )
        column_index = {s: j for j, s in enumerate(evaluation.columns)}
        self.by_q, self.by_u = (
            [column_index[x.symbol] for x in group if x.symbol is not None]
            for group in (plant.interface.coordinates, plant.interface.speeds)
        )

    def __call__(self, point: EvaluationPoint) -> tuple[Groups, Groups]:
        values, derivatives = self.find(point)
        rates, S, n = values["rates"].copy(), derivatives["rates"].copy(), len(point.q)
        for s in self.spins:
            S[n:] -= np.outer(s.G @ point.u, S[s.coordinate])
            S[n:, self.by_u] -= rates[s.coordinate] * s.G
            rates[n:] -= rates[s.coordinate] * (s.G @ point.u)
        S[:, [self.by_q[s.coordinate] for s in self.spins]] = 0.0
        return {**values, "rates": rates}, {**derivatives, "rates": S}

    def evaluate_values(self, point: EvaluationPoint) -> Groups:
        values = self.find.evaluate_values(point)
        rates, n = values["rates"].copy(), len(point.q)
        for s in self.spins:
            rates[n:] -= rates[s.coordinate] * (s.G @ point.u)
        return {**values, "rates": rates}


def to_rotating_frame(
    evaluation: JacobianEvaluation, plant: AnalysisModel, point: EvaluationPoint
) -> JacobianEvaluation:
    """What finds values and Jacobians, without the spins of symmetric bodies."""
    body_spins = symmetric_spins(plant, point)
    return RotatingFrameModel(evaluation, plant, body_spins) if body_spins else evaluation
