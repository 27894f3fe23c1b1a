"""What is under check: derived equations compared with the numbers of the description they should come from.

In:  a System and its Equations. Out: `Subject`, which evaluates the program and the description at the same states,
and `Sample`: random states near the initial one, on the constraints, at which the description can be evaluated.
User functions are replaced by smooth functions of their arguments, inputs by given values.
"""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np

from bellcrank.api.equations import Equations
from bellcrank.api.simulation import Simulation
from bellcrank.api.system import System
from bellcrank.errors import ModelError, ModelWarning, RunError
from bellcrank.expr.text import show
from bellcrank.interface.interface import DECLARED
from bellcrank.model.formula import to_syntax
from bellcrank.model.records import External
from bellcrank.numeric.null_space import pivoted
from bellcrank.numeric.projection import CannotClose
from bellcrank.numeric.run_spec import At
from bellcrank.run.assembly import initial_state
from bellcrank.run.closure import rates_near_singular
from bellcrank.run.evaluate import closure, state_at
from bellcrank.signals import Signal
from bellcrank.units import Unit, UnitSystem, unit_system
from bellcrank.verify.bodies import Machine
from bellcrank.verify.formulas import CannotEvaluate, Scalars, Values, state_key
from bellcrank.verify.jets import NoDerivative, value
from bellcrank.verify.numeric import Evaluation, Pieces
from bellcrank.verify.together import Together, together

UNUSABLE = (CannotEvaluate, NoDerivative, ArithmeticError, ValueError, np.linalg.LinAlgError, RunError)
LIVELY = 1e4  # times the speeds drawn, at most
OWN = 0.1  # what counts as one for states of the user's own
IN_VAIN, MOST_FURTHER = 20, 16  # draws of states at which formulas are made of other pieces; such states
LEFT_BEHIND = 0.37  # in the memory of a user function
AHEAD = 32  # states that are evaluated at once
KEPT = 64  # samples whose evaluations are kept
LOOKS = 6  # states at which the usual number of degrees of freedom is looked for


T = TypeVar("T")
Inputs = dict[str, tuple[float, float, float]]


@dataclass(frozen=True, eq=False)
class Sample:
    """A state in equation units with the inputs that go with it, in user units: (value, rate, rate of that)."""

    time: float
    q: np.ndarray
    u: np.ndarray
    inputs: Inputs
    independent: tuple[str, ...] = ()  # speeds, where those of the equations depend on each other

    @property
    def at(self) -> tuple[float, list[float], list[float]]:
        """Time and state as programs take them."""
        return self.time, self.q.tolist(), self.u.tolist()


Drawn = tuple[float, Any, Sample, Any]  # a size, a sample of that size, and states of the generator before and after


