"""The mechanics of a description at one instant, evaluated with plain numbers.

In:  a `Machine`, values of the inputs, a state and accelerations. Out: `Evaluation`: motions, loads, inertia forces,
energies and outputs of that instant. Every body enters with its own mass and inertia, partial velocities are found
with unit speeds, accelerations by time series (`jets`); nothing of the derivation is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import methodcaller
from typing import Any, TypeVar

import numpy as np

from bellcrank.model.records import LoadRecord, StateRecord
from bellcrank.verify import jets
from bellcrank.verify.bodies import Body, Machine, Motion
from bellcrank.verify.closed import LEAST_RATE, Closed
from bellcrank.verify.formulas import CannotEvaluate, ExternalRoutine, Scalars, state_key
from bellcrank.verify.jets import Jet, Jets, Value
from bellcrank.verify.joints import PlainJoint
from bellcrank.verify.mechanics import Formulas, direction

T = TypeVar("T")
Pieces = tuple[str, tuple[Any, ...]]  # of what, and which ones


@dataclass(frozen=True)
class Push:
    """One load on one body: force and moment about its mass centre, in inertial axes."""

    body: int
    force: np.ndarray
    moment: np.ndarray


@dataclass(frozen=True)
class Energies:
    """Kinetic energy, that of gravity, and the power of all other loads and of moving constraints."""

    kinetic: float
    gravity: float
    power: float


class Evaluation:
    """One instant: a machine with inputs (value, rate, rate of that; equation units) and independent speeds.

    Time and inputs may be arrays, of several states: so are columns of coordinates and speeds then, and numbers found.
    With closed loops all speeds are states; `freedoms` names those that are free, and `length` is the system's size.
    """

    def __init__(
        self,
        machine: Machine,
        independent: Sequence[str],
        external: ExternalRoutine,
        time: Any = 0.0,
        inputs: Mapping[str, tuple[Any, Any, Any]] | None = None,
        freedoms: Sequence[str] | None = None,
        length: float = 1.0,
    ) -> None:
        self.constraints = machine.description.constraints
        zero = 0.0 * time
        self.of: type[Jet] = Jets if np.ndim(time) else Jet
        self.given: dict[str, Any] = {
            "inputs": {k: self.of([x, rate, second / 2]) for k, (x, rate, second) in (inputs or {}).items()},
            "time": self.of([time, 1.0 + zero, zero]),
            "external": external,
        }
        self._given_values: dict[str, Any] = {
            "inputs": {k: self._plain(x) for k, (x, _, _) in (inputs or {}).items()},
            "time": self._plain(time),
            "external": external,
            "values_only": True,
        }
        self._independent, self._undriven, self.time, self.driven = independent, machine, time, inputs or {}
        self.machine = machine = machine.led_by(Scalars(machine.description, machine.parameters, **self.given))
        self.given["values"] = self.plain_formulas
        self.length = length
        self._kept: dict[Any, Any] = {}  # motions, formulas and loads that are asked for again
        names = machine.u_names
        self.free = [names.index(state_key(s)) for s in independent]
        self.bound = [i for i in range(len(names)) if i not in set(self.free)]
        self.closed: Closed | None = None
        if freedoms is not None:
            if self.free != list(range(len(names))):
                raise CannotEvaluate("with closed loops all speeds must be states")
            self.closed = Closed(machine, self.formulas, length)
            self.freedoms = [names.index(state_key(s)) for s in freedoms]

    def with_inputs(self, time: np.ndarray, inputs: Mapping[str, tuple[Any, Any, Any]]) -> Evaluation:
        """The same machine, without its loops, at other instants."""
        external = self.given["external"]
        return Evaluation(self._undriven, self._independent, external, time, inputs, None, self.length)

    def _plain(self, x: Any) -> Any:
        """Numbers without any rate."""
        return Jets([x]) if self.of is Jets else np.asarray(x, dtype=float)[()]

    def once(self, key: Any, compute: Callable[[], T]) -> T:
        """What is found the first time, and kept."""
        if key not in self._kept:
            self._kept[key] = compute()
        value: T = self._kept[key]
        return value

    def keep(self, key: Any, value: T) -> T:
        """What was found elsewhere, unless it is known."""
        return self.once(key, lambda: value)

    def formulas(self, motion: Motion) -> Formulas:
        return self.once(motion, lambda: Formulas(motion, **self.given))

    def plain_formulas(self, motion: Motion) -> Formulas:
        """Formulas over the values of a motion alone, in plain numbers: those of all accelerations are the same."""
        q, u = (jets.value(x) for x in (motion.q, motion.u))

        def made() -> Formulas:
            plain = not isinstance(motion.q, Jet) or (self.of is Jets and len(motion.q) == 1)
            return Formulas(motion if plain else self._still_motion(q, u), **self._given_values)

        return self.once(("values", q.tobytes(), u.tobytes()), made)

    def _asked(self, values: Formulas, key: Any, ask: Callable[[Formulas], T], moving: Callable[[], Motion]) -> T:
        """What a formula says of a motion; most need no rate of anything, and are found sooner without."""
        if key not in self.machine.need_rates:
            try:
                return values.known[key] if key in values.known else ask(values)
            except jets.NoDerivative:
                self.machine.need_rates.add(key)
        series = self.formulas(moving())
        return series.known[key] if key in series.known else ask(series)

    def _still_motion(self, q: np.ndarray, u: np.ndarray) -> Motion:
        """A motion whose rates are not known."""
        return self.machine.motion(Jets([q]), Jets([u])) if self.of is Jets else self.machine.motion(q, u)

    def moving(self, motion: Motion) -> Motion:
        """The motion, with rates of its coordinates."""
        if isinstance(motion.q, Jet) and (self.of is Jet or len(motion.q) > 1):
            return motion
        q, u = jets.value(motion.q), jets.value(motion.u)
        return self.once(("moving", q.tobytes(), u.tobytes()), lambda: self.machine.moving(q, self.of([u])))

    # ---- speeds: all of them from the independent ones

    def constraint_values(self, motion: Motion) -> np.ndarray:
        values = Formulas(motion, **self._given_values)

        def asked(i: int) -> Any:
            expression = self.constraints[i].expression
            ask: Callable[[Formulas], Value] = methodcaller("evaluate", expression)
            return jets.value(self._asked(values, ("constraint", i), ask, lambda: self.moving(motion)))

        residuals = [asked(i) for i in range(len(self.constraints))]
        return np.array(residuals if self.of is Jet else np.broadcast_arrays(np.zeros(len(self.time)), *residuals)[1:])

    def constraint_slopes(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """c and A of the constraints c + A u = 0, found with unit speeds."""

        def made() -> tuple[np.ndarray, np.ndarray]:
            motions = self.columns(q)
            c, *unit_residuals = [self.constraint_values(motions.one(i)) for i in range(motions.u.shape[1])]
            return c, np.stack([x - c for x in unit_residuals], axis=1)

        return self.once(("slopes", q.tobytes()), made)

    def columns(self, q: np.ndarray) -> Motion:
        """Motions with all speeds at zero, then with each alone at one."""
        n = len(self.machine.u_names)
        return self.once(("columns", q.tobytes()), lambda: self.machine.motion(q, np.eye(n, n + 1, 1)))

    def _bound_speeds(self, A: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        """Dependent speeds x of A_bound x = right; redundant constraints are allowed, contradictions are not."""
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

    def speeds(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """All speeds from the independent ones."""
        full = np.zeros((len(self.machine.u_names), *u.shape[1:]))
        full[self.free] = u
        if self.bound:
            c, A = self.constraint_slopes(q)
            full[self.bound] = self._bound_speeds(A, -(c + np.einsum("ij...,j...->i...", A, full)))
        return full

    def constraint_error(self, q: np.ndarray, qdot: np.ndarray) -> float:
        """How far the speeds that the claimed q' stand for are from the constraints, relative to the largest term."""
        rest_rates, *unit = self.coordinate_rates(q)
        joints = qdot[: len(rest_rates)]
        full = np.linalg.lstsq(np.stack([x - rest_rates for x in unit], axis=1), joints - rest_rates, rcond=None)[0]
        c, A = self.constraint_slopes(q)
        largest = np.abs(A * full).max(axis=1, initial=0.0)
        largest = np.maximum(np.maximum(largest, np.abs(c)), np.abs(A).max(axis=1, initial=0.0) * 1e-3)
        return float((np.abs(c + A @ full) / np.where(largest > 0, largest, 1.0)).max(initial=0.0))

    def motion(self, q: np.ndarray, u: np.ndarray, udot: np.ndarray | None = None) -> Motion:
        """The motion through a state; with the accelerations of the independent speeds, known to second order."""
        key = ("motion", q.tobytes(), u.tobytes(), None if udot is None else udot.tobytes())
        return self.once(key, lambda: self._motion(q, u, udot))

    def values(self, q: np.ndarray, u: np.ndarray) -> Motion:
        """The motion through a state in plain numbers, without any rate."""
        key = ("plain", q.tobytes(), u.tobytes())
        return self.once(key, lambda: self._still_motion(q, self.speeds(q, u)))

    def _motion(self, q: np.ndarray, u: np.ndarray, udot: np.ndarray | None) -> Motion:
        full, jet_type = self.speeds(q, u), self.of
        if udot is None:
            return self.machine.moving(q, jet_type([full]))
        rates = np.zeros_like(full)
        rates[self.free] = udot
        if self.bound:  # the rate of c + A u = 0 is linear in the dependent accelerations, with the same A
            _, A = self.constraint_slopes(q)
            moving = self.machine.moving(q, jet_type([full, rates]))
            first = self.formulas(
                self.machine.motion(jet_type(moving.q.c[:2]), moving.u)
            )  # the rate of q is mostly enough
            second = self.formulas(moving)

            def rate(i: int) -> Any:
                expression = self.constraints[i].expression
                try:
                    return rate_of(first.evaluate(expression))
                except jets.NoDerivative:
                    return rate_of(second.evaluate(expression))

            bias = np.array([rate(i) + np.zeros(full.shape[1:]) for i in range(len(self.constraints))])
            rates[self.bound] = self._bound_speeds(A, -bias)
        return self.machine.moving(q, jet_type([full, rates]))

    def partial_velocities(self, q: np.ndarray) -> tuple[Motion, Motion]:
        """Motions with one independent speed at one (without what moves by itself), and the one with all at zero."""
        n, names = len(self.free), self.machine.u_names
        full = np.zeros((n + 1, len(names)))
        full[np.arange(n), self.free] = 1.0
        if self.bound:
            c, A = self.constraint_slopes(q)
            for row in full:
                row[self.bound] = self._bound_speeds(A, -(c + A @ row))
            full[:n] -= full[n]
        return self.unit_motions(q).mixed(full[:n].T), self.machine.motion(q, full[n])

    def unit_motions(self, q: np.ndarray) -> Motion:
        """Motions with one speed alone at one; what leads the machine from outside stands still."""
        n = len(self.machine.u_names)
        alone = np.concatenate([-np.ones((1, n)), np.eye(n)])  # without what is there at zero speeds
        return self.once(("units", q.tobytes()), lambda: self.columns(q).mixed(alone))

    # ---- loads

    def pushes(self, motion: Motion) -> list[Push]:
        """Every load on every body, without gravity."""
        pushes, values = [], self.plain_formulas(motion)
        for record in self.machine.description.forces:

            def ask(f: Formulas, record: LoadRecord = record) -> list[Push]:
                return self.once(("pushes", id(record), f), lambda: list(self.pushes_of(f, record)))

            pushes += self._asked(values, ("pushes", record.name), ask, lambda: self.moving(motion))
        return pushes

    def pushes_of(self, formulas: Formulas, record: LoadRecord) -> Iterator[Push]:
        bodies, motion = self.machine.bodies, formulas.motion
        size = record.sense * jets.value(formulas.magnitude(record))
        if record.is_moment:
            f = _scaled(jets.value(direction(formulas.evaluate(record.direction))), size)
            sides = ((self.machine.body(record.first), f), (self.machine.body(record.second), -f))
            yield from (Push(body, np.zeros(3), moment) for body, moment in sides if body >= 0)
            return
        for p, r, along in formulas.lines(record):
            f = _scaled(jets.value(along), size)
            for body, force, point in ((p[0], f, p), (r[0], -f, r if record.along_points else p)):
                if body >= 0:
                    arm = jets.value(motion.position(*point) - motion.position(body, bodies[body].cm))
                    yield Push(body, force, jets.cross(arm, force))

    def resisting(self, motion: Motion) -> Iterator[Push]:
        """Loads by which rotors behind gears resist the accelerations of joints."""
        bodies = self.machine.bodies
        for b in bodies:
            if not np.any(jets.value(b.armature)):
                continue
            load = -float(jets.value(b.armature)) * float(rate_of(motion.u[b.u][0])) * freedom(motion, b)
            for body, sign in ((b.index, 1.0), (b.parent, -1.0)):
                if body >= 0:
                    arm = jets.value(motion.p[b.index]) - mass_centre(motion, bodies[body])
                    yield Push(body, sign * load[:3], sign * (load[3:] + np.cross(arm, load[:3])))

    def loads(self, motion: Motion) -> list[tuple[np.ndarray, np.ndarray]]:
        """(force, moment about the mass centre) on every body, without gravity, in inertial axes."""
        return self._summed(self.pushes(motion))

    def all_loads(self, motion: Motion) -> list[tuple[np.ndarray, np.ndarray]]:
        """Likewise, with what rotors behind gears add, which the accelerations of joints determine."""
        return self._summed((*self.pushes(motion), *self.resisting(motion)))

    def _summed(self, pushes: Iterable[Push]) -> list[tuple[np.ndarray, np.ndarray]]:
        force, moment = np.zeros((len(self.machine.bodies), 3)), np.zeros((len(self.machine.bodies), 3))
        for load in pushes:
            force[load.body] += load.force
            moment[load.body] += load.moment
        return list(zip(force, moment, strict=True))

    # ---- rates of coordinates

    def coordinate_rates(self, q: np.ndarray) -> list[np.ndarray]:
        """q' of joints with all speeds zero, then with each alone at one."""
        n = len(self.machine.u_names)
        return list(self.columns(q).coordinate_rates().reshape(-1, n + 1).T)

    def own_rates(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Rates of user-defined states."""
        motion = self.values(q, u)
        values = self.plain_formulas(motion)

        def rate(z: StateRecord) -> Any:
            ask: Callable[[Formulas], Value] = methodcaller("evaluate", z.rate)
            return jets.value(self._asked(values, ("state", z.name), ask, lambda: self.moving(motion)))

        return np.array([rate(z) for z in self.machine.description.states])

    # ---- what counts as one

    def units(self, letter: str) -> np.ndarray:
        """Of every coordinate ("q") or speed ("u"): a radian, or the system's size; of user-defined states one."""
        return self.machine.sizes(letter, self.length)

    def rate(self, full: np.ndarray) -> float:
        """The largest of all speeds in such units, 1/s; a machine that cannot move has some speed all the same."""
        return float(np.max(np.abs(full) / self.units("u"), initial=LEAST_RATE))

    # ---- which pieces formulas are made of here

    def pieces(self, q: np.ndarray, u: np.ndarray) -> set[Pieces]:
        """For every load, own state and output: which of their pieces functions like max() and where() are in it."""

        def made() -> set[Pieces]:
            piece_sets, unresolved = self.once(
                ("found pieces", q.tobytes(), u.tobytes()), lambda: ([set[Pieces]()], None)
            )
            return piece_sets[0] | self.pieces_of_each(q, u, unresolved)[0][0]

        return self.once(("pieces", q.tobytes(), u.tobytes()), made)

    def pieces_of_each(
        self, q: np.ndarray, u: np.ndarray, requested: set[Any] | None = None
    ) -> tuple[list[set[Pieces]], set[Any]]:
        """The same for each of several states, and what cannot be evaluated in all of them at once; with `requested` of
        these formulas alone."""
        selected_pieces: list[Any] = []
        values = Formulas(self.values(q, u), **self._given_values, chosen=selected_pieces)
        series: list[Formulas] = []  # of formulas that need rates
        d = self.machine.description
        requests = [(("force", f.name), methodcaller("magnitude", f)) for f in d.forces]
        requests += [(("state", z.name), methodcaller("evaluate", z.rate)) for z in d.states]
        requests += [(("output", x.name), methodcaller("evaluate", x.expression)) for x in d.outputs]
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
                    series = series or [Formulas(self.motion(q, u), **options, chosen=selected_pieces)]
                    ask(series[0])
            except (CannotEvaluate, jets.NoDerivative):
                unresolved.add(key)
                continue
            for i, piece_set in enumerate(piece_sets if selected_pieces else ()):
                piece_set.add((key[1], tuple(c[i if len(c) > 1 else 0] for c in selected_pieces)))
        return piece_sets, unresolved

    # ---- energy and momentum

    def energies(self, q: np.ndarray, u: np.ndarray, udot: np.ndarray) -> Energies:
        """With the accelerations claimed, which only count where `drift` is a motion."""
        drift = self.drift(q)
        motion = self.values(q, u) if drift is None else self.motion(q, u, udot)
        g = self.formulas(motion).gravity()
        kinetic, gravity = self._kinetic_and_gravity(motion)
        power = 0.0
        bodies, inner = self.machine.bodies, self.all_loads(motion) if drift is not None else []
        for b, (F, T) in zip(bodies, self.loads(motion), strict=True):
            m, w = float(jets.value(b.mass)), jets.value(motion.w[b.index])
            v = jets.value(motion.velocity(b.index, b.cm))
            power += float(F @ v + T @ w)
            if drift is not None:  # constraints that move do work along what moves with all independent speeds zero
                ma, H_rate = inertia_forces(motion, b)
                F, T = inner[b.index]
                power += float((ma - F - m * g) @ jets.value(drift.velocity(b.index, b.cm)))
                power += float((H_rate - T) @ jets.value(drift.w[b.index]))
        return Energies(kinetic, gravity, power)

    def drift(self, q: np.ndarray) -> Motion | None:
        """The motion with independent speeds zero, or the smallest that the loops allow; None if that is rest."""
        return self.once(("drift", q.tobytes()), lambda: self._drift(q))

    def _drift(self, q: np.ndarray) -> Motion | None:
        if self.closed is None:
            has_drift = self.machine.moves or (self.bound and np.any(self.constraint_slopes(q)[0]))
            return self.partial_velocities(q)[1] if has_drift else None
        u = self.closed.drift(q)
        return self.machine.motion(q, u) if np.any(u) or self.machine.moves else None

    def outputs(self, q: np.ndarray, u: np.ndarray, udot: np.ndarray) -> dict[str, float]:
        """Output channels of the description in equation units; one that cannot be evaluated is missing."""
        motion = self.values(q, u)
        values, channels = self.plain_formulas(motion), dict[str, float]()

        def asked(key: Any, ask: Callable[[Formulas], Value]) -> float:
            return float(jets.value(self._asked(values, key, ask, lambda: self.motion(q, u, udot))))

        for record in self.machine.description.outputs:
            try:
                channels[record.name] = asked(("output", record.name), methodcaller("evaluate", record.expression))
            except (CannotEvaluate, jets.NoDerivative):
                continue
        for group in self.machine.description.output_groups:
            channels = {**self._group(group.lower(), motion, asked), **channels}
        return channels

    def echo(self, q: np.ndarray, u: np.ndarray) -> dict[str, float]:
        """What user functions give to the echo of a run that starts here."""
        formulas = self.formulas(self.motion(q, u))
        echo_values: dict[str, float] = {}
        for e in self.machine.description.externals:
            if e.when == "echo":
                values = formulas.routine(e, [formulas.evaluate(a) for a in e.arguments])
                echo_values |= {
                    name: float(jets.value(x)) for name, x in zip(e.returns or (e.name,), values, strict=True)
                }
        return echo_values

    def _group(self, group: str, motion: Motion, evaluate_output: Callable[..., float]) -> dict[str, float]:
        """Channels that the description asks for by a word."""
        if group in ("forces", "moments"):
            records = [f for f in self.machine.description.forces if f.is_moment == (group == "moments")]
            return {f.name: evaluate_output(("force", f.name), methodcaller("magnitude", f)) for f in records}
        if group == "energy":
            kinetic, potential = self._kinetic_and_gravity(motion)
            return {"kinetic": kinetic, "potential": potential, "energy": kinetic + potential}
        if group == "momentum":
            p, h = np.zeros(3), np.zeros(3)
            for b in self.machine.bodies:
                mv = jets.value(motion.velocity(b.index, b.cm)) * jets.value(b.mass)
                p += mv
                h += np.cross(mass_centre(motion, b), mv) + jets.value(angular_momentum(motion, b))
            return {f"{letter}{i + 1}": float(x[i]) for letter, x in (("p", p), ("h", h)) for i in range(3)}
        return {}

    def _kinetic_and_gravity(self, motion: Motion) -> tuple[float, float]:
        g = self.formulas(motion).gravity()
        kinetic = gravity = 0.0
        for b in self.machine.bodies:
            m, w = float(jets.value(b.mass)), jets.value(motion.w[b.index])
            v = jets.value(motion.velocity(b.index, b.cm))
            kinetic += 0.5 * m * float(v @ v) + 0.5 * float(w @ jets.value(angular_momentum(motion, b)))
            if np.any(jets.value(b.armature)):
                kinetic += 0.5 * float(jets.value(b.armature) * jets.value(motion.u[b.u][0]) ** 2)
            gravity -= m * float(g @ mass_centre(motion, b))
        return kinetic, gravity


def _scaled(v: np.ndarray, size: Any) -> np.ndarray:
    """A vector times a number, of one state or of several."""
    scaled: np.ndarray = np.multiply.outer(v, size) if v.ndim == 1 else v * size
    return scaled


def rate_of(x: Value) -> Any:
    return jets.value(jets.rate(x))


def size_of(x: Any) -> float:
    return float(np.linalg.norm(x))


def mass_centre(motion: Motion, b: Body) -> Any:
    """Where it is, in inertial axes."""
    return jets.value(motion.position(b.index, b.cm))


def angular_momentum(motion: Motion, b: Body) -> Value:
    """About the body's own mass centre."""
    R = motion.R[b.index]
    return R @ (b.inertia @ (R.T @ motion.w[b.index]))


def freedom(motion: Motion, b: Body) -> np.ndarray:
    """Direction (along, about) of the one degree of freedom of a plain joint, in inertial axes."""
    joint, about = b.joint, np.zeros(6)
    assert isinstance(joint, PlainJoint)
    if joint.slides:
        about[:3] = jets.value(motion.R[b.parent]) @ jets.value(joint.slides[0])
    else:
        about[3:] = jets.value(motion.R[b.index]) @ jets.value(joint.axes[0])
    return about


def inertia_size(motion: Motion, b: Body) -> float:
    """The size of the terms of dH/dt: I w' and w x I w."""
    w = motion.w[b.index]
    return size_of(jets.value(b.inertia)) * (size_of(rate_of(w)) + size_of(jets.value(w)) ** 2)


def inertia_forces(motion: Motion, b: Body) -> tuple[Any, Any]:
    """m a of the mass centre and the rate of the angular momentum about it."""
    return rate_of(motion.velocity(b.index, b.cm)) * jets.value(b.mass), rate_of(angular_momentum(motion, b))
