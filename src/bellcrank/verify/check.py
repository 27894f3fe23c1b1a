"""The check of derived equations against the independent evaluation of their description.

In:  a System. Out: `Report`: a line per property, with the number found and the limit it must keep.
At random states: accelerations must satisfy Newton-Euler, rates of coordinates must move bodies as the speeds say,
outputs must be what their formulas say. Over a short run: energy, and momentum where nothing acts from outside. With
small variables: the same against the description without them, and the order of the error that the truncation makes.
With closed loops: the states are completed by the program under check, which only chooses them; that positions, speeds and
accelerations keep the constraints is checked, and Newton-Euler along the motions that the constraints allow.
External routines are replaced by smooth functions of their arguments, inputs by sines: their own code is not the matter.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from bellcrank.api.assembly import initial_state
from bellcrank.api.equations import Equations
from bellcrank.api.simulation import Simulation
from bellcrank.api.system import System
from bellcrank.errors import ModelError, ModelWarning, RunError
from bellcrank.kane import Derivation
from bellcrank.kane.equations import KaneEquations
from bellcrank.model.records import External
from bellcrank.run.admit import CannotClose
from bellcrank.run.inputs import Signal
from bellcrank.verify.bodies import Machine
from bellcrank.verify.formulas import CannotEvaluate, Values
from bellcrank.verify.jets import NoDerivative, value
from bellcrank.verify.kane import check_derivation
from bellcrank.verify.numeric import Evaluation
from bellcrank.verify.report import Line, Report

RESIDUAL = 1e-9  # of the largest term of an equation, or of the largest velocity
ENERGY = 1e-6  # of the energy that went to and fro
MOMENTUM = 1e-8
ORDER_SLACK = 0.3  # the relative error of small variables is of the order of their threshold, in the limit
STEPS, NODES = 12, 4  # of the short run, and of the quadrature of power in each step
FLOOR = 1e-12  # relative errors below this are rounding
UNUSABLE = (CannotEvaluate, NoDerivative, ArithmeticError, ValueError, np.linalg.LinAlgError, RunError)


def check(
    system: System | Derivation | KaneEquations,
    states: int = 20,
    seed: int = 0,
    *,
    equations: Equations | None = None,
    parameters: Mapping[str, float] | None = None,
    solve: str = "auto",
    backend: str | None = None,
    run: bool = True,
) -> Report:
    """Checks the equations of a system (derived here unless given) against an independent evaluation of it.

    `parameters` (user units) replace defaults. `run=False` leaves out what needs a short run: energy and momentum.
    A hand-led derivation has no description to compare with: its own steps are checked in numbers (`verify.kane`).
    """
    if isinstance(system, Derivation | KaneEquations):
        return check_derivation(system, states, seed, parameters, backend)
    if states < 1:
        raise ModelError(f"states={states!r} must be at least 1", system.name)
    if not isinstance(seed, int) or seed < 0:
        raise ModelError(f"seed={seed!r} must be a whole number of at least 0", system.name)
    eom = equations if equations is not None else system.equations(solve=solve)
    options = {} if backend is None else {"backend": backend}
    small = bool(eom.analysis.mechanism.orders)
    report = Report(eom.name, states, seed)
    with np.errstate(all="ignore"):
        if small:
            truncated = Subject(system, eom, options, parameters, seed)
            exact = system.equations(solve=solve, small=False)
            subject = Subject(system, exact, options, parameters, seed, quiet=True)
        else:
            subject = Subject(system, eom, options, parameters, seed)
        samples = list(subject.samples(states))
        suffix = " without small variables" if small else ""
        report.lines += _lines_at_states(subject, samples, suffix)
        if run:
            report.lines += _lines_over_a_run(subject, samples[0], suffix)
        if small:
            report.lines += _lines_of_truncation(subject, truncated, samples[: max(3, states // 4)])
    report.lines += _information(eom)
    return report


@dataclass(frozen=True)
class Sample:
    """A state in equation units with the inputs that go with it, in user units: (value, rate)."""

    time: float
    q: np.ndarray
    u: np.ndarray
    inputs: dict[str, tuple[float, float]]


class Subject:
    """Derived equations beside the numbers of the description they should come from."""

    def __init__(
        self,
        system: System,
        eom: Equations,
        options: dict[str, Any],
        parameters: Mapping[str, float] | None,
        seed: int,
        quiet: bool = False,
    ) -> None:
        self.eom = eom
        self.loops = eom.program.loops is not None
        self.description = system.description
        self.given = {k.lower(): v for k, v in (parameters or {}).items()}
        stubs = {e.name: _stub(e) for e in self.description.externals}
        with warnings.catch_warnings():
            if quiet:
                warnings.simplefilter("ignore", ModelWarning)
            self.sim: Simulation = eom.compile(external=stubs, **options)
            self.machine = Machine.of(self.description, self.values())
        self.rng = np.random.default_rng(seed)
        self.length = self._length()

    def values(self, scaled: Mapping[str, float] | None = None) -> Values:
        """All parameters in equation units; of those the program does not need, what is given."""
        unit = self.eom.quantities.unit
        values = Values()
        given = {**self.given, **(scaled or {})}
        for key, record in self.description.parameters.items():
            number = given.get(key, record.value)
            if number is not None:
                values[key] = float(unit[key].to_equation(number)) if key in unit else float(number)
        used = zip(self.eom.parameters, self.sim.parameter_values(given), strict=True)
        values.update({name.lower(): number for name, number in used})
        return values

    def _length(self) -> float:
        """The size of the machine."""
        points = [b.joint_at for b in self.machine.bodies] + [b.cm for b in self.machine.bodies]
        points += [self.machine.point(p)[1] for p in self.description.points]
        return max((float(np.linalg.norm(value(p))) for p in points), default=0.0) or 1.0

    def evaluation(self, s: Sample, machine: Machine | None = None) -> Evaluation:
        unit = self.eom.quantities.unit
        inputs = {k: tuple(float(unit[k.lower()].to_equation(x)) for x in v) for k, v in s.inputs.items()}
        names = [x.name for x in self.eom.speeds]
        freedoms = [x.name for x in self.eom.independent_speeds] if self.loops else None
        return Evaluation(
            machine or self.machine,
            names,
            external_values,
            s.time,
            inputs,  # type: ignore[arg-type]
            freedoms,
            self.length,
        )

    def rates(self, s: Sample, scaled: Mapping[str, float] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """What the program under check computes."""
        return self.sim.derivatives(
            s.time, s.q.tolist(), s.u.tolist(), parameters={**self.given, **(scaled or {})}, inputs=_held(s)
        )

    def outputs(self, s: Sample) -> dict[str, float]:
        return self.sim.outputs(s.time, s.q.tolist(), s.u.tolist(), parameters=self.given, inputs=_held(s))

    # ---- random states

    def samples(self, count: int) -> Iterator[Sample]:
        """States about the initial one that can be evaluated: angles of a radian, lengths of the machine's size."""
        for _ in range(count):
            for attempt in range(40):
                s = self._closed(self._draw(0.5 ** (attempt // 4)))
                if s is not None and self._usable(s):
                    yield s
                    break
            else:
                raise ModelError(
                    "no state near the initial one can be evaluated: a formula there is not defined, or a joint or a "
                    "constraint is singular. Give a usable initial state with set_run(initial=...).",
                    self.eom.name,
                )

    @cached_property
    def _start(self) -> tuple[np.ndarray, np.ndarray]:
        """The initial state of the description, brought onto its constraints where that can be done."""
        if not self.loops:
            return self.sim.complete()
        rest = Sample(0.0, *initial_state(self.sim.equations, self.description.run.initial), self._no_inputs)
        s = self._closed(rest)
        return (rest.q, rest.u) if s is None else (s.q, s.u)

    def _draw(self, size: float) -> Sample:
        q0, u0 = self._start
        q, u = q0.copy(), u0.copy()
        place = {x.name.lower().replace(" ", ""): i for i, x in enumerate(self.eom.speeds)}
        for b in self.machine.bodies:
            slides = len(b.slides)
            for i in range(b.q.start, b.q.stop):
                scale = self.length if i < b.q.start + slides else 1.0
                q[i] += size * scale * self.rng.uniform(-1, 1)
            if b.euler:
                q[b.turns] /= np.linalg.norm(q[b.turns])
            for i in range(b.u.start, b.u.stop):
                scale = self.length if i < b.u.start + slides else 1.0
                if self.machine.u_names[i] in place:
                    u[place[self.machine.u_names[i]]] += size * scale * self.rng.uniform(-1, 1)
        inputs = {v.name: (size * self._amplitude(v.name) * self.rng.uniform(-1, 1), self.rng.uniform(-1, 1))
                  for v in self.description.variables}  # fmt: skip
        return Sample(float(self.rng.uniform(0, 1)), q, u, inputs)

    @property
    def _no_inputs(self) -> dict[str, tuple[float, float]]:
        return {v.name: (0.0, 0.0) for v in self.description.variables}

    def _closed(self, s: Sample) -> Sample | None:
        """The sample on the constraints of its loops, Euler parameters of unit size; None where there is no such state."""
        if not self.loops:
            return s
        closure = self.sim._closure(self.sim.parameter_values(self.given), self.sim._inputs(_held(s)))
        assert closure is not None
        free_q, free_u = np.ones(len(s.q), dtype=bool), np.ones(len(s.u), dtype=bool)
        try:
            q, u = closure.assemble(s.time, s.q, s.u, free_q, free_u)
        except (CannotClose, *UNUSABLE):
            return None
        return Sample(s.time, q, u, s.inputs)

    def _amplitude(self, name: str) -> float:
        """The largest magnitude of an input in the run of the description, in user units; else 1."""
        given = {k.lower(): v for k, v in self.description.run.inputs.items()}.get(name.lower())
        times = np.linspace(0.0, self.description.run.t_end or 1.0, 51)
        if isinstance(given, int | float):
            return abs(float(given)) or 1.0
        try:
            return max(abs(float(given(t))) for t in times) or 1.0  # type: ignore[misc]
        except (TypeError, RunError, ModelError):
            return 1.0

    def _usable(self, s: Sample) -> bool:
        """Has the description numbers here, away from locked joints? What the program says does not count."""
        try:
            evaluation = self.evaluation(s)
            motion = evaluation.motion(s.q, s.u)
            loads = evaluation.loads(motion)
            closed = evaluation.closed
            if closed is not None and not (closed.upright(motion) and closed.regular(s.q, evaluation.freedoms)):
                return False
        except UNUSABLE:
            return False
        return motion.gimbal() > 0.1 and bool(np.all(np.isfinite(np.array(loads))))


# ---- external routines and inputs


def external_values(routine: External, arguments: list[float]) -> list[float]:
    """Smooth, bounded values that depend on every argument, in place of an external routine."""
    phase = sum((0.4 + 0.2 * i) * math.atan(x) for i, x in enumerate(arguments))
    return [0.7 * math.sin(0.3 + 0.5 * i + phase) for i in range(max(len(routine.returns), 1))]


def _stub(routine: External) -> Callable[..., Any]:
    def stand_in(*arguments: Any) -> Any:
        found = external_values(routine, [float(a) for a in (arguments[:-1] if routine.memory else arguments)])
        return tuple(found) if routine.returns else found[0]

    return stand_in


def _held(s: Sample) -> dict[str, Signal]:
    """Inputs with the sampled value and rate."""

    def constant(x: float) -> Callable[[float], float]:
        return lambda t: x

    return {k: Signal("sample", constant(v), constant(rate)) for k, (v, rate) in s.inputs.items()}


# ---- lines of the report


def _lines_at_states(subject: Subject, samples: list[Sample], suffix: str) -> list[Line]:
    kinematic, dynamic, output = Worst(), Worst(), Worst()
    closing = {"position": Worst(), "speed": Worst(), "acceleration": Worst()}
    equations = [x.name for x in subject.eom.independent_speeds]
    for s in samples:
        evaluation = subject.evaluation(s)
        try:
            qdot, udot = subject.rates(s)
            kinematic.note(evaluation.kinematic_error(s.q, s.u, qdot))
            if evaluation.closed is not None:
                errors = evaluation.closed.errors(s.q, s.u, udot)
                for worst_of, error in zip(closing.values(), errors, strict=True):
                    worst_of.note(error)
            relative = evaluation.residual(s.q, s.u, udot).relative
            i = int(np.argmax(np.nan_to_num(relative, nan=np.inf))) if len(relative) else 0
            dynamic.note(float(relative.max(initial=0.0)), f"largest in the equation of {equations[i]}")
            found = subject.outputs(s)
            for name, expected in evaluation.outputs(s.q, s.u, udot).items():
                output.compare(name, subject.eom.quantities.output_unit[name].to_equation(found[name]), expected)
        except UNUSABLE as error:
            dynamic.note(math.nan, f"no numbers at t = {s.time:.3g}: {error}")
            break
    lines = [
        Line(f"rates of coordinates{suffix}", kinematic.value, RESIDUAL),
        Line(f"equations of motion (Newton-Euler){suffix}", dynamic.value, RESIDUAL, note=dynamic.failure(RESIDUAL)),
    ]
    if subject.loops:
        lines[:0] = [Line(f"constraint residuals ({k}){suffix}", w.value, RESIDUAL) for k, w in closing.items()]
    if output.pairs:
        worst, name = output.relative({k: u.text for k, u in subject.eom.quantities.output_unit.items()})
        lines.append(Line(f"outputs{suffix}", worst, RESIDUAL, note=f"largest in {name}" if worst > RESIDUAL else ""))
    return lines


class Worst:
    """The largest of several errors, and where it was met."""

    def __init__(self) -> None:
        self.value = 0.0
        self.where = ""
        self.pairs: dict[str, list[tuple[float, float]]] = {}

    def note(self, error: float, where: str = "") -> None:
        if not error <= self.value and not math.isnan(self.value):
            self.value, self.where = error, where

    def failure(self, limit: float) -> str:
        return "" if self.value <= limit else self.where

    def compare(self, name: str, got: float, expected: float) -> None:
        self.pairs.setdefault(name, []).append((got, expected))

    def relative(self, unit: Mapping[str, str]) -> tuple[float, str]:
        """Largest difference of a channel, relative to its largest magnitude; one that is zero beside others of its
        unit has no digits to compare."""
        arrays = {name: np.array(pairs) for name, pairs in self.pairs.items()}
        size = {name: float(np.abs(a[:, 1]).max()) for name, a in arrays.items()}
        worst, where = 0.0, ""
        for name, a in arrays.items():
            alike = max(size[other] for other in arrays if unit[other] == unit[name])
            error = float(np.abs(a[:, 0] - a[:, 1]).max()) / max(size[name], 1e-6 * alike, 1e-3)
            if not error <= worst:
                worst, where = error, name
        return worst, where


def _lines_over_a_run(subject: Subject, start: Sample, suffix: str) -> list[Line]:
    """Energy and momentum from one random state on."""
    from numpy.polynomial.legendre import leggauss
    from scipy.integrate import DOP853

    n = len(start.q)
    t_end = start.time + (subject.description.run.t_end or 1.0)
    nodes, weights = leggauss(NODES)

    def at(t: float, y: np.ndarray) -> Sample:
        w = 2 * math.pi / (t_end - start.time)
        waves = {
            k: (a + v / w * math.sin(w * (t - start.time)), v * math.cos(w * (t - start.time)))
            for k, (a, v) in start.inputs.items()
        }
        return Sample(t, y[:n], y[n:], waves)

    def energies(s: Sample) -> Any:
        return subject.evaluation(s).energies(s.q, s.u, subject.rates(s)[1])

    work = exchanged = 0.0
    y0 = np.concatenate([start.q, start.u])
    try:
        first = energies(at(start.time, y0))
        solver = DOP853(
            lambda t, y: np.concatenate(subject.rates(at(t, y))), start.time, y0, t_end, rtol=1e-10, atol=1e-12
        )
        for _ in range(STEPS):
            if solver.status != "running":
                break
            solver.step()
            path = solver.dense_output()
            half = (solver.t - solver.t_old) / 2
            for x, w in zip(nodes, weights, strict=True):
                t = solver.t_old + half * (1 + x)
                power = energies(at(t, path(t))).power
                work, exchanged = work + half * w * power, exchanged + half * w * abs(power)
        last = energies(at(solver.t, solver.y))
    except UNUSABLE as error:
        return [Line(f"energy balance{suffix}", math.nan, ENERGY, note=str(error))]
    gained = (last.kinetic - first.kinetic) + (last.gravity - first.gravity)
    size = max(exchanged, abs(last.kinetic - first.kinetic), abs(last.gravity - first.gravity))
    size = max(size, 1e-3 * max(first.kinetic, last.kinetic)) or 1.0
    note = f"from t = {start.time:.3g} to {solver.t:.3g} s"
    lines = [Line(f"energy balance{suffix}", float(abs(gained - work) / size), ENERGY, note=note)]
    if _floats_freely(subject):
        end = at(solver.t, solver.y)
        before = subject.evaluation(start).momenta(start.q, start.u)
        after = subject.evaluation(end).momenta(end.q, end.u)
        for name, (a, size_a), (b, size_b) in zip(("linear", "angular"), before, after, strict=True):
            change = float(np.linalg.norm(b - a)) / (max(size_a, size_b) or 1.0)
            lines.append(Line(f"{name} momentum{suffix}", change, MOMENTUM))
    return lines


def _floats_freely(subject: Subject) -> bool:
    """Nothing acts from the ground: no gravity, no constraint, no load against it, and all that it carries is free."""
    d = subject.description
    if d.gravity is not None or d.constraints:
        return False
    if any(loop.joint is None for loop in d.loops):  # its directions may be those of the ground
        return False
    for b in subject.machine.bodies:
        if b.parent == -1 and not (len(b.slides) == 3 and b.free_rotation):
            return False
    formulas = subject.evaluation(Sample(0.0, *subject._start, {})).formulas(subject.machine.nominal_motion())
    if any(formulas.point(x)[0] == -1 for loop in d.loops for x in (loop.first, loop.second)):
        return False
    for record in d.forces:
        if record.kind == "moment":
            ends = [-1 if record.second is None else formulas.body(record.second), formulas.body(record.first)]
        else:
            ends = [formulas.point(record.first)[0], formulas.point(record.second)[0]]
        if -1 in ends:
            return False
    return True


def _lines_of_truncation(exact: Subject, truncated: Subject, samples: list[Sample]) -> list[Line]:
    """Amplitudes of all small symbols are halved again and again: the error of every rate must fall with their square,
    relative to all rates together."""
    name, limit = "order of the truncation error", exact.description.small_threshold - ORDER_SLACK
    try:
        if [x.name for x in exact.eom.speeds] != [x.name for x in truncated.eom.speeds]:
            raise CannotEvaluate("the description without small variables has other independent speeds")
        found = [_truncation_error(exact, truncated, samples, 0.1 * 0.5**i) for i in range(14)]
    except UNUSABLE as error:
        return [Line(name, math.nan, limit, True, str(error))]
    weight = np.where(found[0][1] > 0, found[0][1], 1.0)  # rates have different units
    errors = np.array([e / weight for e, _ in found])
    relative = errors / np.array([[np.linalg.norm(size / weight) or 1.0] for _, size in found])
    order, where = math.inf, ""
    for i, state in enumerate((*truncated.eom.coordinates, *truncated.eom.speeds)):
        above = [x for x in relative[:, i] if x > FLOOR]
        last = [math.log2(a / b) for a, b in pairwise(above)][-3:]
        if min(last, default=math.inf) < order:
            order, where = min(last), f", lowest in the rate of {state.name}"
    note = f"relative error {relative[0].max():.1e} with all that is small at a tenth of full size"
    return [Line(name, order, limit, True, note + (where if order < limit else ""))]


def _truncation_error(
    exact: Subject, truncated: Subject, samples: list[Sample], size: float
) -> tuple[np.ndarray, np.ndarray]:
    """Root mean square of the error of every rate, and of the rate itself, with small quantities of the given size."""
    orders = truncated.eom.analysis.mechanism.orders
    scaled = {}
    for key, record in truncated.description.parameters.items():
        if key in orders and record.value is not None:
            scaled[key] = truncated.given.get(key, record.value) * size ** orders[key]
    difference, whole = [], []
    for s in samples:
        small = _scaled(truncated, s, size, orders)
        a, b = np.concatenate(exact.rates(small, scaled)), np.concatenate(truncated.rates(small, scaled))
        difference.append(b - a)
        whole.append(a)
    return np.sqrt(np.mean(np.square(difference), axis=0)), np.sqrt(np.mean(np.square(whole), axis=0))


def _scaled(subject: Subject, s: Sample, size: float, orders: Mapping[str, int]) -> Sample:
    """The sample with every small quantity scaled by its order."""

    def factor(name: str) -> float:
        return size ** orders.get(name.lower(), 0)

    q = s.q * [factor(x.name) for x in subject.eom.coordinates]
    u = s.u * [factor(x.name) for x in subject.eom.speeds]
    inputs = {k: (a * factor(k), v * factor(k)) for k, (a, v) in s.inputs.items()}
    return Sample(s.time, q, u, inputs)


def _information(eom: Equations) -> list[Line]:
    c = eom.operation_count()
    parts = f"{c['add']} add, {c['multiply']} multiply, {c['divide']} divide, {c['function']} functions"
    return [Line("operations", str(c["total"]), note=parts)]
