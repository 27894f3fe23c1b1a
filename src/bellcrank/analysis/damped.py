"""Damped motion from a start at rest: where a model comes to rest if damping outweighs inertia.

With damping in proportion to the mass matrix, q' is in proportion to the accelerations from rest:
the flow dq/ds = K(q) u'(q, 0), K the kinematic matrix (q' = K u). It has the equilibria of the
model, and its stable ones are those of the potential energy. The flow is followed by the linearly
implicit Euler method with one extrapolation; steps grow without bound near a stable equilibrium,
where the method becomes Newton's, and stay below half the time constant of growth elsewhere, so
that an unstable equilibrium does not attract.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bellcrank.analysis.jacobian_runner import JacobianEvaluation
from bellcrank.analysis.plant import AnalysisModel
from bellcrank.analysis.point import EvaluationPoint
from bellcrank.core.errors import RunError
from bellcrank.symbolic.expr import Symbol

MAX_STEPS = 600
STEP_TOLERANCE = (
    0.01  # error of a step, against the size of coordinates (at least 1, in equation units)
)
# a Newton step below this, against the same size, ends the motion near a stable equilibrium
STABLE_END_TOLERANCE = 0.05
UNSTABLE_END_TOLERANCE = 1e-7  # a step below this ends it near an unstable one
MAX_STEP_RATIO = 1e9  # step, against the shortest time constant: as good as infinite
GROWTH = 0.5  # longest step, against the time constant of growth


class DampedMotion:
    """The flow of a model at rest; what `held` names does not move."""

    def __init__(
        self,
        plant: AnalysisModel,
        evaluation: JacobianEvaluation,
        start: EvaluationPoint,
        held: set[str],
    ) -> None:
        coordinates, speeds = plant.interface.coordinates, plant.interface.speeds
        self.find, self.start = evaluation, replace(start, u=np.zeros(len(start.u)))
        self.free = np.array([q.name not in held for q in coordinates])
        column_index = {s: j for j, s in enumerate(evaluation.columns)}

        def column_indices(symbols: list[Symbol | None]) -> list[int]:
            return [column_index[s] for s in symbols if s is not None]

        self.by_q, self.by_u = (
            column_indices([q.symbol for q in coordinates]),
            column_indices([u.symbol for u in speeds]),
        )

    def _velocity_and_jacobian(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Velocity of the flow and its Jacobian, the latter without terms that vanish with the
        accelerations."""
        values, derivatives = self.find(replace(self.start, q=q))
        n = len(q)
        K = derivatives["rates"][:n, self.by_u]
        f = values["rates"][:n] + K @ values["rates"][n:]
        J = derivatives["rates"][:n, self.by_q] + K @ derivatives["rates"][n:, self.by_q]
        return np.where(self.free, f, 0.0), np.where(np.outer(self.free, self.free), J, 0.0)

    def _project_to_constraints(self, q: np.ndarray) -> np.ndarray:
        """The nearest coordinates that satisfy the position constraints."""
        for _ in range(20):
            values, derivatives = self.find(replace(self.start, q=q))
            g = values["positions"]
            if not len(g):
                return q
            correction = np.linalg.lstsq(derivatives["positions"][:, self.by_q], g, rcond=1e-10)[0]
            q = q - correction
            if np.abs(correction).max() < 1e-11:
                return q
        raise RunError("the position constraints cannot be satisfied")

    def _implicit_step(
        self, q: np.ndarray, flow: tuple[np.ndarray, np.ndarray], s: float
    ) -> np.ndarray:
        f, J = flow
        return self._project_to_constraints(q + np.linalg.solve(np.eye(len(q)) - s * J, s * f))

    def follow_to_equilibrium(self, accept: Callable[[EvaluationPoint], bool]) -> bool:
        """Follows the motion until `accept` accepts a point near an equilibrium; False if it comes
        near none."""
        try:
            values = self.find.evaluate_values(self.start)
            if np.abs(values["speeds"]).max(initial=0.0) > 1e-9:
                return False  # constraints move it: there is no rest
            q = self._project_to_constraints(self.start.q)
            flow = self._velocity_and_jacobian(q)
        except RunError:
            return False
        s = 1e-2 / max(
            float(np.sqrt(np.abs(flow[1]).max(initial=0.0))),
            float(np.abs(flow[0]).max(initial=0.0)),
            1e-9,
        )
        for _ in range(MAX_STEPS):
            f, J = flow
            growth = float(np.linalg.eigvals(J).real.max(initial=0.0))
            size = np.maximum(np.abs(q), 1.0)
            stable = growth <= 1e-9 * (1.0 + np.abs(J).max(initial=0.0))
            if not stable:
                s = min(s, GROWTH / growth)
            displacement = np.linalg.lstsq(J, -f, rcond=1e-12)[0] if stable else s * f
            step_size = float(np.abs(displacement / size).max(initial=0.0))
            if step_size < (STABLE_END_TOLERANCE if stable else UNSTABLE_END_TOLERANCE) and accept(
                replace(self.start, q=q)
            ):
                return True
            if step_size < UNSTABLE_END_TOLERANCE:
                # it stays where no equilibrium was found: constraints or user-defined states move
                # on
                return False
            s = min(s, MAX_STEP_RATIO / (1e-9 + np.abs(J).max(initial=0.0)))
            try:
                full_step, half_steps = (
                    self._implicit_step(q, flow, s),
                    self._implicit_step(q, flow, s / 2),
                )
                half_steps = self._implicit_step(
                    half_steps, self._velocity_and_jacobian(half_steps), s / 2
                )
                error = (
                    float(np.abs((half_steps - full_step) / size).max(initial=0.0)) / STEP_TOLERANCE
                )
                trial = self._project_to_constraints(2 * half_steps - full_step), error
                next_flow = self._velocity_and_jacobian(trial[0]) if error <= 1 else flow
            except (RunError, np.linalg.LinAlgError):
                trial, next_flow = (q, np.inf), flow
            if not np.isfinite(trial[1]) or trial[1] > 1 or not np.all(np.isfinite(trial[0])):
                s /= 4 if not np.isfinite(trial[1]) else min(4.0, 1.1 * float(np.sqrt(trial[1])))
                if s < 1e-14:
                    return False
                continue
            q, flow = trial[0], next_flow
            s *= min(4.0, 0.9 / float(np.sqrt(max(trial[1], 1e-2))))
        return False
