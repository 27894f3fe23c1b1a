"""Balances over a short run: energy against the work of all loads, momentum against their impulse.

In:  a `Subject` and a state to start from. Out: lines of the report. The equations under check are integrated with
small errors; energies, momenta and loads come from the description. Momentum is balanced along every motion of the
whole system as one rigid body that its joints and constraints leave free: along it neither can push. Nothing of this
needs to know what the equations look like.
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
from bellcrank.verify.bodies import Motion
from bellcrank.verify.numeric import Energies, Evaluation, angular_momentum, freedom, mass_centre
from bellcrank.verify.report import Line
from bellcrank.verify.subject import UNUSABLE, Sample, Subject, batched

ENERGY = 1e-6  # of the energy that went to and fro
MOMENTUM = 1e-8  # of the momenta of all parts, or of the impulses
STEPS, MOST_STEPS, NODES = 8, 64, 4  # of the short run, and of the quadrature in each step
MOVED = 1e-3  # radians, sizes of the machine or fractions of the speeds: less does not count as a motion
TRIED = 3  # states from which a run is started
FREE = 1e-9  # fraction of a rigid motion that joints may reject, by rounding
AXES = ("n1", "n2", "n3")


@dataclass
class Account:
    """Sums over a run."""

    work: float = 0.0
    exchanged: float = 0.0
    impulse: np.ndarray = field(default_factory=lambda: np.zeros(6))
    pushed: np.ndarray = field(default_factory=lambda: np.zeros(6))
    free: np.ndarray = field(default_factory=lambda: np.ones(6, dtype=bool))


class Stands(ArithmeticError):
    """A run that does not come far enough for a balance."""


def lines_over_a_run(subject: Subject, samples: Sequence[Sample], suffix: str) -> list[Line]:
    """Energy and momentum from one random state on: the first from which a run comes far enough to count."""
    name, reasons = f"energy balance{suffix}", []
    for start in samples[:TRIED]:
        try:
            return Window(subject, start).lines(suffix)
        except Stands as error:
            reasons.append(str(error))
        except UNUSABLE as error:
            return [Line(name, math.nan, ENERGY, note=str(error))]
    return [Line(name, "not evaluated", note="; ".join(dict.fromkeys(reasons)))]


class Window:
    """A short run from a random state, and what is exchanged in it."""

    def __init__(self, subject: Subject, start: Sample) -> None:
        self.subject, self.start = subject, start
        self.t_end = start.time + (subject.description.run.t_end or 1.0)
        self.account = Account()
        self.nodes: list[tuple[Sample, float]] = []  # of all steps, with weights
        self.units = np.concatenate([subject.sizes(letter) for letter in "qu"])
        evaluation = subject.evaluation(start)
        self.units[len(start.q) :] *= evaluation.rate(evaluation.speeds(start.q, start.u))

    def at(self, t: float, y: np.ndarray) -> Sample:
        n, t0 = len(self.start.q), self.start.time
        w = 2 * math.pi / (self.t_end - t0)
        s, c = math.sin(w * (t - t0)), math.cos(w * (t - t0))
        inputs = {k: (a + v / w * s, v * c, -v * w * s) for k, (a, v, _) in self.start.inputs.items()}
        return Sample(t, y[:n], y[n:], inputs)

    def lines(self, suffix: str) -> list[Line]:
        from scipy.integrate import DOP853

        y0 = np.concatenate([self.start.q, self.start.u])
        solver = DOP853(self._rates, self.start.time, y0, self.t_end, rtol=1e-12, atol=1e-14)
        motion = 0.0
        for i in range(MOST_STEPS):
            if solver.status != "running" or (i >= STEPS and motion > MOVED):
                break
            solver.step()
            self._note_nodes(solver)
            motion = float((np.abs(solver.y - y0) / self.units).max(initial=0.0))
        t0, t1 = self.start.time, solver.t
        if not motion > MOVED and len(y0):
            raise Stands(
                f"from t = {t0:.3g} s on, for {t1 - t0:.2g} s, nothing moves by more than {motion:.1e} of its size"
            )
        self._exchange()
        samples = [self.at(t0, y0), self.at(t1, solver.y)]
        first, last = (self._energies(s) for s in samples)
        momenta = [RigidMotions(self.subject.evaluation(s), s).momenta() for s in samples]
        energy_gain = (last.kinetic - first.kinetic) + (last.gravity - first.gravity)
        size = max(self.account.exchanged, abs(last.kinetic - first.kinetic), abs(last.gravity - first.gravity))
        size = max(size, 1e-3 * max(first.kinetic, last.kinetic)) or 1.0
        note = f"from t = {t0:.3g} s on, for {t1 - t0:.2g} s"
        error = float(abs(energy_gain - self.account.work) / size)
        energy = Line(f"energy balance{suffix}", error, ENERGY, note=note)
        return [energy, *_momentum_lines(self.account, momenta, suffix)]

    def _rates(self, t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate(self.subject.rates(self.at(t, y)))

    def _energies(self, s: Sample, evaluation: Evaluation | None = None) -> Energies:
        evaluation = evaluation or self.subject.evaluation(s)
        has_drift = evaluation.drift(s.q) is not None
        return evaluation.energies(s.q, s.u, self.subject.rates(s)[1] if has_drift else np.zeros_like(s.u))

    def _note_nodes(self, solver: Any) -> None:
        """States of the last step at which powers are taken, with their weights."""
        path, half_step = solver.dense_output(), (solver.t - solver.t_old) / 2
        for x, weight in zip(*leggauss(NODES), strict=True):
            t = solver.t_old + half_step * (1 + x)
            self.nodes.append((self.at(t, path(t)), half_step * weight))

    def _exchange(self) -> None:
        """What is exchanged in the run."""
        for nodes in batched(self.nodes):
            self._look_ahead([s for s, _ in nodes])
            for s, weight in nodes:
                self._add(s, weight)

    def _look_ahead(self, samples: Sequence[Sample]) -> None:
        samples_by_id = {id(self.subject.evaluation(s)): s for s in samples}
        with suppress(*UNUSABLE):  # each for itself then
            for states in self.subject.evaluate_together(samples):
                if any(e.drift(q) is not None for e, (q, _) in zip(states.each, states.at, strict=True)):
                    states.motions([self.subject.rates(samples_by_id[id(e)])[1] for e in states.each])

    def _add(self, s: Sample, weight: float) -> None:
        account, evaluation = self.account, self.subject.evaluation(s)
        locked = evaluation.values(s.q, s.u).locked()
        if locked:
            raise Stands(f"a run comes to gimbal lock of '{locked[0]}' at t = {s.time:.3g} s")
        power = self._energies(s, evaluation).power
        account.work += weight * power
        account.exchanged += weight * abs(power)
        if account.free.any():
            rigid = RigidMotions(evaluation, s)
            loads = rigid.loads()
            account.impulse += weight * loads
            account.pushed += weight * np.abs(loads)
            account.free &= rigid.free()


def _momentum_lines(account: Account, momenta: list[tuple[np.ndarray, np.ndarray]], suffix: str) -> list[Line]:
    (initial, size_before), (final, size_after) = momenta
    imbalance = np.abs(final - initial - account.impulse)
    size = np.maximum(np.maximum(size_before, size_after), account.pushed)
    lines = []
    for name, word, group in (("linear", "along", slice(0, 3)), ("angular", "about", slice(3, 6))):
        free = account.free[group]
        if free.any():
            error = imbalance[group][free].max() / (size[group].max() or 1.0)
            loaded = (account.pushed[group] > MOMENTUM * size[group])[free].any()
            condition = "with the impulse of loads" if loaded else "conserved"
            note = f"{word} {', '.join(a for a, f in zip(AXES, free, strict=True) if f)}, {condition}"
            lines.append(Line(f"{name} momentum{suffix}", float(error), MOMENTUM, note=note))
    return lines


class RigidMotions:
    """Six motions of the machine as one rigid body: along the inertial axes, and about them through the first joint."""

    def __init__(self, evaluation: Evaluation, s: Sample) -> None:
        self.evaluation, self.q, self.motion = evaluation, s.q, evaluation.values(s.q, s.u)
        self.bodies = evaluation.machine.bodies
        on_ground = (np.asarray(jets.value(b.joint.at), dtype=float) for b in self.bodies if b.parent < 0)
        self.centre = next(on_ground, np.zeros(3))

    def _velocities(self, point: np.ndarray) -> np.ndarray:
        """Velocity of a point and angular velocity, for each of the six."""
        arm = point - self.centre
        return np.array([[*e, 0, 0, 0] for e in np.eye(3)] + [[*np.cross(e, arm), *e] for e in np.eye(3)])

    def free(self) -> np.ndarray:
        """Which of the six do all joints and constraints allow?"""
        allowed_motion = self._allowed()
        if not allowed_motion.u.shape[1]:
            return np.zeros(6, dtype=bool)
        A = np.concatenate([x[b.index] for b in self.bodies for x in (allowed_motion.v, allowed_motion.w)])
        points = [jets.value(self.motion.p[b.index]) for b in self.bodies]
        rigid_velocities = np.concatenate([self._velocities(p).T for p in points])
        scale = np.abs(A).max(axis=0, initial=0.0)
        A = A / np.where(scale > 0, scale, 1.0)
        refused = rigid_velocities - A @ np.linalg.lstsq(A, rigid_velocities, rcond=1e-12)[0]
        is_free: np.ndarray = np.abs(refused).max(axis=0) < FREE * np.maximum(1.0, np.abs(rigid_velocities).max(axis=0))
        return is_free

    def _allowed(self) -> Motion:
        closed = self.evaluation.closed
        if closed is None:
            return self.evaluation.partial_velocities(self.q)[0]
        T = closed.null_space(self.q, self.evaluation.freedoms)
        return self.evaluation.machine.still.motion(self.q, T)

    def momenta(self) -> tuple[np.ndarray, np.ndarray]:
        """Along each of the six, and the sum of the sizes of its parts."""
        total, size = np.zeros(6), np.zeros(6)
        for b in self.bodies:
            p = jets.value(self.motion.velocity(b.index, b.cm)) * jets.value(b.mass)
            body_momentum = np.concatenate([p, jets.value(angular_momentum(self.motion, b))])
            along = self._velocities(mass_centre(self.motion, b))
            total += along @ body_momentum
            size += np.abs(along) @ np.abs(body_momentum)
            if b.parent < 0 and np.any(jets.value(b.armature)):  # of rotors that stand on the ground
                rotor_momentum = float(jets.value(b.armature) * jets.value(self.motion.u[b.u][0])) * freedom(
                    self.motion, b
                )
                along = self._velocities(jets.value(self.motion.p[b.index]))
                total += along @ rotor_momentum
                size += np.abs(along) @ np.abs(rotor_momentum)
        return total, size

    def loads(self) -> np.ndarray:
        """The power of gravity and of all forces and moments in each of the six."""
        total = np.zeros(6)
        g = self.evaluation.formulas(self.motion).gravity()
        for b, (F, T) in zip(self.bodies, self.evaluation.loads(self.motion), strict=True):
            wrench = np.concatenate([F + jets.value(b.mass) * g, T])
            total += self._velocities(mass_centre(self.motion, b)) @ wrench
        return total
