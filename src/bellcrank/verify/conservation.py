"""Balances over a short run: energy against the work of all loads, momentum against their impulse.

In:  a `ModelUnderTest` and a state to start from. Out: lines of the report. The equations under
check are integrated with small errors; energies, momenta and loads come from the description.
Momentum is balanced along every motion of the whole system as one rigid body that its joints and
constraints leave free: along it neither can push. Nothing of this needs to know what the equations
look like.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.polynomial.legendre import leggauss

from bellcrank.verify import jets
from bellcrank.verify.bodies import ReferenceMotion
from bellcrank.verify.model_under_test import UNUSABLE, CheckSample, ModelUnderTest, split_batches
from bellcrank.verify.reference_evaluation import (
    EnergyRates,
    ReferenceEvaluation,
    dof_direction,
    mass_centre,
    reference_angular_momentum,
)
from bellcrank.verify.report import CheckLine

ENERGY_TOLERANCE = 1e-6  # of the energy that went to and fro
MOMENTUM_TOLERANCE = 1e-8  # of the momenta of all parts, or of the impulses
STEPS, MOST_STEPS, NODES = 8, 64, 4  # of the short run, and of the quadrature in each step
# radians, sizes of the machine or fractions of the speeds: less does not count as a motion
MIN_MOTION = 1e-3
MAX_START_STATES = 3  # states from which a run is started
FREE_MOTION_TOLERANCE = 1e-9  # fraction of a rigid motion that joints may reject, by rounding
AXES = ("n1", "n2", "n3")


@dataclass
class EnergyAccount:
    """Sums over a run."""

    work: float = 0.0
    exchanged: float = 0.0
    impulse: np.ndarray = field(default_factory=lambda: np.zeros(6))
    pushed: np.ndarray = field(default_factory=lambda: np.zeros(6))
    free: np.ndarray = field(default_factory=lambda: np.ones(6, dtype=bool))


class NoMotionError(ArithmeticError):
    """A run that does not come far enough for a balance."""


def check_conservation(
    subject: ModelUnderTest, samples: Sequence[CheckSample], suffix: str
) -> list[CheckLine]:
    """Energy and momentum from one random state on: the first from which a run comes far enough to
    count."""
    name, reasons = f"energy balance{suffix}", []
    for start in samples[:MAX_START_STATES]:
        try:
            return ShortRun(subject, start).check_lines(suffix)
        except NoMotionError as error:
            reasons.append(str(error))
        except UNUSABLE as error:
            return [CheckLine(name, math.nan, ENERGY_TOLERANCE, note=str(error))]
    return [CheckLine(name, "not evaluated", note="; ".join(dict.fromkeys(reasons)))]


class ShortRun:
    """A short run from a random state, and what is exchanged in it."""

    def __init__(self, subject: ModelUnderTest, start: CheckSample) -> None:
        self.subject, self.start = subject, start
        self.t_end = start.time + (subject.description.run.t_end or 1.0)
        self.account = EnergyAccount()
        self.nodes: list[tuple[CheckSample, float]] = []  # of all steps, with weights
        self.units = np.concatenate([subject.state_scales(letter) for letter in "qu"])
        evaluation = subject.evaluation(start)
        self.units[len(start.q) :] *= evaluation.largest_scaled_speed(
            evaluation.all_speeds(start.q, start.u)
        )

    def sample_at(self, t: float, y: np.ndarray) -> CheckSample:
        n, t0 = len(self.start.q), self.start.time
        w = 2 * math.pi / (self.t_end - t0)
        s, c = math.sin(w * (t - t0)), math.cos(w * (t - t0))
        inputs = {
            k: (a + v / w * s, v * c, -v * w * s) for k, (a, v, _) in self.start.inputs.items()
        }
        return CheckSample(t, y[:n], y[n:], inputs)

    def check_lines(self, suffix: str) -> list[CheckLine]:
        from scipy.integrate import DOP853

        y0 = np.concatenate([self.start.q, self.start.u])
        solver = DOP853(self._rates, self.start.time, y0, self.t_end, rtol=1e-12, atol=1e-14)
        motion = 0.0
        for i in range(MOST_STEPS):
            if solver.status != "running" or (i >= STEPS and motion > MIN_MOTION):
                break
            solver.step()
            self._note_nodes(solver)
            motion = float((np.abs(solver.y - y0) / self.units).max(initial=0.0))
        t0, t1 = self.start.time, solver.t
        if not motion > MIN_MOTION and len(y0):
            raise NoMotionError(
                f"from t = {t0:.3g} s on, for {t1 - t0:.2g} s, nothing moves by more than "
                f"{motion:.1e} of its size"
            )
        self._integrate_exchange()
        samples = [self.sample_at(t0, y0), self.sample_at(t1, solver.y)]
        first, last = (self._energies(s) for s in samples)
        momenta = [RigidMotions(self.subject.evaluation(s), s).momenta() for s in samples]
        energy_gain = (last.kinetic - first.kinetic) + (last.gravity - first.gravity)
        size = max(
            self.account.exchanged,
            abs(last.kinetic - first.kinetic),
            abs(last.gravity - first.gravity),
        )
        size = max(size, 1e-3 * max(first.kinetic, last.kinetic)) or 1.0
        note = f"from t = {t0:.3g} s on, for {t1 - t0:.2g} s"
        error = float(abs(energy_gain - self.account.work) / size)
        energy = CheckLine(f"energy balance{suffix}", error, ENERGY_TOLERANCE, note=note)
        return [energy, *_momentum_lines(self.account, momenta, suffix)]

    def _rates(self, t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate(self.subject.rates(self.sample_at(t, y)))

    def _energies(
        self, s: CheckSample, evaluation: ReferenceEvaluation | None = None
    ) -> EnergyRates:
        evaluation = evaluation or self.subject.evaluation(s)
        has_drift = evaluation.drift_motion(s.q) is not None
        return evaluation.energies(
            s.q, s.u, self.subject.rates(s)[1] if has_drift else np.zeros_like(s.u)
        )

    def _note_nodes(self, solver: Any) -> None:
        """States of the last step at which powers are taken, with their weights."""
        path, half_step = solver.dense_output(), (solver.t - solver.t_old) / 2
        for x, weight in zip(*leggauss(NODES), strict=True):
            t = solver.t_old + half_step * (1 + x)
            self.nodes.append((self.sample_at(t, path(t)), half_step * weight))

    def _integrate_exchange(self) -> None:
        """What is exchanged in the run."""
        for nodes in split_batches(self.nodes):
            self._presolve([s for s, _ in nodes])
            for s, weight in nodes:
                self._add_contribution(s, weight)

    def _presolve(self, samples: Sequence[CheckSample]) -> None:
        samples_by_id = {id(self.subject.evaluation(s)): s for s in samples}
        with suppress(*UNUSABLE):  # each for itself then
            for states in self.subject.evaluate_together(samples):
                if any(
                    e.drift_motion(q) is not None
                    for e, (q, _) in zip(states.each, states.at, strict=True)
                ):
                    states.motions(
                        [self.subject.rates(samples_by_id[id(e)])[1] for e in states.each]
                    )

    def _add_contribution(self, s: CheckSample, weight: float) -> None:
        account, evaluation = self.account, self.subject.evaluation(s)
        locked = evaluation.values(s.q, s.u).gimbal_locked_bodies()
        if locked:
            raise NoMotionError(
                f"a run comes to gimbal lock of '{locked[0]}' at t = {s.time:.3g} s"
            )
        power = self._energies(s, evaluation).power
        account.work += weight * power
        account.exchanged += weight * abs(power)
        if account.free.any():
            rigid = RigidMotions(evaluation, s)
            loads = rigid.loads()
            account.impulse += weight * loads
            account.pushed += weight * np.abs(loads)
            account.free &= rigid.allowed_motions()


def _momentum_lines(
    account: EnergyAccount, momenta: list[tuple[np.ndarray, np.ndarray]], suffix: str
) -> list[CheckLine]:
    (initial, size_before), (final, size_after) = momenta
    imbalance = np.abs(final - initial - account.impulse)
    size = np.maximum(np.maximum(size_before, size_after), account.pushed)
    lines = []
    for name, word, group in (("linear", "along", slice(0, 3)), ("angular", "about", slice(3, 6))):
        free = account.free[group]
        if free.any():
            error = imbalance[group][free].max() / (size[group].max() or 1.0)
            loaded = (account.pushed[group] > MOMENTUM_TOLERANCE * size[group])[free].any()
            condition = "with the impulse of loads" if loaded else "conserved"
            note = (
                f"{word} {', '.join(a for a, f in zip(AXES, free, strict=True) if f)}, {condition}"
            )
            lines.append(
                CheckLine(f"{name} momentum{suffix}", float(error), MOMENTUM_TOLERANCE, note=note)
            )
    return lines


class RigidMotions:
    """Six motions of the machine as one rigid body: along the inertial axes, and about them through
    the first joint."""

    def __init__(self, evaluation: ReferenceEvaluation, s: CheckSample) -> None:
        self.evaluation, self.q, self.motion = evaluation, s.q, evaluation.values(s.q, s.u)
        self.bodies = evaluation.machine.bodies
        on_ground = (
            np.asarray(jets.constant_term(b.joint.at), dtype=float)
            for b in self.bodies
            if b.parent < 0
        )
        self.centre = next(on_ground, np.zeros(3))

    def _rigid_velocities(self, point: np.ndarray) -> np.ndarray:
        """Velocity of a point and angular velocity, for each of the six."""
        arm = point - self.centre
        return np.array(
            [[*e, 0, 0, 0] for e in np.eye(3)] + [[*np.cross(e, arm), *e] for e in np.eye(3)]
        )

    def allowed_motions(self) -> np.ndarray:
        """Which of the six do all joints and constraints allow?"""
        allowed_motion = self._allowed_motion()
        if not allowed_motion.u.shape[1]:
            return np.zeros(6, dtype=bool)
        A = np.concatenate(
            [x[b.index] for b in self.bodies for x in (allowed_motion.v, allowed_motion.w)]
        )
        points = [jets.constant_term(self.motion.p[b.index]) for b in self.bodies]
        rigid_velocities = np.concatenate([self._rigid_velocities(p).T for p in points])
        scale = np.abs(A).max(axis=0, initial=0.0)
        A = A / np.where(scale > 0, scale, 1.0)
        refused = rigid_velocities - A @ np.linalg.lstsq(A, rigid_velocities, rcond=1e-12)[0]
        is_free: np.ndarray = np.abs(refused).max(axis=0) < FREE_MOTION_TOLERANCE * np.maximum(
            1.0, np.abs(rigid_velocities).max(axis=0)
        )
        return is_free

    def _allowed_motion(self) -> ReferenceMotion:
        closed = self.evaluation.closed
        if closed is None:
            return self.evaluation.partial_velocities(self.q)[0]
        T = closed.null_space(self.q, self.evaluation.freedoms)
        return self.evaluation.machine.with_prescribed_at_rest.motion(self.q, T)

    def momenta(self) -> tuple[np.ndarray, np.ndarray]:
        """Along each of the six, and the sum of the sizes of its parts."""
        total, size = np.zeros(6), np.zeros(6)
        for b in self.bodies:
            p = jets.constant_term(self.motion.velocity(b.index, b.cm)) * jets.constant_term(b.mass)
            body_momentum = np.concatenate(
                [p, jets.constant_term(reference_angular_momentum(self.motion, b))]
            )
            along = self._rigid_velocities(mass_centre(self.motion, b))
            total += along @ body_momentum
            size += np.abs(along) @ np.abs(body_momentum)
            if b.parent < 0 and np.any(
                jets.constant_term(b.armature)
            ):  # of rotors that stand on the ground
                rotor_momentum = float(
                    jets.constant_term(b.armature) * jets.constant_term(self.motion.u[b.u][0])
                ) * dof_direction(self.motion, b)
                along = self._rigid_velocities(jets.constant_term(self.motion.p[b.index]))
                total += along @ rotor_momentum
                size += np.abs(along) @ np.abs(rotor_momentum)
        return total, size

    def loads(self) -> np.ndarray:
        """The power of gravity and of all forces and moments in each of the six."""
        total = np.zeros(6)
        g = self.evaluation.mechanics_evaluator(self.motion).gravity()
        for b, (F, T) in zip(self.bodies, self.evaluation.loads(self.motion), strict=True):
            wrench = np.concatenate([F + jets.constant_term(b.mass) * g, T])
            total += self._rigid_velocities(mass_centre(self.motion, b)) @ wrench
        return total
