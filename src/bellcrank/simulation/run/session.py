"""One run: it begins, advances by some steps or to its end, gives its state, saves and restores.

In:  a loaded model, what a run begins with (`InitialConditions`) and what it is asked to do
(`RunSpec`). Out: `RunSession`.
The kernel takes the steps and lets events act. Where SciPy takes them, steps begin anew after an
event with an action.

The rows of a run have the state before and the one after every event with an action, at the same
time; all others are where they would be without.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bellcrank.core.errors import ModelError, RunError, issue_warning, require_mapping
from bellcrank.core.numeric.event_log import EventLog
from bellcrank.core.numeric.fixed_step_methods import ADAPTIVE, METHODS, SCIPY, join_alternatives
from bellcrank.core.numeric.loop_constraints import LoopConstraints
from bellcrank.core.numeric.loop_projector import LoopProjector, SingularityPassage
from bellcrank.core.numeric.run_spec import FINISHED, Checkpoint, RunSpec, Weights, fast_replace
from bellcrank.core.numeric.step_report import merge_statistics
from bellcrank.core.numeric.tuning import STEPS
from bellcrank.core.signals import Signal
from bellcrank.mechanics.interface.interface import DECLARED, Interface
from bellcrank.simulation.backend.c_runs import WHEEL_MODES, CRun, LoopCRun, RigidCRun
from bellcrank.simulation.backend.c_steps import CompiledStepDriver, RigidStepDriver
from bellcrank.simulation.backend.event_monitor import EventMonitor
from bellcrank.simulation.run.adaptive import (
    AdaptiveRun,
    CompiledRun,
    SciPyRun,
    make_adaptive_run,
)
from bellcrank.simulation.run.argument_checks import (
    require_finite,
    require_positive,
    resolve_run_spec,
)
from bellcrank.simulation.run.checkpoint import (
    InitialConditions,
    complete_checkpoint,
    continue_spec_at,
    first_or_saved_state,
    resume_from,
)
from bellcrank.simulation.run.dae_methods import Dae
from bellcrank.simulation.run.dae_runs import RunSegment, check_dae, make_dae_run
from bellcrank.simulation.run.event_actions import project_after_event
from bellcrank.simulation.run.event_data import (
    collect_condition_history,
    collect_occurrences,
    event_data,
    event_parameter_names,
)
from bellcrank.simulation.run.event_specs import EventSpecs, make_event_specs
from bellcrank.simulation.run.initial_assembly import resolve_initial_state
from bellcrank.simulation.run.loaded import LoadedModel
from bellcrank.simulation.run.loop_closure import (
    RunLoopProjection,
    evaluate_inputs,
    initial_projection,
    make_loop_constraints,
    make_loop_projector,
    project_onto_branch,
    projection_weights,
    report_branch,
)
from bellcrank.simulation.run.memory_limits import SampleBuffer
from bellcrank.simulation.run.outcome import end_message
from bellcrank.simulation.run.python_limits import not_in_python_message
from bellcrank.simulation.run.rigid import check_rigid_run, make_rigid_run, warn_raised_wheels
from bellcrank.simulation.run.signal_inputs import to_signal
from bellcrank.simulation.run.single_steps import (
    ACTION_FAILED,
    FEW,
    EventHistory,
    EventStepDriver,
    PythonStepDriver,
)
from bellcrank.simulation.run.status import OF_CODE, RunStatus
from bellcrank.simulation.run.stepping import PythonRun, PythonRunBase, RunEvaluation
from bellcrank.simulation.run.tolerances import Tolerances, tolerances_at_start

Progress = Callable[[float], None]
SessionRun = CRun | PythonRun | CompiledRun | SciPyRun  # what takes the steps
BLOCK_SECONDS = 0.1  # between two looks at progress, events and the keyboard


class RunSession:
    """A run, ready to begin. An event with an action may change spec, evaluation and parameters.

    `initial`: what it begins with, `spec`: what it is asked to do, `evaluation`: the model with its
    values, `run`: what takes the steps. `segments`: rows with the parameters that held for them.
    `steps`, once `start_stepping` was called: the same run taken step by step.
    """

    run: SessionRun
    steps: CompiledStepDriver | PythonStepDriver

    def __init__(
        self,
        loaded: LoadedModel,
        initial: InitialConditions,
        spec: RunSpec,
        events: EventSpecs,
        dae: Dae,
        tolerances: Tolerances,
        assemble: bool = True,
        ends: bool = True,
    ) -> None:
        self.loaded, self.initial, self.spec, self.events, self.dae = (
            loaded,
            initial,
            spec,
            events,
            dae,
        )
        self._ends = ends  # has the run an end?
        self.event_log = EventLog(events.conditions)
        self.parameters = initial.parameters  # those that a user gave, and later what events set
        self.p = p = loaded.parameter_values(
            without_event_parameters(loaded, initial.parameters, events.parameter_keys)
        )
        self.signals = loaded.inputs(
            initial.inputs, (spec.begin_time, spec.t_end) if ends else None
        )
        self._contacts = loaded.analysis.mechanism.description.rigid_contacts
        if self._contacts:
            check_rigid_run(loaded, spec, dae.usual)
        check_dae(dae, spec, loaded)
        self.context = loaded.new_context()
        self.segments: list[RunSegment] = []
        self.statistics: dict[str, float] = {}
        self.singular_passages: list[SingularityPassage] = []  # near singular configurations
        self.problem = ""  # what an event could not do, which ends the run
        self.interrupted = False
        self.within = False  # did the run end within a step, or after its state was changed?
        self._closure: tuple[Sequence[float], LoopConstraints | None] | None = None
        self._parts: list[np.ndarray] = []
        self.event_monitor: EventMonitor | None = None  # events that the kernel looks for
        self.parameter_changes: list[
            tuple[int, list[float], list[float]]
        ] = []  # rows before, parameters, constants
        self._told_idle: set[str] = set()
        self.previous = initial.usable_checkpoint(loaded, p, dae)
        self.y = first_or_saved_state(
            initial,
            loaded,
            self.loop_constraints(p) if assemble else None,
            p,
            self.signals,
            spec.begin_time,
        )
        self.tolerances = tolerances_at_start(tolerances, loaded.interface, p, self.y, spec.method)
        self._create_run(np.zeros(len(loaded.interface.sampled_inputs)))
        self.row = resume_from(self.previous, self.evaluation, self.y)

    def loop_constraints(self, p: Sequence[float]) -> LoopConstraints | None:
        """The constraints of closed loops."""
        if self._closure is None or self._closure[0] != p:
            loops = self.loaded.program.loops
            context, constants = self.context, self.loaded.constants(list(p))
            spare = self.loaded.initial_state_cache.spare_jobs
            constraints = (
                None
                if loops is None
                else make_loop_constraints(
                    context.python_calls, p, self.signals, context.model, constants, spare
                )
            )
            self._closure = p, constraints
        return self._closure[1]

    def _create_run(self, sampled_values: np.ndarray) -> None:
        """Makes what takes the steps; the state is brought onto the branch of a singular
        configuration."""
        loaded, spec, saved, closing = self.loaded, self.spec, self.previous, None
        t, closure = spec.begin_time, self.loop_constraints(self.p)
        if closure is not None:
            get_arrays = loaded.initial_state_cache.get_arrays
            w = evaluate_inputs(t, self.signals, sampled_values)
            numbers = [*self.p, *w, t]
            weights = None if saved is None else saved.weights
            onto_branch = self.dae.usual and (saved is None or saved.integrator_state is None)
            start = None
            if weights is None and onto_branch and closure.compiled is not None:
                *weight_pair, start = get_arrays(
                    "begun",
                    partial(initial_projection, closure.compiled, t, self.y),
                    numbers,
                    self.y,
                )
                weights = weight_pair[0], weight_pair[1]
            elif weights is None:
                compute_weights = partial(
                    projection_weights, closure, self.context.python_calls, t, self.y, self.p, w
                )
                weights = get_arrays("weights", compute_weights, numbers, self.y)
            closing = self._loop_projection(closure, sampled_values, weights)
            if onto_branch:
                if start is None:
                    project_start = partial(
                        project_onto_branch, closing, closure.compiled, t, self.y
                    )
                    (start,) = get_arrays("branch", project_start, numbers, self.y, *weights)
                report_branch(self.y, start, loaded.interface)
                self.y = start
        e = RunEvaluation(
            self.context, self.p, loaded.constants(self.p), self.signals, sampled_values, closing
        )
        monitor = self._make_event_monitor(e) if self.event_log.conditions else None
        if self._contacts:
            self.run = make_rigid_run(
                self._contacts, spec, e, self.y, self.event_log, saved, monitor
            )
        elif not self.dae.usual:
            e, self.run = make_dae_run(spec, e, self.y, self.dae, saved, monitor)
        else:
            if spec.method in ADAPTIVE:
                self.run = make_adaptive_run(e, spec, self.y, self.tolerances, monitor)
            else:
                kernel_spec = e.fill_spec(spec, self.y, events=monitor)
                self.run = e.model.new_run(kernel_spec) or PythonRun(e, kernel_spec)
            if saved is not None:
                self.run.restore(saved)
        self.evaluation = e

    def _make_event_monitor(self, e: RunEvaluation) -> EventMonitor | None:
        """Events as the kernel looks for them, if it takes the steps."""
        spec = self.spec
        model = e.model if self.dae.usual else self.context.dae_calls
        if model is None or not getattr(model, "supports_events", False):
            raise RunError(f"{self.loaded.name}: {not_in_python_message('an event')}")
        if spec.method in SCIPY and self.event_monitor is not None:
            self.parameter_changes = []
            return self.event_monitor
        memories = [m.array for m in self.context.memories if len(m.array)]
        snapshot = UserFunctionSnapshot(memories) if memories else None
        end_time = spec.t_end if self._ends else np.inf
        close = None if self.dae.usual else self._project_state
        modes = WHEEL_MODES * len(self._contacts)
        data = event_data(
            self.loaded,
            self.events,
            spec,
            self._apply_event_parameters,
            snapshot,
            close,
            self.initial.continues,
            end_time,
        )
        self.event_monitor, self.parameter_changes = (
            EventMonitor(data, e.n_states, len(model.memory), modes),
            [],
        )
        if self.previous is not None:
            self.event_monitor.continue_from(self.previous.event_states, spec.begin_time)
        return self.event_monitor

    def _project_state(self, event: int, y: np.ndarray) -> np.ndarray:
        """A state on the constraints after an event has set some of it, or (-1) before events
        act."""
        formula, monitor = self.events.formulas[event] if event >= 0 else None, self.event_monitor
        assert monitor is not None
        p = self.parameter_changes[-1][1] if self.parameter_changes else self.p
        time = float(monitor.run.job.t)
        return project_after_event(self.loaded, formula, self.loop_constraints(p), time, y)

    def _apply_event_parameters(self, run: CRun, new_values: list[float]) -> None:
        """Takes values that an event has set into the parameters of a run."""
        loaded, values = self.loaded, self.events.values
        new = dict(zip(event_parameter_names(self.events.formulas), new_values, strict=True))
        changed_values = {k: v for k, v in new.items() if v != values[k]}
        values.update(changed_values)
        self.parameters = loaded.interface.changed_parameters(self.parameters, changed_values)
        p = loaded.parameter_values(
            without_event_parameters(loaded, self.parameters, self.events.parameter_keys)
        )
        c = loaded.constants(p)
        run.set_parameters(p, c)
        assert self.event_monitor is not None
        self.parameter_changes.append((int(self.event_monitor.fields.n_rows), p, c))

    def process_events(self) -> bool:
        """Takes what the kernel reports of events; is the run over?"""
        run = self.run
        assert self.event_monitor is not None
        is_finished, self.problem = collect_occurrences(
            self.loaded, self.events, self.event_monitor, self.event_log, float(run.time)
        )
        self._warn_idle_events()
        if isinstance(run, RigidCRun):  # what wheels do at the time of an event follows from it
            names = {x.name for x in self.events.formulas}
            self.event_log.events.sort(key=lambda e: (e.time, e.name not in names))
            warn_raised_wheels(run)
        return is_finished or self._rows_of_event() is not None

    def _rows_of_event(self) -> np.ndarray | None:
        """Rows about an event that has ended a step of SciPy."""
        return self.run.acted if isinstance(self.run, SciPyRun) else None

    def _store_segments(self, rows: np.ndarray) -> None:
        """Keeps rows with the parameters that they had, and takes what holds at their end."""
        first, offset = 0, int(self.row is not None)  # a row that the kernel does not count
        has_acted = self._rows_of_event() is not None
        for count, p, c in self.parameter_changes:
            last = len(rows) - 1 if has_acted else offset + count
            self._append_rows(rows[first:last])
            self.set_parameters(p, c)
            first = last
        self._append_rows(rows[first:])

    def set_parameters(self, p: list[float], c: list[float]) -> None:
        """Takes parameters that events have set in the run."""
        self.p, self.evaluation, closure = (
            p,
            replace(self.evaluation, p=p, c=c),
            self.loop_constraints(p),
        )
        kernel_run = self.run.kernel_run if isinstance(self.run, CompiledRun) else self.run
        if closure is not None and isinstance(kernel_run, LoopCRun):
            root_q, root_u = kernel_run.weight_roots
            closing = self._loop_projection(
                closure, self.evaluation.sampled_values, (root_q**2, root_u**2)
            )
            self.evaluation = replace(self.evaluation, loop_projection=closing)

    def _loop_projection(
        self, closure: LoopConstraints, sampled_values: np.ndarray, weights: Weights
    ) -> RunLoopProjection:
        t, y, p, staged = self.spec.begin_time, self.y, self.p, self.dae.staged

        def make_projector() -> LoopProjector:
            return make_loop_projector(
                closure,
                self.context.python_calls,
                y,
                p,
                self.signals,
                sampled_values,
                staged,
                t,
                weights,
            )

        return RunLoopProjection(weights, staged, make_projector)

    def run_to_end(self, progress: Progress | None) -> np.ndarray:
        """Takes all steps; all rows."""
        max_fraction, begin_time = 0.0, self.spec.begin_time

        def report(fraction: float) -> None:  # steps after an event are taken again
            nonlocal max_fraction
            max_fraction = max(max_fraction, fraction)
            if progress is not None:
                progress(max_fraction)

        while True:
            rows = self._advance(None if progress is None else report)
            if self.row is not None:
                rows = np.vstack([self.row[None, :], rows]) if len(rows) else self.row[None, :]
            self._store_segments(rows)
            self.context.enable_memory_updates(0)
            if self.interrupted:
                return self._all_rows()
            self.within = self.event_log.stop_event is not None
            if self.event_monitor is not None:
                collect_condition_history(
                    self.event_monitor, self.event_log, begin_time, rows[-1] if len(rows) else None
                )
            self.event_log.add_passages(self.run.singular_passages)
            self.singular_passages += self.run.singular_passages
            if isinstance(self.run, AdaptiveRun):
                merge_statistics(self.statistics, self.run.reported_settings)
            if not self._restart_after_event():
                return self._all_rows()

    def _advance(self, progress: Progress | None) -> np.ndarray:
        """Takes all steps, or as many as can be taken; the rows of every n-th step and of the last.
        After an interrupt from the keyboard rows are those of the blocks of steps that were
        finished."""
        run, spec, samples = self.run, self.spec, SampleBuffer()
        adaptive = isinstance(run, AdaptiveRun)
        total, every = (
            (len(run.times) - 1, 1)
            if isinstance(run, AdaptiveRun)
            else (spec.n_steps, spec.output_every)
        )
        begin_fraction = (
            (spec.begin_time - spec.t_start) / (spec.t_end - spec.t_start) if adaptive else 0.0
        )
        try:
            if self.previous is not None:
                run.advance(run.steps_done)  # takes the start
            block, first = 64, self.previous is None
            while first or (run.steps_done < total and run.status == FINISHED):
                steps_before, start = run.steps_done, time.perf_counter()
                rows = run.advance(min(steps_before + block, total))
                seconds = time.perf_counter() - start
                block = max(
                    1, min(int(block * min(BLOCK_SECONDS / max(seconds, 1e-6), 8.0)), 10_000_000)
                )
                first = False
                samples.append(rows, (total - steps_before) // every + 4)
                if self.event_monitor is not None and self.process_events():
                    break
                if progress is not None:
                    fraction = (
                        (run.time - spec.begin_time) / (spec.t_end - spec.begin_time)
                        if adaptive
                        else run.steps_done / total
                    )
                    progress(begin_fraction + (1 - begin_fraction) * fraction)
        except KeyboardInterrupt:
            self.interrupted = True
        return samples.samples

    def _restart_after_event(self) -> bool:
        """Has an event ended steps of SciPy that are to begin anew? They are ready then."""
        rows, e = self._rows_of_event(), self.evaluation
        if (
            rows is None
            or self.problem
            or self.event_log.stop_event is not None
            or rows[-1, 0] >= self.spec.t_end
        ):
            return False
        weights = None if self.parameter_changes else e.weights
        self.previous = replace(self.run.save(), integrator_state=None, weights=weights)
        e.sampled_values[:], e.model.memory[:] = self.previous.sampled_values, self.previous.memory
        self.spec, self.row = continue_spec_at(self.spec, float(rows[-1, 0])), None
        self.y = self.run.state.copy()
        self._create_run(e.sampled_values)
        return True

    def checkpoint_function(self, rows: np.ndarray) -> Callable[[], Checkpoint] | None:
        """What a run that continues this one is given, to be asked when there is one; None if this
        one broke down."""
        if self.run.status != FINISHED or not len(rows) or self.problem:
            return None
        if (
            self.parameters is not self.initial.parameters
            or self.tolerances is not self.initial.tolerances
        ):
            self.initial = self.initial._replace(
                parameters=self.parameters, tolerances=self.tolerances
            )
        row, e, run = rows[-1].copy(), self.evaluation, self.run

        def make_checkpoint() -> Checkpoint:
            saved, spec = run.save(), self.spec
            raster_end = spec.t_start + spec.n_steps * spec.step
            on_raster = abs(spec.t_end - raster_end) <= STEPS.gap * spec.step
            if spec.method in METHODS and not self.within and on_raster:
                next_spec = replace(spec, first_step=spec.n_steps, mid_step_time=None)
            else:
                next_spec = continue_spec_at(spec, float(row[0]))
            saved = replace(saved, integrator_state=None) if self.within else saved
            if self.event_monitor is not None:
                saved = replace(saved, event_states=self.event_monitor.states_at_end())
            return complete_checkpoint(saved, e, next_spec, self.dae, row, self.initial)

        if not isinstance(run, PythonRunBase):
            return make_checkpoint
        checkpoint = (
            make_checkpoint()
        )  # what Python drives shares its state with what is evaluated later
        return lambda: checkpoint

    def end_message(self) -> str:
        """The message that says how the run ended, or why its last step failed."""
        return self.problem or end_message(self.run, self.evaluation, self.event_log, self.spec)

    def _append_rows(self, rows: np.ndarray) -> None:
        """Takes rows to those with the same parameters, if these came last."""
        e = self.evaluation
        if self.segments and self.segments[-1].p == e.p:
            self._parts.append(rows)
        else:
            self._merge_last_segment()
            self.segments.append(RunSegment(rows, e.p, e.c))
            self._parts = [rows]

    def _merge_last_segment(self) -> None:
        if self.segments and len(self._parts) > 1:
            self.segments[-1] = self.segments[-1]._replace(rows=np.vstack(self._parts))

    def _all_rows(self) -> np.ndarray:
        """All rows."""
        self._merge_last_segment()
        return (
            np.vstack([x.rows for x in self.segments])
            if len(self.segments) > 1
            else self.segments[0].rows
        )

    def _warn_idle_events(self) -> None:
        """Reports once every event whose action changes nothing."""
        for name, t in self.event_log.ineffective_events.items():
            if name not in self._told_idle:
                self._told_idle.add(name)
                issue_warning(f"event '{name}' changes nothing at t = {t:.6g} s")

    # ---- step by step

    @property
    def t(self) -> float:
        """The time reached, s."""
        if isinstance(self.steps, EventStepDriver):
            return float(self.steps.row[0])
        spec, steps_done = self.spec, self.steps.steps_done
        return (
            spec.begin_time
            if steps_done == spec.first_step
            else spec.t_start + steps_done * spec.step
        )

    def failure_message(self, at_start: bool = False) -> str:
        """Why the last step failed, which is not counted, or the state at the start of the next."""
        self.steps.sync_status()
        message = self.end_message()
        if not at_start and not self.problem:
            self.steps.discard_failed_step()
        return message

    def status(self, code: int) -> RunStatus:
        """How it stands, by the code of its last steps."""
        if code == ACTION_FAILED:
            return RunStatus.ACTION_FAILED
        if code:
            return OF_CODE[code]
        return (
            RunStatus.STOPPED_BY_EVENT
            if self.event_log.stop_event is not None
            else RunStatus.RUNNING
        )

    def save(self, signals: Mapping[str, Signal]) -> Checkpoint:
        """All that the steps to come follow from, with what is given for the inputs at present."""
        e, spec, row, n = self.evaluation, self.spec, self.steps.row.copy(), self.steps.steps_done
        next_spec = (
            spec if n == spec.first_step else fast_replace(spec, first_step=n, mid_step_time=None)
        )
        saved = self.run.save()
        if isinstance(self.steps, EventStepDriver):
            assert self.event_monitor is not None
            saved = replace(
                saved, events=self.steps.save(), event_states=self.event_monitor.states_at_end()
            )
            if self.event_log.stop_event is not None:
                next_spec, saved = (
                    continue_spec_at(spec, float(row[0])),
                    replace(saved, integrator_state=None),
                )
        return complete_checkpoint(
            saved, e, next_spec, self.initial.dae, row, self.initial._replace(inputs=signals)
        )

    def restore(self, checkpoint: Checkpoint) -> bool:
        """Goes back to what was reached with the same parameters and inputs, if this can be done at
        once."""
        spec = self.spec
        saved_spec: RunSpec = checkpoint.spec
        is_resumable = (
            spec.mid_step_time is None
            and saved_spec.mid_step_time is None
            and checkpoint.integrator_state is not None
        )
        if (
            type(self.steps) is not CompiledStepDriver
            or not is_resumable
            or checkpoint.p != tuple(self.evaluation.p)
        ):
            return False
        if (spec.step, spec.method, spec.t_start) != (
            saved_spec.step,
            saved_spec.method,
            saved_spec.t_start,
        ):
            return False
        weights = self.evaluation.weights
        if weights is not None and not _same_weights(weights, checkpoint.weights):
            return False
        self.run.restore(checkpoint)
        for routine, array in zip(
            self.evaluation.context.memories, checkpoint.user_memories, strict=True
        ):
            routine.array[:] = array
        self.steps.job.status = 0
        self.steps.set_row(checkpoint.row, saved_spec.first_step)
        return True

    def reinitialize(self, initial: InitialConditions) -> bool:
        """Begins again with other initial conditions and the inputs that it has, if it can do so as
        it is."""
        loaded, steps = self.loaded, self.steps
        if (
            type(steps) is not CompiledStepDriver
            or type(steps.run) is not CRun
            or steps.calls_python
            or self.spec.first_step
        ):
            return False
        p = loaded.parameter_values(initial.parameters)
        c, inputs = loaded.constants(p), list(self.evaluation.inputs)
        y = np.concatenate(
            resolve_initial_state(loaded, initial.initial, None, p, inputs, self.spec.begin_time)
        )
        steps.run.reinitialize(y, p, c)
        self.initial = initial._replace(inputs=self.initial.inputs)
        self.evaluation = replace(self.evaluation, p=p, c=c)
        return True


def _same_weights(a: Weights | None, b: Weights | None) -> bool:
    return a is not None and b is not None and all(map(np.array_equal, a, b))


def start_stepping(
    loaded: LoadedModel,
    initial: InitialConditions,
    step: float | None = None,
    method: str | None = None,
) -> RunSession:
    """A run without an end that has taken its start and is taken step by step. Raises what is wrong
    with it."""
    spec = _stepping_spec(initial, loaded, step, method)
    loaded.inputs(initial.inputs, (spec.begin_time, spec.begin_time))  # raises what is wrong
    initial = initial._replace(inputs=signals_by_input(loaded.interface, initial.inputs))
    spec = _extend_to_breaks(spec, [b for i in loaded.inputs(initial.inputs) for b in i.breaks])
    events = make_event_specs(loaded.interface, None, None, initial.parameters)
    session = RunSession(loaded, initial, spec, events, initial.dae, initial.tolerances, ends=False)
    run = session.run
    if session.event_monitor is not None:
        history: EventHistory | None = None if initial.previous is None else initial.previous.events
        session.steps = EventStepDriver(session, session.event_monitor, history)
    elif isinstance(run, RigidCRun):
        session.steps = RigidStepDriver(run)
    elif isinstance(run, CRun):
        session.steps = CompiledStepDriver(run)
    else:
        assert isinstance(run, PythonRun)
        session.steps = PythonStepDriver(run)
    if (
        session.previous is not None
        and session.previous.integrator_state is not None
        and session.row is not None
    ):
        session.steps.set_row(session.row, spec.first_step)
    elif session.steps.take_steps(0):
        raise RunError(session.failure_message(at_start=True))
    return session


def signals_by_input(interface: Interface, inputs: Mapping[str, Any] | None) -> dict[str, Signal]:
    """What is given for each input, by its name in the model."""
    listed = interface.inputs_by_key(require_mapping(inputs, "inputs"))
    return {x.name: to_signal(listed[x.key], x.name) for x in interface.signals if x.key in listed}


def _stepping_spec(
    initial: InitialConditions, loaded: LoadedModel, step: float | None, method: str | None
) -> RunSpec:
    """Step and method, as those of a run."""
    r = initial.previous
    if step is None and r is None:
        step = resolve_run_spec(loaded.interface, None, None, method, 1).step
    elif step is None and r is not None:
        previous_spec: RunSpec = r.spec
        step = previous_spec.step
    begin_time = (
        float(r.row[0])
        if r is not None
        else require_finite(0.0 if initial.t_start is None else initial.t_start, "t_start")
    )
    spec = initial.make_spec(
        loaded, begin_time + FEW * require_positive(step, "step"), step, method, 1
    )
    if spec.method in ADAPTIVE:
        raise ModelError(
            f"method={spec.method!r} adapts its steps; a stepper takes method "
            f"{join_alternatives()}",
            loaded.name,
        )
    return spec


def _extend_to_breaks(spec: RunSpec, breaks: Sequence[float]) -> RunSpec:
    """The spec over all times at which steps are to be split."""
    last = max((b for b in breaks if math.isfinite(b)), default=spec.begin_time)
    steps = max(math.ceil((last - spec.t_start) / spec.step), spec.first_step) + 1
    return replace(spec, t_end=spec.t_start + steps * spec.step)


class UserFunctionSnapshot:
    """What routines in Python remember: marked before a step, put back for a look, or for good; as
    in events.h."""

    def __init__(self, arrays: Sequence[np.ndarray]) -> None:
        self._arrays = arrays
        self._marked = self._later = [a.copy() for a in arrays]

    def __call__(self, action: int) -> None:
        mark, rewind, replay, undo = range(4)
        if action == mark:
            self._marked = [a.copy() for a in self._arrays]
        elif action == rewind:
            self._later = [a.copy() for a in self._arrays]
        for array, values in zip(
            self._arrays, self._later if action == replay else self._marked, strict=True
        ):
            if action in (rewind, replay, undo):
                array[:] = values


def without_event_parameters(
    loaded: LoadedModel, parameters: Mapping[str, float | str] | None, event_keys: set[str]
) -> Mapping[str, float | str] | None:
    """Parameters that a model is asked with: those that stand in events alone are omitted."""
    if not parameters or not event_keys:
        return parameters
    event_only_keys = {x.key for x in loaded.interface.unreferenced_parameters} & event_keys
    listed = loaded.interface.values_by_key(parameters, DECLARED, "parameters")
    return {k: v for k, v in listed.items() if k not in event_only_keys}