class Subject:
    """Derived equations compared with the numbers of the description they should come from."""

    def __init__(
        self, system: System, eom: Equations, options: dict[str, Any], parameters: Mapping[str, float] | None,
        seed: int, quiet: bool = False,
    ) -> None:  # fmt: skip
        self.eom = eom
        self.loops = eom.program.loops is not None
        self.description = system.description
        self.given = eom.interface.keyed(parameters, DECLARED, "parameters")
        stubs = {e.name: stand_in(e) for e in self.description.externals}
        with warnings.catch_warnings():
            if quiet:
                warnings.simplefilter("ignore", ModelWarning)
            self.sim: Simulation = eom.compile(external=stubs, **options)
            self.loaded = self.sim.loaded
            self.machine = Machine.of(self.description, self.values())
        self._evaluations = lru_cache(maxsize=KEPT)(self._evaluation)
        self.rng = np.random.default_rng(seed)
        self._ahead: deque[Drawn] = deque()
        self.passed_over: Counter[str] = Counter()
        self.length = self._length()

    def values(self, scaled: Mapping[str, float] | None = None) -> Values:
        """All parameters in equation units; of those the program does not need, what is given."""
        unit = self.eom.quantities.unit
        values = Values()
        parameters = self._given(scaled) or {}
        for key, record in self.description.parameters.items():
            number = parameters.get(key, record.value)
            if number is not None:
                values[key] = float(unit[key].to_equation(number)) if key in unit else float(number)
        parameter_values = zip(
            (p.name for p in self.eom.program.parameters), self.sim.parameter_values(parameters), strict=True
        )
        values.update({name: number for name, number in parameter_values})
        scalars = Scalars(self.description, values, external=external_values)
        for routine in (e for e in self.description.externals if e.entered):
            routine_values = external_values(routine, [float(value(scalars.evaluate(a))) for a in routine.arguments])
            values.update({name: x for name, x in zip(routine.returns, routine_values, strict=True)})
        return values

    def _given(self, scaled: Mapping[str, float] | None) -> dict[str, float] | None:
        return {**self.given, **(scaled or {})} or None

    def _length(self) -> float:
        """The size of the machine."""
        points = [b.joint.at for b in self.machine.bodies] + [b.cm for b in self.machine.bodies]
        points += [self.machine.point(p)[1] for p in self.description.points]
        return max((float(np.linalg.norm(value(p))) for p in points), default=0.0) or 1.0

    def evaluation(self, s: Sample) -> Evaluation:
        """The numbers of the description at a sample; those of the last samples are kept with all that was found."""
        return self._evaluations(s)

    def _evaluation(self, s: Sample) -> Evaluation:
        unit = self.eom.quantities.unit
        inputs: Any = {k: tuple(float(unit[k].to_equation(x)) for x in v) for k, v in s.inputs.items()}
        names = [x.name for x in self.eom.speeds]
        freedoms = list(s.independent) or [x.name for x in self.eom.independent_speeds] if self.loops else None
        return Evaluation(self.machine, names, external_values, s.time, inputs, freedoms, self.length)

    def rates(self, s: Sample, scaled: Mapping[str, float] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """What the program under check computes."""
        return self.sim.derivatives(*s.at, parameters=self._given(scaled), inputs=held(s.inputs))

    def plain_rates(self, s: Sample) -> np.ndarray:
        """q' and u' of the equations themselves, also near singular configurations, where a run takes others."""
        return np.concatenate(self.loaded.context().model.derivatives(*self.at(s)))

    def steady(self, s: Sample) -> bool:
        """Do runs use the equations themselves here? Not near singular configurations, nor where a pivot vanishes."""
        return rates_near_singular(self.loaded.context().model, self.at(s)) is None

    def at(self, s: Sample) -> At:
        """What the program is called with, values of user functions that are kept included."""
        return state_at(self.loaded.context(), *s.at, self._given(None), held(s.inputs))

    def section(self, name: str, s: Sample) -> np.ndarray:
        """What a function of the program gives."""
        return np.array(self.loaded.python.calls().values(name, *self.at(s)))

    def outputs(self, s: Sample, scaled: Mapping[str, float] | None = None) -> dict[str, float]:
        """Channels of the program under check, in user units."""
        return self.sim.outputs(*s.at, parameters=self._given(scaled), inputs=held(s.inputs))

    def echo(self, s: Sample) -> dict[str, float]:
        """What user functions give to the echo, by the program under check, in equation units."""
        return self.sim.echo(*s.at, parameters=self.given, inputs=held(s.inputs))

    @property
    def echo_units(self) -> dict[str, Unit]:
        return {x.name: x.unit for x in self.sim.interface.echo}

    @property
    def unit_system(self) -> UnitSystem:
        return unit_system(self.description.units)

    def closure(self, s: Sample) -> list[float]:
        """g, dg/dq, v and dv/du of the program under check."""
        return self.loaded.model.calls().values("closure", *self.at(s))

    def sizes(self, letter: str) -> np.ndarray:
        """What counts as one for every coordinate ("q") or speed ("u"): a radian, or the system's size."""
        names, states = self.machine.u_names, self.eom.speeds
        if letter == "q":
            names, states = self.machine.q_names, self.eom.coordinates
        sizes = dict(zip(names, self._sizes(letter), strict=True))
        return np.array([sizes[state_key(x.name)] for x in states])

    def _sizes(self, letter: str) -> np.ndarray:
        sizes = self.machine.sizes(letter, self.length)
        if letter == "q":
            sizes[list(self.machine.reach)] = list(self.machine.reach.values())
            sizes[self.machine.own] = OWN
        return sizes

    # ---- random states

    def samples(self, count: int) -> list[Sample]:
        """States about the initial one that can be evaluated: angles of a radian, lengths of the system's size.

        What cannot be used is passed over and counted, with the reason, in `passed_over`: gimbal lock, formulas without
        a value, and assemblies in which a linkage gains degrees of freedom for good, as when two equal links lie on
        each other.
        """
        samples: list[Sample] = []
        while len(samples) < count:
            if not self._ahead:
                self._look_ahead([1.0] * min(AHEAD, count - len(samples)))
            samples.append(self._next())
        return samples

    def _look_ahead(self, sizes: Sequence[float], pieces: bool = False) -> None:
        """Evaluates at once the states that are drawn next, unless loops move them elsewhere."""
        if self.loops:
            return
        drawn: deque[Drawn] = deque()
        rng_state = self.rng.bit_generator.state
        for size in sizes:
            state_before = self.rng.bit_generator.state
            drawn.append((size, state_before, self._new(size), self.rng.bit_generator.state))
        self.rng.bit_generator.state, self._ahead = rng_state, drawn
        self.evaluate_together([s for _, _, s, _ in drawn], pieces)

    def evaluate_together(self, samples: Sequence[Sample], pieces: bool = False) -> list[Together]:
        """Finds motions and loads of samples at once, and what formulas are made of there."""
        if self.loops:
            return []
        groups = together([(self.evaluation(s), s.q, s.u) for s in samples])
        for states in groups:
            states.loads()
            if pieces:
                states.pieces()
        return groups

    def further(self, samples: Sequence[Sample]) -> list[Sample]:
        """More states, near the initial one too, at which formulas are made of other pieces than at those given."""
        covered: set[Pieces] = set()
        for batch in batched(samples):
            self.evaluate_together(batch, pieces=True)
            covered = covered.union(*map(self._pieces, batch))
        new_samples: list[Sample] = []
        misses = tried = 0
        while covered and misses < IN_VAIN and len(new_samples) < MOST_FURTHER:
            if not self._ahead:
                self._look_ahead([0.5 ** (i % 7) for i in range(tried + 1, tried + 1 + IN_VAIN)], pieces=True)
            misses, tried = misses + 1, tried + 1
            s = self._closed(self._draw(0.5 ** (tried % 7)))
            try:
                piece_set = set() if s is None else self._pieces(s)
            except UNUSABLE:
                continue
            if s is not None and not piece_set <= covered and not self._trouble(s):
                new_samples.append(s)
                covered |= piece_set
                misses = 0
        return new_samples

    def drawn(self, size: float) -> Sample:
        """A state about the initial one, on no constraints."""
        return self._draw(size)

    def on_constraints(self, q: np.ndarray) -> Sample | None:
        """A state with these coordinates whose speeds keep the constraints, if it can be evaluated."""
        s = self._draw(1.0)
        sample = self._closed(Sample(s.time, q, s.u, s.inputs))
        if sample is None:
            return None
        sample = replace(sample, independent=self._independent(sample))
        return None if self._trouble(sample) else sample

    def _independent(self, s: Sample) -> tuple[str, ...]:
        """Speeds that determine the others at a state of a model with loops."""
        constraints = closure(self.loaded, self.sim.parameter_values(self.given), self.loaded.inputs(held(s.inputs)))
        assert constraints is not None
        J = constraints.evaluate(s.time, s.q, s.u)[3]
        order, rank, _ = pivoted(np.column_stack([J, np.zeros(len(J))]), len(J), 1.0, 1e-9)
        return tuple(self.eom.speeds[i].name for i in sorted(order[rank:]))

    def _next(self) -> Sample:
        reasons: Counter[str] = Counter()
        for attempt in range(40):
            s = self._closed(self._draw(0.5 ** (attempt // 4)))
            obstacle = "its loops cannot be closed" if s is None else self._trouble(s)
            if s is not None and not obstacle:
                self.passed_over += reasons
                return s
            reasons[obstacle] += 1
        reason_text = "; ".join(f"{reason} ({n} of 40)" for reason, n in reasons.most_common())
        raise ModelError(
            f"no state near the initial one can be evaluated: {reason_text}. Give a usable initial state with "
            "set_run(initial=...).",
            self.eom.name,
        )

    def _pieces(self, s: Sample) -> set[Pieces]:
        return self.evaluation(s).pieces(s.q, s.u)

    def lively(self, samples: Sequence[Sample]) -> list[Sample]:
        """Samples with speeds at which terms of the speeds are as large as those of loads, where that can be had.

        Under strong loads the speeds drawn count for little, and so would mistakes in what belongs to them.
        """
        lively_samples: list[Sample] = []
        for batch in batched(samples):
            faster = [self._faster(s) for s in batch]
            self.evaluate_together([s for s in faster if s is not None])
            lively_samples += [s if f is None or self._trouble(f) else f for s, f in zip(batch, faster, strict=True)]
        return lively_samples

    def _faster(self, s: Sample) -> Sample | None:
        try:
            drawn = np.abs(self.rates(s)[1]) / self.sizes("u")
            factor = math.sqrt(float(drawn.max(initial=0.0)))
            if not 1.0 < factor < LIVELY:
                return None
            return self._closed(Sample(s.time, s.q, s.u * factor, s.inputs))
        except UNUSABLE:
            return None

    @cached_property
    def _start(self) -> tuple[np.ndarray, np.ndarray]:
        """The initial state of the description, brought onto its constraints where that can be done."""
        if not self.loops:
            return self.sim.assemble()
        sample = Sample(0.0, *initial_state(self.loaded, self.description.run.initial), self.no_inputs)
        s = self._closed(sample)
        return (sample.q, sample.u) if s is None else (s.q, s.u)

    def _draw(self, size: float) -> Sample:
        """The next state: one that was drawn ahead, or a new one."""
        if self._ahead:
            drawn_size, state_before, s, state_after = self._ahead.popleft()
            if drawn_size == size and state_before == self.rng.bit_generator.state:
                self.rng.bit_generator.state = state_after
                return s
            self._ahead.clear()
        return self._new(size)

    def _new(self, size: float) -> Sample:
        q0, u0 = self._start
        q, u = q0.copy(), u0.copy()
        speed_index = {state_key(x.name): i for i, x in enumerate(self.eom.speeds)}
        q_sizes, u_sizes = size * self._sizes("q"), size * self._sizes("u")
        for b in self.machine.bodies:
            q[b.q] += q_sizes[b.q] * self.rng.uniform(-1, 1, b.joint.n_q)
            b.joint.settle(q[b.q])
            for name, scale in zip(self.machine.u_names[b.u], u_sizes[b.u], strict=True):
                if name in speed_index:
                    u[speed_index[name]] += scale * self._random()
        q[self.machine.own] += q_sizes[self.machine.own] * self.rng.uniform(-1, 1, len(self.description.states))
        inputs = {}
        for v in self.description.variables:
            amplitude = self._amplitudes[v.name]
            rate = amplitude if v.name in self._leading else 1.0
            inputs[v.name] = (size * amplitude * self._random(), rate * self._random(), rate * self._random())
        return Sample(float(self.rng.uniform(0, 1)), q, u, inputs)

    def _random(self) -> float:
        return float(self.rng.uniform(-1, 1))

    @cached_property
    def _leading(self) -> dict[str, float]:
        """Inputs that lead bodies by functions, and how far these allow it."""
        ranges: dict[str, float] = {}
        for b in self.machine.bodies:
            source = b.joint.given
            if source is not None:
                travel_limit = b.joint.reach()[-1]
                formula = source if isinstance(source, str) else show(to_syntax(source))
                identifiers = re.findall(r"[A-Za-z_][\w.]*", formula)
                ranges |= {v.name: travel_limit for v in self.description.variables if v.name in identifiers}
        return ranges

    @property
    def no_inputs(self) -> Inputs:
        return {v.name: (0.0, 0.0, 0.0) for v in self.description.variables}

    def _closed(self, s: Sample) -> Sample | None:
        """The sample on the constraints of its loops, Euler parameters of unit size; None where there is none."""
        if not self.loops:
            return s
        constraints = closure(self.loaded, self.sim.parameter_values(self.given), self.loaded.inputs(held(s.inputs)))
        assert constraints is not None
        free_q, free_u = np.ones(len(s.q), dtype=bool), np.ones(len(s.u), dtype=bool)
        try:
            q, u = constraints.assemble(s.time, s.q, s.u, free_q, free_u)
            projected = constraints.admit(
                s.time, q, u, tight=True
            )  # what is left of redundant rows is divided by small pivots
        except (CannotClose, *UNUSABLE):
            return None
        return Sample(s.time, projected.q, projected.u, s.inputs)

    @cached_property
    def _usual_freedoms(self) -> int | None:
        """The smallest number of degrees of freedom that the description leaves at states near the initial one."""
        dof_counts: list[int] = []
        rng = self.rng
        self.rng = np.random.default_rng(1)  # the looks do not change which states are drawn later
        for i in range(4 * LOOKS):
            if len(dof_counts) == LOOKS:
                break
            s = self._closed(self._draw(0.5 ** (i % LOOKS) if i else 0.0))
            try:
                if s is None:
                    continue
                evaluation = self.evaluation(s)
                closed = evaluation.closed
                if closed is None or evaluation.values(s.q, s.u).locked():
                    continue
                if closed.regular(s.q, []):  # elsewhere the rank is a matter of rounding
                    dof_counts.append(closed.left(s.q))
            except UNUSABLE:
                continue
        self.rng = rng
        return min(dof_counts, default=None)

    @cached_property
    def _amplitudes(self) -> dict[str, float]:
        """Of inputs: the largest magnitude in the described run (user units), or how far it may lead a joint, or 1."""
        run_inputs = self.eom.interface.given_inputs()
        return {v.name: self._amplitude(v.name, run_inputs.get(v.name)) for v in self.description.variables}

    def _amplitude(self, key: str, signal: Any) -> float:
        times = np.linspace(0.0, self.description.run.t_end or 1.0, 51)
        unit = self.eom.quantities.unit.get(key)
        default = float(unit.from_equation(self._leading[key])) if unit and key in self._leading else 1.0
        if isinstance(signal, int | float):
            return abs(float(signal)) or default
        try:
            return max(abs(float(signal(t))) for t in times) or default
        except (TypeError, RunError, ModelError):
            return default

    def _trouble(self, s: Sample) -> str:
        """Why the description has no numbers here, or none that would count; "" if it has. What the program says does
        not count."""
        try:
            evaluation = self.evaluation(s)
            motion = evaluation.values(s.q, s.u)
            locked = motion.locked()
            if locked:
                return f"gimbal lock of '{locked[0]}'"
            loads = evaluation.loads(motion)
            closed = evaluation.closed
            if closed is not None:
                if not closed.upright(motion):
                    return "the axis of a loop joint is turned over"
                if not closed.regular(s.q, evaluation.freedoms):
                    return "a singular configuration"
                if self._usual_freedoms not in (None, closed.left(s.q)):
                    return "more degrees of freedom than elsewhere"
        except UNUSABLE as error:
            return f"no numbers: {error}"
        return "" if np.all(np.isfinite(np.array(loads))) else "a load that is no finite number"


def batched(listed: Sequence[T]) -> Iterator[Sequence[T]]:
    """As many as are evaluated at once."""
    return (listed[i : i + AHEAD] for i in range(0, len(listed), AHEAD))


# ---- user functions and inputs


def external_values(routine: External, arguments: list[float]) -> list[float]:
    """Smooth, bounded values that depend on every argument, in place of a user function."""
    phase = sum((0.4 + 0.2 * i) * math.atan(x) for i, x in enumerate(arguments))
    return [0.7 * math.sin(0.3 + 0.5 * i + phase) for i in range(max(len(routine.returns), 1))]


def stand_in(routine: External) -> Callable[..., Any]:
    """One that remembers adds what it remembers, and changes it: an evaluation must begin with nothing of the last."""

    def values(*arguments: Any) -> Any:
        results = external_values(routine, [float(a) for a in (arguments[:-1] if routine.memory else arguments)])
        if routine.memory:
            results = [x + float(np.sum(arguments[-1])) for x in results]
            arguments[-1][:] = LEFT_BEHIND
        return tuple(results) if routine.returns else results[0]

    return values


def held(inputs: Inputs) -> dict[str, Signal]:
    """Inputs with the sampled value and rates."""
    constants = {k: [lambda t, x=x: x for x in values] for k, values in inputs.items()}
    return {k: Signal("function", v, rate, second=second) for k, (v, rate, second) in constants.items()}
