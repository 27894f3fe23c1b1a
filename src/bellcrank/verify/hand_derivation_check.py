"""The check of a hand-led derivation: its own steps against each other, in numbers.

There is no description of joints, so the check starts from what the user gave: orientations,
positions, rates of coordinates, velocities, masses, loads. At random states, with derivatives by
differences along the motion:

- the program's rates of coordinates are the kinematical equations, its channels what their formulas
  say;
- angular velocities turn the direction cosines;
- velocities of mass centres move the position vectors between them;
- accelerations are the derivatives of velocities;
- accelerations keep configuration constraints, at states that are brought onto them;
- the accelerations u' of the compiled program satisfy the sum of v_r . (R - m a) + w_r . (T -
  dH/dt) = 0 for every speed (with configuration constraints: for every motion that they allow),
  with partial velocities, accelerations a and changes of angular momentum H by differences: no
  symbolic F_r, F_r*, mass matrix or solution enters;
- kinetic energy changes by the power of the loads.

A passed check verifies the algebra from those givens to the program, not that they are the machine
that was meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.choices import Backend
from bellcrank.core.errors import BellcrankError, ModelError
from bellcrank.core.name_lookup import normalized_name
from bellcrank.kane.derivation import Derivation
from bellcrank.kane.dynamics import Body
from bellcrank.kane.equations import KaneEquations
from bellcrank.kane.frames import Frame, are_connected
from bellcrank.kane.motion import Point
from bellcrank.kane.scalars import TIME
from bellcrank.mechanics.interface.interface import PARAMETERS
from bellcrank.symbolic.expr import Expr, Symbol, evaluate
from bellcrank.symbolic.vector.basis import Mat3, Vector
from bellcrank.verify.divisor_zeros import check_divisors
from bellcrank.verify.report import CheckLine, Report

ERROR_LIMIT = 1e-8  # of the largest value compared; differences of fourth order leave some 1e-11
DIFFERENCE_STEP = 1e-3
MAX_CLOSURE_STEPS = 12  # steps to a position on the configuration constraints


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
    subject = _HandDerivationCheck(eom, parameters or {}, seed, backend)
    report = Report(eom.name, states, seed)
    worst: dict[str, float] = {}
    for sample in subject.samples(states):
        for name, error in subject.errors(sample):
            worst[name] = max(worst.get(name, 0.0), error) if np.isfinite(error) else np.inf
    report.lines += [CheckLine(name, error, ERROR_LIMIT) for name, error in worst.items()]
    report.lines += subject.lines_of_divisors()
    report.lines += [CheckLine("note", note) for note in subject.notes]
    return report


@dataclass(frozen=True)
class HandDerivationSample:
    """A state with the rates of the compiled program."""

    t: float
    q: np.ndarray
    u: np.ndarray
    qdot: np.ndarray
    udot: np.ndarray
    channels: dict[str, float]
    reactions: dict[Symbol, float]


class _HandDerivationCheck:
    def __init__(
        self,
        eom: KaneEquations,
        parameters: Mapping[str, float],
        seed: int,
        backend: Backend | None,
    ) -> None:
        self.eom, self.d = eom, eom.derivation
        self.rng = np.random.default_rng(seed)
        self.sim = eom.compile(backend=backend or "auto")
        self.notes: list[str] = []
        self._resolved: dict[tuple[Expr, ...], list[Expr]] = {}
        self.constants = self._constants(parameters)
        self.inputs = {x.name: float(self.rng.uniform(-1, 1)) for x in self.d.scalars.inputs}
        n = self.d.newtonian
        self.frames = [f for f in self.d.motion.frames if f is not n and are_connected(f, n)]
        self.bodies = [b for b in self.d.machine.bodies if b in self.frames]
        self.points = self._points_in_equations()
        self.moving = self._is_homogeneous()

    def _constants(self, parameters: Mapping[str, float]) -> dict[str, float]:
        values = {
            **self.d.notes.values,
            **self.sim.interface.values_by_key(parameters, PARAMETERS, "parameters"),
        }
        missing = [c.name for c in self.d.scalars.constants if c.name not in values]
        if missing:
            self.notes.append(f"random values for {len(missing)} constants that have none")
        return {
            c.name: values.get(c.name, float(self.rng.uniform(0.5, 2)))
            for c in self.d.scalars.constants
        }

    def _points_in_equations(self) -> list[Point]:
        """Points whose velocity enters the equations."""
        points = [p for p, _ in self.d.machine.heavy_points()]
        for load in self.d.machine.loads:
            points += [x for x in (load.on, load.by) if isinstance(x, Point)]
        return list(dict.fromkeys(points))

    def _is_homogeneous(self) -> bool:
        """Do all velocities vanish with the speeds? Else motions are prescribed, and they do
        work."""
        q = self.rng.uniform(0.2, 0.8, len(self.eom.coordinates))
        rest_values = self.symbol_values(0.3, q, np.zeros(len(self.eom.speeds)))
        values = [self.velocity(p, rest_values) for p in self.points] + [
            self.angular_velocity(b, rest_values) for b in self.bodies
        ]
        is_homogeneous = all(np.linalg.norm(v) < 1e-12 for v in values)
        if not is_homogeneous:
            self.notes.append("motions are prescribed, so power and energy are not compared")
        return is_homogeneous

    def samples(self, count: int) -> Iterator[HandDerivationSample]:
        coordinate_index = {s: i for i, s in enumerate(self.eom.coordinates)}
        for _ in range(count):
            t = float(self.rng.uniform(0, 1))
            q = self.rng.uniform(-1, 1, len(self.eom.coordinates))
            u = self.rng.uniform(-1, 1, len(self.eom.speeds))
            for four in self.d.euler.values():
                index = [coordinate_index[e] for e in four]
                q[index] /= np.linalg.norm(q[index])
            if self.d.bound:
                q, u = self._project_to_constraints(t, q, u)
            state = (t, q.tolist(), u.tolist())
            qdot, udot = self.sim.derivatives(*state, parameters=self.constants, inputs=self.inputs)
            if not (np.all(np.isfinite(qdot)) and np.all(np.isfinite(udot))):
                continue  # a singular configuration of the user's coordinates
            outputs = self.sim.outputs(*state, parameters=self.constants, inputs=self.inputs)
            yield HandDerivationSample(
                t, q, u, qdot, udot, outputs, {x: outputs[x.name] for x in self.d.scalars.unknown}
            )

    def lines_of_divisors(self) -> list[CheckLine]:
        """Do dependent speeds stay finite wherever the others are?"""
        n = len(self.eom.coordinates)
        t, u = float(self.rng.uniform(0, 1)), self.rng.uniform(-1, 1, len(self.eom.speeds))
        return check_divisors(
            list(self.d.removed.values()),
            self.d.scalars.rates.values(),
            lambda roots, q: np.asarray(
                self.evaluate(list(roots), self.symbol_values(t, q, u)), dtype=float
            ),
            lambda: self.rng.uniform(-np.pi, np.pi, n),
        )

    # ---- configuration constraints

    def _project_to_constraints(
        self, t: float, q: np.ndarray, u: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """A state on the configuration constraints, near the start of runs."""
        start = {normalized_name(k): float(v) for k, v in self.d.notes.run.initial.items()}
        q = np.array([start.get(normalized_name(x), 0.0) for x in self.eom.coordinates]) + 0.2 * q
        for _ in range(MAX_CLOSURE_STEPS):
            q = q - np.linalg.pinv(
                _jacobian_by_differences(lambda x: self._constraint_residuals(t, x), q)
            ) @ self._constraint_residuals(t, q)
        J = _jacobian_by_differences(lambda x: self._gap_rates(t, q, x), u)
        for _ in range(MAX_CLOSURE_STEPS):
            u = u - np.linalg.pinv(J) @ self._gap_rates(t, q, u)
        return q, u

    def _constraint_residuals(self, t: float, q: np.ndarray) -> np.ndarray:
        return np.array(
            self.evaluate(
                self.d.configuration, self.symbol_values(t, q, np.zeros(len(self.eom.speeds)))
            )
        )

    def _gap_rates(self, t: float, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """The rates of constraints of positions, by differences along the motion; then constraints
        of speeds."""
        rate_expressions = [self.d.scalars.rates[x] for x in self.eom.coordinates]
        qdot = np.array(self.evaluate(rate_expressions, self.symbol_values(t, q, u)))
        rates = _derivative_at_zero(lambda h: self._constraint_residuals(t + h, q + h * qdot))
        return np.array([*rates, *self.evaluate(self.d.unsolved, self.symbol_values(t, q, u))])

    def _constraint_force_projector(self, s: HandDerivationSample) -> np.ndarray:
        """What takes from forces along the speeds what constraint forces can balance."""
        n, n_auxiliary = len(s.u), len(self.d.scalars.auxiliary)
        free = np.eye(n + n_auxiliary)
        if self.d.bound:
            J = _jacobian_by_differences(lambda x: self._gap_rates(s.t, s.q, x), s.u)
            free[:n, :n] -= np.linalg.pinv(J) @ J
        return free

    def _constraint_rate_error(self, s: HandDerivationSample) -> float:
        """Do accelerations keep the rates of the constraints at zero?"""
        rate = _derivative_at_zero(
            lambda h: self._gap_rates(s.t + h, s.q + h * s.qdot, s.u + h * s.udot)
        )
        J = _jacobian_by_differences(lambda x: self._gap_rates(s.t, s.q, x), s.u)
        return float(
            np.abs(rate).max() / max(np.abs(J * s.udot).max(), np.abs(s.u).max() ** 2, 1e-3)
        )

    # ---- numbers

    def symbol_values(
        self, t: float, q: np.ndarray, u: np.ndarray, auxiliary: Symbol | None = None
    ) -> dict[Expr, float]:
        """Values of all symbols."""
        symbol_values: dict[Expr, float] = {TIME: t}
        symbol_values |= {c: self.constants[c.name] for c in self.d.scalars.constants}
        symbol_values |= {x: self.inputs[x.name] for x in self.d.scalars.inputs}
        symbol_values |= dict(zip(self.eom.coordinates, map(float, q), strict=True))
        symbol_values |= dict(zip(self.eom.speeds, map(float, u), strict=True))
        symbol_values |= {x: 1.0 if x is auxiliary else 0.0 for x in self.d.scalars.auxiliary}
        symbol_values |= {self.d.scalars.acceleration(x): 0.0 for x in self.d.scalars.auxiliary}
        return symbol_values

    def evaluate(self, roots: list[Expr], symbol_values: Mapping[Expr, float]) -> list[float]:
        key = tuple(roots)
        if key not in self._resolved:
            self._resolved[key] = self.d.scalars.resolve(roots, settle=False)
        return evaluate(self._resolved[key], symbol_values)

    def evaluate_matrix(self, rows: Mat3, symbol_values: Mapping[Expr, float]) -> np.ndarray:
        return np.array(self.evaluate([x for row in rows for x in row], symbol_values)).reshape(
            3, 3
        )

    def orientation(self, frame: Frame, symbol_values: Mapping[Expr, float]) -> np.ndarray:
        """Axes of a frame (columns) in N, by multiplying matrices along the tree; N may hang below
        other frames."""
        R = self._in_root(frame, symbol_values)
        return (
            R
            if self.d.newtonian.parent is None
            else self._in_root(self.d.newtonian, symbol_values).T @ R
        )

    def _in_root(self, frame: Any, symbol_values: Mapping[Expr, float]) -> np.ndarray:
        chain = [frame]
        while chain[-1].parent is not None:
            chain.append(chain[-1].parent)
        R = np.eye(3)
        for f in reversed(chain[:-1]):
            R = R @ self.evaluate_matrix(f.R, symbol_values)
        return R

    def components(self, v: Vector, symbol_values: Mapping[Expr, float]) -> np.ndarray:
        """A vector along the axes of N."""
        total = np.zeros(3)
        values = self.evaluate(list(v.terms.values()), symbol_values)
        rotations: dict[Any, np.ndarray] = {}
        for e, c in zip(v.terms, values, strict=True):
            if e.frame not in rotations:
                rotations[e.frame] = self.orientation(e.frame, symbol_values)  # type: ignore[arg-type]
            total += c * rotations[e.frame][:, e.axis]
        return total

    def velocity(self, p: Point, symbol_values: Mapping[Expr, float]) -> np.ndarray:
        return self.components(self.d.motion.velocity(p, self.d.newtonian), symbol_values)

    def angular_velocity(self, b: Frame, symbol_values: Mapping[Expr, float]) -> np.ndarray:
        return self.components(self.d.motion.angular_velocity(b, self.d.newtonian), symbol_values)

    def angular_momentum(self, b: Body, symbol_values: Mapping[Expr, float]) -> np.ndarray:
        """Central angular momentum of a body in N."""
        R = self.orientation(b, symbol_values)
        return (
            R
            @ self.evaluate_matrix(b.inertia, symbol_values)
            @ R.T
            @ self.angular_velocity(b, symbol_values)
        )

    def time_derivative(
        self, s: HandDerivationSample, make: Callable[..., np.ndarray], *of: Any
    ) -> np.ndarray:
        """Rate of make(*of) along the motion, by differences of fourth order; first rates of t, q,
        u are enough."""
        return _derivative_at_zero(
            lambda h: make(*of, self.symbol_values(s.t + h, s.q + h * s.qdot, s.u + h * s.udot))
        )

    # ---- comparisons

    def errors(self, s: HandDerivationSample) -> Iterator[tuple[str, float]]:
        symbol_values = self.symbol_values(s.t, s.q, s.u)
        yield "rates of coordinates", self._coordinate_rate_error(s, symbol_values)
        yield "angular velocities turn the frames", self._angular_velocity_error(s, symbol_values)
        yield "velocities move the mass centres", self._velocity_error(s, symbol_values)
        yield "accelerations are rates of velocities", self._acceleration_error(s, symbol_values)
        if self.d.bound:
            yield "accelerations keep the constraints", self._constraint_rate_error(s)
        yield "Kane's equations hold", self._kane_residual(s, symbol_values)
        if self.moving and not self.d.scalars.inputs:
            yield "kinetic energy changes by the power", self._power_balance_error(s, symbol_values)
        if self.eom.analysis.outputs:
            yield "channels", self._channel_error(s, symbol_values)

    def _coordinate_rate_error(
        self, s: HandDerivationSample, symbol_values: Mapping[Expr, float]
    ) -> float:
        """The program's rates of coordinates against the kinematical equations."""
        expected = self.evaluate(
            [self.d.scalars.rates[q] for q in self.eom.coordinates], symbol_values
        )
        return _relative_difference(s.qdot, np.array(expected)) if expected else 0.0

    def _channel_error(self, s: HandDerivationSample, symbol_values: dict[Expr, float]) -> float:
        """The program's channels against their formulas."""
        outputs = self.eom.analysis.outputs
        expected = np.array(
            evaluate([o.value for o in outputs], self._with_accelerations(s, symbol_values))
        )
        actual = np.array([s.channels[o.name] for o in outputs])
        size = np.maximum(np.maximum(np.abs(expected), np.abs(actual)), 1e-3)
        return float((np.abs(expected - actual) / size).max())

    def _angular_velocity_error(
        self, s: HandDerivationSample, symbol_values: Mapping[Expr, float]
    ) -> float:
        """The rates of direction cosines against the angular velocities."""
        worst = 0.0
        for f in self.frames:
            try:
                w = self.angular_velocity(f, symbol_values)
            except BellcrankError:
                continue  # a frame whose angular velocity nothing needs
            R = self.orientation(f, symbol_values)
            spin = self.time_derivative(s, self.orientation, f) @ R.T
            angular_velocity = (
                np.array(
                    [spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]]
                )
                / 2
            )
            worst = max(worst, _relative_difference(angular_velocity, w))
        return worst

    def _velocity_error(
        self, s: HandDerivationSample, symbol_values: Mapping[Expr, float]
    ) -> float:
        worst = 0.0
        fixed = [p for (p, f), v in self.d.motion.v.items() if f is self.d.newtonian and not v]
        heavy = [p for p, _ in self.d.machine.heavy_points()]
        for base in [*fixed, *heavy[:1]]:
            for p in heavy:
                try:
                    r = self.d.motion.position(base, p, lasting=True)
                except BellcrankError:
                    continue
                rate = self.time_derivative(s, self.components, r)
                worst = max(
                    worst,
                    _relative_difference(
                        rate, self.velocity(p, symbol_values) - self.velocity(base, symbol_values)
                    ),
                )
        return worst

    def _acceleration_error(
        self, s: HandDerivationSample, symbol_values: dict[Expr, float]
    ) -> float:
        extended_values, n = self._with_accelerations(s, symbol_values), self.d.newtonian
        checks: list[Any] = [
            (self.velocity, self.d.motion.acceleration, p) for p, _ in self.d.machine.heavy_points()
        ]
        checks += [
            (self.angular_velocity, self.d.motion.angular_acceleration, b) for b in self.bodies
        ]
        pairs = [
            (
                self.time_derivative(s, velocity, x),
                self.components(acceleration(x, n), extended_values),
            )
            for velocity, acceleration, x in checks
        ]
        return max((_relative_difference(*pair) for pair in pairs), default=0.0)

    def _with_accelerations(
        self, s: HandDerivationSample, symbol_values: dict[Expr, float]
    ) -> dict[Expr, float]:
        return symbol_values | dict(
            zip(self.eom.system.accelerations, map(float, s.udot), strict=True)
        )

    def _loads(
        self, s: HandDerivationSample, symbol_values: dict[Expr, float]
    ) -> list[tuple[Point | Frame, np.ndarray]]:
        extended_values = symbol_values | dict(s.reactions)
        loads: list[tuple[Point | Frame, np.ndarray]] = []
        for load in self.d.machine.loads:
            value = self.components(load.value, extended_values)
            loads.append((load.on, value))
            if load.by is not None and load.by is not self.d.newtonian:
                loads.append((load.by, -value))
        return [(target, v) for target, v in loads if target is not self.d.newtonian]

    def _partial_velocity(
        self, target: Point | Frame, symbol_values: Mapping[Expr, float]
    ) -> np.ndarray:
        return (
            self.angular_velocity(target, symbol_values)
            if isinstance(target, Frame)
            else self.velocity(target, symbol_values)
        )

    def _kane_residual(self, s: HandDerivationSample, symbol_values: dict[Expr, float]) -> float:
        """The largest residual of F_r + F_r*, relative to the largest partial velocity times force
        in it."""
        acting = [(target, v, 0.0) for target, v in self._loads(s, symbol_values)]
        for p, mass in self.d.machine.heavy_points():
            acting.append(
                (
                    p,
                    -self.evaluate([mass], symbol_values)[0]
                    * self.time_derivative(s, self.velocity, p),
                    0.0,
                )
            )
        for b in self.d.machine.turning_bodies():
            typical_size = float(
                np.linalg.norm(self.angular_momentum(b, symbol_values))
                * np.linalg.norm(self.angular_velocity(b, symbol_values))
            )  # if nothing acts
            acting.append((b, -self.time_derivative(s, self.angular_momentum, b), typical_size))
        totals, sizes = [], []
        for r in range(len(s.u) + len(self.d.scalars.auxiliary)):
            if r < len(s.u):
                perturbed = self.symbol_values(s.t, s.q, s.u + np.eye(len(s.u))[r])
            else:
                perturbed = self.symbol_values(
                    s.t, s.q, s.u, self.d.scalars.auxiliary[r - len(s.u)]
                )
            total, size = 0.0, 0.0
            for target, v, typical_size in acting:
                partial_velocity = self._partial_velocity(
                    target, perturbed
                ) - self._partial_velocity(target, symbol_values)
                total += float(partial_velocity @ v)
                size = max(
                    size,
                    float(np.linalg.norm(partial_velocity))
                    * max(float(np.linalg.norm(v)), typical_size),
                )
            totals.append(total)
            sizes.append(size)
        residuals = np.abs(self._constraint_force_projector(s) @ np.array(totals))
        if self.d.bound:  # a balance of several speeds
            return float(residuals.max() / max(sizes)) if max(sizes) > 0 else 0.0
        return max(
            (float(x) / size for x, size in zip(residuals, sizes, strict=True) if size > 0),
            default=0.0,
        )

    def _power_balance_error(
        self, s: HandDerivationSample, symbol_values: dict[Expr, float]
    ) -> float:
        def kinetic(values: Mapping[Expr, float]) -> np.ndarray:
            total = 0.0
            for p, mass in self.d.machine.heavy_points():
                v = self.velocity(p, values)
                total += self.evaluate([mass], values)[0] * float(v @ v) / 2
            for b in self.d.machine.turning_bodies():
                total += (
                    float(self.angular_velocity(b, values) @ self.angular_momentum(b, values)) / 2
                )
            return np.array([total])

        powers = [
            float(self._partial_velocity(target, symbol_values) @ v)
            for target, v in self._loads(s, symbol_values)
        ]
        rate = float(self.time_derivative(s, kinetic)[0])
        size = max([abs(rate), *map(abs, powers), float(kinetic(symbol_values)[0])])
        return abs(rate - sum(powers)) / size if size > 0 else 0.0


def _derivative_at_zero(
    value: Callable[[float], np.ndarray], h: float = DIFFERENCE_STEP
) -> np.ndarray:
    """The derivative at zero, by differences of fourth order."""
    return (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h)


def _jacobian_by_differences(
    value: Callable[[np.ndarray], np.ndarray], x: np.ndarray
) -> np.ndarray:
    """The matrix of partial derivatives."""

    def jacobian_column(e: np.ndarray) -> np.ndarray:
        return _derivative_at_zero(lambda h: value(x + h * e))

    return np.column_stack([jacobian_column(e) for e in np.eye(len(x))])


def _relative_difference(a: np.ndarray, b: np.ndarray) -> float:
    size = max(float(np.abs(a).max()), float(np.abs(b).max()), 1e-3)
    return float(np.abs(a - b).max()) / size
