"""One run: it begins, advances by some steps or to its end, gives its state, saves and restores.

In:  a loaded model, what a run begins with (`InitialConditions`) and what it is asked to do (`RunSpec`).
Out: `Session`.
The kernel takes the steps and lets events act. Where SciPy takes them, steps begin anew after an event with an action.

The rows of a run have the state before and the one after every event with an action, at the same time; all others are
where they would be without.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bellcrank.backend.c_runs import WHEEL_MODES, CRun, RigidCRun
from bellcrank.backend.c_steps import CSteps, RigidCSteps
from bellcrank.backend.watching import Watching
from bellcrank.errors import ModelError, RunError, mapping, warn
from bellcrank.interface.interface import DECLARED, Interface
from bellcrank.numeric.branch import Keeper, Passage
from bellcrank.numeric.events import Watch
from bellcrank.numeric.methods import ADAPTIVE, METHODS, SCIPY, one_of
from bellcrank.numeric.projection import Closure
from bellcrank.numeric.run_spec import FINISHED, Checkpoint, RunSpec, Weights, changed
from bellcrank.numeric.step_report import add_figures
from bellcrank.numeric.tuning import STEPS
from bellcrank.run.actions import EventsGiven, read_events
from bellcrank.run.adaptive import adaptive_run
from bellcrank.run.assembly import start_state
from bellcrank.run.checkpoint import InitialConditions, checkpoint_at, first_state, place_on, take_over
from bellcrank.run.closure import (
    Closing,
    begun,
    closure_of,
    inputs_at,
    keeper_of,
    on_branch,
    tell_of_branch,
    weights_at,
)
from bellcrank.run.dae_methods import Dae
from bellcrank.run.dae_runs import Piece, check_dae, dae_run
from bellcrank.run.event_data import event_data, take_counted, take_happened, value_names
from bellcrank.run.inputs import as_signal
from bellcrank.run.jumps import mended
from bellcrank.run.loaded import Loaded
from bellcrank.run.memory import Samples
from bellcrank.run.outcome import how_ended
from bellcrank.run.plain import not_in_python
from bellcrank.run.rigid import check_rigid, rigid_run, tell_raised
from bellcrank.run.status import OF_CODE, RunStatus
from bellcrank.run.stepping import Driven, Evaluation, PythonRun
from bellcrank.run.steps import ACTION_FAILED, FEW, PythonSteps, WatchedSteps
from bellcrank.run.tolerances import Tolerances, for_start
from bellcrank.run.values import finite, positive, run_spec
from bellcrank.signals import Signal

Progress = Callable[[float], None]
BLOCK_SECONDS = 0.1  # between two looks at progress, events and the keyboard


class Session:
    """A run, ready to begin. An event with an action may change spec, evaluation and parameters.

    `initial`: what it begins with, `spec`: what it is asked to do, `evaluation`: the model with its values, `run`: what
    takes the steps. `pieces`: rows with the parameters that held for them. `steps`, once `step_by_step` was called:
    the same run taken step by step.
    """

    steps: CSteps | PythonSteps

    def __init__(
        self,
        loaded: Loaded,
        initial: InitialConditions,
        spec: RunSpec,
        events: EventsGiven,
        dae: Dae,
        tolerances: Tolerances,
        assemble: bool = True,
        ends: bool = True,
    ) -> None:
        self.loaded, self.initial, self.spec, self.events, self.dae = loaded, initial, spec, events, dae
        self._ends = ends  # has the run an end?
        self.watch = Watch(events.watched)
        self.parameters = initial.parameters  # those that a user gave, and later what events set
        self.p = p = loaded.parameter_values(known_to(loaded, initial.parameters, events.used))
        self.signals = loaded.inputs(initial.inputs, (spec.begins, spec.t_end) if ends else None)
        self._contacts = loaded.analysis.mechanism.description.contacts
        if self._contacts:
            check_rigid(loaded, spec, dae.usual)
        check_dae(dae, spec, loaded)
        self.context = loaded.context()
        self.pieces: list[Piece] = []
        self.figures: dict[str, float] = {}
        self.passages: list[Passage] = []  # near singular configurations
        self.problem = ""  # what an event could not do, which ends the run
        self.interrupted = False
        self.within = False  # did the run end within a step, or after its state was changed?
        self._closure: tuple[Sequence[float], Closure | None] | None = None
        self._parts: list[np.ndarray] = []
        self.watching: Watching | None = None  # events that the kernel looks for
        self.changed: list[tuple[int, list[float], list[float]]] = []  # rows before, parameters, constants
        self._told_idle: set[str] = set()
        self.saved = initial.checkpoint(loaded, p, dae)
        self.y = first_state(initial, loaded, self.closure(p) if assemble else None, p, self.signals, spec.begins)
        self.tolerances = for_start(tolerances, loaded.interface, p, self.y, spec.method)
        self._prepare(np.zeros(len(loaded.interface.kept)))
        self.row = take_over(self.saved, self.evaluation, self.y)

    def closure(self, p: Sequence[float]) -> Closure | None:
        """The constraints of closed loops."""
        if self._closure is None or self._closure[0] != p:
            loops = self.loaded.program.loops
            context, constants = self.context, self.loaded.constants(list(p))
            spare = self.loaded.starts.spare
            constraints = (
                None if loops is None else closure_of(context.python, p, self.signals, context.model, constants, spare)
            )
            self._closure = p, constraints
        return self._closure[1]

    def _prepare(self, sampled_values: np.ndarray) -> None:
        """Makes what takes the steps; the state is brought onto the branch of a singular configuration."""
        loaded, spec, saved, closing = self.loaded, self.spec, self.saved, None
        t, closure = spec.begins, self.closure(self.p)
        if closure is not None:
            get_arrays = loaded.starts.found
            w = inputs_at(t, self.signals, sampled_values)
            numbers = [*self.p, *w, t]
            weights = None if saved is None else saved.weights
            onto_branch = self.dae.usual and (saved is None or saved.inside is None)
            start = None
            if weights is None and onto_branch and closure.compiled is not None:
                *weight_pair, start = get_arrays("begun", partial(begun, closure.compiled, t, self.y), numbers, self.y)
                weights = weight_pair[0], weight_pair[1]
            elif weights is None:
                compute_weights = partial(weights_at, closure, self.context.python, t, self.y, self.p, w)
                weights = get_arrays("weights", compute_weights, numbers, self.y)
            closing = self._closing(closure, sampled_values, weights)
            if onto_branch:
                if start is None:
                    project_start = partial(on_branch, closing, closure.compiled, t, self.y)
                    (start,) = get_arrays("branch", project_start, numbers, self.y, *weights)
                tell_of_branch(self.y, start, loaded.interface)
                self.y = start
        e = Evaluation(self.context, self.p, loaded.constants(self.p), self.signals, sampled_values, closing)
        monitor = self._watching(e) if self.watch.conditions else None
        self.run: Any
        if self._contacts:
            self.run = rigid_run(self._contacts, spec, e, self.y, self.watch, saved, monitor)
        elif not self.dae.usual:
            e, self.run = dae_run(spec, e, self.y, self.dae, saved, monitor)
        else:
            if spec.method in ADAPTIVE:
                self.run = adaptive_run(e, spec, self.y, self.tolerances, monitor)
            else:
                kernel_spec = e.spec(spec, self.y, events=monitor)
                self.run = e.model.start(kernel_spec) or PythonRun(e, kernel_spec)
            if saved is not None:
                self.run.restore(saved)
        self.evaluation = e

    def _watching(self, e: Evaluation) -> Watching | None:
        """Events as the kernel looks for them, if it takes the steps."""
        spec = self.spec
        model: Any = e.model if self.dae.usual else self.context.dae
        if not getattr(model, "watches", False):
            raise RunError(f"{self.loaded.name}: {not_in_python('an event')}")
        if spec.method in SCIPY and self.watching is not None:
            self.changed = []
            return self.watching
        memories = [m.array for m in self.context.memories if len(m.array)]
        snapshot = Held(memories) if memories else None
        end_time = spec.t_end if self._ends else np.inf
        close = None if self.dae.usual else self._closed
        modes = WHEEL_MODES * len(self._contacts)
        data = event_data(
            self.loaded, self.events, spec, self._use_values, snapshot, close, self.saved is not None, end_time
        )
        self.watching, self.changed = Watching(data, e.n_s, len(model.memory), modes), []
        return self.watching

    def _closed(self, event: int, y: np.ndarray) -> np.ndarray:
        """A state on the constraints after an event has set some of it, or (-1) before events act."""
        formula, monitor = self.events.formulas[event] if event >= 0 else None, self.watching
        assert monitor is not None
        p = self.changed[-1][1] if self.changed else self.p
        time = float(monitor.run.fields.t)
        return mended(self.loaded, formula, self.closure(p), time, y)

    def _use_values(self, run: Any, new_values: list[float]) -> None:
        """Takes values that an event has set into the parameters of a run."""
        loaded, values = self.loaded, self.events.values
        new = dict(zip(value_names(self.events.formulas), new_values, strict=True))
        changed_values = {k: v for k, v in new.items() if v != values[k]}
        values.update(changed_values)
        self.parameters = loaded.interface.changed_parameters(self.parameters, changed_values)
        p = loaded.parameter_values(known_to(loaded, self.parameters, self.events.used))
        c = loaded.constants(p)
        run.set_given(p, c)
        assert self.watching is not None
        self.changed.append((int(self.watching.fields.n_rows), p, c))

    def happened(self) -> bool:
        """Takes what the kernel reports of events; is the run over?"""
        run = self.run
        assert self.watching is not None
        is_finished, self.problem = take_happened(self.loaded, self.events, self.watching, self.watch, float(run.time))
        self._tell_idle()
        if hasattr(run, "raised"):  # what wheels do at the time of an event follows from it
            names = {x.name for x in self.events.formulas}
            self.watch.events.sort(key=lambda e: (e.time, e.name not in names))
            tell_raised(run)
        return is_finished or getattr(run, "acted", None) is not None

    def _with_values_set(self, rows: np.ndarray) -> None:
        """Keeps rows with the parameters that they had, and takes what holds at their end."""
        first, offset = 0, int(self.row is not None)  # a row that the kernel does not count
        has_acted = getattr(self.run, "acted", None) is not None
        for count, p, c in self.changed:
            last = len(rows) - 1 if has_acted else offset + count
            self._keep(rows[first:last])
            self.set_parameters(p, c)
            first = last
        self._keep(rows[first:])

    def set_parameters(self, p: list[float], c: list[float]) -> None:
        """Takes parameters that events have set in the run."""
        self.p, self.evaluation, closure = p, replace(self.evaluation, p=p, c=c), self.closure(p)
        kernel_run = getattr(self.run, "compiled", self.run)
        if closure is not None and hasattr(kernel_run, "roots"):
            root_q, root_u = kernel_run.roots
            closing = self._closing(closure, self.evaluation.kept, (root_q**2, root_u**2))
            self.evaluation = replace(self.evaluation, closing=closing)

    def _closing(self, closure: Closure, sampled_values: np.ndarray, weights: Weights) -> Closing:
        t, y, p, staged = self.spec.begins, self.y, self.p, self.dae.staged

        def make() -> Keeper:
            return keeper_of(closure, self.context.python, y, p, self.signals, sampled_values, staged, t, weights)

        return Closing(weights, staged, make)

    def finish(self, progress: Progress | None) -> np.ndarray:
        """Takes all steps; all rows."""
        max_fraction, begin_time = 0.0, self.spec.begins

        def report(fraction: float) -> None:  # steps after an event are taken again
            nonlocal max_fraction
            max_fraction = max(max_fraction, fraction)
            if progress is not None:
                progress(max_fraction)

        while True:
            rows = self._advance(None if progress is None else report)
            if self.row is not None:
                rows = np.vstack([self.row[None, :], rows]) if len(rows) else self.row[None, :]
            self._with_values_set(rows)
            self.context.set_live(0)
            if self.interrupted:
                return self._rows()
            self.within = self.watch.stopped is not None
            if self.watching is not None:
                take_counted(self.watching, self.watch, begin_time, rows[-1] if len(rows) else None)
            self.watch.passed(self.run.passages)
            self.passages += self.run.passages
            add_figures(self.figures, self.run.told if self.spec.method in ADAPTIVE else {})
            if not self._begins_anew():
                return self._rows()

    def _advance(self, progress: Progress | None) -> np.ndarray:
        """Takes all steps, or as many as can be taken; the rows of every n-th step and of the last. After an interrupt
        from the keyboard rows are those of the blocks of steps that were finished."""
        run, spec, samples = self.run, self.spec, Samples()
        adaptive = spec.method in ADAPTIVE
        total, every = (len(run.times) - 1, 1) if adaptive else (spec.steps, spec.every)
        begin_fraction = (spec.begins - spec.t_start) / (spec.t_end - spec.t_start) if adaptive else 0.0
        try:
            if self.saved is not None:
                run.advance(run.reached)  # takes the start
            block, first = 64, self.saved is None
            while first or (run.reached < total and run.status == FINISHED):
                steps_before, start = run.reached, time.perf_counter()
                rows = run.advance(min(steps_before + block, total))
                seconds = time.perf_counter() - start
                block = max(1, min(int(block * min(BLOCK_SECONDS / max(seconds, 1e-6), 8.0)), 10_000_000))
                first = False
                samples.take(rows, (total - steps_before) // every + 4)
                if self.watching is not None and self.happened():
                    break
                if progress is not None:
                    fraction = (
                        (run.time - spec.begins) / (spec.t_end - spec.begins) if adaptive else run.reached / total
                    )
                    progress(begin_fraction + (1 - begin_fraction) * fraction)
        except KeyboardInterrupt:
            self.interrupted = True
        return samples.rows

    def _begins_anew(self) -> bool:
        """Has an event ended steps of SciPy that are to begin anew? They are ready then."""
        rows, e = getattr(self.run, "acted", None), self.evaluation
        if rows is None or self.problem or self.watch.stopped is not None or rows[-1, 0] >= self.spec.t_end:
            return False
        weights = None if self.changed else e.weights
        self.saved = replace(self.run.save(), inside=None, weights=weights)
        e.kept[:], e.model.memory[:] = self.saved.kept, self.saved.memory
        self.spec, self.row = place_on(self.spec, float(rows[-1, 0])), None
        self.y = self.run.state.copy()
        self._prepare(e.kept)
        return True

    def left(self, rows: np.ndarray) -> Callable[[], Checkpoint] | None:
        """What a run that continues this one is given, to be asked when there is one; None if this one broke down."""
        if self.run.status != FINISHED or not len(rows) or self.problem:
            return None
        if self.parameters is not self.initial.parameters or self.tolerances is not self.initial.tolerances:
            self.initial = self.initial._replace(parameters=self.parameters, tolerances=self.tolerances)
        row, e, run = rows[-1].copy(), self.evaluation, self.run

        def found() -> Checkpoint:
            saved, spec = run.save(), self.spec
            if spec.method in METHODS and not self.within:
                raster_end = spec.t_start + spec.steps * spec.step
                on_raster = abs(spec.t_end - raster_end) <= STEPS.gap * spec.step
                next_spec = replace(spec, first=spec.steps, within=None if on_raster else spec.t_end)
            else:
                next_spec = place_on(spec, float(row[0]))
            saved = replace(saved, inside=None) if self.within else saved
            return checkpoint_at(saved, e, next_spec, self.dae, row, self.initial)

        if not isinstance(run, Driven):
            return found
        checkpoint = found()  # what Python drives shares its state with what is evaluated later
        return lambda: checkpoint

    def how_ended(self) -> str:
        """The message that says how the run ended, or why its last step failed."""
        return self.problem or how_ended(self.run, self.evaluation, self.watch, self.spec)

    def _keep(self, rows: np.ndarray) -> None:
        """Takes rows to those with the same parameters, if these came last."""
        e = self.evaluation
        if self.pieces and self.pieces[-1].p == e.p:
            self._parts.append(rows)
        else:
            self._join()
            self.pieces.append(Piece(rows, e.p, e.c))
            self._parts = [rows]

    def _join(self) -> None:
        if self.pieces and len(self._parts) > 1:
            self.pieces[-1] = self.pieces[-1]._replace(rows=np.vstack(self._parts))

    def _rows(self) -> np.ndarray:
        """All rows."""
        self._join()
        return np.vstack([x.rows for x in self.pieces]) if len(self.pieces) > 1 else self.pieces[0].rows

    def _tell_idle(self) -> None:
        """Reports once every event whose action changes nothing."""
        for name, t in self.watch.idle.items():
            if name not in self._told_idle:
                self._told_idle.add(name)
                warn(f"event '{name}' changes nothing at t = {t:.6g} s")

    # ---- step by step

    @property
    def t(self) -> float:
        """The time reached, s."""
        if isinstance(self.steps, WatchedSteps):
            return float(self.steps.row[0])
        spec, steps_done = self.spec, self.steps.reached
        return spec.begins if steps_done == spec.first else spec.t_start + steps_done * spec.step

    def why(self, at_start: bool = False) -> str:
        """Why the last step failed, which is not counted, or the state at the start of the next."""
        self.steps.ended()
        message = self.how_ended()
        if not at_start and not self.problem:
            self.steps.uncount()
        return message

    def status(self, code: int) -> RunStatus:
        """How it stands, by the code of its last steps."""
        if code == ACTION_FAILED:
            return RunStatus.ACTION_FAILED
        if code:
            return OF_CODE[code]
        return RunStatus.STOPPED_BY_EVENT if self.watch.stopped is not None else RunStatus.RUNNING

    def save(self, signals: Mapping[str, Signal]) -> Checkpoint:
        """All that the steps to come follow from, with what is given for the inputs at present."""
        e, spec, row, n = self.evaluation, self.spec, self.steps.row.copy(), self.steps.reached
        next_spec = spec if n == spec.first else changed(spec, first=n, within=None)
        saved = self.run.save()
        if isinstance(self.steps, WatchedSteps):
            saved = replace(saved, events=self.steps.save())
            if self.watch.stopped is not None:
                next_spec, saved = place_on(spec, float(row[0])), replace(saved, inside=None)
        return checkpoint_at(saved, e, next_spec, self.initial.dae, row, self.initial._replace(inputs=signals))

    def restore(self, checkpoint: Checkpoint) -> bool:
        """Goes back to what was reached with the same parameters and inputs, if this can be done at once."""
        spec, saved_spec = self.spec, checkpoint.spec
        is_resumable = spec.within is None and saved_spec.within is None and checkpoint.inside is not None
        if type(self.steps) is not CSteps or not is_resumable or checkpoint.p != tuple(self.evaluation.p):
            return False
        if (spec.step, spec.method, spec.t_start) != (saved_spec.step, saved_spec.method, saved_spec.t_start):
            return False
        weights = self.evaluation.weights
        if weights is not None and not _are_equal(weights, checkpoint.weights):
            return False
        self.run.restore(checkpoint)
        for routine, array in zip(self.evaluation.context.memories, checkpoint.memories, strict=True):
            routine.array[:] = array
        self.steps.job.status = 0
        self.steps.put(checkpoint.row, saved_spec.first)
        return True

    def begin_again(self, initial: InitialConditions) -> bool:
        """Begins again with other initial conditions and the inputs that it has, if it can do so as it is."""
        loaded, steps = self.loaded, self.steps
        if type(steps) is not CSteps or type(steps.run) is not CRun or steps.calls_back or self.spec.first:
            return False
        p = loaded.parameter_values(initial.parameters)
        c, inputs = loaded.constants(p), list(self.evaluation.inputs)
        y = np.concatenate(start_state(loaded, initial.initial, None, p, inputs, self.spec.begins))
        steps.run.begin_again(y, p, c)
        self.initial = initial._replace(inputs=self.initial.inputs)
        self.evaluation = replace(self.evaluation, p=p, c=c)
        return True


def _are_equal(a: Weights | None, b: Weights | None) -> bool:
    return a is not None and b is not None and all(map(np.array_equal, a, b))


def step_by_step(
    loaded: Loaded, initial: InitialConditions, step: float | None = None, method: str | None = None
) -> Session:
    """A run without an end that has taken its start and is taken step by step. Raises what is wrong with it."""
    spec = _spec(initial, loaded, step, method)
    loaded.inputs(initial.inputs, (spec.begins, spec.begins))  # raises what is wrong
    initial = initial._replace(inputs=signals_of(loaded.interface, initial.inputs))
    spec = _long_enough(spec, [b for i in loaded.inputs(initial.inputs) for b in i.breaks])
    events = read_events(loaded.interface, None, None, initial.parameters)
    session = Session(loaded, initial, spec, events, initial.dae, initial.tolerances, ends=False)
    run = session.run
    if session.watching is not None:
        session.steps = WatchedSteps(session, None if initial.saved is None else initial.saved.events)
    else:
        kind = RigidCSteps if isinstance(run, RigidCRun) else CSteps if isinstance(run, CRun) else PythonSteps
        session.steps = kind(run)
    if session.saved is not None and session.saved.inside is not None and session.row is not None:
        session.steps.put(session.row, spec.first)
    elif session.steps.take(0):
        raise RunError(session.why(at_start=True))
    return session


def signals_of(interface: Interface, inputs: Mapping[str, Any] | None) -> dict[str, Signal]:
    """What is given for each input, by its name in the model."""
    listed = interface.given_inputs(mapping(inputs, "inputs"))
    return {x.name: as_signal(listed[x.key], x.name) for x in interface.signals if x.key in listed}


def _spec(initial: InitialConditions, loaded: Loaded, step: float | None, method: str | None) -> RunSpec:
    """Step and method, as those of a run."""
    r = initial.saved
    if step is None:
        step = run_spec(loaded.interface, None, None, method, 1).step if r is None else r.spec.step
    begin_time = (
        float(r.row[0]) if r is not None else finite(0.0 if initial.t_start is None else initial.t_start, "t_start")
    )
    spec = initial.spec(loaded, begin_time + FEW * positive(step, "step"), step, method, 1)
    if spec.method in ADAPTIVE:
        raise ModelError(f"method={spec.method!r} adapts its steps; a stepper takes method {one_of()}", loaded.name)
    return spec


def _long_enough(spec: RunSpec, breaks: Sequence[float]) -> RunSpec:
    """The spec over all times at which steps are to be split."""
    last = max((b for b in breaks if math.isfinite(b)), default=spec.begins)
    steps = max(math.ceil((last - spec.t_start) / spec.step), spec.first) + 1
    return replace(spec, t_end=spec.t_start + steps * spec.step)


class Held:
    """What routines in Python remember: marked before a step, put back for a look, or for good; as in events.h."""

    def __init__(self, arrays: Sequence[np.ndarray]) -> None:
        self._arrays = arrays
        self._marked = self._later = [a.copy() for a in arrays]

    def __call__(self, action: int) -> None:
        mark, rewind, replay, undo = range(4)
        if action == mark:
            self._marked = [a.copy() for a in self._arrays]
        elif action == rewind:
            self._later = [a.copy() for a in self._arrays]
        for array, values in zip(self._arrays, self._later if action == replay else self._marked, strict=True):
            if action in (rewind, replay, undo):
                array[:] = values


def known_to(
    loaded: Loaded, parameters: Mapping[str, float | str] | None, event_keys: set[str]
) -> Mapping[str, float | str] | None:
    """Parameters that a model is asked with: those that stand in events alone are omitted."""
    if not parameters or not event_keys:
        return parameters
    event_only_keys = {x.key for x in loaded.interface.unused} & event_keys
    listed = loaded.interface.keyed(parameters, DECLARED, "parameters")
    return {k: v for k, v in listed.items() if k not in event_only_keys}
