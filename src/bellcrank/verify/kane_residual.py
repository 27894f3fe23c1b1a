"""Kane's equations in numbers: the power of loads and inertia forces in every motion that a machine
allows.

In:  an `ReferenceEvaluation`, a state and the accelerations that a derived program claims. Out: for
every independent speed r the sum over all bodies of (F - m a) . v_r + (T - dH/dt) . w_r, which is
zero for right accelerations, next to the sum of the magnitudes of its terms, taken by bodies and
by the accelerations of the speeds; and the accelerations that this evaluation itself finds. Kane &
Levinson, Dynamics: Theory and Applications (1985), sections 4.3 and 6.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bellcrank.verify import jets
from bellcrank.verify.bodies import ReferenceMotion
from bellcrank.verify.reference_evaluation import (
    ReferenceEvaluation,
    inertia_forces,
    inertia_size,
    norm_of,
)

SCALE_FLOOR = 1e-3  # of what terms can be: smaller sums of terms count as this


@dataclass(frozen=True)
class KaneResidual:
    """What is left of each equation of motion, and the size of its terms."""

    left: np.ndarray
    size: np.ndarray

    @property
    def relative(self) -> np.ndarray:
        return np.abs(self.left) / np.where(self.size > 0, self.size, 1.0)


def virtual_power(
    evaluation: ReferenceEvaluation,
    q: np.ndarray,
    u: np.ndarray,
    udot: np.ndarray,
    exact: np.ndarray,
) -> KaneResidual:
    """What is left of the equations of motion with the accelerations claimed. Sizes are taken with
    `exact` ones of this evaluation: wrong ones do not excuse themselves. Terms of single
    accelerations may be far larger than what a body makes of all of them, as where a wheel that
    nothing drives keeps its spin while its carrier turns: the last digits of accelerations leave a
    fraction of each."""
    partials = evaluation.cached(
        ("partials", q.tobytes()), lambda: PartialVelocityMotions(evaluation, q)
    )
    residual = partials.power_residuals(evaluation.motion(q, u, udot))
    size = np.maximum(
        partials.power_scales(evaluation.motion(q, u, exact)),
        np.abs(partials.mass_matrix()) @ np.abs(exact),
    )
    if evaluation.closed is None:
        return KaneResidual(residual, size)
    T = evaluation.closed.null_space(
        q, evaluation.freedoms
    )  # along these the forces of the loops do no work
    return KaneResidual(T.T @ residual, np.abs(T).T @ size)


def accelerations(evaluation: ReferenceEvaluation, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Rates of the independent speeds (with loops: of all) by the mass matrix and what is left at
    zero rates."""

    def solve_accelerations() -> np.ndarray:
        partials = evaluation.cached(
            ("partials", q.tobytes()), lambda: PartialVelocityMotions(evaluation, q)
        )
        M, f = (
            partials.mass_matrix(),
            partials.power_residuals(evaluation.motion(q, u, np.zeros(len(u)))),
        )
        return (
            _solve_scaled(M, f)
            if evaluation.closed is None
            else evaluation.closed.accelerations(q, u, M, f)
        )

    return evaluation.cached(("accelerations", q.tobytes(), u.tobytes()), solve_accelerations)


class PartialVelocityMotions:
    """The motions with one independent speed alone at one, and what they make of loads and of
    inertia."""

    def __init__(self, evaluation: ReferenceEvaluation, q: np.ndarray) -> None:
        self.evaluation, self.bodies = evaluation, evaluation.machine.bodies
        motions, _ = evaluation.partial_velocities(q)
        shape = motions.u.shape[1], len(self.bodies), 3
        self.v, self.w, self.origin = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self.geared = np.zeros(shape[:2])  # speeds of joints with armature
        for i, b in enumerate(self.bodies):
            self.v[:, i] = motions.velocity(b.index, b.cm).T
            self.w[:, i] = motions.w[b.index].T
            self.origin[:, i] = motions.v[b.index].T
            if np.any(jets.constant_term(b.armature)):
                self.geared[:, i] = motions.u[b.u][0]
        self.R = [motions.R[b.index] for b in self.bodies]

    def mass_matrix(self) -> np.ndarray:
        n = len(self.v)
        M = np.zeros((n, n))
        for i, b in enumerate(self.bodies):
            turning = self.w[:, i] @ self.R[i]
            M += (
                jets.constant_term(b.mass) * self.v[:, i] @ self.v[:, i].T
                + turning @ jets.constant_term(b.inertia) @ turning.T
            )
            M += jets.constant_term(b.armature) * np.outer(self.geared[:, i], self.geared[:, i])
        return M

    def power_residuals(self, motion: ReferenceMotion) -> np.ndarray:
        """The power of loads and inertia forces in each of the motions, which is zero for right
        accelerations."""
        g = self.evaluation.mechanics_evaluator(motion).gravity()
        power = np.zeros(len(self.v))
        for i, (b, (F, T)) in enumerate(
            zip(self.bodies, self.evaluation.all_loads(motion), strict=True)
        ):
            ma, H_rate = inertia_forces(motion, b)
            power += self.v[:, i] @ (F + jets.constant_term(b.mass) * g - ma) + self.w[:, i] @ (
                T - H_rate
            )
        return power

    def power_scales(self, motion: ReferenceMotion) -> np.ndarray:
        """The sum of the magnitudes of all terms of that power; at least a fraction of what they
        would be if no force stood across a motion and bodies had the speeds of the model, so that
        what is zero by cancelling is zero."""
        g = self.evaluation.mechanics_evaluator(motion).gravity()
        total, bounds = np.zeros(len(self.v)), np.zeros(len(self.v))
        rotation = np.linalg.norm(self.w, axis=2)
        arms = [norm_of(jets.constant_term(b.cm)) for b in self.bodies]
        translation = np.linalg.norm(self.origin, axis=2) + rotation * np.array(arms)

        def add(i: int, force: np.ndarray, moment: np.ndarray, turning: float) -> None:
            total[:] += np.abs(self.v[:, i] @ force) + np.abs(self.w[:, i] @ moment)
            np.maximum(
                bounds,
                np.maximum(norm_of(force) * translation[:, i], turning * rotation[:, i]),
                out=bounds,
            )

        for load in (
            *self.evaluation.applied_wrenches(motion),
            *self.evaluation.geared_rotor_wrenches(motion),
        ):
            add(load.body, load.force, load.moment, norm_of(load.moment))
        rate = self.evaluation.largest_scaled_speed(jets.constant_term(motion.u))
        for i, b in enumerate(self.bodies):
            ma, H_rate = inertia_forces(motion, b)
            typical = rate**2 * np.array(
                [
                    jets.constant_term(b.mass) * self.evaluation.length,
                    norm_of(jets.constant_term(b.inertia)),
                ]
            )
            np.maximum(
                bounds,
                np.maximum(typical[0] * translation[:, i], typical[1] * rotation[:, i]),
                out=bounds,
            )
            add(i, jets.constant_term(b.mass) * g, np.zeros(3), 0.0)
            add(i, ma, H_rate, inertia_size(motion, b))
        return np.maximum(total, SCALE_FLOOR * bounds)


def _solve_scaled(M: np.ndarray, f: np.ndarray) -> np.ndarray:
    """M x = f, each unknown in its own unit."""
    scale = 1 / np.sqrt(np.where(np.diag(M) > 0, np.diag(M), 1.0))
    solution: np.ndarray = (
        scale * np.linalg.lstsq(M * np.outer(scale, scale), scale * f, rcond=None)[0]
    )
    return solution
