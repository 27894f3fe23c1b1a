"""What is under check: derived equations compared with the numbers of the description they should
come from.

In:  a System and its Equations. Out: `ModelUnderTest`, which evaluates the program and the
description at the same states, and `CheckSample`: random states near the initial one, on the
constraints, at which the description can be evaluated. User functions are replaced by smooth
functions of their arguments, inputs by given values.
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
from bellcrank.core.errors import ModelError, ModelWarning, RunError
from bellcrank.core.numeric.loop_constraints import AssemblyError
from bellcrank.core.numeric.null_space import eliminate_pivoted
from bellcrank.core.numeric.run_spec import At
from bellcrank.core.signals import Signal
from bellcrank.core.units import Unit, UnitSystem, unit_system
from bellcrank.mechanics.interface.interface import DECLARED
from bellcrank.model.formula import to_syntax
from bellcrank.model.records import UserFunction
from bellcrank.simulation.run.initial_assembly import state_from_mapping
from bellcrank.simulation.run.loop_closure import rates_near_singular
from bellcrank.simulation.run.point_evaluation import loop_constraints, program_arguments_at
from bellcrank.symbolic.expr.formula_parser import syntax_to_text
from bellcrank.verify.batched_states import BatchedStates, batch_states
from bellcrank.verify.bodies import ReferenceMechanism
from bellcrank.verify.counterparts import require_counterparts
from bellcrank.verify.formulas import (
    CannotEvaluate,
    ParameterValues,
    ScalarEvaluator,
    reference_state_key,
)
from bellcrank.verify.jets import NoDerivative, constant_term
from bellcrank.verify.reference_evaluation import Pieces, ReferenceEvaluation

UNUSABLE = (
    CannotEvaluate,
    NoDerivative,
    ArithmeticError,
    ValueError,
    np.linalg.LinAlgError,
    RunError,
)
MAX_SPEED_FACTOR = 1e4  # times the speeds drawn, at most
OWN = 0.1  # what counts as one for states of the user's own
IN_VAIN, MOST_FURTHER = (
    20,
    16,
)  # draws of states at which formulas are made of other pieces; such states
LEFT_BEHIND = 0.37  # in the memory of a user function
BATCH_SIZE = 32  # states that are evaluated at once
MAX_CACHED_SAMPLES = 64  # samples whose evaluations are kept
DOF_SAMPLE_COUNT = 6  # states at which the usual number of degrees of freedom is looked for


T = TypeVar("T")
Inputs = dict[str, tuple[float, float, float]]


@dataclass(frozen=True, eq=False)
class CheckSample:
    """A state in equation units with the inputs that go with it, in user units: (value, rate, rate
    of that)."""

    time: float
    q: np.ndarray
    u: np.ndarray
    inputs: Inputs
    independent: tuple[str, ...] = ()  # speeds, where those of the equations depend on each other

    @property
    def program_arguments(self) -> tuple[float, list[float], list[float]]:
        """Time and state as programs take them."""
        return self.time, self.q.tolist(), self.u.tolist()


Drawn = tuple[
    float, Any, CheckSample, Any
]  # a size, a sample of that size, and states of the generator before and after


class ModelUnderTest:
    """Derived equations compared with the numbers of the description they should come from."""

    def __init__(
        self,
        system: System,
        eom: Equations,
        options: dict[str, Any],
        parameters: Mapping[str, float] | None,
        seed: int,
        quiet: bool = False,
    ) -> None:
        require_counterparts(system.description, system.name)
        self.eom = eom
        self.loops = eom.program.loops is not None
        self.description = system.description
        self.given = eom.interface.values_by_key(parameters, DECLARED, "parameters")
        stubs = {e.name: substitute_user_function(e) for e in self.description.externals}
        with warnings.catch_warnings():
            if quiet:
                warnings.simplefilter("ignore", ModelWarning)
            self.sim: Simulation = eom.compile(external=stubs, **options)
            self.loaded = self.sim.loaded
            self.machine = ReferenceMechanism.from_description(self.description, self.values())
        self._evaluations = lru_cache(maxsize=MAX_CACHED_SAMPLES)(self._evaluation)
        self.rng = np.random.default_rng(seed)
        self._ahead: deque[Drawn] = deque()
        self.passed_over: Counter[str] = Counter()
        self.length = self._length()

    def values(self, scaled: Mapping[str, float] | None = None) -> ParameterValues:
        """All parameters in equation units; of those the program does not need, what is given."""
        unit = self.eom.quantities.unit
        values = ParameterValues()
        parameters = self._parameter_values(scaled) or {}
        for key, record in self.description.parameters.items():
            number = parameters.get(key, record.value)
            if number is not None:
                values[key] = (
                    float(unit[key].to_equation_units(number)) if key in unit else float(number)
                )
        parameter_values = zip(
            (p.name for p in self.eom.program.parameters),
            self.sim.parameter_values(parameters),
            strict=True,
        )
        values.update({name: number for name, number in parameter_values})
        scalars = ScalarEvaluator(self.description, values, external=external_values)
        for routine in (e for e in self.description.externals if e.sets_parameters):
            routine_values = external_values(
                routine, [float(constant_term(scalars.evaluate(a))) for a in routine.arguments]
            )
            values.update(
                {name: x for name, x in zip(routine.returns, routine_values, strict=True)}
            )
        return values

    def _parameter_values(self, scaled: Mapping[str, float] | None) -> dict[str, float] | None:
        return {**self.given, **(scaled or {})} or None

    def _length(self) -> float:
        """The size of the machine."""
        points = [b.joint.at for b in self.machine.bodies] + [b.cm for b in self.machine.bodies]
        points += [self.machine.point_of_record(p)[1] for p in self.description.points]
        return max((float(np.linalg.norm(constant_term(p))) for p in points), default=0.0) or 1.0

    def evaluation(self, s: CheckSample) -> ReferenceEvaluation:
        """The numbers of the description at a sample; those of the last samples are kept with all
        that was found."""
        return self._evaluations(s)

    def _evaluation(self, s: CheckSample) -> ReferenceEvaluation:
        unit = self.eom.quantities.unit
        inputs: Any = {
            k: tuple(float(unit[k].to_equation_units(x)) for x in v) for k, v in s.inputs.items()
        }
        names = [x.name for x in self.eom.speeds]
        freedoms = (
            list(s.independent) or [x.name for x in self.eom.independent_speeds]
            if self.loops
            else None
        )
        return ReferenceEvaluation(
            self.machine, names, external_values, s.time, inputs, freedoms, self.length
        )

    def rates(
        self, s: CheckSample, scaled: Mapping[str, float] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """What the program under check computes."""
        return self.sim.derivatives(
            *s.program_arguments,
            parameters=self._parameter_values(scaled),
            inputs=held_signals(s.inputs),
        )

    def plain_rates(self, s: CheckSample) -> np.ndarray:
        """q' and u' of the equations themselves, also near singular configurations, where a run
        takes others."""
        return np.concatenate(self.loaded.new_context().model.derivatives(*self.call_arguments(s)))

    def uses_own_equations(self, s: CheckSample) -> bool:
        """Do runs use the equations themselves here? Not near singular configurations, nor where a
        pivot vanishes."""
        return rates_near_singular(self.loaded.new_context().model, self.call_arguments(s)) is None

    def call_arguments(self, s: CheckSample) -> At:
        """What the program is called with, values of user functions that are kept included."""
        return program_arguments_at(
            self.loaded.new_context(),
            *s.program_arguments,
            self._parameter_values(None),
            held_signals(s.inputs),
        )

    def function_values(self, name: str, s: CheckSample) -> np.ndarray:
        """What a function of the program gives."""
        return np.array(self.loaded.python_model.new_calls().values(name, *self.call_arguments(s)))

    def outputs(
        self, s: CheckSample, scaled: Mapping[str, float] | None = None
    ) -> dict[str, float]:
        """Channels of the program under check, in user units."""
        return self.sim.outputs(
            *s.program_arguments,
            parameters=self._parameter_values(scaled),
            inputs=held_signals(s.inputs),
        )

    def echo(self, s: CheckSample) -> dict[str, float]:
        """What user functions give to the echo, by the program under check, in equation units."""
        return self.sim.echo(
            *s.program_arguments, parameters=self.given, inputs=held_signals(s.inputs)
        )

    @property
    def echo_units(self) -> dict[str, Unit]:
        return {x.name: x.unit for x in self.sim.interface.echo}

    @property
    def unit_system(self) -> UnitSystem:
        return unit_system(self.description.units)

    def closure(self, s: CheckSample) -> list[float]:
        """g, dg/dq, v and dv/du of the program under check."""
        return self.loaded.model.new_calls().values("closure", *self.call_arguments(s))

    def state_scales(self, letter: str) -> np.ndarray:
        """What counts as one for every coordinate ("q") or speed ("u"): a radian, or the system's
        size."""
        names, states = self.machine.u_names, self.eom.speeds
        if letter == "q":
            names, states = self.machine.q_names, self.eom.coordinates
        sizes = dict(zip(names, self._state_scales(letter), strict=True))
        return np.array([sizes[reference_state_key(x.name)] for x in states])

    def _state_scales(self, letter: str) -> np.ndarray:
        sizes = self.machine.state_scales(letter, self.length)
        if letter == "q":
            sizes[list(self.machine.coordinate_reach)] = list(
                self.machine.coordinate_reach.values()
            )
            sizes[self.machine.own] = OWN
        return sizes

    # ---- random states

    def samples(self, count: int) -> list[CheckSample]:
        """States about the initial one that can be evaluated: angles of a radian, lengths of the
        system's size.

        What cannot be used is passed over and counted, with the reason, in `passed_over`: gimbal
        lock, formulas without a value, and assemblies in which a linkage gains degrees of freedom
        for good, as when two equal links lie on each other.
        """
        samples: list[CheckSample] = []
        while len(samples) < count:
            if not self._ahead:
                self._presolve_next([1.0] * min(BATCH_SIZE, count - len(samples)))
            samples.append(self._next_usable_sample())
        return samples

    def _presolve_next(self, sizes: Sequence[float], pieces: bool = False) -> None:
        """Evaluates at once the states that are drawn next, unless loops move them elsewhere."""
        if self.loops:
            return
        drawn: deque[Drawn] = deque()
        rng_state = self.rng.bit_generator.state
        for size in sizes:
            state_before = self.rng.bit_generator.state
            drawn.append((size, state_before, self._new_sample(size), self.rng.bit_generator.state))
        self.rng.bit_generator.state, self._ahead = rng_state, drawn
        self.evaluate_together([s for _, _, s, _ in drawn], pieces)

    def evaluate_together(
        self, samples: Sequence[CheckSample], pieces: bool = False
    ) -> list[BatchedStates]:
        """Finds motions and loads of samples at once, and what formulas are made of there."""
        if self.loops:
            return []
        groups = batch_states([(self.evaluation(s), s.q, s.u) for s in samples])
        for states in groups:
            states.loads()
            if pieces:
                states.active_branches()
        return groups

    def samples_in_other_branches(self, samples: Sequence[CheckSample]) -> list[CheckSample]:
        """More states, near the initial one too, at which formulas are made of other pieces than at
        those given."""
        covered: set[Pieces] = set()
        for batch in split_batches(samples):
            self.evaluate_together(batch, pieces=True)
            covered = covered.union(*map(self._active_branches, batch))
        new_samples: list[CheckSample] = []
        misses = tried = 0
        while covered and misses < IN_VAIN and len(new_samples) < MOST_FURTHER:
            if not self._ahead:
                self._presolve_next(
                    [0.5 ** (i % 7) for i in range(tried + 1, tried + 1 + IN_VAIN)], pieces=True
                )
            misses, tried = misses + 1, tried + 1
            s = self._project_to_constraints(self._draw_sample(0.5 ** (tried % 7)))
            try:
                piece_set = set() if s is None else self._active_branches(s)
            except UNUSABLE:
                continue
            if s is not None and not piece_set <= covered and not self._unusable_reason(s):
                new_samples.append(s)
                covered |= piece_set
                misses = 0
        return new_samples

    def draw_sample(self, size: float) -> CheckSample:
        """A state about the initial one, on no constraints."""
        return self._draw_sample(size)

    def on_constraints(self, q: np.ndarray) -> CheckSample | None:
        """A state with these coordinates whose speeds keep the constraints, if it can be
        evaluated."""
        s = self._draw_sample(1.0)
        sample = self._project_to_constraints(CheckSample(s.time, q, s.u, s.inputs))
        if sample is None:
            return None
        sample = replace(sample, independent=self._independent(sample))
        return None if self._unusable_reason(sample) else sample

    def _independent(self, s: CheckSample) -> tuple[str, ...]:
        """Speeds that determine the others at a state of a model with loops."""
        constraints = loop_constraints(
            self.loaded,
            self.sim.parameter_values(self.given),
            self.loaded.inputs(held_signals(s.inputs)),
        )
        assert constraints is not None
        J = constraints.evaluate(s.time, s.q, s.u)[3]
        order, rank, _ = eliminate_pivoted(
            np.column_stack([J, np.zeros(len(J))]), len(J), 1.0, 1e-9
        )
        return tuple(self.eom.speeds[i].name for i in sorted(order[rank:]))

    def _next_usable_sample(self) -> CheckSample:
        reasons: Counter[str] = Counter()
        for attempt in range(40):
            s = self._project_to_constraints(self._draw_sample(0.5 ** (attempt // 4)))
            obstacle = "its loops cannot be closed" if s is None else self._unusable_reason(s)
            if s is not None and not obstacle:
                self.passed_over += reasons
                return s
            reasons[obstacle] += 1
        reason_text = "; ".join(f"{reason} ({n} of 40)" for reason, n in reasons.most_common())
        raise ModelError(
            f"no state near the initial one can be evaluated: {reason_text}. Give a usable "
            f"initial state with "
            "set_run(initial=...).",
            self.eom.name,
        )

    def _active_branches(self, s: CheckSample) -> set[Pieces]:
        return self.evaluation(s).active_branches(s.q, s.u)

    def speed_dominated_samples(self, samples: Sequence[CheckSample]) -> list[CheckSample]:
        """Samples with speeds at which terms of the speeds are as large as those of loads, where
        that can be had.

        Under strong loads the speeds drawn count for little, and so would mistakes in what belongs
        to them.
        """
        lively_samples: list[CheckSample] = []
        for batch in split_batches(samples):
            faster = [self._scale_speeds_up(s) for s in batch]
            self.evaluate_together([s for s in faster if s is not None])
            lively_samples += [
                s if f is None or self._unusable_reason(f) else f
                for s, f in zip(batch, faster, strict=True)
            ]
        return lively_samples

    def _scale_speeds_up(self, s: CheckSample) -> CheckSample | None:
        try:
            drawn = np.abs(self.rates(s)[1]) / self.state_scales("u")
            factor = math.sqrt(float(drawn.max(initial=0.0)))
            if not 1.0 < factor < MAX_SPEED_FACTOR:
                return None
            return self._project_to_constraints(CheckSample(s.time, s.q, s.u * factor, s.inputs))
        except UNUSABLE:
            return None

    @cached_property
    def _initial_state(self) -> tuple[np.ndarray, np.ndarray]:
        """The initial state of the description, brought onto its constraints where that can be
        done."""
        if not self.loops:
            return self.sim.assemble()
        sample = CheckSample(
            0.0, *state_from_mapping(self.loaded, self.description.run.initial), self.no_inputs
        )
        s = self._project_to_constraints(sample)
        return (sample.q, sample.u) if s is None else (s.q, s.u)

    def _draw_sample(self, size: float) -> CheckSample:
        """The next state: one that was drawn ahead, or a new one."""
        if self._ahead:
            drawn_size, state_before, s, state_after = self._ahead.popleft()
            if drawn_size == size and state_before == self.rng.bit_generator.state:
                self.rng.bit_generator.state = state_after
                return s
            self._ahead.clear()
        return self._new_sample(size)

    def _new_sample(self, size: float) -> CheckSample:
        q0, u0 = self._initial_state
        q, u = q0.copy(), u0.copy()
        speed_index = {reference_state_key(x.name): i for i, x in enumerate(self.eom.speeds)}
        q_sizes, u_sizes = size * self._state_scales("q"), size * self._state_scales("u")
        for b in self.machine.bodies:
            q[b.q] += q_sizes[b.q] * self.rng.uniform(-1, 1, b.joint.n_q)
            b.joint.normalize_coordinates(q[b.q])
            for name, scale in zip(self.machine.u_names[b.u], u_sizes[b.u], strict=True):
                if name in speed_index:
                    u[speed_index[name]] += scale * self._random()
        q[self.machine.own] += q_sizes[self.machine.own] * self.rng.uniform(
            -1, 1, len(self.description.states)
        )
        inputs = {}
        for v in self.description.variables:
            amplitude = self._amplitudes[v.name]
            rate = amplitude if v.name in self._prescribing_inputs else 1.0
            inputs[v.name] = (
                size * amplitude * self._random(),
                rate * self._random(),
                rate * self._random(),
            )
        return CheckSample(float(self.rng.uniform(0, 1)), q, u, inputs)

    def _random(self) -> float:
        return float(self.rng.uniform(-1, 1))

    @cached_property
    def _prescribing_inputs(self) -> dict[str, float]:
        """Inputs that lead bodies by functions, and how far these allow it."""
        ranges: dict[str, float] = {}
        for b in self.machine.bodies:
            source = b.joint.given
            if source is not None:
                travel_limit = b.joint.coordinate_reach()[-1]
                formula = source if isinstance(source, str) else syntax_to_text(to_syntax(source))
                identifiers = re.findall(r"[A-Za-z_][\w.]*", formula)
                ranges |= {
                    v.name: travel_limit
                    for v in self.description.variables
                    if v.name in identifiers
                }
        return ranges

    @property
    def no_inputs(self) -> Inputs:
        return {v.name: (0.0, 0.0, 0.0) for v in self.description.variables}

    def _project_to_constraints(self, s: CheckSample) -> CheckSample | None:
        """The sample on the constraints of its loops, Euler parameters of unit size; None where
        there is none."""
        if not self.loops:
            return s
        constraints = loop_constraints(
            self.loaded,
            self.sim.parameter_values(self.given),
            self.loaded.inputs(held_signals(s.inputs)),
        )
        assert constraints is not None
        free_q, free_u = np.ones(len(s.q), dtype=bool), np.ones(len(s.u), dtype=bool)
        try:
            q, u = constraints.assemble(s.time, s.q, s.u, free_q, free_u)
            projected = constraints.project(
                s.time, q, u, tight=True
            )  # what is left of redundant rows is divided by small pivots
        except (AssemblyError, *UNUSABLE):
            return None
        return CheckSample(s.time, projected.q, projected.u, s.inputs)

    @cached_property
    def _usual_freedoms(self) -> int | None:
        """The smallest number of degrees of freedom that the description leaves at states near the
        initial one."""
        dof_counts: list[int] = []
        rng = self.rng
        self.rng = np.random.default_rng(1)  # the looks do not change which states are drawn later
        for i in range(4 * DOF_SAMPLE_COUNT):
            if len(dof_counts) == DOF_SAMPLE_COUNT:
                break
            s = self._project_to_constraints(
                self._draw_sample(0.5 ** (i % DOF_SAMPLE_COUNT) if i else 0.0)
            )
            try:
                if s is None:
                    continue
                evaluation = self.evaluation(s)
                closed = evaluation.closed
                if closed is None or evaluation.values(s.q, s.u).gimbal_locked_bodies():
                    continue
                if closed.is_regular(s.q, []):  # elsewhere the rank is a matter of rounding
                    dof_counts.append(closed.dof_count(s.q))
            except UNUSABLE:
                continue
        self.rng = rng
        return min(dof_counts, default=None)

    @cached_property
    def _amplitudes(self) -> dict[str, float]:
        """Of inputs: the largest magnitude in the described run (user units), or how far it may
        lead a joint, or 1."""
        run_inputs = self.eom.interface.inputs_by_key()
        return {
            v.name: self._amplitude(v.name, run_inputs.get(v.name))
            for v in self.description.variables
        }

    def _amplitude(self, key: str, signal: Any) -> float:
        times = np.linspace(0.0, self.description.run.t_end or 1.0, 51)
        unit = self.eom.quantities.unit.get(key)
        default = (
            float(unit.from_equation_units(self._prescribing_inputs[key]))
            if unit and key in self._prescribing_inputs
            else 1.0
        )
        if isinstance(signal, int | float):
            return abs(float(signal)) or default
        try:
            return max(abs(float(signal(t))) for t in times) or default
        except (TypeError, RunError, ModelError):
            return default

    def _unusable_reason(self, s: CheckSample) -> str:
        """Why the description has no numbers here, or none that would count; "" if it has. What the
        program says does not count."""
        try:
            evaluation = self.evaluation(s)
            motion = evaluation.values(s.q, s.u)
            locked = motion.gimbal_locked_bodies()
            if locked:
                return f"gimbal lock of '{locked[0]}'"
            loads = evaluation.loads(motion)
            closed = evaluation.closed
            if closed is not None:
                if not closed.has_reference_orientation(motion):
                    return "the axis of a loop joint is turned over"
                if not closed.is_regular(s.q, evaluation.freedoms):
                    return "a singular configuration"
                if self._usual_freedoms not in (None, closed.dof_count(s.q)):
                    return "more degrees of freedom than elsewhere"
        except UNUSABLE as error:
            return f"no numbers: {error}"
        return "" if np.all(np.isfinite(np.array(loads))) else "a load that is no finite number"


def split_batches(listed: Sequence[T]) -> Iterator[Sequence[T]]:
    """As many as are evaluated at once."""
    return (listed[i : i + BATCH_SIZE] for i in range(0, len(listed), BATCH_SIZE))


# ---- user functions and inputs


def external_values(routine: UserFunction, arguments: list[float]) -> list[float]:
    """Smooth, bounded values that depend on every argument, in place of a user function."""
    phase = sum((0.4 + 0.2 * i) * math.atan(x) for i, x in enumerate(arguments))
    return [0.7 * math.sin(0.3 + 0.5 * i + phase) for i in range(max(len(routine.returns), 1))]


def substitute_user_function(routine: UserFunction) -> Callable[..., Any]:
    """One that remembers adds what it remembers, and changes it: an evaluation must begin with
    nothing of the last."""

    def values(*arguments: Any) -> Any:
        results = external_values(
            routine, [float(a) for a in (arguments[:-1] if routine.memory else arguments)]
        )
        if routine.memory:
            results = [x + float(np.sum(arguments[-1])) for x in results]
            arguments[-1][:] = LEFT_BEHIND
        return tuple(results) if routine.returns else results[0]

    return values


def held_signals(inputs: Inputs) -> dict[str, Signal]:
    """Inputs with the sampled value and rates."""
    constants = {k: [lambda t, x=x: x for x in values] for k, values in inputs.items()}
    return {
        k: Signal("function", v, rate, second=second) for k, (v, rate, second) in constants.items()
    }
