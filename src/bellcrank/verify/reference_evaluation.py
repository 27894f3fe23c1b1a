"""The mechanics of a description at one instant, evaluated with plain numbers.

In:  a `ReferenceMechanism`, values of the inputs, a state and accelerations. Out:
`ReferenceEvaluation`: motions, loads, inertia forces, energies and outputs of that instant. Every
body enters with its own mass and inertia, partial velocities are found with unit speeds,
accelerations by time series (`jets`); nothing of the derivation is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import methodcaller
from typing import Any, TypeVar

import numpy as np

from bellcrank.model.records import LoadRecord, StateRecord
from bellcrank.verify import jets
from bellcrank.verify.bodies import ReferenceBody, ReferenceMechanism, ReferenceMotion
from bellcrank.verify.formulas import (
    CannotEvaluate,
    ExternalRoutine,
    ScalarEvaluator,
    reference_state_key,
)
from bellcrank.verify.jets import Jet, JetBatch, Value
from bellcrank.verify.mechanics import MechanicsEvaluator, direction
from bellcrank.verify.reference_constraints import LEAST_RATE, ReferenceConstraints
from bellcrank.verify.reference_joints import ReferencePlainJoint

T = TypeVar("T")
Pieces = tuple[str, tuple[Any, ...]]  # of what, and which ones


@dataclass(frozen=True)
class AppliedWrench:
    """One load on one body: force and moment about its mass centre, in inertial axes."""

    body: int
    force: np.ndarray
    moment: np.ndarray


@dataclass(frozen=True)
class EnergyRates:
    """Kinetic energy, that of gravity, and the power of all other loads and of moving
    constraints."""

    kinetic: float
    gravity: float
    power: float


class ReferenceEvaluation:
    """One instant: a machine with inputs (value, rate, rate of that; equation units) and
    independent speeds.

    Time and inputs may be arrays, of several states: so are columns of coordinates and speeds then,
    and numbers found. With closed loops all speeds are states; `freedoms` names those that are
    free, and `length` is the system's size.
    """

    def __init__(
        self,
        machine: ReferenceMechanism,
        independent: Sequence[str],
        external: ExternalRoutine,
        time: Any = 0.0,
        inputs: Mapping[str, tuple[Any, Any, Any]] | None = None,
        freedoms: Sequence[str] | None = None,
        length: float = 1.0,
    ) -> None:
        self.constraints = machine.description.constraints
        zero = 0.0 * time
        self.of: type[Jet] = JetBatch if np.ndim(time) else Jet
        self.given: dict[str, Any] = {
            "inputs": {
                k: self.of([x, rate, second / 2]) for k, (x, rate, second) in (inputs or {}).items()
            },
            "time": self.of([time, 1.0 + zero, zero]),
            "external": external,
        }
        self._given_values: dict[str, Any] = {
            "inputs": {k: self._without_rates(x) for k, (x, _, _) in (inputs or {}).items()},
            "time": self._without_rates(time),
            "external": external,
            "values_only": True,
        }
        self._independent, self._undriven, self.time, self.driven = (
            independent,
            machine,
            time,
            inputs or {},
        )
        self.machine = machine = machine.with_prescribed_values(
            ScalarEvaluator(machine.description, machine.parameters, **self.given)
        )
        self.given["values"] = self.plain_formulas
        self.length = length
        self._kept: dict[Any, Any] = {}  # motions, formulas and loads that are asked for again
        names = machine.u_names
        self.free = [names.index(reference_state_key(s)) for s in independent]
        self.bound = [i for i in range(len(names)) if i not in set(self.free)]
        self.closed: ReferenceConstraints | None = None
        if freedoms is not None:
            if self.free != list(range(len(names))):
                raise CannotEvaluate("with closed loops all speeds must be states")
            self.closed = ReferenceConstraints(machine, self.mechanics_evaluator, length)
            self.freedoms = [names.index(reference_state_key(s)) for s in freedoms]

    def with_inputs(
        self, time: np.ndarray, inputs: Mapping[str, tuple[Any, Any, Any]]
    ) -> ReferenceEvaluation:
        """The same machine, without its loops, at other instants."""
        external = self.given["external"]
        return ReferenceEvaluation(
            self._undriven, self._independent, external, time, inputs, None, self.length
        )

    def _without_rates(self, x: Any) -> Any:
        """Numbers without any rate."""
        return JetBatch([x]) if self.of is JetBatch else np.asarray(x, dtype=float)[()]

    def cached(self, key: Any, compute: Callable[[], T]) -> T:
        """What is found the first time, and kept."""
        if key not in self._kept:
            self._kept[key] = compute()
        value: T = self._kept[key]
        return value

    def store(self, key: Any, value: T) -> T:
        """What was found elsewhere, unless it is known."""
        return self.cached(key, lambda: value)

    def mechanics_evaluator(self, motion: ReferenceMotion) -> MechanicsEvaluator:
        return self.cached(motion, lambda: MechanicsEvaluator(motion, **self.given))

    def plain_formulas(self, motion: ReferenceMotion) -> MechanicsEvaluator:
        """Formulas over the values of a motion alone, in plain numbers: those of all accelerations
        are the same."""
        q, u = (jets.constant_term(x) for x in (motion.q, motion.u))

        def made() -> MechanicsEvaluator:
            plain = not isinstance(motion.q, Jet) or (self.of is JetBatch and len(motion.q) == 1)
            return MechanicsEvaluator(
                motion if plain else self._still_motion(q, u), **self._given_values
            )

        return self.cached(("values", q.tobytes(), u.tobytes()), made)

    def _evaluate_formula(
        self,
        values: MechanicsEvaluator,
        key: Any,
        ask: Callable[[MechanicsEvaluator], T],
        moving: Callable[[], ReferenceMotion],
    ) -> T:
        """What a formula says of a motion; most need no rate of anything, and are found sooner
        without."""
        if key not in self.machine.need_rates:
            try:
                return values.known[key] if key in values.known else ask(values)
            except jets.NoDerivative:
                self.machine.need_rates.add(key)
        series = self.mechanics_evaluator(moving())
        return series.known[key] if key in series.known else ask(series)

    def _still_motion(self, q: np.ndarray, u: np.ndarray) -> ReferenceMotion:
        """A motion whose rates are not known."""
        return (
            self.machine.motion(JetBatch([q]), JetBatch([u]))
            if self.of is JetBatch
            else self.machine.motion(q, u)
        )

    def with_rates(self, motion: ReferenceMotion) -> ReferenceMotion:
        """The motion, with rates of its coordinates."""
        if isinstance(motion.q, Jet) and (self.of is Jet or len(motion.q) > 1):
            return motion
        q, u = jets.constant_term(motion.q), jets.constant_term(motion.u)
        return self.cached(
            ("moving", q.tobytes(), u.tobytes()),
            lambda: self.machine.motion_with_rates(q, self.of([u])),
        )

    # ---- speeds: all of them from the independent ones

    def constraint_values(self, motion: ReferenceMotion) -> np.ndarray:
        values = MechanicsEvaluator(motion, **self._given_values)

        def asked(i: int) -> Any:
            expression = self.constraints[i].expression
            ask: Callable[[MechanicsEvaluator], Value] = methodcaller("evaluate", expression)
            return jets.constant_term(
                self._evaluate_formula(
                    values, ("constraint", i), ask, lambda: self.with_rates(motion)
                )
            )

        residuals = [asked(i) for i in range(len(self.constraints))]
        return np.array(
            residuals
            if self.of is Jet
            else np.broadcast_arrays(np.zeros(len(self.time)), *residuals)[1:]
        )

    def constraint_slopes(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """c and A of the constraints c + A u = 0, found with unit speeds."""

        def made() -> tuple[np.ndarray, np.ndarray]:
            motions = self.unit_speed_motions(q)
            c, *unit_residuals = [
                self.constraint_values(motions.column(i)) for i in range(motions.u.shape[1])
            ]
            return c, np.stack([x - c for x in unit_residuals], axis=1)

        return self.cached(("slopes", q.tobytes()), made)

    def unit_speed_motions(self, q: np.ndarray) -> ReferenceMotion:
        """Motions with all speeds at zero, then with each alone at one."""
        n = len(self.machine.u_names)
        return self.cached(
            ("columns", q.tobytes()), lambda: self.machine.motion(q, np.eye(n, n + 1, 1))
        )

    def _bound_speeds(self, A: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        """Dependent speeds x of A_bound x = right; redundant constraints are allowed,
        contradictions are not."""
        if A.ndim > 2:  # of several states
            pairs = zip(np.moveaxis(A, -1, 0), rhs.T, strict=True)
            return np.array([self._bound_speeds(*pair) for pair in pairs]).T
        B = A[:, self.bound]
        x, _, rank, _ = np.linalg.lstsq(B, rhs, rcond=None)
        if rank < len(self.bound):
            raise CannotEvaluate("the constraints are singular in this state")
        largest = np.abs(B * x).max(initial=np.abs(rhs).max(initial=0.0))
        if np.abs(B @ x - rhs).max(initial=0.0) > 1e-8 * max(largest, 1e-300):
            raise CannotEvaluate("the constraints contradict each other in this state")
        return x

    def all_speeds(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """All speeds from the independent ones."""
        full = np.zeros((len(self.machine.u_names), *u.shape[1:]))
        full[self.free] = u
        if self.bound:
            c, A = self.constraint_slopes(q)
            full[self.bound] = self._bound_speeds(A, -(c + np.einsum("ij...,j...->i...", A, full)))
        return full

    def constraint_error(self, q: np.ndarray, qdot: np.ndarray) -> float:
        """How far the speeds that the claimed q' stand for are from the constraints, relative to
        the largest term."""
        rest_rates, *unit = self.coordinate_rates(q)
        joints = qdot[: len(rest_rates)]
        full = np.linalg.lstsq(
            np.stack([x - rest_rates for x in unit], axis=1), joints - rest_rates, rcond=None
        )[0]
        c, A = self.constraint_slopes(q)
        largest = np.abs(A * full).max(axis=1, initial=0.0)
        largest = np.maximum(
            np.maximum(largest, np.abs(c)), np.abs(A).max(axis=1, initial=0.0) * 1e-3
        )
        return float((np.abs(c + A @ full) / np.where(largest > 0, largest, 1.0)).max(initial=0.0))

    def motion(
        self, q: np.ndarray, u: np.ndarray, udot: np.ndarray | None = None
    ) -> ReferenceMotion:
        """The motion through a state; with the accelerations of the independent speeds, known to
        second order."""
        key = ("motion", q.tobytes(), u.tobytes(), None if udot is None else udot.tobytes())
        return self.cached(key, lambda: self._motion(q, u, udot))

    def values(self, q: np.ndarray, u: np.ndarray) -> ReferenceMotion:
        """The motion through a state in plain numbers, without any rate."""
        key = ("plain", q.tobytes(), u.tobytes())
        return self.cached(key, lambda: self._still_motion(q, self.all_speeds(q, u)))

    def _motion(self, q: np.ndarray, u: np.ndarray, udot: np.ndarray | None) -> ReferenceMotion:
        full, jet_type = self.all_speeds(q, u), self.of
        if udot is None:
            return self.machine.motion_with_rates(q, jet_type([full]))
        rates = np.zeros_like(full)
        rates[self.free] = udot
        if (
            self.bound
        ):  # the rate of c + A u = 0 is linear in the dependent accelerations, with the same A
            _, A = self.constraint_slopes(q)
            moving = self.machine.motion_with_rates(q, jet_type([full, rates]))
            first = self.mechanics_evaluator(
                self.machine.motion(jet_type(moving.q.c[:2]), moving.u)
            )  # the rate of q is mostly enough
            second = self.mechanics_evaluator(moving)

            def rate(i: int) -> Any:
                expression = self.constraints[i].expression
                try:
                    return rate_of(first.evaluate(expression))
                except jets.NoDerivative:
                    return rate_of(second.evaluate(expression))

            bias = np.array(
                [rate(i) + np.zeros(full.shape[1:]) for i in range(len(self.constraints))]
            )
            rates[self.bound] = self._bound_speeds(A, -bias)
        return self.machine.motion_with_rates(q, jet_type([full, rates]))

    def partial_velocities(self, q: np.ndarray) -> tuple[ReferenceMotion, ReferenceMotion]:
        """Motions with one independent speed at one (without what moves by itself), and the one
        with all at zero."""
        n, names = len(self.free), self.machine.u_names
        full = np.zeros((n + 1, len(names)))
        full[np.arange(n), self.free] = 1.0
        if self.bound:
            c, A = self.constraint_slopes(q)
            for row in full:
                row[self.bound] = self._bound_speeds(A, -(c + A @ row))
            full[:n] -= full[n]
        return self.unit_motions(q).combine_columns(full[:n].T), self.machine.motion(q, full[n])

    def unit_motions(self, q: np.ndarray) -> ReferenceMotion:
        """Motions with one speed alone at one; what leads the machine from outside stands still."""
        n = len(self.machine.u_names)
        alone = np.concatenate(
            [-np.ones((1, n)), np.eye(n)]
        )  # without what is there at zero speeds
        return self.cached(
            ("units", q.tobytes()), lambda: self.unit_speed_motions(q).combine_columns(alone)
        )

    # ---- loads

    def applied_wrenches(self, motion: ReferenceMotion) -> list[AppliedWrench]:
        """Every load on every body, without gravity."""
        pushes, values = [], self.plain_formulas(motion)
        for record in self.machine.description.forces:

            def ask(f: MechanicsEvaluator, record: LoadRecord = record) -> list[AppliedWrench]:
                return self.cached(
                    ("pushes", id(record), f), lambda: list(self.wrenches_of_load(f, record))
                )

            pushes += self._evaluate_formula(
                values, ("pushes", record.name), ask, lambda: self.with_rates(motion)
            )
        return pushes

    def wrenches_of_load(
        self, formulas: MechanicsEvaluator, record: LoadRecord
    ) -> Iterator[AppliedWrench]:
        bodies, motion = self.machine.bodies, formulas.motion
        size = record.sense * jets.constant_term(formulas.magnitude(record))
        if record.is_moment:
            f = _scale_vector(
                jets.constant_term(direction(formulas.evaluate(record.direction))), size
            )
            sides = (
                (self.machine.body_index(record.first), f),
                (self.machine.body_index(record.second), -f),
            )
            yield from (
                AppliedWrench(body, np.zeros(3), moment) for body, moment in sides if body >= 0
            )
            return
        for p, r, along in formulas.force_lines(record):
            f = _scale_vector(jets.constant_term(along), size)
            for body, force, point in ((p[0], f, p), (r[0], -f, r if record.along_points else p)):
                if body >= 0:
                    arm = jets.constant_term(
                        motion.position(*point) - motion.position(body, bodies[body].cm)
                    )
                    yield AppliedWrench(body, force, jets.cross(arm, force))

    def geared_rotor_wrenches(self, motion: ReferenceMotion) -> Iterator[AppliedWrench]:
        """Loads by which rotors behind gears resist the accelerations of joints."""
        bodies = self.machine.bodies
        for b in bodies:
            if not np.any(jets.constant_term(b.armature)):
                continue
            load = (
                -float(jets.constant_term(b.armature))
                * float(rate_of(motion.u[b.u][0]))
                * dof_direction(motion, b)
            )
            for body, sign in ((b.index, 1.0), (b.parent, -1.0)):
                if body >= 0:
                    arm = jets.constant_term(motion.p[b.index]) - mass_centre(motion, bodies[body])
                    yield AppliedWrench(
                        body, sign * load[:3], sign * (load[3:] + np.cross(arm, load[:3]))
                    )

    def loads(self, motion: ReferenceMotion) -> list[tuple[np.ndarray, np.ndarray]]:
        """(force, moment about the mass centre) on every body, without gravity, in inertial
        axes."""
        return self._sum_by_body(self.applied_wrenches(motion))

    def all_loads(self, motion: ReferenceMotion) -> list[tuple[np.ndarray, np.ndarray]]:
        """Likewise, with what rotors behind gears add, which the accelerations of joints
        determine."""
        return self._sum_by_body(
            (*self.applied_wrenches(motion), *self.geared_rotor_wrenches(motion))
        )

    def _sum_by_body(self, pushes: Iterable[AppliedWrench]) -> list[tuple[np.ndarray, np.ndarray]]:
        force, moment = (
            np.zeros((len(self.machine.bodies), 3)),
            np.zeros((len(self.machine.bodies), 3)),
        )
        for load in pushes:
            force[load.body] += load.force
            moment[load.body] += load.moment
        return list(zip(force, moment, strict=True))

    # ---- rates of coordinates

    def coordinate_rates(self, q: np.ndarray) -> list[np.ndarray]:
        """q' of joints with all speeds zero, then with each alone at one."""
        n = len(self.machine.u_names)
        return list(self.unit_speed_motions(q).coordinate_rates().reshape(-1, n + 1).T)

    def user_state_rates(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Rates of user-defined states."""
        motion = self.values(q, u)
        values = self.plain_formulas(motion)

        def rate(z: StateRecord) -> Any:
            ask: Callable[[MechanicsEvaluator], Value] = methodcaller("evaluate", z.rate)
            return jets.constant_term(
                self._evaluate_formula(
                    values, ("state", z.name), ask, lambda: self.with_rates(motion)
                )
            )

        return np.array([rate(z) for z in self.machine.description.states])

    # ---- what counts as one

    def state_scales(self, letter: str) -> np.ndarray:
        """Of every coordinate ("q") or speed ("u"): a radian, or the system's size; of user-defined
        states one."""
        return self.machine.state_scales(letter, self.length)

    def largest_scaled_speed(self, full: np.ndarray) -> float:
        """The largest of all speeds in such units, 1/s; a machine that cannot move has some speed
        all the same."""
        return float(np.max(np.abs(full) / self.state_scales("u"), initial=LEAST_RATE))

    # ---- which pieces formulas are made of here

    def active_branches(self, q: np.ndarray, u: np.ndarray) -> set[Pieces]:
        """For every load, own state and output: which of their pieces functions like max() and
        where() are in it."""

        def made() -> set[Pieces]:
            piece_sets, unresolved = self.cached(
                ("found pieces", q.tobytes(), u.tobytes()), lambda: ([set[Pieces]()], None)
            )
            return piece_sets[0] | self.active_branches_of_states(q, u, unresolved)[0][0]

        return self.cached(("pieces", q.tobytes(), u.tobytes()), made)

    def active_branches_of_states(
        self, q: np.ndarray, u: np.ndarray, requested: set[Any] | None = None
    ) -> tuple[list[set[Pieces]], set[Any]]:
        """The same for each of several states, and what cannot be evaluated in all of them at once;
        with `requested` of these formulas alone."""
        selected_pieces: list[Any] = []
        values = MechanicsEvaluator(self.values(q, u), **self._given_values, chosen=selected_pieces)
        series: list[MechanicsEvaluator] = []  # of formulas that need rates
        d = self.machine.description
        requests = [(("force", f.name), methodcaller("magnitude", f)) for f in d.forces]
        requests += [(("state", z.name), methodcaller("evaluate", z.rate)) for z in d.states]
        requests += [
            (("output", x.name), methodcaller("evaluate", x.expression)) for x in d.outputs
        ]
        piece_sets: list[set[Pieces]] = [set() for _ in range(np.size(self.time))]
        unresolved = set()
        for key, ask in requests:
            if requested is not None and key not in requested:
                continue
            selected_pieces.clear()
            try:
                if key not in self.machine.need_rates:
                    try:
                        ask(values)
                    except jets.NoDerivative:
                        self.machine.need_rates.add(key)
                if key in self.machine.need_rates:
                    selected_pieces.clear()
                    options = {**self.given, "values": None}  # whose pieces would not be noted
                    series = series or [
                        MechanicsEvaluator(self.motion(q, u), **options, chosen=selected_pieces)
                    ]
                    ask(series[0])
            except (CannotEvaluate, jets.NoDerivative):
                unresolved.add(key)
                continue
            for i, piece_set in enumerate(piece_sets if selected_pieces else ()):
                piece_set.add((key[1], tuple(c[i if len(c) > 1 else 0] for c in selected_pieces)))
        return piece_sets, unresolved

    # ---- energy and momentum

    def energies(self, q: np.ndarray, u: np.ndarray, udot: np.ndarray) -> EnergyRates:
        """With the accelerations claimed, which only count where `drift_motion` is a motion."""
        drift = self.drift_motion(q)
        motion = self.values(q, u) if drift is None else self.motion(q, u, udot)
        g = self.mechanics_evaluator(motion).gravity()
        kinetic, gravity = self._kinetic_and_gravity(motion)
        power = 0.0
        bodies, inner = self.machine.bodies, self.all_loads(motion) if drift is not None else []
        for b, (F, T) in zip(bodies, self.loads(motion), strict=True):
            m, w = float(jets.constant_term(b.mass)), jets.constant_term(motion.w[b.index])
            v = jets.constant_term(motion.velocity(b.index, b.cm))
            power += float(F @ v + T @ w)
            if (
                drift is not None
            ):  # constraints that move do work along what moves with all independent speeds zero
                ma, H_rate = inertia_forces(motion, b)
                F, T = inner[b.index]
                power += float((ma - F - m * g) @ jets.constant_term(drift.velocity(b.index, b.cm)))
                power += float((H_rate - T) @ jets.constant_term(drift.w[b.index]))
        return EnergyRates(kinetic, gravity, power)

    def drift_motion(self, q: np.ndarray) -> ReferenceMotion | None:
        """The motion with independent speeds zero, or the smallest that the loops allow; None if
        that is rest."""
        return self.cached(("drift", q.tobytes()), lambda: self._drift_motion(q))

    def _drift_motion(self, q: np.ndarray) -> ReferenceMotion | None:
        if self.closed is None:
            has_drift = self.machine.is_prescribed_moving or (
                self.bound and np.any(self.constraint_slopes(q)[0])
            )
            return self.partial_velocities(q)[1] if has_drift else None
        u = self.closed.drift_speeds(q)
        return self.machine.motion(q, u) if np.any(u) or self.machine.is_prescribed_moving else None

    def outputs(self, q: np.ndarray, u: np.ndarray, udot: np.ndarray) -> dict[str, float]:
        """Output channels of the description in equation units; one that cannot be evaluated is
        missing."""
        motion = self.values(q, u)
        values, channels = self.plain_formulas(motion), dict[str, float]()

        def asked(key: Any, ask: Callable[[MechanicsEvaluator], Value]) -> float:
            return float(
                jets.constant_term(
                    self._evaluate_formula(values, key, ask, lambda: self.motion(q, u, udot))
                )
            )

        for record in self.machine.description.outputs:
            try:
                channels[record.name] = asked(
                    ("output", record.name), methodcaller("evaluate", record.expression)
                )
            except (CannotEvaluate, jets.NoDerivative):
                continue
        for group in self.machine.description.output_groups:
            channels = {**self._group_outputs(group.lower(), motion, asked), **channels}
        return channels

    def echo(self, q: np.ndarray, u: np.ndarray) -> dict[str, float]:
        """What user functions give to the echo of a run that starts here."""
        formulas = self.mechanics_evaluator(self.motion(q, u))
        echo_values: dict[str, float] = {}
        for e in self.machine.description.externals:
            if e.when == "echo":
                values = formulas.call_user_function(e, [formulas.evaluate(a) for a in e.arguments])
                echo_values |= {
                    name: float(jets.constant_term(x))
                    for name, x in zip(e.returns or (e.name,), values, strict=True)
                }
        return echo_values

    def _group_outputs(
        self, group: str, motion: ReferenceMotion, evaluate_output: Callable[..., float]
    ) -> dict[str, float]:
        """Channels that the description asks for by a word."""
        if group in ("forces", "moments"):
            records = [
                f for f in self.machine.description.forces if f.is_moment == (group == "moments")
            ]
            return {
                f.name: evaluate_output(("force", f.name), methodcaller("magnitude", f))
                for f in records
            }
        if group == "energy":
            kinetic, potential = self._kinetic_and_gravity(motion)
            return {"kinetic": kinetic, "potential": potential, "energy": kinetic + potential}
        if group == "momentum":
            p, h = np.zeros(3), np.zeros(3)
            for b in self.machine.bodies:
                mv = jets.constant_term(motion.velocity(b.index, b.cm)) * jets.constant_term(b.mass)
                p += mv
                h += np.cross(mass_centre(motion, b), mv) + jets.constant_term(
                    reference_angular_momentum(motion, b)
                )
            return {
                f"{letter}{i + 1}": float(x[i])
                for letter, x in (("p", p), ("h", h))
                for i in range(3)
            }
        return {}

    def _kinetic_and_gravity(self, motion: ReferenceMotion) -> tuple[float, float]:
        g = self.mechanics_evaluator(motion).gravity()
        kinetic = gravity = 0.0
        for b in self.machine.bodies:
            m, w = float(jets.constant_term(b.mass)), jets.constant_term(motion.w[b.index])
            v = jets.constant_term(motion.velocity(b.index, b.cm))
            kinetic += 0.5 * m * float(v @ v) + 0.5 * float(
                w @ jets.constant_term(reference_angular_momentum(motion, b))
            )
            if np.any(jets.constant_term(b.armature)):
                kinetic += 0.5 * float(
                    jets.constant_term(b.armature) * jets.constant_term(motion.u[b.u][0]) ** 2
                )
            gravity -= m * float(g @ mass_centre(motion, b))
        return kinetic, gravity


def _scale_vector(v: np.ndarray, size: Any) -> np.ndarray:
    """A vector times a number, of one state or of several."""
    scaled: np.ndarray = np.multiply.outer(v, size) if v.ndim == 1 else v * size
    return scaled


def rate_of(x: Value) -> Any:
    return jets.constant_term(jets.jet_time_derivative(x))


def norm_of(x: Any) -> float:
    return float(np.linalg.norm(x))


def mass_centre(motion: ReferenceMotion, b: ReferenceBody) -> Any:
    """Where it is, in inertial axes."""
    return jets.constant_term(motion.position(b.index, b.cm))


def reference_angular_momentum(motion: ReferenceMotion, b: ReferenceBody) -> Value:
    """About the body's own mass centre."""
    R = motion.R[b.index]
    return R @ (b.inertia @ (R.T @ motion.w[b.index]))


def dof_direction(motion: ReferenceMotion, b: ReferenceBody) -> np.ndarray:
    """Direction (along, about) of the one degree of freedom of a plain joint, in inertial axes."""
    joint, about = b.joint, np.zeros(6)
    assert isinstance(joint, ReferencePlainJoint)
    if joint.slides:
        about[:3] = jets.constant_term(motion.R[b.parent]) @ jets.constant_term(joint.slides[0])
    else:
        about[3:] = jets.constant_term(motion.R[b.index]) @ jets.constant_term(joint.axes[0])
    return about


def inertia_size(motion: ReferenceMotion, b: ReferenceBody) -> float:
    """The size of the terms of dH/dt: I w' and w x I w."""
    w = motion.w[b.index]
    return norm_of(jets.constant_term(b.inertia)) * (
        norm_of(rate_of(w)) + norm_of(jets.constant_term(w)) ** 2
    )


def inertia_forces(motion: ReferenceMotion, b: ReferenceBody) -> tuple[Any, Any]:
    """m a of the mass centre and the rate of the angular momentum about it."""
    return rate_of(motion.velocity(b.index, b.cm)) * jets.constant_term(b.mass), rate_of(
        reference_angular_momentum(motion, b)
    )
