"""A run made ready to be taken step by step, compiled or driven by Python.

In:  a loaded model and what a run begins with (`Origin`). Out: `Going`. Everything is that of a run by `simulate`; it
has no end, and goes on with one state after another.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bellcrank.backend.c_runs import CRun, RigidCRun
from bellcrank.backend.c_steps import CSteps, RigidCSteps
from bellcrank.errors import ModelError, RunError, mapping
from bellcrank.interface.interface import Interface
from bellcrank.numeric.events import Watch
from bellcrank.numeric.methods import ADAPTIVE, one_of
from bellcrank.numeric.run_spec import RunSpec, Weights
from bellcrank.run.actions import read_events
from bellcrank.run.assembly import start_state
from bellcrank.run.goes_on import Origin, Reached, first_state, place_on, take_over
from bellcrank.run.inputs import as_signal
from bellcrank.run.loaded import Loaded
from bellcrank.run.outcome import how_ended
from bellcrank.run.prepare import Prepared
from bellcrank.run.rigid import check_rigid
from bellcrank.run.status import OF_CODE, RunStatus
from bellcrank.run.stepping import Evaluation, PythonRun
from bellcrank.run.stretches import Stretch, Stretches, known_to
from bellcrank.run.values import finite, positive, run_spec
from bellcrank.run.watched_steps import ACTION_FAILED, FEW, WatchedSteps
from bellcrank.signals import Signal


class PythonSteps:
    """Steps of a run that Python drives; as `CSteps`."""

    calls_back = True
    is_settled = True

    def __init__(self, run: PythonRun) -> None:
        self.run, self.row = run, np.empty(0)

    @property
    def reached(self) -> int:
        return self.run.reached

    def take(self, n: int) -> int:
        rows = self.run.advance(self.run.reached + n)
        if not n and not len(rows) and not self.run.status:
            self.row = self.run.row_again()
        elif len(rows):
            self.row = rows[-1]
        return self.run.status

    def ended(self) -> None:
        """Nothing is to be noted."""

    def uncount(self) -> None:
        self.run.reached -= 1

    def left(self) -> bool:
        self.uncount()
        return False

    def put(self, row: np.ndarray, reached: int) -> None:
        self.row, self.run.reached = row.copy(), reached


@dataclass(eq=False)
class Going:
    """A run that goes on step by step. `signals`: what is given for each input, by name; `used`: keys of parameters
    in events. An event that acts changes spec, evaluation, parameters and what takes the steps."""

    loaded: Loaded
    origin: Origin
    spec: RunSpec
    signals: Mapping[str, Signal]
    evaluation: Evaluation
    prepared: Prepared
    watch: Watch
    steps: CSteps | PythonSteps
    used: set[str] = field(default_factory=set)

    @property
    def t(self) -> float:
        """The time reached, s."""
        if isinstance(self.steps, WatchedSteps):
            return float(self.steps.row[0])
        spec, reached = self.spec, self.steps.reached
        return spec.begins if reached == spec.first else spec.t_start + reached * spec.step

    def why(self, at_start: bool = False) -> str:
        """Why the last step failed, which is not counted, or the state at the start of the next."""
        self.steps.ended()
        if isinstance(self.steps, WatchedSteps) and self.steps.stretches.problem:
            return self.steps.stretches.problem
        told = how_ended(self.prepared, self.evaluation, self.watch, False)
        if not at_start:
            self.steps.uncount()
        return told

    def status(self, code: int) -> RunStatus:
        """How it stands, by the code of its last steps."""
        if code == ACTION_FAILED:
            return RunStatus.ACTION_FAILED
        if code:
            return OF_CODE[code]
        return RunStatus.STOPPED_BY_EVENT if self.watch.stopped is not None else RunStatus.RUNNING

    def reached(self, signals: Mapping[str, Signal]) -> Reached:
        """All that the steps to come follow from, with what is given for the inputs at present."""
        e, spec, row = self.evaluation, self.spec, self.steps.row.copy()
        n = self.steps.reached
        onward = spec if n == spec.first else replace(spec, first=n, within=None)
        carried, behind = replace(self.prepared.run.carried(), weights=e.weights), None
        if isinstance(self.steps, WatchedSteps):
            behind = self.steps.behind()
            if self.watch.stopped is not None:
                onward, carried = place_on(spec, float(row[0])), replace(carried, inside=None)
        origin, state = self.origin, row[1 : 1 + self.loaded.n_states].copy()
        return Reached(
            self.loaded.model.source, onward, origin.dae, origin.tolerances, row, state, tuple(e.p),
            dict(origin.parameters or {}), dict(signals), carried,
            tuple(m.array.copy() for m in e.context.memories), behind,
        )  # fmt: skip

    def put_back(self, to: Reached) -> bool:
        """Goes back to what was reached with the same parameters and inputs, if this can be done at once."""
        spec, same = self.spec, to.spec
        usual = spec.within is None and same.within is None and to.carried.inside is not None
        if type(self.steps) is not CSteps or not usual or to.p != tuple(self.evaluation.p):
            return False
        if (spec.step, spec.method, spec.t_start) != (same.step, same.method, same.t_start):
            return False
        weights = self.evaluation.weights
        if weights is not None and not _are_equal(weights, to.carried.weights):
            return False
        self.steps.run.take(to.carried)
        for routine, array in zip(self.evaluation.context.memories, to.memories, strict=True):
            routine.array[:] = array
        self.steps.job.status = 0
        self.steps.put(to.row, same.first)
        return True

    def start_of(self, origin: Origin) -> Start | None:
        """Another start of the same run with the inputs that it has, if it can begin there as it is."""
        loaded, steps = self.loaded, self.steps
        if type(steps) is not CSteps or type(steps.run) is not CRun or steps.calls_back or self.spec.first:
            return None
        p = loaded.parameter_values(origin.parameters)
        c, inputs = loaded.constants(p), list(self.evaluation.inputs)
        return origin, np.concatenate(start_state(loaded, origin.initial, None, p, inputs, self.spec.begins)), p, c

    def begun_at(self, start: Start) -> Going:
        """The run begun again; what it was is lost."""
        origin, y, p, c = start
        assert isinstance(self.steps, CSteps)
        self.steps.run.begin_again(y, p, c)
        return replace(self, origin=origin._replace(inputs=self.signals), evaluation=replace(self.evaluation, p=p, c=c))


def _are_equal(a: Weights | None, b: Weights | None) -> bool:
    return a is not None and b is not None and all(map(np.array_equal, a, b))


Start = tuple[Origin, np.ndarray, list[float], list[float]]


def going(loaded: Loaded, origin: Origin, step: float | None = None, method: str | None = None) -> Going:
    """A run that has taken its start. Raises what is wrong with it."""
    interface = loaded.interface
    spec = _spec(origin, loaded, step, method)
    loaded.inputs(origin.inputs, (spec.begins, spec.begins))  # tells what is wrong
    signals = signals_of(interface, origin.inputs)
    origin = origin._replace(inputs=signals)
    inputs = loaded.inputs(signals)
    spec = _long_enough(spec, [b for i in inputs for b in i.breaks])
    events = read_events(interface, None, None, origin.parameters)
    p = loaded.parameter_values(known_to(loaded, origin.parameters, events.used))
    if loaded.analysis.mechanism.description.contacts:
        check_rigid(loaded, spec, origin.dae.usual)
    if not origin.dae.usual:
        raise ModelError(f"start=: the run keeps its loops by dae={origin.dae.method!r}, a stepper by projection")
    context, watch = loaded.context(), Watch(events.watched)
    stretches = Stretches(
        loaded, context, inputs, origin.dae, origin.tolerances, watch, events, origin.parameters, ends=False
    )
    carried = origin.carried(loaded, p, origin.dae)
    y = first_state(origin, loaded, stretches.closure(p), p, inputs, spec.begins)
    stretch = Stretch(spec, p, y, carried)
    evaluation, prepared = stretches.ready(stretch, np.zeros(len(interface.kept)))
    row = take_over(origin.reached, evaluation, stretch.y, carried)
    run: Any = prepared.run
    steps: CSteps | PythonSteps
    behind = None if origin.reached is None else origin.reached.behind
    if stretches.watching is not None:
        steps = WatchedSteps(stretches, run, behind)
    else:
        kind = RigidCSteps if isinstance(run, RigidCRun) else CSteps if isinstance(run, CRun) else PythonSteps
        steps = kind(run)
    found = Going(loaded, origin, spec, signals, evaluation, prepared, watch, steps, events.used)
    if isinstance(steps, WatchedSteps):
        steps.going = found
    if carried is not None and carried.inside is not None and row is not None:
        steps.put(row, spec.first)
        return found
    if steps.take(0):
        raise RunError(found.why(at_start=True))
    return found


def signals_of(interface: Interface, given: Mapping[str, Any] | None) -> dict[str, Signal]:
    """What is given for each input, by its name in the model."""
    listed = interface.given_inputs(mapping(given, "inputs"))
    return {x.name: as_signal(listed[x.key], x.name) for x in interface.signals if x.key in listed}


def _spec(origin: Origin, loaded: Loaded, step: float | None, method: str | None) -> RunSpec:
    """Step and method, as those of a run."""
    r = origin.reached
    if step is None:
        step = run_spec(loaded.interface, None, None, method, 1).step if r is None else r.spec.step
    begins = float(r.row[0]) if r is not None else finite(0.0 if origin.t_start is None else origin.t_start, "t_start")
    spec = origin.spec(loaded, begins + FEW * positive(step, "step"), step, method, 1)
    if spec.method in ADAPTIVE:
        raise ModelError(f"method={spec.method!r} chooses its steps; a stepper takes method {one_of()}", loaded.name)
    return spec


def _long_enough(spec: RunSpec, breaks: Sequence[float]) -> RunSpec:
    """The spec over all times at which steps are to be split."""
    last = max((b for b in breaks if math.isfinite(b)), default=spec.begins)
    steps = max(math.ceil((last - spec.t_start) / spec.step), spec.first) + 1
    return replace(spec, t_end=spec.t_start + steps * spec.step)
