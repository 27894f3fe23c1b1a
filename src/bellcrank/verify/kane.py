"""The check of a hand-led derivation: its own steps against each other, in numbers.

There is no description of joints, so the check starts from what the user gave: orientations, positions, rates of
coordinates, velocities, masses, loads. At random states, with derivatives by differences along the motion:

- the program's rates of coordinates are the kinematical equations, its channels what their formulas say;
- angular velocities turn the direction cosines;
- velocities of mass centres move the position vectors between them;
- accelerations are the derivatives of velocities;
- accelerations keep configuration constraints, at states that are brought onto them;
- the accelerations u' of the compiled program satisfy the sum of v_r . (R - m a) + w_r . (T - dH/dt) = 0 for every
  speed (with configuration constraints: for every motion that they allow), with partial velocities, accelerations a
  and changes of angular momentum H by differences: no symbolic F_r, F_r*, mass matrix or solution enters;
- kinetic energy changes by the power of the loads.

A passed check verifies the algebra from those givens to the program, not that they are the machine that was meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.choices import Backend
from bellcrank.errors import BellcrankError, ModelError
from bellcrank.expr import Expr, Symbol, evaluate
from bellcrank.interface.interface import PARAMETERS
from bellcrank.kane.derivation import Derivation
from bellcrank.kane.dynamics import Body
from bellcrank.kane.equations import KaneEquations
from bellcrank.kane.frames import Frame, connected
from bellcrank.kane.motion import Point
from bellcrank.kane.scalars import TIME
from bellcrank.names import key_of
from bellcrank.vector.basis import Mat3, Vector
from bellcrank.verify.poles import line_of_divisors
from bellcrank.verify.report import Line, Report

LIMIT = 1e-8  # of the largest value compared; differences of fourth order leave some 1e-11
STEP = 1e-3
CLOSING = 12  # steps to a position on the configuration constraints


def check_derivation(
    derivation: Derivation | KaneEquations,
    states: int = 20,
    seed: int = 0,
    parameters: Mapping[str, float] | None = None,
    backend: Backend | None = None,
) -> Report:
    """Checks a hand-led derivation. Constants without a value get random ones between 0.5 and 2."""
    eom = derivation if isinstance(derivation, KaneEquations) else derivation.equations()
    if states < 1:
        raise ModelError(f"states={states!r} must be at least 1", eom.name)
    subject = _Subject(eom, parameters or {}, seed, backend)
    report = Report(eom.name, states, seed)
    worst: dict[str, float] = {}
    for sample in subject.samples(states):
        for name, error in subject.errors(sample):
            worst[name] = max(worst.get(name, 0.0), error) if np.isfinite(error) else np.inf
    report.lines += [Line(name, error, LIMIT) for name, error in worst.items()]
    report.lines += subject.lines_of_divisors()
    report.lines += [Line("note", note) for note in subject.notes]
    return report


@dataclass(frozen=True)
class Sample:
    """A state with the rates of the compiled program."""

    t: float
    q: np.ndarray
    u: np.ndarray
    qdot: np.ndarray
    udot: np.ndarray
    channels: dict[str, float]
    reactions: dict[Symbol, float]


class _Subject:
    def __init__(self, eom: KaneEquations, parameters: Mapping[str, float], seed: int, backend: Backend | None) -> None:
        self.eom, self.d = eom, eom.derivation
        self.rng = np.random.default_rng(seed)
        self.sim = eom.compile(backend=backend or "auto")
        self.notes: list[str] = []
        self._resolved: dict[tuple[Expr, ...], list[Expr]] = {}
        self.constants = self._constants(parameters)
        self.inputs = {x.name: float(self.rng.uniform(-1, 1)) for x in self.d.scalars.inputs}
        n = self.d.newtonian
        self.frames = [f for f in self.d.motion.frames if f is not n and connected(f, n)]
        self.bodies = [b for b in self.d.machine.bodies if b in self.frames]
        self.points = self._points()
        self.moving = self._homogeneous()

    def _constants(self, parameters: Mapping[str, float]) -> dict[str, float]:
        values = {**self.d.notes.values, **self.sim.interface.keyed(parameters, PARAMETERS, "parameters")}
        missing = [c.name for c in self.d.scalars.constants if c.name not in values]
        if missing:
            self.notes.append(f"random values for {len(missing)} constants that have none")
        return {c.name: values.get(c.name, float(self.rng.uniform(0.5, 2))) for c in self.d.scalars.constants}

    def _points(self) -> list[Point]:
        """Points whose velocity enters the equations."""
        points = [p for p, _ in self.d.machine.heavy_points()]
        for load in self.d.machine.loads:
            points += [x for x in (load.on, load.by) if isinstance(x, Point)]
        return list(dict.fromkeys(points))

    def _homogeneous(self) -> bool:
        """Do all velocities vanish with the speeds? Else motions are prescribed, and they do work."""
        q = self.rng.uniform(0.2, 0.8, len(self.eom.coordinates))
        rest_values = self.at(0.3, q, np.zeros(len(self.eom.speeds)))
        values = [self.velocity(p, rest_values) for p in self.points] + [
            self.turning(b, rest_values) for b in self.bodies
        ]
        is_homogeneous = all(np.linalg.norm(v) < 1e-12 for v in values)
        if not is_homogeneous:
            self.notes.append("motions are prescribed, so power and energy are not compared")
        return is_homogeneous

    def samples(self, count: int) -> Iterator[Sample]:
        coordinate_index = {s: i for i, s in enumerate(self.eom.coordinates)}
        for _ in range(count):
            t = float(self.rng.uniform(0, 1))
            q = self.rng.uniform(-1, 1, len(self.eom.coordinates))
            u = self.rng.uniform(-1, 1, len(self.eom.speeds))
            for four in self.d.euler.values():
                index = [coordinate_index[e] for e in four]
                q[index] /= np.linalg.norm(q[index])
            if self.d.bound:
                q, u = self._closed(t, q, u)
            state = (t, q.tolist(), u.tolist())
            qdot, udot = self.sim.derivatives(*state, parameters=self.constants, inputs=self.inputs)
            if not (np.all(np.isfinite(qdot)) and np.all(np.isfinite(udot))):
                continue  # a singular configuration of the user's coordinates
            outputs = self.sim.outputs(*state, parameters=self.constants, inputs=self.inputs)
            yield Sample(t, q, u, qdot, udot, outputs, {x: outputs[x.name] for x in self.d.scalars.unknown})

    def lines_of_divisors(self) -> list[Line]:
        """Do dependent speeds stay finite wherever the others are?"""
        n = len(self.eom.coordinates)
        t, u = float(self.rng.uniform(0, 1)), self.rng.uniform(-1, 1, len(self.eom.speeds))
        return line_of_divisors(
            list(self.d.removed.values()),
            self.d.scalars.rates.values(),
            lambda roots, q: np.asarray(self.numbers(list(roots), self.at(t, q, u)), dtype=float),
            lambda: self.rng.uniform(-np.pi, np.pi, n),
        )

    # ---- configuration constraints

    def _closed(self, t: float, q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A state on the configuration constraints, near the start of runs."""
        start = {key_of(k): float(v) for k, v in self.d.notes.run.initial.items()}
        q = np.array([start.get(key_of(x), 0.0) for x in self.eom.coordinates]) + 0.2 * q
        for _ in range(CLOSING):
            q = q - np.linalg.pinv(_slopes(lambda x: self._gaps(t, x), q)) @ self._gaps(t, q)
        J = _slopes(lambda x: self._gap_rates(t, q, x), u)
        for _ in range(CLOSING):
            u = u - np.linalg.pinv(J) @ self._gap_rates(t, q, u)
        return q, u

    def _gaps(self, t: float, q: np.ndarray) -> np.ndarray:
        return np.array(self.numbers(self.d.configuration, self.at(t, q, np.zeros(len(self.eom.speeds)))))

    def _gap_rates(self, t: float, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """The rates of constraints of positions, by differences along the motion; then constraints of speeds."""
        rate_expressions = [self.d.scalars.rates[x] for x in self.eom.coordinates]
        qdot = np.array(self.numbers(rate_expressions, self.at(t, q, u)))
        rates = _differences(lambda h: self._gaps(t + h, q + h * qdot))
        return np.array([*rates, *self.numbers(self.d.unsolved, self.at(t, q, u))])

    def _free(self, s: Sample) -> np.ndarray:
        """What takes from forces along the speeds what constraint forces can balance."""
        n, n_auxiliary = len(s.u), len(self.d.scalars.auxiliary)
        free = np.eye(n + n_auxiliary)
        if self.d.bound:
            J = _slopes(lambda x: self._gap_rates(s.t, s.q, x), s.u)
            free[:n, :n] -= np.linalg.pinv(J) @ J
        return free

    def _keeps(self, s: Sample) -> float:
        """Do accelerations keep the rates of the constraints at zero?"""
        rate = _differences(lambda h: self._gap_rates(s.t + h, s.q + h * s.qdot, s.u + h * s.udot))
        J = _slopes(lambda x: self._gap_rates(s.t, s.q, x), s.u)
        return float(np.abs(rate).max() / max(np.abs(J * s.udot).max(), np.abs(s.u).max() ** 2, 1e-3))

    # ---- numbers

    def at(self, t: float, q: np.ndarray, u: np.ndarray, auxiliary: Symbol | None = None) -> dict[Expr, float]:
        """Values of all symbols."""
        symbol_values: dict[Expr, float] = {TIME: t}
        symbol_values |= {c: self.constants[c.name] for c in self.d.scalars.constants}
        symbol_values |= {x: self.inputs[x.name] for x in self.d.scalars.inputs}
        symbol_values |= dict(zip(self.eom.coordinates, map(float, q), strict=True))
        symbol_values |= dict(zip(self.eom.speeds, map(float, u), strict=True))
        symbol_values |= {x: 1.0 if x is auxiliary else 0.0 for x in self.d.scalars.auxiliary}
        symbol_values |= {self.d.scalars.acceleration(x): 0.0 for x in self.d.scalars.auxiliary}
        return symbol_values

    def numbers(self, roots: list[Expr], symbol_values: Mapping[Expr, float]) -> list[float]:
        key = tuple(roots)
        if key not in self._resolved:
            self._resolved[key] = self.d.scalars.resolve(roots, settle=False)
        return evaluate(self._resolved[key], symbol_values)

    def matrix(self, rows: Mat3, symbol_values: Mapping[Expr, float]) -> np.ndarray:
        return np.array(self.numbers([x for row in rows for x in row], symbol_values)).reshape(3, 3)

    def orientation(self, frame: Frame, symbol_values: Mapping[Expr, float]) -> np.ndarray:
        """Axes of a frame (columns) in N, by multiplying matrices along the tree; N may hang below other frames."""
        R = self._in_root(frame, symbol_values)
        return R if self.d.newtonian.parent is None else self._in_root(self.d.newtonian, symbol_values).T @ R

    def _in_root(self, frame: Any, symbol_values: Mapping[Expr, float]) -> np.ndarray:
        chain = [frame]
        while chain[-1].parent is not None:
            chain.append(chain[-1].parent)
        R = np.eye(3)
        for f in reversed(chain[:-1]):
            R = R @ self.matrix(f.R, symbol_values)
        return R

    def components(self, v: Vector, symbol_values: Mapping[Expr, float]) -> np.ndarray:
        """A vector along the axes of N."""
        total = np.zeros(3)
        values = self.numbers(list(v.terms.values()), symbol_values)
        rotations: dict[Any, np.ndarray] = {}
        for e, c in zip(v.terms, values, strict=True):
            if e.frame not in rotations:
                rotations[e.frame] = self.orientation(e.frame, symbol_values)  # type: ignore[arg-type]
            total += c * rotations[e.frame][:, e.axis]
        return total

    def velocity(self, p: Point, symbol_values: Mapping[Expr, float]) -> np.ndarray:
        return self.components(self.d.motion.velocity(p, self.d.newtonian), symbol_values)

    def turning(self, b: Frame, symbol_values: Mapping[Expr, float]) -> np.ndarray:
        return self.components(self.d.motion.angular_velocity(b, self.d.newtonian), symbol_values)

    def spin(self, b: Body, symbol_values: Mapping[Expr, float]) -> np.ndarray:
        """Central angular momentum of a body in N."""
        R = self.orientation(b, symbol_values)
        return R @ self.matrix(b.inertia, symbol_values) @ R.T @ self.turning(b, symbol_values)

    def along(self, s: Sample, make: Callable[..., np.ndarray], *of: Any) -> np.ndarray:
        """Rate of make(*of) along the motion, by differences of fourth order; first rates of t, q, u are enough."""
        return _differences(lambda h: make(*of, self.at(s.t + h, s.q + h * s.qdot, s.u + h * s.udot)))

    # ---- comparisons

    def errors(self, s: Sample) -> Iterator[tuple[str, float]]:
        symbol_values = self.at(s.t, s.q, s.u)
        yield "rates of coordinates", self._rates(s, symbol_values)
        yield "angular velocities turn the frames", self._turns(s, symbol_values)
        yield "velocities move the mass centres", self._moves(s, symbol_values)
        yield "accelerations are rates of velocities", self._accelerates(s, symbol_values)
        if self.d.bound:
            yield "accelerations keep the constraints", self._keeps(s)
        yield "Kane's equations hold", self._residual(s, symbol_values)
        if self.moving and not self.d.scalars.inputs:
            yield "kinetic energy changes by the power", self._power(s, symbol_values)
        if self.eom.analysis.outputs:
            yield "channels", self._channels(s, symbol_values)

    def _rates(self, s: Sample, symbol_values: Mapping[Expr, float]) -> float:
        """The program's rates of coordinates against the kinematical equations."""
        expected = self.numbers([self.d.scalars.rates[q] for q in self.eom.coordinates], symbol_values)
        return _relative(s.qdot, np.array(expected)) if expected else 0.0

    def _channels(self, s: Sample, symbol_values: dict[Expr, float]) -> float:
        """The program's channels against their formulas."""
        outputs = self.eom.analysis.outputs
        expected = np.array(evaluate([o.value for o in outputs], self._with_accelerations(s, symbol_values)))
        actual = np.array([s.channels[o.name] for o in outputs])
        size = np.maximum(np.maximum(np.abs(expected), np.abs(actual)), 1e-3)
        return float((np.abs(expected - actual) / size).max())

    def _turns(self, s: Sample, symbol_values: Mapping[Expr, float]) -> float:
        """The rates of direction cosines against the angular velocities."""
        worst = 0.0
        for f in self.frames:
            try:
                w = self.turning(f, symbol_values)
            except BellcrankError:
                continue  # a frame whose angular velocity nothing needs
            R = self.orientation(f, symbol_values)
            spin = self.along(s, self.orientation, f) @ R.T
            angular_velocity = np.array([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]]) / 2
            worst = max(worst, _relative(angular_velocity, w))
        return worst

    def _moves(self, s: Sample, symbol_values: Mapping[Expr, float]) -> float:
        worst = 0.0
        fixed = [p for (p, f), v in self.d.motion.v.items() if f is self.d.newtonian and not v]
        heavy = [p for p, _ in self.d.machine.heavy_points()]
        for base in [*fixed, *heavy[:1]]:
            for p in heavy:
                try:
                    r = self.d.motion.position(base, p, lasting=True)
                except BellcrankError:
                    continue
                rate = self.along(s, self.components, r)
                worst = max(
                    worst, _relative(rate, self.velocity(p, symbol_values) - self.velocity(base, symbol_values))
                )
        return worst

    def _accelerates(self, s: Sample, symbol_values: dict[Expr, float]) -> float:
        extended_values, n = self._with_accelerations(s, symbol_values), self.d.newtonian
        checks: list[Any] = [(self.velocity, self.d.motion.acceleration, p) for p, _ in self.d.machine.heavy_points()]
        checks += [(self.turning, self.d.motion.angular_acceleration, b) for b in self.bodies]
        pairs = [
            (self.along(s, velocity, x), self.components(acceleration(x, n), extended_values))
            for velocity, acceleration, x in checks
        ]
        return max((_relative(*pair) for pair in pairs), default=0.0)

    def _with_accelerations(self, s: Sample, symbol_values: dict[Expr, float]) -> dict[Expr, float]:
        return symbol_values | dict(zip(self.eom.system.accelerations, map(float, s.udot), strict=True))

    def _loads(self, s: Sample, symbol_values: dict[Expr, float]) -> list[tuple[Point | Frame, np.ndarray]]:
        extended_values = symbol_values | dict(s.reactions)
        loads: list[tuple[Point | Frame, np.ndarray]] = []
        for load in self.d.machine.loads:
            value = self.components(load.value, extended_values)
            loads.append((load.on, value))
            if load.by is not None and load.by is not self.d.newtonian:
                loads.append((load.by, -value))
        return [(target, v) for target, v in loads if target is not self.d.newtonian]

    def _moved(self, target: Point | Frame, symbol_values: Mapping[Expr, float]) -> np.ndarray:
        return (
            self.turning(target, symbol_values) if isinstance(target, Frame) else self.velocity(target, symbol_values)
        )

    def _residual(self, s: Sample, symbol_values: dict[Expr, float]) -> float:
        """The largest residual of F_r + F_r*, relative to the largest partial velocity times force in it."""
        acting = [(target, v, 0.0) for target, v in self._loads(s, symbol_values)]
        for p, mass in self.d.machine.heavy_points():
            acting.append((p, -self.numbers([mass], symbol_values)[0] * self.along(s, self.velocity, p), 0.0))
        for b in self.d.machine.turning_bodies():
            typical_size = float(
                np.linalg.norm(self.spin(b, symbol_values)) * np.linalg.norm(self.turning(b, symbol_values))
            )  # if nothing acts
            acting.append((b, -self.along(s, self.spin, b), typical_size))
        totals, sizes = [], []
        for r in range(len(s.u) + len(self.d.scalars.auxiliary)):
            if r < len(s.u):
                perturbed = self.at(s.t, s.q, s.u + np.eye(len(s.u))[r])
            else:
                perturbed = self.at(s.t, s.q, s.u, self.d.scalars.auxiliary[r - len(s.u)])
            total, size = 0.0, 0.0
            for target, v, typical_size in acting:
                partial_velocity = self._moved(target, perturbed) - self._moved(target, symbol_values)
                total += float(partial_velocity @ v)
                size = max(size, float(np.linalg.norm(partial_velocity)) * max(float(np.linalg.norm(v)), typical_size))
            totals.append(total)
            sizes.append(size)
        residuals = np.abs(self._free(s) @ np.array(totals))
        if self.d.bound:  # a balance of several speeds
            return float(residuals.max() / max(sizes)) if max(sizes) > 0 else 0.0
        return max((float(x) / size for x, size in zip(residuals, sizes, strict=True) if size > 0), default=0.0)

    def _power(self, s: Sample, symbol_values: dict[Expr, float]) -> float:
        def kinetic(values: Mapping[Expr, float]) -> np.ndarray:
            total = 0.0
            for p, mass in self.d.machine.heavy_points():
                v = self.velocity(p, values)
                total += self.numbers([mass], values)[0] * float(v @ v) / 2
            for b in self.d.machine.turning_bodies():
                total += float(self.turning(b, values) @ self.spin(b, values)) / 2
            return np.array([total])

        powers = [float(self._moved(target, symbol_values) @ v) for target, v in self._loads(s, symbol_values)]
        rate = float(self.along(s, kinetic)[0])
        size = max([abs(rate), *map(abs, powers), float(kinetic(symbol_values)[0])])
        return abs(rate - sum(powers)) / size if size > 0 else 0.0


def _differences(value: Callable[[float], np.ndarray], h: float = STEP) -> np.ndarray:
    """The derivative at zero, by differences of fourth order."""
    return (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h)


def _slopes(value: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    """The matrix of partial derivatives."""

    def column(e: np.ndarray) -> np.ndarray:
        return _differences(lambda h: value(x + h * e))

    return np.column_stack([column(e) for e in np.eye(len(x))])


def _relative(a: np.ndarray, b: np.ndarray) -> float:
    size = max(float(np.abs(a).max()), float(np.abs(b).max()), 1e-3)
    return float(np.abs(a - b).max()) / size
